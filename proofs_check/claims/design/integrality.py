r"""Whole numbers of samples (`eq:lambda-def/integrality`): admissions are counts, the region's ends are not.

With a whole target Λ̄ the region always contains it, and nothing else once \(\rho^t<1/(\bar\Lambda+1)\).
With a fractional target it ends up containing no whole number at all. Rounding with a carried remainder
keeps the totals right instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.symbols import REGION
from proofs_check.symbols import rate as target
from proofs_check.symbols import rho as shrinking
from proofs_check.symbols import t as now
from proofs_check.text import said
from theory.admission import integer_admissions
from theory.region import region_maximum, region_minimum
from theory.setting import Region

low, high = region_minimum(REGION, now), region_maximum(REGION, now)
threshold = 1 / (target + 1)


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
        domain=r"$\bar\Lambda$ a multiple of $1/4$ or $1/3$, $\rho=1/2$, $3/4$, $9/10$",
    )


def paper_rates_are_whole() -> Evidence:
    """λ_m = B_m/K* for the paper's MNIST buffers, K* = 10."""

    def find(buffer: int) -> dict[str, Any] | None:
        rate = Fraction(buffer, 10)
        return None if rate.denominator == 1 else {"λ_m = B_m/K*": rate}

    return exhaust(
        ({"buffer": b} for b in (10, 8, 9, 11, 12)),
        find,
        domain="the paper's MNIST buffers, "
        r"$K^{\star}=10$, $\bar\Lambda=10$",
    )


x = sp.Symbol("x", positive=True)  # ρ^t


def _ends() -> tuple[Any, Any]:
    """The region's ends as theory has them, in x = ρ^t."""
    shrink = sp.exp(now * sp.log(shrinking))
    return tuple(sp.simplify(end).subs({shrink: x, shrinking**now: x}) for end in (low, high))


def whole_rate_is_inside() -> Evidence:
    """Λ_min(t) <= Λ̄ <= Λ_max(t)."""
    below, above = _ends()
    domain = "every Λ̄ > 0; x = ρ^t in (0, 1)"
    return together(
        always(sp.Lt(below, target, evaluate=False), domain=domain),
        always(sp.Lt(target, above, evaluate=False), given=[x < 1], domain=domain),
    )


def alone_from_then_on() -> Evidence:
    """Λ̄-1 and Λ̄+1 are outside just if ρ^t < 1/(Λ̄+1), for a whole Λ̄ >= 1."""
    below, above = _ends()
    alone = sp.And(below > target - 1, above < target + 1)
    return always(
        sp.Equivalent(alone, x < threshold),
        given=[x < 1],
        domain=r"every $\bar\Lambda>0$; $x=\rho^t$ in (0, 1)",
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
        domain=r"$\bar\Lambda=1$, 2, 10 and $\rho=1/2$, $9/10$, $99/100$: the last free round is 238 for "
        "10, $99/100$",
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


def room_is_respected() -> Evidence:
    """With a room for each client: nobody admits more, whoever has room enough admits what it would without."""

    def find(rates: tuple[Fraction, ...], room: tuple[int, ...]) -> dict[str, Any] | None:
        shares = np.array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
        carry = free_carry = shares * 0
        for pace in rates:
            free, free_carry = integer_admissions(pace, shares, free_carry)
            admitted, carry = integer_admissions(pace, shares, carry, room=room)
            wanted = [min(a, b) for a, b in zip(free.tolist(), room, strict=True)]
            if admitted.tolist() != wanted or list(carry) != list(free_carry):
                return {"admitted": admitted.tolist(), "wanted": wanted, "carry": [str(c) for c in carry]}
        return None

    paces = [Fraction(a, 4) for a in (0, 1, 2, 6, 13)]
    points = (
        {"rates": rates, "room": room}
        for rates in product(paces, repeat=2)
        for room in product(range(4), repeat=2)
    )
    return exhaust(
        points, find, domain="two rounds at 0, $1/4$, $1/2$, $3/2$ or $13/4$, two clients, room 0 to 3"
    )


def carry_step() -> Evidence:
    """The remainder is what the totals are off by, and rounding to the nearest keeps it within 1/2:
    induction."""
    carry, demand, whole = sp.symbols("carry demand whole", real=True)
    half = sp.Rational(1, 2)
    left = carry + demand - whole
    return always(
        [left >= -half, left <= half],
        given=[whole >= carry + demand - half, whole <= carry + demand + half],
        domain="whole is the integer nearest to carry + demand, of any client in any round",
    )


CLAIMS = [
    Claim(
        id="eq:lambda-def/integrality",
        kind="definition",
        title="admissions in the region are whole",
        statement="In every round the region holds whole numbers of samples to admit, in total and for each "
        "client.",
        formula=said(
            r"\lambda_m(t)\in\mathbb N,\quad\sum_m\lambda_m(t)\in\bigl[@low,\,@high\bigr]",
            low=low,
            high=high,
        ),
        domain=r"any target $\bar\Lambda>0$, any $\rho$ in (0, 1), any round",
        checks=(region_has_a_whole_number, paper_rates_are_whole),
        symbols={
            "λ_m": "samples that client $m$ admits",
            "ℕ": "whole numbers",
            "Σλ_m": "all clients' admissions",
        },
        corrected=Correction(
            title=said(r"whole $\bar\Lambda$; constant once $\rho^t<@threshold$", threshold=threshold),
            statement=said(
                r"A whole $\bar\Lambda$ is always inside, and from $\rho^t<@threshold$ on nothing else "
                "is: a policy in whole numbers inside the region is then constant admission (for "
                r"$\bar\Lambda=10$ and $\rho=0.99$ from round 239 on). Rates need not be whole if each "
                "client rounds to the nearest and carries the remainder: its total is never off by more "
                "than $1/2$. With a room for each client what does not fit is refused.",
                threshold=threshold,
            ),
            formula=said(
                r"\rho^t<@threshold\iff\bigl[@low,\,@high\bigr]\cap\mathbb Z=\{\bar\Lambda\}",
                threshold=threshold,
                low=low,
                high=high,
            ),
            sketch=r"$\bar\Lambda+1$ leaves the region when $\bar\Lambda/(1-\rho^t)<\bar\Lambda+1$, that "
            r"is $\rho^t<1/(\bar\Lambda+1)$; $\bar\Lambda-1$ has left before, at $\rho^t<1/\bar\Lambda$. "
            "Rounding by client keeps totals over time, not the region: two clients that share "
            r"$\bar\Lambda=1$ admit 2, 0, 2, 0, $\ldots$",
            hypotheses=(r"$\bar\Lambda$ whole, for the first two parts",),
            checks={
                r"$\bar\Lambda$ is inside": whole_rate_is_inside,
                "alone from then on": (alone_from_then_on, confirming(alone_enumerated)),
                "rounding": (carry_step, confirming(totals_stay_close)),
                "room": room_is_respected,
            },
            symbols={"holds": "contains, among whole numbers", "alone": "and nothing else"},
        ),
    ),
]
