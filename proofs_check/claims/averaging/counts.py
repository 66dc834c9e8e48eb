r"""Effective samples of averaged models (`law:averaged/counts`), with steps that fall too (`law:averaged/decaying`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED, EVERY
from theory.law.averaged_limits import averaged_rest, averaged_rest_decaying, polynomial_factor
from theory.law.averaging import polynomial, round_shares, weights_giving
from theory.market.capacity import trajectory_by_capacity

x, T, S = sp.symbols("x T S", positive=True)
alpha, later, theta, after, mean, before = sp.symbols("alpha alpha_+ theta theta_+ zbar theta_-", real=True)
c, held, most, norm, own, rest = sp.symbols("c n c_max B W D", nonnegative=True)
inner = sp.Symbol("I", real=True)
UNEVEN = (1, 3)
EXAMPLE = r"admissions $1,3,1,3,\ldots$, $K=1$"
CONTRACTIONS = (F(0), F(1, 2), F(9, 10))
MOVED = (1 - alpha) * theta + alpha * mean
A_STEP = (theta - MOVED, alpha * (theta - mean), r"$\theta-\theta'$ and $\alpha(\theta-\bar z)$")


def _by_parts(first: Any, then: Any, what: str) -> tuple[Any, Any, str]:
    """Two rounds' steps with these factors, and their sum by parts."""
    steps, summed = first * (before - theta) + then * (theta - after), first * before - then * after
    return steps, summed + (then - first) * theta, f"two rounds' ${what}$ and their sum by parts"


def the_mean() -> Evidence:
    """θ - θ' = α(θ - z̄), so pθ = pz̄ + (p/α)(θ - θ'), and Σp(θ - θ') by parts."""
    p, q = sp.symbols("p_t p_-", real=True)
    return argument(
        A_STEP,
        (alpha * p * theta - p * (theta - MOVED), alpha * p * mean, r"$p\theta$ and its parts"),
        _by_parts(q, p, r"p(\theta-\theta')"),
        domain="any weights, steps of one size",
    )


def no_weight_is_large() -> Evidence:
    """c' <= c + α/n in memory and a·c outside: at most αK after K rounds of use; Σc² <= max c·Σc, Σc <= 1."""
    return argument(
        ((1 - alpha) * c + alpha / held <= c + alpha, [alpha >= 0, alpha <= 1, held >= 1], "in memory"),
        ((1 - alpha) * c <= c, [alpha >= 0, alpha <= 1], "a round outside"),
        ((1 - alpha) * c + alpha <= 1, [alpha >= 0, alpha <= 1, c <= 1], "the sum of all weights"),
        (c * c <= most * c, [c <= most], "each square"),
    )


def triangle() -> Evidence:
    """‖ω - d‖ and ‖ω‖ differ by ‖d‖ at most, from Cauchy-Schwarz."""
    known = [sp.Eq(norm**2, own**2 - 2 * inner + rest**2), inner <= own * rest, inner >= -own * rest]
    return argument((norm <= own + rest, known, "from above"), (own <= norm + rest, known, "from below"))


def its_size() -> Evidence:
    """(v/α)·√(Kα) is theory's rest."""
    v, step = sp.symbols("v alpha", positive=True)
    size = v / step * sp.sqrt(K * step)
    what = "theory's rest and its parts"
    return argument((averaged_rest(1 - step, K, v), size, what), domain=r"every $K$, $0<\alpha\le1$, $v$")


def _spans(cohorts: Cohorts, rounds: int) -> list[tuple[int, int, int]]:
    """First and last round in memory, and how many samples, of those that come by then."""
    columns = (column.tolist() for column in (cohorts.entered, cohorts.left, cohorts.count))
    rows = zip(*columns, strict=True)
    return [(first, min(last, rounds), count) for first, last, count in rows if first <= rounds]


def _definition(cohorts: Cohorts, rounds: int, weights: list[Any]) -> Any:
    """Σω², sample by sample: ω is the sum of p/n over its rounds."""
    held = cohorts.occupancy(rounds).tolist()
    each = [0, *accumulate(p / F(n) for p, n in zip(weights, held, strict=True))]
    return sum(count * (each[last] - each[first - 1]) ** 2 for first, last, count in _spans(cohorts, rounds))


def _apart(one: Any, other: Any, square: Any) -> bool:
    """True if √one and √other differ by more than √square."""
    gap = one + other - square
    return bool(gap > 0 and gap * gap > 4 * one * other)


@drawn(
    "any admissions up to 9 rounds after a first one, by age or by capacity; equal and polynomial weights",
    (25, 500),
    admissions=st.lists(st.integers(0, 4), min_size=0, max_size=8),
    kept=st.integers(1, 4),
    by=st.sampled_from([by_age, by_capacity]),
    a=st.sampled_from(CONTRACTIONS),
    gamma=st.integers(0, 2),
)
def sample_by_sample(admissions: list[int], kept: int, by: Any, a: F, gamma: int) -> Found:
    """√Σb² by theory, √Σω² by definition: within the rest, exactly; for as long as some sample is in memory."""
    rule = by([2, *admissions], kept)
    trained = [bool(n > 0) for n in rule.occupancy(len(admissions) + 1).tolist()]
    rounds = next((t for t, held in enumerate(trained) if not held), len(trained))
    shares = [polynomial(k, gamma) for k in range(1, rounds + 1)]
    p = [share * _kept(shares[k + 1 :]) for k, share in enumerate(shares)]
    uses = max(last - first + 1 for first, last, _ in _spans(rule, rounds))
    squares, defined = by_shares(rule, rounds, a, [*p, 0])[1][0], _definition(rule, rounds, p)
    variation = p[-1] + sum(abs(q - r) for q, r in zip(p[1:], p, strict=False))
    most = averaged_rest(a, uses, variation)
    far = _apart(squares, defined, variation**2 * uses / (1 - a))
    return unless(not far, squares=squares, defined=defined, rest=most)


def _kept(shares: list[Any]) -> Any:
    left = F(1)
    for share in shares:
        left *= 1 - share
    return left


def constant_size() -> Evidence:
    """ω = A/(nT) and ΣA = nT; and the rest over √Σω² >= 1/√(ST) goes to 0."""
    squares = sp.Symbol("squares", positive=True)
    over = averaged_rest(sp.exp(-x), K, 1 / T) * sp.sqrt(S * T)
    return argument(
        (squares / (S * T) ** 2, 1 / effective_from_sums(S * T, squares), r"$1/N_{\mathrm{eff}}$"),
        (over, T, 0, "the rest, relatively"),
        domain=r"every size $S$ of the memory, $K$ and $a=e^{-x}$",
    )


@drawn(
    "a memory of up to 6 samples, full from round 1 on, any admissions up to 12 rounds",
    (20, 400),
    admissions=st.lists(st.integers(0, 6), min_size=1, max_size=12),
    capacity=st.integers(1, 6),
    a=st.sampled_from(CONTRACTIONS),
)
def full_memories(admissions: list[int], capacity: int, a: F) -> Found:
    """Σb² against 1/N_eff of the counts, by capacity: within the rest."""
    rounds = len(admissions) + 1
    rule = by_capacity([capacity, *admissions], capacity)
    squares = by_shares(rule, rounds, a, [*[F(1, rounds)] * rounds, 0])[1][0]
    size = trajectory_by_capacity([capacity, *admissions], capacity).effective[-1]
    far = _apart(squares, 1 / F(size), F(rounds, rounds**2) / (1 - a))
    return unless(not far, squares=squares, counted=1 / F(size))


def last_iterate() -> Evidence:
    """Σc² tends to v/Λ̄ with v > 0, while N_eff/t tends to Λ̄: N_eff·Σc² grows like vt."""
    a, lags = sp.Symbol("a", positive=True), sp.Symbol("L", nonnegative=True)
    v = stationary_noise(a, K)
    return argument(
        (v, (1 - a) * (K + 2 * lag_sum(a, K)) / ((1 + a) * K**2), "$v$ and its parts", EVERY),
        ((1 - a) * (K + 2 * lags) / ((1 + a) * K**2) > 0, [a < 1], rf"{EVERY}, $L\ge0$ the sum over lags"),
    )


@everywhere("two samples used once", a=(F(1, 2), F(3, 4)), rounds=by_profile((16, 32), (16, 32, 64)))
def side_by_side(a: F, rounds: int) -> Found:
    """In four times the rounds the last iterate's N_eff·Σc² is four times as large, the mean's half as far from 1."""
    found = []
    for T in (rounds, 4 * rounds):
        rule = by_age([2] * T, 1)
        last, mean = (by_shares(rule, T, a, p)[1][0] for p in ([0] * T + [1], [F(1, T + 1)] * (T + 1)))
        found.append((2 * T * last, 2 * T * mean))
    (last, mean), (last_later, mean_later) = found
    true = F(39, 10) < last_later / last < F(41, 10) and abs(mean_later - 1) < abs(mean - 1) / 2
    return unless(true, found=found)


def counts_mislead() -> Evidence:
    """T·Σω² = U by shares for 1, 3, 1, 3, … used once, and T/N_eff = 1/2; the rest over 1/√T goes to 0."""
    true, counted = inverse_effective_rate(UNEVEN, 1), F(len(UNEVEN), sum(UNEVEN))
    over = averaged_rest(sp.exp(-x), 1, 1 / T) * sp.sqrt(T)
    return argument(
        (sp.sympify(true), sp.Rational(2, 3), r"$T\sum\omega^2$"),
        (sp.sympify(counted), sp.Rational(1, 2), r"$T/N_{\mathrm{eff}}$"),
        (over, T, 0, r"the rest over $1/\sqrt T$"),
        domain=EXAMPLE,
    )


@everywhere(EXAMPLE, cycles=by_profile((30, 60), (30, 60, 120)), a=(F(0), F(1, 2)))
def uneven_by_the_law(cycles: int, a: F) -> Found:
    """T·Σb² is nearer to 2/3 than to 1/2, the more so the longer; by counts T/N_eff is 1/2."""
    counts = [*UNEVEN] * cycles
    rounds = len(counts)
    squares = rounds * by_shares(by_age(counts, 1), rounds, a, [*[F(1, rounds)] * rounds, 0])[1][0]
    counted = rounds / effective_sample_size([1] * sum(counts))
    true = abs(squares - F(2, 3)) < F(4, rounds) and counted == F(1, 2)
    return unless(true, squares=squares, counted=counted)


def shares_to_choose() -> Evidence:
    """p = (g₋ - ag)/α makes u' = g/α from the last model on: u = p + au' = g₋/α."""
    g, g_before = sp.symbols("g g_-", real=True)
    a = 1 - alpha
    return argument(
        ((g_before - a * g) / alpha + a * (g / alpha), g_before / alpha, "$u$ a round earlier"),
        (-a * g / alpha + a * (g / alpha), 0, "$u(1)$, if the shares add up to 1,"),
        domain="any shares of rounds",
    )


@drawn(
    "any admissions up to 8 rounds, by age or by capacity, some sample in memory in every round",
    (20, 400),
    admissions=st.lists(st.integers(0, 4), min_size=0, max_size=7),
    kept=st.integers(1, 4),
    by=st.sampled_from([by_age, by_capacity]),
    a=st.sampled_from([F(1, 2), F(9, 10), F(-1, 3)]),
)
def rounds_by_size(admissions: list[int], kept: int, by: Any, a: F) -> Found:
    """Shares n(t)/Σn: Σb² is 1/N_eff of the counts, and nothing is left of the start; exactly."""
    rule = by([2, *admissions], kept)
    held = rule.occupancy(len(admissions) + 1).tolist()
    rounds = next((t for t, n in enumerate(held) if n == 0), len(held))
    total = sum(held[:rounds])
    left, squares = by_shares(rule, rounds, a, weights_giving([F(n, total) for n in held[:rounds]], a))
    uses = [last - first + 1 for first, last, count in _spans(rule, rounds) for _ in range(count)]
    return differing(law=[left[0], squares[0]], counted=[0, 1 / effective_sample_size(uses)])


@drawn(
    "up to 6 rounds of one or two samples; any shares",
    (20, 200),
    admissions=st.lists(st.integers(1, 2), min_size=1, max_size=6),
    shares=st.lists(fractions(-1, 1, max_denominator=4), min_size=6, max_size=6),
    a=st.sampled_from([F(1, 2), F(9, 10), F(-1, 3)]),
)
def any_shares(admissions: list[int], shares: list[F], a: F) -> Found:
    """Rounds have the shares that were asked for, the start has the rest, and the weights add up to 1."""
    rounds, wanted = len(admissions), shares[: len(admissions)]
    p = weights_giving(wanted, a)
    start, found = round_shares(by_age(admissions, 2), rounds, a, p)
    return differing(found=[start[0], found[:, 0].tolist(), sum(p)], wanted=[1 - sum(wanted), wanted, 1])


# --- steps that fall ---------------------------------------------------------------------------------------

y, y_next, root, root_next = sp.symbols("y y_+ r r_+", positive=True)


def by_parts() -> Evidence:
    """Σ(θ - θ')/α by parts, α of each round its own."""
    summed = _by_parts(y, y_next, r"(\theta-\theta')/\alpha")
    return argument(A_STEP, summed, domain=r"every step, $y=1/\alpha$")


def old_weights_fall() -> Evidence:
    """α·(1-α') <= α' where 1/α' - 1/α <= 1: so α(τ)·Πa <= α(t), and no weight exceeds Kα(t)."""
    known = [alpha > 0, later > 0, 1 / later - 1 / alpha <= 1]
    return argument((alpha * (1 - later) <= later, known, "a round later"))


def roots_add_up() -> Evidence:
    """(y' - y)/√y <= (1+√2)(√y' - √y) for 1 <= y <= y' <= y + 1; with the last term at most (2+√2)√y in all."""
    two = sp.Symbol("q", positive=True)  # √2
    known = [root >= 1, root_next >= root, root_next**2 <= root**2 + 1, sp.Eq(two**2, 2)]
    step = sp.Symbol("alpha", positive=True)
    size = (1 + (1 + sp.sqrt(2))) * sp.sqrt(K) / sp.sqrt(step) / T
    return argument(
        (root_next <= two * root, known, r"$\sqrt{y'}\le\sqrt2\sqrt y$"),
        (
            (root_next**2 - root**2) <= (1 + two) * (root_next - root) * root,
            [root_next >= root, root_next <= two * root],
            r"each term, times $\sqrt y$",
        ),
        (averaged_rest_decaying(step, K, T), size, "theory's rest and its parts"),
        domain=r"steps at most 1 that fall no faster than $1/t$",
    )


def slower_than_harmonic() -> Evidence:
    """At α = T^-s the rest times √T is (2+√2)√K·T^(-(1-s)/2), and goes to 0."""
    gap = sp.Symbol("gap", positive=True)  # 1 - s
    rest = (2 + sp.sqrt(2)) * sp.sqrt(K) * T ** (-gap / 2)
    return argument(
        (averaged_rest_decaying(T ** (gap - 1), K, T) * sp.sqrt(T), rest, r"the rest times $\sqrt T$"),
        (rest, T, 0, r"the rest times $\sqrt T$"),
        domain=r"$\alpha_T=T^{-s}$, every $s<1$ and $K$",
    )


def steps_like_means() -> Evidence:
    """α = γ+1 over k+γ is the share of a running mean: the last iterate is a polynomial mean of the z̄ themselves."""
    gamma, k = sp.symbols("gamma k", positive=True)
    return argument(
        (polynomial(k, gamma), (gamma + 1) / (k + gamma), "the step and the share"),
        (polynomial_factor(gamma), (gamma + 1) ** 2 / (2 * gamma + 1), "its factor"),
        domain=r"every $\gamma\ge0$",
    )


@drawn(
    "up to 12 rounds of up to 3 samples, kept for up to 3 rounds; steps with $1/\\alpha$ rising by up to 1",
    (20, 400),
    admissions=st.lists(st.integers(1, 3), min_size=2, max_size=12),
    kept=st.integers(1, 3),
    rises=st.lists(fractions(0, 1, max_denominator=3), min_size=12, max_size=12),
)
def falling_steps(admissions: list[int], kept: int, rises: list[F]) -> Found:
    """√Σb² by theory, √Σω² by definition: within the rest, exactly."""
    rounds, rule = len(admissions), by_age(admissions, kept)
    sizes = [1 / one for one in accumulate(rises[1:rounds], initial=1 + rises[0])]
    p = [F(1, rounds)] * rounds
    squares = by_shares(rule, rounds, [[1 - size] for size in sizes], [*p, 0])[1][0]
    defined = _definition(rule, rounds, p)
    smaller = F(34, 10) ** 2 * kept / sizes[-1] / rounds**2  # 3.4 < 2+√2
    return unless(not _apart(squares, defined, smaller), squares=squares, defined=defined)


CLAIMS = [
    Claim(
        id="law:averaged/counts",
        title=r"where $n$ is constant, a mean of models sees $N_{\mathrm{eff}}$",
        statement="Let some sample be in memory in every round, none be used more than $K$ times, and "
        r"steps have one size $\alpha=1-a$, $0\le a<1$. Then $\sum_{t\le T}p_t\theta(t)$ is the same mean "
        r"of the memories' means $\bar z(t)$ but for a rest, and $\sqrt{\sum b^2}$ is within "
        r"$v\sqrt{K/(1-a)}$ of $\sqrt{\sum\omega^2}$, $\omega$ being a sample's sum of $p_t/n(t)$ over "
        r"its rounds and $v=|p_T|+\sum|p_{t+1}-p_t|$, which is $1/T$ for equal weights. If the memory "
        r"keeps its size, $\sum\omega^2=1/N_{\mathrm{eff}}$: the paper's effective sample size, which "
        "counts uses, is what the mean of all models sees, whatever $a$ and $K$, and the noise is "
        r"$\tfrac12\sum hs^2/N_{\mathrm{eff}}$ in the limit. The last iterate does not see it: its noise "
        r"has a floor while $N_{\mathrm{eff}}$ grows. If the size varies, the mean sees shares $1/n$ and "
        r"not counts, as small steps do: for admissions $1,3,1,3,\ldots$ used once $T\sum b^2$ tends to "
        r"$2/3$, and $T/N_{\mathrm{eff}}$ is $1/2$. Weights by which round $t$ has the share $n(t)/\sum "
        r"n$ give $1/N_{\mathrm{eff}}$ exactly, for all admissions, and leave nothing of the start.",
        formula=said(
            r"\Bigl|\sqrt{\textstyle\sum_ib_i^2}-\sqrt{\textstyle\sum_i\omega_i^2}\Bigr|\le@rest,\quad "
            r"\omega_i=\frac1T\sum_{t\le T,\,i\in Q(t)}\frac1{n(t)},\quad "
            r"n(t)=S\Rightarrow\sum_i\omega_i^2=\frac1{N_{\mathrm{eff}}(T)}",
            rest=averaged_rest(sp.Symbol("a", positive=True), K, 1 / T),
        ),
        domain=r"quadratic losses with one Hessian, every direction with $0\le a<1$; any admissions and "
        "any rule blind to values with some sample in memory in every round",
        sketch=r"A step is $\theta-\theta'=\alpha(\theta-\bar z)$, so $\theta=\bar "
        r"z+(\theta-\theta')/\alpha$. Summed with weights and by parts, $\sum p_t\theta(t)=\sum p_t\bar "
        r"z(t)+\frac1\alpha\bigl(p_1\theta(1)-p_T\theta(T+1)+\sum(p_{t+1}-p_t)\theta(t+1)\bigr)$. In the "
        r"first sum a sample weighs $\omega$; in the bracket at most $v$ times what it weighs in a model. "
        r"A weight in a model gains at most $\alpha$ a round of use, so it is at most $\alpha K$, and all "
        r"weights add up to at most 1: $\sum c^2\le\alpha K$. The triangle inequality gives the rest. If "
        r"$n=S$ in every round, $\omega=A/(ST)$ and $\sum A=ST$, so $\sum\omega^2=\sum A^2/(\sum A)^2$; "
        "it is at least $1/(ST)$, as there are at most $ST$ samples, and the rest is of order $1/T$. The "
        r"last iterate under constant admission has $\sum c^2\to v(a,K)/\bar\Lambda$ "
        r"(law:reuse/retention). For $1,3,1,3,\ldots$ used once $\omega=1/(nT)$. To give round $t$ the "
        r"share $g(t)$, take $p_t=(g(t-1)-ag(t))/\alpha$: then $u(t)=g(t-1)/\alpha$. With $g=n/\sum n$ a "
        r"sample weighs $A/\sum n$.",
        given=(WRITTEN,),
        checks={
            "a mean of means": (
                *(the_mean, no_weight_is_large, triangle, its_size),
                confirming(sample_by_sample),
            ),
            "a memory of constant size": (constant_size, confirming(full_memories)),
            "the last iterate": (last_iterate, confirming(side_by_side)),
            "sizes that vary": (counts_mislead, confirming(uneven_by_the_law)),
            "shares by size": (shares_to_choose, confirming(rounds_by_size), confirming(any_shares)),
        },
        symbols=AVERAGED,
    ),
    Claim(
        id="law:averaged/decaying",
        title="steps that fall slower than $1/t$ leave the mean as good",
        statement=r"Let steps $\alpha_t=1-a_t\le1$ never rise and fall no faster than $1/t$, in the sense "
        r"that $1/\alpha_{t+1}-1/\alpha_t\le1$; else as in law:averaged/counts, with equal weights. Then "
        r"$\sqrt{\sum b^2}$ is within $(2+\sqrt2)\sqrt{K/\alpha_T}/T$ of $\sqrt{\sum\omega^2}$. For "
        r"$\alpha_t$ of order $t^{-s}$ with $s<1$ that is of smaller order than $1/\sqrt T$: averaged, "
        "decaying steps have the noise of constant ones, in every direction, though no step knows its "
        r"curvature. Steps $(\gamma+1)/(t+\gamma)$ themselves make the last iterate a polynomial mean of "
        "the memories' means; but they must be known in each direction.",
        formula=said(
            r"\Bigl|\sqrt{\textstyle\sum_ib_i^2}-\sqrt{\textstyle\sum_i\omega_i^2}\Bigr|\le@rest",
            rest=averaged_rest_decaying(sp.Symbol("alpha_T", positive=True), K, T),
        ),
        domain=r"as law:averaged/counts, $0<\alpha_t\le1$",
        sketch=r"With $y=1/\alpha$ the sum of $(\theta-\theta')y$ by parts is "
        r"$y_1\theta(1)-y_T\theta(T+1)+\sum(y_t-y_{t-1})\theta(t)$. As "
        r"$\alpha_\tau(1-\alpha_{\tau+1})\le\alpha_{\tau+1}$, a round's part of a weight in $\theta(t+1)$ "
        r"is at most $\alpha_t$, so $\sum c^2\le K\alpha_t$ there. The rest is at most $\sqrt K/T$ times "
        r"$\sqrt{y_T}+\sum(y_t-y_{t-1})/\sqrt{y_{t-1}}$, and each term is at most "
        r"$(1+\sqrt2)(\sqrt{y_t}-\sqrt{y_{t-1}})$, as $y_t\le y_{t-1}+1\le2y_{t-1}$. At $\alpha_T=T^{-s}$ "
        r"the rest times $\sqrt T$ is of order $T^{(s-1)/2}$ (Polyak and Juditsky 1992 have the limit for "
        "far more general problems).",
        given=(WRITTEN,),
        checks={
            "the rest": (by_parts, old_weights_fall, triangle, roots_add_up, confirming(falling_steps)),
            "its order": slower_than_harmonic,
            "steps like $1/t$": (steps_like_means,),
        },
        symbols=AVERAGED,
    ),
]
