"""Means of models, steps that change from round to round, and idle rounds: against the law, and against training."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.control.schedule import plan
from empirics.prediction import curves as looking
from empirics.prediction import loss_landscape as landscape
from empirics.prediction import mean_path as walk
from empirics.prediction import moments as closure
from empirics.prediction.cohorts import Memories
from empirics.prediction.curves import Outlook
from empirics.prediction.moments import Closure
from empirics.prediction.noise_floor import law_floor
from empirics.prediction.survey import landscape_of
from empirics.prediction.unobserved_rounds import Line
from empirics.training.engine import Engine, aggregation_weights
from empirics.training.model import Descent
from empirics.training.problem import from_dataset
from tests.empirics.small import CONTROL, Steady, blobs, problem, study
from theory.law.averaging import averaged_risk, contractions, equal, over_models, polynomial
from theory.law.quadratic import by_age

ROUNDS, STEPS, REPLICATES = 40, 3, 2000
MEANS = ("equal", "polynomial,average_by=3")
ETA = 1.5 / np.sqrt(1 + np.arange(ROUNDS) / 8)


def cubic(k):
    return polynomial(k, 3)


def memories(given, admissions, K, eta, share):
    """Of one run whose samples stay for K rounds."""
    ends = np.cumsum(admissions, axis=0)
    starts = np.concatenate([np.zeros((K, ends.shape[1]), dtype=int), ends[:-K]])
    weights = aggregation_weights(given, ends - starts)
    tables = (one[:, np.newaxis] for one in (admissions, starts, ends, weights, eta, share))
    return Memories(*tables)


def bursts(given, every=3):
    """Every third round is filled up, from the second on."""
    found = np.zeros((ROUNDS, given.clients), dtype=int)
    found[1::every] = given.buffers
    return found


def shares(share, admissions, K):
    held = np.array([admissions[max(t + 1 - K, 0) : t + 1].sum() for t in range(ROUNDS)])
    return np.array(over_models(share, held > 0), dtype=float)


@pytest.mark.parametrize("share", [equal, cubic])
def test_with_large_memories_the_closure_is_the_law_of_averaged_models(share):
    given = study(policies=("constant",), radius=300.0)
    land, admissions = landscape_of(problem(given)), 20_000 * bursts(given)
    w = shares(share, admissions, 2)
    held = memories(given, admissions, 2, ETA, w[1:])
    found = Closure(land, Descent(STEPS, ETA[0]), held.without_idle(), land.best.theta).play(
        int(held.trained.sum())
    )
    h = land.curvature.numpy()
    law = averaged_risk(
        by_age(admissions.sum(axis=1), 2),
        ROUNDS,
        contractions(h, ETA, STEPS),
        w,
        h=h,
        variance=land.noise.numpy() / h**2,
        start=0 * h,
    )
    clock = np.concatenate([[0], np.cumsum(held.trained[:, 0])])
    np.testing.assert_allclose(found[0][clock, 0][3:], law.noise[3:], rtol=3e-3)


def within(theta, radius):
    return theta * np.minimum(radius / np.linalg.norm(theta, axis=1, keepdims=True).clip(1e-9), 1)


def trained(task, held, means):
    """Training by a plain loop, of many replicates at once: the risk of θ and of each mean of models, by round."""
    x, y = task.population.x.numpy(), task.population.y.numpy()
    rng, radius = np.random.default_rng(1), task.study.radius
    lists = [rng.integers(0, len(x), (REPLICATES, n)) for n in held.ends[-1, 0]]
    theta = np.zeros((REPLICATES, x.shape[1]))
    averages = [theta for _ in means]
    found = []
    for t in range(held.rounds):
        models = (within(one, radius) for one in (theta, *averages))
        found.append([np.logaddexp(0, (1 - 2 * y) * (one @ x.T)).mean() for one in models])
        moved = np.zeros_like(theta)
        for m, indices in enumerate(lists):
            index = indices[:, held.starts[t, 0, m] : held.ends[t, 0, m]]
            local, inputs, labels = theta, x[index], y[index]
            for _ in range(STEPS if index.shape[1] else 0):
                residual = 1 / (1 + np.exp(-np.einsum("rnd,rd->rn", inputs, local))) - labels
                slope = np.einsum("rnd,rn->rd", inputs, residual) / index.shape[1]
                local = local - held.eta[t, 0] * slope
            moved = moved + held.weights[t, 0, m] * (local - theta)
        theta = theta + moved
        averages = [one + share[t] * (theta - one) for one, share in zip(averages, means, strict=True)]
        theta = within(theta, radius)
    return np.array(found).T


@pytest.mark.parametrize("K", [1, *(pytest.param(K, marks=pytest.mark.slow) for K in (2, 3))])
def test_what_is_predicted_of_both_models_is_what_training_measures(K):
    """Bursts that are used once or twice, and a steady stream: to 5 % over all rounds."""
    task = problem(study(policies=("constant",)))
    land, given = landscape_of(task), task.study
    admissions = np.tile([1, 2, 2], (ROUNDS, 1)) if K == 3 else bursts(given)
    means = [shares(share, admissions, K)[1:] for share in (equal, cubic)]
    last = replace(memories(given, admissions, K, ETA, means[0]), share=None)
    both = replace(last, share=np.stack(means, 1), owner=np.zeros(2, dtype=int))  # of one path
    assert last.trained.all() == (K == 3)
    measured = (trained(task, last, means) - land.best.risk).sum(1)
    clock, predicted = np.cumsum(last.trained[:, 0]) - last.trained[:, 0], []
    for held in (last, both):
        closure = Closure(land, Descent(STEPS, ETA[0]), held.without_idle(), task.model.start(1))
        risk, path = closure.play(int(held.trained.sum()))
        predicted += risk[clock].sum(0).tolist()
        assert (risk >= path).all()
    np.testing.assert_allclose(predicted, measured, rtol=0.05)


def test_an_outlook_answers_for_the_mean_which_is_followed_to_the_end():
    given = study(policies=("constant", "acdpp"), rounds=100)
    plain = Outlook.of(problem(given), CONTROL).forecasts()
    mean = Outlook.of(problem(replace(given, average="polynomial", average_by=3)), CONTROL).forecasts()
    for name, one in mean.items():
        assert one.risk[-1] < 0.5 * plain[name].risk[-1]
        assert one.noise_floor == pytest.approx(one.risk[-1])
        assert (one.played, len(one.risk)) == (100, 101)


def test_an_outlook_foretells_decaying_steps_and_rounds_without_samples():
    """Of each replicate the mean risk, measured and foretold: to 5 % over all rounds."""
    given = study(
        policies=("burst", "constant"), rounds=60, checkpoint=60, seeds=40, average="equal", eta=1.5, decay=8
    )
    task = problem(given)
    rounds = plan(given, CONTROL)
    assert (rounds.track.n == 0).any()
    log = Engine(task.model, given, task.streams).play(rounds)
    found = Outlook.of(task, CONTROL).forecasts()
    for p, (name, one) in enumerate(found.items()):
        mine = slice(p * given.seeds, (p + 1) * given.seeds)
        measured = log["risk"][:, mine].mean(1).sum() - 60 * landscape_of(task).best.risk
        assert one.risk[:-1].sum() == pytest.approx(measured, rel=0.05), name


def test_falling_steps_are_foretold_beyond_the_rounds_that_are_followed(monkeypatch):
    monkeypatch.setattr("empirics.prediction.curves.PLAYED", 16)
    given = study(policies=("constant",), rounds=80, seeds=1, eta=1.5, decay=5)
    whole = Outlook.of(problem(given), CONTROL)
    followed, some = (one.forecasts()["constant"] for one in (whole, replace(whole, patience=32)))
    assert (followed.played, some.played) == (80, 32)
    assert some.risk[-1] == pytest.approx(followed.risk[-1], rel=0.1)


def test_what_is_predicted_of_a_policy_does_not_depend_on_what_stands_beside_it():
    names = ("constant", "burst", "constant@average=equal", "constant@decay=3000")
    given = study(policies=names, rounds=300, seeds=2, steps=1)
    found = Outlook.of(problem(given), CONTROL).forecasts()
    for name in names[:2]:
        one, alone = (
            found[name],
            Outlook.of(problem(replace(given, policies=(name,))), CONTROL).forecasts()[name],
        )
        assert one.noise_floor == pytest.approx(alone.noise_floor, rel=1e-6), name
        np.testing.assert_allclose(one.risk, alone.risk, rtol=1e-6)
    assert [one.settled for one in found.values()] == [True, False, False, False]
    assert [one.played for one in found.values()][1:] == [given.rounds] * 3


class Pausing(Steady):
    """Buys in so many rounds, and then no more."""

    def start(self, replicates=1):
        return 0

    def decide(self, state, cost):
        until, *samples = self.samples
        return state + 1, np.tile(samples, (len(cost), 1)) * (state < until)


@pytest.mark.parametrize(
    ("names", "pause", "rounds", "patience"),
    [
        (("constant", "pausing"), 32, 512, 512),  # one settles, the other does not
        (("constant@average=equal", "pausing@average=equal"), 32, 300, 128),
        (("burst", "pausing"), 9, 300, 128),  # both have been idle before
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else None,
)
def test_nor_on_what_pauses_in_rounds_that_are_decided_later(monkeypatch, names, pause, rounds, patience):
    monkeypatch.setattr(looking, "PLAYED", 32)
    given = study(policies=names, rounds=rounds, seeds=1, steps=1)
    outlook = Outlook.of(problem(given), CONTROL, policies={"pausing": Pausing(pause, 1, 1, 2)})
    outlook = replace(outlook, patience=patience)
    for name, one in outlook.forecasts().items():
        alone = replace(outlook, study=replace(given, policies=(name,))).forecasts()[name]
        assert (one.settled, one.played) == (alone.settled, alone.played)
        assert (one.lag is None) == (not name.startswith("constant"))
        assert one.noise_floor == pytest.approx(alone.noise_floor, rel=1e-6)
        np.testing.assert_allclose(one.risk, alone.risk, rtol=1e-6)


def on_one_path():
    """Two of three learners differ in their mean alone."""
    learners = ("K=1,eta=1,average=equal", *(f"K=2,eta=2,average={mean}" for mean in MEANS))
    given = study(policies=tuple(f"burst@{own}" for own in learners), rounds=20, seeds=2, steps=2)
    return Outlook.of(problem(given), CONTROL)


def test_a_path_is_followed_once_for_all_means_of_its_models(monkeypatch):
    def begun(land, descent, held, *given, **own):
        raise InterruptedError(f"{held.rows} rows")

    monkeypatch.setattr("empirics.prediction.curves.Closure", begun)
    with pytest.raises(InterruptedError, match="4 rows"):  # two paths of prices
        on_one_path().forecasts()


def test_means_of_models_on_one_path_are_as_each_alone():
    outlook = on_one_path()
    found = outlook.forecasts()
    for name, one in found.items():
        alone = replace(outlook, study=replace(outlook.study, policies=(name,))).forecasts()[name]
        np.testing.assert_allclose(one.risk, alone.risk, rtol=1e-4)  # who trains longer is looked at later
        assert (one.rate, one.fitted) == pytest.approx((alone.rate, alone.fitted), rel=1e-9)
    assert len({one.risk[-1] for one in found.values()}) == 3


def test_a_mean_of_models_seen_through_samples_is_near_what_the_whole_population_shows(monkeypatch):
    given = study(policies=("constant@average=equal",), rounds=6, seeds=1)
    task, found = from_dataset(given, blobs(samples=1200), torch.device("cpu")), []
    for most in (2000, 1000):
        monkeypatch.setattr(landscape, "MOST", most)
        monkeypatch.setattr(landscape, "PART", 150)
        found += Outlook.of(task, CONTROL).forecasts().values()
    assert found[1].sampled
    np.testing.assert_allclose(found[1].risk, found[0].risk, rtol=0.02)


def test_who_never_trains_stays_where_he_is():
    never = study(policies=("constant",), rounds=40, budget=0.001)
    (one,) = Outlook.of(problem(never), CONTROL).forecasts().values()
    assert one.noise_floor == one.risk[-1] == pytest.approx(one.risk[0])


def test_a_floor_is_of_the_rounds_that_a_run_has_trained():
    given = study(policies=("constant",))
    land, descent = landscape_of(problem(given)), Descent(STEPS, ETA[0])
    share = np.ones(ROUNDS)
    each = [memories(given, bursts(given, every), 1, ETA, share) for every in (3, 5)]

    def tables(one):
        return [table for table in vars(one).values() if table is not None]

    both = Memories(
        *(np.concatenate(pair, axis=1) for pair in zip(*(tables(one) for one in each), strict=True))
    )
    found = law_floor(land, descent, both.without_idle(), both.trained.sum(axis=0))
    alone = [law_floor(land, descent, one.without_idle(), one.trained.sum(axis=0)) for one in each]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-12)


@pytest.mark.parametrize(
    ("looks", "coarse", "near"),
    [(closure.PER_DOUBLING, False, 1e-3), (closure.HURRIED, False, 0.03), (closure.HURRIED, True, 0.1)],
)
def test_a_hurried_forecast_is_near_a_patient_one(looks, coarse, near, patient, monkeypatch):
    monkeypatch.setattr(closure, "HURRIED", looks)
    outlook, wanted = patient
    found = replace(outlook, hurried=True, coarse=coarse).forecasts()
    for name, other in wanted.items():
        one = found[name]
        assert one.cumulative == pytest.approx(other.cumulative, rel=near)
        assert one.risk[-1] == pytest.approx(other.risk[-1], rel=near)
        assert one.cumulative != other.cumulative


def test_a_coarse_forecast_draws_some_rounds_and_those_are_the_same(patient, monkeypatch):
    outlook = replace(patient[0], hurried=True, coarse=True)
    outlook = replace(outlook, study=replace(outlook.study, policies=outlook.study.policies[:1]))
    found = []
    for drawn in (4, 1000):
        monkeypatch.setattr(closure, "DRAWN", drawn)
        found.append(next(iter(outlook.forecasts().values())).risk)
    same = np.isclose(*found, rtol=1e-9, atol=0)
    assert same[[0, 3, 7, 9, 15, 19, 23, 31, 39, 47]].all()
    assert not same[[8, 16, 17, 18, 32, 40]].any()
    np.testing.assert_allclose(*found, rtol=0.05)


def test_coarsely_the_last_model_settles_though_it_was_foretold_less_well(monkeypatch):
    given = study(policies=("constant",), rounds=300, seeds=1, steps=1)
    outlook = replace(Outlook.of(problem(given), CONTROL), hurried=True, coarse=True)
    (one,) = outlook.forecasts().values()
    assert one.settled
    assert one.played < 300
    monkeypatch.setattr(closure, "MISSED_COARSELY", 0)
    (whole,) = outlook.forecasts().values()
    assert not whole.settled
    np.testing.assert_allclose(one.risk, whole.risk, rtol=0.02)


@pytest.fixture(scope="module")
def patient():
    learners = [f"eta={eta},average=polynomial,average_by=3" for eta in (1, 2)]
    names = [f"{base},{own}" for own in learners for base in ("constant@K=3", "burst@K=1")]
    given = study(policies=(*names, "burst@eta=2,average=none"), rounds=48, seeds=1)
    outlook = Outlook.of(problem(given), CONTROL)
    return outlook, outlook.forecasts()


def test_a_coarse_curve_goes_on_where_it_was(monkeypatch):
    given = study(policies=("constant@average=equal",), rounds=60, seeds=1, steps=1)
    outlook = replace(Outlook.of(problem(given), CONTROL), hurried=True, coarse=True)
    (whole,) = outlook.forecasts().values()
    monkeypatch.setattr("empirics.prediction.curves.PLAYED", 40)
    (pieces,) = outlook.forecasts().values()
    assert len(pieces.risk) == len(whole.risk) == 61
    np.testing.assert_allclose(pieces.risk, whole.risk, rtol=0.01)


@pytest.mark.parametrize("hurried", [False, True])
@pytest.mark.parametrize("alpha", [None, (0.6, 0.3, 0.1)])
def test_rounds_that_are_worked_out_together_are_as_one_after_the_other(hurried, alpha, monkeypatch):
    own = {"decay": 9.0, "average": "polynomial", "average_by": 2.0, "momentum": 0.5, "alpha": alpha}
    given = study(policies=("constant", "hybrid"), rounds=24, seeds=1, steps=3, **own)
    outlook = replace(Outlook.of(problem(given), CONTROL), hurried=hurried)
    together = outlook.forecasts()
    monkeypatch.setattr(closure, "AT_ONCE", 1)
    monkeypatch.setattr(closure, "CELLS", 1)
    for name, one in outlook.forecasts().items():
        np.testing.assert_allclose(together[name].risk, one.risk, rtol=1e-9)


def test_a_line_leads_where_its_steps_do():
    generator = torch.Generator().manual_seed(3)
    root, theta, *slopes = (
        torch.randn(2, *shape, generator=generator, dtype=torch.float64) for shape in ((4, 4), *[(4,)] * 7)
    )
    hessian, pairs = root @ root.mT, list(zip(slopes[::2], slopes[1::2], strict=True))
    etas = torch.tensor([[0.1, 0.2], [0.05, 0.01]], dtype=torch.float64)
    line = Line.of(hessian, pairs, momentum=0.5)
    for eta, factor, added in zip(etas, *line.rounds(etas), strict=True):
        here, velocity = theta, torch.zeros_like(theta)
        for there, slope in pairs:
            velocity = 0.5 * velocity + slope + (hessian @ (here - there)[..., None])[..., 0]
            here = here - eta[:, None] * velocity
        torch.testing.assert_close(line.after(theta, factor, added), here)


def test_in_a_hurry_gradients_are_straight_in_theta_between_two_looks(monkeypatch):
    monkeypatch.setattr(walk, "STRAIGHT", 0)  # which is of several classes
    given = study(policies=("constant",), rounds=2, seeds=1)
    outlook, rounds = Outlook.of(problem(given), CONTROL), plan(given, CONTROL)
    held = Memories(
        rounds.admissions, rounds.starts, rounds.ends, aggregation_weights(given, rounds.occupancy)
    )
    land = outlook.landscape
    start = land.best.theta / 4  # far from the ball
    found = Closure(land, Descent(3, 0.7), held, start, hurried=True)
    assert found.often == closure.HURRIED
    found.excess_risk(observe=True)
    found.step(observe=True)
    hessian, here, slopes = found.look.hessian[0], found.theta, found.look.slopes
    torch.testing.assert_close(hessian, land.model.hessian(start))
    found.step(observe=False)
    for there, slope in slopes:
        here = here - 0.7 * (slope + (here - there) @ hessian)
    torch.testing.assert_close(found.theta, here)


def test_local_steps_of_the_same_size_are_told_again_as_they_went():
    given = study(policies=("constant",), rounds=4, seeds=1, decay=9.0, momentum=0.5)
    outlook = Outlook.of(problem(given), CONTROL)
    rounds = plan(given, CONTROL)
    held = Memories(
        rounds.admissions, rounds.starts, rounds.ends, aggregation_weights(given, rounds.occupancy)
    )
    found = Closure(outlook.landscape, Descent(4, 0.7, 0.5), held, outlook.start)
    found.play(4)
    local = found.look.local
    for told, again in zip(
        local.told(), local.again(torch.tensor([[0.7]], dtype=torch.float64)), strict=True
    ):
        np.testing.assert_allclose(again, told, rtol=1e-12)
