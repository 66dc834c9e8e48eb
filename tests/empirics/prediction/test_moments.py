"""What the closure predicts, against what training measures, and against the law that it extends."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from empirics.control.schedule import Schedule
from empirics.prediction import moments as module
from empirics.prediction.cohorts import Cohorts, Memories
from empirics.prediction.curves import Outlook
from empirics.prediction.mean_path import Walk
from empirics.prediction.moments import Closure
from empirics.prediction.stationary import LastRound, Settled
from empirics.prediction.survey import landscape_of
from empirics.settings.drift import Drift
from empirics.training.engine import Engine, aggregation_weights
from empirics.training.model import Descent
from tests.empirics.small import CONTROL, problem, study
from theory.law.quadratic import by_age, excess_risk, squared_weights

POLICIES = ("acdpp", "constant", "oracle", "hybrid")
ROUNDS, SEEDS = 40, 120
CASES = {
    "binary": {},
    "inside the ball": {"radius": 300.0, "eta": 0.2},
    "one long step": {"steps": 1, "eta": 2.0},
    "momentum": {"momentum": 0.6},
    "classes": {"labels": "classes"},
    "clients that differ": {"labels": "classes", "partition": "two-class"},
    "weights that differ": {"alpha": (0.6, 0.3, 0.1)},
    "starts that differ": {"per_seed": ("start",), "radius": 1.0},
}


def setting(**given):
    lengths = {"seeds": SEEDS, "rounds": ROUNDS, "checkpoint": ROUNDS}
    return study(**(lengths | {"measures": ("risk",), "policies": POLICIES} | given))


def measured(task):
    """Cumulative excess risk of every run, (policies, seeds)."""
    given = task.study
    log = Engine(task.model, given, task.streams).play(Schedule(given, CONTROL).advance(given.rounds))
    excess = log["risk"] - landscape_of(task).best.risk
    return excess.sum(axis=0).reshape(len(given.policies), -1)


def off(found, outlook):
    """By how many per cent predictions miss, beyond three standard errors of what was measured."""
    forecasts = outlook.forecasts()
    worst = {}
    for runs, (name, forecast) in zip(found, forecasts.items(), strict=True):
        error = 3 * runs.std(ddof=1) / np.sqrt(len(runs))
        worst[name] = 100 * max(abs(forecast.cumulative - runs.mean()) - error, 0) / runs.mean()
    return worst


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, marks=[pytest.mark.slow] * (one in ("classes", "clients that differ")))
        for one in CASES
    ],
)
def test_predictions_are_what_training_measures(case):
    """With memories of 16 samples and 9 to 36 parameters: harder than any sensible federation."""
    given = setting(**CASES[case])
    task = problem(given)
    few = {"starts that differ": 12.0}.get(case, 4.0)  # eight starts stand for all
    assert max(off(measured(task), Outlook.of(task, CONTROL)).values()) < few


def test_samples_that_pull_their_own_way_are_what_the_plain_law_misses():
    """Without leverage the closure is the law, linearised along the noiseless path, and that is too good to be true:
    with five samples a client, every one of them is fitted in twenty steps."""
    task = problem(setting(policies=("oracle",), steps=20, radius=10.0))
    found, outlook = measured(task), Outlook.of(task, CONTROL)
    plain = replace(outlook.landscape, leverage=torch.zeros_like(outlook.landscape.leverage))
    assert off(found, outlook)["oracle"] < 1.5
    assert off(found, replace(outlook, landscape=plain))["oracle"] > 2.5


def memories_of(given):
    rounds = Schedule(given, CONTROL).advance(given.rounds)
    weights = aggregation_weights(given, rounds.occupancy)
    return Memories(rounds.admissions, rounds.starts, rounds.ends, weights)


def closures(given, count=2, **how):
    """Of this study, some that are alike, and its memories."""
    task, memories = problem(given), memories_of(given)
    land, descent = landscape_of(task), Descent(given.steps, given.eta)
    return [Closure(land, descent, memories, task.model.start(1), **how) for _ in range(count)], memories


@pytest.mark.parametrize(("coarse", "most", "together"), [(False, 9, 3), (False, 2, 2), (True, 9, 1)])
def test_the_last_rounds_risks_are_computed_with_as_many_as_if_the_study_went_on(coarse, most, together):
    """So they are the same bits: of θ(9), θ(10) and θ(11), where nobody looks, the first alone is waited for."""
    asked = SimpleNamespace(coarse=coarse, often=2, _on_device=torch.from_numpy)
    asked.landscape, seen = SimpleNamespace(best=SimpleNamespace(risk=0.5)), []

    def counting(theta, scatter, *, observe, least):
        seen.append((len(theta), len(scatter), observe, least))
        return theta[..., 0], scatter[..., 0]

    asked.counting, waiting = counting, module._State(8, torch.ones(2, 4), np.ones((2, 3), dtype=np.float32))
    (found,) = Closure._risks(asked, [waiting], most)
    assert found.shape == (2, 1, 2)
    assert seen == [(together, together, False, 0.5)]


@pytest.mark.parametrize(
    ("averages", "observe", "looks"),
    [(True, True, ["path"]), (True, False, []), (False, True, [])],
)
def test_where_a_mean_counts_the_path_is_looked_at_too_whenever_samples_are(averages, observe, looks):
    looked = []
    asked = SimpleNamespace(averages=averages, gauge=SimpleNamespace(look=looked.append), theta="path")
    asked._model, asked._on_device, asked._least = lambda: ("mean", "scatter"), str.upper, 0.5
    asked.counting = lambda *given, **own: (*given, own)
    assert Closure.excess_risk(asked, observe=observe) == (
        "mean",
        "SCATTER",
        {"observe": observe, "least": 0.5},
    )
    assert looked == looks


def test_step_sizes_that_become_known_later_are_those_of_the_rounds_to_come():
    given = study(policies=("constant",), seeds=1, rounds=40)
    held = memories_of(given)
    sizes = 0.5 / np.sqrt(1 + np.arange(40.0))[:, np.newaxis]
    padded = np.where(np.arange(40)[:, np.newaxis] < 21, sizes, sizes[20])  # as if no later round were known
    task = problem(given)
    found = []
    for first in (sizes, padded):
        closure = Closure(
            landscape_of(task), Descent(given.steps, 0.5), replace(held, eta=first), task.model.start(1)
        )
        before = closure.play(21)
        closure.follow(replace(held, eta=sizes))
        found.append(np.concatenate([before[0], closure.play(39)[0][1:]]))
        assert closure.descent.eta.item() == sizes[38]  # of a round in which nothing is observed
    np.testing.assert_array_equal(*found)


def test_large_memories_at_the_minimiser_follow_the_law():
    """With many samples nobody pulls his own way by much, and what is left is the law of `theory`, to its numbers."""
    scale = 20_000
    given = study(policies=("constant",), seeds=1, radius=300.0, eta=0.3, steps=3, K=4, rounds=25)
    given = replace(given, buffers=tuple(scale * b for b in given.buffers), budget=scale * given.budget)
    task = problem(given)
    land, memories = landscape_of(task), memories_of(given)
    found, _ = Closure(land, Descent(3, 0.3), memories, land.best.theta).play(25)
    cohorts = by_age(memories.admissions[:, 0].sum(axis=1), 4)
    h = land.curvature.numpy()
    lawful = excess_risk(cohorts, 25, h=h, variance=land.noise.numpy() / h**2, start=0 * h, eta=0.3, E=3)
    np.testing.assert_allclose(found[1:, 0], lawful.noise[1:], rtol=2e-3)


def test_what_settles_is_foretold(monkeypatch):
    """A closure that stops early says what one that plays all rounds finds, to a few per cent."""
    monkeypatch.setattr(module, "FEWEST", 16)
    (whole, early), _ = closures(setting(rounds=400, seeds=1, policies=("constant", "oracle")))
    risk, _ = whole.play(400)
    early.play(400, settle=True)
    assert early.round < 200
    torch.testing.assert_close(early.settled.risks([early.round])[0][0], early.settled.last.risk)
    assert list(early.forecasts)[:8] == [1, 2, 3, 4, 6, 8, 12, 16]
    np.testing.assert_allclose(early.settled.risks([300, 400])[0], risk[[300, 400]], rtol=0.03)
    np.testing.assert_allclose(early.settled.limit_risk, whole.forecast().limit_risk, rtol=0.03)


def test_what_is_settled_moves_not_along_the_balls_radius_and_its_scatter_is_none_below_0():
    (closure,), _ = closures(setting(rounds=9, seeds=1, policies=("constant",)), 1)
    closure.play(9)
    last, land = closure.forecast().last, closure.landscape
    contraction, growth = torch.zeros_like(last.contraction), last.scatter.clone()
    growth[:, 0] += 1
    at_rest = replace(last, theta_before=last.theta, contraction=contraction, growth=growth)
    assert land.on_the_ball
    torch.testing.assert_close(Settled.after(at_rest, land).limit_risk, last.risk)
    halved = Settled.after(replace(at_rest, contraction=contraction + 0.5, growth=0 * growth), land)
    lost = 0.5 * (1 - 0.5**2) * (last.curvature * last.scatter).sum(1)
    torch.testing.assert_close(halved.risks([last.round + 1])[0][0], last.risk - lost)


def test_what_diverges_has_no_limit_near_by():
    one = torch.ones(1, 1, dtype=torch.float64)
    land = SimpleNamespace(lump=torch.tensor([0]), basis=SimpleNamespace(onto=torch.clone), multiplier=0.0)
    land.best, land.curvature = SimpleNamespace(theta=0 * one), one[0]
    for factor in (-1.5, 1.5):
        last = LastRound(1, one[0], one[0], one, one, factor * one, one, one, one)
        assert float(Settled.after(last, land).limit) >= 1e9


def test_who_holds_nothing_has_no_share_and_few_local_steps_are_observed_coarsely():
    held = np.array([[[0.0], [4.0]]])
    assert Closure._sample_share(SimpleNamespace(groups=2), held).tolist() == [[[0], [0.25]]]
    for coarse, early, observed in (
        (True, True, [0, 4, 16]),
        (False, True, [0, 1, 2, 3, 4, 6, 8, 12, 16]),
        (False, False, [0, 1, 2, 4, 8, 16]),
    ):
        asked = SimpleNamespace(coarse=coarse)
        assert [step for step in range(20) if Walk.observes(asked, step, early=early)] == observed


@pytest.mark.parametrize(("round_", "early"), [(0, True), (module.EARLY - 1, True), (module.EARLY, False)])
def test_more_local_steps_are_observed_early(round_, early):
    (closure,), _ = closures(study(rounds=module.EARLY + 1, seeds=1, steps=6, policies=("constant",)), 1)
    closure.play(round_)
    with torch.no_grad():
        closure.step(observe=True)
    assert closure.look.latest == ([0, 1, 2, 3, 4, 4] if early else [0, 1, 2, 2, 3, 3])


def test_the_model_before_a_look_is_not_written_over_by_it():
    """As the next look of a recording is written over the last one."""
    (closure,), _ = closures(study(rounds=3, seeds=1, policies=("constant",), radius=50.0), 1)
    with torch.no_grad():
        for _ in range(3):
            closure.excess_risk(observe=True)
            closure.step(observe=True)
            after = closure.theta.clone()
            closure.look.theta.fill_(torch.nan)
            assert torch.equal(closure.theta, after)


def test_every_column_has_the_step_size_of_its_row_in_this_round():
    sizes = np.array([[1.0, 2.0], [3.0, 4.0]])
    asked = SimpleNamespace(round=1, descent=Descent(3, 0.5), groups=2, _on_device=torch.from_numpy)
    asked._of_columns = partial(Closure._of_columns, asked)
    for eta, found in ((None, 0.5), (sizes, [[3], [3], [4], [4]])):
        asked.memories = SimpleNamespace(eta=eta)
        Closure._choose_step_size(asked)
        assert torch.as_tensor(asked.descent.eta).tolist() == found


def test_so_many_samples_that_one_round_alone_is_too_much_are_played_round_by_round(monkeypatch):
    (closure,), _ = closures(study(rounds=5, seeds=1, steps=1, policies=("constant",)), 1, hurried=True)
    monkeypatch.setattr(module, "CELLS", 1)
    *_, observed = closure.play(4)[0]
    waited_for, _ = closure.play(5)[0]
    np.testing.assert_allclose(waited_for, observed, rtol=1e-6)


def test_nothing_moves_in_an_idle_round_but_the_population():
    given = study(policies=("constant", "oracle"), seeds=1, rounds=3, drift=Drift(kind="abrupt", start=2))
    task = problem(given)
    held = memories_of(given)
    mix = np.zeros_like(held.weights)
    idle = np.array([[False, False], [True, False], [True, True]])[..., np.newaxis]  # (rounds, rows, 1)
    nobody = {name: np.where(idle, 0, getattr(held, name)) for name in ("admissions", "weights")}
    nobody["starts"] = np.where(idle, held.ends, held.starts)
    closure = Closure(
        landscape_of(task), Descent(3, 0.5), replace(held, **nobody, mix=mix), task.model.start(1)
    )
    for t, stays in enumerate(idle[..., 0].tolist()):
        closure._looks()
        before = closure.theta.clone()
        with torch.no_grad():
            closure.step(observe=t == 0)
        assert (closure.theta == before).all(1).tolist() == stays


def test_samples_are_observed_again_where_the_population_has_moved_or_after_many_rounds():
    trained, nothing = np.ones((99, 1), dtype=bool), SimpleNamespace(face=lambda w: None)
    for round_, moved, looks in ((8, 0.1, False), (8, module.MOVED, True), (40, 0.0, True)):
        mixing = torch.full((99,), moved, dtype=torch.float64)
        asked = SimpleNamespace(
            landscape=SimpleNamespace(parts=SimpleNamespace(mixing=mixing)),
            memories=SimpleNamespace(trained=trained, rounds=99),
            observer=nothing,
            often=1,
            round=round_,
            faced=torch.zeros((), dtype=torch.float64),
            looked=8,
            seen=trained[0],
        )
        assert Closure._looks(asked) == looks


def test_a_closure_goes_on_where_it_stopped():
    (whole, parted), memories = closures(setting(rounds=40, seeds=1, policies=("constant", "hybrid")))
    arrays = (memories.admissions, memories.starts, memories.ends, memories.weights)
    first, later = (Memories(*(array[part] for array in arrays)) for part in (np.s_[:13], np.s_[13:]))
    parted.memories = first
    start, _ = parted.play(13)
    parted.memories = parted.memories + later
    rest, _ = parted.play(40)
    np.testing.assert_allclose(np.concatenate([start, rest[1:]]), whole.play(40)[0], rtol=1e-4)


# --- cohorts, against the law of reuse ---------------------------------------------------------------------

RNG = np.random.default_rng(5)
LEFT = np.array([[0.3, 0.9, 0.999]])


def by_ages(admissions, ages):
    """Memories of clients that keep samples for so many rounds, (rounds, 1, clients) each."""
    ends = np.cumsum(admissions, axis=0)
    past = np.concatenate([np.zeros((1, admissions.shape[1]), dtype=int), ends])
    since = np.maximum(np.arange(1, len(ends) + 1)[:, None] - ages, 0)
    return held(admissions, np.take_along_axis(past, since, axis=0), ends)


def held(admissions, starts, ends):
    n = ends - starts
    weights = n / n.sum(axis=1, keepdims=True)
    return Memories(*(array[:, None] for array in (admissions, starts, ends, weights)))


def variances(found, groups):
    """The variance after each round, of samples with unit gradients, as the closure moves the cohorts, and how many of
    these there are at most between rounds."""
    cohorts = Cohorts(found, groups, LEFT.shape[1])
    history, most = [], 0
    for t in range(found.rounds):
        cohorts.enter(t, found.admissions[t], found.ends[t])
        counts = cohorts.counts(found.starts[t])
        gain = (1 - LEFT[:, None]) / counts.sum((0, 2), keepdims=True)
        cohorts.train(LEFT, gain)
        history.append(cohorts.variance(counts)[0])
        if t + 1 < found.rounds:
            cohorts.leave(counts, found.starts[t + 1])
            most = max(most, len(cohorts.weight))
    return np.stack(history), most


def alike(found, lawful):
    for k, a in enumerate(LEFT[0].tolist()):
        np.testing.assert_allclose(found[:, k], squared_weights(lawful, a, ROUNDS)[1:], rtol=1e-10)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("ages", [(4, 4, 4), (1, 7, 1000)])
def test_cohorts_by_age_have_the_variance_of_the_law(ages, groups):
    admissions = RNG.integers(0, 4, (ROUNDS, 3))
    admissions[:, 0] += 1
    first, second, third = (by_age(admissions[:, m], ages[m]) for m in range(3))
    alike(variances(by_ages(admissions, ages), groups)[0], first + second + third)


def test_cohorts_that_nobody_holds_are_forgotten():
    ages = (1, 7, 4)
    assert variances(by_ages(np.ones((ROUNDS, 3), dtype=int), ages), 1)[1] == max(ages) - 1


def test_training_moves_models_and_not_the_mean_of_those_before():
    found = replace(by_ages(np.ones((1, 3), dtype=int), (4, 4, 4)), share=np.ones((1, 1)))
    cohorts = Cohorts(found, 1, LEFT.shape[1])
    cohorts.enter(0, found.admissions[0], found.ends[0])
    counts = cohorts.counts(found.starts[0])
    cohorts.train(LEFT, np.ones(1))
    cohorts.average(np.ones((1, 1)))
    cohorts.train(LEFT, np.zeros(1))
    np.testing.assert_allclose(cohorts.mean_variance(counts), [[3, 3, 3]])
    np.testing.assert_allclose(cohorts.variance(counts), 3 * LEFT**2)
    cohorts._departed[:], cohorts._left[:] = 1, 1
    cohorts.train(LEFT, np.zeros(1))
    np.testing.assert_allclose(cohorts._departed, LEFT**2)
    np.testing.assert_allclose(cohorts._left[:, 0], [LEFT[0], [1, 1, 1]])
    cohorts.scale(LEFT)
    np.testing.assert_allclose(cohorts._departed, LEFT**4)
    np.testing.assert_allclose(cohorts._left[:, 0], [LEFT[0] ** 2, [1, 1, 1]])


@pytest.mark.parametrize(("groups", "mixture"), [(1, [0.375]), (3, [[0, 0.25, 1]])])
def test_memories_have_of_the_second_part_what_their_samples_had(groups, mixture):
    found = by_ages(np.array([[1, 2, 1]]), (4, 4, 4))
    cohorts = Cohorts(found, groups, LEFT.shape[1])
    cohorts.enter(0, found.admissions[0], found.ends[0], np.array([[0, 0.5, 1]]) ** [[1, 2, 1]])
    assert cohorts.mixture(found.starts[0]).tolist() == mixture


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("case", ["binary", "classes", "clients that differ"])
def test_a_gpu_predicts_the_same(case):
    given = setting(seeds=2, **CASES[case])
    here, there = (Outlook.of(problem(given, device), CONTROL).forecasts() for device in ("cpu", "cuda"))
    for name in here:
        np.testing.assert_allclose(there[name].risk, here[name].risk, rtol=1e-6)
