"""With D²/(2η) in every round, as printed, Theorem 1 is vacuous on a convex Θ: an excess risk is at most DG."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round
from theory.bound import theorem1 as bound

PRINTED = bound.theorem_1_as_stated([n], [N], [neff / N], CONSTANTS).terms  # of one round
CONVEX = r"$\Theta$ is convex"
c = CONSTANTS


def constant_exceeds(factor: sp.Expr) -> Evidence:
    """D²/(2η) and the appendix's constant of a round are together at least `factor`·DG, whatever E."""
    drift, bent = sp.symbols("drift bent", nonnegative=True)  # what local steps add to the printed C₁ and C₂
    alone = (PRINTED.constant + PRINTED.initial).subs(c.E, 1)
    more = PRINTED.constant - PRINTED.constant.subs(c.E, 1)
    steps = sp.Symbol("steps", nonnegative=True)  # E - 1
    added = (c.eta * drift + c.eta**3 * bent) / 2
    parts = {
        drift: sp.sqrt(8 * steps / (1 + steps)) * c.G * c.L * c.D,
        bent: 4 * steps / (1 + steps) * (c.L * c.G) ** 2,
    }
    return argument(
        (more.subs(c.E, 1 + steps), added.subs(parts), "what $E>1$ adds"),
        always((alone + added) ** 2 >= (factor * c.D * c.G) ** 2, domain=r"every $D$, $\eta$, $G>0$"),
    )


def risk_in_a_round() -> Evidence:
    """⟨g, x⟩ <= DG for a gradient g of the risk and x = θ - θ*."""
    return one_round.slope_along(c.G, r"$g=\nabla F_P$ between $\theta^\star$ and $\theta$")


EMPTY = theorem("Learning.printed_theorem_is_empty", domain="every round whose printed terms are real")
WHY = (
    r"On the segment from $\theta^\star$ to $\theta$, which lies in $\Theta$, "
    r"$F_P(\theta)-F_P(\theta^\star)=\langle\nabla F_P(\xi),\theta-\theta^\star\rangle\le DG$ by the mean value "
    r"theorem, convex losses or not. The constant of a round is more than that: $D^2/(2\eta)+5\eta G^2/2\ge\sqrt5\,DG$ "
    "by the inequality of the means. The other terms, where they are real, are not negative. So the bound exceeds "
    "every excess risk there is, whatever the policy does."
)
