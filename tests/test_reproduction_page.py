"""The page on what could be reproduced says what the committed results say."""

from pathlib import Path

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
    for document in filter(None, map(study, [*names, "precision-bfloat16", "precision-tf32"])):
        assert document["command"].startswith(("acdpp reproduce", "python -m benchmarks"))


def gains(name, policy, other="constant"):
    found = study(name)["comparisons"][policy][other]
    return points(found["points"]), points(found["points_averaged"])


def test_the_gains_it_quotes_were_measured():
    end, averaged = gains("mnist-released", "released")
    assert f"gain {end} points after 100 rounds, {averaged} averaged over them" in TOLD
    assert "the budget, has {} and {}.".format(*gains("mnist-released", "buy-cheap-online")) in TOLD
    ahead, of_hybrid = (gains("cifar10-paper", "acdpp", other)[0] for other in ("constant", "hybrid"))
    assert f"{ahead} and {of_hybrid}. Nobody" in TOLD


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
    cheap = study("mnist-released")["policies"]["buy-cheap-online"]
    assert cheap["mean_cost"]["mean"] < 1.01 * 55
    assert cheap["occupancy"]["largest"] <= 100
    paper = study("mnist-paper")["policies"].values()
    assert not any(one["first_round"]["reached"] for one in paper)
    assert sum(one["diverged"] for one in paper) == 2


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
    assert f"{alone / own:.0f} times one client after the other" in TOLD
    assert f"{1.55 / own:.0f} times the 1.55 s" in TOLD


def test_its_pictures_are_there():
    for picture in ("section7-accuracy.png", "section7-constraints.png", "explained.png"):
        assert f"({picture})" in TEXT
        assert (Path(PAGE).parent / picture).is_file()


def test_the_readme_quotes_it():
    told = " ".join((PAGE.parent.parent / "README.md").read_text(encoding="utf-8").split())
    end, averaged = gains("mnist-released", "released")
    assert f"({end} after 100 rounds, {averaged} averaged over them" in told
    assert (
        "`buy-cheap-online` has {} and {} within 1 %".format(*gains("mnist-released", "buy-cheap-online"))
        in told
    )
