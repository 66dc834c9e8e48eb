"""Means with constant (`law:averaged/constant`) and polynomial weights (`law:averaged/polynomial`), in closed form."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import full
from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.averaged_limits import (
    averaged_left_constant,
    averaged_noise_constant,
    averaged_rest,
    common_share,
    polynomial_factor,
    polynomial_left,
)
from theory.law.averaging import final_weights, polynomial

a, x, T, gamma = sp.symbols("a x T gamma", positive=True)
d, k, m = sp.symbols("d k m", integer=True, nonnegative=True)
t = sp.Symbol("t", integer=True, positive=True)
EVERY = r"every $0<a<1$, lag $d$ and $T$"


# --- constant admission ------------------------------------------------------------------------------------


def shares_of_rounds() -> Evidence:
    """u = (1-a^j)/((T+1)(1-a)) of a model that j-1 follow: p + au', and so g = (1-a^j)/(T+1)."""
    p = 1 / (T + 1)
    worth = p * (1 - a**m) / (1 - a)
    return argument(
        (worth.subs(m, 0), 0, "after the last model"),
        (p + a * worth, p * (1 - a ** (m + 1)) / (1 - a), "$u$ a round earlier"),
        (averaged_left_constant(a, T + 1), p * (1 - a ** (T + 1)) / (1 - a), "what is left of the start"),
        domain="every $a$ and $T$",
    )


def products_of_shares() -> Evidence:
    """theory's Σ(1-a^k)(1-a^(k+d)): 0 for no terms, and one term more from T to T+1; K²-many pairs of rounds."""
    grown = common_share(a, d, T + 1) - common_share(a, d, T)
    term = (1 - a ** (T + 1 - d)) * (1 - a ** (T + 1))
    pairs = K + 2 * symbolic_sum(K - t, t, 1, K - 1)
    return argument(
        (common_share(a, d, d), 0, "no terms and 0"),
        (grown, term, "a term more"),
        (pairs, K**2, r"the sum of $K-|d|$ and $K^2$"),
        *(
            (
                averaged_noise_constant(a, kept, T) * kept**2 * (T + 1) ** 2,
                sum((kept - abs(lag)) * common_share(a, abs(lag), T) for lag in range(1 - kept, kept)),
                f"theory's noise and its sum over lags, $K={kept}$,",
            )
            for kept in (1, 2, 3)
        ),
        domain=EVERY,
    )


def in_the_limit() -> Evidence:
    """Each lag's sum over T tends to 1: so K²/K² is left; and T times what is left of the start to 1/(1-a)."""
    at = sp.exp(-x)
    return limits(
        T,
        (sp.expand(common_share(at, d, T)) / (T + 1), 1, "a lag's sum over $T$"),
        ((T + 1) * averaged_left_constant(at, T + 1), 1 / (1 - at), "$T$ times what is left of the start"),
        domain="every $a=e^{-x}$ and lag",
    )


@everywhere("$K-1\\le T\\le K+6$", kept=(1, 2, 3, 4), more=(-1, 0, 1, 6), a=(F(0), F(1, 2), F(9, 10)))
def sample_by_sample(kept: int, more: int, a: F) -> Found:
    """The closed forms against the law of the mean."""
    rounds = max(kept + more, 1)
    left, squares = by_shares(full(kept, rounds), rounds, a, [F(1, rounds + 1)] * (rounds + 1))
    return differing(
        law=[left[0], 2 * squares[0]],
        closed=[averaged_left_constant(a, rounds + 1), averaged_noise_constant(a, kept, rounds)],
    )


# --- polynomial weights ------------------------------------------------------------------------------------


def rising(first: Any, factors: int) -> Any:
    """Rising factorial: first·(first+1)·…"""
    found = sp.Integer(1)
    for j in range(factors):
        found *= first + j
    return found


def their_weights() -> Evidence:
    """p_t = (γ+1)·t(t+1)…(t+γ-1)/(T(T+1)…(T+γ)): w at t = T, and (1-w) of itself a model later."""
    top, R, before = sp.symbols("top R before", positive=True)  # t…(t+γ-1); T…(T+γ); (T+1)…(T+γ)
    share = polynomial(T + 1, gamma)
    return argument(
        # (T)_γ/(T)_(γ+1) = 1/(T+γ), and (T)_(γ+1)/(T+1)_(γ+1) = T/(T+γ+1)
        ((gamma + 1) / (T + gamma), polynomial(T, gamma), "the newest weight"),
        ((gamma + 1) * top / R * (1 - share), (gamma + 1) * top / (R * (T + 1 + gamma) / T), "a model later"),
        (T * before * (T + 1 + gamma) / T, before * (T + 1 + gamma), "the next product below"),
        domain=r"every $\gamma$ and $T$",
    )


@everywhere(
    r"$\gamma\le8$, $T\le12$", gamma=(0, 1, 2, 3, 8), models=by_profile((1, 2, 5, 12), (1, 2, 5, 12, 40))
)
def weights_one_by_one(gamma: int, models: int) -> Found:
    """Weights by the running mean and in closed form; the rest of the start is below theory's by O(a^T)."""
    p = final_weights([polynomial(k, gamma) for k in range(1, models + 1)])
    whole = F(factorial(gamma + 1), factorial(gamma)) * F(factorial(models - 1), factorial(models + gamma))
    closed = [whole * F(factorial(t + gamma - 1), factorial(t - 1)) for t in range(1, models + 1)]
    a = F(1, 2)
    left = sum(weight * a**k for k, weight in enumerate(p))
    gap = polynomial_left(a, gamma, models) - left
    far = a**models * models ** (gamma + 1) * F(factorial(gamma + 1), models) * 2 ** (gamma + 1)
    return unless(p == closed and 0 <= gap <= far, p=p, closed=closed, gap=gap)


def squares_add_up() -> Evidence:
    """Σp² from t^γ <= t(t+1)…(t+γ-1) <= (t+γ)^γ: both sides' squares add up to T^(2γ+1)/(2γ+1), asymptotically."""
    y, low = sp.symbols("y low", positive=True)
    factor, size = 2 * gamma + 1, sp.Symbol("T", positive=True)
    total = size**factor / factor * (gamma + 1) ** 2 / size ** (2 * gamma + 2) * size
    return argument(
        ([low * y <= low * (y + k), low * (y + k) <= low * (y + gamma)], [k <= gamma], "$k<\\gamma$"),
        (total, polynomial_factor(gamma), r"$T\sum p^2$ and the factor", r"every $\gamma$"),
        equivalent(size ** (2 * gamma), size, size**factor, 1 / factor, domain=r"every $\gamma$, from below"),
        *(
            equivalent((size + g) ** (2 * g), size, size**odd, sp.Rational(1, odd), domain=rf"$\gamma={g}$")
            for g, odd in ((1, 3), (3, 7), (8, 17))
        ),
        limits(size, ((1 + gamma / size) ** (2 * gamma), 1, "the sides' ratio"), domain=r"every $\gamma$"),
    )


def the_rest() -> Evidence:
    """Weights that never fall vary by v <= 2p_T, of order 1/T, so √T times the rest tends to 0."""
    last = polynomial(T, gamma)
    over = averaged_rest(sp.exp(-x), K, 2 * last) * sp.sqrt(T)
    low, mid, high = sp.symbols("low mid high", positive=True)
    window = [mid**2 >= low**2, mid**2 <= high**2]
    return argument(
        (over, T, 0, r"$\sqrt T$ times the rest"),
        (T * K * last**2, T, 0, "$T$ times what the ends of windows of $K$ rounds add"),
        (window, [low <= mid, mid <= high], "a window's mean between its ends"),
        domain=r"every $\gamma$, $K$, $a=e^{-x}$",
    )


def the_start() -> Evidence:
    """(1-a)Σt…(t+γ)a^(t-1) = (γ+1)Σt…(t+γ-1)a^(t-1): a product less its predecessor is γ+1 times one factor less."""
    between = sp.Symbol("between", positive=True)  # t…(t+γ-1)
    constants = [
        (
            polynomial_left(a, g, T) * rising(T, g + 1) * (1 - a) ** (g + 1),
            sp.factorial(g + 1),
            rf"theory's, $\gamma={g}$,",
        )
        for g in (0, 1, 2, 3, 8)
    ]
    return argument(
        (between * (t + gamma) - (t - 1) * between, (gamma + 1) * between, "a product less its predecessor"),
        *constants,
        domain="every $t$ and whole $\\gamma$",
    )


def orders() -> Evidence:
    """T^(γ+1) times what is left of the start tends to (γ+1)!/(1-a)^(γ+1)."""
    rows = (
        (T ** (g + 1) * polynomial_left(a, g, T), sp.factorial(g + 1) / (1 - a) ** (g + 1), rf"$\gamma={g}$")
        for g in (0, 1, 3, 8)
    )
    return limits(T, *rows, domain=r"every $0\le a<1$")


@everywhere("two samples per round, $a=1/2$", gamma=(0, 1, 3), kept=(1, 2), rounds=(20, 40))
def noise_by_the_law(gamma: int, kept: int, rounds: int) -> Found:
    """2T·Σb² over the factor: less than half as far from 1 in four times as many rounds, or within a hundredth."""
    off = []
    for T in (rounds, 4 * rounds):
        p = final_weights(over_rounds(lambda k: polynomial(k, gamma), T))
        squares = by_shares(full(kept, T), T, F(1, 2), p)[1][0]
        off.append(abs(2 * T * squares / polynomial_factor(gamma) - 1))
    return unless(off[1] < max(off[0] / 2, F(1, 100)), off=[float(one) for one in off])


CLAIMS = [
    Claim(
        id="law:averaged/constant",
        title=r"constant admission, averaged: $t\sum b^2\to1/\bar\Lambda$",
        statement="Under constant admission from a full memory on, with steps of one size and equal "
        r"weights, the noise and the transient of the mean are in closed form. In the limit $\bar\Lambda "
        r"T\sum b^2$ tends to 1 and $T$ times what is left of the start to $1/(1-a)$: the transient is of "
        "order $T^{-2}$, and neither step size nor retention matters for the noise, where the last "
        r"iterate has $v(a,K)/\bar\Lambda$ for ever.",
        formula=r"\bar\Lambda\sum_ib_i^2=\frac1{K^2(T+1)^2}\sum_{|d|<K}(K-|d|)\sum_{k=1}^{T-|d|}(1-a^k) "
        r"(1-a^{k+|d|}),\quad u(1)=\frac{1-a^{T+1}}{(T+1)(1-a)}",
        domain=r"quadratic losses with one Hessian, $0\le a<1$, every $K$, $\bar\Lambda$ and $T\ge K-1$",
        sketch="In the equal mean of $T+1$ models a round that $j$ models follow has the share "
        r"$(1-a^j)/(T+1)$. Two rounds at distance $d<K$ have $(K-d)\bar\Lambda$ samples in common, each "
        r"with $1/(K\bar\Lambda)^2$: so $\bar\Lambda\sum b^2$ is the stated sum. Each inner sum is a "
        "geometric one, and $T$ in the limit; the $K-|d|$ add up to $K^2$.",
        given=(WRITTEN,),
        checks={
            "closed form": (shares_of_rounds, products_of_shares, confirming(sample_by_sample)),
            "limit": in_the_limit,
        },
        symbols=AVERAGED,
    ),
    Claim(
        id="law:averaged/polynomial",
        title="polynomial weights: less transient for more noise",
        statement=r"Let $\bar\theta\leftarrow\bar\theta+\frac{\gamma+1}{t+\gamma}(\theta-\bar\theta)$ "
        r"with whole $\gamma\ge0$, under constant admission and steps of one size. Model $t$ of $T$ "
        r"weighs $(\gamma+1)\frac{t(t+1)\cdots(t+\gamma-1)}{T(T+1)\cdots(T+\gamma)}$, the noise is "
        r"$(\gamma+1)^2/(2\gamma+1)$ times that of equal weights in the limit, and of the start "
        r"$(\gamma+1)!/(T(1-a))^{\gamma+1}$ is left, up to what falls like $a^T$: the transient is of "
        r"order $T^{-2(\gamma+1)}$.",
        formula=said(
            r"\lim\bar\Lambda T\sum_ib_i^2=@factor,\qquad\lim "
            r"T^{\gamma+1}u(1)=\frac{(\gamma+1)!}{(1-a)^{\gamma+1}}",
            factor=polynomial_factor(gamma),
        ),
        domain=r"quadratic losses with one Hessian, $0\le a<1$, every $K$, $\bar\Lambda$ and whole "
        r"$\gamma\ge0$",
        sketch=r"$w=(\gamma+1)/(T+\gamma)$ is the newest weight, and $1-w=T/(T+1+\gamma)$ at $T+1$ turns "
        "a weight at $T$ into that at $T+1$. The weights never fall, so by law:averaged/counts "
        r"$\sqrt{\sum b^2}$ is within $2p_T\sqrt{K/(1-a)}$ of the root of $\frac1{\bar\Lambda}$ times the "
        r"sum of squared means of $p$ over windows of $K$ rounds, which is $\sum p^2$ up to $Kp_T^2$: "
        r"both are of smaller order than $1/T$ after squaring. $t^\gamma\le "
        r"t(t+1)\cdots(t+\gamma-1)\le(t+\gamma)^\gamma$, so $\sum p^2$ is "
        r"$(\gamma+1)^2T^{-2\gamma-2}T^{2\gamma+1}/(2\gamma+1)$ asymptotically. With "
        r"$s_\gamma=\sum_{t\ge1}t\cdots(t+\gamma-1)a^{t-1}$, $(1-a)s_{\gamma+1}=(\gamma+1)s_\gamma$ and "
        r"$s_0=1/(1-a)$, so $s_\gamma=\gamma!/(1-a)^{\gamma+1}$; the terms beyond $T$ fall like $a^T$. "
        "(Shamir and Zhang 2013 have these weights.)",
        given=(WRITTEN,),
        checks={
            "weights": (their_weights, confirming(weights_one_by_one)),
            "noise": (squares_add_up, the_rest, confirming(noise_by_the_law)),
            "transient": (the_start, orders, confirming(weights_one_by_one)),
        },
        symbols=AVERAGED,
    ),
]
