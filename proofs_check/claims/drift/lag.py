r"""Lag behind a walk (Y), a slope (L) and a jump in the long run, for all K (`law:drift/lag`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import MOVING, NOISE, full, long_run
from proofs_check.groundwork.law.lags import EVERY, a, d
from theory.drift.long_run import jump_left, mean_younger, slope_lag, stationary_lag
from theory.drift.moving_optimum import walk_lag
from theory.law.averaging import latest

Y, v, W, W1, t = sp.symbols("Y v W W_1 t", positive=True)
m, more = sp.symbols("m more", integer=True, nonnegative=True)
alpha = 1 - a


def by_weights() -> Evidence:
    """Lags by the rests W_m of a jump: (1-a)W^y_m = W_m - aW_(m-1). With R = ΣW_mW_(m+1): v = 2Y - 1 - 2R, and
    (1-a)²(Y_0-1) = (Y-1) - 2aR + a²Y.
    """
    product = (Y + (Y - 1) - v) / 2
    before = 1 + ((Y - 1) - 2 * a * product + a**2 * Y) / alpha**2
    return argument(
        ((W - W1) ** 2, W**2 + W1**2 - 2 * W * W1, "a weight's square and its parts"),
        ((W1 - a * W) ** 2, W1**2 - 2 * a * W * W1 + a**2 * W**2, "the square of $(1-a)W^y$ and its parts"),
        (Y - before, a / alpha - a * v / alpha**2, "what a geometric number adds to $Y$"),
        domain="any weights that add up to 1, $0<a<1$",
    )


def every_K() -> Evidence:
    """The box alone: W_m = (K-m)/K, so K²Y_0 is the sum of the first K squares. Then the geometric number."""
    box = 1 + mean_younger(K)
    squares = K**2 * box
    stays = stationary_lag(a, K) - (a / alpha - a * stationary_noise(a, K) / alpha**2)
    return argument(
        (1 + mean_younger(1), 1, "one round"),
        (squares.subs(K, K + 1) - squares, (K + 1) ** 2, "a square more"),
        (stays, box, "theory's $Y$ less what steps add"),
        (stationary_lag(a, 1), 1 / (1 - a**2), "$Y$ at $K=1$"),
        domain=EVERY,
    )


def between() -> Evidence:
    """Y(K) - Y(1) is the mean of min(i, j) plus a/(1+a) times the mean of 1 + a + … + a^(|i-j|-1)."""
    powers = 2 * (K * (K - 1) / 2 - lag_sum(a, K)) / (K**2 * alpha)
    rise = stationary_lag(a, K) - stationary_lag(a, 1)
    total = sp.Symbol("total", nonnegative=True)
    return argument(
        (rise, mean_younger(K) + a / (1 + a) * powers, "the rise of $Y$ and its parts", EVERY),
        (symbolic_sum(K - d, d, 1, K - 1), K * (K - 1) / 2, "pairs apart", "every $K$"),
        (mean_younger(K) + mean_lag(K) / 2, (K - 1) / 2, "the parts at $a=1$", "every $K$"),
        (a / (1 + a) * total <= d / 2, [a < 1, total <= d], r"$1+a+\dots+a^{d-1}\le d$"),
    )


def small_steps() -> Evidence:
    near = 1 - 1 / t
    rise = stationary_lag(near, K) - stationary_lag(near, 1)
    return limits(t, (rise, (K - 1) / 2, "$Y(a,K)-Y(a,1)$"), domain=r"$a\to1$, every $K$")


def slopes() -> Evidence:
    """EX is a/(1-a), as m = a(1+m), plus the mean of 0..K-1; and the model has not seen one round."""
    box = symbolic_sum(m, m, 0, K - 1) / K
    geometric = slope_lag(a, K) - 1 - box
    return argument(
        (geometric, a * (1 + geometric), "a geometric number's mean"),
        (slope_lag(a, K) - slope_lag(a, 1), (K - 1) / 2, "what retention adds"),
        domain=EVERY,
    )


def jumps() -> Evidence:
    """W_m = aW_(m-1) + (1-a)(K-m)/K while old samples are left, W_m = aW_(m-1) when none are, and W_0 = 1."""
    young, kept = m + 2 + more, m + 2
    beyond = kept + more
    return argument(
        (jump_left(a, K, 0), 1, "nothing seen yet"),
        (jump_left(a, young, m + 1), a * jump_left(a, young, m) + alpha * (more + 1) / young, "$m<K$, then"),
        (jump_left(a, kept, beyond), a * jump_left(a, kept, beyond - 1), r"a round later, $m\ge K$,"),
        domain=EVERY,
    )


def _older(weights: Sequence[F], a: F) -> list[F]:
    """The weight, after steps, of what is at least so old, by age; beyond these, each is a times the one before."""
    x, found = F(0), []
    for weight in weights:
        x = a * x + (1 - a) * weight
        found.append(x)
    return [1 - sum(found[:m], F(0)) for m in range(len(found) + 1)]


@drawn(
    "up to 5 weights, any of them 0, and $a<1$",
    (20, 300),
    parts=st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any),
    a=fractions(F(1, 12), F(11, 12)),
)
def weight_by_weight(parts: list[int], a: F) -> Found:
    """Sums over all ages, the tail being geometric, for any weights before steps."""
    weights = [F(part, sum(parts)) for part in parts]
    left = _older(weights, a)
    before = [1 - sum(weights[:m], F(0)) for m in range(len(weights))]
    squares = sum(w * w for w in left) + left[-1] ** 2 * a**2 / (1 - a**2)
    each = [left[m] - left[m + 1] for m in range(len(weights))]
    noise = sum(x * x for x in each) + (left[-1] * (1 - a)) ** 2 / (1 - a**2)
    stated = a / (1 - a) - a * noise / (1 - a) ** 2
    return differing(by_sums=squares - sum(w * w for w in before), stated=stated)


@everywhere("$K\\le8$, $a=0,1/2,9/10$", kept=(1, 2, 3, 8), a=(F(0), F(1, 2), F(9, 10)))
def age_by_age(kept: int, a: F) -> Found:
    """The mean age of the weights, and one round that the model has not seen: the sum of what is at least so old."""
    left = _older([F(1, kept)] * kept, a)
    return differing(by_sums=sum(left) + left[-1] * a / (1 - a), stated=slope_lag(a, kept))


@everywhere("$K\\le5$, $T\\le12$, three $a$", kept=(1, 2, 5), rounds=(1, 4, 12), a=(F(0), F(1, 2), F(9, 10)))
def by_the_law(kept: int, rounds: int, a: F) -> Found:
    """Lags from a full memory at rest: a walk's is ΣW² so far, which lacks Y's geometric tail; a jump leaves W."""
    rule, last = full(kept, rounds), over_rounds(latest, rounds)
    left = [jump_left(a, kept, m) for m in range(rounds + kept)]
    path = [[F(0)]] + [[F(1)]] * rounds
    tail = left[-1] ** 2 * a**2 / (1 - a**2)
    return differing(
        law=[
            walk_lag(rule, rounds, a, last)[-1, 0],
            path_bias(rule, rounds, a, last, path=path, first=[F(0)])[-1, 0],
        ],
        closed=[sum(w * w for w in left[:rounds]), -left[rounds - 1]],
    ) or differing(whole=sum(w * w for w in left) + tail, closed=stationary_lag(a, kept))


@everywhere("five $a$", kept=(1, 2, 3, 8), a=(F(0), F(1, 2), F(9, 10), 1 - F(1, 10**3), 1 - F(1, 10**6)))
def rise_by_the_law(kept: int, a: F) -> Found:
    """Retention adds to Y the mean of min(i, j) at a = 0, more elsewhere, and (K-1)/2 less at most (1-a)K(K-1)/4."""
    rise = long_run(kept, a)[1] - long_run(1, a)[1]
    low, high = F(sum(min(i, j) for i in range(kept) for j in range(kept)), kept**2), F(kept - 1, 2)
    within = rise == low if a == 0 or kept == 1 else low < rise < high
    near = 0 <= high - rise <= (1 - a) * kept * (kept - 1) / 4
    return unless(within and near and low == mean_younger(kept), low=low, rise=rise, high=high)


CLAIMS = [
    Claim(
        id="law:drift/lag",
        title="retention costs $(K-1)/2$ rounds of lag",
        statement=r"Under constant admission, in the long run, the model is $L=\frac1{1-a}+\frac{K-1}2$ "
        "rounds behind a steady slope, exactly and at every step size, and its mean square behind a walk "
        r"is $qY(a,K)$. A geometric number of rounds on top of any weights adds $\frac a{1-a}-\frac "
        r"a{(1-a)^2}v$ to $Y$, $v$ the noise afterwards. Retention adds $\frac{K-1}2$ to $Y$ for small "
        r"steps, $\frac{(K-1)(2K-1)}{6K}$ at $a=0$, and something between at every other step. After $m$ "
        "rounds on samples of the new world $W_m$ is left of a jump.",
        formula=said(
            r"Y(a,K)=\sum_{m\ge0}W_m^2=@younger+\frac1{1-a}-\frac{a\,v(a,K)}{(1-a)^2},\quad "
            r"W_m=\frac{a^{m-k}}K\Bigl(K-1-k+\frac{1-a^{k+1}}{1-a}\Bigr),\quad k=\min(m,K-1)",
            younger=mean_younger(K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0\le a<1$",
        sketch="What weighs in the model is $X$ rounds old, the sum of a geometric number, which the steps "
        r"add, and an even one among $0,\dots,K-1$, which the memory adds: so $L=1+\mathbb E X$, the one "
        r"round being that the model has not seen. With tails $W_m=P(X\ge m)$, weights are $W_m-W_{m+1}$, "
        "and $(1-a)W^y_m=W_m-aW_{m-1}$ for the weights $y$ without the geometric number. Square and add up "
        r"both, and eliminate the sum of $W_mW_{m+1}$. The box alone has $\sum_{m<K}(1-m/K)^2$. The rise "
        r"from $K=1$ is the mean of $\min(i,j)$ over pairs of $K$ rounds plus $\frac a{1+a}$ times the mean "
        r"of $1+a+\dots+a^{|i-j|-1}$, which is at most half the mean of $|i-j|$.",
        given=(WRITTEN, NOISE),
        checks={
            "any weights": (by_weights, confirming(weight_by_weight)),
            "every $K$": (every_K, confirming(by_the_law)),
            "between": (between, confirming(rise_by_the_law)),
            "small steps": (small_steps, confirming(rise_by_the_law)),
            "a slope": (slopes, confirming(age_by_age)),
            "a jump": (jumps, confirming(by_the_law)),
        },
        symbols=MOVING | {"k": r"$\min(m,K-1)$"},
    )
]
