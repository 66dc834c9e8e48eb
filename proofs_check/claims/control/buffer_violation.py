r"""The buffers (`rem:buffer-violation`): how far a policy inside the region can overfill them."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.drift_step import in_round_1, rate_is_a_choice, without_debt
from proofs_check.groundwork.control.orders import ALONG, h
from proofs_check.groundwork.control.region_ends import corners, placed, totals_are_sums
from theory.control import violation
from theory.control.penalty import least_rate_as_printed

age = sp.Symbol("age", integer=True, positive=True)


# --- counterexamples ---------------------------------------------------------------------------------------


def one_client_takes_all() -> Evidence:
    """Two clients with buffers 2 and 2, K = 2, two admissions per round, all for the first client: J_t cannot tell."""

    def overfills(T: int) -> Found:
        rounds = simulate([[2, 0]] * T, 2)
        excess = sum(max(sum(view.n_of(m) - 2 for view in rounds), 0) for m in (0, 1))
        return unless(excess <= 2, **{"Vio^B(T)": excess, "n_1": rounds[-1].n_of(0), "B_1": 2})

    domain = r"sample-level simulation; $\Lambda=2$ in every round, $\sum B=4$; violation $2(T-1)$"
    found = exhaust(grid(T=(1, 2, 40)), overfills, domain=domain)
    return obeying(found, {r"$\bar\Lambda$ inside the region": rate_is_a_choice()})


def one_client_without_end() -> Evidence:
    """Every round at its lower end, the least of any policy: n(t) still tends to KΛ̄, and B_1 = KΛ̄/2."""
    horizon, K, decay = sp.symbols("T K decay", positive=True)
    least = K * region_minimum_total(Region(rate=rate, rho=sp.exp(-decay)), horizon - K + 1)
    found = diverges(
        least - K * rate / 2 * horizon,
        horizon,
        what=r"the first client's violation, at least $K\sum_{t\le T-K}\Lambda_{\min}$ less $K\bar\Lambda T/2$,",
        domain=r"all admissions for a client with $B_1=K\bar\Lambda/2$; every policy inside the region, any $K$, "
        r"$\bar\Lambda$, $\rho=\exp(-\text{decay})$",
    )
    return obeying(found, {"the total is the sum of lower ends": totals_are_sums()})


def overfilled(region: Region, unit: Any, units: str, facts: dict[str, Evidence]) -> Evidence:
    """Round 1 admits Λ_max(1) = Λ̄/(1-ρ): what does not fit, as ρ tends to 1."""
    found = diverges(
        (region_maximum(region, 1) - K * region.rate) / unit,
        h,
        what=rf"the buffer violation of round 1, $\Lambda_{{\max}}(1)-\sum B${units},",
        domain=rf"$T=1$, $\sum B=K\bar\Lambda$, any split; $\bar\Lambda={sp.latex(region.rate)}$, $\rho=1-1/h$, "
        r"$h\to\infty$",
    )
    return obeying(found, facts)


def overfilled_as_printed() -> Evidence:
    """Λ̄ = Pdim/(1-ρ), the least rate that makes round 1 as printed, in units of itself."""
    region = Region(rate=least_rate_as_printed(ALONG.rho, CONSTANTS), rho=ALONG.rho)
    return overfilled(region, region.rate, r", over $\bar\Lambda$", in_round_1(region))


def overfilled_with_log_plus() -> Evidence:
    """Λ̄ fixed: as ρ tends to 1 the printed p of round 1 is not real, so log⁺ is the reading."""
    facts = {r"with $\log^+$ round 1 of ACDPP admits $\Lambda_{\max}(1)$": without_debt()}
    return overfilled(ALONG, 1, "", facts)


# --- the largest violation ---------------------------------------------------------------------------------


@everywhere(
    "sample-level simulation, $K=1$, 2, 3, 5, 9",
    K=(1, 2, 3, 5, 9),
    admissions=([1], [2, 0, 3], [1, 5, 0, 2, 2, 1], [4, 1, 1, 0, 0, 0, 7, 2]),
)
def counted_by_name(K: int, admissions: list[int]) -> Found:
    held = sum(view.n for view in simulate([[a] for a in admissions], K))
    weighed = sum(a * min(K, age) for age, a in enumerate(reversed(admissions), start=1))
    return differing(**{"Σn": held, "ΣΛ·min(K, T-s+1)": weighed})


@everywhere(
    "all $2^T$ policies at the ends of the region; $K=1$, 2, 3, 4, 7, two regions",
    region=(Region(rate=2, rho=Fraction(1, 2)), Region(rate=Fraction(5, 3), rho=Fraction(9, 10))),
    K=(1, 2, 3, 4, 7),
    T=by_profile(range(1, 6), range(1, 9)),
)
def extreme_policies(K: int, T: int, region: Region) -> Found:
    """Every choice of ends: the largest Σ(n - KΛ̄) is theory's number, in exact arithmetic."""
    paths = (placed(region, ends) for ends in corners(T))
    held = (sum(sum(path[max(t - K, 0) : t], Fraction(0)) for t in range(1, T + 1)) for path in paths)
    largest = max(held) - K * region.rate * T
    told = (violation.buffer_excess_maximum(K, T, region), violation.buffer_violation_maximum(K, T, region))
    return differing(largest=(largest, max(largest, 0)), theory=told)


excess = sp.Symbol("excess", real=True)
held = sp.Symbol("held", nonnegative=True)
LARGEST_OF_ALL = theorem(
    "Control.buffer_violation_bounded",
    "Control.buffer_violation_attained",
    "Buffers.buffer_violation_closed",
    domain=r"any policy inside the region, every $K$, $T$, $\rho$",
)
LARGEST = r"\sum\Lambda_{\max}(s)\min(K,T-s+1)-K\bar\Lambda T"
ORDER = K * rate * violation.cost_violation_rate(rho)
WHY = (
    r"With $n_m=nB_m/\sum B$ all clients violate or none does, and $\mathrm{Vio}^{\mathrm B}=[\sum(n-\sum B)]^{+}$. A "
    r"sample of round $s$ is trained on in $\min(K,T-s+1)$ of the rounds up to $T$, so "
    r"$\sum n=\sum\Lambda(s)\min(K,T-s+1)$: linear and increasing in every $\Lambda(s)$, hence largest at "
    r"$\Lambda_{\max}(s)$, which is inside the region. The positive part of a largest value is the largest positive "
    "part."
)
DESIGN = r"$\sum B=K\bar\Lambda$ (the paper's design from cor:optimal-k on, $\lambda_m=B_m/K$)"
PROPORTIONAL = (r"$\lambda_m(t)=\Lambda(t)B_m/\sum B$", r"$\sum B=K\bar\Lambda$")

CLAIMS = [
    Claim(
        id="rem:buffer-violation",
        kind="remark",
        title=r"$\mathrm{Vio}^{\mathrm B}=O(1)$",
        statement="With the $K$ of the paper's design the cumulative buffer violation, client by client, stays bounded "
        "in $T$. (The policy chooses the total admission alone. Literally the remark takes a $K$ for which the "
        "violation stays bounded and concludes that it does: a tautology, which names no $K$, and not what is judged.)",
        formula=r"\mathrm{Vio}^{\mathrm B}(T)=\sum_m\Bigl[\sum_tE[n_m(t)-B_m]\Bigr]^+=O(1)",
        domain=rf"{DESIGN}, any split of $\Lambda(t)$ over the clients, $0<\rho<1$ fixed",
        symbols={"n_m": "samples in the buffer of client $m$"},
        repair=r"Add that $\Lambda(t)$ is split over the clients in proportion to $B_m$.",
        checks=(one_client_takes_all, one_client_without_end),
        hypotheses=(r"$\Lambda(t)$ is split over the clients in proportion to $B_m$",),
        checks_with_hypotheses=(
            theorem(
                "Control.buffer_violation_bounded",
                "Control.buffer_violation_attained",
                domain=r"any policy inside the region, every $K$, $T$, $\rho$",
            ),
            confirming(counted_by_name),
        ),
        sketch=rf"{WHY} It is at most $K\bar\Lambda\sum\rho^s/(1-\rho^s)$, bounded in $T$ (thm:dpp-cost-constraint).",
        corrected=Correction(
            title=rf"split $\propto B_m$: the largest $\mathrm{{Vio}}^{{\mathrm B}}$ is $[{LARGEST}]^{{+}}$, exactly",
            statement=said(
                r"If $\Lambda(t)$ is split in proportion to the buffers, the largest buffer violation of a policy "
                r"inside the region is that of always admitting $\Lambda_{\max}$. It is at most $@bound$, and as $T$ "
                r"grows it tends to $[K\bar\Lambda(\sum\rho^s/(1-\rho^s)-(K-1)/2)]^{+}$: 0 wherever that sum, over all "
                "rounds, is at most $(K-1)/2$. $J_t$ sees only the total: without a rule for the split nothing bounds "
                "single clients.",
                bound=violation.buffer_violation_bound(K, T, REGION),
            ),
            formula=said(
                rf"\max_\Lambda\mathrm{{Vio}}^{{\mathrm B}}(T)=\Bigl[{LARGEST}\Bigr]^+=\Bigl[@M\Bigr]^+",
                M=violation.buffer_excess_maximum(K, T, REGION),
            ),
            hypotheses=PROPORTIONAL,
            symbols={"s": "a round"},
            sketch=rf"{WHY} Write $\Lambda_{{\max}}(s)=\bar\Lambda(1+h(s))$, $h(s)=\rho^s/(1-\rho^s)$, and "
            r"$\min(K,T-s+1)$ as $K$ less what the last $\min(K,T)$ rounds are counted less; "
            r"$\sum_{j\le T}\min(K,j)-KT=-k(2K-k-1)/2$ with $k=\min(K,T)$.",
            checks={
                "the largest": (LARGEST_OF_ALL, confirming(extreme_policies)),
                "as $T$ grows": theorem("Buffers.buffer_violation_limit", domain=r"every $K$ and $\rho$"),
            },
        ),
    ),
    Claim(
        id="rem:buffer-violation/uniform",
        kind="reading",
        title=r"$\mathrm{Vio}^{\mathrm B}=O(1)$ with one bound for all $\rho$",
        statement=r"With a fixed $K$ one bound on the buffer violation does for all $\rho$ and $T$. (The remark "
        r"names no $\rho$; the remark before lets $\rho$ tend to 1 with $T$, where a bound for each $\rho$ alone says "
        r"nothing. Read with $\log^+$ in $p$, or else in units of $\bar\Lambda$, one bound for all "
        r"$\bar\Lambda$: at a fixed "
        r"$\bar\Lambda$ and $\rho$ near 1 the printed $p$ of round 1 is not real on all of the region, see "
        "eq:penalty-dpp/real.)",
        formula=r"\sup_{\rho,T}\mathrm{Vio}^{\mathrm B}(T)<\infty",
        domain=rf"{DESIGN}, any split of $\Lambda(t)$, every $0<\rho<1$ and $T\ge1$; $p$ with $\log^+$, or "
        r"$\mathrm{Vio}^{\mathrm B}/\bar\Lambda$ as printed",
        checks=(overfilled_as_printed, overfilled_with_log_plus),
        corrected=Correction(
            title=said(r"the supremum over $T$ is asymptotic to $@r$, $\rho\to1$", r=ORDER),
            statement="If the total is split in proportion to the buffers, the supremum over all $T$ and all policies "
            r"inside the region is $K\bar\Lambda(S-(K-1)/2)$ with $S=\sum\rho^s/(1-\rho^s)$ over all rounds, as soon "
            r"as that is positive: always admitting $\Lambda_{\max}$ comes as close as one likes, and no finite $T$ "
            "attains it.",
            formula=said(r"\sup_{\Lambda,T}\mathrm{Vio}^{\mathrm B}(T)\sim@r\quad(\rho\to1)", r=ORDER),
            hypotheses=PROPORTIONAL,
            sketch=rf"{WHY} In $T$ the excess falls while $n(t)<K\bar\Lambda$ and grows strictly from then on, as "
            r"$n(t)$ grows up to round $K$ and is more than $K\bar\Lambda$ from there on; so its positive part has "
            r"its limit or 0 for a supremum. The limit is $K\bar\Lambda(S-(K-1)/2)$: of the closed form only the late "
            "rounds, at most $K$ terms that tend to 0, are lost. For $S$ see thm:dpp-cost-constraint/uniform.",
            checks={
                "the largest": LARGEST_OF_ALL,
                "supremum": theorem(
                    "Buffers.buffer_violation_limit",
                    "Buffers.buffer_violation_supremum",
                    domain=r"every $K$ and $\rho$",
                ),
                "the sum": theorem("Lambert.lambert_above", "Lambert.lambert_below", domain=r"every $\rho$"),
                r"order in $\rho$": lambert_sum.lambert_order,
            },
        ),
    ),
]
