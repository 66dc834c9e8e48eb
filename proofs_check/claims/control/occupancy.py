"""Memory left by a switch to Λ̄ in round t: `eq:nc-Nc`, `eq:nc-lb`, the early rounds of the printed bound."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import region_ends as ends
from proofs_check.groundwork.control.region_ends import k, plain, power, s
from theory.control.region import contraction

# of t = k+s rounds s have left the memory
WINDOW = region_minimum_window(REGION, k, k + s).replace(sp.exp, lambda x: rho ** (x / sp.log(rho))) + rate
INSIDE = {"K": retentions(5), "region": exact.regions(), "positions": ends.histories()}
ANY = r"any admissions inside the region, every $t\ge1$"
SYMBOLS = {"n^C": "samples in memory after the switch"}


def occupancy(formula: Callable[[dict[str, int]], int]) -> Check:
    """A formula for n^C, and N(t-1)+Λ̄ for N^C, against samples counted one by one."""

    @drawn(
        r"sample-level simulation, any $K$ and admissions, the last round switched to $\bar\Lambda=3$",
        (60, 400),
        K=retentions(5),
        rounds=admissions(rounds=8, most=9),
    )
    def check(K: int, rounds: list[list[int]]) -> Found:
        t, total = len(rounds), [sum(row) for row in rounds]
        real, other = simulate(rounds, K), simulate([*rounds[:-1], [3]], K)[-1]
        before = (real[-2].n, real[-2].N) if t > 1 else (0, 0)
        seen = {"n(t)": real[-1].n, "n(t-1)": before[0], "Λ(t)": total[-1]}
        seen["Λ(t-K)"] = total[t - 1 - K] if t > K else 0
        return differing(simulated=(other.n, other.N), formula=(formula(seen) + 3, before[1] + 3))

    return check


def occupancy_identity() -> Evidence:
    """With S(t) the admissions up to t: n(t) = S(t) - S(t-K), and Λ(t) = S(t) - S(t-1)."""
    now, before, dropped, older, rate = sp.symbols("S(t) S(t-1) S(t-K) S(t-K-1) rate", real=True)
    window = before - dropped + rate
    previous, same = (before - older) - (dropped - older) + rate, (now - dropped) - (now - before) + rate
    return argument(
        (window, previous, r"$n^C$ and $n(t-1)-\Lambda(t-K)+\bar\Lambda$"),
        (window, same, r"$n^C$ and $n(t)-\Lambda(t)+\bar\Lambda$"),
        domain="every $K$, $t$ and admissions ($S$ is 0 before round 1)",
    )


def window_term() -> Evidence:
    """Each of the K-1 admissions j = t-K+1, …, t-1 is at least Λ_min(j) >= Λ_min(t-K); one more round, by induction."""
    held, least, admitted, count = sp.symbols("held least admitted count", nonnegative=True)
    domain = r"one more of the $K-1$ older admissions, $t>K$; with none the memory holds $\bar\Lambda$"
    before = [held >= count * least + rate, admitted >= least]
    return always(held + admitted >= (count + 1) * least + rate, given=before, domain=domain)


@drawn(rf"{ANY}, $\Lambda_{{\min}}=0$ before round 1", (60, 400), **INSIDE)
def occupancy_bound_exact(K: int, region: Region, positions: list[Fraction]) -> Found:
    t, (held, _) = len(positions) + 1, ends.switched(ends.placed(region, positions), K, region.rate)
    bound = (K - 1) * region_minimum(region, t - K) + region.rate
    return unless(held >= bound, t=t, held=held, bound=bound)


@everywhere(r"$\rho=1/2$, $K$ and $t$ up to 3; the reciprocal is taken", K=(1, 2, 3), t=(1, 2, 3))
def early_rounds_as_stated(K: int, t: int) -> Found:
    """Λ_min(t-K) = Λ̄(1-ρ^(t-K)) as printed, with its formula, for t < K."""
    held = (K - 1) * contraction(Region(rate=1, rho=Fraction(1, 2)), t - K) + 1
    return unless(held > 0, **{"(K-1)Λ_min(t-K)+Λ̄, Λ̄ = 1": held})


@drawn(f"{ANY}; equality when every round is at its lower end", (60, 400), **INSIDE)
def early_rounds_exact(K: int, region: Region, positions: list[Fraction]) -> Found:
    """n^C against theory's window on drawn histories, and equal to it on the history of all lower ends."""
    held, lowest = (
        ends.switched(ends.placed(region, past), K, region.rate)[0]
        for past in (positions, [Fraction(0)] * len(positions))
    )
    t = len(positions) + 1
    bound = region_minimum_window(region, min(K, t), t) + region.rate
    return unless(held >= bound == lowest, held=held, bound=bound, lowest=lowest)


def window_positive() -> Evidence:
    """Σ of lower ends, each at least 0, plus Λ̄ > 0."""
    lower, held = sp.symbols("lower held", real=True)
    end = sp.Ge(plain(region_minimum(REGION, t)), 0, evaluate=False)
    return argument(
        (held + lower >= rate, [held >= rate, lower >= 0], r"one more lower end; with none $\bar\Lambda>0$"),
        (end, [power < 1], r"every $t\ge1$, $0<\rho<1$"),
    )


CLAIMS = [
    Claim(
        id="eq:nc-Nc",
        kind="equation",
        substance="corrected",
        title=r"$n^C(t)=n(t)-\Lambda(t-K)+\bar\Lambda$",
        statement=r"Switching to $\bar\Lambda$ in round $t$ leaves $n(t)-\Lambda(t-K)+\bar\Lambda$ samples in memory "
        r"and $N(t-1)+\bar\Lambda$ seen.",
        formula=r"n^C(t)=n(t)-\Lambda(t-K)+\bar\Lambda,\quad N^C(t)=N(t-1)+\bar\Lambda",
        domain=r"every $K\ge1$, $t\ge1$ and admissions; $n(t)$ is taken after round $t$'s admission",
        repair="Write $n(t-1)$ for $n(t)$.",
        checks=(occupancy(lambda seen: seen["n(t)"] - seen["Λ(t-K)"]),),
        corrected=Correction(
            title=r"$n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda=n(t)-\Lambda(t)+\bar\Lambda$",
            statement=r"An index is off by one: $n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda$, or "
            r"$n(t)-\Lambda(t)+\bar\Lambda$. $N^C$ is right.",
            formula=r"n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda=n(t)-\Lambda(t)+\bar\Lambda",
            sketch=r"$n(t)$ is the sum of the last $K$ admissions. $\Lambda(t-K)$ is no part of it any more; taking "
            "it off again can even give a negative number, and eq:nc-lb would not follow.",
            checks=(
                occupancy_identity,
                confirming(occupancy(lambda seen: seen["n(t-1)"] - seen["Λ(t-K)"])),
                confirming(occupancy(lambda seen: seen["n(t)"] - seen["Λ(t)"])),
            ),
        ),
    ),
    Claim(
        id="eq:nc-lb",
        kind="inequality",
        title=r"$n^C(t)\ge(K-1)\Lambda_{\min}(t-K)+\bar\Lambda$",
        statement=r"After the switch the memory holds at least $(K-1)\Lambda_{\min}(t-K)+\bar\Lambda$ samples. (The "
        "index could be one larger; the slip is on the safe side.)",
        formula=r"n^C(t)\ge(K-1)\Lambda_{\min}(t-K)+\bar\Lambda",
        domain=r"every $K\ge1$, $t\ge1$, admissions inside the region; $\Lambda_{\min}(s)=0$ for $s\le0$",
        symbols=SYMBOLS,
        checks={
            r"$\Lambda_{\min}$ grows": lambda: argument(
                (
                    plain(region_minimum(REGION, t + 1) - region_minimum(REGION, t)),
                    rate * power * (1 - rho),
                    r"$\Lambda_{\min}(t+1)-\Lambda_{\min}(t)$ and $\bar\Lambda\rho^t(1-\rho)$",
                ),
                *(
                    (region_minimum(REGION, sp.Integer(i)), 0, rf"$\Lambda_{{\min}}({i})$ and 0")
                    for i in (0, -3)
                ),
                domain=r"every $t\ge0$, $\rho$; $t<0$",
            ),
            "sum": (window_term, confirming(occupancy_bound_exact)),
        },
    ),
    Claim(
        id="eq:pC-upper-explicit/early-rounds",
        kind="reading",
        title=r"the printed $\bar p^{\mathrm{CK}}$ makes sense in every round",
        statement="The printed upper bound on the comparison's penalty is defined from round 1 on, with "
        r"$\Lambda_{\min}(t-K)$ taken from its formula.",
        formula=r"(K-1)\Lambda_{\min}(t-K)+\bar\Lambda>0\quad\forall t\ge1",
        domain=r"every $K\ge1$, $t\ge1$, $0<\rho<1$",
        checks=(early_rounds_as_stated,),
        hypotheses=(r"$\Lambda_{\min}(s)=0$ for $s\le0$",),
        checks_with_hypotheses=(window_positive, confirming(occupancy_bound_exact)),
        corrected=Correction(
            title=r"$\sum_{j=t-K+1}^{t-1}\Lambda_{\min}(j)+\bar\Lambda$, over rounds $j\ge1$",
            statement=r"For $t<K$ the formula gives $\Lambda_{\min}(t-K)<0$ and a denominator that can vanish. The "
            r"sum of the lower ends in memory, plus $\bar\Lambda$, is positive, and the least that a switch can leave.",
            formula=said(
                r"n^C(t)\ge\sum_{j=t-k+1}^{t-1}\Lambda_{\min}(j)+\bar\Lambda=@n,\quad k=\min(K,t),\ s=t-k",
                n=WINDOW,
            ),
            symbols={"j": "a round", "s": "rounds that have left the memory", **SYMBOLS},
            sketch="Every admission in memory is at least its round's lower end; nothing was admitted before round 1. "
            "Lower ends in every round are inside the region and make it an equality.",
            checks={
                "the sum": (
                    lambda: argument(
                        (
                            plain(region_minimum_window(REGION, k, k + s)),
                            plain(region_minimum_total(REGION, k + s) - region_minimum_total(REGION, s + 1)),
                            "the window and the difference of the totals",
                        ),
                        domain=r"every $1\le k\le t$, $\rho$, $\bar\Lambda$",
                    ),
                    *ends.SUMS,
                ),
                "positive": window_positive,
                "a bound, attained": (window_term, confirming(early_rounds_exact)),
            },
        ),
    ),
]
