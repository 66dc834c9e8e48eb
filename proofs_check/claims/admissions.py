r"""Whole numbers of samples (`eq:lambda-def/integrality`): admissions are counts, the region's ends are not.

With a whole target Λ̄ the region always contains it, and nothing else once \(\rho^t<1/(\bar\Lambda+1)\).
With a fractional target it ends up containing no whole number at all. Rounding with a carried remainder
keeps the totals right instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence
from theory.admission import integer_admissions
from theory.region import region_maximum, region_minimum
from theory.setting import Region

__all__ = ["INTEGRALITY", "last_choice"]


def whole_numbers(region: Region, t: int) -> range:
    """The whole numbers inside the region in round t."""
    return range(math.ceil(region_minimum(region, t)), math.floor(region_maximum(region, t)) + 1)


def last_choice(rate: int, rho: Fraction) -> int:
    """The last round with more than one whole admission, for a whole rate: the largest t with ρ^t >=
    1/(Λ̄+1)."""
    t = 0
    while rho ** (t + 1) * (rate + 1) >= 1:
        t += 1
    return t


def region_has_a_whole_number(context: Context) -> Evidence:
    """Any positive rate."""

    def find(rate: Fraction, rho: Fraction, t: int) -> dict[str, Any] | None:
        region = Region(rate=rate, rho=rho)
        if whole_numbers(region, t):
            return None
        return {"from": region_minimum(region, t), "to": region_maximum(region, t)}

    rates = st.fractions(Fraction(1, 2), 12, max_denominator=4)
    rhos = st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)])
    return search(
        context,
        {"rate": rates, "rho": rhos, "t": st.integers(1, 40)},
        find,
        examples=300,
        domain="Λ̄ a multiple of 1/4 or 1/3, ρ = 1/2, 3/4, 9/10",
    )


def paper_rates_are_whole() -> Evidence:
    """λ_m = B_m/K* for the paper's MNIST buffers, K* = 10."""

    def find(buffer: int) -> dict[str, Any] | None:
        rate = Fraction(buffer, 10)
        return None if rate.denominator == 1 else {"λ_m = B_m/K*": rate}

    return exhaust(
        ({"buffer": b} for b in (10, 8, 9, 11, 12)), find, domain="the paper's MNIST buffers, K* = 10, Λ̄ = 10"
    )


def whole_rate_is_inside() -> Evidence:
    """Λ̄(1-ρ^t) <= Λ̄ <= Λ̄/(1-ρ^t)."""
    target, inside = sp.symbols("target inside", positive=True)
    return always(
        sp.And(target * inside <= target, target <= target / inside),
        given=[inside < 1],
        domain="every Λ̄ > 0; inside = 1-ρ^t in (0, 1)",
    )


def alone_from_then_on() -> Evidence:
    """Λ̄-1 and Λ̄+1 are outside just if ρ^t < 1/(Λ̄+1), for a whole Λ̄ >= 1."""
    target, shrink = sp.symbols("target shrink", positive=True)
    alone = sp.And(target * (1 - shrink) > target - 1, target / (1 - shrink) < target + 1)
    return always(
        sp.Equivalent(alone, shrink < 1 / (target + 1)),
        given=[target >= 1, shrink < 1],
        domain="every Λ̄ >= 1; shrink = ρ^t in (0, 1)",
    )


def alone_enumerated() -> Evidence:
    """The whole numbers in the region, round by round, against that threshold."""

    def points() -> Iterable[dict[str, Any]]:
        for rate in (1, 2, 10):
            for rho in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)):
                yield {"rate": rate, "rho": rho}

    def find(rate: int, rho: Fraction) -> dict[str, Any] | None:
        last, region = last_choice(rate, rho), Region(rate=rate, rho=rho)
        for t in range(1, last + 20):
            inside = whole_numbers(region, t)
            if (len(inside) > 1) != (t <= last) or rate not in inside:
                return {"t": t, "inside": list(inside), "last choice": last}
        return None

    return exhaust(
        points(),
        find,
        domain="Λ̄ = 1, 2, 10 and ρ = 1/2, 9/10, 99/100: the last free round is 238 for 10, 99/100",
    )


def totals_stay_close(context: Context) -> Evidence:
    """Rounding with a carried remainder: each client's total is within 1/2 of its share, whatever the rates
    were."""

    def find(rates: list[Fraction], split: list[int]) -> dict[str, Any] | None:
        shares = np.array([Fraction(part, sum(split)) for part in split], dtype=object)
        carry, total, wanted = shares * 0, shares * 0, shares * 0
        for rate in rates:
            admitted, carry = integer_admissions(rate, shares, carry)
            total, wanted = total + admitted, wanted + rate * shares
            if any(abs(2 * (a - b)) > 1 for a, b in zip(total, wanted, strict=True)) or (admitted < 0).any():
                return {"admitted": total.tolist(), "wanted": [str(w) for w in wanted]}
        return None

    drawn = {
        "rates": st.lists(st.fractions(0, 12, max_denominator=8), min_size=1, max_size=20),
        "split": st.lists(st.integers(1, 6), min_size=1, max_size=4),
    }
    return search(
        context,
        drawn,
        find,
        domain="any rates, up to 4 clients, up to 20 rounds",
        examples=context.choose(60, 600),
    )


def carry_step() -> Evidence:
    """The remainder is what the totals are off by, and rounding to the nearest keeps it within 1/2:
    induction."""
    carry, demand, whole = sp.symbols("carry demand whole", real=True)
    half = sp.Rational(1, 2)
    left = carry + demand - whole
    return always(
        sp.And(left >= -half, left <= half),
        given=[whole >= carry + demand - half, whole <= carry + demand + half],
        domain="whole is the integer nearest to carry + demand, of any client in any round",
    )


INTEGRALITY = Claim(
    id="eq:lambda-def/integrality",
    kind="definition",
    title="admissions in the region are whole",
    statement="In every round the region holds whole numbers of samples to admit, in total and for each "
    "client.",
    latex=r"\lambda_m(t)\in\mathbb N,\quad\sum_m\lambda_m(t)\in[\bar\Lambda(1-\rho^t),\bar\Lambda/(1-"
    r"\rho^t)]",
    unicode="λ_m(t) ∈ ℕ, Σλ_m ∈ [Λ̄(1-ρ^t), Λ̄/(1-ρ^t)]",
    domain="any target Λ̄ > 0, any ρ in (0, 1), any round",
    checks=(region_has_a_whole_number, paper_rates_are_whole),
    corrected=Correction(
        title="whole Λ̄; constant once ρ^t < 1/(Λ̄+1)",
        statement="A whole Λ̄ is always inside, and from ρ^t < 1/(Λ̄+1) on nothing else is: a policy in whole "
        "numbers inside the region is then constant admission (for Λ̄ = 10 and ρ = 0.99 from round 239 on). "
        "Rates need not be whole if each client rounds to the nearest and carries the remainder: its total "
        "is never off by more than 1/2.",
        latex=r"\rho^t<\tfrac1{\bar\Lambda+1}\iff[\bar\Lambda(1-\rho^t),\bar\Lambda/(1-\rho^t)]\cap"
        r"\mathbb Z=\{\bar\Lambda\}",
        unicode="ρ^t < 1/(Λ̄+1) ⇔ the region holds Λ̄ alone",
        sketch="Λ̄+1 leaves the region when Λ̄/(1-ρ^t) < Λ̄+1, that is ρ^t < 1/(Λ̄+1); Λ̄-1 has left before, at "
        "ρ^t < 1/Λ̄. Rounding by client keeps totals over time, not the region: two clients that share Λ̄ = 1 "
        "admit 2, 0, 2, 0, …",
        hypotheses=("Λ̄ whole, for the first two parts",),
        checks=(
            lambda: whole_rate_is_inside().about("Λ̄ is inside"),
            lambda: alone_from_then_on().about("alone from then on"),
            lambda: alone_enumerated().about("alone from then on"),
            lambda: carry_step().about("rounding"),
            lambda context: totals_stay_close(context).about("rounding"),
        ),
    ),
)
