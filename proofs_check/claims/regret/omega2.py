r"""Ω₂, the comparison penalties against their limits (`lem:omega2-order`): of order 1/(1-ρ), and sharp for K >= 2."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import LINEAR, RATIONAL, ROOT, added_by_hand, as_by_hand, h, links
from proofs_check.groundwork.control.orders import t as now
from proofs_check.groundwork.regret import omega2_links as link
from proofs_check.groundwork.regret.transient import most_samples, plain, third_term
from theory.numbers.algebra import ratio
from theory.regret.omegas import omega2, omega2_as_stated
from theory.regret.transient import omega2_floor, omega2_floor_as_stated

# --- Ω₂ itself ---------------------------------------------------------------------------------------------


def _by_hand(K: int, region: Region, T: int, *, stated: bool) -> Terms:
    """Ω₂'s three terms from the definitions, round by round, with the region's ends added up one by one."""
    target, rounds = region.rate, []
    least, most = ([end(region, j) for j in range(1, T)] for end in (region_minimum, region_maximum))
    for at in range(1, T + 1):
        few, many, whole = sum(least[: at - 1]) + target, sum(most[: at - 1]) + target, at * target
        if stated:
            n, N, inside = (K - 1) * (least[at - K - 1] if at > K else 0) + target, few, many
        else:
            n, N, inside = sum(least[max(at - K, 0) : at - 1]) + target, many, few
        steady = 1 / ((K if stated else min(at, K)) * target) - 1 / whole
        rounds.append(((1 / n - 1 / N, few, inside), (steady, whole, whole)))
    return added_by_hand(rounds, stated=stated)


def the_sum(context: Context, *, stated: bool) -> Evidence:
    """theory.regret.omegas's Ω₂(T), summed by Euler-Maclaurin, against the definition added up round by round."""
    region, T = Region(rate=Fraction(7, 2), rho=Fraction(4, 5)), context.choose(12, 60)
    with precise():
        value = (omega2_as_stated if stated else omega2)(3, region, T, RATIONAL, certified=True).terms
        slow = _by_hand(3, region, T, stated=stated)
    return as_by_hand({3: value - slow}, rho="4/5", T=T)


def between(context: Context, *, stated: bool) -> Evidence:
    """Certified Ω₂(10^9), term by term, inside the bounds."""
    value_of, floor_of = (omega2_as_stated, omega2_floor_as_stated) if stated else (omega2, omega2_floor)

    @cache
    def bracketed(power: int) -> list[Any]:
        """Lower bound, Ω₂ and upper bound."""
        region = Region(rate=Fraction(7, 2), rho=1 - Fraction(1, 10**power))
        with precise():
            low, high = (bound(3, region.map(ball), RATIONAL.map(ball)) for bound in (floor_of, omega2_bound))
        return [low, value_of(3, region, 10**9, RATIONAL, certified=True).terms, high]

    def slack(p: Any) -> Any:
        low, value, high = (getattr(x, p["term"]) for x in bracketed(p["e"]))
        return (value - low).min(high - value)

    powers = context.choose((1,), (1, 2, 4))
    return compare(
        slack,
        ">=",
        lambda p: 0,
        [{"K": 3, "1-rho": f"1e-{e}", "e": e, "T": 10**9, "term": x} for e in powers for x in PER_ROUND],
        domain=rf"$\bar\Lambda=7/2$, constants {RATIONAL}: the smaller distance of a term from its two bounds",
    )


# --- a step of the printed proof ---------------------------------------------------------------------------

delta = sp.Symbol("delta", positive=True)  # N_lb = Λ̄(t-δ), δ <= h
APART = 1 / (now - delta) - 1 / now  # 1/N_lb - 1/(Λ̄t), times Λ̄


@everywhere(r"$\bar\Lambda=1$, $\rho=3/4$, $t\ge K=2$", rho=(Fraction(3, 4),), t=(2, 3, 4, 5))
def division_as_stated(rho: Fraction, t: int) -> Found:
    fewest = region_minimum_total(Region(rate=1, rho=rho), t) + 1
    left, divisor = Fraction(ratio(1, fewest)) - Fraction(1, t), (1 - rho) * t * t - t
    right: Any = 1 / divisor if divisor else "division by zero"
    shown = {"left": left, "(1-ρ)t²-t": divisor, "right": right}
    return unless(divisor != 0 and bool(left <= right), **shown)


def deficit() -> Evidence:
    """N_lb = Λ̄(t-δ) with δ = (ρ-ρ^t)/(1-ρ), on theory's sum; δ <= ρ/(1-ρ), and δ <= t-1 because Λ_min >= 0."""
    y = sp.Symbol("y", positive=True)  # ρ^t
    lacking, domain = (rho - y) / (1 - rho), r"every $t$, $\rho$"
    fewest = plain((region_minimum_total(REGION, t) + rate) / rate, y=t)
    return argument(
        (fewest, t - lacking, r"$N_{\mathrm{lb}}/\bar\Lambda$ and $t-\delta$"),
        (lacking <= 1 / (1 - rho), [rho < 1], domain),
        domain=domain,
    )


def division_late() -> Evidence:
    """From t > h on, δ = Σρ^τ <= h."""
    late = (1 / (now**2 / h - now) >= APART, [delta <= h, h < now], r"every $t>1/(1-\rho)$")
    return argument(late, deficit())


def positive_from_two() -> Evidence:
    """The limit's logarithms are of 2κ/(1+κ) and κ², κ = √K: both above 1 for K > 1; and at K = 1 it is 0."""
    kappa, limit = link.kappa, link.LIMIT
    of_root, of_linear = limit.root * kappa / (2 * ROOT), limit.linear * kappa**2 / LINEAR
    return argument(
        *((sp.simplify(sp.exp(sp.simplify(x))) > 1, [kappa > 1], "$K>1$") for x in (of_root, of_linear)),
        (omega2_limit(1, rate, CONSTANTS).total, 0, "the limit and 0"),
        domain="$K=1$",
    )


FROM_BELOW = (link.repaired_below, link.integrals, link.floor_assembled, link.floor_of_order_h)
FIRST_TWO = (link.window, link.first_two_terms, link.integrals, link.other_sums, most_samples)


def forms(*, stated: bool) -> tuple[Any, ...]:
    """The sequences of one form, and two looks at them from another side."""
    others = (confirming(partial(check, stated=stated)) for check in (the_sum, between))
    return (partial(link.sequences, stated=stated), *others)


LIMIT = omega2_limit(K, rate, CONSTANTS).total
BOUND_SKETCH = (
    r"Units of $\bar\Lambda$; $h=1/(1-\rho)$, $S=\sum\rho^t/(1-\rho^t)\le h\log2h$. Theory's sequences are as in "
    r"`sequences`: the repaired mismatch is $1/(k-d)-1/(t+S_t)$, the printed one $1/(K-d)-1/(t-\delta)$, the limit "
    r"$1/K-1/t$, $k=\min(t,K)$. The window lacks $(k-1)\rho^{t-1}\le d\le(k-1)u$, $u=\rho^{t-k+1}$ (printed: "
    r"$d=(K-1)\rho^{t-K}$, $u=\rho^{t-K}$). Rounds $t\le K$: each is at most 1, for root and linear term. Linear "
    r"term, $t>K$: the gap is $\phi(d)+S_t/(t(t+S_t))$, $\phi(d)=d/(K(K-d))$, which grows in $d$; the sum over "
    r"$u=\rho^j$ of a function that grows in $u$ is at most its integral over $j$ from 0, and $\int\phi=\log "
    r"K/(K\cdot a)$, $a=\log1/\rho\ge1-\rho$; $\sum S/(t(t+S))\le1+\log(1+S)$ by the integral test. Printed: the gap "
    r"is at most $\phi(d)$. Root term, $t>K$: $\sqrt{a-c}-\sqrt{b-c}\le(\sqrt a-\sqrt b)\cdot t/(t-K)$ with "
    r"$a=1/(K-d)$, $b=1/K$, $c\le1/t$. $\sqrt a-\sqrt{b}\le\psi(u)=1/\sqrt{K-(K-1)u}-1/\sqrt K$; its sum is at most "
    r"$\int\psi=(2/\sqrt K)\log(2\sqrt K/(1+\sqrt K))/a$, and that of $K/(t-K)\cdot\psi(u)\le K(1-1/\sqrt "
    r"K)\cdot\rho^{t-K}/(t-K)$ is $(K-\sqrt K)\log h$. Repaired, what is left is "
    r"$\sqrt{1/K-1/(t+S)}-\sqrt{1/K-1/t}\le(K+1)/2\cdot S/(t(t+S))$. Third term: "
    r"$10B\sqrt{\mathrm{Pdim}/\bar\Lambda}$ times $(1/\sqrt f-1/\sqrt t)\cdot L(M)+(L(M)-L(t))/\sqrt t$, "
    r"$L(M)=\sqrt{1+\log^+(\bar\Lambda M/\mathrm{Pdim})}$; repaired $M=f\le t$, printed $M\le t+S$, and $f\ge F_t\ge "
    r"t(t+1)/(2(h+t))$. Up to $t=2h$, $1/\sqrt{f}\le(5/2)\sqrt h/t$ and $L(M)\le L(2h+S)$; beyond, $1/\sqrt "
    r"f-1/\sqrt{t}\le h\cdot t^{-3/2}$ and $L(M)\le L(2h+S)\sqrt 2(t/2h)^{1/4}$: sums $(5/2)\sqrt h(1+\log2h)$ and "
    r"$(9/2)\sqrt h$. $L(M)-L(t)\le\tfrac12\log(1+S/t)$, whose sum over $\sqrt t$ is at most $\pi\sqrt S$. Printed, "
    r"from below: only $1/(t-\delta)-1/t$ is lost, at most 1 in a round up to $2h$ and $2h/t^2$ beyond, $2(h+1)$ in "
    "all."
)

CLAIMS = [
    Claim(
        id="lem:omega2-order",
        kind="lemma",
        title=r"$\Omega_2=O(1/(1-\rho))$",
        statement=r"The comparison penalties exceed their limits by order $1/(1-\rho)$, uniformly in $T$.",
        formula=r"\Omega_2(T)=O(1/(1-\rho))",
        domain=r"$0<\rho<1$, $T\ge1$, $K$ and $\bar\Lambda$ fixed; both sequences as printed, and with the repaired "
        r"comparison. As printed three conventions are needed: $\Lambda_{\min}(s)=0$ for $s\le0$, since the formula's "
        r"$\Lambda_{\min}(t-K)$ is negative for $t<K$ (eq:pC-upper-explicit/early-rounds); the root of a negative "
        r"number is 0; and $\log^+$ stands for $\log$, which differs where $\bar\Lambda<\mathrm{Pdim}$",
        checks={
            "first two terms, from above": links(*FIRST_TWO),
            "third term, from above": links(third_term, link.third_rounds, link.other_sums),
            r"the bound is $O(1/(1-\rho))$": links(link.assembled, link.of_order_h),
            "as printed, from below": links(link.printed_below, link.stated_floor),
            "as printed": forms(stated=True),
            "repaired": forms(stated=False),
        },
        given=(WRITTEN,),
        sketch=BOUND_SKETCH,
    ),
    Claim(
        id="lem:omega2-order/limit",
        kind="addition",
        title=r"$(1-\rho)\Omega_2$ has a limit: the lemma is sharp for $K\ge2$",
        statement=r"With the repaired comparison $(1-\rho)\Omega_2$ has a limit, positive for $K\ge2$, 0 for $K=1$.",
        formula=said(r"(1-\rho)\Omega_2\to@limit", limit=LIMIT),
        domain=r"$K$ and $\bar\Lambda$ fixed, $T=\infty$ ($\Omega_2$ grows with $T$), $\rho\to1$",
        checks={
            "from above": links(*FIRST_TWO, third_term, link.third_rounds, link.assembled, link.of_order_h),
            "from below": links(*FROM_BELOW),
            r"positive for $K\ge2$": positive_from_two,
            "the sequences": forms(stated=False)[::2],
        },
        given=(WRITTEN,),
        sketch=r"From above: the bound of lem:omega2-order, whose product with $1-\rho$ has this limit; $h$, $a$, "
        r"$\psi$ and $\phi$ as there. From below: every round of $\Omega_2$ is at least 0, term by term. From round "
        r"$K$ on the root term's round is at least $\psi(u)$ with $u=\rho^{t-1}$, in units of "
        r"$D\sigma/\sqrt{\bar\Lambda}$, because $\sqrt{a-c}-\sqrt{b-c}\ge\sqrt a-\sqrt b$ and the window lacks at "
        r"least $(K-1)u$; the linear term's is at least $\phi((K-1)u)$, in units of $\eta E\sigma^2/\bar\Lambda$. The "
        r"sum over $t\ge K$ of a function that falls in $t$ is at least its integral from $K-1$ on: the whole "
        r"integral less at most $K-1$ times its first value. With $u=\rho^s$, $ds=-du/(a\cdot u)$, and "
        r"$\rho h\le1/a\le h$. So $\rho h$·limit less a constant <= first two terms of $\Omega_2\le h$·limit + "
        r"$O(\log h)$, and the third term is $O(\sqrt h(\log h)^{3/2})$.",
    ),
    Claim(
        id="lem:omega2-order/division",
        kind="step",
        substance="corrected",
        title=r"$1/N_{\mathrm{lb}}-1/(\bar\Lambda t)\le1/(\bar\Lambda((1-\rho)t^2-t))$",
        statement="The reciprocals of the smallest and the limiting number of distinct samples differ by that at most. "
        r"(The proof splits the sum at $t_0=\lceil2/(1-\rho)\rceil$ and bounds rounds before it otherwise: a slip.)",
        formula=r"\frac1{N_{\mathrm{lb}}(t)}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda((1-\rho)t^2-t)}",
        symbols={
            "N_lb": r"the fewest distinct samples of $t$ rounds in the region, the last at $\bar\Lambda$"
        },
        domain=r"every $t\ge K$, $0<\rho<1$",
        repair=r"Use it for $t\ge2/(1-\rho)$ alone; in earlier rounds the difference is at most $1/\bar\Lambda$.",
        checks=(division_as_stated,),
        hypotheses=(r"$t>1/(1-\rho)$",),
        checks_with_hypotheses=(division_late,),
        corrected=Correction(
            title=r"for $t>1/(1-\rho)$ alone; before, the difference lies between 0 and $1/\bar\Lambda$",
            statement=r"The right side is negative for $t<1/(1-\rho)$ and undefined at $t=1/(1-\rho)$. The lemma "
            r"survives: up to $2/(1-\rho)$ it may use the second bound.",
            formula=r"0\le\frac1{N_{\mathrm{lb}}}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda}"
            r"\min\Bigl(1,\tfrac1{(1-\rho)t^2-t}\Bigr)\ \text{for }t>\tfrac1{1-\rho}",
            sketch=r"$N_{\mathrm{lb}}=\bar\Lambda(t-\delta)$ with $\delta=\sum_{\tau<t}\rho^\tau$, at most "
            r"$1/(1-\rho)$ and at most $t-1$.",
            checks={
                r"$t>1/(1-\rho)$": division_late,
                "every $t$": lambda: argument(
                    ([APART >= 0, APART <= 1], [delta <= now - 1], r"$N_{\mathrm{lb}}\ge\bar\Lambda$"),
                    deficit(),
                ),
            },
        ),
    ),
]
