r"""Remark 1 (`rem:1`): rates for \(V=T^\gamma\), \(\rho=1-T^{-\phi}\), and the arguments that give them."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import drift_step
from proofs_check.groundwork.control.drift_step import square
from proofs_check.groundwork.control.orders import ALL, ALONG, RATIONAL, SPREAD, T, h
from proofs_check.groundwork.regret import expansion
from proofs_check.groundwork.regret.envelope import within_the_spread
from proofs_check.groundwork.regret.expansion import FLOOR, LIMIT, grows_with_rho, leading_order, spread_order
from theory.control.violation import cost_violation_rate_as_stated
from theory.regret import rates
from theory.regret.rates import regret_rate_as_stated

A, q, gamma, phi = sp.symbols("A q gamma phi", positive=True)
BETWEEN = [gamma < 1, phi < 1]
HALF, ORDER = sp.Rational(1, 2), sp.sqrt(T * sp.log(T))
EXPONENTS = r"every $0<\gamma,\phi<1$"
EXPANDS = Given("thm:dpp-regret/expansion", r"that constant admission's regret is the expansion to $O(1)$")

# --- as printed --------------------------------------------------------------------------------------------


def highest(*exponents: Any) -> Any:
    """The highest of some exponents: that of their sum."""
    return sp.Max(*exponents, evaluate=False)


def printed_exponents() -> Evidence:
    """The printed rates at V = T^γ, 1-ρ = T^-φ are those powers of T, and `remark_1_as_stated` has their exponents."""
    regret, violation = rates.remark_1_as_stated(gamma, phi)
    setting = (T, T**gamma, 1 - T**-phi)
    powers = T ** (1 - gamma) + T**phi + sp.log(T), T ** (1 + gamma) + T ** (gamma + phi)
    square = sp.expand(cost_violation_rate_as_stated(*setting) ** 2)
    return argument(
        (regret_rate_as_stated(*setting), powers[0], "the printed regret and its powers"),
        (square, powers[1], "the printed violation squared and its powers"),
        (sp.Eq(regret, highest(1 - gamma, phi)), BETWEEN, EXPONENTS),
        (sp.Eq(2 * violation, highest(1 + gamma, gamma + phi)), BETWEEN, EXPONENTS),
        domain=EXPONENTS,
    )


def printed_log_saves_little() -> Evidence:
    """With the printed log, where it is real, a bound is lower only while Pdim/e <= N < Pdim: by at most 10B√(eK) in a
    round, for at most h·Pdim/Λ̄ rounds, since N(s) >= Λ̄(1-ρ)s. The oracle's, too, is lower if anything."""
    c, x = CONSTANTS, sp.Symbol("x", positive=True)
    N, now, inverse, uses, squares, euler = sp.symbols("N s inverse uses squares e", positive=True)
    third = generalisation_term(inverse, c.Pdim * x / (1 + x), c)
    return argument(
        (third, 10 * c.B * sp.sqrt(c.Pdim * inverse), r"$N<\mathrm{Pdim}$: all of the third term"),
        (uses**2 / squares >= N / K, [squares <= K * uses, uses >= N], r"$N_{\mathrm{eff}}\ge N/K$"),
        (c.Pdim * inverse <= euler * K, [inverse * N <= K, euler * N >= c.Pdim], r"$N\ge\mathrm{Pdim}/e$"),
        (
            c.Pdim <= N,
            [rate * (1 - ALONG.rho) * now <= N, now * rate >= c.Pdim * h],
            r"from round $h\,\mathrm{Pdim}/\bar\Lambda$ on, $h=1/(1-\rho)=T^\phi$",
        ),
        domain=ALL,
    )


def rates_limit() -> Evidence:
    """Half of the expansion's order, less any multiple of T^φ·log T, over the printed rate at γ = 3/4, φ = 1/4."""
    weight, width = T ** sp.Rational(3, 4), T ** sp.Rational(1, 4)
    horizon, region = 10**24, Region(rate=5, rho=1 - Fraction(1, 10**6)).map(ball)
    example = {
        "regret_lower_bound": regret_lower_bound(ball(2), region, ball(horizon), RATIONAL.map(ball)),
        "printed rate": regret_rate_as_stated(ball(horizon), ball(horizon**3).root(4), region.rho),
    }
    found = diverges(
        (LIMIT.subs(K, 2) / 2 * ORDER - A * width * sp.log(T))
        / regret_rate_as_stated(T, weight, 1 - 1 / width),
        T,
        what="what every policy inside the region pays, over the printed rate,",
        domain=r"$\gamma=3/4$, $\phi=1/4$, $K=2$, any $\bar\Lambda$ and constants, $V=T^\gamma$, "
        r"$\rho=1-T^{-\phi}$; any $A$; $T\to\infty$; with $\log^+$, or as printed wherever that is real",
        example={"T": "1e24", **{name: x.str(5, radius=False) for name, x in example.items()}},
    )
    facts = {name: fact() for name, fact in FLOOR.items()} | {
        r"the expansion is asymptotic to the limit times $\sqrt{T\log T}$": leading_order(),
        r"the lower bound subtracts $O(T^\phi\log T)$": grows_with_rho(),
        r"the printed $\log$ lowers a policy's bound by $O(T^\phi)$ at most": printed_log_saves_little(),
        "the printed exponents": printed_exponents(),
    }
    return obeying(found, facts)


# --- by the region -----------------------------------------------------------------------------------------


def region_regret(context: Context) -> Evidence:
    """Regret of every policy inside the region at ρ = 1 - T^-φ, against expansion and spread."""
    more = ((10**8, 10**2), (10**8, 10**4), (10**12, 10**9))
    return within_the_spread(
        [{"K": 3, "T": horizon, "1/(1-rho)": wide} for horizon, wide in context.choose(more[1:2], more)]
    )


def sublinear() -> Evidence:
    return argument(
        (T ** (1 - q) * sp.log(T) / T, T, 0, r"$T^\phi\log T$ over $T$"),
        (ORDER / T, T, 0, r"$\sqrt{T\log T}$ over $T$"),
        domain=r"$\phi=1-q<1$",
    )


def violation_order() -> Evidence:
    order = (lambert_bound(ALONG.rho) / (h * sp.log(h)), h, 1, r"the bound over $h\log h$")
    return argument(order, domain=r"$h=1/(1-\rho)=T^\phi\to\infty$")


def region_exponents() -> Evidence:
    """`remark_1_by_region` has the exponents of √(T log T), T^φ·log T, and is below 1."""
    regret, violation = rates.remark_1_by_region(phi)
    return argument(
        (sp.Eq(regret, highest(HALF, phi)), [], r"expansion $1/2$, spread $\phi$"),
        (violation, phi, "the violation's exponent and the Lambert sum's"),
        ([regret < 1, sp.Lt(violation, 1)], [phi < 1], r"every $\phi<1$, any $\gamma$"),
        domain=r"every $\phi$",
    )


# --- by the drift argument ---------------------------------------------------------------------------------


def drift_grows() -> Evidence:
    """γ = 3/4, φ = 1/2: the printed BT/V with the least possible constant B = B_1, over T."""
    region = Region(rate=rate, rho=1 - T ** sp.Rational(-1, 2))
    found = diverges(
        drift_constant(region, 1, square, C) * T / T ** sp.Rational(3, 4) / T,
        T,
        what="$BT/V$ over $T$",
        domain=r"$\gamma=3/4$, $\phi=1/2$, $B=B_1$, any $\bar\Lambda$, $C$, $E[c^2]$",
    )
    fact = r"$\Lambda_{\max}(1)$ is an action, so $B$ is of $B_1$'s order"
    return obeying(found, {fact: drift_step.upper_end_is_an_action()})


def drift_orders() -> Evidence:
    """The powers of T and h that the drift argument adds up: B_1, ΣB_t, Ω₂, Σp̄; Ω₃ is `leading_order`'s."""
    wide, steady, c = omega2_bound(K, ALONG, CONSTANTS), expansion.surrogate_round(T), CONSTANTS.merged
    two, end = eventually(wide.root + wide.linear, h) / h, omega2_limit(K, rate, CONSTANTS).total
    one = c.D * c.sigma / sp.sqrt(K * rate) + c.eta * c.sigma**2 / (K * rate)
    return argument(
        (drift_constant(ALONG, 1, square, C) / h**2, h, square * rate**2 / 2, "$B_1/h^2$"),
        drift_step.drift_excess(),
        drift_step.drift_summand(),
        (two, h, end, r"$\Omega_2$'s first two terms, over $h$,"),
        (eventually(steady.root + steady.linear, T), T, one, r"a round of $\sum\bar p$, less $\Omega_2$,"),
        domain=rf"$\rho\to1$, or $t\to\infty$; {ALL}",
    )


def exponents(function: Any, *drift: Any) -> Evidence:
    """The theory's exponents are the highest of those added up: of the drift, Ω₂ (φ), Ω₃ (1/2), VΣp̄ (γ+max(1,φ))."""
    regret, violation = function(gamma, phi)
    most = highest(*(d - gamma for d in drift), phi, HALF)
    return argument(
        (sp.Eq(regret, most), BETWEEN, f"the regret, {EXPONENTS}"),
        (sp.Eq(2 * violation, highest(*drift, gamma + 1, gamma + phi)), BETWEEN, "the violation, twice"),
    )


def exactly_if(function: Any, condition: Any) -> Evidence:
    regret, violation = function(gamma, phi)
    both = sp.Equivalent(sp.And(regret < 1, violation < 1), condition)
    return always(both, given=BETWEEN, domain=f"both below 1 if and only if the condition holds; {EXPONENTS}")


SUBLINEAR: dict[str, Check | tuple[Check, ...]] = {
    "regret": (leading_order, spread_order, confirming(region_regret)),
    "violation": (
        theorem(
            "Control.violation_by_peak",
            "Control.violation_bounded",
            "Lambert.lambert_above",
            domain=r"every $T$, $\rho$, $\bar\Lambda$, $C$; affordable over the horizon, or up to every round",
        ),
        violation_order,
    ),
    "rates": (sublinear, region_exponents),
}
ORDERS = (drift_orders, leading_order)
ONE = (
    lambda: exponents(rates.remark_1_by_one_constant, 1 + 2 * phi),
    lambda: exactly_if(rates.remark_1_by_one_constant, 2 * phi < gamma),
)
WHY_REGRET = (
    r"Constant admission lies inside the region and its regret is the expansion to $O(1)$, of order $\sqrt{T\log T}$ "
    r"whatever $\rho$ (thm:dpp-regret/expansion). Any other policy's bound differs from it by spread_bound at most "
    r"(thm:dpp-regret/spread), which is of order $h\log h$ with $h=1/(1-\rho)=T^\phi$."
)
WHY = (
    rf"{WHY_REGRET} The violation is at most $c_{{\max}}\bar\Lambda S$ "
    r"(thm:dpp-cost-constraint/one-horizon), or $CS$ where constant admission is affordable up to every round "
    r"(thm:dpp-cost-constraint/uniform); $S=\sum\rho^t/(1-\rho^t)$ is of order $h\log h$ as well."
)

COSTS = (
    r"constant admission is affordable, $\bar\Lambda\sum_{t\le T}\mathbb E[c(t)]\le CT$, with one bound "
    r"$\mathbb E[c(t)]\le c_{\max}$ for all rounds and horizons; or, with costs of any size, affordable up "
    r"to every round $t\le T$"
)

CLAIMS = [
    Claim(
        id="rem:1",
        kind="remark",
        title=r"$\mathrm{Reg}=O(T^{1-\gamma}+T^\phi+\log T)$ for $V=T^\gamma$, $\rho=1-T^{-\phi}$",
        statement=r"With these $V$ and $\rho$ the regret's rate is a sum of powers of $T$: $T^{1-\gamma}+T^\phi+\log "
        "T$. (The cost violation's is judged in rem:1/violation.)",
        formula=said(
            r"\mathrm{Reg}=O\bigl(@r\bigr)\quad (V=T^\gamma,\ \rho=1-T^{-\phi})",
            r=regret_rate_as_stated(T, V, rho),
        ),
        domain=r"$0<\gamma$, $\phi<1$, $K\ge1$",
        repair=r"Assume $\gamma<1/2$ and $\phi<1-\gamma$; or write $O(\sqrt{T\log T}+T^\phi\log T)$, for all.",
        checks=(rates_limit,),
        hypotheses=(r"$\gamma<1/2$ and $\phi<1-\gamma$",),
        checks_with_hypotheses={
            "regret, from above": SUBLINEAR["regret"],
            "the printed rate is larger": lambda: argument(
                (ORDER / T ** (HALF + q), T, 0, r"$\sqrt{T\log T}$ over $T^{1-\gamma}$, $\gamma=1/2-q$,"),
                (T**-q * sp.log(T), T, 0, r"$T^\phi\log T$ over $T^{1-\gamma}$, $\phi=1-\gamma-q$,"),
                domain=r"every $q>0$",
            ),
        },
        given=(WRITTEN, EXPANDS, SPREAD),
        sketch=rf"{WHY_REGRET} For $\gamma<1/2$ and $\phi<1-\gamma$ both are of lower order than the printed "
        r"$T^{1-\gamma}$.",
        corrected=Correction(
            title=r"$\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log T)$, whatever $\gamma$",
            statement=r"The upper bound is that of every policy inside the region, with $\chi$; the lower one, for "
            r"$K\ge2$ and $\phi<1/2$, holds in both forms.",
            formula=said(
                r"\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log "
                r"T),\quad\mathrm{Reg}\ge\bigl(@limit-o(1)\bigr)\sqrt{T\log T}\ (\phi<\tfrac12)",
                limit=LIMIT,
            ),
            symbols={"O": r"of that order at most, whatever $\gamma$", "o": "of lower order"},
            hypotheses=("the policy stays inside the region", r"$K\bar\Lambda=\sum B$"),
            given=(WRITTEN, EXPANDS, SPREAD),
            sketch=rf"{WHY_REGRET} From below, in both forms: the regret is at least theory.regret_lower_bound, which "
            r"holds for every $T$ and $\rho$ (its proof is told under eq:dpp-regret/sign). It is the expansion less a "
            r"first part, $H$ at $1+S$ in place of $T$, which is $o(h)$, and less what the first two terms can save, "
            r"of order $h\log T$. For $\phi<1/2$ both are of lower order than $\sqrt{T\log T}$.",
            checks={
                "regret, from above": SUBLINEAR["regret"],
                "regret, from below": (
                    *FLOOR.values(),
                    leading_order,
                    grows_with_rho,
                    lambda: argument(
                        (T ** (HALF - q) * sp.log(T) / ORDER, T, 0, r"$T^\phi\log T$ over $\sqrt{T\log T}$"),
                        domain=r"every $\phi=1/2-q<1/2$",
                    ),
                ),
            },
        ),
    ),
    Claim(
        id="rem:1/sublinear",
        kind="remark",
        title=r"regret of bounds and violation: sublinear, all $\gamma$, $\phi$ in (0,1)",
        statement="Both are, by the region alone, for every policy inside it. The regret is the paper's, a difference "
        "of two upper bounds (eq:dpp-regret/sign); that the excess risks themselves grow apart less than $T$ is "
        "rem:1/sublinear/risk. (The costs are bounded as the paper's uniform drift constant has it; if they may grow "
        "with $T$, an affordable average is not enough, see thm:dpp-cost-constraint/largest.)",
        formula=said(
            r"\mathrm{Reg}=O(T^{@r}\log T)=o(T),\quad\mathrm{Vio}^{\mathrm S}=O(T^{@v}\log T)=o(T)",
            r=rates.remark_1_by_region(phi)[0].replace(sp.Min, lambda *x: -sp.Max(*(-a for a in x))),
            v=rates.remark_1_by_region(phi)[1],
        ),
        symbols={"O": r"of that order at most, whatever $\gamma$", "o": "of lower order than"},
        domain=rf"$0<\gamma,\phi<1$; $K\bar\Lambda=\sum B$, the bound with $\chi$ and $\log^+$; {COSTS}",
        checks=SUBLINEAR,
        given=(WRITTEN, EXPANDS, SPREAD),
        sketch=WHY,
    ),
    Claim(
        id="rem:1/drift",
        kind="step",
        title=r"the drift argument gives it for all $\gamma$, $\phi$ in (0,1)",
        statement="The paper's own argument, drift plus penalty with one constant $B$, gives sublinear "
        r"rates for every $\gamma$ and $\phi$ between 0 and 1.",
        formula=r"BT/V=o(T)\quad\forall\gamma,\phi\in(0,1)",
        symbols={"B": "the one constant that bounds the drift's quadratic part", "o": "of lower order than"},
        domain=r"$0<\gamma$, $\phi<1$",
        repair=r"Argue by the region in place of the drift; or give each round its $B_t$ and assume $2\phi<1+\gamma$.",
        checks=(drift_grows,),
        hypotheses=(r"$2\phi<\gamma$",),
        checks_with_hypotheses={"orders": ORDERS, "exponents": ONE[0], "threshold": ONE[1]},
        given=(WRITTEN,),
        corrected=Correction(
            title=r"one $B$: only for $2\phi<\gamma$; a $B_t$ per round: $2\phi<1+\gamma$; the region: every $\phi<1$",
            statement=r"Round 1 alone has $B_1$ of order $(1-\rho)^{-2}=T^{2\phi}$. So with one constant $B$ the "
            r"argument gives sublinear rates if and only if $2\phi<\gamma$, with a $B_t$ for each round if and only "
            r"if $2\phi<1+\gamma$. The region alone gives them for every $\phi<1$.",
            formula=r"\tfrac{B_1T}V=\Theta(T^{1+2\phi-\gamma}),\qquad\tfrac1V\sum_tB_t=\Theta(T^{1-\gamma}+T^{2\phi-\gamma})",
            symbols={"B_1": "the drift's quadratic part in round 1, bounded", "Θ": "of exactly that order"},
            given=(WRITTEN,),
            sketch=r"With $h=1/(1-\rho)=T^\phi$, $\sum B_t$ is at most of order $T+h^2$ (eq:dpp-upper-1), at least "
            r"too, since $B_1$ is of order $h^2$ and every $B_t$ of order 1. The argument bounds the regret by $\sum "
            r"B_t/V+\Omega_1+\Omega_2+\Omega_3$ with $\Omega_1$ of order $\log T$ (at fixed $\rho$; as $\rho$ moves "
            r"it is of order $h\log T$ at most, which has the exponent of $\Omega_2$), $\Omega_2$ of order $h$, "
            r"$\Omega_3$ of order $\sqrt{T\log T}$, and half the squared violation by $\sum B_t+V\sum\bar p$, "
            r"$\sum\bar p$ being of order $T$ and $\Omega_2$. The exponents are the highest of those added up; "
            r"logarithms do not matter for being below 1. With one constant put $BT$, $B\ge B_1$, for $\sum B_t$.",
            checks={
                "orders": ORDERS,
                "one constant": ONE,
                "a constant per round": (
                    lambda: exponents(rates.remark_1_by_drift, 1, 2 * phi),
                    lambda: exactly_if(rates.remark_1_by_drift, 2 * phi < 1 + gamma),
                ),
                "the region alone": (region_exponents, leading_order, spread_order, violation_order),
            },
        ),
    ),
]
