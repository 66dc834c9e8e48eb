"""How far one sample can move the model, and what that says of the memory's objective.

`remembered` trains every outcome of a few samples, exactly, and has the mean by which the memory's objective is below
the population risk, round by round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, takewhile
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.engines.argument import argument
from proofs_check.engines.exact import Found, admissions, drawn, everywhere, fractions, retentions, unless
from proofs_check.engines.identity import equal, equations, symbolic_sum
from proofs_check.evidence import Evidence
from proofs_check.groundwork.learning.many_rounds import SUMMED, Whole
from proofs_check.groundwork.learning.one_round import c
from proofs_check.simulator import Snapshot, simulate
from proofs_check.symbols import rate
from theory.algebra import ball, precise
from theory.bound import initial_term
from theory.setting import Constants
from theory.sharper import step_constant
from theory.stability import (
    curbed_overlap,
    overlap_by_uses,
    overlap_constant,
    overlaps,
    stability_1,
    stability_constant_bound,
    stability_round,
)

mu, size, used = sp.symbols("mu size used", positive=True)  # `used`: a sample's weights so far, added up
weight = sp.Symbol("weight", nonnegative=True)
e = sp.Symbol("e", integer=True, nonnegative=True)
apart = sp.Symbol("apart", nonnegative=True)
MOVED = 2 * c.eta * c.E * c.G  # by a sample of weight 1, in a round
# of two points x, y: |x-y|², ⟨d, x-y⟩ and |d|², d the difference of the gradients
near, along, square = sp.symbols("near along square", real=True)


# --- two runs that differ in one sample --------------------------------------------------------------------


def cocoercive() -> Evidence:
    """⟨d, x-y⟩ >= |d|²/L for a convex L-smooth f: φ = f - ⟨∇f(x), ·⟩ is least at x; a step of 1/L from y "
    "lowers it."""
    least, stepped, other, here, there = sp.symbols("least stepped other here there", real=True)
    at_x, at_y = sp.symbols("at_x at_y", real=True)  # the gradients along x - y
    lowered = other - square / c.L + c.L / 2 * (square / c.L**2)
    return argument(
        (
            least <= other - square / (2 * c.L),
            [least <= stepped, stepped <= lowered],
            r"$\varphi=f-\langle\nabla f(x),\cdot\rangle$, least at $x$ by convexity; a step of $1/L$ from "
            "$y$, by the descent lemma",
        ),
        (
            at_x - at_y >= square / c.L,
            [here - at_x <= there - square / (2 * c.L), there + at_y <= here - square / (2 * c.L)],
            "that with $x$ and $y$ in both roles, added",
        ),
        domain="every convex $L$-smooth $f$",
    )


def steps_do_not_expand() -> Evidence:
    """|x-y-ηd|² <= |x-y|² for η <= 2/L."""
    return argument(
        cocoercive(),
        (
            near - 2 * c.eta * along + c.eta**2 * square <= near,
            [along >= square / c.L, square >= 0, c.eta <= 2 / c.L],
            r"every $\eta\le2/L$; near $=|x-y|^2$, along $=\langle d,x-y\rangle$, square $=|d|^2$",
        ),
    )


def steps_contract() -> Evidence:
    """|x-y-ηd|² <= (1-ημ)²|x-y|² for η <= 2/(L+μ): f - μ|·|²/2 is convex and (L-μ)-smooth, and cocoercive as "
    "such."""
    rest, rest_square = along - mu * near, square - 2 * mu * along + mu**2 * near
    known = [rest * (c.L - mu) >= rest_square, near >= 0, mu < c.L]
    steep = along * (mu + c.L) >= mu * c.L * near + square
    return argument(
        cocoercive(),
        (steep, known, r"every $\mu<L$: cocoercivity of $f-\mu|\cdot|^2/2$, written out"),
        (
            near - 2 * c.eta * along + c.eta**2 * square <= (1 - c.eta * mu) ** 2 * near,
            [steep, square >= mu**2 * near, near >= 0, c.eta * (c.L + mu) <= 2],
            r"every $\eta\le2/(L+\mu)$; $|d|\ge\mu|x-y|$ by strong convexity",
        ),
    )


def projections_do_not_expand() -> Evidence:
    """|p-q| <= |y-x| for the projections p of y and q of x: the angles at p and q are obtuse."""
    x, y, p, q, turned, at_p, at_q = sp.symbols("x y p q turned at_p at_q", real=True)
    split = (y - p - x + q) ** 2 - 2 * (y - p) * (q - p) - 2 * (x - q) * (p - q) + (p - q) ** 2
    return argument(
        (split, (y - x) ** 2, "four parts and $|y-x|^2$"),
        (
            near <= turned - 2 * at_p - 2 * at_q + near,
            [turned >= 0, at_p <= 0, at_q <= 0],
            r"any convex $\Theta$: near $=|p-q|^2$, at_p $=\langle y-p,q-p\rangle$, at_q $=\langle "
            r"x-q,p-q\rangle$",
        ),
        domain="every coordinate",
    )


def replaced_sample() -> Evidence:
    """A round carries two runs that differ in one sample of client m apart by at most 2ηEG·w_m/n_m more."""
    further, stepped, off, own, other = sp.symbols("further stepped off own other", nonnegative=True)
    local = 2 * c.eta * c.G / size
    round_ = weight * (apart + symbolic_sum(local, e, 0, c.E - 1)) + (1 - weight) * apart
    what = "the average over client $m$, $E$ steps on, and the others; and the distance before + "
    return argument(
        (
            further <= apart + local,
            [
                *(stepped <= apart, further <= stepped + c.eta * off),
                *(off <= (own + other) / size, own <= c.G, other <= c.G),
            ],
            "a local step of client $m$: one of its $n_m$ (size) losses is another one; the step does not "
            "expand",
        ),
        (round_, apart + MOVED * weight / size, what + r"$2\eta EG\,w_m/n_m$"),
        domain=r"every $E$, every weight $w_m$ of client $m$",
    )


def forgotten_sample() -> Evidence:
    """With steps that contract by q = 1-ημ the distance stays below 2G·w̄/μ, w̄ the sample's largest weight "
    "so far."""
    q, limit = 1 - c.eta * mu, 2 * c.G / (size * mu)
    share = sp.Symbol("share", nonnegative=True)  # (1-ημ)^E
    largest, before = sp.symbols("largest before", nonnegative=True)
    closed = q**e * apart + limit * (1 - q**e)
    averaged = weight * (share * apart + limit * (1 - share)) + (1 - weight) * share * apart
    ceiling = 2 * c.G * largest / mu
    return argument(
        (
            sp.expand(q * closed + 2 * c.eta * c.G / size),
            sp.expand(sp.powsimp((q * q**e) * apart + limit * (1 - q * q**e))),
            "one more local step, and the closed form $q^ed+(1-q^e)\\,2G/(n_m\\mu)$ with $e+1$",
        ),
        (
            averaged,
            share * apart + (1 - share) * 2 * c.G * (weight / size) / mu,
            "the average over clients and a mean of the distance before and of $2Gw_i/\\mu$",
        ),
        (
            share * apart + (1 - share) * 2 * c.G * before / mu <= ceiling,
            [apart <= ceiling, before <= largest, share <= 1],
            r"every round, by induction: the largest weight so far, $0\le(1-\eta\mu)^E\le1$",
        ),
        domain=r"every $E$, $\mu$, $\eta$",
    )


# --- from the distance to the risk -------------------------------------------------------------------------


def exchanged() -> Evidence:
    """z_i and an independent copy z' are exchanged: E ℓ(θ; z_i) = E ℓ(θ'; z'), θ' trained with z' in place "
    "of z_i."""
    j, J = sp.symbols("j J", integer=True, positive=True)
    chance, loss = sp.Function("p"), sp.Function("l")  # l(a, b): the loss at z_b of the model trained on z_a
    whole, own = sp.Sum(chance(j), (j, 1, J)), sp.Sum(chance(j) * loss(j, j), (j, 1, J))
    gap, before, after = sp.symbols("gap before after", real=True)
    lipschitz = (
        r"$\ell(\theta;z')-\ell(\theta';z')\le G|\theta-\theta'|$, "
        r"$|\theta-\theta'|\le2\eta EG\sum_{s<t}w_i(s)$"
    )
    same = r"$\mathbb E\,\ell(\theta';z')$, the other copy summed out, and $\mathbb E\,\ell(\theta;z_i)$"
    return argument(
        (whole * own / whole**2, own / whole, same),
        (
            gap <= stability_round(used, c).total,
            [
                sp.Eq(gap, after - before),
                after - before <= c.G * apart,
                apart <= MOVED * used,
                c.eta <= 2 / c.L,
            ],
            lipschitz,
        ),
        domain="any number of values of a sample, any chances, any training",
    )


def curbed() -> Evidence:
    """The smaller of two distances, with every sample's weight in this round: at most the smaller mean."""
    largest = sp.Symbol("largest", positive=True)
    limit = curbed_overlap(used, largest, mu, c)
    one, ceiling = stability_round(limit, c).total, 2 * c.G**2 * largest / mu
    total, each = sp.symbols("total each", nonnegative=True)
    given = [each <= MOVED * c.G * used, each <= ceiling]
    return argument(
        (each <= one, given, r"a sample: $G$ times the smaller distance"),
        (total <= ceiling, [total <= weight * ceiling, weight <= 1], "weights in memory add up to 1 at most"),
    )


def by_uses() -> Evidence:
    """A constant n: every use had the weight 1/n, A_i - 1 of them are over."""
    i, n = sp.symbols("i n", integer=True, positive=True)
    uses = sp.Function("A")
    total = sp.Sum(uses(i), (i, 1, n))
    each = sp.expand(sp.Sum(uses(i) / n**2, (i, 1, n)).simplify()) - symbolic_sum(1 / n**2, i, 1, n)
    return equal(
        each,
        overlap_by_uses(total / n, n),
        domain="any uses of the samples in memory",
        what=r"$\sum_i\frac1n\cdot\frac{A_i-1}n$ and $(\bar A-1)/n$",
    )


def overlap_of(seen: Sequence[Snapshot], weights: Any = None) -> list[tuple[Fraction, Fraction]]:
    """Sample by sample: Σ_i w_i(t)Σ_{s<t}w_i(s) of every round, and the largest earlier weight of one in memory.
    `weights` has the clients' shares, else they are n_m/n."""
    so_far: dict[Any, Fraction] = {}
    most: dict[Any, Fraction] = {}
    found = []
    for one in seen:
        now = {i: weights[i[0]] / one.n_of(i[0]) if weights else Fraction(1, one.n) for i in one.memory}
        total = sum((w * so_far.get(i, 0) for i, w in now.items()), Fraction(0))
        found.append((total, max((most.get(i, Fraction(0)) for i in now), default=Fraction(0))))
        for i, w in now.items():
            so_far[i], most[i] = so_far.get(i, Fraction(0)) + w, max(most.get(i, w), w)
    return found


@drawn(
    "any $K$ and admissions, two clients",
    (15, 600),
    K=retentions(5),
    rounds=admissions(clients=2, rounds=9, most=6),
)
def overlaps_counted(K: int, rounds: list[list[int]]) -> Found:
    """`overlaps`, from admissions, against the samples one by one; rounds without samples end the comparison."""
    seen = simulate(rounds, K)
    empty = next((i for i, one in enumerate(seen) if one.n == 0), len(seen))
    counted = [total for total, _ in overlap_of(seen[:empty])]
    formula = list(overlaps([sum(row) for row in rounds[:empty]], K))
    return unless(counted == formula, counted=counted, formula=formula)


def constant_overlap() -> Evidence:
    """n(s) = min(s, K)Λ̄, and (s - h)Λ̄ samples in common with round s, h = max(t-K, 0)."""
    s, h, more = (sp.Symbol(name, integer=True, nonnegative=True) for name in ("s", "h", "more"))
    filling, horizon = 1 + h, 1 + h + more  # t = 1 + h <= K; then, between, t = K + h with K = 1 + h + more
    ramp, flat = overlap_constant(horizon, filling, rate), overlap_constant(1 + h, 1 + 2 * h + more, rate)
    full = symbolic_sum(s / ((1 + h) ** 2 * rate), s, 1, h)  # here K = 1 + h
    old = symbolic_sum((horizon - h) / horizon, s, h + 1, horizon - 1)
    new = symbolic_sum((s - h) / horizon, s, horizon, horizon + h - 1)
    between = overlap_constant(horizon, horizon + h, rate)
    return argument(
        (
            symbolic_sum(1 / (filling * rate), s, 1, filling - 1),
            ramp,
            r"$\sum_{s<t}n(s)/(n(s)n(t))$ and the closed form, $t\le K$",
        ),
        (full, flat, r"$\sum_{s}s\bar\Lambda/(K\bar\Lambda)^2$ and the closed form, $t\ge2K-1$"),
        (
            (old + new) / (horizon * rate),
            between,
            "the sum of the larger summands and the closed form, between",
        ),
        (
            (s - h) / s <= (horizon - h) / horizon,
            [s <= horizon, s >= h, s > 0],
            r"every summand with $s<K$, $K\le t\le2K-1$",
        ),
        domain=r"every $K$, $t$, rate",
    )


@everywhere("$K$ up to 6, $t\\le20$, rates 1 and 3", K=range(1, 7), rate=(1, 3))
def constant_counted(K: int, rate: int) -> Found:
    """The closed form against the samples one by one: equal up to K and from 2K-1 on, never below."""
    for t, (counted, _) in enumerate(overlap_of(simulate([[rate]] * 20, K)), start=1):
        closed = overlap_constant(K, t, rate)
        if closed < counted or (closed != counted and not K < t < 2 * K - 1):
            return {"t": t, "counted": counted, "closed form": closed}
    return None


def root_rate() -> Evidence:
    """η = a/√T: what is paid once, per round and for old samples is each √T times a number; O(t) <= 1/Λ̄ in "
    "all rounds."""
    a, T, k = (sp.Symbol(name, positive=True) for name in ("a", "T", "k"))
    h, over = sp.symbols("h over", nonnegative=True)
    small = replace(c, eta=a / sp.sqrt(T))
    total = initial_term(small.merged) + T * (step_constant(small) + stability_round(1 / rate, small).total)
    once, each = c.D**2 / (2 * a * c.E), a * c.E * c.G**2 * (sp.Rational(1, 2) + 2 / rate)
    return argument(
        (
            total,
            sp.sqrt(T) * (once + each),
            r"the bound with $O(t)=1/\bar\Lambda$ and $\sqrt T$ times a number",
        ),
        (
            (k - 1 - h + h * (h + 1) / (2 * k)) / (k * rate) <= 1 / rate,
            [h <= k - 1, k >= 1],
            r"the overlap with $h>0$, where $k=K$; with $h=0$ it is $(k-1)/(k\bar\Lambda)$",
        ),
        (
            overlap_constant(1 + over, 1 + over, rate) <= 1 / rate,
            [],
            r"$h=0$, $k=1+$ over",
        ),
        domain=r"every $a$, $T$, $K$, rate; the number has neither $K$ nor a dimension in it",
    )


def kept_for_ever() -> Evidence:
    """A constant n: the curbed overlap has min(A-1, 1/(ηEμ)) for A-1, so that all uses cost 2G²/(nμ) at most."""
    n, uses = sp.symbols("n uses", positive=True)
    both = curbed_overlap(overlap_by_uses(1 + uses, n), 1 / n, mu, c)
    limit = 1 / (c.eta * c.E * mu)
    return argument(
        (n * both <= uses, [], r"any number of uses, every $n$, $\mu$, $\eta$, $E$; uses $=\bar A-1$"),
        (n * both <= limit, [], r"and $1/(\eta E\mu)$"),
        (
            stability_round(limit / n, c).total,
            2 * c.G**2 / (n * mu),
            r"$2\eta EG^2/(n\eta E\mu)$ and $2G^2/(n\mu)$",
        ),
        domain=r"every $n$, $\mu$, $\eta$, $E$",
    )


SMOOTH = replace(SUMMED, L=Fraction(5, 2))


@everywhere("$K=1,2,4$, $T$ up to 12", K=(1, 2, 4), rounds=((1, 1), (3, 2), (2, 12)))
def constant_summed(K: int, rounds: tuple[int, int]) -> Found:
    """The sum to any T against the closed form added round by round."""
    rate, T = rounds
    with precise():
        column = [ball(Fraction(overlap_constant(K, t, rate))) for t in range(1, T + 1)]
        quick = stability_constant_bound(K, rate, T, SMOOTH, certified=True).total
        slow = stability_1(column, SMOOTH.map(ball)).total
    return unless(quick.overlaps(slow) and quick.rad() < 1e-20, quick=quick.str(9), slow=slow.str(9))


STABLE = Whole(
    lambda n, N, V, chi, stale: stability_1(stale, c).terms,
    lambda n, N, V, chi, stale: stability_round(stale, c),
    lambda n, N, V, chi, stale: MOVED * c.G * stale,  # G times the distance, with every sample's weight
    step_constant,
)


# --- all outcomes of a few samples -------------------------------------------------------------------------


@dataclass(frozen=True)
class Few:
    """Losses a/2·θ² + bθ of two atoms, on [-1, 1]; a client sees the first with its own chance."""

    curvature: tuple[Fraction, Fraction]
    slope: tuple[Fraction, Fraction]
    chances: tuple[Fraction, Fraction]
    eta: Fraction
    E: int
    edge: Fraction = Fraction(1)

    def loss(self, z: int, x: Fraction) -> Fraction:
        return self.curvature[z] / 2 * x * x + self.slope[z] * x

    def risk(self, client: int, x: Fraction) -> Fraction:
        p = self.chances[client]
        return p * self.loss(0, x) + (1 - p) * self.loss(1, x)

    def trained(self, x: Fraction, samples: Sequence[int]) -> Fraction:
        """E local steps on the mean loss."""
        a, b = (sum(v[z] for z in samples) / Fraction(len(samples)) for v in (self.curvature, self.slope))
        for _ in range(self.E):
            x -= self.eta * (a * x + b)
        return x

    @property
    def constants(self) -> Constants:
        """L, and a G that holds as far as local steps lead from [-edge, edge]."""
        reach, G = self.edge, Fraction(0)
        for _ in range(self.E):
            G = max(G, *(a * reach + abs(b) for a, b in zip(self.curvature, self.slope, strict=True)))
            reach += self.eta * G
        L, G = (max(*x, Fraction(1, 10**6)) for x in (self.curvature, (G, G)))
        return Constants(D=2 * self.edge, sigma=1, eta=self.eta, B=1, Pdim=1, E=self.E, L=L, G=G)


def remembered(few: Few, seen: Sequence[Snapshot], weights: Any, start: Fraction) -> list[Fraction]:
    """The mean of F_P(θ) - F_mem(θ) at the start of every round, over all outcomes of the samples."""
    samples = list(seen[-1].uses)
    means = [Fraction(0)] * len(seen)
    for outcome in product((0, 1), repeat=len(samples)):
        drawn_ = dict(zip(samples, outcome, strict=True))
        chance = Fraction(1)
        for (client, _), z in drawn_.items():
            chance *= few.chances[client] if z == 0 else 1 - few.chances[client]
        x = start
        for t, one in enumerate(seen):
            shares = weights or [Fraction(one.n_of(m), one.n) for m in (0, 1)]
            after = Fraction(0)
            for m, share in enumerate(shares):
                held = [drawn_[i] for i in one.memory if i[0] == m]
                if held:
                    gap = few.risk(m, x) - sum(few.loss(z, x) for z in held) / Fraction(len(held))
                    means[t] += chance * share * gap
                    after += share * few.trained(x, held)
            x = max(min(after, few.edge), -few.edge)
    return means


UNIT = st.fractions(0, 1, max_denominator=4)
STEP = UNIT.filter(bool)
SIGNED = st.fractions(-1, 1, max_denominator=4)


def _few_samples(K: int, rounds: list[list[int]], shared: bool) -> list[Snapshot]:
    """The first rounds, with at most six samples and no empty one; with shares, no empty client either."""
    seen = simulate(rounds, K)

    def fits(one: Snapshot) -> bool:
        return one.N <= 6 and one.n > 0 and (not shared or all(one.n_of(m) for m in (0, 1)))

    return list(takewhile(fits, seen))


DRAWN: dict[str, Any] = {
    "K": retentions(4),
    "rounds": admissions(clients=2, rounds=4, most=2),
    "curvature": st.tuples(UNIT, UNIT),
    "slope": st.tuples(SIGNED, SIGNED),
    "chances": st.tuples(UNIT, UNIT),
    "share": st.none() | UNIT,
    "step": fractions(Fraction(1, 4), 2),
    "E": st.integers(1, 2),
    "start": SIGNED,
}
FEW = (
    r"$\frac a2\theta^2+b\theta$, two values of a sample, two clients with distributions and shares of their "
    r"own or one distribution and weights $n_m/n$, $E\le2$, all outcomes of at most six samples"
)


def _gap(few: Few, seen: list[Snapshot], weights: Any, start: Fraction, mu: Any = None) -> Found:
    """Whether the mean of F_P(θ) - F_mem(θ) exceeds the bound in a round, curbed where μ is given."""
    k = few.constants
    rounds = (
        zip(remembered(few, seen, weights, start), overlap_of(seen, weights), strict=True) if seen else ()
    )
    for t, (mean, (overlap, largest)) in enumerate(rounds, start=1):
        counted = overlap if mu is None else curbed_overlap(overlap, largest, mu, k)
        most = stability_round(counted, k).total
        if mean > most:
            return {"t": t, "mean": mean, "bound": most}
    return None


def _drawn(chances: Any, share: Fraction | None) -> tuple[Any, Any]:
    """Chances and weights of the clients: of their own, or one distribution and weights n_m/n."""
    return ((chances[0],) * 2, None) if share is None else (chances, [share, 1 - share])


@drawn(rf"{FEW}, $\eta\le2/L$", (12, 800), **DRAWN)
def gap_is_bounded(
    K: int, rounds: Any, curvature: Any, slope: Any, chances: Any, share: Any, step: Any, E: int, start: Any
) -> Found:
    """The mean of F_P(θ) - F_mem(θ) is at most 2ηEG²·O(t) in every round."""
    chances, weights = _drawn(chances, share)
    few = Few(curvature, slope, chances, step, E)
    return _gap(few, _few_samples(K, rounds, weights is not None), weights, start)


@drawn(
    rf"{FEW}, $a\ge1/2$, $\eta\le1$",
    (12, 800),
    **DRAWN
    | {
        "curvature": st.tuples(*[st.sampled_from([Fraction(1, 2), Fraction(1)])] * 2),
        "step": STEP,
    },
)
def curbed_gap_is_bounded(
    K: int, rounds: Any, curvature: Any, slope: Any, chances: Any, share: Any, step: Any, E: int, start: Any
) -> Found:
    """The same with the curbed overlap, for losses that are strongly convex."""
    chances, weights = _drawn(chances, share)
    few = Few(curvature, slope, chances, step, E)
    return _gap(few, _few_samples(K, rounds, weights is not None), weights, start, min(curvature))


@drawn(
    r"$G z\theta$, $z=\pm1$ with equal chances, nowhere near the edge of $\Theta$; at most six samples",
    (6, 300),
    K=retentions(4),
    rounds=admissions(clients=2, rounds=4, most=2),
    G=fractions(),
    step=fractions(),
    E=st.integers(1, 3),
)
def half_is_attained(K: int, rounds: list[list[int]], G: Fraction, step: Fraction, E: int) -> Found:
    """Linear losses with symmetric slopes: the mean is ηEG²·O(t), half of the bound, in every round."""
    few = Few((Fraction(0),) * 2, (G, -G), (Fraction(1, 2),) * 2, step, E, edge=10**6 * G * step)
    seen = _few_samples(K, rounds, False)
    if not seen:
        return None
    half = [stability_round(o, few.constants).total / 2 for o, _ in overlap_of(seen)]
    means = remembered(few, seen, None, Fraction(0))
    return unless(means == half, means=means, half=half)


def half_in_general() -> Evidence:
    """Slopes G·z_i that are independent with mean 0: a sample's use of weight w moves θ by -ηEG·z_i·w."""
    z, other = sp.symbols("z other", real=True)
    moved = -c.eta * c.E * c.G * (used * z + other)
    gap = sp.expand(-c.G * z * moved)
    mean = gap.subs(z**2, 1).subs(z, 0)  # E z² = 1, E z = 0, and `other` is independent of z
    return equations(
        (
            2 * mean,
            stability_round(used, c).total,
            r"twice the mean of $F_P(\theta)-\ell(\theta;z_i)$ and the bound",
        ),
        domain=r"$\ell=Gz\theta$, $z=\pm1$ with equal chances, far from the edge of $\Theta$; every schedule",
    )
