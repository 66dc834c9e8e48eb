"""`plot section7` and `plot explained` show what their documents say, in every style, and refuse what is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from PIL import Image

from figures import explained, section7
from figures.choices import Style
from figures.style import LOOKS
from proofs_check.experiments.document import Reproduction, parse
from tests import made_up
from tests.figures.test_command import description, invoke
from tests.figures.test_drawing import overhang
from theory.setting import SettingError

PAPER = LOOKS[Style.paper]


def made(*args: Any, **kwargs: Any) -> Reproduction:
    return parse(made_up.reproduction(*args, **kwargs), "made up")


def several(count: int, **how: Any) -> list[Reproduction]:
    sets = [(dataset, setting) for setting in ("paper", "released") for dataset in made_up.PAPER]
    return [made(*sets[place % len(sets)], **how) for place in range(count)]


def shown(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_visible()]


def curves(axes: Axes, length: int) -> list[tuple[str, Any]]:
    return [
        (str(line.get_color()), line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == length
    ]


# --- Figure 1 ----------------------------------------------------------------------------------------------


def test_every_curve_is_the_mean_current_best_and_the_papers_policies_have_bands() -> None:
    result = made(rounds=12)
    above, _ = shown(section7.draw_accuracy([result], PAPER))
    looks = PAPER.policies(list(result.policies))
    drawn = dict(curves(above, 13))
    for name, played in result.policies.items():
        assert drawn[looks[name]["color"]] == pytest.approx(100 * played.current_best.mean)
    bands = [band for band in above.collections if isinstance(band, PolyCollection)]
    banded = ("constant", "oracle", "acdpp", "hybrid")
    assert len(bands) == len(banded)
    for name, band in zip(banded, bands, strict=True):
        outline = band.get_paths()[0].vertices
        best = result.policies[name].current_best
        ends = np.sort(outline[outline[:, 0] == 12][:, 1])
        assert (ends[0], ends[-1]) == pytest.approx((100 * best.low[12], 100 * best.high[12]))


def test_the_target_is_the_papers() -> None:
    for dataset, said in made_up.PAPER.items():
        above, _ = shown(section7.draw_accuracy([made(dataset, rounds=5)], PAPER))
        levels = [line.get_ydata()[0] for line in above.lines if len(line.get_xdata()) == 2]
        assert levels == [pytest.approx(100 * said["target"])]


def _claims(axes: Axes) -> list[tuple[float, float]]:
    """Where dashed claims stand, and in which row they begin."""
    dashed = [
        c for c in axes.collections if isinstance(c, LineCollection) and c.get_linestyles()[0][1] is not None
    ]
    return [(segment[0][0], segment[0][1]) for c in dashed for segment in c.get_segments()]


@pytest.mark.parametrize(("setting", "acdpp"), [("paper", "acdpp"), ("released", "released")])
def test_the_papers_gains_start_from_the_measured_baselines_and_reach_its_policy(
    setting: str, acdpp: str
) -> None:
    result = made("imagenette", setting)
    figure = section7.draw_accuracy([result], PAPER)
    below = shown(figure)[1]
    rows = [label.get_text() for label in below.get_yticklabels()]
    ends = {name: 100 * float(result.policies[name].best_accuracy.mean) for name in ("constant", "hybrid")}
    wanted = [(ends["constant"] + 1.8, rows.index(acdpp)), (ends["hybrid"] + 4.1, rows.index(acdpp))]
    assert [place for one in _claims(below) for place in one] == pytest.approx(
        [x for one in wanted for x in one]
    )
    assert rows[-2:] == ["paper, from constant", "paper, from hybrid"]
    assert {text.get_text() for text in below.texts} == {"+1.8", "+4.1"}


def test_a_gain_that_would_exceed_everything_is_said_and_not_drawn() -> None:
    below = shown(section7.draw_accuracy([made("cifar10", final={"hybrid": 0.9})], PAPER))[1]
    assert len(_claims(below)) == 1
    assert "+26.7: above 100 %" in {text.get_text() for text in below.texts}
    assert below.get_xlim()[1] < 105


def test_bars_are_the_intervals_of_the_last_round() -> None:
    result = made()
    below = shown(section7.draw_accuracy([result], PAPER))[1]
    rows = [label.get_text() for label in below.get_yticklabels()]
    found = {}
    for bars in below.collections:
        if isinstance(bars, LineCollection) and bars.get_linestyles()[0][1] is None:
            for (low, row), (high, _) in bars.get_segments():
                found[rows[round(row)]] = (low, high)
    for name, played in result.policies.items():
        end = played.best_accuracy
        assert found[name] == pytest.approx((100 * float(end.low), 100 * float(end.high)))


# --- Figure 2 ----------------------------------------------------------------------------------------------


def test_memory_cost_and_debt_are_drawn_with_their_limits() -> None:
    result = made("cifar10", rounds=15, largest={"acdpp": 321})
    memory, cost, debt = shown(section7.draw_constraints([result], PAPER))
    looks = PAPER.policies(list(result.policies))
    for axes, wanted in ((memory, 200), (cost, 110)):
        assert [line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 2] == [wanted]
    assert [text.get_text() for text in memory.texts] == ["acdpp: up to 321"]
    spent = curves(cost, 15)
    assert spent[0][0] == looks["acdpp"]["color"]
    assert spent[0][1] == pytest.approx(result.policies["acdpp"].cost)
    averages, owed = dict(spent[1:]), dict(curves(debt, 15))
    held = dict(curves(memory, 15))
    for name, played in result.policies.items():
        colour = looks[name]["color"]
        assert held[colour] == pytest.approx(played.occupancy)
        assert (colour in averages) == (colour in owed) == (name != "oracle")
        if name != "oracle":
            assert averages[colour][-1] == pytest.approx(played.cost.mean())
            assert owed[colour] == pytest.approx(played.debt)


# --- both --------------------------------------------------------------------------------------------------

DRAW = (section7.draw_accuracy, section7.draw_constraints)


@pytest.mark.parametrize("draw", DRAW)
def test_it_is_drawn_within_its_page(draw: Any) -> None:
    figure = draw(several(3, complete=False), PAPER)
    assert overhang(figure, PAPER) < 0.01
    (legend,) = figure.legends
    note = legend.get_title().get_text().replace("\n", " ")
    assert "Subset: on a part of the data." in note
    titles = [axes.get_title(loc="left") for axes in shown(figure) if axes.get_title(loc="left")]
    assert all(title.endswith(", subset") for title in titles)
    assert "Seeds differ in partition, prices, samples and initial parameters." in note


@pytest.mark.parametrize("count", [1, 5, 12])
@pytest.mark.parametrize("draw", DRAW)
def test_every_result_has_its_panels_and_a_title_of_its_own(draw: Any, count: int) -> None:
    look = LOOKS[Style.slides]
    figure = draw(several(count, rounds=6, seeds=2), look)
    assert overhang(figure, look) < 0.01
    titles = [axes.get_title(loc="left") for axes in shown(figure) if axes.get_title(loc="left")]
    assert [title[:3] for title in titles] == [f"({letter})" for letter in "abcdefghijkl"[:count]]
    assert len(shown(figure)) == count * (2 if draw is section7.draw_accuracy else 3)


@pytest.mark.parametrize("draw", DRAW)
@pytest.mark.parametrize(
    "how",
    [
        {"rounds": 1, "seeds": 1},
        {"policies": ("constant", "oracle")},
        {"policies": ("acdpp",), "largest": {"acdpp": 10**6}, "growth": 1e4},
    ],
    ids=["one round, one seed", "two policies", "one policy, out of bounds"],
)
def test_a_result_of_any_size_and_any_policies_is_drawn(draw: Any, how: dict[str, Any]) -> None:
    figure = draw([made(**how), made("cifar10")], LOOKS[Style.slides])
    assert overhang(figure, LOOKS[Style.slides]) < 0.01


@pytest.mark.parametrize("draw", DRAW)
def test_a_study_that_the_paper_does_not_have_is_drawn_without_its_numbers(draw: Any) -> None:
    document = made_up.reproduction()
    own = {"dataset": "my_own:data", "target": None, "paper": None, "data": None, "command": None}
    figure = draw([parse(document | own, "made up")], PAPER)
    assert overhang(figure, PAPER) < 0.01
    assert all(not _claims(axes) for axes in shown(figure))


# --- the command -------------------------------------------------------------------------------------------


def test_both_figures_come_from_files_and_folders_and_name_their_command(tmp_path: Path) -> None:
    (folder := tmp_path / "result").mkdir()
    files = [
        str(made_up.write(made_up.reproduction(), tmp_path / "mnist.json")),
        str(made_up.write(made_up.reproduction("cifar10"), folder / "reproduction.json").parent),
    ]
    said = invoke("section7", *files, "--dpi", "40", "--out", str(tmp_path / "plots"))
    names = ["section7-accuracy.png", "section7-constraints.png"]
    assert [Path(line).name for line in said.split()] == names
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == names
    for name in names:
        assert description(tmp_path / "plots" / name) == f"acdpp plot section7 {' '.join(files)} --dpi 40"


def test_a_folder_without_the_document_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def reproduction(folder: Path) -> dict[str, Any]:
        asked.append(folder)
        return made_up.reproduction("imagenette")

    monkeypatch.setattr("empirics.records.reproduction.reproduction", reproduction)
    assert section7.read(tmp_path).dataset == "imagenette"
    assert asked == [tmp_path]


def test_the_same_command_gives_the_same_bytes(tmp_path: Path) -> None:
    file = str(made_up.write(made_up.reproduction(), tmp_path / "mnist.json"))
    for place in ("one", "other"):
        invoke("section7", file, "--dpi", "40", "--out", str(tmp_path / place))
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()
        with Image.open(path) as image:
            assert image.info["Title"] == f"acdpp: {path.stem}"


GONE = object()


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("policies", GONE, "has no '{}'"),
        ("policies.acdpp.debt", GONE, "has no '{}'"),
        ("policies.acdpp.current_best.mean", [0.1, 0.2], "has no list of 5 numbers '{}'"),
        ("policies.acdpp.current_best.high", ["x"] * 5, "has no number '{}'"),
        ("policies.acdpp.occupancy.largest", None, "has no number '{}'"),
        ("seeds", 0, "has no whole number of 1 or more '{}'"),
        ("dataset", 3, "has no text '{}'"),
        ("comparisons", [], "has no object '{}'"),
        ("comparisons.nobody", {}, "compares 'nobody'"),
    ],
)
def test_a_wrong_document_is_one_sentence_and_leaves_nothing(
    path: str, value: Any, what: str, tmp_path: Path
) -> None:
    document: Any = made_up.reproduction(rounds=4)
    *above, last = path.split(".")
    inner = reduce(getitem, above, document)
    inner[last] = value
    if value is GONE:
        del inner[last]
    file = made_up.write(document, tmp_path / "wrong.json")
    with pytest.raises(SettingError, match=re.escape(what.format(path))) as caught:
        invoke("section7", str(file), "--out", str(tmp_path / "new"))
    assert "wrong.json" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("content", "what"),
    [("not JSON", "no JSON file"), ("[1, 2]", "no JSON object"), (None, "there is no file")],
)
@pytest.mark.parametrize("figure", ["section7", "explained"])
def test_what_is_no_document_is_one_sentence(
    figure: str, content: str | None, what: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingError, match=what):
        invoke(figure, str(file), "--out", str(tmp_path / "new"))


def test_more_results_than_can_be_seen_are_refused(tmp_path: Path) -> None:
    file = str(made_up.write(made_up.reproduction(rounds=2), tmp_path / "mnist.json"))
    with pytest.raises(SettingError, match="13 results are more than one figure can show: give at most 12"):
        invoke("section7", *[file] * 13, "--out", str(tmp_path / "new"))


# --- what explains the gain --------------------------------------------------------------------------------


def read(document: dict[str, Any], folder: Path) -> explained.Explained:
    return explained.read(made_up.write(document, folder / "explained.json"))


def rows_of(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def bars_of(axes: Axes) -> list[Any]:
    return [s for c in axes.collections if isinstance(c, LineCollection) for s in c.get_segments()]


def test_a_row_is_a_departure_with_its_intervals_its_cost_and_its_memory(tmp_path: Path) -> None:
    document = made_up.explained()
    figure = explained.draw(read(document, tmp_path), PAPER)
    *panels, page = figure.axes
    names = [name for world in document["worlds"].values() for name in world["policies"]]
    assert rows_of(figure) == names
    entries = [one for world in document["worlds"].values() for one in world["policies"].values()]
    rows = figure.axes[0].get_yticks()
    titles = {"points": "after the last round", "points_averaged": "averaged over rounds"}
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        assert axes.get_title(loc="left") == title
        marks = [line.get_xydata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
        for y, entry, bar, mark in zip(rows, entries, bars_of(axes), marks, strict=True):
            gain = entry[key]
            assert bar.ravel() == pytest.approx([gain["low"], y, gain["high"], y])
            assert mark == pytest.approx([gain["mean"], y])
        verticals = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
        assert verticals == [0, 3.5]
    assert panels[0].get_xlim() == panels[1].get_xlim()
    beside = [(text.get_text(), text.get_position()[1]) for text in page.texts]
    for y, entry in zip(rows, entries, strict=True):
        assert (f"{entry['mean_cost']['mean']:.1f}", y) in beside
        assert (f"{entry['largest_occupancy']} %", y) in beside
    assert {"cost", "memory", "text: text, as it is"} <= {text for text, _ in beside}


def test_a_long_headline_takes_two_lines_and_its_rows_follow_them(tmp_path: Path) -> None:
    document = made_up.explained({"one": {"acdpp": 0.1}, "two": {"acdpp": 0.2}})
    document["worlds"]["one"]["label"] = label = " ".join(f"word{i}" for i in range(20))
    figure = explained.draw(read(document, tmp_path), PAPER)
    placed = {
        text.get_position()[1]: text.get_text() for text in figure.axes[-1].texts if text.get_ha() == "left"
    }
    assert list(placed) == [0, 1, 3]
    assert f"{placed[0]} {placed[1]}" == f"one: {label}"
    assert list(figure.axes[0].get_yticks()) == [2, 4]
    bands = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in figure.axes[-1].patches]
    for row in (2, 4):
        assert not any(low <= row <= high for low, high in bands)
    for line in placed:
        assert any(low < line < high for low, high in bands)


@pytest.mark.parametrize(("dataset", "claimed"), [("mnist", 3.5), ("cifar10", 3.5), ("imagenette", 1.8)])
def test_the_claim_is_that_of_the_data_set(dataset: str, claimed: float, tmp_path: Path) -> None:
    assert read(made_up.explained(dataset=dataset), tmp_path).claimed == claimed


def test_baselines_are_no_departures_but_richer_constant_admission_is_a_row(tmp_path: Path) -> None:
    gains = dict.fromkeys(
        ("constant", "hybrid", "hybrid@K=10", "oracle", "acdpp", "constant@K=2,budget=200"), 1.0
    )
    data = read(made_up.explained({"paper": gains, "momentum": {"constant": 0.0}}), tmp_path)
    assert [[row.name for row in group.rows] for group in data.groups] == [
        ["acdpp", "constant@K=2,budget=200"]
    ]
    with pytest.raises(SettingError, match="no policy but the baselines"):
        read(made_up.explained({"paper": {"constant": 0.0, "oracle": 5.0}}), tmp_path)


def test_equal_spending_has_rows_of_its_own(tmp_path: Path) -> None:
    document = made_up.explained({"paper": {"acdpp": 1.0, "released": 3.0}})
    world = document["worlds"]["paper"]
    gains = {
        "points": {"mean": -0.5, "low": -1.0, "high": 0.0, "p": 0.2},
        "points_averaged": {"mean": 1.5, "low": 1.0, "high": 2.0, "p": 0.01},
    }
    world["equal_spending"] = {"cost": 200.0, "over": {"constant@K=2,budget=200": {"released": gains}}}
    data = read(document, tmp_path)
    assert [group.title for group in data.groups][1] == (
        "paper, over constant@K=2,budget=200, which may spend as much"
    )
    (row,) = data.groups[1].rows
    assert (float(row.last.mean), float(row.averaged.mean)) == (-0.5, 1.5)
    assert row.cost == pytest.approx(world["policies"]["released"]["mean_cost"]["mean"])


LONG = {f"acdpp+a-long-name-of-a-departure-{j}": 0.1 * j for j in range(12)}
ODD = {"my_module:MyPolicy$": 1.0, "released-region-cap": 1.0}


@pytest.mark.parametrize(
    ("worlds", "style"),
    [
        (None, Style.paper),
        ({"one": {"acdpp": 0.1}}, Style.slides),
        ({f"world {i}": LONG for i in range(4)}, Style.slides),
        ({"with $ and a name " + "so very long " * 12: ODD}, Style.dark),
    ],
    ids=["usual", "one row", "many", "odd names"],
)
def test_any_departures_are_drawn_within_the_page(worlds: Any, style: Style, tmp_path: Path) -> None:
    figure = explained.draw(read(made_up.explained(worlds), tmp_path), LOOKS[style])
    assert overhang(figure, LOOKS[style]) < 0.01


def test_one_seed_has_no_intervals_and_says_so(tmp_path: Path) -> None:
    data = read(made_up.explained(seeds=1), tmp_path)
    figure = explained.draw(data, PAPER)
    assert "One seed, so no intervals" in figure.legends[0].get_title().get_text()
    own = replace(data, claimed=np.nan, budget=np.nan, dataset="mine")
    labels: Sequence[Any] = explained.draw(own, PAPER).legends[0].get_texts()
    assert not any("the paper" in text.get_text() for text in labels)


def test_it_is_one_command(tmp_path: Path) -> None:
    file = made_up.write(made_up.explained(), tmp_path / "explained.json")
    for given in (file, tmp_path):
        invoke("explained", str(given), "--dpi", "40", "--out", str(tmp_path / "plots"))
        path = tmp_path / "plots" / "explained.png"
        assert description(path) == f"acdpp plot explained {given} --dpi 40"
    with pytest.raises(SettingError, match=r"has no 'worlds'|has no 'level'"):
        invoke("explained", str(made_up.write({"seeds": 1}, tmp_path / "other.json")))
    document = made_up.explained({"one": {"acdpp": 0.1}})
    del document["worlds"]["one"]["policies"]["acdpp"]["points_averaged"]
    with pytest.raises(SettingError, match=r"has no 'worlds\.one\.policies\.acdpp\.points_averaged'"):
        read(document, tmp_path)
