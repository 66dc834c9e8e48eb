r"""The Lambert sum \(\sum_t\rho^t/(1-\rho^t)\): its summands and its order. Its bounds are proved in Coq."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALONG, h
from theory.control.violation import cost_violation_rate

peak = sp.Symbol("c_max", positive=True)  # a bound on E[c(t)], the same for all rounds and horizons


def lambert_summand() -> Evidence:
    """ρ^t/t <= (1-ρ)h <= √ρ·√ρ^t/t: with g = (1-ρ^t)/(1-ρ) = Σ_{j<t} ρ^j between t·r and t, r² = ρ^(t-1)."""
    g, r, u, v = sp.symbols("g r u v", positive=True)
    above = r"$\sqrt\rho\,\rho^{t/2}=\rho r$; summed, $\sum\sqrt\rho^t/t=\log(1/(1-\sqrt\rho))$"
    below = r"$\rho^j\le1$; summed, $\sum\rho^t/t=\log(1/(1-\rho))$, every $0<\rho<1$, $t\ge1$"
    return argument(
        (rho * r**2 / g <= rho * r / t, [g >= t * r], above),
        ((u**2 + v**2) / 2 >= u * v, [], r"$\rho^j$ and $\rho^{t-1-j}$ average at least $r$: so $g\ge tr$"),
        (rho * r**2 / g >= rho * r**2 / t, [g <= t], below),
    )


def lambert_order() -> Evidence:
    """The upper bound divided by the lower one tends to 1, so the sum is asymptotic to either."""
    quotient = lambert_bound(ALONG.rho) / cost_violation_rate(ALONG.rho)
    return argument((quotient, h, 1, "upper over lower bound"), domain=r"$\rho=1-1/h$, $h\to\infty$")
