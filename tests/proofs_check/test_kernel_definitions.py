"""Definitions that Coq's files write by hand: on the same numbers as the simulator, plain loops and theory's functions.

Each case gives pairs: what Coq's definition says, and its counterpart. Numbers are drawn anew for each of some seeds.
"""

import cmath
import math
import random
import re
from fractions import Fraction
from pathlib import Path
from statistics import pvariance

import numpy as np
import pytest

from proofs_check.engines.kernel import modules, recorded
from proofs_check.kernel.formulas import FORMULAS
from proofs_check.simulator import simulate, simulate_by_capacity
from tests.proofs_check.coq_terms import run
from theory.bound.constant_admission import constant_round
from theory.bound.theorem1 import generalisation_term, linear_term, root_term, round_terms
from theory.control.penalty import penalty_limit
from theory.control.violation import buffer_excess_maximum
from theory.drift.moving_optimum import path_bias, walk_lag
from theory.law.averaging import averaged, equal, final_weights, over_rounds, round_shares
from theory.law.quadratic import Cohorts, contraction, lag_sum, squared_weights
from theory.law.stationary import full_memory_noise
from theory.market.online import savings_price
from theory.numbers.lambert import lambert_partial
from theory.regret.omegas import omega3_limit
from theory.reuse.counts import boundary_deficits, cohort_deficits
from theory.setting import Constants, Region

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"


class World:
    """Two clients, admissions with an empty round, and what the simulator makes of them."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.draw, self.T, self.K = draw, 6, seed % 3 + 1
        self.each = [[draw.randint(0, 2), draw.randint(0, 2)] for _ in range(self.T)]
        self.each[0], self.each[2:5], self.each[5] = [1, 2], [[0, 0]] * 3, [2, 1]  # some rounds may be idle
        self.rounds = simulate(self.each, self.K)
        self.samples = sorted(
            {one for snapshot in self.rounds for one in snapshot.memory}, key=lambda s: s[1]
        )
        self.N, self.came = len(self.samples), [self._first(sample) for sample in self.samples]
        self.amount = lambda j: Fraction(sum(self.each[j]))
        self.h, self.E, self.start = self.share(), draw.randint(1, 3), self.share()
        self.steps = [self.share() for _ in range(self.T)]
        self.z = [self.share() for _ in self.samples]
        self.D, self.sigma, self.B, self.Pdim = (draw.uniform(0.5, 3) for _ in range(4))
        self.eta, self.rate, self.rho = draw.uniform(0.1, 0.5), draw.uniform(1, 5), self.share()
        self.constants = Constants(
            D=self.D, sigma=self.sigma, eta=self.eta, B=self.B, Pdim=self.Pdim, E=self.E
        )

    def share(self):
        return Fraction(self.draw.randint(1, 9), 10)

    def _first(self, sample):
        return next(t for t, one in enumerate(self.rounds) if sample in one.memory)

    def used(self, t, m, i):
        there = t < self.T and self.samples[i] in self.rounds[t].memory
        return Fraction(there and self.samples[i][0] == m)

    @property
    def cohorts(self):
        last = [max(t for t, r in enumerate(self.rounds) if s in r.memory) for s in self.samples]
        entered, left = np.array(self.came) + 1, np.array(last) + 1
        return Cohorts(entered, left, np.array([Fraction(1)] * self.N, dtype=object))

    @property
    def contractions(self):
        return np.array([[contraction(self.h, eta, self.E)] for eta in self.steps], dtype=object)

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

    def law(self, name, *more):
        """A definition of Law.v about the rounds of this world."""
        return run(f"Law.{name}", 2, self.N, self.used, self.h, lambda t: self.steps[t], self.E, *more)


def reuse(w):
    for t, now in enumerate(w.rounds, start=1):
        cohort = {sample: w.came[i] for i, sample in enumerate(w.samples)}
        uses, about = dict(now.uses), (w.K, t, w.amount)
        counts, plain = (lambda j, t=t: run("Reuse.counts", w.K, t, j)), (t, w.amount)
        for sample, used in uses.items():
            yield "uses", run("Reuse.uses", w.K, cohort[sample], t), used
            yield "counts", counts(cohort[sample]), used
            there = sample in now.memory
            yield "in_memory", run("Reuse.in_memory", w.K, cohort[sample], t - 1), there
            yield "held", run("Reuse.held", w.K, t, cohort[sample]), there
            yield "share", run("Reuse.share", *plain, counts, cohort[sample]), now.weights[sample]
        yield "size", run("Reuse.size", *plain), now.N
        yield "total", run("Reuse.total", *plain, lambda j: Fraction(j)), sum(cohort[s] for s in uses)
        yield "first", run("Reuse.first", *plain, counts), sum(uses.values())
        yield "second", run("Reuse.second", *plain, counts), sum(used**2 for used in uses.values())
        yield "uniformity", run("Reuse.uniformity", *plain, counts), now.uniformity
        yield "variance", run("Reuse.variance", *plain, counts), pvariance(map(Fraction, uses.values()))
        yield "occupancy", run("Reuse.occupancy", *about), now.n
        yield "used_in_memory", run("Reuse.used_in_memory", *about), sum(uses[s] for s in now.memory)
        if now.n:
            yield "mismatch", run("Reuse.mismatch", *about), now.mismatch
        totals = [w.amount(j) for j in range(t)]
        for part, told in enumerate(boundary_deficits(totals, w.K)):
            deficit = run("Reuse.newest", *about, lambda age, K, part=part: cohort_deficits(age, K)[part])
            yield "newest", deficit, told


def law(w):
    models, idle = w.trained(w.z, w.start), [Fraction(0)] * w.N
    for t in range(w.T + 1):
        yield "model", w.law("model", lambda i: w.z[i], w.start, t), models[t]
        yield "left", w.law("left", t), w.trained(idle, Fraction(1))[t]
        yield "trained", run("Law.trained", 2, w.N, w.used, t), sum(one.n > 0 for one in w.rounds[:t])
        for i in range(w.N):
            alone = [Fraction(i == j) for j in range(w.N)]
            yield "weight", w.law("weight", i, t), w.trained(alone, Fraction(0))[t]
    for t, (now, eta) in enumerate(zip(w.rounds, w.steps, strict=True)):
        used = lambda m, i, t=t: w.used(t, m, i)  # noqa: E731
        yield "held", run("Law.held", w.N, used, 1), now.n_of(1)
        yield "occupancy", run("Law.occupancy", 2, w.N, used), now.n
        yield "in_memory", run("Law.in_memory", 2, used, 1), w.samples[1] in now.memory
        yield "left_of", w.law("left_of", t), contraction(w.h, eta, w.E) if now.n else 1
        after = run("Law.one_round", 2, w.N, used, eta, w.h, w.E, lambda i: w.z[i], models[t])
        yield "one_round", after, models[t + 1]
    moved = w.start
    for _ in range(w.E):
        moved -= w.steps[0] * w.h * (moved - w.z[0])
    yield "local_steps", run("Law.local_steps", w.steps[0], w.h, w.E, w.start, w.z[0]), moved
    draws = [w.share() for _ in range(w.T + 1)]
    left, _ = round_shares(w.cohorts, w.T, w.contractions, draws)
    yield "collected", w.law("collected", lambda t: draws[t], 0, w.T + 1), left[0]
    xi = lambda i, _: w.z[i]  # noqa: E731
    off = run("Law.combined", xi, w.N, w.start, lambda i: w.steps[i % w.T], 0)
    yield "combined", off, w.start + sum(w.steps[i % w.T] * z for i, z in enumerate(w.z))
    shares = over_rounds(equal, w.T)
    p, came = final_weights(shares), w.came.__getitem__
    b = [sum(p[t] * w.law("weight", i, t) for t in range(w.T + 1)) for i in range(w.N)].__getitem__
    first = sum(p[t] * w.law("left", t) for t in range(w.T + 1))
    mean = averaged(w.cohorts, w.T, w.contractions, shares)
    yield "left", first, mean.left[-1, 0]
    yield "weight", sum(b(i) ** 2 for i in range(w.N)), mean.squares[-1, 0]
    older = [run("Law.older", w.N, lambda i: came(i), first, lambda i: b(i), k) for k in range(w.T)]
    yield "older", sum(one**2 for one in older), walk_lag(w.cohorts, w.T, w.contractions, shares)[-1, 0]
    path = [[w.share()] for _ in range(w.T + 1)]
    told = path_bias(w.cohorts, w.T, w.contractions, shares, path=path, first=[w.start])[-1, 0]
    about = (w.N, lambda i: came(i), lambda t: path[t][0], w.start, first, lambda i: b(i))
    yield "bias", run("Law.bias", *about, w.T), told


def finite(w):
    a, K, first = w.share(), w.K, w.draw.randint(0, 2)
    both = lambda r, s: len(set(range(max(r, first), r + K)) & set(range(max(s, first), s + K)))  # noqa: E731
    for t in range(w.T + 1):
        pairs = [(i, j, max(K - abs(i - j), 0)) for i in range(t) for j in range(t)]
        yield "lags", run("Finite.lags", a, K, t), sum(a**i * a**j * shared for i, j, shared in pairs)
        yield "tail", run("Finite.tail", a, K, t), sum(a**i * max(K - (t - i), 0) for i in range(t))
        noise = run("Finite.noise", 2, K, w.h, w.steps[0], w.E, 0, t)
        yield "noise", noise, full_memory_noise(contraction(w.h, w.steps[0], w.E), K, t)
        inside = [run("Finite.window", K, first, t, c) for c in range(12)]
        yield "window", inside, [c in range(max(t, first), t + K) for c in range(12)]
    for r, s in ((3, 3), (3, 4), (5, 3)):
        yield "common", run("Finite.common", K, first, r, s), both(r, s)
        told = Fraction(both(r, s), both(r, r) * both(s, s))
        yield "covariance", run("Finite.covariance", K, first, r, s), told
        used = lambda t, c: Fraction(c in range(max(t, first), t + K))  # noqa: E731
        yield "shared", run("Finite.shared", 12, used, r, s), told
    one = lambda t, i: w.used(t, 0, i) + w.used(t, 1, i)  # noqa: E731
    found = [run("Finite.law_weight", w.N, one, w.h, w.steps[0], w.E, i, w.T) for i in range(w.N)]
    same = squared_weights(w.cohorts, contraction(w.h, w.steps[0], w.E), w.T)[-1]
    yield "law_weight", sum(weight**2 for weight in found), same


def memories(w):
    T, K, C = w.T, w.K, Fraction(3, 2)
    kept = [[one.n_of(m) for one in w.rounds] for m in (0, 1)]
    over = sum(max(sum(n - 1 for n in mine), 0) for mine in kept)
    n = lambda m, t: Fraction(kept[m][t])  # noqa: E731
    yield "Control.buffer_violation", run("Control.buffer_violation", T, 2, lambda m: Fraction(1), n), over
    for t, one in enumerate(w.rounds):
        yield "Control.memory", run("Control.memory", K, w.amount, t), one.n
    spent = max(sum(w.amount(t) for t in range(T)) - C * T, 0)
    yield "Control.violation", run("Control.violation", T, C, w.amount), spent
    rate = w.share()
    told = [w.rho ** (s + 1) / (1 - w.rho ** (s + 1)) for s in range(T)]
    yield "Lambert.lambert", run("Lambert.lambert", w.rho, T), lambert_partial(w.rho, T + 1)
    yield (
        "Lambert.log_partial",
        run("Lambert.log_partial", T, rate),
        sum(rate**i / i for i in range(1, T + 1)),
    )
    late = sum(told[s] * (K - min(K, T - s)) for s in range(T))
    yield "Buffers.late", run("Buffers.late", w.rho, K, T), late
    full = simulate_by_capacity([[3], [1], [0], [2], [1]], [3])
    used = lambda t, i: Fraction((0, i) in full[t].memory)  # noqa: E731
    ages = sum(now.uses[sample] for now in full for sample in now.memory)
    yield "Buying.mean_age", run("Buying.mean_age", 7, 5, Fraction(3), used), Fraction(ages, 15)
    yield (
        "Buying.uses",
        [run("Buying.uses", used, i, 5) for i in range(7)],
        [full[-1].uses[0, i] for i in range(7)],
    )
    age = lambda t, i: Fraction(t + i + 1)  # noqa: E731
    saved = sum(savings_price(age(2, i), 4, C) for i in range(4))
    yield "Buying.savings", run("Buying.savings", 4, C, age, 2), saved
    a = w.share()
    yield "Stationary.row", run("Stationary.row", a, K), 1 + 2 * sum(a**d for d in range(1, K + 1))
    yield "Stationary.pairs", run("Stationary.pairs", a, K), K + 2 * lag_sum(a, K)
    yield "Sums.sum", run("Sums.sum", T, w.amount), sum(map(w.amount, range(T)))


def vectors(w):
    """Of the plane: E local steps of two clients move the average by η times what Coq says."""
    x, *targets = (complex(w.share(), w.share()) for _ in range(3))
    shares = [w.share(), w.share()]
    grad = lambda m, at: (1, 2)[m] * (at - targets[m])  # noqa: E731

    def local(m, e):
        before = local(m, e - 1) if e else x
        return before - w.eta * grad(m, before) if e else x

    yield "Learning.minus", run("Learning.minus", x, targets[0]), x - targets[0]
    yield "Learning.norm", run("Learning.norm", x), abs(x)
    yield "Learning.apart", run("Learning.apart", x, targets[0]), abs(x - targets[0]) ** 2
    yield "Learning.vsum", run("Learning.vsum", 2, lambda m: targets[m]), sum(targets)
    moved = run("Learning.moved", w.E, 2, lambda m: shares[m], grad, local)
    told = sum(share * (x - local(m, w.E)) for m, share in enumerate(shares)) / w.eta
    yield "Learning.moved", moved, told


def bounds(w):
    """Of real numbers, up to rounding."""
    K, t, D, s, eta, B, P = w.K, w.T, w.D, w.sigma, w.eta, w.B, w.Pdim
    region = Region(rate=w.rate, rho=float(w.rho))
    largest = run("Buffers.largest", region.rate, region.rho, K, t)
    yield "Buffers.largest", largest, buffer_excess_maximum(K, t, region)
    now, step = w.rounds[-1], w.eta * w.E
    inverse = float(sum(share**2 for share in now.weights.values()))
    yield "Inside.inverse_effective", run("Inside.inverse_effective", K, w.amount, t), inverse
    about = (K, D, s, eta, B, P, 1.5, 2.5, w.E, w.amount, t)
    bound = round_terms(float(now.mismatch), inverse, now.N, w.constants.merged)
    yield "Inside.a_round_of_the_bound", run("Inside.a_round_of_the_bound", *about), bound.total
    printed = round_terms(1 / now.n - inverse, inverse, now.N, w.constants)
    yield (
        "Inside.a_printed_round",
        run("Inside.a_printed_round", *about),
        (printed.root + printed.linear + generalisation_term(inverse, now.N, w.constants)),
    )
    yield "Inside.order", run("Inside.order", 9), math.sqrt(math.log(9) / 9)
    yield "Inside.weight_of", run("Inside.weight_of", 9), math.sqrt(9 / math.log(9))
    yield "Regret.scale", run("Regret.scale", 9), math.sqrt(9 * math.log(9))
    K += 1  # with K = 1 there is no difference
    limit, best = (
        penalty_limit(K, 7, w.rate, w.constants.merged),
        constant_round(1, 7, K * w.rate, w.constants),
    )
    third = limit.generalisation - best.generalisation
    yield "Regret.third", run("Regret.third", B, P, w.rate, float(K), 7.0), third
    two = limit.root + limit.linear - best.root - best.linear
    yield "Regret.two", run("Regret.two", D, s, w.rate, float(K), step, 7.0), two
    yield (
        "Regret.constant",
        2 * run("Regret.constant", B, P, w.rate, float(K)),
        omega3_limit(K, w.rate, w.constants),
    )
    ends = (
        linear_term(1 / (K * w.rate), w.constants) + root_term(1 / (K * w.rate), w.constants),
        generalisation_term(1 / w.rate, w.rate, w.constants),
    )
    yield "Regret.most", run("Regret.most", D, s, eta, B, P, w.rate, float(K)), sum(ends)
    chi, part, N = 0.3, 0.02, 80.0
    terms = run("Design.three_terms", D, s, B, P, lambda n: chi, lambda n: part, lambda n: N, step, 4)
    yield "Design.three_terms", terms, round_terms(chi, part, N, w.constants.merged).total


CASES = {"Reuse": reuse, "Law": law, "Finite": finite, "": memories}


@pytest.mark.parametrize("module", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_coqs_definition_is_its_counterpart(module, seed):
    for name, coq, told in CASES[module](World(seed)):
        assert coq == told, name


@pytest.mark.parametrize("rows", [bounds, vectors])
@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_up_to_rounding_where_there_are_roots_logarithms_and_vectors(rows, seed):
    for name, coq, told in rows(World(seed)):
        assert cmath.isclose(coq, told, rel_tol=1e-9), (name, coq, told)


def test_every_definition_by_hand_is_compared_or_listed_as_abstract():
    by_hand = {f"{m}.{name}" for m in modules() if m not in FORMULAS for name in recorded(m, "defines")}
    compared = {f"{m}.{row[0]}" if m else row[0] for m in CASES for row in CASES[m](World(0))}
    compared |= {row[0] for rows in (bounds, vectors) for row in rows(World(0))}
    table = PAGE.read_text(encoding="utf-8").partition("## Definitions by hand")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.M)
    listed = {name: told for names, told in rows for name in re.findall(r"`(\w+\.\w+)`", names)}
    assert set(listed) == by_hand
    assert {name for name, told in listed.items() if not told.startswith("none: ")} == compared
