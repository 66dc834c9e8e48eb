"""Prices have the law and the mean of their name, whatever the chunks; a trace is what its file says, or refused."""

import hashlib
import os
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.control.prices import Drawn, Trace, checked, law_of, make_prices, read_trace
from empirics.control.schedule import plan
from empirics.settings.costs import CostProcess, Process
from tests.empirics.small import CONTROL, refused, study
from theory.market.prices import Atoms, Uniform

DRAWN = [process for process in Process if process != Process.trace]


def costs(process, rounds=2000, replicates=5, size=None, **given):
    chunks = Drawn(CostProcess(process=process, **given)).chunks(4, replicates, rounds, size or rounds)
    return np.concatenate(list(chunks))


class Rising:
    mean, depends_on_horizon, digest = 5.5, False, None

    def chunks(self, seed, replicates, rounds, size):
        for first in range(1, rounds + 1, size):
            t = np.arange(first, min(first + size, rounds + 1))
            yield np.repeat(t[:, None], replicates, axis=1)


@pytest.mark.parametrize("process", DRAWN)
@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 70), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_prices_do_not_depend_on_the_chunks_they_come_in(process, rounds, size, replicates, seed):
    prices = Drawn(CostProcess(process=process))
    (whole,) = prices.chunks(seed, replicates, rounds, rounds)
    parts = list(prices.chunks(seed, replicates, rounds, size))
    assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert np.array_equal(np.concatenate(parts), whole)
    assert whole.shape == (rounds, replicates)


def test_the_drawn_prices_are_those_that_they_have_always_been():
    drawn = b"".join(costs(process, rounds=500, replicates=3).tobytes() for process in DRAWN)
    known = "100d316599095bf6a6f65078a645c7c39c2d97a87ca01cc4732c1be15ad8a5bc"
    assert hashlib.sha256(drawn).hexdigest() == known


@pytest.mark.parametrize("process", DRAWN)
def test_the_horizon_moves_the_prices_of_the_drifting_process_alone(process):
    short, long = costs(process, rounds=50), costs(process, rounds=80)
    moved = not np.array_equal(short, long[:50])
    assert moved == Drawn(CostProcess(process=process)).depends_on_horizon == (process == "drifting")


@pytest.mark.parametrize("process", DRAWN)
@pytest.mark.parametrize("ends", [(2e-15, 3e-15), (9e14, 9e14), (2e-15, 9.9e14), (1, 1)])
def test_prices_are_positive_and_finite_to_the_ends_of_the_settings(process, ends):
    if process == "integer":
        ends = [max(1, end) for end in ends]
    c = costs(process, low=ends[0], high=ends[1], drift=0.9999999999999999, rounds=500)
    assert np.isfinite(c).all()
    assert c.min() > 0
    if process != "drifting":
        assert ends[0] <= c.min()
        assert c.max() <= ends[1]


def test_a_trace_may_have_a_column_for_each_replicate_and_is_neither_repeated_nor_filled_in():
    values = np.arange(1.0, 13.0).reshape(4, 3)
    assert [chunk.tolist() for chunk in make_prices(values).chunks(0, 2, 3, 2)] == [
        [[1, 2], [4, 5]],
        [[7, 8]],
    ]
    assert make_prices(torch.tensor(values)).digest == make_prices(values.tolist()).digest
    assert make_prices(values).depends_on_horizon is False
    assert make_prices(values).mean == Fraction(13, 2)  # of the whole trace, also where a study needs less
    assert "3 replicates and the study 5" in refused(make_prices(values).chunks, 0, 5, 4, 4)
    sentence = refused(Trace(np.ones(300)).chunks, 0, 1, 500, 100)
    assert "the trace has 300 prices and the study 500 rounds" in sentence


def test_a_trace_keeps_its_numbers_when_the_array_changes_and_its_digest_tells_it_from_others():
    values = np.ones(3)
    trace = make_prices(values)
    values[:] = 7
    (found,) = trace.chunks(0, 1, 3, 3)
    found[:] = 7
    assert trace.values.tolist() == [1, 1, 1]
    assert len({Trace(values).digest for values in ([1, 2], [2, 1], [[1, 2]], [[1], [2]], [1, 2, 3])}) == 5
    assert make_prices(CostProcess()).digest is None


def test_what_is_no_list_of_prices_is_refused():
    for part, wrong in {
        "shape": ([], 5.0, np.ones((2, 2, 2))),
        "lie between 1e-15 and 1e+15": ([1, np.nan], [1, 1e15], [1, 1e-15]),
        "complex": ([1, 1j],),
        "masked": (np.ma.masked_array([1.0, 2.0], [False, True]),),
        "real numbers": (["1", "2"], torch.ones(2, requires_grad=True)),
        "CSV file": (None, (price for price in [1, 2])),
        "give Rising(...)": (Rising,),
    }.items():
        for values in wrong:
            assert part in refused(make_prices, values)


def written(tmp_path, content):
    path = tmp_path / "prices.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_file_of_prices_is_read_as_it_is_written(tmp_path):
    for content, column in (
        ("2.5\n0.1\n3", None),
        ("\ufeff2.5\r\n0.1\r\n3\r\n\r\n", None),
        ("c1\n 2.5 \n1e-1\n3\n\n  \n", None),
        ('day,"spot price"\nMon,2.5\nTue,"0.1"\nWed,3\n', "spot price"),
        ("\ufeffday, price\na,2.5\nb,0.1\nc,3\n\n", "price"),
        ("day\tprice\na\t2,5\nb\t0,1\nc\t3\n", "price"),
        ("day;price\na;2,5\nb;0,1\nc;3\n;\n", "price"),
        ('"day, in, May";price;;\na;2.5;;\nb;0.1;;\nc;3;;\n;;;\n', "price"),
        ("price;;\n2,5;;\n0,1;;\n3;;\n", None),
        (",2019,2020\n0,7,2.5\n1,7,0.1\n2,7,3\n", "2020"),
    ):
        path = written(tmp_path, content)
        trace = read_trace(path, column)
        assert (trace.values.tolist(), trace.mean) == ([2.5, 0.1, 3], Fraction(56, 30))
        through = CostProcess(process="trace", file=str(path), column=column)
        others = [through] if column else [through, path, str(path), [2.5, 0.1, 3]]
        assert {make_prices(one).digest for one in others} == {trace.digest}


def test_a_file_that_is_no_trace_is_refused_with_its_line(tmp_path):
    for content, column, part in (
        ("\n\n", None, "holds no price"),
        ("price\n", None, "holds no price"),
        *((f"{cell}\n1\n", None, f"line 1, has {cell!r}") for cell in ("$5", "NaN", "Inf", "Infinity")),
        *((f"1\n{cell}\n", None, f"line 2, has {cell!r}") for cell in ("two", "0", "1e400", "1_000", "٣")),
        *((f"1\n{'x' * n}\n", None, f"has '{'x' * 30}{end}'") for n, end in ((30, ""), (31, "…"))),
        ("1\n\n\n2\n", None, "line 2, is blank"),
        ("1\n2,3\n", None, "line 2, has 2 cells: expected 1 as in the first line, with prices such as 2.5"),
        ("price\n2,5\n", None, "such as 2.5; write decimals with a point, if the comma is one"),
        ('price,day\n"2,5",1\n', "price", "line 2, has '2,5': expected a price between 1e-15 and 1e+15"),
        ("price;day\n-0,5;1\n", "price", "line 2, has '-0,5'"),
        ("day,price\n1,2\n3\n", "price", "line 3, has 1 cells"),
        ("2,5\n3,5\n", None, "one of '2', '5'; write decimals with a point, if the comma is one"),
        ("c;d\n1.234;1\n5;2\n999,5;3\n", "c", "line 4, has '999,5', and others have '.' for decimals"),
        ("price;day\n0,5;1\n1.234;2\n", "price", "line 3, has '1.234', and others have ',' for decimals"),
        ("price;;\n1;;2\n", None, "line 2, has a cell in a column without a name"),
        ("day,price\n1,2\n", None, "has 2 columns: name the one with the prices"),
        ("day,price\n1,2\n", "cost", "no column 'cost': its first line names 'day', 'price'"),
        ("day,price\n1,2\n3,\n", "price", "line 3, has ''"),
        ("price,price\n1,2\n", "price", "two or more columns 'price'"),
        ('1\n"2\n3\n', None, "is not CSV"),
        (b"1\n\xff\xfe\n", None, "line 2, is not text"),
        (b"1\n\x00\n", None, "line 2"),
        (b"1" * (1 << 21), None, "line 1, has more than"),
    ):
        sentence = refused(read_trace, written(tmp_path, content), column)
        assert part in sentence
        assert "prices.csv" in sentence


def test_a_trace_that_cannot_be_read_is_refused(tmp_path):
    assert "No such file" in refused(read_trace, tmp_path / "nowhere.csv")
    assert "not a plain file" in refused(read_trace, tmp_path)
    assert "not a plain file" in refused(read_trace, os.devnull)  # a pipe would keep a broken check waiting
    assert "name of a file" in refused(read_trace, "a\0b")
    refused(read_trace, tmp_path / ("long" * 100))
    assert "column must be" in refused(read_trace, written(tmp_path, "1\n"), 3)
    assert "not drawn" in refused(Drawn, CostProcess(process="trace", file="prices.csv"))


def test_every_chunk_of_the_users_own_prices_is_checked():
    for chunks, part in (
        ([np.ones((3, 2))], "ended after 3 of 5 rounds"),
        ([np.ones((2, 2)), np.ones((3, 2))], "= (3, 2) after 0 rounds, got (2, 2)"),
        ([np.ones((3, 2)), np.ones((3, 2))], "= (2, 2) after 3 rounds, got (3, 2)"),
        ([np.ones(3)], "got (3,)"),
        ([np.zeros((3, 2))], "got 0"),
        ([None], "real numbers"),
    ):
        mine = type("Mine", (Rising,), {"chunks": lambda self, *asked, chunks=chunks: iter(chunks)})()
        sentence = refused(lambda mine=mine: list(make_prices(mine).chunks(0, 2, 5, 3)))
        assert part in sentence
        assert "Mine.chunks" in sentence


def test_an_object_with_the_four_parts_is_prices_and_may_use_its_buffer_again():
    class Reused(Rising):
        def chunks(self, seed, replicates, rounds, size):
            buffer = np.empty((size, replicates))
            for t in range(rounds):
                buffer[:] = t + 1
                yield buffer

    class Whole(Rising):
        def chunks(self, seed, replicates, rounds, size):
            yield np.full((size, replicates), 2.5)

    short = study(policies=("constant",), rounds=3)
    assert (plan(short, CONTROL, prices=Whole()).cost == 2.5).all()  # in one piece
    prices = make_prices(Rising())
    assert (prices.mean, make_prices(prices)) == (Fraction(11, 2), prices)
    assert np.concatenate(list(prices.chunks(0, 2, 7, 3)))[:, 1].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert np.concatenate(list(make_prices(Reused()).chunks(0, 1, 3, 1))).ravel().tolist() == [1, 2, 3]


def test_the_parts_of_the_users_own_prices_are_checked_and_missing_ones_named():
    means = [("mean", mean) for mean in (None, float("nan"), True)]
    for part, value in (*means, ("depends_on_horizon", 0), ("digest", 5), ("chunks", [1])):
        assert f"Mine.{part} must be" in refused(make_prices, type("Mine", (Rising,), {part: value})())
    bare = type("Bare", (), {"mean": 5})()
    assert "Bare lacks depends_on_horizon and digest and chunks" in refused(checked, bare)


def law(**cost):
    return law_of(make_prices(CostProcess(**cost)), seed=4, replicates=3, rounds=500)


def test_the_law_of_a_drawn_price_is_that_of_its_process_and_that_of_a_trace_all_of_it():
    assert law() == law(process="markov") == Uniform(1.0, 10.0)
    assert law(process="integer", low=2, high=4) == Atoms.of([2.0, 3.0, 4.0])
    for process in ("uniform", "markov", "integer"):
        assert law(process=process, low=3, high=3) == Atoms.of([3.0])
    many = law(process="integer", low=1, high=10**12)  # some stand for all
    assert len(many.prices) == 2000
    assert many.mean == pytest.approx(5e11, rel=0.1)
    assert law_of(make_prices([[1, 4], [1, 2.5]]), rounds=1) == Atoms.of([1.0, 1.0, 2.5, 4.0])


@pytest.mark.parametrize("process", DRAWN)
def test_the_law_of_a_round_is_that_of_the_prices_drawn(process):
    """All rounds together, to five standard errors of 20,000 prices and, where they were drawn too, of 2000."""
    found, drawn = law(process=process), costs(process, rounds=500, replicates=40)
    rare = 10 if process == "markov" else 1  # a price stays for ten rounds
    error = 5 * np.sqrt(rare / drawn.size + (1 / 2000 if process == "drifting" else 0))
    for price in (1.0, 2.0, 4.5, 7.0, 10.0):
        assert abs((drawn <= price).mean() - found.mass(price)) <= error / 2
    assert abs(found.mean - 5.5) <= (error * 9 if process == "drifting" else 1e-12)


def test_the_law_of_the_users_own_prices_is_drawn_over_the_horizon_with_another_seed():
    asked = []

    class Mine(Rising):
        def chunks(self, seed, replicates, rounds, size):
            asked.append((seed, replicates))
            return super().chunks(seed, replicates, rounds, size)

    for rounds, replicates in ((500, 3), (500, 9), (2000, 3), (5501, 3)):
        found = law_of(make_prices(Mine()), 2**32 - 1, replicates, rounds)
        assert (found.lowest, found.mean) == (1, pytest.approx(rounds / 2, rel=0.01))
        assert set(np.diff(found.prices)) == {-(-rounds // 2000)}
        assert found.highest > rounds - 4
    assert asked == [(0, 3), (0, 4), (0, 1), (0, 1)]
