r"""Ω₃, constant admission against the oracle (`lem:omega3-order`): the link that sets the regret's order.

The oracle sees KΛ̄ distinct samples a round, constant admission Λ̄. So the two generalisation terms, of order
\(\sqrt{\log t/t}\) each, differ by a factor \(\sqrt K\) and not by a lower-order amount, and the differences add up to
\(\sqrt{T\log T}\).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.omega1 import lipschitz_near_zero
from proofs_check.claims.orders import ALL, HORIZONS, SYMBOLS, UNIT, K, diverges, rate, t, tends_to
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import at_most, equivalent, eventually
from proofs_check.evidence import Evidence
from theory.algebra import ball, log, precise, sqrt
from theory.bound import Terms
from theory.constant_admission import constant_round
from theory.penalty import penalty_limit, penalty_limit_as_stated
from theory.regret import omega3, omega3_as_stated, omega3_limit
from theory.setting import Constants

__all__ = ["OMEGA3", "omega3_order", "table"]


def _round(K: Any, rate: Any, constants: Constants, *, stated: bool, t: Any = t) -> Terms:
    """Round t of Ω₃, as the sum has it."""
    steady = penalty_limit_as_stated if stated else penalty_limit
    return steady(K, t, rate, constants) - constant_round(1, t, K * rate, constants)


@cache
def _total(K: int, T: int, *, stated: bool) -> Any:
    """Certified Ω₃(T), Λ̄ = 10, constants 1, Pdim 5."""
    return (omega3_as_stated if stated else omega3)(K, 10, T, UNIT, certified=True).total


def table(horizons: tuple[int, ...], *, stated: bool) -> dict[str, str]:
    """Certified Ω₃(T), and it over the printed rate and over the true one: K = 10, Λ̄ = 10, constants 1, Pdim 5."""
    rows = {}
    for T in horizons:
        with precise():
            total, scale = _total(10, T, stated=stated), log(ball(T))
            quotients = {"Ω₃": total, "Ω₃/log T": total / scale, "Ω₃/√(T log T)": total / sqrt(T * scale)}
            rows[f"T = {T:.0e}"] = ", ".join(
                f"{name} = {x.str(6, radius=False)}" for name, x in quotients.items()
            )
    limit = sp.N(omega3_limit(10, 10, UNIT), 6)
    return {**rows, "T → ∞": f"Ω₃/log T → ∞, Ω₃/√(T log T) → {limit}"}


def as_printed(context: Context) -> Evidence:
    """Stolz-Cesàro on the printed summand. The certificate begins with the table that shows it."""
    found = at_most(
        eventually(_round(10, 10, UNIT, stated=True).total, t),
        t,
        sp.log(t),
        domain="K = 10, Λ̄ = 10, constants 1, Pdim 5, everything as printed; T → ∞",
    )
    rows = table(context.choose(HORIZONS, tuple(10**e for e in range(3, 16))), stated=True)
    detail = "Ω₃/log T tends to infinity, as the certified sums below show"
    return replace(
        found,
        detail=detail if found.outcome == "fails" else found.detail,
        certificate={**rows, **found.certificate},
    )


@cache
def omega3_order() -> Evidence:
    """All constants, K included, as symbols."""
    total = eventually(_round(K, rate, SYMBOLS, stated=False).total, t)
    return equivalent(total, t, sp.sqrt(t * sp.log(t)), omega3_limit(K, rate, SYMBOLS), domain=ALL)


def certified(context: Context) -> Evidence:
    horizons = context.choose((10**6, 10**15), HORIZONS)

    def off(p: Any) -> Any:
        scale = omega3_limit(ball(p["K"]), ball(10), UNIT.map(ball)) * sqrt(p["T"] * log(ball(p["T"])))
        return abs(_total(p["K"], p["T"], stated=False) / scale - 1)

    found = compare(
        off,
        "<=",
        lambda p: 3 / (2 * log(ball(p["T"]))),
        [{"K": k, "T": T} for k in context.choose((10,), (2, 3, 10, 100)) for T in horizons],
        domain="Λ̄ = 10, constants 1, Pdim 5: |Ω₃/(limit·√(T log T)) - 1| <= 3/(2·log T)",
    )
    return replace(found, certificate={**table(horizons, stated=False), **found.certificate})


def without_reuse() -> Evidence:
    later = 1 + sp.Symbol("s", nonnegative=True)
    total = _round(1, rate, SYMBOLS, stated=False, t=later).total
    return equal(total, 0, domain="K = 1, every t = 1+s >= 1 and every constant", what="a round of Ω₃ and 0")


def discrepancy() -> Evidence:
    return diverges(
        eventually(_round(2, 10, UNIT, stated=True).generalisation, t) * t,
        t,
        what="t times the generalisation terms' difference",
        domain="K = 2, Λ̄ = 10, constants 1, Pdim 5",
        probes=(10**2, 10**6, 10**12),
    )


def discrepancy_order() -> Evidence:
    return tends_to(
        eventually(_round(K, rate, SYMBOLS, stated=False).generalisation, t) * sp.sqrt(t / sp.log(t)),
        t,
        omega3_limit(K, rate, SYMBOLS) / 2,
        what="√(t/log t) times the difference",
        domain=ALL,
    )


OMEGA3 = [
    Claim(
        id="lem:omega3-order",
        kind="lemma",
        title="Ω₃ = O(log T)",
        statement="The limiting comparison penalties exceed the oracle's bound by order log T.",
        latex=r"\Omega_3(T)=O(\log T)",
        unicode="Ω₃(T) = O(log T)",
        domain="K and Λ̄ fixed with KΛ̄ = ΣB, T → ∞",
        checks=(as_printed,),
        corrected=Correction(
            title="Ω₃ ~ 20B√(Pdim/Λ̄)(1-1/√K)·√(T log T); exactly 0 for K = 1",
            statement="Ω₃(T) is asymptotic to 20B√(Pdim/Λ̄)(1-1/√K)·√(T log T). For K = 1 it is exactly 0.",
            latex=r"\Omega_3(T)\sim20B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,\bigl(1-\tfrac1{\sqrt K}\bigr)\sqrt{T\log T}",
            unicode="Ω₃(T) ~ 20B√(Pdim/Λ̄)(1-1/√K)·√(T log T)",
            sketch="In round t the generalisation terms are 10B√(Pdim/(Λ̄t))·√(1+log(Λ̄t/Pdim)) and 1/√K "
            "times the same with KΛ̄; their difference is 10B√(Pdim/Λ̄)(1-1/√K)·√(log t/t) to leading "
            "order, and Σ√(log t/t) ~ 2√(T log T). The other two terms differ by order 1/t, that is log T "
            "in total.",
            checks=(
                lambda: omega3_order().about("K >= 1"),
                lambda context: certified(context).about("K >= 1"),
                lambda: without_reuse().about("K = 1"),
            ),
        ),
    ),
    Claim(
        id="lem:omega3-order/lipschitz",
        kind="step",
        title="the generalisation terms differ by less than O(1/t)",
        statement="The map from 1/N to the generalisation term is Lipschitz near 0, so the terms for Λ̄t "
        "and KΛ̄t samples differ by a lower order than 1/t.",
        latex=r"g(\bar\Lambda t)-g(K\bar\Lambda t)=o(1/t)",
        unicode="g(Λ̄t) - g(KΛ̄t) = o(1/t)",
        domain="K >= 2, t → ∞",
        checks=(lipschitz_near_zero, discrepancy),
        corrected=Correction(
            title="they differ by 10B√(Pdim/Λ̄)(1-1/√K)·√(log t/t)",
            statement="The map is not Lipschitz at 0 but of order √(x·log(1/x)). The terms differ by "
            "10B√(Pdim/Λ̄)(1-1/√K)·√(log t/t), to leading order.",
            latex=r"10B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,\bigl(1-\tfrac1{\sqrt K}\bigr)\sqrt{\log t/t}",
            unicode="10B√(Pdim/Λ̄)(1-1/√K)·√(log t/t)",
            sketch="1/(KΛ̄t) is a fixed fraction of 1/(Λ̄t), however large t is; a function of order √x "
            "then changes by a fixed fraction too.",
            checks=(discrepancy_order,),
        ),
    ),
]
