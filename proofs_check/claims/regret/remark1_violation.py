r"""Remark 1's cost violation (`rem:1/violation`): \(V=T^\gamma\), \(\rho=1-T^{-\phi}\)."""

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.orders import ALONG, RATIONAL, T, h
from proofs_check.groundwork.control.region_ends import plain, power
from proofs_check.groundwork.regret import debt_level
from proofs_check.groundwork.regret.expansion import third
from proofs_check.groundwork.regret.transient import most_samples
from theory.control import violation
from theory.regret.rates import remark_1_as_stated, remark_1_by_region

gamma, phi, q, u, x, y = sp.symbols("gamma phi q u x y", positive=True)
BETWEEN = [gamma < 1, phi < 1]
HALF = sp.Rational(1, 2)
PRICE = C / rate  # what constant admission can just pay
BY_REGION = Given(
    "thm:dpp-cost-constraint/one-horizon", r"$c_{\max}\bar\Lambda\sum\rho^t/(1-\rho^t)$ bounds it"
)
LOG_PLUS = r"the penalty with $\log^+$"

# --- from below: a coin in round 1 -------------------------------------------------------------------------


def excess(admitted: Any) -> Any:
    """Excess over the budget of a round at the price C/Λ̄."""
    return PRICE * admitted - C


def toss_adds_up() -> Evidence:
    """Round 1 at both prices; after the dear one the lower ends, after the free one Λ_max(2) and lower ends."""
    first = HALF * 2 * PRICE * plain(region_maximum(REGION, 1)) - C
    second = excess(plain(region_maximum(REGION, 2)))
    from_second, from_third = (-C * rho**i / (1 - rho) for i in (2, 3))
    least = first + HALF * from_second + HALF * (second + from_third)
    last = sp.Symbol("rho^(T+1)", positive=True)
    return argument(
        (excess(plain(region_minimum(REGION, t))), -C * power, r"a round at $\Lambda_{\min}$ and $-C\rho^t$"),
        ((rho**2 - last) / (1 - rho) <= rho**2 / (1 - rho), [rho < 1], r"$\rho^2+\ldots+\rho^T$, every $T$"),
        (violation.cost_violation_toss(rho, C), least, "the bound and the sum of its rounds"),
        domain=r"every $\rho$, $\bar\Lambda$, $C$, $T\ge2$",
    )


def affordable_in_the_mean() -> Evidence:
    return argument(
        ((HALF * 0 + HALF * 2 * PRICE) * rate, C, r"$\mathbb E[c(1)]\bar\Lambda$ and $C$"),
        (PRICE * rate, C, r"$c(t)\bar\Lambda$ and $C$, $t\ge2$"),
        domain="every round",
    )


def toss() -> Evidence:
    """γ = 1/10, φ = 4/5: the least that ACDPP violates the budget by, over the printed rate."""
    w = sp.Symbol("w", positive=True)  # T = w^10
    region = Region(rate=rate, rho=1 - w**-8)
    found = limit.diverges(
        violation.cost_violation_toss(region.rho, C)
        / violation.cost_violation_rate_as_stated(w**10, w, region.rho),
        w,
        what="what ACDPP violates the budget by, at least, over the printed rate,",
        domain=r"$\gamma=1/10$, $\phi=4/5$; $c(1)=0$ or $2C/\bar\Lambda$ with probability $1/2$ each, then "
        rf"$c(t)=C/\bar\Lambda$; every $K$, $\bar\Lambda$, $C$ and constants, {LOG_PLUS}; $T=w^{10}\to\infty$",
    )
    facts = {
        rf"round 1 of ACDPP admits $\Lambda_{{\max}}(1)$, {LOG_PLUS}": without_debt(),
        r"without debt round 2 admits $\Lambda_{\max}(2)$": debt_level.debt_free(),
        r"$\mathrm{Vio}^{\mathrm S}$ is at least that": toss_adds_up(),
        r"$\mathbb E[c(t)]\bar\Lambda=C$ in every round": affordable_in_the_mean(),
    }
    return obeying(found, facts)


def toss_order() -> Evidence:
    over = violation.cost_violation_toss(ALONG.rho, C) / (C * h)
    return argument((over, h, sp.Rational(1, 4), r"the bound over $Ch$"), domain=r"$h=1/(1-\rho)\to\infty$")


# --- exponents ---------------------------------------------------------------------------------------------


def exactly_if() -> Evidence:
    """T^φ is within the printed rate if and only if 2φ <= 1+γ, and below it by a power where γ > φ."""
    printed, true = remark_1_as_stated(gamma, phi)[1], remark_1_by_region(phi)[1]
    every = r"every $0<\gamma,\phi<1$"
    return argument(
        (sp.Equivalent(true <= printed, 2 * phi <= 1 + gamma), BETWEEN, every),
        (true < printed, [*BETWEEN, phi < gamma], r"every $\phi<\gamma$"),
        ((gamma + phi) / 2 <= true, [gamma <= phi], r"$\gamma\le\phi$: $\sqrt{Vh}$ is at most $h$"),
    )


def every_path_order() -> Evidence:
    """√(VP(T+h(1+log T))) + C(1+hρ^(T+1)) is of order √(VT): h·log T = o(T), and hρ^T <= h·exp(-T/h)."""
    p = sp.Symbol("p", positive=True)
    over = 1 + T**-q * (1 + sp.log(T))
    return argument(
        (over, T, 1, r"$(T+h(1+\log T))/T$ at $h=T^{1-q}$"),
        (sp.diff(-x - sp.log(1 - x), x), x / (1 - x), r"the slope of $-x-\log(1-x)$, 0 at 0, and $x/(1-x)$"),
        (x / (1 - x) >= 0, [x < 1], r"so $\rho^T=(1-1/h)^T\le\exp(-T/h)$"),
        (u**p * sp.exp(-u), u, 0, r"$h\exp(-T/h)$ at $T/h=u$, $h=u^p$, $p=\phi/(1-\phi)$,"),
        domain=r"every $\phi<1$",
    )


# --- the logarithm -----------------------------------------------------------------------------------------


def upper_ends() -> Evidence:
    """c = C/Λ̄ always, V = h^(5/2+q): up to round h the slope of V·third term outweighs Z·c, so Λ_max is admitted."""
    P, B = CONSTANTS.Pdim, CONSTANTS.B
    most = rate * (h + 1 + h * sp.log(2 * h)) / P  # of N/Pdim up to round ⌈h⌉
    steep = 5 * B / P * sp.log(2) / sp.sqrt(1 + sp.log(2)) * most ** sp.Rational(-3, 2)
    debt = C * h * sp.log(2 * h)
    L = sp.Symbol("L", positive=True)
    return argument(
        debt_level.debt_free(),
        most_samples(),
        (
            -sp.diff(third(P * (1 + u)), u),
            5 * B * sp.log(1 + u) / ((1 + u) ** sp.Rational(3, 2) * sp.sqrt(1 + sp.log(1 + u))),
            r"the third term's slope in $x=N/\mathrm{Pdim}$ and $5B\log x/(x^{3/2}\sqrt{1+\log x})$",
        ),
        (
            sp.diff(L / sp.sqrt(1 + L), L),
            (2 + L) / (2 * (1 + L) ** sp.Rational(3, 2)),
            r"the slope of $L/\sqrt{1+L}$, $L=\log x$, and a positive number",
        ),
        (debt * PRICE / (h ** (sp.Rational(5, 2) + q) * steep), h, 0, r"$Zc$ over $V$ times the least slope"),
        domain=r"$V=h^{5/2+q}$, $c=C/\bar\Lambda$, rounds up to $h\to\infty$; $\Lambda_{\max}(1)=\bar\Lambda h$ "
        r"is at least $2\mathrm{Pdim}$",
    )


def with_logarithm() -> Evidence:
    """Σ_{t<=s}ρ^t/(1-ρ^t) >= h(1-s/h)log(s+1), s = ⌊h/log h⌋, and the other rounds lose Ch at most."""
    L = sp.Symbol("L", positive=True)  # log h
    least = (1 - 1 / L) * (L - sp.log(L)) - 1
    return argument(
        lambert_sum.lambert_summand(),
        ((1 - 1 / h) * y >= 1 - (t + 1) / h, [y >= 1 - t / h, h >= 1], r"$\rho^t\ge1-t/h$, by induction"),
        (1 / t >= 1 / y, [y >= t], r"on $[t,t+1]$: $\sum_{t\le s}1/t\ge\log(s+1)$"),
        (least / L, L, 1, r"what is left over $Ch\log h$, $L=\log h$,"),
        domain=r"$h\to\infty$",
    )


# --- in numbers --------------------------------------------------------------------------------------------


def played() -> Evidence:
    """The real loop: by the coin at least the bound; random prices up to C/Λ̄, and any, at most theirs."""
    rounds, budget, numbers = 105, 10.0, RATIONAL.map(float)
    region = Region(rate=5.0, rho=1 - 1 / 30)
    price = budget / region.rate
    rng = np.random.default_rng(24)
    costs = np.full((rounds, 5), price)
    costs[0, :2] = 0, 2 * price
    costs[:, 3] = price * rng.integers(0, 2, rounds)
    costs[:, 4] = np.where(np.arange(rounds) % 7 == 0, 7 * price, 0)
    found, fine = {}, True
    least = violation.cost_violation_toss(region.rho, budget)
    for kept, weight in ((1, 0.1), (3, 1e6)):
        run = simulation.control_loop(costs, K=kept, V=weight, C=budget, region=region, constants=numbers)
        over = np.sum(run.spent - budget, axis=0).tolist()
        tossed, steady = sum(over[:2]) / 2, max(over[2:4])
        bounds = (
            float(violation.cost_violation_every_round(float(rounds), region, weight, budget, numbers)),
            float(violation.cost_violation_by_debt(region, weight, (7 * price) ** 2, budget, numbers)),
        )
        fine &= tossed >= least and steady <= bounds[0] and max(tossed, *over[2:]) <= bounds[1]
        found[f"V={weight:g}, K={kept}"] = {"over": over, "bounds": (least, *bounds)}
    return (holds if fine else fails)(
        "simulation",
        "in two settings the violations of five price paths lie on their side of the bounds",
        domain=r"$T=105$, $\rho=1-1/30$, $\bar\Lambda=5$, $C=10$; the coin's two paths, $C/\bar\Lambda$ always or in "
        r"random rounds, $7C/\bar\Lambda$ in every seventh round",
        certificate=found,
    )


COIN = (toss_adds_up, affordable_in_the_mean, toss_order, confirming(played))
DEBT = (
    *(debt_level.above_the_level, debt_level.comparator, debt_level.early_peaks),
    *(debt_level.later_rounds, debt_level.summed, confirming(played)),
)
EVERY_PATH = (debt_level.above_the_level, debt_level.comparator, debt_level.on_every_path, every_path_order)
BOUNDS = {
    "d": r"2\sqrt{2VPh}+(6\sqrt{E[c^2]}\,\bar\Lambda+2C)h",
    "e": r"2\sqrt{VP(T+h(1+\log T))}+C(1+h\rho^{T+1})",
}
WHY_DEBT = (
    r"Let $h=1/(1-\rho)$, $P$ the most that the penalty can be when $\bar\Lambda$ is admitted "
    r"($1/n-1/N\le1/\bar\Lambda$, $N\ge\bar\Lambda$), $z>0$ any level. By debt: in a round with $Z>z$ the minimiser "
    r"has $c\Lambda\le c\bar\Lambda+VP/z$, as $\bar\Lambda$ lies in the region and $p\ge0$. So $Z(\tau+1)$ is at "
    r"most $z$, what the last round that began with $Z\le z$ spent, and $\sum(c\bar\Lambda+VP/z)$. No round spends "
    r"more than the root of $\sum(c\Lambda_{\max})^2$, whose mean is at most $3\sqrt{\mathbb E[c^2]}\bar\Lambda h$ "
    r"for $\tau=\lceil h\rceil$, since $\Lambda_{\max}\le\bar\Lambda(1+h/t)$. Up to $\tau$ the excess is at most "
    r"$\mathbb E Z(\tau+1)$. After $\tau$ it is at most $\sum(\mathbb E[c]\bar\Lambda-C)\le C\tau$, as all $T$ "
    r"rounds together are affordable, and $\sum\mathbb E[c]\bar\Lambda\rho^t/(1-\rho^t)\le\sqrt{\mathbb "
    r"E[c^2]}\bar\Lambda h$. With $z=\sqrt{2VPh}$ that is "
    rf"${BOUNDS['d']}$ (for $T\le\tau$ the first part alone)."
)
WHY_PATH = (
    r"If $c(t)\bar\Lambda\le C$ whatever happens, compare with $\Lambda_{\min}$, whose penalty is at most "
    r"$P(1+h/t)$: above the level a round pays back $C\rho^t$ less $VP(1+h/t)/z$, and the last round below it "
    r"adds at most $C\rho^t/(1-\rho^t)$, which exceeds all that is paid back later by $C(1+h\rho^{T+1})$ at most. So "
    rf"$\mathrm{{Vio}}^{{\mathrm S}}\le Z(T+1)\le{BOUNDS['e']}$, and $h\log T=o(T)$ for $\phi<1$."
)

CLAIMS = [
    Claim(
        id="rem:1/violation",
        kind="remark",
        title=r"$\mathrm{Vio}^{\mathrm S}=O(T^{(1+\gamma)/2}+T^{(\gamma+\phi)/2})$ (Remark 1)",
        statement=r"With these $V$ and $\rho$ the cost violation is of order $T^{(1+\gamma)/2}+T^{(\gamma+\phi)/2}$ "
        "at most, if constant admission can pay for every round in the mean.",
        formula=said(
            r"\mathrm{Vio}^{\mathrm S}=O\bigl(@v\bigr)\quad(V=T^\gamma,\ \rho=1-T^{-\phi})",
            v=violation.cost_violation_rate_as_stated(T, V, rho),
        ),
        domain=r"$0<\gamma,\phi<1$, $K\ge1$; independent costs with $\mathbb E[c(t)]\bar\Lambda\le C$ in every round "
        r"and "
        rf"bounded second moments; {LOG_PLUS}",
        repair=r"Assume $2\phi\le1+\gamma$, or prices that never exceed $C/\bar\Lambda$.",
        checks=(toss,),
        hypotheses=(r"$2\phi\le1+\gamma$; or $c(t)\bar\Lambda\le C$ in every round, whatever happens",),
        checks_with_hypotheses={
            r"$2\phi\le1+\gamma$": (*DEBT, lambert_sum.lambert_order, exactly_if),
            "every path": EVERY_PATH,
        },
        given=(WRITTEN, BY_REGION),
        sketch=r"$2\phi\le1+\gamma$: see the correction; for $\gamma\le\phi$ the violation is of order $T^\phi$, for "
        rf"$\gamma>\phi$ of order $T^\phi\log T$, and $\phi<(1+\gamma)/2$. {WHY_PATH}",
        corrected=Correction(
            title=r"between $\tfrac14CT^\phi$ and $O(T^\phi+T^{(\gamma+\phi)/2})$, $O(T^\phi\log T)$: the printed "
            r"rate if and only if $2\phi\le1+\gamma$",
            statement=r"For $\gamma\le\phi$ the largest violation is of order $T^\phi$ exactly: at most that for all "
            "costs with bounded second moments that constant admission can pay over the $T$ rounds together, and at "
            r"least $\tfrac14CT^\phi(1-o(1))$ for $c(1)=0$ or $2C/\bar\Lambda$ by the toss of a coin and "
            r"$c(t)=C/\bar\Lambda$ later. For $\gamma>\phi$ it is between $T^\phi$ and $T^\phi\log T$, and for "
            r"$\gamma>\tfrac52\phi$ the logarithm is attained, at $c(t)=C/\bar\Lambda$ in every round: "
            r"$\mathrm{Vio}^{\mathrm S}\sim CT^\phi\log T^\phi$. So the printed rate holds if and only if "
            r"$2\phi\le1+\gamma$; where no price exceeds $C/\bar\Lambda$, on any path, it always does.",
            formula=r"\tfrac14CT^\phi(1-o(1))\le\sup\mathrm{Vio}^{\mathrm S}=O\bigl(\min(T^\phi+T^{(\gamma+\phi)/2},"
            r"T^\phi\log T)\bigr)",
            symbols={"O": "of that order at most", "o": "of lower order", "sup": "over the costs"},
            hypotheses=(
                r"$\bar\Lambda\sum_{t\le T}\mathbb E[c(t)]\le CT$",
                r"one bound on $\mathbb E[c(t)^2]$ for all rounds and horizons",
                LOG_PLUS,
            ),
            given=(WRITTEN, BY_REGION),
            sketch=r"From below: without debt the policy admits $\Lambda_{\max}$, so round 1 spends $2Ch$ or "
            r"nothing, $Ch$ in the mean. After the dear price at most $C\sum_{t\ge2}\rho^t$, less than $Ch$, can be "
            r"paid back. After the free one there is no debt: round 2 admits $\Lambda_{\max}(2)$, about $\bar\Lambda "
            r"h/2$, before anything is saved. In "
            rf"all $\tfrac14Ch$ is left. {WHY_DEBT} By the region: thm:dpp-cost-constraint/one-horizon, with "
            rf"$\sqrt{{\mathbb "
            r"E[c^2]}$ for $c_{\max}$. The logarithm: at $c=C/\bar\Lambda$ the debt is at most $CS\le Ch\log2h$, and "
            r"while $N\le\bar\Lambda(h+1+S)$ the slope of $V$ times the third term is at least of order $V(h\log "
            r"h)^{-3/2}$, which outweighs $Zc$ for $\gamma>\tfrac52\phi$; so the first $h$ rounds admit "
            r"$\Lambda_{\max}$. They exceed the budget by $C\sum\rho^t/(1-\rho^t)$, asymptotic to $Ch\log h$, and "
            r"the others save at most $C\sum\rho^t\le Ch$.",
            checks={
                "from below": (debt_level.debt_free, *COIN),
                "by debt": DEBT,
                "by the region": lambert_sum.lambert_order,
                "the logarithm": (upper_ends, with_logarithm, lambert_sum.lambert_order),
                "if and only if": exactly_if,
                "every path": EVERY_PATH,
            },
        ),
    )
]
