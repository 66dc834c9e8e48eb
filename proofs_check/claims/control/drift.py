"""The drift of the squared debt (`eq:dpp-upper-1`): is one constant B enough?"""

from proofs_check.prelude import *

from proofs_check.groundwork.control import drift_step
from proofs_check.groundwork.control.drift_step import Lambda, Z, c, drift_constant_is, g, square, x
from proofs_check.groundwork.control.orders import HORIZONS
from theory.numbers.summation import total_ball

# what the correction prints: B_t, and ΣB_t without what the wide early region adds
ROUND = {
    "B": drift_constant(REGION, t, square, C).subs(sp.exp(t * sp.log(rho)), rho**t),
    "L": sp.factor(T * (square * rate**2 + C**2) / 2),
}
u, v = sp.symbols("u v", positive=True)
NUMBERS = r"$\mathbb E[c^2]=37$, $\bar\Lambda=10$, $C=55$, $1-\rho=10^{-e}$"


def drift_heavy_tail() -> Evidence:
    """P(c = 4^j) = (7/8)·8^-j: the mean is 7/4, the second moment infinite."""
    j, n = sp.symbols("j n", integer=True, positive=True)
    chance = sp.Rational(7, 8) * sp.Integer(8) ** -j
    total, average, second = (
        sp.Rational(7, 8) + sp.summation(sp.powsimp(4 ** (power * j) * chance), (j, 1, n))
        for power in range(3)
    )
    found = diverges(
        second,
        n,
        what=r"$\mathbb E[c^2]$, and with it the drift,",
        domain=r"i.i.d. costs $4^j$ with probability $(7/8)\cdot8^{-j}$, $j=0$, 1, $\ldots$, cut at $n$; any $\rho$",
        **{"E[c] up to n": average},
    )
    one, mean = limit.limit(total, n), limit.limit(average, n)
    facts = {
        "probabilities sum to 1": argument((one, 1, "their sum and 1"), domain="the chances"),
        "a finite mean": argument((mean, sp.Rational(7, 4), r"$\mathbb E[c]$ and $7/4$"), domain="the costs"),
    }
    return obeying(found, facts)


def _excess(p: Any) -> Any:
    """(1-ρ)² times what ΣB_t exceeds its value at Λ_max = Λ̄ by, with the numbers above."""
    region = Region(rate=10, rho=1 - Fraction(1, 10 ** p["e"])).map(ball)
    total = total_ball(lambda t: drift_constant(region, t, ball(37), ball(55)), p["T"], (1,))
    return (total - p["T"] * drift_constant(region, 10**40, ball(37), ball(55))) * (1 - region.rho) ** 2


def drift_sum(context: Context) -> Evidence:
    """ΣB_t against its bound; the second summand, π²/6·E[c²]Λ̄²/(1-ρ)², is 3700·π²/6 in these units."""
    return compare(
        _excess,
        "<=",
        lambda p: 3700 * ball(1).pi() ** 2 / 6,
        grid(e=context.choose((1, 3, 6), range(1, 7)), T=context.choose((10**3, 10**15), (10, *HORIZONS))),
        domain=rf"{NUMBERS}; both sides times $(1-\rho)^2$",
    )


def drift_order() -> Evidence:
    """The leading constant: Σ_t (1/(1-ρ^t)² - 1) is ζ(2)/(1-ρ)², so the excess tends to 3700·ζ(2)/2."""
    zeta = 3700 * ball(1).pi() ** 2 / 12
    return compare(
        lambda p: abs(_excess(p) - zeta),
        "<=",
        lambda p: zeta * ball(Fraction(20, 10 ** p["e"])),
        grid(e=(4, 5, 6), T=(10**15,)),
        domain=rf"{NUMBERS}, $T=10^{{15}}$: within $20(1-\rho)$ of $3700\cdot\pi^2/12$, relatively",
    )


def drift_inequality() -> Evidence:
    """L(t+1) - L(t) <= (c²Λ²+C²)/2 + Z(cΛ-C): B_t, at the round's own admission in place of Λ_max(t)."""
    drift = debt_update(Z, c, Lambda, C) ** 2 / 2 - Z**2 / 2
    bound = (c**2 * Lambda**2 + C**2) / 2 + Z * (c * Lambda - C)
    return always(drift <= bound, domain=r"every $Z$, $c$, $\Lambda\ge0$ and $C>0$")


CLAIMS = [
    Claim(
        id="eq:dpp-upper-1",
        kind="inequality",
        title="one constant $B$ bounds the drift's quadratic part",
        statement=r"One finite $B$ does for all actions and all rounds. (For all $\rho$ at once, as Remark 1 needs it, "
        "none does, whatever the prices: see rem:1/drift.)",
        formula=r"\Delta+V\,E[p\mid\mathbb O]\le B+E[J_t\mid\mathbb O],\quad B<\infty\text{ uniform}",
        domain=r"every action inside the region, every $t\ge1$, each $0<\rho<1$",
        symbols={
            "Δ": r"the mean drift, $\mathbb E[L(t+1)-L(t)\mid O]$",
            "O": "the state when round $t$ begins",
            "B": "the drift's constant",
        },
        repair=r"Assume prices of bounded second moments; if $\rho$ is to move, give each round its $B_t$.",
        checks=(drift_heavy_tail,),
        hypotheses=(r"$\mathbb E[c(t)^2\mid\text{past}]$ is bounded",),
        checks_with_hypotheses=(drift_inequality, drift_constant_is),
        corrected=Correction(
            title=said(r"$B_t=@B$ in round $t$; $\sum B_t\le@L+O((1-\rho)^{-2})$", **ROUND),
            statement="Each round has its own constant. The last part of their sum is exact up to a factor 2: over all "
            r"rounds it is asymptotic to half of that as $\rho$ tends to 1.",
            formula=said(
                r"B_t=@B,\quad\sum_{t\le T}B_t\le@L+\tfrac{\pi^2}6\frac{E[c^2]\bar\Lambda^2}{(1-\rho)^2}",
                **ROUND,
            ),
            hypotheses=drift_step.PAST[1:],
            given=(WRITTEN,),
            symbols={"π": r"$3.14159\ldots$"},
            sketch=r"$([Z+a]^{+})^2\le(Z+a)^2$ with $a=c\Lambda-C$, and $a^2\le c^2\Lambda^2+C^2$ as "
            r"$c,\Lambda,C\ge0$; then $\Lambda\le\Lambda_{\max}(t)$, and means are taken given the past. For the sum "
            r"write $x=\rho^t$, $r^2=\rho^{t-1}$ and $g=(1-x)/(1-\rho)=\sum_{j<t}\rho^j$. $B_t$ exceeds "
            r"$(\mathbb E[c^2]\bar\Lambda^2+C^2)/2$ by $\mathbb E[c^2]\bar\Lambda^2/(2(1-\rho)^2)$ times "
            r"$q=x(2-x)/g^2$. As $tr\le g\le t$ (the arithmetic-geometric mean of $\rho^j$ and $\rho^{t-1-j}$, and "
            r"$\rho^j\le1$), $q$ lies between $x(2-x)/t^2$ and $\rho(2-x)/t^2$. The second is at most $2/t^2$, and "
            r"$\sum2/t^2=\pi^2/3$. Both ends are at most $2/t^2$ for every $\rho$, so their sums over all $t$ are "
            r"continuous in $\rho$ up to $\rho=1$ (Weierstrass), where both are $\sum1/t^2=\pi^2/6$.",
            checks={
                "one round": drift_inequality,
                "$B_t$": drift_constant_is,
                "its excess": drift_step.drift_excess,
                "$g$": lambda: argument(
                    ((1 - rho * x) / (1 - rho) - (1 - x) / (1 - rho), x, r"$g$'s growth and $\rho^t$"),
                    ((u**2 + v**2) / 2 >= u * v, [], r"$u^2=\rho^j$, $v^2=\rho^{t-1-j}$: so $g\ge tr$"),
                    (g + u <= t + 1, [g <= t, u <= 1], r"one summand more, $u=\rho^t$: so $g\le t$"),
                    domain=r"$x=\rho^t$",
                ),
                "$q$": (drift_step.drift_summand, confirming(drift_sum)),
                "the sums": (
                    lambda: argument(
                        (drift_step.LOWER.subs({x: 1, rho: 1}), 1 / t**2, "the lower end of $q$ and $1/t^2$"),
                        (drift_step.UPPER.subs({x: 1, rho: 1}), 1 / t**2, "the upper end of $q$ and $1/t^2$"),
                        (sp.summation(1 / t**2, (t, 1, sp.oo)), sp.pi**2 / 6, r"$\sum1/t^2$ and $\pi^2/6$"),
                        domain=r"all $t$, $\rho=1$",
                    ),
                    confirming(drift_order),
                ),
            },
        ),
    )
]
