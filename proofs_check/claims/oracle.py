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

from proofs_check.claim import Claim, Correction
from proofs_check.engines.enclosure import compare
from proofs_check.engines.limit import converges, equivalent
from proofs_check.evidence import Evidence, refutes, together
from theory.algebra import ball
from theory.bound import linear_term, root_term, theorem_1
from theory.constant_admission import constant_round, oracle_bound, oracle_bound_as_stated
from theory.setting import Constants

__all__ = ["ORACLE", "first_terms_agree", "third_term_grows"]

# Losses zθ²⁰⁰ on Θ = [0, 1], z = 0 or 1 with equal chances: convex, in [0, 1], slopes at most 200,
# of deviation 100 at θ = 1
STEEP = Constants(D=1, sigma=100, eta=Fraction(1, 1000), B=1, Pdim=1, L=200 * 199, G=200)
SIZE = 100


def frozen_round(n: Any, constants: Constants) -> Any:
    """A round of training on the same n samples, admitted in round 1: nothing is dropped, n = N = N_eff and
    χ = 0."""
    return theorem_1([n], [n], [1], [0], constants).terms


def _frozen(T: int, constants: Constants) -> Any:
    """The frozen buffer's bound, without the per-round constant that every policy pays alike; a ball.

    Its mismatch is 0, so stated and corrected form differ in the one-time term alone, D²/(2η) against
    D²/(2ηE).
    """
    terms = theorem_1([ball(SIZE)], [ball(SIZE)], [ball(1)], [ball(0)], constants.map(ball)).terms
    return T * (terms.root + terms.linear + terms.generalisation) + terms.initial


def _frozen_beats(oracle: Any, constants: Constants, horizons: tuple[int, ...], form: str) -> Evidence:
    def fresh(p: Any) -> Any:
        terms = oracle(SIZE, p["T"], constants, certified=True).terms
        return terms.root + terms.linear + terms.generalisation + terms.initial

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
    return refutes(better, f"{form} bound: a buffer filled once and kept beats the fresh oracle: {sides}")


def frozen_beats_as_stated() -> Evidence:
    """The printed bound."""
    return _frozen_beats(oracle_bound_as_stated, STEEP, (10, 10**3, 10**12), "printed")


def frozen_beats_corrected() -> Evidence:
    """The corrected bound, with ten local steps."""
    return _frozen_beats(oracle_bound, replace(STEEP, E=10), (10, 10**3), "corrected")


# --- when the oracle is better -----------------------------------------------------------------------------

D, sigma, eta, B, Pdim, S, more = sp.symbols("D sigma eta B Pdim S more", positive=True)
K = sp.Symbol("K", integer=True, positive=True)
t = sp.Symbol("t", positive=True)
SYMBOLIC = Constants(D=D, sigma=sigma, eta=eta, B=B, Pdim=Pdim)


def third_term_grows() -> Evidence:
    """K-step retention, occupancy S: the third terms add up to 20B√(Pdim·K/S)·√(T log T), more the larger K.

    Root and linear terms of different K differ by O(1/t²) only.
    """
    return equivalent(
        constant_round(K, t, S / K, SYMBOLIC).generalisation,
        t,
        sp.sqrt(t * sp.log(t)),
        20 * B * sp.sqrt(Pdim * K / S),
        domain="constant admission S/K, any K; T → ∞",
    )


def first_terms_agree() -> Evidence:
    """Full buffers: up to O(1/t²) the first two terms are 1 - 1/(2t) and 1 - 1/t of their limits, whatever K
    is."""
    terms = constant_round(K, t, sp.Integer(1) / K, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1))
    domain = "full buffers, any K; D, σ, η and ΣB only scale the terms"
    root = converges(terms.root - 1 + 1 / (2 * t), t, power=2, domain=domain)
    return together(root, converges(terms.linear - 1 + 1 / t, t, power=2, domain=domain))


def against_frozen() -> Evidence:
    """A round's share of the difference: 10B√(Pdim(1+log(n/Pdim))/n) - Dσ/√n - ησ²/n, with n =
    Pdim(1+more)."""
    n = Pdim * (1 + more)
    frozen, oracle = frozen_round(n, SYMBOLIC).generalisation, constant_round(1, t, n, SYMBOLIC)
    share = frozen - root_term(1 / n, SYMBOLIC) - linear_term(1 / n, SYMBOLIC)
    return equivalent(
        frozen - oracle.root - oracle.linear - oracle.generalisation,
        t,
        t,
        share,
        domain="n >= Pdim samples; T → ∞",
    )


ORACLE = Claim(
    id="eq:kstep-opt-problem/oracle",
    kind="step",
    title="the fresh oracle minimises the bound",
    statement="Without a cost constraint, the bound is least when samples are always fresh and never reused.",
    latex=r"\bar{\mathcal E}_T^{oracle}=\min_\pi\bar{\mathcal E}_T(\pi)",
    unicode="Ē_T(oracle) = min over π of Ē_T(π)",
    domain="any policy within the buffers, no cost constraint",
    checks=(frozen_beats_as_stated, frozen_beats_corrected),
    corrected=Correction(
        title="against K-step; against frozen if Dσ is small",
        statement="For all large T the oracle's bound is below that of K-step retention with constant "
        "admission and the same occupancy n, K >= 2. It is below that of a buffer filled once and kept just "
        "if Dσ + ηEσ²/√n < 10B√(Pdim(1 + log⁺(n/Pdim))).",
        latex=r"\lim\tfrac1T(\bar{\mathcal E}^{frozen}-\bar{\mathcal E}^{oracle})=\tfrac1{\sqrt n}\bigl(10B"
        r"\sqrt{\mathrm{Pdim}"
        r"(1+\log^+\tfrac n{\mathrm{Pdim}})}-D\sigma-\tfrac{\eta E\sigma^2}{\sqrt n}\bigr)",
        unicode="lim (Ē_frozen - Ē_oracle)/T = [10B√(Pdim(1+log⁺(n/Pdim))) - Dσ - ηEσ²/√n]/√n",
        sketch="The frozen buffer has χ = 0 and N_eff = n in every round; the oracle's χ tends to 1/n and "
        "its third term to 0. Against K-step retention the first two terms differ by O(1) in total and the "
        "third decides.",
        checks=(
            lambda: third_term_grows().about("K-step retention: third term"),
            lambda: first_terms_agree().about("K-step retention: first two terms"),
            lambda: against_frozen().about("against a frozen buffer"),
        ),
    ),
)
