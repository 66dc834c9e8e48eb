"""T rounds: the recursions add up and telescope, and the bounds of `theory/` are the sums that come out."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.learning.one_round import c, chi, step
from proofs_check.groundwork.learning.population import deviation_is_covered
from proofs_check.groundwork.learning.worst_round import rise
from proofs_check.simulator import Snapshot, simulate
from proofs_check.symbols import N, T, neff
from theory import bound, sharper
from theory.algebra import ball, precise
from theory.setting import Constants

# --- the sum of the recursions -----------------------------------------------------------------------------


def telescoping(
    per_round: Callable[[Any], Any], terms: Callable[[Any], Any], constant: Callable[[Constants], Any]
) -> Evidence:
    """Σ_t[d(t) - d(t+1)] = d(1) - d(T+1) for every T, and over 2ηE that is at most the one-time term.

    `per_round` is what a round's recursion adds to the squared distance besides the gap. Over 2ηE it must be the
    bound's constant, which T rounds pay T times, and `terms`, which depend on the round's mismatch χ(t).
    """
    t = sp.Symbol("t", integer=True, positive=True)
    distance, mismatch = sp.Function("d"), sp.Function("chi", nonnegative=True)
    first, last = sp.symbols("first last", real=True)
    fallen = sp.summation(distance(t) - distance(t + 1), (t, 1, T))
    same, varying = sp.expand(per_round(mismatch(t)) / (2 * step)).as_independent(t, as_Add=True)
    telescoped = equal(
        fallen.subs({distance(1): first, distance(T + 1): last}) / (2 * step)
        + symbolic_sum(same, t, 1, T)
        + sp.Sum(varying, (t, 1, T)),
        (first - last) / (2 * step) + T * constant(c) + sp.Sum(sp.expand(terms(mismatch(t))), (t, 1, T)),
        domain=r"every $T$, every sequence of squared distances $d$ and of mismatches $\chi$",
        what=r"the sum of $T$ recursions and $[d(1)-d(T+1)]/(2\eta E)+T$ times the constant + the rounds' terms",
    )
    bounded = always(
        (first - last) / (2 * step) <= bound.initial_term(c.merged),
        given=[first <= c.D**2, last >= 0],
        domain=r"every $D$, $\eta$, $E$; first $=|\theta^1-\theta^\star|^2\le D^2$, last "
        r"$=|\theta^{T+1}-\theta^\star|^2\ge0$",
    )
    return together(telescoped, bounded)


def theorem_telescopes() -> Evidence:
    """The corrected recursion summed over T rounds."""
    return telescoping(
        lambda chi: rise(c, chi),
        lambda chi: bound.root_term(chi, c) + bound.linear_term(chi, c.merged),
        bound.per_round_constant,
    )


def memory_telescopes() -> Evidence:
    """The memory's recursion summed over T rounds."""
    return telescoping(lambda chi: (step * c.G) ** 2, lambda chi: sp.S.Zero, sharper.step_constant)


# --- the bounds of theory/ ---------------------------------------------------------------------------------


def _rows(T: int) -> list[tuple[Any, ...]]:
    """Symbols n, N, Ṽ, χ and stale weight of T rounds."""
    return [sp.symbols(f"n_{i} N_{i} V_{i} chi_{i} stale_{i}", positive=True) for i in range(1, T + 1)]


def _round(one: bound.Terms, links: Any) -> Evidence:
    return equal(
        one.total,
        links,
        domain="all symbols; by the telescoping sum, $T$ such rounds add up",
        what="theory's round and the sum of its links",
    )


def theorem_round() -> Evidence:
    """A round of Theorem 1 corrected is what the recursion leaves of it, and the third term."""
    links = (
        bound.root_term(chi, c) + bound.linear_term(chi, c.merged) + bound.generalisation_term(1 / neff, N, c)
    )
    return _round(bound.round_terms(chi, 1 / neff, N, c.merged), links)


def sharper_round_links() -> Evidence:
    """A round of the sharper bound is what the mismatch costs, and the proved deviation."""
    return _round(
        sharper.sharper_round(chi, 1 / neff, c), bound.root_term(chi, c) + bound.deviation_term(1 / neff, c)
    )


def memory_round_links() -> Evidence:
    """A round of the memory's bound is the uniform deviation of its older samples: 1/N_eff is their squared weights."""
    stale = sp.Symbol("stale", positive=True)
    return _round(sharper.memory_round(stale, c), bound.deviation_term(stale, c))


def assembled(
    whole: Callable[..., Any], one_round: Callable[..., Any], constant: Callable[[Constants], Any]
) -> Evidence:
    """The bound of `theory/` over T rounds is the one-time term, once, and in each round its terms and its constant.

    `theory/` adds up lists in a loop, so that T is a number here: it confirms the code for T = 1, 2, 3.
    """
    found = []
    for rounds in (1, 2, 3):
        rows = _rows(rounds)
        terms = whole(*zip(*rows, strict=True))
        statistical = terms.root + terms.linear + terms.generalisation
        found += [
            equal(left, right, domain=f"$T={rounds}$, all symbols", what=what, strength="certified")
            for left, right, what in (
                (
                    statistical,
                    sum(one_round(*row) for row in rows),
                    "the statistical terms of $T$ rounds and of one",
                ),
                (terms.constant, rounds * constant(c), "the constant of $T$ rounds and of one"),
                (terms.initial, bound.initial_term(c.merged), "the one-time term of $T$ rounds and of one"),
            )
        ]
    return together(*found)


def theorem_terms(n: Any, N: Any, V: Any, chi: Any, stale: Any) -> Any:
    """Theorem 1 corrected on symbols."""
    return bound.theorem_1(n, N, V, chi, c).terms


def sharper_terms(n: Any, N: Any, V: Any, chi: Any, stale: Any) -> Any:
    """The sharper bound on symbols."""
    return sharper.sharper_1(N, V, chi, c).terms


def memory_terms(n: Any, N: Any, V: Any, chi: Any, stale: Any) -> Any:
    """The memory's bound on symbols."""
    return sharper.memory_1(stale, c).terms


def below_theorem_1() -> Evidence:
    """Term by term, at the same σ: same root and one-time term, no linear term, a smaller constant and third term."""
    columns = [[x] for x in _rows(1)[0]]
    larger, smaller = theorem_terms(*columns), sharper_terms(*columns)
    return together(
        equal(smaller.root, larger.root, domain="all symbols", what="the root terms"),
        equal(smaller.initial, larger.initial, domain="all symbols", what="the initial terms"),
        always(
            sp.Lt(smaller.constant, larger.constant, evaluate=False),
            domain=r"every $D$, $\eta$, $E$, $L$, $G$",
        ),
        always(
            sp.Lt(smaller.linear, larger.linear, evaluate=False),
            domain=r"every $\sigma$, $\eta$, $E$, $\chi>0$",
        ),
        deviation_is_covered(),
    )


# --- constant admission --------------------------------------------------------------------------------------

SUMMED = Constants(D=2, sigma=3, eta=Fraction(1, 7), B=5, Pdim=2, E=3, G=Fraction(3, 2))
FINE = 1e-20  # balls that overlap say nothing unless they are small


def _constant_admission(
    fast: Callable[..., bound.Bound], plain: Callable[[list[Snapshot], Constants], bound.Bound]
) -> Evidence:
    """The sum to any T of `theory/` against the bound along the rounds of the sample-level simulator, term by term."""

    def differs(K: int, rate: int, T: int) -> dict[str, Any] | None:
        with precise():
            quick = fast(K, rate, T, SUMMED, certified=True).terms
            slow = plain(simulate([[rate]] * T, K), SUMMED.map(ball)).terms
            for name in ("root", "linear", "generalisation", "constant", "initial"):
                a, b = (ball(getattr(terms, name)) for terms in (quick, slow))
                if not (a.overlaps(b) and a.rad() < FINE and b.rad() < FINE):
                    return {"term": name, "summed": a.str(8), "round by round": b.str(8)}
        return None

    points = [{"K": K, "rate": rate, "T": T} for K in (1, 2, 4) for rate, T in ((1, 1), (3, 2), (2, 9))]
    return exhaust(points, differs, domain="$K=1,2,4$, $T$ up to 9, rates 1 to 3, $E=3$")


def constant_sharper() -> Evidence:
    """The sharper bound under constant admission."""

    def plain(rounds: list[Snapshot], constants: Constants) -> bound.Bound:
        N, V, chi = (
            [ball(Fraction(getattr(r, name))) for r in rounds] for name in ("N", "uniformity", "mismatch")
        )
        return sharper.sharper_1(N, V, chi, constants)

    return _constant_admission(sharper.sharper_constant_bound, plain)


def constant_memory() -> Evidence:
    """The memory's bound under constant admission."""

    def plain(rounds: list[Snapshot], constants: Constants) -> bound.Bound:
        stale = (Fraction(sum(r.uses[i] > 1 for i in r.memory), r.n * r.n) for r in rounds)
        return sharper.memory_1([ball(weight) for weight in stale], constants)

    return _constant_admission(sharper.memory_constant_bound, plain)


def attained() -> Evidence:
    """A slope of G from one end of Θ to the other, M rounds away, uses up both terms: nothing smaller would do."""
    t = sp.Symbol("t", integer=True, nonnegative=True)
    M = sp.Symbol("M", integer=True, positive=True)
    way = M * step * c.G
    excess = symbolic_sum(c.G * (way - t * step * c.G), t, 0, M - 1)
    return equal(
        excess,
        (bound.initial_term(c.merged) + M * sharper.step_constant(c)).subs(c.D, way),
        domain=r"$\Theta=[0,D]$ with $D=M\eta EG$, loss $G\theta$, start at $D$, $T=M$ rounds; every $M$, $\eta$, "
        "$E$, $G$",
        what=r"the cumulative excess risk and $D^2/(2\eta E)+T\eta EG^2/2$",
    )
