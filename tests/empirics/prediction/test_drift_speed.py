"""How fast a population moves, from its samples' times alone, and how long to keep them."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2

from acdpp.predict import show_drift
from benchmarks import moving
from empirics import Study, predict
from empirics.data import from_arrays
from empirics.prediction.drift_speed import StretchMeans, measure_drift, stretch_means
from empirics.prediction.loss_landscape import landscape_of
from tests.acdpp.program import answer
from tests.empirics.small import problem, refused

LEVEL = 0.95


def scores(q, rng, *, directions=3, walking=None, rounds=200, each=5, times=None):
    """Samples of variance 4 in every direction, whose mean walks by q of that in a round, on average."""
    walking = directions if walking is None else walking
    steps = np.zeros((rounds, directions))
    steps[:, :walking] = np.sqrt(4 * q * directions / walking) * rng.normal(size=(rounds, walking))
    when = np.repeat(np.arange(rounds), each) if times is None else times
    path = np.cumsum(steps, axis=0)[when.astype(int)]
    return path + 2 * rng.normal(size=path.shape), when.astype(float)


def covered(q, runs, seed, **stream):
    """Number of the intervals of many streams that hold q, the mean estimate, and the number that begin at 0."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        one = stretch_means(*scores(q, rng, **stream))
        found.append((one.drift(), *one.interval(LEVEL)))
    drift, low, high = np.array(found).T
    return ((low <= q) & (q <= high)).sum(), drift.mean(), (low == 0).sum()


def dates(count):
    """So few that stretches have one, whose differences are no drift."""
    return np.repeat(np.linspace(0, 199, count).round(), 1000 // count)


UNEVEN = np.sort(200 * np.random.default_rng(3).random(1000) ** 3)
STREAMS = [(0.01, None, 60, 1, 51, 0.15), (0.0, None, 60, 2, 51, 0.0), (0.01, UNEVEN, 40, 4, 33, 0.2)]
STREAMS += [(0.01, dates(count), 20, 5, 15, 0.3) for count in (8, 12, 20)]


@pytest.mark.parametrize(("q", "times", "runs", "seed", "least", "near"), STREAMS)
def test_an_interval_holds_the_drift_that_was_made(q, times, runs, seed, least, near):
    """At 95 %, fewer intervals hold it in one of 4,000 cases."""
    held, mean, zero = covered(q, runs, seed, times=times)
    assert held >= least
    assert mean == pytest.approx(q, rel=near, abs=1e-4)
    assert q or held == zero


def test_directions_that_move_have_the_drift_and_those_alike_have_equal_shares():
    rng = np.random.default_rng(6)
    few = [stretch_means(*scores(0.01, rng, directions=40, walking=2)).shares() for _ in range(10)]
    assert np.mean(few, axis=0)[:2] == pytest.approx([20, 20], rel=0.15)
    assert np.min(few) == 0
    alike = [stretch_means(*scores(0.01, rng, directions=40)).shares() for _ in range(10)]
    for shares in (*few, *alike):
        assert shares.mean() == pytest.approx(1)
    assert np.std(alike) < 0.2  # 0.4 as they were found, which is by chance


def test_where_all_combinations_walk_alike_the_drift_is_told_by_hand():
    found, w, noise = np.array([[3.0, 1.0, 0.5], [-2.0, 1.0, 1.0], [2.0, 1.0, 0.0]]), 1e-9, 0.1
    one = StretchMeans(found, np.full(3, w), noise, alike=3.0)
    q = ((found**2).mean() - noise) / w
    assert one.drift() == pytest.approx(q)
    pairs = [(found[i] @ found[j]) ** 2 for i, j in ((0, 1), (0, 2), (1, 2))]
    square = (np.mean(pairs) - 3 * noise * (noise + 2 * q * w)) / w**2
    assert one.moving_directions() == pytest.approx((3 * q) ** 2 / square)
    assert 1 < one.moving_directions() < 3
    own, chance = ((found**2).mean(axis=0) - noise) / w, 2 * (noise / w + q) ** 2 / 3
    apart = q**2 * (3 / one.moving_directions() - 1)
    shares = np.maximum(q + apart / (apart + chance) * (own - q), 0)
    assert one.shares() == pytest.approx(shares / shares.mean())
    apart = StretchMeans(
        np.sqrt(3) * np.eye(3), np.full(3, w), noise, alike=3.0
    )  # nine squares whose sum is 9
    ends = (9 / chi2.ppf([0.975, 0.025], df=9) - noise) / w
    assert apart.interval() == pytest.approx(tuple(ends))
    still = StretchMeans(np.full((5, 3), 0.1), np.ones(5), noise=1.0, alike=3.0)  # quieter than noise
    assert still.drift() == 0
    assert (still.shares() == 1).all()
    few = stretch_means(*scores(0.01, np.random.default_rng(8), rounds=20))
    assert len(few.walk) == 9  # ten stretches of ten samples, centred


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.0, 1e-5, 1e-3, 1e-1])
@pytest.mark.parametrize(("directions", "walking"), [(1, 1), (5, 5), (5, 1), (40, 40), (40, 2)])
def test_intervals_cover_whatever_moves(q, directions, walking):
    """Three standard errors of 300 trials below 95 %; below 90 % where few directions of many move.

    A direction that moves as far between neighbours, a fifth of a round apart, as samples scatter is taken for one that
    scatters more.
    """
    held, mean, _ = covered(q, 300, seed=5, directions=directions, walking=walking)
    nominal = LEVEL if directions == walking else 0.9
    assert held / 300 >= nominal - 3 * np.sqrt(nominal * (1 - nominal) / 300)
    if q >= 1e-3:
        assert mean == pytest.approx(q / (1 + q * directions / walking / 5 / 2), rel=0.1)


def stream(step=0.05):
    """Logistic samples whose optimum walks, in a file out of order."""
    made = moving.stream(step, seed=0, each=15)
    mixed = np.random.default_rng(0).permutation(len(made["x"]))
    return {name: values[mixed] for name, values in made.items()}


def landscape(arrays, **given):
    data = from_arrays(arrays["x"], arrays["y"], arrays["x"][:9], arrays["y"][:9])
    return landscape_of(problem(Study(dataset="given:stream", **given), data=data))


def test_one_command_says_how_long_to_keep_samples_with_an_interval(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(predict, "jackknife_errors", lambda *_: ({}, {}))  # slow, and not looked at
    np.savez(tmp_path / "mine.npz", **stream())
    words = ["--preset", "own", "--dataset", f"npz:{tmp_path}/mine.npz", "--pilot", "500", "--rounds", "20"]
    document = answer("predict", "--policies", "constant", "--no-best", *words)
    found = document["drift"]
    (low, high), (shortest, longest) = found["interval"], found["K_interval"]
    assert found["told"]
    # 0.05² of a sample's 4, in four of five directions, over 200/20 steps per round
    assert low < 0.005 < high
    assert shortest <= found["K"] <= longest
    assert shortest < longest
    assert found["come_by"] == 150
    assert found["takes"] == pytest.approx([K * 10 for K in (found["K"], shortest, longest)], rel=0.01)
    assert found["takes_by_count"] == pytest.approx(found["takes"][0], rel=0.1)
    assert [one["name"] for one in found["choices"]] == ["this step", "Corollary 2's K"]
    assert found["choices"][1]["K"] == found["tried"][-1]["K"] == 10
    monkeypatch.setenv("COLUMNS", "80")
    show_drift(found, 20)
    printed = capsys.readouterr().out
    assert f"K = {found['K']}" in printed
    assert f"[{shortest}, {longest}]" in printed
    assert max(map(len, printed.splitlines())) <= 80


OWN = {"name": "this step", "K": 1, "rate": 4, "eta": 0.5, "risk": 1.0}
BEST = {"name": "the best step", "K": 3, "rate": 4, "eta": 2.0, "risk": 0.75}
TRIED = [{"K": K, "risk": risk} for K, risk in ((1, 1.0), (2, 1.01), (3, 1.03), (4, 1.0), (5, 1.015))]
SAID = {"q": 0.05, "interval": [0.0, 0.1], "samples": 90, "directions": {"moving": 2.6, "of": 5}}
SAID |= {"K_interval": [1, 3], "come_by": 7.0, "takes": [7200.0, 1.0, 2.0], "takes_by_count": 7200.0}
SAID |= {"told": True, "dated": True, "choices": [OWN, BEST], "tried": TRIED}
ADVICE = ("q = 0.05", "[0, 0.1]", "K = 1 round", "2 hours", "[1, 3]", "K = 1 to 2", "η = 2: 0.75")


def test_the_printed_advice_has_its_numbers_and_units(capsys):
    for other, said, not_said in (
        ({}, ADVICE, "unevenly"),
        ({"choices": [OWN | {"K": 5}]}, ("K = 5 rounds", "K = 4 to 5"), "the best step"),
        ({"tried": TRIED[::2]}, (), "hardly"),
        ({"takes_by_count": 3600.0}, (), "unevenly"),
        ({"takes_by_count": 3599.0}, ("unevenly",), "…"),
        ({"takes_by_count": 14401.0}, ("4 hours",), "…"),
        ({"takes": [1e6, 1, 1]}, ("11.6 days",), "…"),
        ({"takes": [119.0, 1, 1], "takes_by_count": 119.0}, ("119 seconds",), "minutes"),
        ({"takes": [120.0, 1, 1], "takes_by_count": 120.0}, ("2 minutes",), "seconds"),
        ({"takes": [120.0, 1, 1], "dated": False}, ("120 units",), "minutes"),
        ({"told": False}, ("not significant", "0.1"), "directions"),
        ({"directions": {"moving": 2.4, "of": 5}}, ("2 of 5 directions",), "…"),
    ):
        show_drift(SAID | other, 10)
        printed = " ".join(capsys.readouterr().out.split())
        assert [words for words in said if words not in printed] == []
        assert not_said not in printed


def test_what_does_not_move_or_is_too_little_is_said():
    arrays = stream()
    land = landscape(arrays)
    assert measure_drift(land, arrays["time"], 10).significant
    still = measure_drift(land, np.arange(3000.0), 10)
    assert not still.significant
    assert still.low == 0 < still.high
    for few, said in (
        (np.zeros(3000), "3000 samples of 1 different times"),
        (np.arange(3000) % 7, "3000 samples of 7 different times"),
        (np.arange(79.0), "79 samples of 79"),
    ):
        assert said in (sentence := refused(measure_drift, land, few, 10))
        assert "at least 80 samples, of at least 8" in sentence


def test_without_a_pilot_sample_all_samples_with_times_tell_the_drift():
    few = Study(policies=("constant",), rounds=2, steps=1, buffers=(40,), budget=55)
    found = predict.predict_study(few, dataset=stream(), best=False).document()["drift"]
    assert (found["samples"], found["told"]) == (2400, True)  # every fifth is a test sample
    assert found["come_by"] == 1500
    assert found["interval"][0] < 0.002 * 100 / 4 < found["interval"][1]  # as above, over 100 steps a round


@pytest.mark.parametrize("radius", [20.0, 0.01])
def test_the_variance_of_a_still_population_is_that_of_its_gradients_over_the_curvature_squared(radius):
    arrays = stream(step=0.0)
    land = landscape(arrays, radius=radius)
    found = measure_drift(land, arrays["time"], 10)
    lumps = list(found.lumps)
    assert lumps == list(range(land.on_the_ball, 5))  # all but the radius
    assert land.on_the_ball is (radius < 1)
    expected = (land.noise / land.size)[lumps] / torch.tensor(found.h) ** 2
    assert found.variance == pytest.approx(expected.tolist(), rel=0.1)
