r"""Remark 1's cost violation (`rem:1/violation`): \(V=T^\gamma\), \(\rho=1-T^{-\phi}\)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import lambert_sum
from proofs_check.groundwork.control.orders import T, h
from proofs_check.groundwork.regret import coin, debt_level
from proofs_check.groundwork.regret.coin import BY_REGION, LOG_PLUS, PRICE, q, u, y
from proofs_check.groundwork.regret.expansion import third
from proofs_check.groundwork.regret.transient import most_samples
from theory.control.violation import cost_violation_rate_as_stated

BOUNDS = {
    "d": r"2\sqrt{2VPh}+(6\sqrt{E[c^2]}\,\bar\Lambda+2C)h",
    "e": r"2\sqrt{VP(T+h(1+\log T))}+C(1+h\rho^{T+1})",
}

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
            v=cost_violation_rate_as_stated(T, V, rho),
        ),
        domain=coin.SETTING,
        repair=r"Assume $2\phi\le1+\gamma$, or prices that never exceed $C/\bar\Lambda$.",
        checks=(coin.toss,),
        hypotheses=(coin.PAID,),
        checks_with_hypotheses=coin.IF_PAID,
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
                "from below": (debt_level.debt_free, *coin.COIN),
                "by debt": coin.DEBT,
                "by the region": lambert_sum.lambert_order,
                "the logarithm": (upper_ends, with_logarithm, lambert_sum.lambert_order),
                "if and only if": coin.exactly_if,
                "every path": coin.EVERY_PATH,
            },
        ),
    )
]
