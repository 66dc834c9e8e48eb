r"""ACDPP at \(V=T^\gamma\), \(\rho=1-T^{-\phi}\): a coin makes it overspend and overfill, and what bounds its debt."""

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.orders import ALONG, RATIONAL, T, h
from proofs_check.groundwork.control.region_ends import plain, power
from proofs_check.groundwork.regret import debt_level
from theory.control import violation
from theory.regret.rates import remark_1_as_stated, remark_1_by_region

gamma, phi, q, u, x, y = sp.symbols("gamma phi q u x y", positive=True)
BETWEEN = [gamma < 1, phi < 1]
HALF = sp.Rational(1, 2)
PRICE = C / rate  # what constant admission can just pay
BY_REGION = Given(
    "thm:dpp-cost-constraint/one-horizon", r"$c_{\max}\bar\Lambda\sum\rho^t/(1-\rho^t)$ bounds it"
)
TOSSED = r"$c(1)=0$ or $2C/\bar\Lambda$ with probability $1/2$ each, then $c(t)=C/\bar\Lambda$"
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
        domain=rf"$\gamma=1/10$, $\phi=4/5$; {TOSSED}; every $K$, $\bar\Lambda$, $C$ and constants, {LOG_PLUS}; "
        r"$T=w^{10}\to\infty$",
    )
    return obeying(found, _grounds())


def _grounds() -> dict[str, Evidence]:
    """The grounds of both examples, in units of the price."""
    return {
        rf"round 1 of ACDPP admits $\Lambda_{{\max}}(1)$, {LOG_PLUS}": without_debt(),
        r"without debt round 2 admits $\Lambda_{\max}(2)$": debt_level.debt_free(),
        "the admissions beyond the mean are at least that": toss_adds_up(),
        r"$\mathbb E[c(t)]\bar\Lambda=C$ in every round": affordable_in_the_mean(),
    }


def toss_counted() -> Evidence:
    """The same admissions in memory, T > K: rounds 1 and 2 count K times in Σn, later lower ends at most K times."""
    j = sp.Symbol("j", integer=True, positive=True)
    used, now, below = sp.symbols("used now below", positive=True)
    left, right = sp.symbols("left right", real=True)
    return argument(
        (
            symbolic_sum(j, j, 1, K) + K * (now - K),
            K * now - K * (K - 1) / 2,
            r"$\sum_s\min(K,T-s+1)$, $T\ge K$",
        ),
        (
            used * rate * (1 - below) >= used * rate - K * rate * below,
            [used <= K],
            "a lower end, used at most $K$ times",
        ),
        (sp.Max(left, 0) + sp.Max(right, 0) >= left + right, [], "clients one by one and together"),
        domain="every $K$, $T$",
    )


def toss_overfills() -> Evidence:
    """The design's K: the mean of Σ(n(t)-ΣB) under ACDPP, at least."""
    found = limit.diverges(
        K * violation.cost_violation_toss(ALONG.rho, rate) - rate * K * (K - 1) / 2,
        h,
        what=r"the mean of $\sum_t(n(t)-\sum B)$ under ACDPP, at least,",
        domain=rf"$K=K^\star$, $\sum B=K\bar\Lambda$, any split, every $V$; {TOSSED}; {LOG_PLUS}; "
        r"$1/(1-\rho)=h=T^\phi\to\infty$, $T>K$",
    )
    return obeying(found, {**_grounds(), "counted by use": toss_counted()})


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


def absorbed_along() -> Evidence:
    """T + h² is at most of the order of V(T+h) if and only if 2φ <= 1+γ."""
    drift, kept = sp.Max(1, 2 * phi, evaluate=False), gamma + 1
    return argument((sp.Equivalent(drift <= kept, 2 * phi <= 1 + gamma), BETWEEN, r"every $0<\gamma,\phi<1$"))


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
SETTING = (
    r"$0<\gamma,\phi<1$, $K\ge1$; independent costs with $\mathbb E[c(t)]\bar\Lambda\le C$ in every round and "
    rf"bounded second moments; {LOG_PLUS}"
)
PAID = r"$2\phi\le1+\gamma$; or $c(t)\bar\Lambda\le C$ in every round, whatever happens"
IF_PAID: dict[str, Check | tuple[Check, ...]] = {
    r"$2\phi\le1+\gamma$": (*DEBT, lambert_sum.lambert_order, exactly_if),
    "every path": EVERY_PATH,
}
