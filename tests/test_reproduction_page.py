"""The page on what could be reproduced says what the committed results say."""

from pathlib import Path

import pytest

from benchmarks.reproduction import FILLED, PAGE, STUDIES, points, renewed, study

TEXT = PAGE.read_text(encoding="utf-8")
TOLD = " ".join(TEXT.split()).replace("−", "-")


def test_its_tables_are_those_of_the_results():
    assert renewed(TEXT) == TEXT


def test_every_result_has_the_command_that_made_it():
    names = [
        *STUDIES,
        "why-mnist-logistic",
        "why-mnist-lenet",
        "why-mnist-filled",
        "mnist-rho",
        "networks-32",
    ]
    for document in filter(None, map(study, [*names, "precision-cifar10"])):
        assert document["command"].startswith(("acdpp reproduce", "python -m benchmarks"))


@pytest.mark.parametrize(
    ("name", "policy", "measure", "words"),
    [
        ("mnist-released", "released", "points_averaged", "averaged over the rounds* is {} points"),
        ("mnist-released", "released", "points", "after the last round {})"),
        ("mnist-released", "buy-cheap-online", "points_averaged", "keeps budget and buffers, has {}"),
        ("mnist-released", "buy-cheap-online", "points", "(at the end {})"),
    ],
)
def test_the_gains_it_quotes_were_measured(name, policy, measure, words):
    assert words.format(points(study(name)["comparisons"][policy]["constant"][measure])) in TOLD


def test_so_were_other_numbers():
    released = study("mnist-released")["policies"]["released"]
    assert f"spends {released['mean_cost']['mean']:.0f} a round of a budget of 55" in TOLD
    assert f"holds up to {released['occupancy']['largest']} samples in buffers for 100" in TOLD
    long = study("mnist-released-300")["comparisons"]["released"]["constant"]
    assert f"over 300 rounds 85 % are reached {long['speed_up']:.1f} times as fast" in TOLD
    lenet = study("why-mnist-lenet")["worlds"]["paper"]["policies"]["acdpp"]
    assert f"ACDPP is {points(lenet['points'])} points ahead" in TOLD
    held = [
        study(f"{name}-paper")["policies"]["acdpp"]["occupancy"]["largest"] for name in ("mnist", "cifar10")
    ]
    assert "up to {} samples in buffers for 100 (MNIST), {} in 200".format(*held) in TOLD
    hybrid = [
        study("mnist-released")["comparisons"][policy]["hybrid"][measure]["mean"]
        for policy in ("acdpp", "released")
        for measure in ("points", "points_averaged")
    ]
    assert f"({min(hybrid):.1f} to {max(hybrid):.1f} points, not 1.9)" in TOLD


def test_what_is_left_of_the_gain_adds_up():
    gains = study("why-mnist-filled")["comparisons"]
    end, mean = (
        {name: one["constant"][measure]["mean"] for name, one in gains.items()}
        for measure in ("points", "points_averaged")
    )
    rich = f"{FILLED}@budget=81.55"
    assert f"gains {mean[FILLED]:+.1f} averaged points and none at the end" in TOLD
    assert abs(end[FILLED]) < 0.1
    assert f"most of the {mean['acdpp']:+.1f} of `acdpp`" in TOLD
    assert (
        f"gains {end['constant@budget=81.55']:+.1f} at the end and, filled, {mean[rich]:+.1f} averaged"
        in TOLD
    )
    assert (
        f"{mean['released'] - mean[rich]:.1f} averaged points and {end['released'] - end[rich]:.1f} at the end"
        in TOLD
    )
    assert 0.6 < mean[rich] / mean["released"] < 0.72  # two thirds
    worlds = study("why-mnist-logistic")["worlds"]
    left = {name: worlds[name]["policies"]["released"]["points"]["mean"] for name in worlds}
    momentum, again = left["released-momentum"], left["released-readmitted"]
    assert f"without them {momentum:+.1f} and {again:+.1f} are left of {left['released']:+.1f}" in TOLD
    rule = worlds["released"]["policies"]
    whole, constants, region = (
        rule[name]["points_averaged"]["mean"]
        for name in ("released", "released-constants", "released-region")
    )
    assert f"{constants:+.1f} are left of {whole:+.1f}, without the region {region:+.1f}" in TOLD


def test_precision_changes_no_conclusion():
    found = study("precision-cifar10")["precisions"]
    pairs = [(found["bfloat16"][name], found["tf32"][name]) for name in ("acdpp", "constant")]
    apart = [
        abs(a - b)
        for one, other in pairs
        for a, b in zip(one["final_accuracies"], other["final_accuracies"], strict=True)
    ]
    assert f"differs by more than {100 * max(apart):.1f} points" in TOLD
    means = [abs(one["best_accuracy"]["mean"] - other["best_accuracy"]["mean"]) for one, other in pairs]
    assert f"the means of the current best by {100 * max(means):.1f} at most" in TOLD
    gaps = [
        100 * (one["acdpp"]["best_accuracy"]["mean"] - one["constant"]["best_accuracy"]["mean"])
        for one in (found["tf32"], found["bfloat16"])
    ]
    assert "the gap between the two policies is {:.1f} instead of {:.1f} points".format(*gaps) in TOLD


def test_speed_is_what_the_benchmark_printed():
    cases = study("networks-32")["cases"]
    own, alone = (cases[name]["run_round_s"] for name in ("kernels, bfloat16", "one client at a time"))
    assert f"{alone / own:.0f} times one client after the other" in TOLD
    assert f"{1.55 / own:.0f} times the 1.55 s" in TOLD


def test_its_pictures_are_there():
    for picture in ("section7-accuracy.png", "section7-constraints.png", "explained.png"):
        assert f"({picture})" in TEXT
        assert (Path(PAGE).parent / picture).is_file()


def test_the_readme_quotes_it():
    told = " ".join((PAGE.parent.parent / "README.md").read_text(encoding="utf-8").split())
    document = study("mnist-released")
    gains = {
        name: points(document["comparisons"][name]["constant"]["points_averaged"])
        for name in ("released", "buy-cheap-online")
    }
    assert f"({gains['released']}, averaged over the rounds" in told
    assert f"`buy-cheap-online` has {gains['buy-cheap-online']} within both" in told
