"""`acdpp keep` as a user meets it, and the choices behind it."""

import pytest

from tests.acdpp.program import acdpp, answer
from theory.drift import long_run
from theory.drift.retention import best_drifting_mean, drift_design, smoothed_floor
from theory.law.quadratic import stationary_noise
from theory.setting import Budget

PAPER = ("keep", "--buffers", "8,9,10,11,12,8,9,10,11,12", "--budget", "55", "--mean-cost", "5.5")


def error(a, q, K):
    """Noise of ten samples per round, and lag, at contraction a."""
    return 0.1 * stationary_noise(a, K) + q * long_run.stationary_lag(a, K)


def test_at_the_best_step_nothing_is_better_than_fresh_samples():
    document = answer(*PAPER, "--drift", "0.001")
    assert (document["K"], document["rate"]) == (1, 10)
    assert answer(*PAPER, "--drift", "0.001", "--contraction", "0")["step"] == 1
    assert document["step"] == pytest.approx(long_run.tracking_step(0.1, 0.001), rel=1e-6)
    assert document["risk"] == pytest.approx(long_run.tracking_risk(0.1, 0.001), rel=1e-9)
    best, kept = document["choices"]
    assert kept["K"] == 10
    assert kept["risk"] > best["risk"]
    for step in (0.8 * kept["step"], 1.25 * kept["step"]):  # it is Corollary 2's K at its best
        assert error(1 - step, 0.001, 10) > kept["risk"]


def test_at_a_given_step_little_drift_keeps_samples_as_before_and_much_takes_fresh_ones():
    slow = (*PAPER, "--contraction", "0.9")
    first, second, third, last = (answer(*slow, "--drift", q)["K"] for q in ("0", "1e-6", "1e-4", "9"))
    assert first == second == 10 >= third >= last == 1
    budget = Budget(buffers=(100,), cost=55, mean_cost=5.5)
    for q in (0.0002, 0.002, 0.005, 0.01, 0.02):
        problem = {"h": [2], "variance": [1], "walk": [q], "eta": 0.25}
        K, rate = long_run.best_drifting_retention(budget, **problem)
        least = min(error(0.5, q, K) for K in range(1, 11))
        assert long_run.drift_floor(float(rate), K, **problem) == pytest.approx(least, rel=1e-12)
    document = answer(*PAPER, "--drift", "0.0002", "--contraction", "0.5")
    assert document["risk"] == pytest.approx(min(error(0.5, 0.0002, K) for K in range(1, 11)))
    rows = {row["name"]: row for row in document["choices"]}
    assert rows["this step, a mean of models"]["window"] > 10
    assert rows["the best step"]["risk"] == min(row["risk"] for row in rows.values())


def test_without_drift_and_step_it_is_the_corollary_s_k():
    document = answer(*PAPER, "--drift", "0")
    assert (document["K"], document["rate"], document["step"]) == (10, 10, None)
    uneven = Budget(buffers=(25,), cost=10, mean_cost=1)  # x = 2.5: at a large step the floor, at a full rate
    problem = {"h": [1], "variance": [1], "walk": [0], "eta": 1}
    noises = {K: long_run.drift_floor(min(25 / K, 10), K, **problem) for K in (1, 2, 3, 4)}
    assert min(noises, key=noises.get) == drift_design(uneven, **problem)[0].K


def test_the_mean_of_models_is_the_best_of_all_windows():
    problem = {"h": [1.0, 0.2], "variance": [1.0, 3.0], "walk": [1e-4, 2e-3], "eta": 0.8}
    found = smoothed_floor(5, best_drifting_mean(5, **problem), 1, **problem)
    others = [smoothed_floor(5, 1 - 1.1**-i, 1, **problem) for i in range(100)]
    assert found <= min(others)
    assert found == pytest.approx(min(others), rel=1e-2)
    assert best_drifting_mean(5, **(problem | {"walk": [9.0, 9.0]})) == 0


def test_the_table_sets_every_choice_against_the_least(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    words = (*PAPER, "--drift", "0.0002", "--contraction", "0.5")
    rows = (document := answer(*words))["choices"]
    risks = [row["risk"] for row in rows]
    assert risks[0] > min(risks)
    head, _, table = acdpp(*words).stdout.partition("─\n")
    assert f"keep samples for K = {document['K']} rounds, take" in head
    for line, row in zip(table.partition("\n\n")[0].splitlines(), rows, strict=True):
        numbers = [row[name] for name in ("rate", "step", "window", "risk")] + [row["risk"] / min(risks)]
        assert line.split()[-5:] == ["–" if one is None else f"{one:.3g}" for one in numbers]
    assert "keep samples for K = 1 round, take" in acdpp(*PAPER, "--drift", "0.001").stdout
