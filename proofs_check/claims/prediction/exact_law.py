r"""The law of reuse is exact for quadratic losses with one Hessian (`law:reuse`).

Along an eigendirection the whole federation is one recursion in the mean of all samples in memory, whatever the split;
so the expected excess risk is a transient and a sum of squared weights, for every admission and retention.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust, fractions, search
from proofs_check.engines.identity import equal
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.streams import (
    Quadratic,
    cohorts,
    kept_by_age,
    kept_by_capacity,
)
from proofs_check.symbols import CONSTANTS, t
from proofs_check.text import said
from theory.law import by_age, by_capacity, contraction, excess_risk, squared_weights

F = Fraction
h, n, first, second = sp.symbols("h n n_1 n_2", positive=True)
a, theta, mean, z1, z2, total = sp.symbols("a theta mean z_1 z_2 total", real=True)
c, M, S, G, before = sp.symbols("c M S G before", real=True)
EVERY = "any values: polynomial identities"
SAMPLES = 4  # in an enumerated stream: 3^4 streams

PROBLEM = Quadratic(h=(F(2, 3), F(3, 2)), eta=F(3, 5), E=2, start=(F(5, 2), F(-1)))
# bursts, empty rounds, clients that are empty, rounds without any sample
CASES: tuple[dict[str, Any], ...] = (
    {"admissions": [[1], [1], [1], [1]], "kept": 2},
    {"admissions": [[2], [0], [0], [2], [0]], "kept": 3},
    {"admissions": [[0], [2], [0], [0], [1], [0]], "kept": 2},
    {"admissions": [[1, 1], [0, 1], [1, 0]], "kept": 2},
    {"admissions": [[1, 2], [0, 0], [0, 1]], "kept": 1},
    {"admissions": [[1, 0, 1], [0, 1, 0], [1, 0, 0]], "kept": 3},
    {"admissions": [[4], [0], [0]], "kept": 3},
)


# --- a round -----------------------------------------------------------------------------------------------


def local_steps() -> Evidence:
    """The gradient knows the samples by their mean alone; E steps leave a = (1-ηh)^E of θ, by induction over E."""
    eta, E = CONSTANTS.eta, CONSTANTS.E

    def moved(steps: Any) -> Any:
        left = contraction(h, eta, steps)
        return left * theta + (1 - left) * mean

    def step(x: Any) -> Any:
        return x - eta * h * (x - mean)

    return together(
        equal(
            h * (n * theta - total) / n,
            h * (theta - total / n),
            domain="$n$ samples of the sum `total`",
            what="the mean gradient and that of the mean",
        ),
        equal(moved(0), theta, domain="no step", what=r"$\theta$ and itself"),
        equal(
            step(moved(E)),
            moved(E + 1),
            domain=r"every $E$, $\eta$, $h$",
            what="a step more and the form for $E+1$",
        ),
    )


def clients_merge() -> Evidence:
    """Two clients with weights n_m/n are one client with both memories: so any number of them, one by one."""
    share = first / (first + second)
    pooled = (first * z1 + second * z2) / (first + second)
    return equal(
        share * (a * theta + (1 - a) * z1) + (1 - share) * (a * theta + (1 - a) * z2),
        a * theta + (1 - a) * pooled,
        domain="any two clients",
        what="the server's average and the recursion of the pooled memory",
    )


def squares_add_up() -> Evidence:
    """From c to ac + (1-a)/n for the n samples in memory, to ac for the others: S, M and what is fresh."""
    new = a * c + (1 - a) / n
    gain = a**2 * S + 2 * a * (1 - a) * M / n + (1 - a) ** 2 / n
    return together(
        equal(
            new**2,
            a**2 * c**2 + 2 * a * (1 - a) * c / n + (1 - a) ** 2 / n**2,
            domain=EVERY,
            what="a weight's square and its parts, to be added up over $n$ samples",
        ),
        equal(
            gain,
            (a**2 * S + 2 * a * (1 - a) * M / n) + n * ((1 - a) ** 2 / n**2),
            domain=r"$\sum c^2=S$ over all samples, $\sum c=M$ over those in memory",
            what="the recursion of $S$ and the sum of the parts",
        ),
        equal(
            n * (1 - a) / n + a * M,
            a * M + (1 - a),
            domain="the $n$ samples in memory",
            what="the recursion of $M$",
        ),
    )


def weights_of_a_sample() -> Evidence:
    """c(t+1) = G(t) - a^(t+1-j)·G(j-1) for a sample of round j: its first round, and a round more."""
    age = sp.Symbol("age", integer=True, positive=True)

    def weight(now: Any, rounds: Any) -> Any:
        return now - a**rounds * before

    def grown(x: Any) -> Any:
        return a * x + (1 - a) / n

    return together(
        equal(weight(grown(before), 1), (1 - a) / n, domain="round $j$", what="the first weight"),
        equal(
            weight(grown(G), age + 1),
            grown(weight(G, age)),
            domain="a round more in memory",
            what="$c(t+1)$ and $ac(t)+(1-a)/n$",
        ),
    )


def nothing_else_remains() -> Evidence:
    """E[(a^k x + Σc·y)²] with E y = 0, and variance s² each, independent: no mixed terms are left."""
    k = sp.Symbol("k", integer=True, nonnegative=True)
    x, p, q, s = sp.symbols("x p q s", real=True)  # the first distance, two weights, and a standard deviation
    y1, y2 = sp.symbols("y_1 y_2", real=True)
    square = sp.expand((a**k * x + p * y1 + q * y2) ** 2)
    moments = {y1**2: s**2, y2**2: s**2}
    expected = square.subs(moments).subs({y1: 0, y2: 0})
    return equal(
        expected,
        a ** (2 * k) * x**2 + s**2 * (p**2 + q**2),
        domain="two samples, and by induction any number",
        what="the mean square and transient plus noise",
    )


# --- the whole law -----------------------------------------------------------------------------------------


def _differs(problem: Quadratic, admissions: list[list[int]], kept: int, by: str) -> dict[str, Any] | None:
    memories = (kept_by_age if by == "age" else kept_by_capacity)(admissions, kept)
    T = len(admissions)
    law = excess_risk(
        cohorts(admissions, kept, by=by),
        T,
        h=problem.h,
        variance=problem.variance,
        start=problem.distance,
        eta=problem.eta,
        E=problem.E,
    )
    true = problem.mean_excess(memories)
    if law.total.tolist() == true:
        return None
    return {"enumerated": true, "law": law.total.tolist()}


def every_stream() -> Evidence:
    """Listed cases, by age and by capacity, every stream enumerated: bursts, empty rounds, several clients."""
    return exhaust(
        ({**case, "by": by} for case in CASES for by in ("age", "capacity")),
        lambda admissions, kept, by: _differs(PROBLEM, admissions, kept, by),
        domain=f"{PROBLEM}, each sample one of three points of the plane",
    )


def drawn_streams(context: Context) -> Evidence:
    """Admissions, retention, E, η and eigenvalues drawn at random; up to four samples, 81 streams."""
    steps = st.fractions(F(1, 8), F(5, 4), max_denominator=8)
    problems = st.builds(
        Quadratic,
        h=st.tuples(steps, steps),
        eta=steps,
        E=st.integers(1, 3),
        start=st.tuples(fractions(), fractions()),
    )
    rows = st.integers(1, 3).flatmap(
        lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=1, max_size=5)
    )
    return search(
        context,
        {
            "problem": problems,
            "admissions": rows.filter(lambda r: sum(map(sum, r)) <= SAMPLES),
            "kept": st.integers(1, 4),
            "by": st.sampled_from(["age", "capacity"]),
        },
        _differs,
        domain=r"up to 5 rounds and 3 clients, $E\le3$, by age or by capacity",
        examples=context.choose(40, 400),
    )


def every_contraction() -> Evidence:
    """theory's Σc² as a polynomial in a, against the definition of the weights, sample by sample."""
    bursts = [3, 0, 1, 2, 0, 0, 4, 1]
    found = []
    for name, rule in (("by age, K = 3", by_age(bursts, 3)), ("by capacity 4", by_capacity(bursts, 4))):
        T = len(bursts)
        held = rule.occupancy(T).tolist()
        spans = list(
            zip(rule.entered.tolist(), np.minimum(rule.left, T).tolist(), rule.count.tolist(), strict=True)
        )
        squares = squared_weights(rule, a, T)
        for end in (1, 4, T):
            defined = sum(
                count
                * (
                    (1 - a)
                    * sum(a ** (end - tau) / sp.Integer(held[tau - 1]) for tau in range(i, min(o, end) + 1))
                )
                ** 2
                for i, o, count in spans
            )
            found.append(
                equal(
                    squares[end],
                    defined,
                    domain=f"every a; admissions {bursts}, {name}",
                    what=r"$\sum c^2$ by recursion and by definition",
                )
            )
    return together(*found)


CLAIMS = [
    Claim(
        id="law:reuse",
        kind="addition",
        title="the law of reuse is exact for quadratic losses",
        statement=r"If every loss is $\tfrac12(\theta-z)^{\top}H(\theta-z)$ with one $H$, admission and "
        "dropping are blind to the values of samples, and clients are weighted by $n_m/n$, then the "
        "expected excess risk after any number of rounds is, exactly, a transient that no admission "
        "changes and a noise part, the sum of the squared weights with which samples have entered "
        r"$\theta$. The split over clients does not matter. It holds for every admission sequence, empty "
        "rounds and bursts included, and every rule by which samples leave.",
        formula=said(
            r"\mathbb E[F_P(\theta(t))-F_P(\theta^\star)]=\tfrac12\sum_hh\Bigl(a_h^{2k}(\theta_h(1)-\theta_h^\star)^2"
            r"+s_h^2\sum_ic_{i,h}(t)^2\Bigr),\quad "
            r"c_{i,h}(t)=(1-a_h)\sum_{\tau<t,\,i\in Q(\tau)}\frac{a_h^{@age}}{n(\tau)},\quad a_h=@a",
            age=t - 1 - sp.Symbol("tau", integer=True, positive=True),
            a=contraction(h, CONSTANTS.eta, CONSTANTS.E),
        ),
        domain=r"every $t$, $E$, $\eta$, $H$, admissions and retention by age, by capacity or by any "
        "rule blind to values",
        hypotheses=(
            "every loss is quadratic with the same Hessian $H$",
            r"samples are independent, with one mean $\theta^{\star}$ and one covariance, and clients "
            "are weighted by $n_m/n$",
            "admission and retention do not look at sample values",
        ),
        sketch=r"Work along an eigenvector of $H$. A client's gradient is $h(\theta-\bar z_m)$, so $E$ "
        r"steps take $\theta$ to $a\theta+(1-a)\bar z_m$, $a=(1-\eta h)^E$, whatever its samples; the "
        r"server's average with weights $n_m/n$ is $a\theta+(1-a)\bar z$, $\bar z$ the mean of all "
        "samples in memory. A round without samples changes nothing. Unrolled, "
        r"$\theta(t)-\theta^{\star}$ is $a^k(\theta(1)-\theta^{\star})$ plus $\sum "
        r"c(t)(z-\theta^{\star})$, $k$ being the rounds with samples so far. The weights do not depend "
        r"on values, samples are independent with mean $\theta^{\star}$: mixed terms vanish in the mean, "
        r"and the excess risk is $\tfrac12\sum h$ times the mean square. The weights' squares add up by "
        "a recursion: a weight becomes $ac+(1-a)/n$ in memory and $ac$ outside, so "
        r"$S^{\prime}=a^2S+2a(1-a)M/n+(1-a)^2/n$, where $M$ is the sum of the weights in memory, and "
        r"$M^{\prime}$ = aM + $(1-a)$ less what leaves; a sample of round $j$ has the weight "
        "$G(t)-a^{t+1-j}G(j-1)$ with $G(t)=aG(t-1)+(1-a)/n(t)$.",
        given=(WRITTEN,),
        checks={
            "$E$ steps of a client": local_steps,
            "all clients": clients_merge,
            "no mixed terms": (nothing_else_remains, confirming(every_stream), confirming(drawn_streams)),
            "the weights": (squares_add_up, weights_of_a_sample, confirming(every_contraction)),
        },
        symbols={
            "E": "local steps a round; before a bracket: expectation over all streams",
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "h": "an eigenvalue of $H$",
            "s": "a sample's standard deviation along that eigendirection",
            "c": r"a sample's weight in $\theta$, (before a bracket) as a function of the round",
            "k": "rounds before $t$ that had samples in memory",
        },
    ),
]
