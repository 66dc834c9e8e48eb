"""The page on what could be reproduced says what the committed results say."""

import json
import re
from functools import cache, reduce
from operator import getitem

import pytest

from benchmarks.reproduction import FILLED, LENET, PAGE, STUDIES, points, renewed, worlds
from benchmarks.reproduction import study as read
from proofs_check.claim import decide
from proofs_check.claims.experiments import accuracy
from proofs_check.engines.experiment import confidence, further_runs
from proofs_check.experiments.committed import committed
from proofs_check.experiments.stated import CODE_V, SECTION7
from proofs_check.groundwork.experiments.playing import OURS, play

TEXT = PAGE.read_text(encoding="utf-8")
TOLD = " ".join(TEXT.split()).replace("−", "-")
SHORT = " ".join((PAGE.parent / "paper.md").read_text(encoding="utf-8").split()).replace("−", "-")
study = cache(read)
BOTH = ("points", "points_averaged")


def test_its_tables_are_those_of_the_results():
    assert renewed(TEXT) == TEXT


def test_every_result_has_the_command_and_the_hardware_that_made_it():
    for path in (PAGE.parent / "results").glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        assert re.search("cpu|cores|NVIDIA", found["hardware"]), path.name
        command = found["command"]
        assert command.startswith(("acdpp reproduce", "acdpp train", "python -m benchmarks")), path.name
        assert (path.name.partition("-")[0] == "buying") == command.startswith("python -m benchmarks.buying")
        assert "/tmp" not in command, path.name


def test_its_pictures_are_there():
    for picture in ("section7-accuracy.png", "section7-constraints.png", "explained.png"):
        assert f"({picture})" in TEXT
        assert (PAGE.parent / picture).is_file()


# --- what it quotes ----------------------------------------------------------------------------------------


def of(name, *path):
    """An entry of a result."""
    return reduce(getitem, path, study(name))


def gains(name, policy, *others):
    """In points after the last round."""
    return [points(of(name, "comparisons", policy, other, "points")) for other in others]


def behind(name, policy="acdpp"):
    return gains(name, policy, "constant")[0].removeprefix("-")


def best(name):
    return {policy: 100 * row["best_accuracy"]["mean"] for policy, row in of(name, "policies").items()}


def average(values):
    return sum(values) / len(values)


def between_text_and_code():
    assert all(map(study, STUDIES))
    pictures = [gains("imagenette-released", name, "constant")[0] for name in ("acdpp", "released")]
    yield "{} over constant admission, the released rule {}, everybody".format(*pictures)
    ends = best("imagenette-released").values()
    yield f"everybody at {min(ends):.0f} to {max(ends):.0f} %. **Between"
    found = of("why-cifar10-worlds", "worlds")
    ours = [
        points(found[world]["policies"]["acdpp"]["points"]) for world in ("momentum", "readmitted", "prices")
    ]
    yield "momentum ACDPP has {}, with samples that come again {}, with its prices {}.".format(*ours)
    assert all(world["policies"]["acdpp"][what]["high"] < 3.5 for world in found.values() for what in BOTH)
    lenet = {world: one["model"] for world, one in worlds(LENET).items()}
    assert lenet == dict.fromkeys(("paper", "momentum", "readmitted", "prices"), "lenet")


def gained():
    ours, cheap = (
        [points(of("mnist-released", "comparisons", name, "constant", what)) for what in BOTH]
        for name in ("released", "buy-cheap-online")
    )
    yield "gain {} points after 100 rounds, {} averaged over them".format(*ours)
    yield "the budget, has {} and {}.".format(*cheap)
    text, later, coded, pictures = (
        gains(name, policy, "constant", "hybrid")
        for name, policy in (
            ("cifar10-paper", "acdpp"),
            ("cifar10-paper-400", "acdpp"),
            ("cifar10-released", "released"),
            ("imagenette-paper", "acdpp"),
        )
    )
    yield "As the text says: {} and {} after 100 rounds, {} and {} after 400".format(*text, *later)
    yield "the released rule has {} and {}. Nobody".format(*coded)
    yield "on a part of the data: {} and {}, everybody".format(*pictures)
    faster = of("mnist-released-300", "comparisons", "released", "constant", "speed_up")
    yield f"over 300 rounds reach 85 % {faster:.1f} times as fast"
    short, long = best("cifar10-paper"), best("cifar10-paper-400")
    yield f"after 400 rounds the oracle has {long['oracle']:.1f} %"
    assert max(long.values()) == long["oracle"]
    behind = [found["constant"] - found["hybrid"] for found in (short, long)]
    yield "by {:.1f} points after 100 rounds and {:.1f} after 400".format(*behind)
    said = of("cifar10-paper", "paper", "points")
    yield f"the paper's numbers imply {said['hybrid'] - said['constant']:.1f}"
    ends = best("imagenette-paper").values()
    yield f"everybody at {min(ends):.0f} to {max(ends):.0f} %"
    first = {name: row["first_round"] for name, row in of("mnist-released-300", "policies").items()}
    yield f"constant admission reaches 85 % after {first['constant']['mean_curve']}, hybrid never"
    assert first["hybrid"]["reached"] == 0
    rows = of("why-cifar10", "worlds", "paper", "policies").values()
    assert all(row[what]["high"] < 3.5 for row in rows for what in BOTH)  # nothing comes near on CIFAR-10
    paper = of("mnist-paper", "policies").values()
    reach, lost = sum(one["first_round"]["reached"] for one in paper), sum(one["diverged"] for one in paper)
    yield f"of {of('mnist-paper', 'seeds') * len(paper)} runs {reach} reach 85 % and {lost} diverge"


def money_and_memory():
    spent = [of(f"{name}-paper", "policies", "acdpp", "mean_cost", "mean") for name in SECTION7]
    yield "spends {:.1f} a round of 55 (MNIST), {:.1f} of 110 (CIFAR-10) and {:.1f} of 220".format(*spent)
    coded = [play(name, V, OURS[1], 0).memory.mean() for name, V in CODE_V.items()]
    yield "it would hold {:.0f}, {:.0f} and {:.0f} (the policy alone, 500 runs)".format(*coded)
    released = study("cifar10-released")
    costs = {name: row["mean_cost"]["mean"] for name, row in released["policies"].items() if name != "oracle"}
    yield f"`buy-cheap-online` {costs.pop('buy-cheap-online'):.0f}."
    yield f"they spend {min(costs.values()):.0f} to {max(costs.values()):.0f} of a budget of 110"
    cost = released["study"]["cost"]
    yield f"prices have a mean of {(cost['low'] + cost['high']) / 2:g}"
    yield f"policies take {released['study']['assumed_mean_cost']:g} for it"
    released, cheap = (of("mnist-released", "policies", name) for name in ("released", "buy-cheap-online"))
    yield f"spends {released['mean_cost']['mean']:.0f} a round of a budget of 55"
    yield f"holds up to {released['occupancy']['largest']} samples in buffers for 100"
    assert cheap["mean_cost"]["mean"] < 1.01 * 55
    assert cheap["occupancy"]["largest"] <= 100
    held = [
        of(f"{name}-paper", "policies", "acdpp", "occupancy") for name in ("mnist", "cifar10", "imagenette")
    ]
    largest, means = [one["largest"] for one in held], [f"{average(one['mean']):.1f}" for one in held]
    yield "up to {} samples in buffers for 100 (MNIST), {} in 200".format(*largest)
    yield f"and {largest[2]} in 400 (ImageNette, ρ = {1 - of('imagenette-paper', 'rounds') ** -0.5:.2f})"
    yield (
        "holds {} samples on average over rounds and runs in buffers for 100 (MNIST), {} in 200".format(
            *means
        )
    )
    yield f"and {means[2]} in 400 (ImageNette). With"
    assert "in our runs: {} of 100, {} of 200 and {} of 400".format(*means) in SHORT
    assert "up to {}, {} and {}:".format(*largest) in SHORT
    assert all(average(one["mean"]) <= one["buffers"] for one in held)
    assert [one["mean"][0] for one in held[:2]] == [one["buffers"] for one in held[:2]]
    yield f"Round 1 fills the buffers ({held[2]['mean'][0]:.0f} of 400 on ImageNette)"


def lenet_and_the_kernels():
    found = worlds(LENET)["momentum"]["policies"]
    ends = {name: 100 * row["best_accuracy"]["mean"] for name, row in found.items()}
    yield f"end at {min(ends.values()):.0f} to {max(ends.values()):.0f} %"
    halves = [50 * (row["best_accuracy"]["high"] - row["best_accuracy"]["low"]) for row in found.values()]
    yield f"an interval of ± {min(halves):.0f} or more"
    assert ends["hybrid"] > ends["oracle"]
    least = min(row["points"]["p"] for name, row in found.items() if name != "constant")
    yield f"the least of the five p-values is {least:.3f}"
    others = (one["policies"] for world, one in worlds(LENET).items() if world != "momentum")
    assert all(row["points"]["high"] < 3.5 for one in others for row in one.values())
    before, now = study("cifar10-paper"), study("cifar10-paper-4")
    since = {"fractions": "staggered"}  # a setting that was not there yet, at its default
    assert now["study"] == {**before["study"], **since, "policies": list(now["policies"])}
    ends = [best("cifar10-paper")[name] - end for name, end in best("cifar10-paper-4").items()]
    yield f"the current best at the end differ by {max(map(abs, ends)):.1f} points at most"
    for name, row in now["policies"].items():
        assert row["cost"] == before["policies"][name]["cost"]
    before, now = (
        of(name, "worlds", "readmitted", "policies") for name in ("why-mnist-lenet", "why-mnist-lenet-worlds")
    )
    apart = max(abs(row["points"]["mean"] - now[name]["points"]["mean"]) for name, row in before.items())
    yield f"gains over constant admission differ by {apart:.1f} points at most at the end"


def lenet_by_more_seeds():
    large, small = study("mnist-paper"), study("mnist-trained")
    assert large["seeds"] == small["seeds"] == 100
    assert (large["study"]["eta"], small["study"]["eta"]) == (0.5, 0.1)
    (weak, strong), gap = (best(name)["oracle"] for name in ("mnist-paper", "mnist-trained")), BOTH[0]
    yield f"The oracle ends at {weak:.1f} % for ten times"
    cost = {name: row["mean_cost"]["mean"] for name, row in large["policies"].items()}
    assert round(cost["oracle"] / cost["constant"]) == 10
    yield f"ACDPP ends behind constant admission by {behind('mnist-paper')} points, so"
    yield f"its own, ends behind by {behind('mnist-paper', 'released')} points in the same setting"
    yield f"ends ahead by {behind('mnist-trained', 'released').removeprefix('+')} points, for 1.51 times"
    assert large["comparisons"]["acdpp"]["constant"][gap]["p"] < 0.05 / 6 / 2 / 2  # parts, readings, looks
    both = committed()["mnist", "paper"].gaps["acdpp"]["constant"]
    yield f"by up to {float(both.points.half(1 - 0.05 / 3)) * 10**0.5:.1f} points there (98.3 %)"
    yield f"The oracle ends at {strong:.1f} %, and every seed"
    first = {name: row["first_round"] for name, row in small["policies"].items()}
    assert first["acdpp"]["reached"] == first["constant"]["reached"] == 100
    rounds = [first[name]["mean_curve"] for name in ("acdpp", "constant", "hybrid")]
    yield "ACDPP takes {} rounds to 85 % and constant admission {}, not".format(*rounds)
    yield f"Hybrid takes {rounds[2]} rounds"
    yield f"ACDPP ends behind constant admission by {behind('mnist-trained')} points, not 3.5"
    ours = committed()["mnist", "trained"].gaps["acdpp"]["constant"]
    most = [confidence(one, 1 - 0.05 / 12).high for one in (ours.points, ours.points_averaged)]
    yield "by {:.2f} points at most at the end, {:.2f} averaged (99.2 %)".format(*most)
    hybrid = [points(small["comparisons"]["acdpp"]["hybrid"][what]) for what in BOTH]
    yield "ahead of hybrid, by {} points at the end and {} averaged".format(*hybrid)
    yield f"It is {strong - best('mnist-trained')['acdpp']:.1f} points behind the oracle"
    assert f"oracle ends at {weak:.1f} % on MNIST" in SHORT
    there = f"there ACDPP is behind constant admission by {behind('mnist-trained')} points"
    assert f"where it ends at {strong:.1f} %: {there}" in SHORT
    ends = best("mnist-lenet-as-coded").values()
    yield f"everybody stays at {min(ends):.0f} to {max(ends):.0f} %, and with 0.1 some seeds learn"
    rows = {eta: of(f"mnist-lenet-as-coded-eta-{eta}", "policies").values() for eta in (0.1, 0.03)}
    assert all(0 < row["first_round"]["reached"] < 20 for row in rows[0.1])
    assert all(row["first_round"]["reached"] == 20 for row in rows[0.03])
    coded = "mnist-lenet-as-coded-eta-0.03"
    ours, theirs = behind(coded), behind(coded, "released").removeprefix("+")
    spent = of(coded, "policies", "released", "mean_cost", "mean")
    yield f"ACDPP ends behind constant admission by {ours} points, the released rule ahead by {theirs}, for {spent:.0f}"


def what_is_left_of_the_gain():
    end, mean = (
        {name: one["constant"][what]["mean"] for name, one in of("why-mnist-filled", "comparisons").items()}
        for what in BOTH
    )
    rich = f"{FILLED}@budget=81.55"
    yield f"gains {mean[FILLED]:+.1f} averaged points and none at the end"
    assert abs(end[FILLED]) < 0.1
    yield f"most of the {mean['acdpp']:+.1f} of `acdpp`"
    yield f"gains {end['constant@budget=81.55']:+.1f} at the end and, filled, {mean[rich]:+.1f} averaged"
    left = [gain["released"] - gain[rich] for gain in (mean, end)]
    yield "{:.1f} averaged points and {:.1f} at the end".format(*left)
    costs = [of("why-mnist-filled", "policies", name, "cost", "mean") for name in ("released", rich)]
    early = [100 * sum(one[:20]) / sum(one) for one in costs]
    yield f"{early[0]:.0f} % of its money spent in the first 20 of the 100 rounds"
    yield f"filled constant admission has spent {early[1]:.0f} %"
    rule = of("why-mnist-logistic", "worlds", "released", "policies")
    whole, constants, region, back = (
        rule[f"released{changed}"]["points_averaged"]["mean"]
        for changed in ("", "-constants", "-region", "-constants@V=1000")
    )
    yield f"{constants:+.1f} of {whole:+.1f} are left averaged"
    assert back >= whole
    yield f"without it {region:+.1f}"


def precision_and_speed():
    names = [f"precision-{kind}" for kind in ("bfloat16", "tf32")]
    apart = max(abs(best(names[0])[policy] - best(names[1])[policy]) for policy in ("acdpp", "constant"))
    yield f"the means of the current best differ by {apart:.1f} points at most"
    gaps = [gain for name in names for gain in gains(name, "acdpp", "constant")]
    yield "the gap between the policies is {} and {} points".format(*gaps)
    small, large = (of(f"networks-{size}", "cases") for size in (32, 160))
    own, alone = (small[name]["run_round_s"] for name in ("kernels, bfloat16", "one client at a time"))
    yield f"that is {alone / own:.0f} times one client after the other"
    steps = 10 * small["kernels, bfloat16"]["step_s"] / small["kernels, bfloat16"]["runs"]
    yield f"the steps alone, {1e3 * steps:.1f} ms here, are {1.55 / steps:.0f} times as fast"
    yield f"with the test on 4,000 images it is {1.55 / own:.0f} times"
    assert "vmap, bfloat16" not in large
    ratio = large["one client at a time"]["run_round_s"] / large["kernels, bfloat16"]["run_round_s"]
    yield f"{ratio:.1f} times is what is left"


@pytest.mark.parametrize(
    "source",
    [
        between_text_and_code,
        gained,
        money_and_memory,
        lenet_and_the_kernels,
        lenet_by_more_seeds,
        what_is_left_of_the_gain,
        precision_and_speed,
    ],
    ids=lambda source: source.__name__,
)
def test_what_it_quotes_was_measured(source):
    for words in source():
        assert words in TOLD


def test_the_intervals_that_decide_are_those_of_the_claim():
    (claim,) = (one for one in accuracy.CLAIMS if one.id == "fig:test_acc_all/constant")
    for evidence in decide(claim).stated:
        result = committed()[evidence.part.lower().replace("-", ""), "paper"]
        level = evidence.certificate["level"]
        low, high = further_runs(result.gaps["acdpp"]["constant"].points, level)
        assert f"from {low:+.1f} to {high:+.1f} on {evidence.part}" in SHORT
        assert f"at {100 * level:.1f} %" in SHORT
