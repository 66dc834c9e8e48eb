"""Fields of the page become a study, or a sentence beside its field; and what is refused before it is served."""

import socket
import sys
from dataclasses import replace
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq

from acdpp.explore.command import command
from acdpp.explore.form import FIELDS, Form, columns_of, first_form, likely, read_form, taken_over
from empirics.settings.costs import CostProcess
from empirics.settings.presets import PRESETS
from tests.empirics.small import blobs_file
from tests.refused import refused


def asked(**typed):
    found, wrong = read_form(replace(first_form(), **typed))
    assert found is not None, wrong
    return found


def test_the_first_form_is_the_best_descent_on_the_digits():
    found, best = asked(), PRESETS["descent"]
    own = {name: getattr(best, name) for name in ("eta", "steps", "decay", "average", "average_by")}
    assert found.study == replace(PRESETS["digits"], policies=best.policies[:1], **own)
    assert found.plain == replace(PRESETS["digits"], policies=("constant",))
    assert (found.pilot, found.objective) == (None, "cumulative")
    named, _ = read_form(first_form(), {"/here/1.csv": "mine.csv"})  # what was dropped on the page
    assert (found.names, named.names) == ({}, {"/here/1.csv": "mine.csv"})


def test_every_field_says_what_the_study_has():
    found = asked(
        data=blobs_file(),
        pilot=" 40 ",
        buffers="4, 5,7",
        budget="45/2",
        prices="markov:2:6",
        rounds="1e2",
        policies="buy-cheap, constant@K=5,eta=0.1",
        K="3",
        eta="0.5",
        steps="2",
        decay="",
        average="tail",
        average_by="0.25",
        objective="final",
    )
    money = {"dataset": blobs_file(), "buffers": (4, 5, 7), "budget": 22.5, "rounds": 100}
    money |= {"cost": CostProcess(process="markov", low=2.0, high=6.0)}
    assert found.plain == replace(PRESETS["own"], policies=("constant",), **money)
    learner = {"policies": ("buy-cheap", "constant@K=5,eta=0.1"), "K": 3, "eta": 0.5, "steps": 2}
    learner |= {"average": "tail", "average_by": 0.25}
    assert found.study == replace(found.plain, **learner)
    assert (found.pilot, found.objective) == (40, "final")


def test_tables_of_samples_have_columns():
    study = asked(data="csv:mine.csv", label="y", time="when", client="who").study
    assert (study.label_column, study.time_column, study.client_column) == ("y", "when", "who")
    assert (study.partition, study.preset) == ("client", "own")


def test_columns_are_read_from_the_table_and_the_likely_one_is_known(home):
    file = home / "mine.csv"
    for heading in ('\ufeffwhen,"a, b",Target', "when; a, b;Target;", '\n\n"when";"a, b";Target'):
        file.write_text(f"{heading}\n1,2,3\n", encoding="utf-8")
        columns = columns_of("csv:~/mine.csv")
        assert columns == ["when", "a, b", "Target"]
    assert [likely(name, columns) for name in ("label", "price_column", "time")] == ["Target", "", ""]
    pq.write_table(pa.table({"price": [1], "y": [2]}), home / "mine.parquet")
    columns = columns_of("parquet:~/mine.parquet")
    assert (likely("label", columns), likely("price_column", columns)) == ("y", "price")
    for kind in ("csv", "parquet"):
        (home / f"broken.{kind}").write_bytes(b"\xff\xfe\x00")
        assert columns_of(f"{kind}:~/broken.{kind}") == []
    for other in ("digits", "csv:", "csv:nowhere.csv", f"npz:{file}", f"csv:{home}"):
        assert columns_of(other) == []


def test_a_design_is_taken_over_with_its_policy_and_learner():
    design = {"policy": "burst", "K": 3, "eta": 1 / 3, "steps": 2, "decay": None}
    design |= {"average": "tail", "average_by": 0.5}
    found, _ = read_form(taken_over(first_form(), design))
    assert found is not None
    own = {name: getattr(found.study, name) for name in design if name != "policy"}
    assert (own | {"policy": found.study.policies[0]}, len(found.study.policies)) == (design, 1)
    assert taken_over(first_form(), design | {"K": None, "decay": 7.0}).K == ""


def test_a_file_of_prices_takes_the_place_of_a_law(home):
    (home / "prices.csv").write_text("day,price\n1,2\n")
    found = asked(price_file="~/prices.csv", price_column="price", prices="nonsense")
    assert found.study.cost == CostProcess(process="trace", file="~/prices.csv", column="price")
    assert found.plain.cost == found.study.cost
    several = read_form(replace(first_form(), price_file="~/prices.csv"))[1]
    assert list(several) == ["price_column"]


def test_what_is_wrong_is_a_sentence_beside_its_field():
    for field, text, words in (
        ("data", "", "dataset must be"),
        ("label", "y", "names a column of csv:FILE"),
        ("time", "y", "names a column of csv:FILE"),
        ("client", "y", "names a column of csv:FILE"),
        ("pilot", "1.5", "the pilot sample must be a whole number"),
        ("buffers", "8,,9", "buffers must be a number"),
        ("buffers", "8,0", "whole number from 1"),
        ("buffers", "8,2.5", "got 2.5"),
        ("budget", "much", "budget must be a number such as 5.5"),
        ("budget", "-1", "budget must"),
        ("prices", "uniform:5:1", "prices needs positive prices, the lower first"),
        ("prices", "", "prices must be a number"),
        ("price_file", "nowhere.csv", "there is no file 'nowhere.csv'"),
        ("price_column", "price", "column of a file with prices"),
        ("rounds", "0", "rounds must be a whole number"),
        ("policies", "constant,best", "'best' is not a built-in policy"),
        ("policies", "constant@K=x", "must be a number"),
        ("K", "0.5", "K must be a whole number"),
        ("eta", "x", "eta must be a number"),
        ("fit", "me", "one of data, preset"),
        ("steps", "x", "steps must be a number"),
        ("decay", "-3", "decay must"),
        ("average_by", "x", "average_by must be a number"),
        ("average", "median", "average must be one of"),
        ("objective", "least", "the objective is one of cumulative, final"),
    ):
        found, wrong = read_form(replace(first_form(), **{field: text}))
        assert found is None
        assert [field] == list(wrong)
        assert words in wrong[field]
        assert "\n" not in wrong[field]


def test_all_that_is_wrong_is_told_at_once_and_a_setting_that_another_needs_is_wrong_itself():
    wanted = {"data", "buffers", "budget", "prices", "rounds", "policies", "steps", "average", "objective"}
    assert set(read_form(Form(**dict.fromkeys(FIELDS, "")))[1]) == wanted | {"fit"}
    for data in ("csv:mine.csv", "parquet:mine.parquet"):
        assert list(read_form(replace(first_form(), data=data))[1]) == ["label"]
    assert list(read_form(replace(first_form(), average="equal"))[1]) == ["average_by"]


def test_a_port_that_cannot_be_had_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert refused(command, str(port)).startswith(f"port {port} cannot be used (Address already in use)")
    assert "at most 65,535" in refused(command, "65536")
    assert "--port must be a whole number" in refused(command, "0")


def test_the_page_is_served_at_the_port_that_is_printed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "acdpp.explore.page", served := Mock())
    command(None, show=False)
    ((port,), how) = served.serve.call_args
    assert f"http://127.0.0.1:{port}/ " in capsys.readouterr().out
    assert (port > 1023, how) == (True, {"show": False})


def test_without_the_library_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "acdpp.explore.page", raising=False)
    assert refused(command) == "the page needs nicegui: pip install 'acdpp[explore]'"
