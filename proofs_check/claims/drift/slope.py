r"""The best K and step behind a steady slope (`law:drift/slope`): K = 1 again, but another order."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import LAG, MOVING, nu
from proofs_check.groundwork.law.lags import EVERY, a
from theory.drift.long_run import slope_lag

g, t = sp.symbols("g t", positive=True)


def equality() -> Evidence:
    """The product is 1 at K = 1 and 2, and at a = 0."""
    return argument(
        (stationary_noise(a, 1) * (2 * slope_lag(a, 1) - 1), 1, "$v(2L-1)$ at $K=1$"),
        (stationary_noise(a, 2) * (2 * slope_lag(a, 2) - 1), 1, "$v(2L-1)$ at $K=2$"),
        (stationary_noise(sp.Integer(0), K) * (2 * slope_lag(sp.Integer(0), K) - 1), 1, "$v(2L-1)$ at $a=0$"),
        domain=EVERY,
    )


def order() -> Evidence:
    """K = 1: g² = να³/(2-α)² grows with α, so that each slope has one best step; the least risk at α = 1/t."""
    step = sp.Symbol("alpha", positive=True)
    risk = 2 * drift_floor(1, 1, h=[1], variance=[nu], walk=[0], slope=[g], eta=step)
    squared = nu * step**3 / (2 - step) ** 2
    least = risk.subs(g, sp.sqrt(squared))
    lesser = sp.Symbol("beta", positive=True)
    steeper = squared > squared.subs(step, lesser)
    small = {step: 1 / t}
    third = sp.Rational(1, 3)
    stated = sp.Rational(3, 4) * (4 * nu**2 * squared) ** third
    return argument(
        (steeper, [lesser < step, step <= 1], "steeper paths want larger steps"),
        limits(t, ((least / stated).subs(small), 1, "the least risk over it"), domain=r"$\alpha\to0$"),
    )


CLAIMS = [
    Claim(
        id="law:drift/slope",
        title="behind a slope, too, no $K$ is better than 1",
        statement=r"Behind a steady slope of $g$ a round the risk is $\nu v+g^2L^2$. For every $K$ and step "
        r"$v(2L-1)\ge1$, with equality for $K\le2$ or $a=0$; so $K=1$ has, at some step, the same lag and no "
        "more noise, at the same rate: within budgets $K=1$ is best if the step may be chosen. The best step "
        r"has $\nu\alpha^3=g^2(2-\alpha)^2$ if $g^2\le\nu$, and is 1 behind a steeper slope; for gentle ones the "
        r"least mean square error is about $\tfrac34(2\nu g)^{2/3}$, where a walk has $\sqrt{q\nu}$. Judged by "
        "the world a round earlier, the model has a round less of lag: $K=1$ is best all the same, and for "
        "gentle slopes nothing changes. Weights that no $K$ has are better (law:drift/velocity).",
        formula=r"v(a,K)\,\bigl(2L(a,K)-1\bigr)\ge1,\qquad "
        r"\min_\alpha\frac{\nu\alpha}{2-\alpha}+\frac{g^2}{\alpha^2}\sim\tfrac34(2\nu g)^{2/3}",
        domain=r"constant admission, quadratic losses with one Hessian, one direction, every $K\ge1$, $0\le "
        "a<1$, $g>0$",
        sketch=r"$v$ is $\frac{1-a}{1+a}$ times the mean of $M_{ij}=a^{|i-j|}$ over all pairs of $K$ "
        "rounds. $M$ is a matrix of covariances, so not negative, and takes "
        r"$u=\frac1{1+a}(1,1-a,\dots,1-a,1)$ to $(1,\dots,1)$. By Cauchy and Schwarz $\mathbf 1^\top "
        r"M\mathbf 1\cdot\sum u\ge K^2$, and $\sum u=\frac{1-a}{1+a}(2L-1)$. At $K=1$ it is an equality at "
        "every step, and $L$ takes every value from 1 on. The risk at $K=1$ has one stationary point.",
        given=(LAG,),
        checks={
            "every $K$": (
                theorem("Stationary.noise_times_lag", "Stationary.no_retention_is_better", domain=EVERY),
                equality,
            ),
            "the step": (
                theorem("Stationary.best_step_behind_a_slope", domain="every slope, noise, and step up to 1"),
                order,
            ),
        },
        symbols=MOVING
        | {"M": "the matrix of $a^{|i-j|}$", "u": "what $M$ takes to ones", "j": "a round", "i": "a round"},
    )
]
