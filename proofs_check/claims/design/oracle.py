r"""Is the costless oracle, always fresh and never reused, the minimiser of the bound
(`eq:kstep-opt-problem/oracle`)?

For a given occupancy n the first two terms *grow* with N_eff: they measure how far the memory is from all
samples seen, and a memory that never changes is all samples seen. So a frozen buffer, filled in round 1 and
kept for ever, has them at 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Correction
from proofs_check.engines.enclosure import compare
from proofs_check.engines.limit import equivalent
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying, refutes, together
from proofs_check.groundwork.design.leading_terms import (
    first_terms_agree,
    share,
    third_term_grows,
    third_terms,
)
from proofs_check.symbols import CONSTANTS, n, total_buffer
from proofs_check.text import said
from theory.algebra import ball
from theory.bound import Terms, generalisation_term, theorem_1
from theory.constant_admission import constant_round, oracle_bound, oracle_bound_as_stated
from theory.setting import Constants

# Losses zθ²⁰⁰ on Θ = [0, 1], z = 0 or 1 with equal chances. Pdim 1: each loss is monotone in θ.
POWER = 200
STEEP = Constants(D=1, sigma=POWER // 2, eta=Fraction(1, 1000), B=1, Pdim=1, L=POWER * (POWER - 1), G=POWER)
SIZE = 100
k = sp.Symbol("k", positive=True)


def steep_facts() -> dict[str, Evidence]:
    """The losses have the constants they are used with: with p = θ¹⁹⁸, the loss is zpθ², its slope 200zpθ, …"""
    theta, p, z = sp.symbols("theta p z", nonnegative=True)
    inside, domain = [theta <= 1, p <= 1], "θ in [0, 1], p = θ¹⁹⁸ in [0, 1], z in [0, 1]"
    c, slope = STEEP, POWER * p * theta
    return {
        "0 <= loss <= B": always(z * p * theta**2 <= c.B, given=[*inside, z <= 1], domain=domain),
        "slope <= G": always(z * slope <= c.G, given=[*inside, z <= 1], domain=domain),
        "curvature <= L": always(z * POWER * (POWER - 1) * p <= c.L, given=[p <= 1, z <= 1], domain=domain),
        "deviation <= σ": always(
            slope**2 / 4 <= c.sigma**2, given=inside, domain=f"{domain}: z is 0 or 1, half and half"
        ),
    }


def _frozen(T: int, constants: Constants) -> Any:
    """The bound of a buffer filled once and kept: n = N = N_eff, χ = 0. Without the per-round constant; a ball."""
    terms = theorem_1([ball(SIZE)], [ball(SIZE)], [ball(1)], [ball(0)], constants.map(ball)).terms
    return T * _three(terms) + terms.initial


def _frozen_beats(oracle: Any, constants: Constants, horizons: tuple[int, ...], form: str) -> Evidence:
    def fresh(p: Any) -> Any:
        terms = oracle(SIZE, p["T"], constants, certified=True).terms
        return _three(terms) + terms.initial

    better = compare(
        lambda p: _frozen(p["T"], constants),
        "<",
        fresh,
        [{"T": T, "n": SIZE} for T in horizons],
        domain=f"{form} bound; losses zθ²⁰⁰ on [0, 1], z = 0 or 1: D=1, σ=100, B=1, Pdim=1, η=1/1000, "
        f"E={constants.E}; ΣB = 100",
    )
    last = better.certificate.get("last", {})
    sides = f"{last.get('left')} against {last.get('right')} at T={last.get('T')}"
    found = refutes(better, f"{form} bound: a buffer filled once and kept beats the fresh oracle: {sides}")
    return obeying(found, steep_facts())


def frozen_beats_as_stated() -> Evidence:
    """The printed bound."""
    return _frozen_beats(oracle_bound_as_stated, STEEP, (10, 10**3, 10**12), "printed")


def frozen_beats_corrected() -> Evidence:
    """The corrected bound, with ten local steps."""
    return _frozen_beats(oracle_bound, replace(STEEP, E=10), (10, 10**3), "corrected")


# --- when the oracle is better -----------------------------------------------------------------------------


def third_term_is_least_when_fresh() -> Evidence:
    """The third terms add up to less at rate n, each sample used once, than at n/K."""
    return always(
        third_terms(total_buffer) < third_terms(total_buffer / k),
        given=[k > 1],
        domain="the same $n$, every $K>1$",
    )


def _three(terms: Terms) -> Any:
    return terms.root + terms.linear + terms.generalisation


def frozen_share(size: Any) -> Any:
    """What the frozen buffer pays more than the oracle, a round, in the long run."""
    return generalisation_term(1 / size, size, CONSTANTS) - share(size)


def against_frozen() -> Evidence:
    """A round's share of the difference, for n = Pdim(1+more) and for n = Pdim/(1+more) samples."""
    t, more = sp.symbols("t more", positive=True)
    found = []
    for size in (CONSTANTS.Pdim * (1 + more), CONSTANTS.Pdim / (1 + more)):
        frozen, oracle = (
            theorem_1([size], [size], [1], [0], CONSTANTS).terms,
            constant_round(1, t, size, CONSTANTS),
        )
        found.append(
            equivalent(
                frozen.root
                + frozen.linear
                + frozen.generalisation
                - oracle.root
                - oracle.linear
                - oracle.generalisation,
                t,
                t,
                frozen_share(size),
                domain=r"$n$ above $\mathrm{Pdim}$, and $n$ below it; $T\to\infty$",
            )
        )
    return together(*found)


CLAIMS = [
    Claim(
        id="eq:kstep-opt-problem/oracle",
        kind="step",
        title="the fresh oracle minimises the bound",
        statement="Without a cost constraint, the bound is least when samples are always fresh and never reused.",
        formula=said(
            r"\bar{\mathcal E}_T^{oracle}=\min_\pi\bar{\mathcal E}_T(\pi)",
        ),
        domain="any policy within the buffers, no cost constraint",
        checks=(frozen_beats_as_stated, frozen_beats_corrected),
        symbols={
            "oracle": r"$\sum B$ fresh samples a round, used once",
            "over": "the minimum is over all policies",
        },
        corrected=Correction(
            title=r"against $K$-step; against frozen if $D\sigma$ is small",
            statement=said(
                "For all large $T$ the oracle's bound is below that of $K$-step retention with constant "
                r"admission and the same occupancy $n$, $K\ge2$. It is below that of a buffer filled "
                "once and kept just if $@share<@third$.",
                share=share(n),
                third=generalisation_term(1 / n, n, CONSTANTS),
            ),
            formula=said(
                r"\lim\tfrac1T(\bar{\mathcal E}_T^{frozen}-\bar{\mathcal E}_T^{oracle})=@gap",
                gap=frozen_share(n),
            ),
            sketch=r"The frozen buffer has $\chi=0$ and $N_{\mathrm{eff}}=n$ in every round; the "
            r"oracle's $\chi$ tends to $1/n$ and its third term to 0. Against $K$-step retention the "
            "first two terms differ by $O(1)$ in total and the third decides.",
            given=(WRITTEN,),
            checks={
                "$K$-step retention: third term": (third_term_grows, third_term_is_least_when_fresh),
                "$K$-step retention: first two terms": first_terms_agree,
                "against a frozen buffer": against_frozen,
            },
            symbols={
                "Ē_frozen": "the bound of a buffer filled once and kept",
                "Ē_oracle": "the oracle's bound",
                "O": "of the order of",
            },
        ),
    ),
]
