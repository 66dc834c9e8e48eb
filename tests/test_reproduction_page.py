"""The page on what could be reproduced says what the committed results say."""

import json
from pathlib import Path

import pytest

from benchmarks.reproduction import FILLED, LENET, PAGE, STUDIES, points, renewed, study, worlds
from proofs_check.claim import decide
from proofs_check.claims.experiments import accuracy
from proofs_check.engines.experiment import further_runs
from proofs_check.experiments.committed import committed

TEXT = PAGE.read_text(encoding="utf-8")
TOLD = " ".join(TEXT.split()).replace("−", "-")


def test_its_tables_are_those_of_the_results():
    assert renewed(TEXT) == TEXT


@pytest.mark.parametrize("path", sorted((PAGE.parent / "results").glob("*.json")), ids=lambda path: path.name)
def test_every_result_has_the_command_that_made_it(path):
    command = json.loads(path.read_text(encoding="utf-8"))["command"]
    assert command.startswith(("acdpp reproduce", "acdpp train", "python -m benchmarks"))
    assert "/tmp" not in command


def test_what_was_not_run_is_said_and_the_rest_was():
    absent = [name for name in STUDIES if study(name) is None]
    assert absent == ["imagenette-released"]
    assert "**Not run**: the released setting on ImageNette" in TOLD
    assert set(study("why-cifar10")["worlds"]) == {"paper"}
    lenet = {world: one["model"] for world, one in worlds(LENET).items()}
    assert lenet == dict.fromkeys(("paper", "momentum", "readmitted", "prices"), "lenet")


def gains(name, policy, other="constant"):
    found = study(name)["comparisons"][policy][other]
    return points(found["points"]), points(found["points_averaged"])


def test_the_gains_it_quotes_were_measured():
    end, averaged = gains("mnist-released", "released")
    assert f"gain {end} points after 100 rounds, {averaged} averaged over them" in TOLD
    assert "the budget, has {} and {}.".format(*gains("mnist-released", "buy-cheap-online")) in TOLD
    ahead, of_hybrid = (gains("cifar10-paper", "acdpp", other)[0] for other in ("constant", "hybrid"))
    later, of_hybrid_later = (
        gains("cifar10-paper-400", "acdpp", other)[0] for other in ("constant", "hybrid")
    )
    assert (
        f"As the text says: {ahead} and {of_hybrid} after 100 rounds, {later} and {of_hybrid_later} after 400"
        in TOLD
    )
    coded = (gains("cifar10-released", "released", other)[0] for other in ("constant", "hybrid"))
    assert "the released rule has {} and {}. Nobody".format(*coded) in TOLD
    pictures = (gains("imagenette-paper", "acdpp", other)[0] for other in ("constant", "hybrid"))
    assert "on a part of the data: {} and {}, everybody".format(*pictures) in TOLD


def best(name):
    return {policy: 100 * row["best_accuracy"]["mean"] for policy, row in study(name)["policies"].items()}


def test_where_everybody_ends_was_measured():
    long, short = best("cifar10-paper-400"), best("cifar10-paper")
    assert f"after 400 rounds the oracle has {long['oracle']:.1f} %" in TOLD
    assert max(long.values()) == long["oracle"]
    behind = [found["constant"] - found["hybrid"] for found in (short, long)]
    assert "by {:.1f} points after 100 rounds and {:.1f} after 400".format(*behind) in TOLD
    said = study("cifar10-paper")["paper"]["points"]
    assert f"the paper's numbers imply {said['hybrid'] - said['constant']:.1f}" in TOLD
    ends = best("imagenette-paper").values()
    assert f"everybody at {min(ends):.0f} to {max(ends):.0f} %" in TOLD
    first = {name: row["first_round"] for name, row in study("mnist-released-300")["policies"].items()}
    assert f"constant admission reaches 85 % after {first['constant']['mean_curve']}, hybrid never" in TOLD
    assert first["hybrid"]["reached"] == 0


def test_budgets_are_kept_as_well_as_it_says():
    for name in ("mnist-paper", "cifar10-paper", "cifar10-paper-400", "imagenette-paper"):
        found = study(name)
        spent = found["policies"]["acdpp"]["mean_cost"]["mean"] / found["study"]["budget"]
        assert abs(spent - 1) < (0.01 if found["seeds"] == 10 else 0.021)
    released = study("cifar10-released")
    spent = {name: row["mean_cost"]["mean"] for name, row in released["policies"].items() if name != "oracle"}
    cheap = spent.pop("buy-cheap-online")
    assert f"they spend {min(spent.values()):.0f} to {max(spent.values()):.0f} of a budget of 110" in TOLD
    assert f"`buy-cheap-online` {cheap:.0f}." in TOLD
    cost = released["study"]["cost"]
    assert f"prices have a mean of {(cost['low'] + cost['high']) / 2:g}" in TOLD
    assert f"policies take {released['study']['assumed_mean_cost']:g} for it" in TOLD


def test_lenet_with_momentum_is_told_as_it_was():
    found = worlds(LENET)["momentum"]["policies"]
    ends = {name: 100 * row["best_accuracy"]["mean"] for name, row in found.items()}
    assert f"end at {min(ends.values()):.0f} to {max(ends.values()):.0f} %" in TOLD
    halves = [50 * (row["best_accuracy"]["high"] - row["best_accuracy"]["low"]) for row in found.values()]
    assert f"an interval of ± {min(halves):.0f} or more" in TOLD
    assert ends["hybrid"] > ends["oracle"]
    least = min(row["points"]["p"] for name, row in found.items() if name != "constant")
    assert f"the least of the five p-values is {least:.3f}" in TOLD
    others = (one["policies"] for world, one in worlds(LENET).items() if world != "momentum")
    assert all(row["points"]["high"] < 3.5 for one in others for row in one.values())


def test_nothing_comes_near_on_cifar10():
    rows = study("why-cifar10")["worlds"]["paper"]["policies"].values()
    assert all(row[what]["high"] < 3.5 for row in rows for what in ("points", "points_averaged"))


def test_the_kernels_of_today_find_what_those_of_before_did():
    before, now = study("cifar10-paper"), study("cifar10-paper-4")
    since = {"fractions": "staggered"}  # a setting that was not there yet, at its default
    assert now["study"] == {**before["study"], **since, "policies": list(now["policies"])}
    ends = [best("cifar10-paper")[name] - end for name, end in best("cifar10-paper-4").items()]
    assert f"the current best at the end differ by {max(map(abs, ends)):.1f} points at most" in TOLD
    for name, row in now["policies"].items():
        assert row["cost"] == before["policies"][name]["cost"]


def test_so_does_the_engine_of_lenet():
    before, now = (
        study(name)["worlds"]["readmitted"]["policies"]
        for name in ("why-mnist-lenet", "why-mnist-lenet-worlds")
    )
    apart = max(abs(row["points"]["mean"] - now[name]["points"]["mean"]) for name, row in before.items())
    assert f"gains over constant admission differ by {apart:.1f} points at most at the end" in TOLD


def test_so_were_other_numbers():
    released = study("mnist-released")["policies"]["released"]
    assert f"spends {released['mean_cost']['mean']:.0f} a round of a budget of 55" in TOLD
    assert f"holds up to {released['occupancy']['largest']} samples in buffers for 100" in TOLD
    long = study("mnist-released-300")["comparisons"]["released"]["constant"]
    assert f"over 300 rounds reach 85 % {long['speed_up']:.1f} times as fast" in TOLD
    lenet = study("why-mnist-lenet")["worlds"]["paper"]["policies"]["acdpp"]
    assert f"ACDPP is {points(lenet['points'])} points ahead" in TOLD
    held = [
        study(f"{name}-paper")["policies"]["acdpp"]["occupancy"]["largest"] for name in ("mnist", "cifar10")
    ]
    assert "up to {} samples in buffers for 100 (MNIST), {} in 200".format(*held) in TOLD
    pictures = study("imagenette-paper")
    held_there = pictures["policies"]["acdpp"]["occupancy"]["largest"]
    rho = 1 - pictures["rounds"] ** -0.5
    assert f"and {held_there} in 400 (ImageNette, ρ = {rho:.2f})" in TOLD
    cheap = study("mnist-released")["policies"]["buy-cheap-online"]
    assert cheap["mean_cost"]["mean"] < 1.01 * 55
    assert cheap["occupancy"]["largest"] <= 100
    paper = study("mnist-paper")["policies"].values()
    assert not any(one["first_round"]["reached"] for one in paper)
    assert sum(one["diverged"] for one in paper) == 2


def test_the_memory_on_average_and_at_most_is_told_on_both_pages():
    short = " ".join((PAGE.parent / "paper.md").read_text(encoding="utf-8").split())
    held = [
        study(f"{name}-paper")["policies"]["acdpp"]["occupancy"]
        for name in ("mnist", "cifar10", "imagenette")
    ]
    means = [f"{sum(one['mean']) / len(one['mean']):.1f}" for one in held]
    mean = "holds {} samples on average over rounds and runs in buffers for 100 (MNIST), {} in 200"
    assert mean.format(*means[:2]) in TOLD
    assert f"and {means[2]} in 400 (ImageNette). What" in TOLD
    assert "in our runs: {} of 100, {} of 200 and {} of 400".format(*means) in short
    assert "with up to {}, {} and {}:".format(*(one["largest"] for one in held)) in short
    assert all(sum(one["mean"]) / len(one["mean"]) <= one["buffers"] for one in held)
    assert [one["mean"][0] for one in held[:2]] == [one["buffers"] for one in held[:2]]
    assert f"Round 1 fills the buffers ({held[2]['mean'][0]:.0f} of 400 on ImageNette)" in TOLD


def test_the_intervals_that_decide_are_those_of_the_claim():
    short = " ".join((PAGE.parent / "paper.md").read_text(encoding="utf-8").split()).replace("−", "-")
    (claim,) = (one for one in accuracy.CLAIMS if one.id == "fig:test_acc_all/constant")
    for evidence in decide(claim).stated:
        result = committed()[evidence.part.lower().replace("-", ""), "paper"]
        level = evidence.certificate["level"]
        low, high = further_runs(result.gaps["acdpp"]["constant"].points, level)
        assert f"from {low:+.1f} to {high:+.1f} on {evidence.part}" in short
        assert f"at {100 * level:.1f} %" in short


def test_what_is_left_of_the_gain_adds_up():
    found = study("why-mnist-filled")["comparisons"]
    end, mean = (
        {name: one["constant"][measure]["mean"] for name, one in found.items()}
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
    spent = [study("why-mnist-filled")["policies"][name]["cost"]["mean"] for name in ("released", rich)]
    early = [100 * sum(one[:20]) / sum(one) for one in spent]
    assert f"{early[0]:.0f} % of its money spent in the first 20 of the 100 rounds" in TOLD
    assert f"filled constant admission has spent {early[1]:.0f} %" in TOLD
    worlds = study("why-mnist-logistic")["worlds"]
    rule = worlds["released"]["policies"]
    whole, constants, region, back = (
        rule[name]["points_averaged"]["mean"]
        for name in ("released", "released-constants", "released-region", "released-constants@V=1000")
    )
    assert f"{constants:+.1f} of {whole:+.1f} are left averaged" in TOLD
    assert back >= whole
    assert f"without it {region:+.1f}" in TOLD


def test_precision_shows_in_nothing():
    found = {name: study(f"precision-{name}") for name in ("bfloat16", "tf32")}
    means = [
        [one["policies"][name]["best_accuracy"]["mean"] for one in found.values()]
        for name in ("acdpp", "constant")
    ]
    apart = max(abs(a - b) for a, b in means)
    gaps = [points(one["comparisons"]["acdpp"]["constant"]["points"]) for one in found.values()]
    assert f"the means of the current best differ by {100 * apart:.1f} points at most" in TOLD
    assert "the gap between the policies is {} and {} points".format(*gaps) in TOLD


def test_speed_is_what_the_benchmark_printed():
    cases = study("networks-32")["cases"]
    own, alone = (cases[name]["run_round_s"] for name in ("kernels, bfloat16", "one client at a time"))
    assert f"that is {alone / own:.0f} times one client after the other" in TOLD
    steps = 10 * cases["kernels, bfloat16"]["step_s"] / cases["kernels, bfloat16"]["runs"]
    assert f"the steps alone, {1e3 * steps:.1f} ms here, are {1.55 / steps:.0f} times as fast" in TOLD
    assert f"with the test on 4,000 images it is {1.55 / own:.0f} times" in TOLD
    large = study("networks-160")["cases"]
    assert "vmap, bfloat16" not in large
    ratio = large["one client at a time"]["run_round_s"] / large["kernels, bfloat16"]["run_round_s"]
    assert f"{ratio:.1f} times is what is left" in TOLD


def test_its_pictures_are_there():
    for picture in ("section7-accuracy.png", "section7-constraints.png", "explained.png"):
        assert f"({picture})" in TEXT
        assert (Path(PAGE).parent / picture).is_file()
