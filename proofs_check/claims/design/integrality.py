"""Whole numbers of samples (`eq:lambda-def/integrality`): admissions are counts, the region's ends are not."""

import math

from proofs_check.prelude import *

from theory.control.whole_samples import integer_admissions

x = sp.Symbol("x", positive=True)  # ρ^t
ENDS = {"low": region_minimum(REGION, t), "high": region_maximum(REGION, t)}
below, above = (  # the same in x
    end.subs({sp.exp(t * sp.log(rho)): x, rho**t: x}) for end in ENDS.values()
)
threshold = 1 / (rate + 1)
carry, demand, whole = sp.symbols("carry demand whole", real=True)
left, half = carry + demand - whole, sp.Rational(1, 2)
INSIDE = r"every $\bar\Lambda>0$; $x=\rho^t$ in $(0,1)$"


def whole_numbers(region: Region, t: int) -> range:
    """The whole numbers inside the region in round t."""
    return range(math.ceil(region_minimum(region, t)), math.floor(region_maximum(region, t)) + 1)


def last_choice(rate: int, rho: Fraction) -> int:
    """The last round with more than one whole admission, for a whole rate: the largest t with ρ^t >= 1/(Λ̄+1)."""
    t = 0
    while rho ** (t + 1) * (rate + 1) >= 1:
        t += 1
    return t


@drawn(
    r"$\bar\Lambda$ a multiple of $1/4$ or $1/3$, $\rho=1/2$, $3/4$, $9/10$",
    (300, 300),
    rate=fractions(Fraction(1, 2), 12, max_denominator=4),
    rho=st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)]),
    t=st.integers(1, 40),
)
def region_has_a_whole_number(rate: Fraction, rho: Fraction, t: int) -> Found:
    region = Region(rate=rate, rho=rho)
    ends = {"from": region_minimum(region, t), "to": region_maximum(region, t)}
    return unless(len(whole_numbers(region, t)) > 0, **ends)


@everywhere(r"the paper's MNIST buffers: $\lambda_m=B_m/K^\star$", buffer=(10, 8, 9, 11, 12))
def paper_rates_are_whole(buffer: int) -> Found:
    return unless(buffer % 10 == 0, λ_m=Fraction(buffer, 10))


@everywhere(
    r"$\bar\Lambda=1$, 2, 10 and $\rho=1/2$, $9/10$, $99/100$: the last free round is 238 for 10, $99/100$",
    rate=(1, 2, 10),
    rho=(Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)),
)
def alone_enumerated(rate: int, rho: Fraction) -> Found:
    """The whole numbers in the region, round by round, against that threshold."""
    last, region = last_choice(rate, rho), Region(rate=rate, rho=rho)
    for now in range(1, last + 20):
        inside = whole_numbers(region, now)
        if (len(inside) > 1) != (now <= last) or rate not in inside:
            return {"t": now, "inside": list(inside), "last choice": last}
    return None


@drawn(
    "any rates, up to 4 clients, up to 20 rounds",
    (60, 600),
    rates=st.lists(fractions(0, 12, max_denominator=8), min_size=1, max_size=20),
    split=st.lists(st.integers(1, 6), min_size=1, max_size=4),
)
def totals_stay_close(rates: list[Fraction], split: list[int]) -> Found:
    """Rounding with a carried remainder: each client's total is within 1/2 of its share, whatever the rates were."""
    shares = np.array([Fraction(part, sum(split)) for part in split], dtype=object)
    carry, total, wanted = shares * 0, shares * 0, shares * 0
    for pace in rates:
        admitted, carry = integer_admissions(pace, shares, carry)
        total, wanted = total + admitted, wanted + pace * shares
        if any(abs(2 * (a - b)) > 1 for a, b in zip(total, wanted, strict=True)) or (admitted < 0).any():
            return {"admitted": total.tolist(), "wanted": [str(w) for w in wanted]}
    return None


@everywhere(
    "two rounds at 0, $1/4$, $1/2$, $3/2$ or $13/4$, two clients, room 0 to 3",
    rates=list(product([Fraction(a, 4) for a in (0, 1, 2, 6, 13)], repeat=2)),
    room=list(product(range(4), repeat=2)),
)
def room_is_respected(rates: tuple[Fraction, ...], room: tuple[int, ...]) -> Found:
    """Clients admit no more than their room, and with room enough what they would without a limit."""
    shares = np.array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    carry = free_carry = shares * 0
    for pace in rates:
        free, free_carry = integer_admissions(pace, shares, free_carry)
        admitted, carry = integer_admissions(pace, shares, carry, room=room)
        wanted = [min(a, b) for a, b in zip(free.tolist(), room, strict=True)]
        if admitted.tolist() != wanted or list(carry) != list(free_carry):
            return {"admitted": admitted.tolist(), "wanted": wanted, "carry": [str(c) for c in carry]}
    return None


CLAIMS = [
    Claim(
        id="eq:lambda-def/integrality",
        kind="reading",
        title="admissions in the region are whole",
        statement="In every round the region holds whole numbers of samples to admit, in total and for each client.",
        formula=said(r"\lambda_m(t)\in\mathbb N,\quad\sum_m\lambda_m(t)\in\bigl[@low,\,@high\bigr]", **ENDS),
        domain=r"any target $\bar\Lambda>0$, any $\rho$ in $(0,1)$, any round",
        checks=(region_has_a_whole_number, paper_rates_are_whole),
        symbols={"λ_m": "samples that client $m$ admits"},
        corrected=Correction(
            title=said(r"whole $\bar\Lambda$; constant once $\rho^t<@threshold$", threshold=threshold),
            statement=said(
                r"A whole $\bar\Lambda$ is always inside, and from $\rho^t<@threshold$ on nothing else is: a policy "
                r"in whole numbers inside the region is then constant admission (for $\bar\Lambda=10$ and $\rho=0.99$ "
                "from round 239 on). Rates need not be whole if each client rounds to the nearest and carries the "
                "remainder: its total is never off by more than $1/2$. With a room for each client what does not fit "
                "is refused.",
                threshold=threshold,
            ),
            formula=said(
                r"\rho^t<@threshold\iff\bigl[@low,\,@high\bigr]\cap\mathbb Z=\{\bar\Lambda\}",
                threshold=threshold,
                **ENDS,
            ),
            sketch=r"$\bar\Lambda+1$ leaves the region when $\bar\Lambda/(1-\rho^t)<\bar\Lambda+1$, that is "
            r"$\rho^t<1/(\bar\Lambda+1)$; $\bar\Lambda-1$ has left before, at $\rho^t<1/\bar\Lambda$. Rounding by "
            r"client keeps totals over time, not the region: two clients that share $\bar\Lambda=1$ admit 2, 0, 2, 0, "
            r"$\ldots$",
            hypotheses=(r"$\bar\Lambda$ whole, for the first two parts",),
            checks={
                r"$\bar\Lambda$ is inside": lambda: argument(
                    (sp.Lt(below, rate, evaluate=False), [], INSIDE),
                    (sp.Lt(rate, above, evaluate=False), [x < 1], INSIDE),
                ),
                "alone from then on": (
                    lambda: always(  # both neighbours are outside if and only if ρ^t is below the threshold
                        sp.Equivalent(sp.And(below > rate - 1, above < rate + 1), x < threshold),
                        given=[x < 1],
                        domain=INSIDE,
                    ),
                    confirming(alone_enumerated),
                ),
                "rounding": (
                    lambda: always(  # induction: the remainder is what the totals are off by
                        [left >= -half, left <= half],
                        given=[whole >= carry + demand - half, whole <= carry + demand + half],
                        domain="whole is the integer nearest to carry + demand, of any client in any round",
                    ),
                    confirming(totals_stay_close),
                ),
                "room": room_is_respected,
            },
        ),
    )
]
