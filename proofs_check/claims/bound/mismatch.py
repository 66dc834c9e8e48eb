"""The gradient mismatch between all samples seen, weighted by use, and the memory (`eq:sigma-bar-Neff-app`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.reuse import reuse_rounds
from proofs_check.groundwork.reuse.constant_counts import FILLING, FULL, in_y, k, late, variance, y
from proofs_check.groundwork.reuse.reuse_rounds import added_up, p, q, r
from theory.reuse import constant, trajectories
from theory.reuse import counts as reuse

A, S1, S2, uses_kept = sp.symbols("A S1 S2 U", positive=True)  # a count; ΣA, ΣA², and ΣA over the memory
gone = sp.Symbol("gone", nonnegative=True)  # samples no longer in memory
EXCESS = (K - 1) * (1 - (K + 1) / (3 * y)) / (n * y)  # χ less the printed bound, constant admission, t >= K
CHI = reuse.mismatch_from_sums(n, S1, S2, uses_kept)
SQUARES = r"$\sum(\omega-\mathbf1\{i\in Q\}/n)^2$"


def _mean_square(view: Snapshot, values: Sequence[Any]) -> Fraction:
    """E(Σ d_i g_i)², d_i = ω_i - 1{i in memory}/n, for independent g_i, uniform on the values: all outcomes."""
    d = [w - (Fraction(1, view.n) if i in view.memory else 0) for i, w in view.weights.items()]
    outcomes = product(values, repeat=len(d))
    total = sum(sum(a * g for a, g in zip(d, outcome, strict=True)) ** 2 for outcome in outcomes)
    return Fraction(total) / Fraction(len(values) ** len(d))


def signs() -> Evidence:
    """Loss z·θ with z = ±1: the gradient z does not depend on θ, so the supremum does nothing, and σ² = 1."""
    z, theta = sp.symbols("z theta", real=True)

    def exceeds(K: int, t: int) -> Found:
        last = simulate([[1]] * t, K)[-1]
        mismatch, printed = _mean_square(last, (-1, 1)), reuse_rounds.printed_bound(last)
        if mismatch <= printed or printed <= 0:
            return None  # where the printed bound is negative it fails anyway: thm:regret-neff/radicand
        return {
            "reuse counts": list(last.uses.values()),
            "n": last.n,
            "N_eff": last.N * last.uniformity,
            "σ̄², all signs enumerated": mismatch,
            "printed bound": printed,
        }

    domain = r"loss $z\theta$, $z=\pm1$ with equal chances, $\sigma^2=1$; one sample per round"
    found = exhaust(grid(K=range(1, 4), t=range(1, 8)), exceeds, domain=domain)
    slopes = [int(sp.diff(z * theta, theta).subs(z, sign)) for sign in (-1, 1)]
    facts = {
        r"variance $\sigma^2=1$ at every $\theta$": equal(variance(slopes), 1, domain=r"$z=\pm1$"),
        "convexity": equal(sp.diff(z * theta, theta, 2), 0, domain="any $z$"),
    }
    return obeying(found, facts)


def exceeds_by() -> Any:
    """χ less the printed bound under constant admission, t = K+s."""
    chi, size = constant.mismatch_constant(K, late, rate), constant.occupancy_constant(K, late, rate)
    return chi - (1 / size - constant.inverse_effective_constant(K, late, rate))


def printed_is_below() -> Evidence:
    """With a loss whose variance is σ² at some θ, by the corrected statement, σ̄² >= σ²χ."""
    larger = always(exceeds_by() > 0, given=[K >= 2], domain=r"constant admission, every $K\ge2$, $t=K+s$")
    violated = (
        r"$\chi$ exceeds $1/n-1/N_{\mathrm{eff}}$ for every $K\ge2$ and $t\ge K$, so equality "
        r"$\bar\sigma^2=\sigma^2\chi$ violates it"
    )
    return obeying(
        refutes(larger, violated), {r"a mean square of $\sigma^2\chi$": variance_of_a_combination()}
    )


def variance_of_a_combination() -> Evidence:
    """E(Σ d_i g_i)² = v·Σd² + m²(Σd)² for gradients of variance v and mean m: induction over independent samples."""
    v, mean, d, total, squares = sp.symbols("v m d total squares", real=True)

    def mean_square(total: Any, squares: Any) -> Any:
        return v * squares + mean**2 * total**2

    after = mean_square(total + d, squares + d**2)
    extended = mean_square(total, squares) + 2 * d * (mean * total) * mean + d**2 * (v + mean**2)
    coefficients = added_up(A / S1 - 1 / p, A, p, q) + added_up(A / S1, A, gone, S1 - q)
    return argument(
        (mean_square(0, 0), 0, "the mean square of no sample and 0"),
        (extended, after, r"the mean square with one more sample and $v\sum d^2+m^2(\sum d)^2$"),
        (coefficients, 0, r"$\sum(\omega-\mathbf1\{i\in Q\}/n)$ and 0"),
        (mean_square(0, squares), v * squares, r"the mean square where $\sum d=0$ and $v\sum d^2$"),
        domain="any distribution, any counts, any memory",
    )


@drawn(
    "gradients uniform on 2 or 3 values",
    (100, 1000),
    K=retentions(4),
    rounds=admissions(rounds=4, most=2),
    values=st.lists(fractions(-2, 2), min_size=2, max_size=3),
)
def variance_enumerated(K: int, rounds: list[list[int]], values: list[Fraction]) -> Found:
    last = simulate(rounds, K)[-1]
    if last.N > 4 or last.n == 0:
        return None
    return differing(enumerated=_mean_square(last, values), formula=variance(values) * last.mismatch)


def decomposition() -> Evidence:
    """Σ(ω - 1{i in Q}/n)² over the two kinds of samples, term by term: p in memory, the others outside."""
    inside, outside = (A / S1 - 1 / p) ** 2, (A / S1) ** 2
    squares = added_up(inside, A, p, q, r) + added_up(outside, A, gone, S1 - q, S2 - r)
    chi = reuse.mismatch_from_sums(p, S1, S2, q)
    parts = 1 / p + 1 / reuse.effective_from_sums(S1, S2) - 2 * (q / S1) / p
    return argument(
        (squares, chi, rf"{SQUARES} and theory's $\chi$"),
        (chi, parts, r"theory's $\chi$ and $1/n+1/N_{\mathrm{eff}}-2W/n$"),
        domain="any counts, any memory",
    )


@drawn("any $K$, any admissions", (60, 1000), K=retentions(), rounds=admissions(clients=2, rounds=10, most=9))
def kstep_simulated(K: int, rounds: list[list[int]]) -> Found:
    """Both functions exactly; and the trajectory of floats, to four times what it takes for rounding."""
    totals = [sum(r) for r in rounds]
    for view in simulate(rounds, K):
        if view.n and reuse.mismatch_kstep(totals[: view.round], K) != view.mismatch:
            return {"round": view.round, "simulated": view.mismatch}
        if all(totals):
            columns = totals, np.array(totals, dtype=float)
            whole, rounded = (trajectories.trajectory(x, K).mismatch[view.round - 1] for x in columns)
            if whole != view.mismatch or abs(Fraction(rounded) - whole) > 4 * Fraction(1, 2**46):
                return {"round": view.round, "exact": whole, "rounded": rounded, "simulated": view.mismatch}
    return None


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app",
        kind="step",
        title=r"$\bar\sigma^2\le\sigma^2(1/n-1/N_{\mathrm{eff}})$",
        statement="The mean squared mismatch between the gradient over all samples, weighted by use, and the "
        r"gradient over the memory is at most $\sigma^2(1/n-1/N_{\mathrm{eff}})$.",
        formula=r"\bar\sigma^2(t)\le\sigma^2\bigl(\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\bigr)",
        domain="$K$-step retention, every round",
        repair=r"Write $\chi$ for $1/n-1/N_{\mathrm{eff}}$, at a fixed $\theta$.",
        checks=(signs, printed_is_below),
        corrected=Correction(
            title=r"at fixed $\theta$ it is $\sigma^2\chi$, and $\chi\ge1/n-1/N_{\mathrm{eff}}$",
            statement=said(
                r"At a fixed $\theta$ the mean squared mismatch is exactly "
                r"$\mathrm{Var}(\theta)\cdot\chi\le\sigma^2\chi$ with $\chi=1/n+1/N_{\mathrm{eff}}-2W/n=@chi$, where "
                "$W=U/S_1$ is the memory's share of all uses. Under $K$-step retention "
                r"$\chi\ge1/n-1/N_{\mathrm{eff}}$ for all admissions: the printed bound is a lower bound. Under "
                r"constant admission, with $k=\min(K,t)$ and $y=t-(k-1)/2$, $n\chi=@closed$, and for $t\ge K$ the "
                "excess is $@excess$.",
                chi=CHI,
                closed=in_y(k * rate * constant.mismatch_constant(K, t, rate).subs(sp.Min(K, t), k)),
                excess=EXCESS,
            ),
            formula=said(
                r"E\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2=\mathrm{Var}(\theta)\,\chi,\quad \chi=@chi,\ "
                r"S_1=\sum A,\ S_2=\sum A^2,\ U=\sum_QA",
                chi=CHI,
            ),
            hypotheses=(
                r"$\theta$ does not depend on the samples; samples independent, of one distribution; retention blind "
                "to their values",
            ),
            sketch=r"The mismatch is $\sum d_ig_i$, where sample $i$ has gradient $g_i$ and "
            r"$d_i=\omega_i-\mathbf1\{i\in Q\}/n$. Adding one independent sample after the other, its mean square is "
            r"$\mathrm{Var}\cdot\sum d^2+(\text{mean})^2(\sum d)^2$, coordinate by coordinate, and $\sum d=0$. "
            r"Multiplied out, $\sum d^2$ is $\chi$. The printed form would need $W/n\ge1/N_{\mathrm{eff}}$, a memory "
            "at least as used as the average use; $K$-step memories hold the least used. In sums $p$, $q$, $r$ of 1, "
            "$A$, $A^2$ over the memory, with $e$ samples gone, used $K$ times each: "
            r"$\chi-1/n+1/N_{\mathrm{eff}}\ge0$ is $q/p\le(r+K^2e)/(q+Ke)$, and "
            "$p(r+K^2e)-q(q+Ke)=(pr-q^2)+Ke(Kp-q)$, both not negative.",
            checks={
                "variance": (variance_of_a_combination, confirming(variance_enumerated)),
                r"$\chi$": decomposition,
                r"$\chi$, $K$-step": (
                    theorem("Reuse.uses_are_counted", "Reuse.mismatch_by_sums", domain="any admissions"),
                    confirming(kstep_simulated),
                ),
                r"closed form, $t\ge K$": theorem("Reuse.mismatch_closed", domain=f"every rate, {FULL}"),
                r"closed form, $t\le K$": theorem("Reuse.mismatch_closed", domain=f"every rate, {FILLING}"),
                "excess": lambda: equal(
                    exceeds_by(),
                    EXCESS.subs({n: K * rate, y: late - (K - 1) / sp.Integer(2)}),
                    domain=f"every rate, {FULL}, $y=t-(K-1)/2$",
                    what=r"$\chi-(1/n-1/N_{\mathrm{eff}})$ and its closed form",
                ),
                "lower bound": theorem("Reuse.mismatch_at_least_printed", domain="$K$-step, any admissions"),
            },
            symbols={
                "Var": r"variance of one sample's gradient at $\theta$",
                "S": "$S_1$ is the sum of all reuse counts, $S_2$ that of their squares",
                "U": "uses of the samples in memory",
            },
        ),
    )
]
