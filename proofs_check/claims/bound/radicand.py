"""Rounds where N_eff < n, so that the bound takes the root of a negative number (`thm:regret-neff/radicand`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.reuse.constant_counts import FILLING, FULL, late, run, s
from theory.reuse import constant

MIDDLE = K - sp.Rational(1, 2)  # the printed radicand is a quadratic in t around it
SHOWN = {
    "crossover": constant.crossover_constant(K),
    "printed": constant.crossover_constant_as_stated(K),
    "width": sp.expand(constant.crossover_constant_as_stated(K) - MIDDLE),  # negative so far from there
}
# the two thresholds over K, for large K, in four digits
TRUE, STATED = (limit.limit(SHOWN[name] / K, K).n(4) for name in ("crossover", "printed"))


def negative(view: Snapshot) -> Found:
    """The numbers of a round in which N_eff < n."""
    size = view.N * view.uniformity
    if size >= view.n:
        return None
    return {"n": view.n, "N_eff": size, "1/n - 1/N_eff": Fraction(1, view.n) - 1 / size}


def below_exactly_where(where: Any, horizon: Any, at: Any, domain: str) -> Evidence:
    """N_eff < n, under constant admission, if and only if `where`."""
    inverse = constant.inverse_effective_constant(horizon, at, rate)
    n = constant.occupancy_constant(horizon, at, rate)
    return always(sp.Equivalent(inverse > 1 / n, where), domain=f"every rate, {domain}")


@drawn("constant admission", (100, 100), K=retentions(10), t=st.integers(1, 24), rate=st.integers(1, 3))
def constant_admission(K: int, t: int, rate: int) -> Found:
    return negative(run(K, t, [rate]))


@drawn("$K$-step retention, any admissions", (100, 100), K=retentions(), rounds=admissions())
def any_admissions(K: int, rounds: list[list[int]]) -> Found:
    return negative(simulate(rounds, K)[-1])


@drawn(r"$K\le30$, $t\le50$", (60, 600), K=retentions(30), t=st.integers(1, 50), rate=st.integers(1, 2))
def as_predicted(K: int, t: int, rate: int) -> Found:
    below = negative(run(K, t, [rate])) is not None
    return differing(below=below, predicted=t > 1 and bool(t < constant.crossover_constant(K)))


CLAIMS = [
    Claim(
        id="thm:regret-neff/radicand",
        kind="step",
        title=r"$1/n-1/N_{\mathrm{eff}}\ge0$ under the root",
        statement="The quantity that the bound takes the root of is not negative.",
        formula=r"\frac1n-\frac1{N_{\mathrm{eff}}}\ge0",
        domain="$K$-step retention, every round",
        repair=r"Write $\chi$, which is never negative, for $1/n-1/N_{\mathrm{eff}}$.",
        checks=(constant_admission, any_admissions),
        corrected=Correction(
            title=said(r"$N_{\mathrm{eff}}<n$ if and only if $1<t<@crossover$", **SHOWN),
            statement=said(
                r"Under constant admission $N_{\mathrm{eff}}<n$ exactly for $1<t<@crossover$, about "
                rf"${TRUE}K$; with the printed $\widetilde V$ and $n=K\bar\Lambda$, where "
                r"that $\widetilde V$ is not 0, the radicand is negative exactly for $|t-K+1/2|<@width$, so up to "
                rf"$@printed$, about ${STATED}K$.",
                **SHOWN,
            ),
            formula=said(r"N_{\mathrm{eff}}<n\iff1<t<@crossover", **SHOWN),
            sketch=r"For $t\le K$, $n=N$, and $N_{\mathrm{eff}}<N$ unless all counts are equal, which is $t=1$. For "
            r"$t\ge K$ a quadratic inequality in $t$. The threshold lies beyond $K$ for $K\ge2$, so the two "
            r"stretches join; for $K=1$ it is 1, and $N_{\mathrm{eff}}=N$.",
            checks={
                r"true $\widetilde V$, $t\ge K$": (
                    lambda: below_exactly_where(late < constant.crossover_constant(K), K, late, FULL),
                    confirming(as_predicted),
                ),
                # n = N, so N_eff < n as soon as the counts differ
                r"true $\widetilde V$, $t\le K$": lambda: below_exactly_where(t > 1, t + s, t, FILLING),
                "one threshold": lambda: always(
                    constant.crossover_constant(K) > K,
                    given=[K >= 2],
                    domain=r"every $K\ge2$: the threshold lies beyond round $K$",
                ),
                # 1/n - 1/N_eff with n = KΛ̄ is negative between two roots
                r"printed $\widetilde V$": lambda: always(
                    sp.Equivalent(
                        1 / (K * rate) < 1 / (rate * t * constant.uniformity_constant_as_stated(K, t)),
                        sp.And(t - MIDDLE < SHOWN["width"], MIDDLE - t < SHOWN["width"]),
                    ),
                    given=[sp.Ne(2 * t, K - 1)],
                    domain=r"every rate, every $K$, $t\ge1$ where the printed $\widetilde V$ is not 0",
                ),
            },
        ),
    )
]
