r"""The sign of the regret (`eq:dpp-regret`), of which the paper says nothing."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import debts_after, in_round_1
from proofs_check.groundwork.control.orders import ALL, HORIZONS, ONES, RATIONAL, SPREAD, UNIT, T
from proofs_check.groundwork.control.region_ends import lies_inside
from proofs_check.groundwork.regret import envelope, expansion
from proofs_check.groundwork.regret.envelope import USUAL, bound_of, three
from proofs_check.groundwork.regret.every_policy import drawn_inside
from proofs_check.groundwork.regret.transient import most_samples

# --- negative ----------------------------------------------------------------------------------------------

AT_ONCE = Region(rate=4, rho=Fraction(3, 4))


def negative_at_once() -> Evidence:
    """One round, Λ̄ = 4, K = 2, ρ = 3/4: without debt ACDPP admits Λ_max = 16 samples where the oracle takes ΣB = 8."""
    admitted = region_maximum(AT_ONCE, 1)

    def not_below(T: int, K: int, rho: Fraction) -> Any:
        sizes = (admitted, K * sp.Integer(AT_ONCE.rate))
        bound, oracle = (three(theorem_1_as_stated([n], [n], [1], ONES).terms) for n in sizes)
        regret = sp.sympify(bound - oracle)
        return unless(bool(regret < 0), admitted=admitted, bound=bound, oracle=oracle, Reg=regret)

    domain = r"$T=1$, $\bar\Lambda=4$, $\sum B=8$, $B=1$, $\mathrm{Pdim}=1$; any $V$, $D$, $\sigma$, $\eta$"
    found = exhaust([{"T": 1, "K": 2, "rho": AT_ONCE.rho}], not_below, domain=domain)
    return replace(found, strength="proof")


def admitted_at_once() -> Evidence:
    """That is what round 1 of ACDPP admits, as printed."""
    return argument(*in_round_1(AT_ONCE, ONES).values())


def inside_at_once() -> Evidence:
    """And it is inside the region: one example is enough."""
    return replace(lies_inside([region_maximum(AT_ONCE, 1)], AT_ONCE), strength="proof")


@cache
def _upper_ends(T: int) -> list[Fraction]:
    return [region_maximum(USUAL, s) for s in range(1, T + 1)]


def loop_admits_upper_ends(K: int, T: int, V: int, cost: Fraction, C: int) -> Evidence:
    """ACDPP admits the upper end in every round: V times the third term's slope exceeds Zc on the region."""
    n, N, more = sp.symbols("n N more", positive=True)
    path, numbers = _upper_ends(T), ONES.map(ball)
    debts = debts_after(path, [cost] * T, C)

    def slope(p: Any) -> Any:
        t = p["t"]
        seen = sum(path[: t - 1], Fraction(0))
        low, high = (ball(seen + end(USUAL, t)) for end in (region_minimum, region_maximum))
        steps, _ = generalisation_slopes(low.union(high), numbers, above=1)
        return V * steps - ball(debts[t - 1] * cost)

    falls = compare(
        slope,
        ">",
        lambda p: 0,
        grid(t=range(2, T + 1)),
        domain=rf"$-J_t'$ on the region, $t\ge2$, $K={K}$, $V={V}$, costs {cost}, $C={C}$, $\rho=9/10$, "
        r"$\bar\Lambda=10$, $\mathrm{Pdim}$ 1",
    )
    admitting = (1 / (n + more) - 1 / (N + more) <= 1 / n - 1 / N, [n <= N], "admitting more")
    return argument(*in_round_1(USUAL, ONES).values(), admitting, falls)


def below_for_long() -> Evidence:
    """One certified example: K = 2, ρ = 0.9, V = 10^9, both forms of the regret negative after 50 rounds."""
    K, T = 2, 50
    path = _upper_ends(T)
    with precise():
        balls, numbers = [ball(x) for x in path], ONES.map(ball)
        run = trajectory(balls, K)
        stated = theorem_1_as_stated(list(run.n), list(run.N), list(run.uniformity), numbers)
        printed, corrected = (
            three(own.terms) - three(oracle(K * 10, T, ONES, certified=True).terms)
            for own, oracle in ((stated, oracle_bound_as_stated), (bound_of(balls, K, numbers), oracle_bound))
        )
    found = compare(
        lambda p: printed.max(corrected),
        "<",
        lambda p: 0,
        [{"K": K, "T": T, "rho": "9/10", "printed": printed.str(8), "with χ": corrected.str(8)}],
        domain=r"$\bar\Lambda=10$, $\sum B=20$, $C=55$, costs $11/2$, $V=10^9$, constants 1, "
        r"$\mathrm{Pdim}$ 1; the larger of the two forms, the printed one by the positive parts of its radicands",
    )
    upper = loop_admits_upper_ends(K, T, 10**9, Fraction(11, 2), 55)
    return replace(together(found, lies_inside(path, USUAL), upper), strength="proof")


def negative_without_reuse(context: Context) -> Evidence:
    """K = 1, always Λ_max: no sample is reused, so χ = 1/n - 1/N and N_eff = N in both forms. One example is enough."""
    region, numbers = Region(rate=10, rho=Fraction(1, 2)), UNIT.map(ball)

    def one(s: Any) -> Terms:
        exact = region.map(ball)
        return penalty_terms(region_maximum(exact, s), region_maximum_total(exact, s + 1), numbers)

    def regret(p: Any) -> Any:
        oracle = oracle_bound(region.rate, p["T"], UNIT, certified=True)
        return three(envelope.summed(one, 1, p["T"])) - three(oracle.terms)

    found = compare(
        regret,
        "<",
        lambda p: 0,
        grid(K=[1], T=context.choose((10, 10**4), (10, 10**3, 10**6, 10**9))),
        domain=r"$K=1$, $\rho=1/2$, $\bar\Lambda=10$, constants 1, $\mathrm{Pdim}$ 5: $\mathrm{Reg}$ of "
        r"always admitting $\Lambda_{\max}$ (ACDPP with $V\to\infty$)",
    )
    return replace(found, strength="proof")


# --- in the end --------------------------------------------------------------------------------------------


def grows() -> Evidence:
    """At fixed ρ the lower bound has the expansion's order: what it subtracts is of order log T."""
    rest = sp.expand(regret_expansion(K, rate, T, CONSTANTS) - regret_lower_bound(K, REGION, T, CONSTANTS))
    fixed = {c: sp.Dummy(positive=True) for c in rest.atoms(sp.Max, sp.Min) if T not in c.free_symbols}
    over, what = rest.xreplace(fixed) / sp.sqrt(T * sp.log(T)), r"what it subtracts over $\sqrt{T\log T}$"
    return argument((over, T, 0, what), domain=rf"every fixed $\rho$; {ALL}; $T\to\infty$")


def floor_certified(context: Context) -> Evidence:
    """The lower bound is below the least regret of any policy, both forms, as enclosed from the region's ends."""
    return compare(
        lambda p: regret_lower_bound(ball(p["K"]), USUAL.map(ball), ball(p["T"]), RATIONAL.map(ball)),
        "<",
        lambda p: envelope.regret_end(p["K"], USUAL, p["T"], RATIONAL, stated=p["printed"], upper=False),
        grid(K=context.choose((3,), (1, 2, 10)), T=context.choose((10**6,), HORIZONS), printed=(True, False)),
        domain=r"the least regret inside the region $\rho=0.9$, $\bar\Lambda=10$, rational constants",
    )


def bounded(context: Context) -> Evidence:
    """Regret of every policy inside the region at ρ = 9/10 and K = 1, against expansion and spread."""
    return envelope.within_the_spread(
        grid(**{"K": (1,), "T": context.choose((10**9,), HORIZONS), "1/(1-rho)": (10,)})
    )


CLAIMS = [
    Claim(
        id="eq:dpp-regret/sign",
        title=r"its sign: negative early; positive later if $K\ge2$",
        statement="The paper's regret is a difference of two upper bounds, its policy's and the oracle's, and the "
        r"paper states no sign. ACDPP admits up to $\bar\Lambda/(1-\rho)$ samples in a round, the oracle "
        r"$K\bar\Lambda$ at most, so early on, and without reuse $(K=1)$ still after $10^4$ rounds, its bound can be "
        r"below the oracle's. For $K\ge2$ the regret of every policy inside the region is positive from some $T$ on, "
        "in both forms: it is at least theory.regret_lower_bound.",
        formula=r"K\ge2:\ \mathrm{Reg}(T)\to\infty;\qquad K=1:\ |\mathrm{Reg}(T)|\le O_\rho(1)",
        symbols={"O": r"bounded as $T$ grows, by a number that depends on $\rho$"},
        domain=r"ACDPP as printed, every $V$, $K$, $\rho$, $T$ for which its $p$ is real (eq:penalty-dpp/real); from "
        "below: every policy inside the region",
        hypotheses=("the policy stays inside the region", r"$\rho$ is fixed", r"$K\bar\Lambda=\sum B$"),
        given=(WRITTEN, SPREAD),
        sketch=r"Let $\mu$ be $\chi$ or the printed $1/n-1/N_{\mathrm{eff}}$, $k=\min(t,K)$, $s=t-k+1$, "
        r"$x=\rho^s$. (1) No sample has been used more than $k$ times, the $N(s)$ oldest $k$ times; so the "
        r"memory's share of all uses is $n/N(s)$ at most, $1/N_{\mathrm{eff}}\le1/N(s)$, and $\mu\ge1/n-2/N(s)$. "
        r"(2) The region gives $1/n\ge(1-x)/(K\bar\Lambda)$ and $N(s)\ge\bar\Lambda(1-\rho)s$; the oracle has "
        r"$\mu_o=(1-1/t)/(K\bar\Lambda)$. So $\mu_o-\mu\le d=x/(K\bar\Lambda)+2/(\bar\Lambda(1-\rho)s)$. (3) From "
        r"round 2 on $\mu_o\ge1/(2K\bar\Lambda)$, so that $\sqrt{\mu_o}-\sqrt\mu\le\sqrt{2K\bar\Lambda}\cdot d$. "
        r"(4) $\sum x\le K\rho/(1-\rho)$ and $\sum 1/s\le K+\log T$, as $s$ is 1 in $K$ rounds and then counts on: "
        r"the first two terms save $O(\log T)$. (5) $N_{\mathrm{eff}}\le N\le\bar\Lambda(t+S)$, "
        r"$S=\log(2/(1-\rho))/(1-\rho)$, and the third term falls: over $T$ rounds it is at least the integral "
        r"from 1 to $T+1$ of that of $\bar\Lambda(t+S)$ samples, the oracle's at most the integral from 0 to $T$ "
        "of its own. Each integral is an $H$. The sum of all this is theory.regret_lower_bound, the expansion less "
        r"$O(\log T)$, and the expansion grows like $\sqrt{T\log T}$ for $K\ge2$. For $K=1$ constant admission is "
        "the oracle, so that its regret is 0, and no policy differs from it by more than the spread.",
        checks={
            "negative early on": (negative_at_once, admitted_at_once, inside_at_once, below_for_long),
            r"$K\ge2$": (
                expansion.mismatch_from_below,
                confirming(drawn_inside),
                *(expansion.narrowest, expansion.gap, most_samples, expansion.falling),
                *(expansion.antiderivative, expansion.added_up, grows, expansion.leading_order),
                confirming(floor_certified),
            ),
            "$K=1$, bounded": (expansion.without_reuse, confirming(bounded)),
            "$K=1$, negative": negative_without_reuse,
        },
    )
]
