r"""The stability bound in high probability (`thm:regret-neff/high-probability`): one run, not the mean of many."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import few_samples, many_rounds, population, stable
from proofs_check.groundwork.bound.few_samples import influence_of
from proofs_check.groundwork.bound.one_round import c
from proofs_check.groundwork.bound.stable import MOVED, SMOOTH, apart, weight
from theory.bound.confidence import deviation, deviation_constant, influences, sample_range

FAILURE = Fraction(1, 20)
delta = sp.Symbol("delta", positive=True)
_overlap, _weight, _trace = (sp.Symbol(name, positive=True) for name in ("overlap", "W_j", "R_j"))
PAID = {
    "initial": initial_term(CONSTANTS.merged),
    "constant": T * step_constant(CONSTANTS),
    "moved": stability_round(_overlap, CONSTANTS).total / _overlap,
    "range": sample_range(_weight, _trace, CONSTANTS),
    "steady": deviation_constant(K, T, rate, CONSTANTS, delta),
}


# --- a sum of differences ----------------------------------------------------------------------------------


def centred() -> Evidence:
    """The means given more and more samples: what they change adds up to what is left after centring."""
    j, first, last = sp.symbols("j first last", integer=True, positive=True)
    mean = sp.Function("M")
    here, star, memory, memory_star = sp.symbols("here star memory memory_star", real=True)
    steps = sp.summation(mean(j) - mean(j - 1), (j, first + 1, last))
    return argument(
        (
            (memory - memory_star) + ((here - star) - (memory - memory_star)),
            here - star,
            r"the memory's gap and $\sum_iw_ih_i(\theta)$, and the excess risk",
        ),
        (
            steps,
            mean(last) - mean(first),
            r"the sum of what each sample changes in the mean of $h_i$, and $h_i$ less its mean given the past",
        ),
        domain="any risks, any order of the samples",
    )


def changed() -> Evidence:
    """Two runs that differ in z_j, in a round in which they are `apart`: the sample's own term and the others'."""
    own, other, risk, mine, yours, far = sp.symbols("own other risk mine yours far", real=True)
    older = sp.Symbol("older", nonnegative=True)  # weight of all samples no younger than j, with its own
    most = 2 * c.G * c.D * weight + 2 * c.G * apart * older
    W, R = sp.symbols("W R", nonnegative=True)
    return argument(
        (
            own <= 2 * c.G * c.D + c.G * apart,
            [sp.Eq(own, risk - mine + yours), *(risk <= c.G * apart, -mine <= c.G * c.D, yours <= c.G * c.D)],
            r"the sample's own $h$: risk $=F(\theta)-F(\theta')$, mine $=\ell(\theta;z)-\ell(\theta^\star;z)$, "
            r"yours $=\ell(\theta';z')-\ell(\theta^\star;z')$",
        ),
        (
            other <= 2 * c.G * apart,
            [sp.Eq(other, risk - far), risk <= c.G * apart, -far <= c.G * apart],
            r"another sample's: far $=\ell(\theta;z_i)-\ell(\theta';z_i)$",
        ),
        (
            weight * (2 * c.G * c.D + c.G * apart) + (older - weight) * 2 * c.G * apart <= most,
            [],
            "a round, with the weights of all samples that were not admitted later",
        ),
        (
            2 * c.G * c.D * W + 2 * c.G * MOVED * R,
            sample_range(W, R, c),
            r"added over the rounds, $|\theta-\theta'|\le2\eta EG\sum_{s<t}w_j(s)$, and $c_j$",
        ),
        domain=r"every $D$, $G$, $\eta$, $E$, $W$, $R$",
    )


def bounded_steps() -> Evidence:
    """Hoeffding's lemma, and Chernoff's bound with the best factor."""
    j, J = sp.symbols("j J", integer=True, positive=True)
    s, u, length, low, mean, second = sp.symbols("s u length low mean second", real=True)
    squares = sp.Symbol("squares", positive=True)
    chance, value = sp.Function("p"), sp.Function("x")

    def moment(k: int) -> Any:
        return sp.Sum(chance(j) * value(j) ** k * sp.exp(s * value(j)), (j, 1, J))

    tilted = moment(2) / moment(0) - (moment(1) / moment(0)) ** 2
    far = deviation(squares, delta)
    best = 4 * far / squares
    return argument(
        (sp.diff(sp.log(moment(0)), s, 2), tilted, r"$\psi''$, $\psi=\log\mathbb E\exp(sX)$, and a variance"),
        (
            second - mean**2 <= length**2 / 4,
            [second - (2 * low + length) * mean + low * (low + length) <= 0],
            r"a variable in an interval of this length: $\mathbb E(X-\text{low})(\text{low}+\text{length}-X)\ge0$",
        ),
        (
            sp.integrate(sp.integrate(length**2 / 4, (u, 0, s)).subs(s, u), (u, 0, s)),
            s**2 * length**2 / 8,
            r"$\psi(0)=\psi'(0)=0$ and $\psi''\le c^2/4$, integrated twice, and $s^2c^2/8$",
        ),
        (
            sp.expand_log(-best * far + best**2 * squares / 8),
            sp.log(delta),
            r"$-s\varepsilon+s^2\sum c_j^2/8$ at $s=4\varepsilon/\sum c_j^2$ and $\log\delta$",
        ),
        domain=r"any number of values $x_j$ with chances $p_j$; every $\delta$ and $\sum c_j^2$",
    )


# --- the traces of samples, counted ------------------------------------------------------------------------


@drawn("any admissions of two clients", (10, 600), K=retentions(5), rounds=admissions(2, 9, most=6))
def influences_counted(K: int, rounds: list[list[int]]) -> Found:
    """`influences`, from admissions, against the samples one by one; rounds without samples end the comparison."""
    seen = simulate(rounds, K)
    empty = next((i for i, one in enumerate(seen) if one.n == 0), len(seen))
    totals = [sum(row) for row in rounds[:empty]]
    formula = list(zip(*influences(totals, K), strict=True))
    told = [pair for count, pair in zip(totals, formula, strict=True) for _ in range(count)]
    counted = [pair for _, pair in sorted(influence_of(seen[:empty]).items(), key=lambda item: item[0][1])]
    return unless(counted == told, counted=counted, told=told)


# --- constant admission ------------------------------------------------------------------------------------


def weights_squared() -> Evidence:
    """ΣW² of the samples of the first K rounds, one per round, W = b + (τ-1)/K with b = 1/τ + … + 1/K."""
    s, tau, d, more = (sp.Symbol(name, integer=True, positive=True) for name in ("s", "tau", "d", "more"))
    K, T = 1 + more, sp.Symbol("T", positive=True)
    harmonic = sp.Symbol("H", positive=True)
    grown = 2 * K / (K + 1) + K / (K + 1) ** 2 + 1 / (K + 1) ** 2  # every b by 1/(K+1), and one more
    mixed = symbolic_sum(sp.factor(symbolic_sum(tau - 1, tau, 1, s)) / s, s, 1, K)
    places = symbolic_sum((tau - 1) ** 2, tau, 1, K)
    return argument(
        (symbolic_sum(s / s, s, 1, K), K, r"$\sum_\tau b_\tau=\sum_s\frac1s\cdot s$ and $K$"),
        (grown, 2 - 1 / (K + 1), r"the growth of $\sum b^2$ from $K$ to $K+1$, and that of $2K-H_K$"),
        (mixed, K * (K - 1) / sp.Integer(4), r"$\sum_\tau b_\tau(\tau-1)=\sum_s\frac1s\cdot\frac{s(s-1)}2$"),
        (
            (2 * K - harmonic) + 2 * mixed / K + places / K**2 + (T - K) <= T + 2 * (K - 1),
            [harmonic >= 1],
            r"$T\ge K$: these, and $W=1$ from round $K$ on; harmonic $=1+\frac12+\ldots+\frac1K\ge1$",
        ),
        (2 * T - harmonic <= T + 2 * (K - 1), [harmonic >= 1, T <= K], r"$T\le K$: $\sum b^2$, $T$ for $K$"),
        (sp.summation(1 / K, (d, 0, K - 1)), 1, r"$W\bar\Lambda$ of a sample in a full memory, and 1"),
        domain="every $K$",
    )


def traces_squared() -> Evidence:
    """R of a sample of a full memory, and at most (K-1)/Λ̄ of one of the first K-1 rounds."""
    d, more = sp.Symbol("d", integer=True, positive=True), sp.Symbol("more", integer=True, nonnegative=True)
    tau, now, T = (sp.Symbol(name, positive=True) for name in ("tau", "now", "T"))
    K, steady = 1 + more, (more * (2 + more)) / (6 * (1 + more))
    return argument(
        (symbolic_sum(d / K * (K - d) / K, d, 1, K - 1), steady, r"$R\bar\Lambda$ in a full memory"),
        (
            (now - tau) / tau * (tau / now) <= 1,
            [tau < now],
            r"a round of the first $K$, now: $\sum_{s<t}w_j\le(t-\tau)/(\tau\bar\Lambda)$, share $\tau/t$",
        ),
        (
            d / tau * (K - d) / K <= 1,
            [d <= K - 1, d >= K + 1 - tau, tau <= K],
            r"a later round, $d$ after admission in round $\tau<K$: share $(K-d)/K$",
        ),
        (T * more**2 <= more**3, [more >= T], "$T<K$: $T$ rounds of at most $(K-1)^2$"),
        domain="every $K$",
    )


def two_roots() -> Evidence:
    """√Σ(a+b)² <= √Σa² + √Σb², and with the two sums it is theory's closed form."""
    a, b, product, sizes, traces = sp.symbols("a b product sizes traces", nonnegative=True)
    T, more = sp.Symbol("T", positive=True), sp.Symbol("more", positive=True)
    K = 1 + more
    sizes_root = sp.sqrt(T + 2 * (K - 1))
    traces_root = sp.sqrt(T * ((K * K - 1) / (6 * K)) ** 2 + (K - 1) ** 3)
    scale = sp.sqrt(sp.log(1 / delta) / (2 * rate))
    return argument(
        (
            sizes + 2 * product + traces <= (a + b) ** 2,
            [sp.Eq(a**2, sizes), sp.Eq(b**2, traces), product <= a * b],
            "Cauchy and Schwarz: product is at most the product of the roots",
        ),
        (
            sample_range(sizes_root, traces_root, c) * scale,
            deviation_constant(K, T, rate, c, delta),
            r"$\sqrt{\frac12\log(1/\delta)}\,c$ with the roots of $\sum W^2$ and $\sum R^2$, and the closed form",
        ),
        domain=r"every $K$, $T$, $\bar\Lambda$ and constants",
    )


def of_order_root() -> Evidence:
    """η = a/√T and K <= b√T: √T times a number. With K = bT the trace alone is of order T."""
    a, b, K, root, larger = sp.symbols("a b K root larger", positive=True)  # root = √T
    steady = (K * K - 1) ** 2 / (36 * K**2)
    eta = a / root
    both = root * c.D * sp.sqrt(1 + 2 * b) + 2 * eta * c.E * c.G * root**2 * larger
    given = [K >= 1, b * root >= K, root >= 1]
    cubed = b**3 * root**3 >= K**3  # as b·root >= K
    return argument(
        (root**2 + 2 * (K - 1) <= root**2 * (1 + 2 * b), given, r"the first radicand, every $K\le b\sqrt T$"),
        (root**2 * steady + (K - 1) ** 3 <= root**2 * K**2 / 36 + K**3, [K >= 1], "the second one"),
        (root**2 * K**2 / 36 + K**3 <= root**4 * (b**2 / 36 + b**3), [*given, cubed], r"a multiple of $T^2$"),
        (
            both,
            root * (c.D * sp.sqrt(1 + 2 * b) + 2 * a * c.E * c.G * larger),
            r"both roots, $\eta=a/\sqrt T$, and $\sqrt T$ times a number",
        ),
        (
            root**2 * steady * eta**2 >= a**2 * (b**2 * root**4 - 2) / 36,
            [sp.Eq(K, b * root**2)],
            r"$K=bT$: $\eta^2$ times the second radicand is of order $T^2$ at least",
        ),
        domain=r"every $a$, $b$, $T$ and constants",
    )


@everywhere("$K$ up to 5, $T\\le16$, rates 1 and 3", K=range(1, 6), T=(1, 3, 4, 16), rate=(1, 3))
def constant_likely(K: int, T: int, rate: int) -> Found:
    """The closed form against the samples one by one: never below."""
    pairs = influence_of(simulate([[rate]] * T, K)).values()
    with precise():
        counted = deviation(ball(sum(sample_range(*pair, SMOOTH) ** 2 for pair in pairs)), ball(FAILURE))
        closed = deviation_constant(K, ball(T), ball(rate), SMOOTH.map(ball), ball(FAILURE))
    equal = K == 1 and closed.overlaps(counted)
    return unless(equal or closed > counted, counted=counted.str(9), closed=closed.str(9))


SKETCH = (
    "Notation as under thm:regret-neff/stability, $\\tau_i$ the round that admits sample $i$. Fix the schedule, "
    "which does not look at values, and number the samples in the order of admission: $z_1,z_2,\\ldots$ are "
    r"independent. 1. In every run the memory's gaps add up to at most $D^2/(2\eta E)+T\eta EG^2/2$ (steps 1 to 3 "
    r"of thm:regret-neff/memory; nothing in them is a mean). What is left is $X=\sum_t\sum_iw_i(t)h_i(\theta)$, "
    r"$h_i(\theta)=F_{P,m(i)}(\theta)-F_{P,m(i)}(\theta^\star)-[\ell(\theta;z_i)-\ell(\theta^\star;z_i)]$. 2. Centre "
    r"each $h_i(\theta)$ in round $t$ by its mean given the samples of the rounds before $\tau_i$. Given these, "
    r"$z_i$ and all that comes later are independent of the past, so a copy of $z_i$ may be exchanged with it as "
    r"before: the mean is at most $2\eta EG^2\sum_{s<t}w_i(s)$, and with the weights that adds up to $2\eta "
    r"EG^2\sum_tO(t)$, in every run. 3. What remains is a sum over $j$ of martingale differences: $\Delta_j$ is what "
    r"knowing $z_j$ changes in the mean of $X_j=\sum_t\sum_{i:\tau_i\le\tau_j}w_i(t)h_i(\theta)$. Samples $i$ that "
    r"were admitted later are not in it, for their centre knows $z_j$ already. That is the point: a sample's trace "
    r"in $\theta$ need never fade, and bounded differences of the whole sum would be of order $T$; here a trace "
    r"counts only while samples no younger than $j$ are in memory, $K-1$ rounds. 4. With $z'$ in place of $z_j$ the "
    r"models are the same up to round $\tau_j$ and then at most $2\eta EG\sum_{s<t}w_j(s)$ apart. The sample's own "
    r"$h$ changes by at most $2GD+G|\theta-\theta'|$, for $\theta$, $\theta'$ and $\theta^\star$ lie in $\Theta$, the "
    r"others' by at most $2G|\theta-\theta'|$. Added up: $\Delta_j$ lies in an interval of length "
    r"$c_j=2GDW_j+4\eta EG^2R_j$ that $z_1,\ldots,z_{j-1}$ fix. 5. Hoeffding's lemma: $\mathbb "
    r"E[e^{s\Delta_j}|z_1,\ldots,z_{j-1}]\le e^{s^2c_j^2/8}$, since $\psi''$ is the variance under tilted chances "
    r"and that of a variable in an interval is at most a quarter of its squared length. Multiply over $j$, and choose "
    r"$s$ by Markov's inequality: $P(\sum\Delta_j\ge\varepsilon)\le e^{-2\varepsilon^2/\sum c_j^2}$, which is $\delta$ "
    r"at the stated $\varepsilon$. 6. Constant admission. A sample of a full memory has $W=1/\bar\Lambda$ and "
    r"$R=(K^2-1)/(6K\bar\Lambda)$, less if the horizon ends before it leaves. One of round $\tau<K$ has "
    r"$W\bar\Lambda=b_\tau+(\tau-1)/K$, $b_\tau=\frac1\tau+\ldots+\frac1K$, and $\sum_\tau b_\tau^2=2K-H_K$ by "
    r"induction; its $R\bar\Lambda$ has $K-1$ summands of at most 1. So $\bar\Lambda\sum W^2\le T+2(K-1)$, "
    r"$\bar\Lambda\sum R^2\le T(\frac{K^2-1}{6K})^2+(K-1)^3$, and the triangle inequality gives two roots."
)

CLAIMS = [
    Claim(
        id="thm:regret-neff/high-probability",
        title="the stability bound for a single run (ours)",
        statement=said(
            r"With probability $1-\delta$ at least, one run exceeds the stability bound by at most "
            r"$\sqrt{\frac12\log(1/\delta)\sum_jc_j^2}$, $c_j=@range$, a sum over all samples seen: $W_j$ is a "
            r"sample's total weight and $R_j$ its trace. Under constant admission that is at most $@steady$. With "
            r"$\eta$ of order $1/\sqrt T$ it is $O(\sqrt T)$ as long as $K$ is $O(\sqrt T)$, in every dimension; with "
            r"$K$ of order $T$ it is of order $T$ and of no use.",
            **PAID,
        ),
        formula=said(
            r"P\Bigl(\sum_t[F_P(\theta)-F_P(\theta^\star)]\le@initial+@constant+@moved\sum_tO(t)+"
            r"\sqrt{\tfrac12\log\tfrac1\delta\sum_jc_j^2}\Bigr)\ge1-\delta",
            **PAID,
        ),
        domain="the setting of thm:regret-neff/stability (convex, $L$-smooth losses, "
        r"$|\nabla\ell|\le G$ wherever local steps lead, $\eta\le2/L$, projection; one distribution and weights blind "
        r"to values, or $w_m=\alpha_m$; schedule blind to values, every client of positive weight holds a sample), "
        r"independent samples, given the schedule; $0<\delta<1$; any $E$, any retention, any $n(t)$",
        sketch=SKETCH,
        symbols={
            "P": "probability",
            "δ": "probability of failing",
            "j": "a sample",
            "O": r"overlap, $\sum_iw_i(t)\sum_{s<t}w_i(s)$",
            "W_j": r"total weight of sample $j$, $\sum_tw_j(t)$",
            "R_j": r"its trace, $\sum_{t>\tau_j}(\sum_{s<t}w_j(s))(\sum_{i:\tau_i\le\tau_j}w_i(t))$",
            "c_j": "by how much sample $j$ changes what is left after centring",
        },
        checks={
            **many_rounds.LOCAL,
            "weights of the population": (population.shares_add_up, population.weights_add_up),
            "steps do not expand": (stable.steps_do_not_expand, stable.projections_do_not_expand),
            "a replaced sample": stable.replaced_sample,
            "mean given the past": (stable.exchanged, centred),
            "what a sample changes": changed,
            "probability of the rest": (
                bounded_steps,
                *map(confirming, (few_samples.large_is_unlikely, few_samples.steep_is_unlikely)),
            ),
            "constant admission": (
                *(weights_squared, traces_squared, two_roots),
                *map(confirming, (constant_likely, influences_counted)),
            ),
            "order": of_order_root,
        },
        given=(WRITTEN,),
    )
]
