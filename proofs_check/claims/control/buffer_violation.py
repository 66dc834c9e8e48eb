r"""The buffers (`rem:buffer-violation`): how far a policy inside the region can overfill them."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.drift_step import rate_is_a_choice
from proofs_check.groundwork.control.orders import ALONG, h
from proofs_check.groundwork.control.region_ends import corners, placed, totals_are_sums
from proofs_check.groundwork.regret import coin, debt_level
from theory.control import violation

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


def below_the_design() -> Evidence:
    """ΣB = (K+j)Λ̄, j >= 1: the least that is free beats the most that is too much, h log h against T."""
    j, p = sp.symbols("j p", positive=True)
    return argument(
        (lambert_bound(ALONG.rho) / (h * sp.log(h)), h, 1, r"the Lambert sum's bound over $h\log h$"),
        ((K * h * sp.log(h) - j * h ** (1 + p)) / h ** (1 + p), h, -j, r"$(K\,h\log h-jT)/T$ at $T=h^{1+p}$"),
        domain=r"every $K$, $j$ and $\phi=1/(1+p)<1$; $h=1/(1-\rho)=T^\phi\to\infty$",
    )


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


excess, bound = sp.symbols("excess bound", real=True)
LARGEST_OF_ALL = theorem(
    "Control.buffer_violation_bounded",
    "Control.buffer_violation_attained",
    "Buffers.buffer_violation_closed",
    domain=r"any policy inside the region, every $K$, $T$, $\rho$",
)
LARGEST = r"\sum\Lambda_{\max}(s)\min(K,T-s+1)-K\bar\Lambda T"
NONE_TOO_MUCH = theorem(
    "Control.buffer_violation_bounded", domain=r"any policy inside the region, every $K$, $T$, $\rho$"
)
WHY = (
    r"With $n_m=nB_m/\sum B$ all clients violate or none does, and $\mathrm{Vio}^{\mathrm B}=[\sum(n-\sum B)]^{+}$. A "
    r"sample of round $s$ is trained on in $\min(K,T-s+1)$ of the rounds up to $T$, so "
    r"$\sum n=\sum\Lambda(s)\min(K,T-s+1)$: linear and increasing in every $\Lambda(s)$, hence largest at "
    r"$\Lambda_{\max}(s)$, which is inside the region. The positive part of a largest value is the largest positive "
    "part."
)
BELOW = (
    r"From above, split in proportion: $\sum_t(n(t)-K\bar\Lambda)\le K\bar\Lambda\sum\rho^s/(1-\rho^s)$, of order "
    r"$h\log h$ with $h=1/(1-\rho)=T^\phi$ (rem:buffer-violation/split). With $K<K^\star$ the buffers have room for "
    r"$(K^\star-K)\bar\Lambda T$ more, which is of higher order."
)
DESIGN = r"$\sum B=K\bar\Lambda$ (the paper's design from cor:optimal-k on, $\lambda_m=B_m/K$)"
PROPORTIONAL = (r"$\lambda_m(t)=\Lambda(t)B_m/\sum B$", r"$\sum B=K\bar\Lambda$")

CLAIMS = [
    Claim(
        id="rem:buffer-violation",
        kind="remark",
        substance="rem:buffer-violation/split",
        title=r"$\mathrm{Vio}^{\mathrm B}=O(1)$ for a $K$ for which it is bounded: true, empty",
        statement="Let $K$ be such that the cumulative buffer violation stays bounded; then it is $O(1)$. (A "
        "tautology, which names no $K$. What it is used for is that the $K$ of the paper's design is one: "
        "rem:buffer-violation/split, and with $V$ and $\\rho$ that move rem:buffer-violation/uniform.)",
        formula=r"\sup_T\mathrm{Vio}^{\mathrm B}(T)\le b\Rightarrow\mathrm{Vio}^{\mathrm B}(T)=O(1)",
        symbols={"b": "a bound"},
        domain="every $K$ for which the violation stays bounded",
        checks=(
            lambda: always(excess <= bound, given=[excess <= bound], domain="every violation, every bound"),
        ),
    ),
    Claim(
        id="rem:buffer-violation/split",
        kind="reading",
        title=r"$\mathrm{Vio}^{\mathrm B}=O(1)$ with the design's $K$",
        statement="With the $K$ of the paper's design the cumulative buffer violation, client by client, stays bounded "
        "in $T$. (The policy chooses the total admission alone, and no rule says how it is split.)",
        formula=r"\mathrm{Vio}^{\mathrm B}(T)=\sum_m\Bigl[\sum_tE[n_m(t)-B_m]\Bigr]^+=O(1)",
        domain=rf"{DESIGN}, any split of $\Lambda(t)$ over the clients, $0<\rho<1$ fixed",
        symbols={"n_m": "samples in the buffer of client $m$"},
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
                "as $T$ grows": theorem(
                    "Buffers.buffer_violation_limit",
                    "Buffers.buffer_violation_supremum",
                    domain=r"every $K$ and $\rho$",
                ),
            },
        ),
    ),
    Claim(
        id="rem:buffer-violation/uniform",
        kind="reading",
        title=r"$\mathrm{Vio}^{\mathrm B}=O(1)$ with $V=T^\gamma$ and $\rho=1-T^{-\phi}$",
        statement=r"With $V$ and $\rho$ of the remark before and a $K$ up to the design's, chosen in advance, the "
        "buffer violation stays bounded.",
        formula=r"\mathrm{Vio}^{\mathrm B}(T)=O(1)\quad(V=T^\gamma,\ \rho=1-T^{-\phi})",
        domain=rf"$0<\gamma,\phi<1$; $\sum B=K^\star\bar\Lambda$, $K\le K^\star$, any split of $\Lambda(t)$; prices as "
        rf"in rem:1/violation; {coin.LOG_PLUS}",
        checks=(coin.toss_overfills,),
        hypotheses=(r"$K<K^\star$, so $K^\star\ge2$", PROPORTIONAL[0]),
        checks_with_hypotheses=(NONE_TOO_MUCH, below_the_design),
        given=(WRITTEN,),
        sketch=BELOW,
        corrected=Correction(
            title=r"the design's $K$: at least $\tfrac14K\bar\Lambda T^\phi$ under ACDPP; a smaller: 0 for large $T$",
            statement=r"With the design's $K=K^\star$ ACDPP's violation is at least "
            r"$\tfrac14K\bar\Lambda T^\phi(1-o(1))$ for $c(1)=0$ or $2C/\bar\Lambda$ by the toss of a coin and "
            r"$c(t)=C/\bar\Lambda$ later, however admissions are split. If they are split in proportion to the buffers "
            r"it is of order $T^\phi\log T$ at most, and with any $K<K^\star$ it is 0 for large $T$, whatever the "
            "prices and the policy inside the region.",
            formula=r"\mathrm{Vio}^{\mathrm B}(T)\ge\tfrac14K\bar\Lambda T^\phi(1-o(1))\ (K=K^\star),\quad"
            r"\mathrm{Vio}^{\mathrm B}(T)=0\ (K<K^\star,\ T\ge T_0)",
            symbols={"T_0": "a round that depends on $K$ and $\\phi$", "o": "of lower order"},
            hypotheses=(coin.LOG_PLUS,),
            given=(WRITTEN,),
            sketch=r"From below: the admissions are those of rem:1/violation, and in $T>K$ rounds the first two count "
            r"$K$ times, a lower end at most $K$ times and all $\bar\Lambda$ together $KT-K(K-1)/2$ times. "
            rf"{BELOW}",
            checks={
                "the design's $K$, from below": (debt_level.debt_free, coin.toss_counted, *coin.COIN),
                "from above": (NONE_TOO_MUCH, lambert_sum.lambert_order),
                "a smaller $K$": (NONE_TOO_MUCH, below_the_design),
            },
        ),
    ),
]
