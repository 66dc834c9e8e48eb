"""`plot explained` shows every departure with its gains, its cost and its memory."""

from dataclasses import replace

import numpy as np
import pytest

from figures import explained
from tests.figures.small import PAPER, fits
from tests.figures.test_command import invoke
from tests.made_up import write
from tests.refused import refused

WORLDS = {
    "text": {"acdpp": 0.4, "acdpp+K": 0.9, "acdpp+region": 1.4, "acdpp+cap": 0.3, "released": 2.6},
    "momentum": {"acdpp": 0.6, "released": 3.1},
}


def between(mean, seeds, half):
    low, high = (mean - half, mean + half) if seeds > 1 else (None, None)
    return {"mean": mean, "low": low, "high": high}


def made(worlds=WORLDS, dataset="mnist", seeds=10):
    """A document of departures, from worlds, policies and mean gains in points."""
    found = {}
    for world, gains in worlds.items():
        found[world] = {"label": f"{world}, as it is", "policies": {}}
        for name, gain in gains.items():
            found[world]["policies"][name] = {
                "points": between(gain, seeds, 0.5),
                "points_averaged": between(gain / 2, seeds, 0.25),
                "mean_cost": between(55 + 8 * gain, seeds, 2.0),
                "largest_occupancy": 100 + 40 * ("released" in name),
                "buffers": 100,
            }
    return {"dataset": dataset, "seeds": seeds, "rounds": 100, "level": 0.8, "worlds": found}


def read(document, folder):
    return explained.read(write(document, folder / "explained.json"))


def test_a_row_is_a_departure_with_its_gains_its_cost_and_its_memory(tmp_path):
    document = made(dataset="imagenette")
    data = read(document, tmp_path)
    assert (data.claimed, read(made(dataset="mnist"), tmp_path).claimed) == (1.8, 3.5)
    rows = [row for group in data.groups for row in group.rows]
    policies = [pair for world in document["worlds"].values() for pair in world["policies"].items()]
    for row, (name, entry) in zip(rows, policies, strict=True):
        assert row.name == name
        for gain, key in ((row.last, "points"), (row.averaged, "points_averaged")):
            assert {end: float(getattr(gain, end)) for end in entry[key]} == entry[key]
        assert (row.cost, row.memory) == (entry["mean_cost"]["mean"], entry["largest_occupancy"] / 100)


def test_costs_memories_and_what_the_paper_claims_stand_beside_the_rows(tmp_path):
    gains = {"acdpp+K": 0.5, "released-K": 1.0}
    figure = explained.draw(read(made({"text": gains}, dataset="cifar10"), tmp_path), PAPER)
    written = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert [text for text in written if text[0].isdigit()] == ["59.0", "100 %", "63.0", "140 %"]
    (legend,) = figure.legends
    assert "(budget 110)" in legend.get_title().get_text()
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["acdpp", "released", "the paper: +3.5 on CIFAR-10"]


def test_baselines_are_no_departures_but_richer_constant_admission_is_a_row(tmp_path):
    baselines = ("constant", "hybrid", "hybrid@K=10", "oracle")
    departures = ["acdpp", "constant@K=2,budget=200"]
    gains = dict.fromkeys((*baselines, *departures), 1.0)
    data = read(made({"paper": gains, "momentum": {"constant": 0.0}}), tmp_path)
    assert [[row.name for row in group.rows] for group in data.groups] == [departures]
    assert "only baselines" in refused(read, made({"paper": dict.fromkeys(baselines, 0.0)}), tmp_path)


def test_equal_spending_has_rows_of_its_own(tmp_path):
    document = made({"paper": {"acdpp": 1.0, "released": 3.0}})
    world = document["worlds"]["paper"]
    gains = {"points": between(-0.5, 10, 0.5), "points_averaged": between(1.5, 10, 0.5)}
    over = {"constant@K=2,budget=200": {"released": gains, "acdpp@K=2": gains}}
    world["equal_spending"] = {"cost": 200.0, "over": over}
    data = read(document, tmp_path)
    assert "constant@K=2,budget=200 at equal spending" in data.groups[1].title
    row, elsewhere = data.groups[1].rows
    assert np.isnan([elsewhere.cost, elsewhere.memory]).all()
    assert (float(row.last.mean), float(row.averaged.mean)) == (-0.5, 1.5)
    assert row.cost == pytest.approx(world["policies"]["released"]["mean_cost"]["mean"])


LONG = {f"acdpp+a-long-name-of-a-departure-{j}": 0.1 * j for j in range(12)}
ODD = {"my_module:MyPolicy$": 1.0, "released-region-cap": 1.0}
MANY = {**{f"world {i}": LONG for i in range(4)}, "with $ and a name " + "so very long " * 12: ODD}


@pytest.mark.parametrize(("worlds", "seeds"), [({"one": {"acdpp": 0.1}}, 1), (MANY, 10)])
def test_any_departures_of_any_data_are_drawn_within_the_page(worlds, seeds, tmp_path):
    data = replace(read(made(worlds, seeds=seeds), tmp_path), claimed=np.nan, budget=np.nan, dataset="mine")
    figure = explained.draw(data, PAPER)
    assert fits(figure, PAPER)
    (legend,) = figure.legends
    assert ("no intervals" in legend.get_title().get_text()) == (seeds == 1)
    assert not any("the paper" in text.get_text() for text in legend.get_texts())


def test_it_is_one_command(tmp_path, saved):
    file = write(made(), tmp_path / "explained.json")
    for given in (file, tmp_path):
        invoke("explained", str(given), "--dpi", "40", "--out", str(tmp_path / "plots"))
        assert saved == {"explained.png": f"acdpp plot explained {given} --dpi 40"}
    assert "has no 'level'" in refused(invoke, "explained", str(write({"seeds": 1}, tmp_path / "other.json")))
    document = made({"one": {"acdpp": 0.1}})
    del document["worlds"]["one"]["policies"]["acdpp"]["points_averaged"]
    assert "has no 'worlds.one.policies.acdpp.points_averaged'" in refused(read, document, tmp_path)
