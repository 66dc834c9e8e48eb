r"""The proof of Theorem 3 bounds the limiting penalty uniformly (above `eq:cost-proof-2`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.regret.expansion import third

GAP = penalty_limit_as_stated(K, t, rate, CONSTANTS).linear / (CONSTANTS.eta * CONSTANTS.sigma**2)
MOST = Terms(
    root=root_term(1 / (K * rate), CONSTANTS),
    linear=linear_term(1 / (K * rate), CONSTANTS),
    generalisation=third(rate),
)

CLAIMS = [
    Claim(
        id="eq:cost-proof-2/bounded",
        kind="step",
        title=r"$\bar p_\infty^{CK}(t)$ is uniformly bounded in $t$",
        statement=r"Each limiting penalty is a number below a bound that does not depend on $t$.",
        formula=r"\sup_{t\ge1}\bar p_\infty^{CK}(t)<\infty",
        symbols={"p̄_∞^CK": "the limiting penalty"},
        domain=r"every $t\ge1$, as in the sum, $K\ge2$",
        repair=r"Write $\min(t,K)\bar\Lambda$ for $K\bar\Lambda$ and $\log^+$ for $\log$.",
        hypotheses=(r"$t\ge K$", r"$\log^+$ for $\log$ where $\bar\Lambda t<\mathrm{Pdim}$"),
        checks=(
            lambda: refutes(
                always(sp.Lt(GAP, 0), given=[t < K], domain=r"every $t<K$"),
                r"before round $K$ the printed radicand $1/(K\bar\Lambda)-1/(\bar\Lambda t)$ is negative: no real "
                "number, bounded or not",
            ),
        ),
        checks_with_hypotheses=(
            theorem("Regret.limiting_penalty_as_stated_is_bounded", domain=r"every $t\ge K$, with $\log^+$"),
        ),
        sketch=r"Root and linear term grow with the gap $1/(K\bar\Lambda)-1/(\bar\Lambda t)$, which lies below "
        r"$1/(K\bar\Lambda)$.",
        corrected=Correction(
            title="bounded with the true occupancy",
            statement=r"With $n=\min(t,K)\bar\Lambda$, and $\log^+$, every limiting penalty is at most its first two "
            r"terms' limits and the third term of round 1; the bound depends on neither $t$ nor $\rho$.",
            formula=said(r"\bar p_\infty^{CK}(t)\le@most", most=MOST.root + MOST.linear)
            + r"+10B\sqrt{\frac{\mathrm{Pdim}}{\bar\Lambda}}\sqrt{1+\log^+\frac{\bar\Lambda}{\mathrm{Pdim}}}",
            sketch=r"Before round $K$ nothing has left and the gap $1/n-1/N$ is 0; from then on it is the printed one.",
            checks=(theorem("Regret.limiting_penalty_is_bounded", domain=r"every $t\ge1$"),),
        ),
    )
]
