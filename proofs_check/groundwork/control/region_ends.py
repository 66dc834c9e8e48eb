r"""The region: its ends in symbols, powers of ρ as numbers of their own, and admission sequences inside it."""

from proofs_check.prelude import *

s = sp.Symbol("s", integer=True, nonnegative=True)
k = sp.Symbol("k", integer=True, positive=True)
S = sp.Symbol("S", nonnegative=True)  # the Lambert sum up to round t-1
power = sp.Symbol("rho^t", positive=True)


def plain(expression: Any, now: Any = None) -> Any:
    """ρ^K, ρ^t, … and the Lambert sum of the rounds before `now` as symbols: a rational function of these."""
    found = sp.sympify(expression).replace(sp.exp, lambda x: rho ** sp.expand(sp.cancel(x / sp.log(rho))))
    if now is not None:
        found = found.subs(lambert_partial(rho, now), S)
    powers = {rho**i: sp.Symbol(f"rho^{i}", positive=True) for i in (K, t, k, s)}
    return sp.cancel(sp.expand_power_exp(found).xreplace(powers))


def growth(total: Any, before: Any) -> Any:
    """The difference of a total with the Lambert sum up to round t from one up to t-1, plainly."""
    later = lambert_partial(rho, t + 1)
    index = later.limits[0][0]
    unrolled = sp.Sum(later.function, (index, 1, t - 1)) + later.function.subs(index, t)
    return plain(total.subs(later, unrolled) - before)


def totals_are_sums() -> Evidence:
    """Both totals start at 0 and grow by the round's end: so they are ΣΛ_min and ΣΛ_max over the rounds before t."""
    one, nothing = sp.Integer(1), "no round's total and 0"
    low = plain(region_minimum_total(REGION, t + 1) - region_minimum_total(REGION, t))
    high = growth(region_maximum_total(REGION, t + 1), region_maximum_total(REGION, t))
    return argument(
        (region_minimum_total(REGION, one), 0, nothing),
        (region_maximum_total(REGION, one), 0, nothing),
        (low, plain(region_minimum(REGION, t)), r"the lower total's growth and $\Lambda_{\min}(t)$"),
        (high, plain(region_maximum(REGION, t)), r"the upper total's growth and $\Lambda_{\max}(t)$"),
        domain=r"every $t\ge1$, $\rho$ and $\bar\Lambda$: induction over $t$",
    )


@everywhere(
    r"$t$ up to 30, $\rho=1/5$, $9/10$, $\bar\Lambda=7/3$; balls to 25 digits",
    t=(1, 2, 3, 8, 30),
    rho=(Fraction(1, 5), Fraction(9, 10)),
)
def totals_in_numbers(t: int, rho: Fraction) -> Found:
    """The same on rationals and on balls, whose formula is another one, against sums written out here."""
    region, none = Region(rate=Fraction(7, 3), rho=rho), Fraction(0)
    sums = [sum((region.rate * (1 - rho**j) ** sign for j in range(1, t)), none) for sign in (1, -1)]
    told = [region_minimum_total(region, t), region_maximum_total(region, t)]
    with precise():
        balls = region.map(ball)
        found = [region_minimum_total(balls, ball(t)), region_maximum_total(balls, ball(t))]
        close = all(abs(x - ball(y)) < ball(Fraction(1, 10**25)) for x, y in zip(found, sums, strict=True))
    return unless(told == sums and close, totals=told, balls=found, sums=sums)


SUMS = (totals_are_sums, confirming(totals_in_numbers))


# --- admissions inside the region ---------------------------------------------------------------------------


def histories(rounds: int = 10) -> st.SearchStrategy[list[Fraction]]:
    """The place in the region of each past admission: 0 at its lower end, 1 at its upper end."""
    ends = st.sampled_from([Fraction(0), Fraction(1)])
    return st.lists(st.one_of(ends, fractions(0, 1, max_denominator=8)), max_size=rounds)


def corners(rounds: int) -> Iterator[tuple[Fraction, ...]]:
    """Every choice of a lower or an upper end in each of the rounds: the extreme points of all histories."""
    return product((Fraction(0), Fraction(1)), repeat=rounds)


def placed(region: Region, positions: Sequence[Fraction]) -> list[Fraction]:
    ends = [(region_minimum(region, t), region_maximum(region, t)) for t in range(1, len(positions) + 1)]
    return [low + (high - low) * position for (low, high), position in zip(ends, positions, strict=True)]


def switched(past: Sequence[Any], K: int, rate: Any) -> tuple[Any, Any]:
    """n^C and N^C: what is in memory, and was ever admitted, when the round after `past` admits `rate`."""
    held = past[len(past) - min(K - 1, len(past)) :]
    return sum(held) + rate, sum(past) + rate


def lies_inside(admitted: Sequence[Any], region: Region) -> Evidence:
    """That each round's admission lies in the region, exactly: a hypothesis of every counterexample about it."""

    def outside(t: int) -> Any:
        low, high, amount = region_minimum(region, t), region_maximum(region, t), admitted[t - 1]
        return unless(low <= amount <= high, Λ=amount, Λ_min=low, Λ_max=high)

    return exhaust(
        grid(t=range(1, len(admitted) + 1)),
        outside,
        domain=rf"the {len(admitted)} admissions of the example, $\bar\Lambda={region.rate}$, $\rho={region.rho}$",
    )
