"""Definitions that Coq's files write by hand: on the same numbers as the simulator, plain loops and theory's functions.

Each case gives pairs: what Coq's definition says, and its counterpart. Numbers are drawn anew for each of some seeds.
"""

import cmath
import math
import random
import re
from fractions import Fraction
from operator import mul
from pathlib import Path
from statistics import pvariance

import numpy as np
import pytest

from proofs_check.engines.kernel import modules, recorded
from proofs_check.kernel.formulas import FORMULAS
from proofs_check.simulator import simulate, simulate_by_capacity
from tests.proofs_check.coq_terms import applied, definition
from theory.bound.constant_admission import constant_round
from theory.bound.theorem1 import generalisation_term, linear_term, root_term, round_terms
from theory.control.penalty import penalty_limit
from theory.control.violation import buffer_excess_maximum
from theory.drift.moving_optimum import path_bias, walk_lag
from theory.law.averaging import averaged, equal, final_weights, over_rounds, round_shares
from theory.law.information import information_risk
from theory.law.quadratic import Cohorts, contraction, lag_sum, squared_weights
from theory.law.stationary import full_memory_noise
from theory.market.cumulative import sample_values
from theory.market.online import savings_price
from theory.numbers.lambert import lambert_partial
from theory.regret.omegas import omega3_limit
from theory.reuse.counts import boundary_deficits, cohort_deficits
from theory.setting import Constants, Region


class World:
    """Two clients, admissions with an empty round, and what the simulator makes of them."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.draw, self.T, self.K, self.asked = draw, 6, seed % 3 + 1, []
        each = [[draw.randint(0, 2), draw.randint(0, 2)] for _ in range(self.T)]
        each[0], each[2:5], each[5] = [1, 2], [[0, 0]] * 3, [2, 1]  # some rounds may be idle
        self.amount = lambda j: Fraction(sum(each[j]))
        self.rounds = simulate(each, self.K)
        memories = [one.memory for one in self.rounds]
        self.samples = sorted({one for memory in memories for one in memory}, key=lambda s: s[1])
        there = [[t for t, memory in enumerate(memories) if one in memory] for one in self.samples]
        self.N, self.came = len(self.samples), [first for first, *_ in there]
        left, counts = [last + 1 for *_, last in there], [Fraction(1)] * self.N
        self.cohorts = Cohorts(np.array(self.came) + 1, np.array(left), np.array(counts, dtype=object))
        self.h, self.E, self.start = self.share(), draw.randint(1, 3), self.share()
        self.steps = [self.share() for _ in range(self.T)]
        contractions = [[contraction(self.h, eta, self.E)] for eta in self.steps]
        self.about = (self.cohorts, self.T, np.array(contractions, dtype=object))
        self.z = [self.share() for _ in self.samples]
        drawn = {name: draw.uniform(0.5, 3) for name in ("D", "sigma", "B", "Pdim")}
        self.constants = Constants(**drawn, eta=draw.uniform(0.1, 0.5), E=self.E)
        self.rate, self.rho = draw.uniform(1, 5), self.share()

    def share(self):
        return Fraction(self.draw.randint(1, 9), 10)

    def coq(self, name, *arguments):
        """The value of a definition, which counts as compared."""
        self.asked.append(name)
        return applied(definition(name), *arguments)

    def of(self, module):
        return lambda name, *arguments: self.coq(f"{module}.{name}", *arguments)

    def used(self, t):
        there = self.rounds[t].memory if t < self.T else ()
        return lambda m: lambda i: Fraction(self.samples[i] in there and self.samples[i][0] == m)

    def trained(self, z, start):
        """The models of federated averaging, client by client and step by step."""
        models = [start]
        for snapshot, eta in zip(self.rounds, self.steps, strict=True):
            mean = Fraction(0)
            for m in (0, 1):
                mine = [z[self.samples.index(s)] for s in snapshot.memory if s[0] == m]
                local = models[-1]
                for _ in range(self.E if mine else 0):
                    local -= eta * self.h * (local - sum(mine) / Fraction(len(mine)))
                mean += len(mine) * local
            models.append(mean / snapshot.n if snapshot.n else models[-1])
        return models


def reuse(w):
    cohort = dict(zip(w.samples, w.came, strict=True))
    for t, now in enumerate(w.rounds, start=1):
        coq = w.of("Reuse")
        uses, about, counts = now.uses, (w.K, t, w.amount), coq("counts", w.K, t)
        for sample, used in uses.items():
            came, there = cohort[sample], sample in now.memory
            yield coq("uses", w.K, came, t), used
            yield coq("counts", w.K, t, came), used
            yield coq("in_memory", w.K, came, t - 1), there
            yield coq("held", w.K, t, came), there
            yield coq("share", t, w.amount, counts, came), now.weights[sample]
        yield coq("size", t, w.amount), now.N
        yield coq("total", t, w.amount, Fraction), sum(cohort[s] for s in uses)
        yield coq("first", t, w.amount, counts), sum(uses.values())
        yield coq("second", t, w.amount, counts), sum(used**2 for used in uses.values())
        yield coq("uniformity", t, w.amount, counts), now.uniformity
        yield coq("variance", t, w.amount, counts), pvariance(map(Fraction, uses.values()))
        yield coq("occupancy", *about), now.n
        yield coq("used_in_memory", *about), sum(uses[s] for s in now.memory)
        if now.n:
            yield coq("mismatch", *about), now.mismatch
        totals = [w.amount(j) for j in range(t)]
        for part, told in enumerate(boundary_deficits(totals, w.K)):
            deficit = lambda age, part=part: lambda K: cohort_deficits(age, K)[part]  # noqa: E731
            yield coq("newest", *about, deficit), told


def law(w):
    """A definition about all rounds takes clients, samples, their use, curvature, steps and local steps first."""
    coq = w.of("Law")
    whole = lambda name, *more: coq(name, 2, w.N, w.used, w.h, w.steps.__getitem__, w.E, *more)  # noqa: E731
    z, came = w.z.__getitem__, w.came.__getitem__
    models, idle = w.trained(w.z, w.start), w.trained([Fraction(0)] * w.N, Fraction(1))
    for t in range(w.T + 1):
        yield whole("model", z, w.start, t), models[t]
        yield whole("left", t), idle[t]
        yield coq("trained", 2, w.N, w.used, t), sum(one.n > 0 for one in w.rounds[:t])
        for i in range(w.N):
            alone = [Fraction(i == j) for j in range(w.N)]
            yield whole("weight", i, t), w.trained(alone, Fraction(0))[t]
    for t, (now, eta) in enumerate(zip(w.rounds, w.steps, strict=True)):
        yield coq("held", w.N, w.used(t), 1), now.n_of(1)
        yield coq("occupancy", 2, w.N, w.used(t)), now.n
        yield coq("in_memory", 2, w.used(t), 1), w.samples[1] in now.memory
        yield whole("left_of", t), contraction(w.h, eta, w.E) if now.n else 1
        yield coq("one_round", 2, w.N, w.used(t), eta, w.h, w.E, z, models[t]), models[t + 1]
    moved = w.start
    for _ in range(w.E):
        moved -= w.steps[0] * w.h * (moved - w.z[0])
    yield coq("local_steps", w.steps[0], w.h, w.E, w.start, w.z[0]), moved
    draws = [w.share() for _ in range(w.T + 1)]
    yield whole("collected", draws.__getitem__, 0, w.T + 1), round_shares(*w.about, draws)[0][0]
    off = coq("combined", lambda i: lambda _: w.z[i], w.N, w.start, lambda i: w.steps[i % w.T], 0)
    yield off, w.start + sum(w.steps[i % w.T] * z for i, z in enumerate(w.z))
    shares = over_rounds(equal, w.T)
    p = final_weights(shares)
    b = [sum(p[t] * whole("weight", i, t) for t in range(w.T + 1)) for i in range(w.N)]
    first = sum(p[t] * whole("left", t) for t in range(w.T + 1))
    mean = averaged(*w.about, shares)
    yield first, mean.left[-1, 0]
    yield sum(one**2 for one in b), mean.squares[-1, 0]
    older = [coq("older", w.N, came, first, b.__getitem__, k) for k in range(w.T)]
    yield sum(one**2 for one in older), walk_lag(*w.about, shares)[-1, 0]
    path = [w.share() for _ in range(w.T + 1)]
    told = path_bias(*w.about, shares, path=[[one] for one in path], first=[w.start])[-1, 0]
    yield coq("bias", w.N, came, path.__getitem__, w.start, first, b.__getitem__, w.T), told


def finite(w):
    coq = w.of("Finite")
    a, K, first, eta = w.share(), w.K, w.draw.randint(0, 2), w.steps[0]
    held = lambda t: range(max(t, first), t + K)  # noqa: E731
    for t in range(w.T + 1):
        pairs = [(i, j, max(K - abs(i - j), 0)) for i in range(t) for j in range(t)]
        yield coq("lags", a, K, t), sum(a**i * a**j * shared for i, j, shared in pairs)
        yield coq("tail", a, K, t), sum(a**i * max(K - (t - i), 0) for i in range(t))
        told = full_memory_noise(contraction(w.h, eta, w.E), K, t)
        yield coq("noise", 2, K, w.h, eta, w.E, 0, t), told
        yield [coq("window", K, first, t, c) for c in range(12)], [c in held(t) for c in range(12)]
    for r, s in ((3, 3), (3, 4), (5, 3)):
        both = len({*held(r)} & {*held(s)})
        told = Fraction(both, len(held(r)) * len(held(s)))
        yield coq("common", K, first, r, s), both
        yield coq("covariance", K, first, r, s), told
        yield coq("shared", 12, lambda t: lambda c: Fraction(c in held(t)), r, s), told
    one = lambda t: lambda i: w.used(t)(0)(i) + w.used(t)(1)(i)  # noqa: E731
    weights = [coq("law_weight", w.N, one, w.h, eta, w.E, i, w.T) for i in range(w.N)]
    told = squared_weights(w.cohorts, contraction(w.h, eta, w.E), w.T)[-1]
    yield sum(weight**2 for weight in weights), told


def memories(w):
    T, K, C, a, rate = w.T, w.K, Fraction(3, 2), w.share(), w.share()
    kept = [[Fraction(one.n_of(m)) for one in w.rounds] for m in (0, 1)]
    over = sum(max(sum(mine) - T, 0) for mine in kept)
    yield w.coq("Control.buffer_violation", T, 2, lambda _: 1, lambda m: kept[m].__getitem__), over
    for t, one in enumerate(w.rounds):
        yield w.coq("Control.memory", K, w.amount, t), one.n
    spent = sum(w.amount(t) for t in range(T))
    yield w.coq("Control.violation", T, C, w.amount), max(spent - C * T, 0)
    yield w.coq("Lambert.lambert", w.rho, T), lambert_partial(w.rho, T + 1)
    yield w.coq("Lambert.log_partial", T, rate), sum(rate**i / i for i in range(1, T + 1))
    excess = [w.rho ** (s + 1) / (1 - w.rho ** (s + 1)) for s in range(T)]
    yield w.coq("Buffers.late", w.rho, K, T), sum(excess[s] * (K - min(K, T - s)) for s in range(T))
    full = simulate_by_capacity([[3], [1], [0], [2], [1]], [3])
    used = lambda t: lambda i: Fraction((0, i) in full[t].memory)  # noqa: E731
    ages = sum(now.uses[sample] for now in full for sample in now.memory)
    yield w.coq("Buying.mean_age", 7, 5, Fraction(3), used), Fraction(ages, 15)
    yield [w.coq("Buying.uses", used, i, 5) for i in range(7)], [full[-1].uses[0, i] for i in range(7)]
    saved = sum(savings_price(Fraction(i + 3), 4, C) for i in range(4))
    yield w.coq("Buying.savings", 4, C, lambda t: lambda i: Fraction(t + i + 1), 2), saved
    yield w.coq("Stationary.row", a, K), 1 + 2 * sum(a**d for d in range(1, K + 1))
    yield w.coq("Stationary.pairs", a, K), K + 2 * lag_sum(a, K)
    yield w.coq("Sums.sum", T, w.amount), spent


def vectors(w):
    """Of the plane: E local steps of two clients move the average by η times what Coq says."""
    coq = w.of("Learning")
    x, *targets = (complex(w.share(), w.share()) for _ in range(3))
    shares, eta = [w.share(), w.share()], w.constants.eta
    grad = lambda m: lambda at: (1, 2)[m] * (at - targets[m])  # noqa: E731

    def local(m):
        return lambda e: local(m)(e - 1) - eta * grad(m)(local(m)(e - 1)) if e else x

    yield coq("minus", x, targets[0]), x - targets[0]
    yield coq("norm", x), abs(x)
    yield coq("apart", x, targets[0]), abs(x - targets[0]) ** 2
    yield coq("vsum", 2, targets.__getitem__), sum(targets)
    told = sum(share * (x - local(m)(w.E)) for m, share in enumerate(shares)) / eta
    yield coq("moved", w.E, 2, shares.__getitem__, grad, local), told


def bounds(w):
    """Of real numbers, up to rounding."""
    K, t, c, region = w.K, w.T, w.constants, Region(rate=w.rate, rho=float(w.rho))
    D, s, eta, B, P = c.D, c.sigma, c.eta, c.B, c.Pdim
    yield w.coq("Buffers.largest", w.rate, region.rho, K, t), buffer_excess_maximum(K, t, region)
    now, step = w.rounds[-1], eta * w.E
    inverse = float(sum(share**2 for share in now.weights.values()))
    yield w.coq("Inside.inverse_effective", K, w.amount, t), inverse
    about = (K, D, s, eta, B, P, 1.5, 2.5, w.E, w.amount, t)
    bound = round_terms(float(now.mismatch), inverse, now.N, c.merged).total
    yield w.coq("Inside.a_round_of_the_bound", *about), bound
    printed = round_terms(1 / now.n - inverse, inverse, now.N, c)
    bound = printed.root + printed.linear + generalisation_term(inverse, now.N, c)
    yield w.coq("Inside.a_printed_round", *about), bound
    yield w.coq("Inside.order", 9), math.sqrt(math.log(9) / 9)
    yield w.coq("Inside.weight_of", 9), math.sqrt(9 / math.log(9))
    yield w.coq("Regret.scale", 9), math.sqrt(9 * math.log(9))
    K = K + 1.0  # with K = 1 there is no difference
    limit, best = penalty_limit(K, 7, w.rate, c.merged), constant_round(1, 7, K * w.rate, c)
    third = limit.generalisation - best.generalisation
    yield w.coq("Regret.third", B, P, w.rate, K, 7.0), third
    two = limit.root + limit.linear - best.root - best.linear
    yield w.coq("Regret.two", D, s, w.rate, K, step, 7.0), two
    yield 2 * w.coq("Regret.constant", B, P, w.rate, K), omega3_limit(K, w.rate, c)
    each = 1 / (K * w.rate)
    most = linear_term(each, c) + root_term(each, c) + generalisation_term(1 / w.rate, w.rate, c)
    yield w.coq("Regret.most", D, s, eta, B, P, w.rate, K), most
    chi, part, N = 0.3, 0.02, 80.0
    terms = w.coq("Design.three_terms", D, s, B, P, lambda _: chi, lambda _: part, lambda _: N, step, 4)
    yield terms, round_terms(chi, part, N, c.merged).total


def information(w):
    """Sums over samples, each asked at a model of its own; the gradient is the loss's central difference."""
    coq, n = w.of("Information"), 4
    weights, h, z, asked = ([w.share() for _ in range(n)] for _ in range(4))
    prior, start, at = w.share(), w.share(), w.share()
    loss = lambda i, x: h[i] * (x - z[i]) ** 2 / 2  # noqa: E731
    yield coq("loss", h[0], z[0], at), loss(0, at)
    yield coq("gradient", h[0], z[0], at), (loss(0, at + 1) - loss(0, at - 1)) / 2
    lists = [one.__getitem__ for one in (weights, h, z, asked)]
    known, toward = sum(w * c for w, c in zip(weights, h, strict=True)), Fraction(0)
    for i in range(n):
        toward += weights[i] * (h[i] * asked[i] - (loss(i, asked[i] + 1) - loss(i, asked[i] - 1)) / 2)
    yield coq("curvatures", n, *lists[:2]), known
    yield coq("toward", n, *lists), toward
    whole = lambda x: sum(weights[i] * loss(i, x) for i in range(n)) + prior * (x - start) ** 2 / 2  # noqa: E731
    yield coq("objective", n, *lists[:3], prior, start, at), whole(at)
    model = coq("informed", known, toward, prior, start)
    yield whole(model + 1), whole(model - 1)  # a quadratic's minimum is in the middle


def purchases(w):
    coq, T = w.of("Purchases"), 5
    pilot, bought, price = w.share(), [w.share() for _ in range(T)], [w.share() for _ in range(T)]
    x, c = bought.__getitem__, price.__getitem__
    for t, value in enumerate(sample_values(bought, pilot)):
        yield coq("held", pilot, x, t), pilot + sum(bought[: t + 1])
        yield coq("spent", c, x, t), sum(map(mul, price[: t + 1], bought))
        yield coq("later", T, c, t), sum(price[t:])
        yield coq("value", T, pilot, x, t), value
    samples = [pilot + bought[0], *bought[1:]]
    risk = information_risk(samples, h=[1], variance=[2], start=[0]).total
    yield coq("cumulative", T, pilot, x), sum(risk[1:])


ROUNDED = (bounds, vectors)  # with roots and logarithms
CASES = (reuse, law, finite, memories, information, purchases, *ROUNDED)


@pytest.mark.parametrize("rows", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_coqs_definition_is_its_counterpart(rows, seed):
    world = World(seed)
    for found, told in rows(world):
        same = cmath.isclose(found, told, rel_tol=1e-9) if rows in ROUNDED else found == told
        assert same, (world.asked[-1], found, told)


def test_every_definition_by_hand_is_compared_or_listed_as_abstract():
    by_hand = {f"{m}.{name}" for m in modules() if m not in FORMULAS for name in recorded(m, "defines")}
    world = World(0)
    for rows in CASES:
        list(rows(world))
    page = Path(__file__).parents[2].joinpath("docs/kernel.md").read_text(encoding="utf-8")
    table = page.partition("## Definitions by hand")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.M)
    listed = {name: told for names, told in rows for name in re.findall(r"`(\w+\.\w+)`", names)}
    assert set(listed) == by_hand
    assert {name for name, told in listed.items() if not told.startswith("none: ")} == set(world.asked)
