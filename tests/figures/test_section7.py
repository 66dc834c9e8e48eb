"""`plot section7` shows the numbers of its documents, and refuses wrong documents."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from figures import section7
from proofs_check.experiments.reproduction import parse
from tests import made_up
from tests.figures.small import PAPER, SLIDES, fits
from tests.figures.test_command import invoke
from tests.refused import refused

OWN = {"dataset": "my_own:data", "target": None, "paper": None, "data": None, "command": None}


def made(*args, own=False, **kwargs):
    return parse(made_up.reproduction(*args, **kwargs) | (OWN if own else {}), "made up")


def shown(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


DRAW = (section7.draw_accuracy, section7.draw_constraints)


def test_a_gain_or_memory_above_its_limit_is_said_and_the_axis_of_debt_goes_below_0():
    result = made("cifar10", rounds=15, final={"hybrid": 0.9}, largest={"acdpp": 321})
    (*_, ends), (memory, _, debt) = (shown(draw([result], PAPER)) for draw in DRAW)
    assert {text.get_text() for text in ends.texts} == {"+3.5", "+26.7: above 100 %"}
    assert ends.get_xlim()[1] < 105
    assert [text.get_text() for text in memory.texts] == ["acdpp: up to 321"]
    low, zero, high = debt.transData.transform([(1, value) for value in (-4, 0, 4)])[:, 1]
    assert 0 < zero - low == pytest.approx(high - zero)


def titles(figure):
    return [title for axes in shown(figure) if (title := axes.get_title(loc="left"))]


@pytest.mark.parametrize("draw", DRAW)
def test_results_of_any_size_and_any_policies_are_drawn_within_the_page(draw):
    mixed = [  # which take two rows of panels
        made("cifar10", policies=("constant", "oracle")),
        made(rounds=1, seeds=1),
        made(policies=("acdpp",), largest={"acdpp": 10**6}, growth=1e4),
        made("imagenette", "released", complete=False),
        made(own=True),
    ]
    figure = draw(mixed, SLIDES)
    assert fits(figure)
    (legend,) = figure.legends
    assert "Subset" in legend.get_title().get_text()
    assert [title.endswith(", subset") for title in titles(figure)] == [not one.complete for one in mixed]
    alone = draw([made(own=True)], PAPER)  # not of the paper: without its numbers
    assert fits(alone, PAPER)
    assert not [text for axes in shown(alone) for text in axes.texts if "+" in text.get_text()]


def test_a_title_counts_seeds_and_the_code_s_setting_has_its_own_acdpp():
    results = [made(rounds=2, seeds=seeds) for seeds in (1, 2)]
    assert [title.rpartition(", ")[2] for title in titles(DRAW[0](results, PAPER))] == ["1 seed", "2 seeds"]
    figure = DRAW[0]([made("mnist", "released", policies=("constant", "released"))], PAPER)
    assert "+3.5" in [text.get_text() for axes in shown(figure) for text in axes.texts]


@pytest.mark.parametrize("count", [1, 4, 12])
@pytest.mark.parametrize(("draw", "panels"), [*zip(DRAW, (2, 3), strict=True)])
def test_every_result_has_its_panels_and_a_title_of_its_own(draw, panels, count):
    figure = draw([made(rounds=2, seeds=2)] * count, PAPER)
    assert [title[:3] for title in titles(figure)] == [f"({letter})" for letter in "abcdefghijkl"[:count]]
    assert len(shown(figure)) == count * panels
    if count == 4:  # two by two
        assert len({axes.get_position().x0 for axes in shown(figure)}) == 2


def test_both_figures_come_from_files_and_folders_and_name_their_command(tmp_path, saved):
    (folder := tmp_path / "result").mkdir()
    files = [
        str(made_up.write(made_up.reproduction(), tmp_path / "mnist.json")),
        str(made_up.write(made_up.reproduction("cifar10"), folder / "reproduction.json").parent),
    ]
    said = invoke("section7", *files, "--dpi", "40", "--out", str(tmp_path / "plots"))
    names = ["section7-accuracy.png", "section7-constraints.png"]
    assert [Path(line).name for line in said.split()] == names
    assert saved == dict.fromkeys(names, f"acdpp plot section7 {' '.join(files)} --dpi 40")


def test_a_folder_without_the_document_is_computed(tmp_path, monkeypatch):
    reproduction = Mock(return_value=made_up.reproduction("imagenette"))
    monkeypatch.setattr("empirics.results.reproduction.reproduction", reproduction)
    assert section7.read(tmp_path).dataset == "imagenette"
    reproduction.assert_called_once_with(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("policies", made_up.GONE, "has no '{}'"),
        ("policies.acdpp.debt", made_up.GONE, "has no '{}'"),
        ("policies.acdpp.current_best.mean", [0.1, 0.2], "has no list of 5 numbers '{}'"),
        ("policies.acdpp.current_best.high", ["x"] * 5, "has no number '{}'"),
        ("policies.acdpp.occupancy.largest", None, "has no number '{}'"),
        ("seeds", 0, "has no whole number of 1 or more '{}'"),
        ("dataset", 3, "has no text '{}'"),
        ("comparisons", [], "has no object '{}'"),
        ("comparisons.nobody", {}, "compares 'nobody'"),
    ],
)
def test_a_wrong_document_is_one_sentence_and_leaves_nothing(path, value, what, tmp_path):
    document = made_up.changed(made_up.reproduction(rounds=4), path.split("."), value)
    file = made_up.write(document, tmp_path / "wrong.json")
    sentence = refused(invoke, "section7", str(file), "--out", str(tmp_path / "new"))
    assert what.format(path) in sentence
    assert "wrong.json" in sentence
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("figure", ["section7", "explained"])
def test_what_is_no_document_is_one_sentence(figure, tmp_path):
    file = tmp_path / "wrong.json"
    words = (figure, str(file), "--out", str(tmp_path / "new"))
    assert "there is no file" in refused(invoke, *words)
    for content, what in (("not JSON", "no JSON file"), ("[1, 2]", "no JSON object")):
        file.write_text(content)
        assert what in refused(invoke, *words)


def test_more_results_than_can_be_seen_are_refused(tmp_path):
    file = str(made_up.write(made_up.reproduction(rounds=2), tmp_path / "mnist.json"))
    sentence = refused(invoke, "section7", *[file] * 13, "--out", str(tmp_path / "new"))
    assert "13 results are more than one figure can show: give at most 12" in sentence
