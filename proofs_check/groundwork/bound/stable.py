"""The distance by which one sample can move the model, and what that says of the memory's objective."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound.many_rounds import SUMMED, Whole
from proofs_check.groundwork.bound.one_round import c
from theory.bound import stability

mu, size, used = sp.symbols("mu size used", positive=True)  # `used`: a sample's weights so far, added up
weight = sp.Symbol("weight", nonnegative=True)
e = sp.Symbol("e", integer=True, nonnegative=True)
apart = sp.Symbol("apart", nonnegative=True)
MOVED = 2 * c.eta * c.E * c.G  # by a sample of weight 1, in a round
# of two points x, y: |x-y|², ⟨d, x-y⟩ and |d|², d the difference of the gradients
near, along, square = sp.symbols("near along square", real=True)


# --- two runs that differ in one sample --------------------------------------------------------------------


def cocoercive() -> Evidence:
    """⟨d, x-y⟩ >= |d|²/L for convex L-smooth f: f - ⟨∇f(x), ·⟩ is least at x, and a step of 1/L lowers it."""
    least, stepped, other, here, there = sp.symbols("least stepped other here there", real=True)
    at_x, at_y = sp.symbols("at_x at_y", real=True)  # the gradients along x - y
    lowered = other - square / c.L + c.L / 2 * (square / c.L**2)
    return argument(
        (
            least <= other - square / (2 * c.L),
            [least <= stepped, stepped <= lowered],
            r"$\varphi=f-\langle\nabla f(x),\cdot\rangle$, least at $x$ by convexity; a step of $1/L$ from "
            "$y$, by the descent lemma",
        ),
        (
            at_x - at_y >= square / c.L,
            [here - at_x <= there - square / (2 * c.L), there + at_y <= here - square / (2 * c.L)],
            "that with $x$ and $y$ in both roles, added",
        ),
        domain="every convex $L$-smooth $f$",
    )


def steps_do_not_expand() -> Evidence:
    """|x-y-ηd|² <= |x-y|² for η <= 2/L."""
    return argument(
        cocoercive(),
        (
            near - 2 * c.eta * along + c.eta**2 * square <= near,
            [along >= square / c.L, square >= 0, c.eta <= 2 / c.L],
            r"every $\eta\le2/L$; near $=|x-y|^2$, along $=\langle d,x-y\rangle$, square $=|d|^2$",
        ),
    )


def steps_contract() -> Evidence:
    """|x-y-ηd|² <= (1-ημ)²|x-y|² for η <= 2/(L+μ), by cocoercivity of f - μ|·|²/2."""
    rest, rest_square = along - mu * near, square - 2 * mu * along + mu**2 * near
    known = [rest * (c.L - mu) >= rest_square]
    steep = along * (mu + c.L) >= mu * c.L * near + square
    return argument(
        cocoercive(),
        (steep, known, r"every $\mu<L$: cocoercivity of $f-\mu|\cdot|^2/2$, written out"),
        (
            near - 2 * c.eta * along + c.eta**2 * square <= (1 - c.eta * mu) ** 2 * near,
            [steep, square >= mu**2 * near, near >= 0, c.eta * (c.L + mu) <= 2],
            r"every $\eta\le2/(L+\mu)$; $|d|\ge\mu|x-y|$ by strong convexity",
        ),
    )


def projections_do_not_expand() -> Evidence:
    """|p-q| <= |y-x| for the projections p of y and q of x: the angles at p and q are obtuse."""
    x, y, p, q, turned, at_p, at_q = sp.symbols("x y p q turned at_p at_q", real=True)
    split = (y - p - x + q) ** 2 - 2 * (y - p) * (q - p) - 2 * (x - q) * (p - q) + (p - q) ** 2
    return argument(
        (split, (y - x) ** 2, "four parts and $|y-x|^2$"),
        (
            near <= turned - 2 * at_p - 2 * at_q + near,
            [turned >= 0, at_p <= 0, at_q <= 0],
            r"any convex $\Theta$: near $=|p-q|^2$, at_p $=\langle y-p,q-p\rangle$, at_q $=\langle x-q,p-q\rangle$",
        ),
        domain="every coordinate",
    )


def replaced_sample() -> Evidence:
    """A round carries two runs that differ in one sample of client m apart by at most 2ηEG·w_m/n_m more."""
    further, stepped, off, own, other = sp.symbols("further stepped off own other", nonnegative=True)
    local = 2 * c.eta * c.G / size
    round_ = weight * (apart + symbolic_sum(local, e, 0, c.E - 1)) + (1 - weight) * apart
    what = "the average over client $m$, $E$ steps on, and the others; and the distance before + "
    return argument(
        (
            further <= apart + local,
            [
                *(stepped <= apart, further <= stepped + c.eta * off),
                *(off <= (own + other) / size, own <= c.G, other <= c.G),
            ],
            "a local step of client $m$: one of its $n_m$ (size) losses is another one; the step does not expand",
        ),
        (round_, apart + MOVED * weight / size, what + r"$2\eta EG\,w_m/n_m$"),
        domain=r"every $E$, every weight $w_m$ of client $m$",
    )


def forgotten_sample() -> Evidence:
    """Contracting steps keep the distance below 2G·w̄/μ, w̄ the sample's largest weight so far."""
    q, limit = 1 - c.eta * mu, 2 * c.G / (size * mu)
    share = sp.Symbol("share", nonnegative=True)  # (1-ημ)^E
    largest, before = sp.symbols("largest before", nonnegative=True)
    closed = q**e * apart + limit * (1 - q**e)
    averaged = weight * (share * apart + limit * (1 - share)) + (1 - weight) * share * apart
    ceiling = 2 * c.G * largest / mu
    return argument(
        (
            sp.expand(q * closed + 2 * c.eta * c.G / size),
            sp.expand(sp.powsimp((q * q**e) * apart + limit * (1 - q * q**e))),
            "one more local step, and the closed form $q^ed+(1-q^e)\\,2G/(n_m\\mu)$ with $e+1$",
        ),
        (
            averaged,
            share * apart + (1 - share) * 2 * c.G * (weight / size) / mu,
            "the average over clients and a mean of the distance before and of $2Gw_i/\\mu$",
        ),
        (
            share * apart + (1 - share) * 2 * c.G * before / mu <= ceiling,
            [apart <= ceiling, before <= largest, share <= 1],
            r"every round, by induction: the largest weight so far, $0\le(1-\eta\mu)^E\le1$",
        ),
        domain=r"every $E$, $\mu$, $\eta$",
    )


# --- from the distance to the risk -------------------------------------------------------------------------


def exchanged() -> Evidence:
    """E ℓ(θ; z_i) = E ℓ(θ'; z'), z' an independent copy of z_i and θ' trained with it."""
    j, J = sp.symbols("j J", integer=True, positive=True)
    chance, loss = sp.Function("p"), sp.Function("l")  # l(a, b): the loss at z_b of the model trained on z_a
    whole, own = sp.Sum(chance(j), (j, 1, J)), sp.Sum(chance(j) * loss(j, j), (j, 1, J))
    gap, before, after = sp.symbols("gap before after", real=True)
    lipschitz = r"$\ell(\theta;z')-\ell(\theta';z')\le G|\theta-\theta'|\le2\eta EG^2\sum_{s<t}w_i(s)$"
    same = r"$\mathbb E\,\ell(\theta';z')$, the other copy summed out, and $\mathbb E\,\ell(\theta;z_i)$"
    return argument(
        (whole * own / whole**2, own / whole, same),
        (
            gap <= stability_round(used, c).total,
            [sp.Eq(gap, after - before), after - before <= c.G * apart, apart <= MOVED * used],
            lipschitz,
        ),
        domain="any number of values of a sample, any chances, any training",
    )


def curbed() -> Evidence:
    """The smaller of two distances, with every sample's weight in this round: at most the smaller mean."""
    largest = sp.Symbol("largest", positive=True)
    limit = stability.curbed_overlap(used, largest, mu, c)
    one, ceiling = stability_round(limit, c).total, 2 * c.G**2 * largest / mu
    total, each = sp.symbols("total each", nonnegative=True)
    given = [each <= MOVED * c.G * used, each <= ceiling]
    return argument(
        (each <= one, given, r"a sample: $G$ times the smaller distance"),
        (total <= ceiling, [total <= weight * ceiling, weight <= 1], "weights in memory add up to 1 at most"),
    )


def by_uses() -> Evidence:
    """A constant n: every use had the weight 1/n, A_i - 1 of them are over."""
    i, n = sp.symbols("i n", integer=True, positive=True)
    uses = sp.Function("A")
    total = sp.Sum(uses(i), (i, 1, n))
    each = sp.expand(sp.Sum(uses(i) / n**2, (i, 1, n)).simplify()) - symbolic_sum(1 / n**2, i, 1, n)
    return equal(
        each,
        stability.overlap_by_uses(total / n, n),
        domain="any uses of the samples in memory",
        what=r"$\sum_i\frac1n\cdot\frac{A_i-1}n$ and $(\bar A-1)/n$",
    )


def overlap_of(seen: Sequence[Snapshot], weights: Any = None) -> list[tuple[Fraction, Fraction]]:
    """Σ_i w_i(t)Σ_{s<t}w_i(s) per round, and the largest earlier weight; `weights` are client shares, else n_m/n."""
    so_far: dict[Any, Fraction] = {}
    most: dict[Any, Fraction] = {}
    found = []
    for one in seen:
        now = {i: weights[i[0]] / one.n_of(i[0]) if weights else Fraction(1, one.n) for i in one.memory}
        total = sum((w * so_far.get(i, 0) for i, w in now.items()), Fraction(0))
        found.append((total, max((most.get(i, Fraction(0)) for i in now), default=Fraction(0))))
        for i, w in now.items():
            so_far[i], most[i] = so_far.get(i, Fraction(0)) + w, max(most.get(i, w), w)
    return found


@drawn("any admissions of two clients", (15, 600), K=retentions(5), rounds=admissions(2, 9, most=6))
def overlaps_counted(K: int, rounds: list[list[int]]) -> Found:
    """`overlaps`, from admissions, against the samples one by one; rounds without samples end the comparison."""
    seen = simulate(rounds, K)
    empty = next((i for i, one in enumerate(seen) if one.n == 0), len(seen))
    counted = [total for total, _ in overlap_of(seen[:empty])]
    formula = list(stability.overlaps([sum(row) for row in rounds[:empty]], K))
    return unless(counted == formula, counted=counted, formula=formula)


def constant_overlap() -> Evidence:
    """n(s) = min(s, K)Λ̄, and (s - h)Λ̄ samples in common with round s, h = max(t-K, 0)."""
    s, h, more = (sp.Symbol(name, integer=True, nonnegative=True) for name in ("s", "h", "more"))
    filling, horizon = 1 + h, 1 + h + more  # t = 1 + h <= K; then, between, t = K + h with K = 1 + h + more
    ramp = stability.overlap_constant(horizon, filling, rate)
    flat = stability.overlap_constant(1 + h, 1 + 2 * h + more, rate)
    full = symbolic_sum(s / ((1 + h) ** 2 * rate), s, 1, h)  # here K = 1 + h
    old = symbolic_sum((horizon - h) / horizon, s, h + 1, horizon - 1)
    new = symbolic_sum((s - h) / horizon, s, horizon, horizon + h - 1)
    between = stability.overlap_constant(horizon, horizon + h, rate)
    return argument(
        (symbolic_sum(1 / (filling * rate), s, 1, filling - 1), ramp, r"the sum, closed, $t\le K$"),
        (full, flat, r"$\sum_{s}s\bar\Lambda/(K\bar\Lambda)^2$ and the closed form, $t\ge2K-1$"),
        ((old + new) / (horizon * rate), between, "the sum of the larger summands and the closed form"),
        ((s - h) / s <= (horizon - h) / horizon, [s <= horizon, s >= h, s > 0], r"summands, $K\le t\le2K-1$"),
        domain=r"every $K$, $t$, rate",
    )


@everywhere("$K$ up to 6, $t\\le20$, rates 1 and 3", K=range(1, 7), rate=(1, 3))
def constant_counted(K: int, rate: int) -> Found:
    """The closed form against the samples one by one: equal up to K and from 2K-1 on, never below."""
    for t, (counted, _) in enumerate(overlap_of(simulate([[rate]] * 20, K)), start=1):
        closed = stability.overlap_constant(K, t, rate)
        if closed < counted or (closed != counted and not K < t < 2 * K - 1):
            return {"t": t, "counted": counted, "closed form": closed}
    return None


def root_rate() -> Evidence:
    """η = a/√T: each part of the bound is a multiple of √T, since O(t) <= 1/Λ̄."""
    a, T, k = (sp.Symbol(name, positive=True) for name in ("a", "T", "k"))
    h, over = sp.symbols("h over", nonnegative=True)
    small = replace(c, eta=a / sp.sqrt(T))
    total = initial_term(small.merged) + T * (step_constant(small) + stability_round(1 / rate, small).total)
    once, each = c.D**2 / (2 * a * c.E), a * c.E * c.G**2 * (sp.Rational(1, 2) + 2 / rate)
    return argument(
        (total, sp.sqrt(T) * (once + each), r"the bound at $O(t)=1/\bar\Lambda$, a multiple of $\sqrt T$"),
        (
            (k - 1 - h + h * (h + 1) / (2 * k)) / (k * rate) <= 1 / rate,
            [h <= k - 1],
            r"the overlap with $h>0$, where $k=K$; with $h=0$ it is $(k-1)/(k\bar\Lambda)$",
        ),
        (stability.overlap_constant(1 + over, 1 + over, rate) <= 1 / rate, [], r"$h=0$, $k=1+$ over"),
        domain=r"every $a$, $T$, $K$, rate; the number has neither $K$ nor a dimension in it",
    )


def kept_for_ever() -> Evidence:
    """A constant n: the curbed overlap has min(A-1, 1/(ηEμ)) for A-1, so that all uses cost 2G²/(nμ) at most."""
    n, uses = sp.symbols("n uses", positive=True)
    both = stability.curbed_overlap(stability.overlap_by_uses(1 + uses, n), 1 / n, mu, c)
    limit = 1 / (c.eta * c.E * mu)
    return argument(
        (n * both <= uses, [], r"any number of uses, every $n$, $\mu$, $\eta$, $E$; uses $=\bar A-1$"),
        (n * both <= limit, [], r"and $1/(\eta E\mu)$"),
        (stability_round(limit / n, c).total, 2 * c.G**2 / (n * mu), r"the round and $2G^2/(n\mu)$"),
        domain=r"every $n$, $\mu$, $\eta$, $E$",
    )


SMOOTH = replace(SUMMED, L=Fraction(5, 2))


@everywhere("$K=1,2,4$, $T$ up to 12", K=(1, 2, 4), rounds=((1, 1), (3, 2), (2, 12)))
def constant_summed(K: int, rounds: tuple[int, int]) -> Found:
    rate, T = rounds
    with precise():
        column = [ball(Fraction(stability.overlap_constant(K, t, rate))) for t in range(1, T + 1)]
        quick = stability.stability_constant_bound(K, rate, T, SMOOTH, certified=True).total
        slow = stability.stability_1(column, SMOOTH.map(ball)).total
    return unless(quick.overlaps(slow) and quick.rad() < 1e-20, quick=quick.str(9), slow=slow.str(9))


STABLE = Whole(
    lambda n, N, V, chi, stale: stability.stability_1(stale, c).terms,
    lambda n, N, V, chi, stale: stability_round(stale, c),
    lambda n, N, V, chi, stale: MOVED * c.G * stale,  # G times the distance, with every sample's weight
    step_constant,
)


def half_in_general() -> Evidence:
    """Slopes G·z_i that are independent with mean 0: a sample's use of weight w moves θ by -ηEG·z_i·w."""
    z, other = sp.symbols("z other", real=True)
    moved = -c.eta * c.E * c.G * (used * z + other)
    gap = sp.expand(-c.G * z * moved)
    mean = gap.subs(z**2, 1).subs(z, 0)  # E z² = 1, E z = 0, and `other` is independent of z
    return argument(
        (2 * mean, stability_round(used, c).total, r"twice the mean gap of a sample and the bound"),
        domain=r"$\ell=Gz\theta$, $z=\pm1$ with equal chances, far from the edge of $\Theta$; every schedule",
    )
