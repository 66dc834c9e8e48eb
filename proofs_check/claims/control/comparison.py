r"""Direction of the penalty (`lem:dpp-T-slot-upper/monotone`), and the printed bound on it after a switch to Λ̄."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import region_ends, repaired_penalty
from proofs_check.groundwork.control.orders import LIGHTER, UNIT
from proofs_check.groundwork.control.printed_log import as_printed
from proofs_check.groundwork.control.region_ends import lies_inside, placed, switched
from theory.control.penalty import penalty

r, a, more, first, second, fewer, left = sp.symbols("r a more first second fewer left", positive=True)
# what the correction prints: 1/n - 1/N at its ends
LEAST, MOST, FEWEST = sp.symbols("n_min N_max N_min", positive=True)
GAP = 1 / LEAST - 1 / MOST


def mismatch(memory: Any, seen: Any) -> Any:
    """The factor of both first terms, 1/n - 1/N."""
    return repaired_penalty.mismatch(penalty_terms(memory, seen, CONSTANTS))


def _moved(step: str) -> Any:
    """The penalty at n and N, N larger by what the point has under this name."""
    return lambda p: penalty(ball(p["n"]), ball(p["N"] + p.get(step, 0)), UNIT.map(ball))


def printed_formula() -> Evidence:
    """theory's stated form is the printed one, term by term: n and N at lower bounds, N_max in the logarithm alone."""
    found = []
    for case, (horizon, now) in repaired_penalty.CASES.items():
        _, most, fewest = repaired_penalty.ends(sp.Min(horizon, now), now)
        held = (horizon - 1) * region_minimum(REGION, now - horizon) + rate  # Λ_min(s) = 0 for s <= 0
        terms = penalty_comparison_as_stated(horizon, now, REGION, CONSTANTS)
        third = generalisation_term(1 / fewest, most, CONSTANTS)
        found.append(repaired_penalty.term_by_term(terms, 1 / held - 1 / fewest, third, now, case))
    return together(*found)


def exceeds_as_stated() -> Evidence:
    """One past round, inside the region, after which the penalty of the switch is above the printed bound."""
    # roots of 4/25 and 1/16, and a light generalisation term, so that the example is easy to check by hand
    region, past = Region(rate=4, rho=Fraction(2, 3)), [Fraction(64, 9)]

    def exceeds(K: int) -> Found:
        held, seen = switched(past, K, region.rate)
        values = {
            "p^CK": sp.sympify(penalty(held, seen, LIGHTER)),
            "printed p̄^CK": sp.sympify(penalty_comparison_as_stated(K, 2, region, LIGHTER).total),
        }
        true, printed = values.values()
        shown = {"t": 2, "n^C": held, "N^C": seen, **values}
        shown["decimals"] = {name: str(sp.N(value, 8)) for name, value in values.items()}
        return unless(sp.N(true - printed, 30) <= 0, **shown)

    domain = r"$\bar\Lambda=4$, $\rho=2/3$, $\Lambda(1)=64/9$; $B=1/100$, other constants 1"
    inside = {r"$\Lambda(1)$ inside the region": lies_inside(past, region), "the formula": printed_formula()}
    found = exhaust([{"K": 1}], exceeds, domain=domain)
    return obeying(found, {**inside, **as_printed(region, LIGHTER)})


def exceeds_with_reuse() -> Evidence:
    """The same with K = 2: round 1 at its upper end, round 2 at its lower end."""
    region = Region(rate=2, rho=Fraction(1, 2))
    past = [region_maximum(region, 1), region_minimum(region, 2)]
    held, seen = (ball(v) for v in switched(past, 2, region.rate))
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    found = compare(
        lambda p: penalty(held, seen, numbers),
        "<=",
        lambda p: penalty_comparison_as_stated(2, 3, balls, numbers).total,
        [{"K": 2, "t": 3, "rho": "1/2", "Λ(1)": "4", "Λ(2)": "3/2", "n^C": "7/2", "N^C": "15/2"}],
        domain=r"$\bar\Lambda=2$; $D=\sigma=\eta=1$, $B=1/100$, $\mathrm{Pdim}=1$",
    )
    inside = {"both rounds inside the region": lies_inside(past, region)}
    return obeying(found, {**inside, **as_printed(region, LIGHTER)})


def slope_in_distinct() -> Evidence:
    """N²·dp/dN for N >= Pdim: a part that falls in N (through 1/n - 1/N) less one that grows in N."""
    w, gap = sp.symbols("w gap", positive=True)
    D, sigma, eta, B, P = (getattr(CONSTANTS, name) for name in ("D", "sigma", "eta", "B", "Pdim"))
    seen, L = P * (1 + w), log(1 + w)
    falling = sp.diff(root_term(gap, CONSTANTS) + linear_term(gap, CONSTANTS), gap)
    growing = -(seen**2) / P * sp.diff(generalisation_term(1 / seen, seen, CONSTANTS), w)
    two = 5 * B * sp.sqrt(P * seen) * L / sp.sqrt(1 + L)
    rises = 5 * B * P * ((1 + L) * L + 2 * (1 + L) - L) / (2 * sp.sqrt(1 + w) * (1 + L) ** sp.Rational(3, 2))
    return argument(
        (falling, D * sigma / (2 * sp.sqrt(gap)) + eta * sigma**2, "the falling part, as told,"),
        (growing, two, "the growing part, as told,"),
        (sp.diff(two, w), rises, "its slope and a positive number"),
        domain=r"every gap $1/n-1/N>0$; every $N>\mathrm{Pdim}$, $L=\log(N/\mathrm{Pdim})$",
    )


def turning_point(context: Context) -> Evidence:
    """With all constants 1 and Pdim 5, on both sides of N₀; for n = 10000 it lies between 10002 and 10004."""
    starts = {10: 11, 10**2: 101, 10**4: 10**4 + 3}
    steps = context.choose((1, 10, 10**6), (1, 2, 10, 10**3, 10**6, 10**9))
    return compare(
        _moved("step"),
        "<",
        _moved(""),
        [{"n": m, "N": first, "step": step} for m, first in starts.items() for step in steps],
        domain=r"all constants 1, $\mathrm{Pdim}$ 5: falling from $N=11$, 101, $10{,}003$ on for $n=10$, 100, "
        "$10{,}000$",
    )


@everywhere(
    r"$K=1$, 2, 4, the first rounds, $\rho=1/2$, $5/7$, $\bar\Lambda=3$",
    K=(1, 2, 4),
    t=by_profile(range(1, 7), range(1, 12)),
    rho=(Fraction(1, 2), Fraction(5, 7)),
)
def ends_attained(K: int, t: int, rho: Fraction) -> Found:
    """Lower ends in memory and upper ends before attain the sharp 1/n - 1/N; all upper ends attain N_max."""
    region, gone = Region(rate=3, rho=rho), max(t - K, 0)
    positions = [Fraction(1)] * gone + [Fraction(0)] * (t - 1 - gone)
    held, seen = switched(placed(region, positions), K, region.rate)
    least = region_minimum_window(region, min(K, t), t) + region.rate
    sharp = 1 / Fraction(least) - 1 / Fraction(least + region_maximum_total(region, gone + 1))
    _, most = switched(placed(region, [Fraction(1)] * (t - 1)), K, region.rate)
    return differing(
        histories=(1 / Fraction(held) - 1 / Fraction(seen), most),
        expected=(sharp, region_maximum_total(region, t) + region.rate),
    )


CLAIMS = [
    Claim(
        id="lem:dpp-T-slot-upper/monotone",
        kind="step",
        title=r"$p$ falls in $n$ and in $N$, so $p^{\mathrm{CK}}\le\bar p^{\mathrm{CK}}$",
        statement="The penalty decreases in $n$ and in $N$; so lower bounds on both, put into it, bound the penalty "
        "after the switch from above.",
        formula=r"p\searrow\text{ in }n,N\ \Rightarrow\ p^{CK}(t)\le\bar p^{CK}(t)",
        domain=r"every $n\le N$, every policy inside the region, $t\ge1$",
        repair="Take the largest $N$ in $1/n-1/N$ and the smallest in the third term.",
        checks=(
            exceeds_as_stated,
            exceeds_with_reuse,
            # 1/n - 1/N grows with N; at N = n the root's slope in it is infinite, so p grows there
            lambda: compare(
                _moved("step"),
                "<=",
                _moved(""),
                [{"n": 10**4, "N": 10**4, "step": 1, "D": 1, "sigma": 1, "eta": 1, "B": 1, "Pdim": 5}],
                domain=r"$p(n,N+1)\le p(n,N)$ at $n=N=10{,}000$, all constants 1, $\mathrm{Pdim}$ 5",
            ),
        ),
        corrected=Correction(
            title=r"$p$ falls in $n$ and in $\Lambda$; in $N$ only beyond some $N_0>n$; $\bar p^{\mathrm{CK}}$ needs "
            r"$\Lambda_{\max}$ in $1/n-1/N$",
            statement=r"$p$ falls in $n$, and in $\Lambda$, which moves $n$ and $N$ together. In $N$ alone its first "
            r"two terms grow, with infinite slope at $N=n$, and the third falls: from $\mathrm{Pdim}$ on $p$ rises up "
            "to one $N_0$ and falls beyond. With the smallest $n$ and the largest $N$ in $1/n-1/N$, and the smallest "
            r"$N$ in the third term, it is an upper bound for every history inside the region. Each end is attained, "
            r"$n_{\min}$ and $N_{\max}$ together only for $K=1$; the largest $1/n-1/N$ is "
            r"$1/n_{\min}-1/(n_{\min}+\sum_{j\le t-K}\Lambda_{\max}(j))$.",
            formula=said(
                r"p^{CK}\le@first+@second+@third",
                first=root_term(GAP, CONSTANTS).replace(sp.Max, lambda *x: x[-1] if x[0] == 0 else x[0]),
                second=linear_term(GAP, CONSTANTS),
                third=generalisation_term(1 / FEWEST, FEWEST, CONSTANTS).replace(
                    sp.Max, lambda *x: sp.Max(*x) if 1 in x else x[-1]
                ),
            ),
            symbols={
                "n_min": r"$\bar\Lambda$ and the lower ends of the last $\min(K,t)-1$ rounds",
                "N_max": r"$\bar\Lambda$ and the upper ends of all earlier rounds",
                "N_min": r"$\bar\Lambda$ and the lower ends of all earlier rounds",
            },
            sketch=r"$n^C\ge n_{\min}$ and $N_{\min}\le N^C\le N_{\max}$, sums that theory has in closed form "
            "(induction over $t$). $1/n-1/N$ falls in $n$ and grows in $N$, and the first two terms grow in it. "
            r"The third falls, because $(1+\log x)/x$ has slope $-\log(x)/x^2\le0$. For the sharp form write "
            "$N=n+A$ with $A$ the admissions that have left the memory: lower ends in memory and upper ends before "
            r"attain it. $N^2\cdot dp/dN$ is $D\sigma/(2\sqrt{1/n-1/N})+\eta\sigma^2$, falling in $N$, less "
            r"$5B\sqrt{\mathrm{Pdim}\,N}\,L/\sqrt{1+L}$, $L=\log(N/\mathrm{Pdim})$, growing: one change of sign for "
            r"$N\ge\mathrm{Pdim}$.",
            checks={
                "in $n$": lambda: always(
                    mismatch(n + more, N) < mismatch(n, N),
                    domain="every $n$ and $N$; the third term does not depend on $n$",
                ),
                r"in $\Lambda$": lambda: always(
                    mismatch(r + second, r + a + second) < mismatch(r + first, r + a + first),
                    given=[second > first],
                    domain=r"$n=r+\Lambda$, $N=r+a+\Lambda$, every $r,a>0$: the first two terms fall",
                ),
                "first two terms": repaired_penalty.first_terms_move,
                "third term": repaired_penalty.third_term_falls,
                "the ends are sums": region_ends.SUMS,
                "theory's pieces are at the ends": repaired_penalty.PIECES,
                "sharp, attained": (
                    # A = left: N = n+A, and 1/n - 1/(n+A) falls in n and grows in A
                    lambda: always(
                        1 / n - 1 / (n + left) <= 1 / fewer - 1 / (fewer + more),
                        given=[n >= fewer, left <= more],
                        domain=r"every memory $n\ge n_{\min}$ and every $A\le\sum\Lambda_{\max}(j)$, $j\le t-K$",
                    ),
                    confirming(ends_attained),
                ),
                "beyond $N_0$": (slope_in_distinct, confirming(turning_point)),
            },
        ),
    )
]
