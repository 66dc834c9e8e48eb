r"""Samples with curvatures of their own, used again (`law:reuse/curvature`, `law:reuse/curvature-noise`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law import curvatures
from proofs_check.groundwork.law.curvatures import KINDS, PAIR, Kinds, Stream, moments_of_a_mean
from proofs_check.groundwork.law.lags import a, d, geometric, sums
from theory.law import curved

E, eta = CONSTANTS.E, CONSTANTS.eta
h, spread = sp.symbols("h w", positive=True)
tilt, noise, x, g = sp.symbols("tilt noise x g", real=True)
p, r, delta = sp.symbols("p r delta", positive=True)
HALF = F(1, 2)


def average(expression: Any) -> Any:
    """Over one sample, h + x its curvature: E x² = w, E xg = tilt, E g² = noise, E x = E g = 0."""
    known = {(0, 0): 1, (1, 0): 0, (0, 1): 0, (2, 0): spread, (1, 1): tilt, (0, 2): noise}
    return sum(coefficient * known[powers] for powers, coefficient in sp.Poly(expression, x, g).terms())


slope, bend, b, b_slope = sp.symbols("slope bend b b_slope", real=True)  # a', a'', b and b' at h
part = slope * x * r - b * g * p  # a sample's part of δ

Pattern = tuple[tuple[tuple[int, ...], ...], int, int]  # admissions by round and client, K and E
TWO: Pattern = (((1,), (1,)), 2, 1)
STREAMS: tuple[Pattern, ...] = (
    (((1,), (1,), (1,)), 2, 1),
    (((1,), (0,), (2,)), 3, 1),
    (((2,), (0,), (1,), (0,)), 1, 1),
    (((1, 1), (0, 1)), 2, 1),
    (((1, 1), (0, 1)), 2, 2),
    (((1, 0), (0, 1)), 1, 2),
    (((1,), (0,)), 2, 3),
)


def _cohorts(admissions: Any, K: int) -> list[Cohorts]:
    return [by_age(list(mine), K) for mine in zip(*admissions, strict=True)]


def _cases(populations: tuple[Kinds, ...], *starts: int) -> list[tuple[Kinds, Pattern, int, F]]:
    listed = [(kinds, stream, start, HALF) for stream in STREAMS for kinds in populations for start in starts]
    return [*listed, *((kinds, TWO, 1, F(1)) for kinds in KINDS[1:])]


@everywhere(
    "bursts and empty rounds of one or two clients, $K$ and $E$ from 1 to 3, two and three kinds of "
    r"samples; every stream, admissions times $\lambda$",
    case=by_profile(_cases((PAIR,), 2), _cases(KINDS, 0, 2)),
)
def every_stream(case: tuple[Kinds, Pattern, int, F]) -> Found:
    """First two coefficients and degrees of both expectations, polynomials in 1/λ."""
    kinds, (admissions, K, E), at, eta = case
    rounds, start = len(admissions), F(at)
    expected = curved.first_order(_cohorts(admissions, K), rounds, kinds.moments, start=start, eta=eta, E=E)
    found = Stream(admissions, K, kinds, start, eta, E).means(2 * rounds * E + 1)
    for t, (mean, square) in enumerate(found):
        law, orders = expected.law[t], [mean[0], mean[1], square[0], square[1]]
        wanted = [law, expected.mean[t], law**2, expected.square[t]]
        if orders != wanted or any(mean[rounds * E :]) or square[-1]:
            return {"t": t + 1, "found": orders, "theory's": wanted}
    return None


def one_sample() -> Evidence:
    after, moved_on = a * part + (slope * x * delta - b * g) / n, {r: a * r + delta / n, p: a * p + 1 / n}
    own = slope**2 * spread * r - slope * b * tilt * p
    round_steps = average(bend * x**2 / 2 * delta - b_slope * x * g)
    squares = slope**2 * spread * r**2 - 2 * slope * b * tilt * r * p + b**2 * noise * p**2
    return argument(
        (after, part.subs(moved_on, simultaneous=True), "its part after the round, and $p$ and $r$ moved on"),
        (average(slope * x * part), own, r"$\mathbb E[a'x\cdot\text{its part}]$"),
        (round_steps, bend * spread * delta / 2 - b_slope * tilt, "what a round's own steps add"),
        (average(part**2), squares, "the variance of its part"),
        domain="each sample, in a round in which it is used",
    )


def two_readings() -> Evidence:
    own = -eta * (g * p + (h + x) * r)  # what the path would be without the sample, less what it is; E = 1
    shown, path = average((h + x) * own), h * delta - eta * (tilt * p + spread * r)
    squared = -eta * (tilt * p + (spread + h**2) * r)
    return argument(
        (h * (delta - average(own)) + shown, path, "what it shows, by the path without it and by the whole"),
        (shown, squared, r"the first of them, with $\mathbb E[h^2]=\mathrm{Var}(h)+h^2$,"),
        domain="every sample used before, $E=1$",
    )


def own_weights() -> Evidence:
    """ψ is the sum over lags of (K-d)/(K²Λ̄)·a^(d-1), and φ/m₀ that of (K-d)/(K²Λ̄)/a."""
    lag = (K + 1) ** 2 * curved.own_weight(a, K + 1, rate) - K**2 * curved.own_weight(a, K, rate)
    all_lags = symbolic_sum(K - d, d, 1, K - 1) / (K**2 * rate)
    half = (K - 1) / (2 * K * rate)
    return argument(
        (curved.own_weight(a, 1, rate), 0, r"$\psi$ at $K=1$ and 0", "every $K$"),
        (lag, (1 + geometric(K - 1)) / rate, r"one lag more and $\sum_{d\le K}a^{d-1}$", "every $K$"),
        (all_lags, half, r"$\sum_{d<K}(K-d)/(K^2\bar\Lambda)$ and its sum", "every $K$"),
        (half < 1 / (2 * rate), [], r"every $K$ and $\bar\Lambda$"),
    )


def long_run() -> Evidence:
    """theory's contraction and bias solve the recursion of the mean for constant admission."""
    clients, q = sp.symbols("M q", positive=True)
    at, left, kept = (1 - q) / eta, q**E, K * rate  # h, a and the memory
    pull, shift = curved.local_pull(at, eta, E), curved.local_shift(at, eta, E)
    bent, moved = E * (E - 1) * eta**2 * q ** (E - 2), (1 - left) / at  # a'' and b
    bias = curved.stationary_bias(rate, K, h=at, tilt=tilt, eta=eta, E=E, clients=clients)
    contraction = curved.mean_contraction(rate, K, h=at, spread=spread, eta=eta, E=E, clients=clients)
    gain = spread * (pull**2 * (K - 1) / (2 * kept) / left + bent / 2 * clients / kept)
    added = tilt * (pull * moved * curved.own_weight(left, K, rate) + shift * clients / kept)
    one = curved.stationary_bias(rate, K, h=h, tilt=tilt, eta=eta)
    psi = curved.own_weight(1 - eta * h, K, rate)
    return argument(
        (bias - left * bias, added, "$(1-a)$·bias and what a round adds"),
        (contraction - left, gain, "what a round adds to the mean path, over it"),
        (one, eta * psi * tilt / h, r"for $E=1$ the bias and $\eta\psi\mathbb E[hg]/h$"),
        domain=r"every $K$, $E$, $\eta$, $\bar\Lambda$ and all moments",
    )


def relative_error_grows() -> Evidence:
    t, gained, most = sp.symbols("t gain most", positive=True)
    gain = curved.mean_contraction(rate, K, h=h, spread=spread, eta=eta) / (1 - eta * h) - 1
    least = spread * eta**2 * (K - 1) / (2 * K * rate * a**2)
    return argument(
        (gain.subs(h, (1 - a) / eta), least, "the gain per round", "$E=1$, every $K$"),
        (least > 0, [K > 1], r"$K\ge2$, $\mathrm{Var}(h)>0$"),
        (t * gained > most, [t > most / gained], "after most/gain rounds, whatever most is"),
    )


def unrolled() -> Evidence:
    """One factor ζ more at each turn; and the weights of m rounds add up."""
    P, zeta, power, y = sp.symbols("P zeta power y")
    turned = a * (P - power) + zeta * P
    weights = ((sp.diff(1 / (1 - y), y, j) / sp.factorial(j), (1 - y) ** (-j - 1)) for j in (1, 2, 3, 4))
    return argument(
        ((a + zeta) * P - a * power, turned, "how far a product is from a power of $a$, a round later,"),
        *((*sides, f"the weights of products with {j} turns") for j, sides in enumerate(weights, 1)),
        domain="every round, $|y|<1$",
    )


def overlaps() -> Evidence:
    """Three means share at most the samples of one of them."""
    common, n1, n2, n3, least, var, fourth = sp.symbols("common n1 n2 n3 least var fourth", positive=True)
    spread4 = 3 * var**2 / n**2 + (fourth - 3 * var**2) / n**3
    shared = common / (n1 * n2 * n3)
    return argument(
        (shared <= 1 / least**2, [common <= n1, n2 >= least, n3 >= least], "any three memories"),
        (spread4 <= (3 * var**2 + fourth) / n**2, [n >= 1], r"every $n\ge1$"),
    )


def uniformly(start: F) -> Check:
    """Round by round: the rest of the mean is within theory's bound, and from the minimiser that of its square."""

    @everywhere(
        r"three populations, $K=1,2$, 25 rounds of 1 and 2 samples, $\eta=1/2$; "
        rf"$\theta(1)-\theta^\star={start}$",
        kinds=KINDS,
        K=(1, 2),
        n=by_profile((1, 2), (1, 2, 4)),
        rounds=by_profile((25,), (60,)),
    )
    def within(kinds: Kinds, K: int, n: int, rounds: int) -> Found:
        m, rho = kinds.moments, 1 - HALF * min(value[0] for value in kinds.values)
        law = curved.first_order([by_age([n] * rounds, K)], rounds, m, start=start, eta=HALF)
        most = curved.path_rest(m, tails=kinds.tails, start=start, eta=HALF, rho=rho, size=n)
        widest = curved.square_rest(m, tails=kinds.tails, eta=HALF, rho=rho, size=n)
        for t, (mean, square) in enumerate(Stream(((n,),), K, kinds, start, HALF).followed(rounds, n)):
            off = abs(mean - law.law[t] - law.mean[t])
            wide = abs(square - law.square[t]) if start == 0 else 0
            if not (off <= most and wide <= widest):
                return {"t": t + 1, "rest": off, "bound": most, "of the square": wide, "its bound": widest}
        return None

    return confirming(within)


THE_REST = (unrolled, overlaps, moments_of_a_mean)


@everywhere(
    "four patterns of admissions, $K$ from 1 to 3, and two more populations; every stream",
    case=[(PAIR, stream) for stream in STREAMS if stream[2] == 1] + [(kinds, TWO) for kinds in KINDS[1:]],
)
def second_order(case: tuple[Kinds, Pattern]) -> Found:
    """The coefficient of 1/λ² of E δ², from a start at the minimiser."""
    kinds, (admissions, K, _) = case
    rounds = len(admissions)
    _, polynomial = Stream(admissions, K, kinds, F(0), HALF).means(2 * rounds + 1)[-1]
    first, *others = _cohorts(admissions, K)
    expected = curved.noise_correction(sum(others, first), rounds, kinds.moments, eta=HALF)
    return differing(found=polynomial[:3:2], theory=[0, expected])


def orders() -> Evidence:
    """A product of k means in which b samples meet: λ^b choices over λ^k, each in two factors at least."""
    k, met = sp.symbols("k met", integer=True, positive=True)
    order, pairwise = k - met, [2 * met <= k]
    return argument(
        (order >= 3, [k >= 5, *pairwise], "five factors and more"),
        (order >= 3, [sp.Eq(k, 4), met < 2], "four factors, one sample; two pairs of the same sample too"),
        (sp.Eq(order, 2), [sp.Eq(k, 4), sp.Eq(met, 2)], "four factors in two pairs"),
        (sp.Eq(order, 2), [sp.Eq(k, 3), *pairwise], "three factors: one sample in all"),
        (sp.Eq(order, 1), [sp.Eq(k, 2), *pairwise], "two factors: the law"),
    )


# a coefficient, and the means that it multiplies: x or g, and the round
Word = tuple[F, tuple[tuple[str, int], ...]]


def _words(n: list[int], left: F, eta: F) -> list[Word]:
    """δ(T+1) from 0, written out: a gradient's mean, later curvatures' means, and what other rounds leave."""
    found: list[Word] = []
    for t, held in enumerate(n):
        if held:
            turned = [(-eta * c, (*means, ("x", t))) for c, means in found]
            found = [(left * c, means) for c, means in found] + turned + [(-eta, (("g", t),))]
    return found


@everywhere(
    "all admissions of 0, 1 or 2 samples in three rounds (in full: four), $K\\le3$",
    admitted=by_profile(*(list(product((0, 1, 2), repeat=rounds)) for rounds in (3, 4))),
    K=(1, 2, 3),
)
def word_by_word(admitted: tuple[int, ...], K: int) -> Found:
    """theory's second order against all products of three and four means of δ², paired off by hand."""
    m, rounds = curved.Moments(h=F(3, 4), spread=F(2), noise=F(3), tilt=F(5, 7), skew=F(11, 3)), len(admitted)
    n = [sum(admitted[max(0, t - K + 1) : t + 1]) for t in range(rounds)]
    one_sample: dict[str, F] = {"xx": m.spread, "gg": m.noise, "gx": m.tilt, "ggx": m.skew}

    def moment(means: tuple[tuple[str, int], ...]) -> F:
        if len(means) == 4:
            one, *others = means
            rests = ((other, tuple(others[:i] + others[i + 1 :])) for i, other in enumerate(others))
            return sum((moment((one, other)) * moment(rest) for other, rest in rests), F(0))
        times = [t for _, t in means]
        common = sum(admitted[max(0, max(times) - K + 1) : min(times) + 1])
        return F(common, prod(n[t] for t in times)) * one_sample["".join(sorted(kind for kind, _ in means))]

    words = _words(n, 1 - HALF * m.h, HALF)
    both = ((c * e, (*u, *v)) for c, u in words for e, v in words)
    found = sum((c * moment(means) for c, means in both if len(means) in (3, 4)), F(0))
    theory = curved.noise_correction(by_age(list(admitted), K), rounds, m, eta=HALF)
    return differing(found=found, theory=theory)


def without_reuse() -> Evidence:
    factor, law = a**2 + eta**2 * spread / n, eta**2 * noise / n
    limit = law / (1 - factor)
    ratio = (n * (limit / (law / (1 - a**2)) - 1), eta**2 * spread / (1 - a**2), "$n$·(noise/law $-1$)")
    return argument(
        (limit, factor * limit + law, "a round more", "every $n$"), limits(n, ratio, domain=r"$n\to\infty$")
    )


def law_is_no_smaller() -> Evidence:
    weight, least = sp.Symbol("weight", positive=True), (1 - a) ** 2
    scaled = least.subs(a, 1 - eta * h) * noise / h**2
    return argument(
        (n * weight**2 >= least / n, [a < 1, weight >= (1 - a) / n], "the $n$ samples of the last round"),
        (scaled, eta**2 * noise, r"it and $\eta^2\mathbb E[g^2]$", "$E=1$, $n$ times the law's least noise"),
    )


SYMBOLS = curvatures.SYMBOLS | glossary("reused curvature")
MODEL = (
    r"losses with gradients $g+h\delta$ along one direction, $(h,g)$ i.i.d., $\mathbb E\,g=0$; admissions "
    "blind to values; "
)

CLAIMS = [
    Claim(
        id="law:reuse/curvature",
        title="reused curvatures slow the mean path and shift it, by $O(1/n)$",
        statement="Let samples have their own curvatures. To first order in $1/n$ the mean path is the law's plus "
        r"$m_1$, for any admissions, $K$, $E$ and clients. Where samples are used again, $\mathrm{Var}(h)$ slows the "
        r"path and $\mathbb E[hg]$ shifts it; both vanish if all $h_i$ are equal. A sample has pulled by what it "
        r"showed then, not by what it shows now. (Measured from the path without the sample, $\mathbb E[h^2]$ stands "
        r"in place of $\mathrm{Var}(h)$: the same to this order.) Under constant admission with one step the "
        r"contraction gains $\eta^2\mathrm{Var}(h)(K-1)/(2K\bar\Lambda a)$, and the path ends $\eta\psi\mathbb "
        r"E[hg]/h$ from the minimiser. For $E=1$ and $|1-\eta h_i|\le\rho<1$ what is left is at every $t$ below an "
        "explicit constant over $n^2$. Relative to the law's path, which vanishes, the correction is not bounded.",
        formula=said(
            r"m_1(t+1)=a\,m_1(t)+(a')^2w\,\varphi(t)-a'b\,\mathbb "
            r"E[hg]\,\psi(t)+\tfrac{M}{n}\bigl(\tfrac12a''w\,m_0(t)-b'\,\mathbb E[hg]\bigr);\quad E=1,\ "
            r"\text{constant admission: contraction }@c,\ \text{bias }@b",
            c=curved.mean_contraction(rate, K, h=h, spread=spread, eta=eta),
            b=eta * sp.Symbol("ψ", positive=True) * sp.Symbol("E[hg]", positive=True) / h,
        ),
        domain=MODEL
        + r"$0\le\eta h\le1$, moments up to the order in which a sample enters; the explicit rest for "
        "$E=1$, $n$ the fewest samples in memory",
        sketch=r"A round takes $\delta$ to $a(\bar h)\delta-b(\bar h)\bar g$. Expand at $h$: a sample's part of "
        r"$\delta$ is $a'xr-bgp$, where $x=h_i-h$, and $r$, $p$ are sums over its earlier rounds. Samples are "
        r"independent and centred, so $\mathbb E[a'\varepsilon\,\delta]$ is the sum of each one's own product, "
        r"$(a')^2wr-a'b\,\mathbb E[hg]\,p$. The second order of a round's own steps adds $a''w/2$ and $-b'\,\mathbb "
        "E[hg]$ over $n_m$ for each client, $M/n$ in all. Nothing else is of first order: a joint cumulant of $k$ "
        "means is a number of shared samples over $k$ occupancies, of order $n^{1-k}$. For the rest write $P$ for the "
        r"product of the $a+\zeta$, $\zeta=-\eta\varepsilon$, and put $a^m+\sum a^j\zeta P$ for it until each term "
        r"has four factors $\zeta$ or $\bar g$. Terms with two are the correction. Those with three have the mean of "
        "a third cumulant, at most a moment over $n^2$. Those with four are at most $H^4/n^2$ or $H^3G/n^2$ by "
        r"Hölder, since $|P|\le\rho^m$. The weights of $m$ rounds add up to powers of $1/(1-a)$ and $1/(1-\rho)$.",
        given=(WRITTEN,),
        checks={
            "first order": (one_sample, confirming(every_stream)),
            "two readings": two_readings,
            "in the long run": (sums, own_weights, long_run),
            "the rest": (*THE_REST, uniformly(F(1))),
            "not relative": relative_error_grows,
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:reuse/curvature-noise",
        title="curvatures that differ change the noise by $1+O(1/n)$",
        statement=r"From a start at the minimiser, with one step per round, the law is the first order of $\mathbb "
        r"E\,\delta^2$ whatever the curvatures. What is left is at every $t$ below an explicit constant over $n^2$, "
        r"and the law's own is at least $\eta^2\mathbb E[g^2]/n$: a relative error of $O(1/n)$, uniformly in $t$, if "
        "memories are of comparable size. The second order itself is theory's `noise_correction`: a third moment, "
        r"$\mathbb E[(h_i-h)g^2]$, and products of $\mathrm{Var}(h)$, $\mathbb E[g^2]$ and $\mathbb E[hg]$. Without "
        r"reuse ($K=1$) its limit is the law's times $\eta^2\mathrm{Var}(h)/(n(1-a^2))$.",
        formula=r"\Bigl|\mathbb E\,\delta(t)^2-S(t)\Bigr|\le\frac{C}{n^2},\qquad K=1:\ \lim_{t}\mathbb "
        r"E\,\delta(t)^2=\frac{S}{1-\frac{\eta^2w}{n(1-a^2)}}",
        domain=MODEL + r"$E=1$, $\theta(1)=\theta^\star$, $0\le\eta h\le1$, $|1-\eta h_i|\le\rho<1$, "
        "fourth moments; the second order for any such admissions times a common factor",
        sketch=r"Write $\delta=y+z+\ldots$ by the number of factors; $y$ is linear in the samples, and $\mathbb "
        r"E\,y^2$ is the law. The rest is $2\mathbb E[y(\delta-y)]+\mathbb E(\delta-y)^2$: $\mathbb E[yz]$ is a third "
        r"cumulant, at most $|\mathbb E[xg^2]|/(h^3n^2)$, and what remains has four factors and is bounded as for the "
        "mean path, by $H^2G^2/n^2$. The samples of the last round have weights of at least $(1-a)/n$ each, which "
        r"gives the law's least. The second order is $2\mathbb E[yz]+\mathbb E[z^2]+2\mathbb E[yw]$, $w$ having three "
        "factors, with the fourth moments taken pair by pair. No other term is of this order: with all admissions "
        r"times $\lambda$, a product of $k$ centred means has a mean only where each sample is met twice at least, so "
        r"that at most $k/2$ samples are free, each one of $O(\lambda)$, over $\lambda^k$: $\lambda^{-3}$ from $k=5$ "
        "on. Of four factors two pairs count; that both pairs may be the same sample, and all four factors one "
        r"sample, is of order $\lambda^{-3}$. Of three, one sample is in all. theory's sums are compared with all "
        "words of three and four factors, and with every stream of the patterns listed. For $K=1$ contraction and "
        r"$\theta$ are independent, so that $S'=\mathbb E[(1-\eta\bar h)^2]S+\eta^2\mathbb E[g^2]/n$.",
        given=(WRITTEN,),
        checks={
            "the rest": (*THE_REST, uniformly(F(0))),
            "relative": law_is_no_smaller,
            "second order": (orders, second_order, confirming(word_by_word)),
            "without reuse": without_reuse,
        },
        symbols=SYMBOLS,
    ),
]
