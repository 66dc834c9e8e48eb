"""The closed form of Ṽ under constant admission, printed and true."""

from proofs_check.prelude import *

from proofs_check.groundwork.reuse.constant_counts import CASES, FULL, in_y, k, run, s
from theory.reuse import constant


def lost_squares(uniformity: Any, horizon: Any) -> Any:
    """The sum that a closed form subtracts from K²t: read off from it, given (Kt - K(K-1)/2)² above."""
    above = (horizon * t - horizon * (horizon - 1) / 2) ** 2
    return sp.factor(horizon**2 * t - sp.cancel(above / (t * uniformity)))


STATED = constant.uniformity_constant_as_stated(K, t)
PRINTED = lost_squares(STATED, K)
TRUE = lost_squares(constant.uniformity_constant(K, t).subs(sp.Min(K, t), k), k)
OFF = 4 * t * (K * K - 1) / (3 * K * (2 * t - K + 1) ** 2)  # printed less true 1/Ṽ
ZERO = sp.Eq(2 * t, K - 1)  # where the printed form vanishes
NEGATIVE = sp.Lt(6 * K * t, (K - 1) * (2 * K - 1))  # where it is below 0
SIGNS = {"z": ZERO.lhs, "zero": ZERO.rhs, "n": NEGATIVE.lhs, "negative": NEGATIVE.rhs}
EVERY = r"every $K\ge1$, $t\ge1$"


def counted(formula: Callable[..., Any], domain: str, full: int = 60) -> Check:
    @drawn(domain, (60, full), **CASES)
    def check(K: int, t: int, rates: list[int]) -> Found:
        return differing(**{"simulated Ṽ": run(K, t, rates).uniformity, "formula": formula(K, t)})

    return check


TRUE_COUNTED = confirming(counted(constant.uniformity_constant, "every $K$ and $t$, to three clients", 1000))


@drawn("every $K$ and $t$", (200, 200), K=retentions(10), t=st.integers(1, 24))
def printed_is_a_uniformity(K: int, t: int) -> Found:
    value = constant.uniformity_constant_as_stated(K, t)
    return unless(0 < value <= 1, **{"printed Ṽ": value})


CLAIMS = [
    Claim(
        id="eq:vck-exact",
        kind="corollary",
        title=r"closed form of $\widetilde V$, constant admission",
        statement=said(
            r"Under constant admission and $K$-step retention $\widetilde V(t)$ has the printed closed form, with "
            "$@lost$ in its denominator.",
            lost=PRINTED,
        ),
        formula=said(
            r"\widetilde V^{CK}(t)=\frac{(Kt-\frac{K(K-1)}2)^2}{t\,(K^2t-@lost)}=@V",
            lost=PRINTED,
            V=sp.factor(STATED),
        ),
        domain=EVERY,
        repair=r"Write $k(k-1)(4k+1)/6$ for $K(K-1)(2K-1)/6$, and $k=\min(K,t)$ for $K$.",
        checks=(
            refuted(
                "Reuse.printed_uniformity_is_off",
                "Reuse.printed_uniformity_is_false",
                detail=said(
                    r"the printed $1/\widetilde V$ exceeds the true one by $@off$, which is 0 for $K=1$ alone",
                    off=OFF,
                ),
                domain=FULL,
            ),
            counted(constant.uniformity_constant_as_stated, "every $K$ and $t$"),
        ),
        corrected=Correction(
            title=said(r"$@lost$ with $k=\min(K,t)$", lost=TRUE),
            statement=said(
                r"The constant is $@lost$ with $k=\min(K,t)$, in every round; so for $t\ge K$ it is $@late$, and for "
                r"$t\le K$ $\widetilde V=@early$, which does not depend on $K$. With $y=t-(k-1)/2$, "
                r"$\bar\Lambda/N_{\mathrm{eff}}=@inverse$.",
                lost=TRUE,
                late=TRUE.subs(k, K),
                early=sp.factor(constant.uniformity_constant(t + s, t)),
                inverse=in_y(rate * constant.inverse_effective_constant(K, t, rate)),
            ),
            formula=said(
                r"\widetilde V^{CK}(t)=\frac{(kt-\frac{k(k-1)}2)^2}{t\,(k^2t-@lost)},\ k=\min(K,t)", lost=TRUE
            ),
            sketch=said(
                r"$\sum A^2=K^2(t-K)$ and $\sum A^2$ of the cohorts used $1,\ldots,K$ times, together "
                r"$K^2t-(K^3-K(K+1)(2K+1)/6)$, and $K^3-K(K+1)(2K+1)/6=@lost$. The printed constant is the sum of the "
                r"squares $1,\ldots,K-1$, where the sum of $K^2-u^2$ over $u=1,\ldots,K-1$ is needed.",
                lost=TRUE.subs(k, K),
            ),
            checks={
                r"$t\ge K$": (theorem("Reuse.uniformity_closed", domain=EVERY), TRUE_COUNTED),
                r"$t\le K$": (theorem("Reuse.uniformity_closed", domain=EVERY), TRUE_COUNTED),
                r"$1/N_{\mathrm{eff}}$": theorem("Reuse.effective_closed", domain=EVERY),
            },
        ),
    ),
    Claim(
        id="eq:vck-exact/range",
        kind="reading",
        title=r"the printed $\widetilde V$ lies in (0, 1]",
        statement="The printed closed form takes values in (0, 1], as a uniformity must. (It is counted as "
        "eq:vck-exact.)",
        formula=said(r"0<@V\le1", V=sp.factor(STATED)),
        domain=EVERY,
        checks=(printed_is_a_uniformity,),
        corrected=Correction(
            title=said("0 if and only if $@z=@zero$, negative if and only if $@n<@negative$", **SIGNS),
            statement=said(
                r"The printed form is defined for all whole $K,t\ge1$. It is 0 exactly where $@z=@zero$, negative "
                r"exactly where $@n<@negative$, and for $K\ge2$ strictly below the true $\widetilde V$ in every round "
                "from $K$ on.",
                **SIGNS,
            ),
            formula=said(r"\widetilde V=0\iff@z=@zero;\quad\widetilde V<0\iff@n<@negative", **SIGNS),
            sketch=r"Signs of numerator and denominator; the denominator vanishes for no whole $K,t\ge1$. The first "
            "negative value is at $K=5$, $t=1$.",
            checks={
                "defined": theorem("Reuse.printed_uniformity_is_defined", domain=EVERY),
                "zero": theorem("Reuse.printed_uniformity_sign", domain=EVERY),
                "negative": theorem("Reuse.printed_uniformity_sign", domain=EVERY),
                "too small": theorem("Reuse.printed_uniformity_is_false", domain=r"every $K\ge2$, $t\ge K$"),
            },
        ),
    ),
]
