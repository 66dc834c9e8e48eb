r"""Small steps see an effective rate (`law:reuse/effective-rate`), and not that of the paper's N_eff."""

from proofs_check.prelude import *

from proofs_check.groundwork.law import lags
from proofs_check.groundwork.law.lags import SYMBOLS, a, long_run_noise, patterns
from theory.reuse.counts import uniformity_from_deficits

HALF = sp.Rational(1, 2)
t, U, first, second, size, squares = sp.symbols("t U D_1 D_2 size squares", positive=True)
power, least, share, q = sp.symbols("power least share q", positive=True)
p = sp.Symbol("p", integer=True, positive=True)
UNEVEN = (1, 3)  # admissions of the counterexample, K = 1
EXAMPLE = r"admissions $1,3,1,3,\ldots$, $K=1$"


def lower_end(a: Any, K: Any, p: Any) -> Any:
    """Below Σc²/((1-a)U): every sample gone, at its weight in its first round, a period's at that of its last."""
    return (1 - a) * p * a ** (2 * (K + p - 2)) / (1 - a ** (2 * p))


def upper_end(a: Any, K: Any, p: Any) -> Any:
    """Above it: every sample gone, at its weight in its last round, and those still there at u."""
    return (1 - a) * (p / (1 - a ** (2 * p)) + K + p)


def _noise(admissions: Any, kept: int, phase: int = -1) -> Any:
    """Σc²/(1-a) at a = 1 - 1/t, a rational function of t."""
    return sp.cancel(sp.together(sp.sympify(long_run_noise(admissions, kept, 1 - 1 / t, phase) * t)))


def a_sample_gone() -> Evidence:
    """A round's share of its weight, a^(g-d)/n with 0 <= d < K, lies between a^g/n and a^(g-K+1)/n."""
    left = sp.Symbol("left", positive=True)  # a^(g-d); power is a^d, least a^(K-1), share 1/n
    between = [left * power * share <= left * share, left * share <= left * power / least * share]
    domain = r"$a^d$ and $a^{K-1}$, $0\le d<K$, $0<a<1$; summed over $d$, $1/n$ adds up to $u$"
    return argument((between, [power <= 1, least <= power], domain))


def a_period() -> Evidence:
    """For p numbers q of mean U, Σq·a^(2r) over r < p lies between a^(2(p-1))·pU and pU; periods: 1/(1-a^(2p))."""
    series, last = 1 / (1 - a ** (2 * p)), ((K - 1) / p + 1) * p * U
    return argument(
        ([least * q <= power * q, power * q <= q], [power <= 1, least <= power], "each $q$, $r<p$"),
        (series - a ** (2 * p) * series, 1, "its first term", "every $p$: a geometric series less its tail"),
        (last <= (K + p) * U, [], "the last $K-1$ rounds lie in $(K-1)/p+1$ periods at most"),
    )


def both_ends() -> Evidence:
    a = 1 - 1 / t
    ends = ((lower_end(a, K, p), HALF, "the lower end"), (upper_end(a, K, p), HALF, "the upper end"))
    return limits(t, *ends, domain=r"$a\to1$, every $K$ and period $p$")


@drawn(
    "periods up to 6, $K$ up to 9; $a=1/10,1/2,9/10,999/1000$",
    (60, 600),
    pattern=patterns(),
    a=st.sampled_from([F(1, 10), F(1, 2), F(9, 10), F(999, 1000)]),
)
def within_the_ends(pattern: tuple[list[int], int], a: F) -> Found:
    """The noise in the long run, exactly, over (1-a)U: between the ends, in every phase."""
    admissions, kept = pattern
    period, scale = len(admissions), (1 - a) * inverse_effective_rate(admissions, kept)
    low, high = (end(a, kept, period) for end in (lower_end, upper_end))
    shares = [long_run_noise(admissions, kept, a, phase) / scale for phase in range(period)]
    return unless(all(low <= share <= high for share in shares), low=low, shares=shares, high=high)


def in_the_mean() -> Evidence:
    """Stationary random admissions: as a period of one round in the mean, where every round has the same E Λu²."""
    one = {p: 1}
    a = 1 - 1 / t
    low, high = (end(a, K, p).subs(one) for end in (lower_end, upper_end))
    bounded = r"each round: $\Lambda/n\le1$ and $1/n\le1$, so $\Lambda u$ and $u$ are at most $K$"
    ends = ((low, HALF, "the lower end at $p=1$"), (high, HALF, "the upper end at $p=1$"))
    return argument(
        (share * share * size <= K**2, [share <= K, share * size <= K], bounded),
        limits(t, *ends, domain=r"$a\to1$, every $K$"),
    )


def _square(age: int, kept: int, stay: F, a: F) -> F:
    """E Λ(Σ_d a^(age-d)/n)² of the samples admitted `age` rounds ago: admissions 1 or 3, again with chance `stay`."""
    total = F(0)
    for path in product(UNEVEN, repeat=2 * kept - 1):
        same = sum(one == other for one, other in pairwise(path))
        chance = F(1, 2) * stay**same * (1 - stay) ** (2 * kept - 2 - same)
        weight = sum(a ** (age - d) / sum(path[d : d + kept]) for d in range(min(age + 1, kept)))
        total += chance * path[kept - 1] * weight**2
    return total


@everywhere(
    "admissions 1 or 3, independent and as a chain, $K\\le3$",
    stay=(F(1, 2), F(1, 5), F(9, 10)),
    kept=(1, 2, 3),
    a=(F(1, 10), F(9, 10), F(999, 1000)),
)
def random_admissions(stay: F, kept: int, a: F) -> Found:
    """The mean noise in the long run, exactly, over (1-a)E[Λu²]: between the ends of a period of one round."""
    *young, oldest = (_square(age, kept, stay, a) for age in range(kept))
    noise = (1 - a) ** 2 * (sum(young) + oldest / (1 - a * a))
    low, high = (end(a, kept, 1) for end in (lower_end, upper_end))
    mean = noise / ((1 - a) * _square(kept - 1, kept, stay, F(1)))
    return unless(low <= mean <= high, low=low, mean=mean, high=high)


def weights_of_rounds() -> Evidence:
    """All but K + p of t rounds have samples that are gone, in whole periods, with Λu² of mean U."""
    sums = ((U * (t + off) / t, U, r"$t\sum\omega^2$") for off in (-(K + p), K + p))
    return limits(t, *sums, domain="every $K$ and $p$: up to $K+p$ rounds' samples more or less")


def counts_mislead() -> Evidence:
    true, counted = inverse_effective_rate(UNEVEN, 1) / 2, F(len(UNEVEN), 2 * sum(UNEVEN))
    if true == counted:
        return undecided("limit", f"the example does not tell the two apart: {true}", domain=EXAMPLE)
    what = rf"$\sum c^2/(1-a)$, while $t/(2N_{{\mathrm{{eff}}}})$ tends to {counted},"
    return tends_to(_noise(UNEVEN, 1), t, sp.sympify(true), what=what, domain=EXAMPLE)


@everywhere(EXAMPLE, cycles=by_profile(range(1, 20), range(1, 100)))
def counterexample_sample_by_sample(cycles: int) -> Found:
    counts = list(UNEVEN) * cycles
    T = len(counts)
    weighed = T * sum(m * F(1, m * T) ** 2 for m in counts)
    counted = T / effective_sample_size([1] * sum(counts))
    true = weighed == inverse_effective_rate(UNEVEN, 1) and counted == F(1, 2) < weighed
    return unless(true, weighed=weighed, counted=counted)


@drawn(
    "any admissions up to 12 rounds after the memory was filled, capacity up to 9",
    (80, 800),
    admissions=st.lists(st.integers(0, 9), min_size=1, max_size=12),
    capacity=st.integers(1, 9),
)
def full_by_capacity(admissions: list[int], capacity: int) -> Found:
    """Memories by capacity, full from round 1 on: the law's weights and the counts, sample by sample."""
    cohorts, T = by_capacity([capacity, *admissions], capacity), len(admissions) + 1
    held = cohorts.occupancy(T).tolist()
    spans = zip(cohorts.entered.tolist(), cohorts.left.tolist(), cohorts.count.tolist(), strict=True)
    squares, uses = F(0), []
    for entered, left, count in spans:
        rounds = range(entered, min(left, T) + 1)
        squares += count * (sum(F(1, held[tau - 1]) for tau in rounds) / T) ** 2
        uses += [len(rounds)] * count
    return differing(weighed=squares, counted=1 / effective_sample_size(uses))


CLAIMS = [
    Claim(
        id="law:reuse/effective-rate",
        title=r"small steps see $\sum\omega^2$ of shares $1/n$, not $N_{\mathrm{eff}}$ of counts",
        statement="Let admissions have a period, some sample be in memory in every round, and each be kept "
        r"for $K$ rounds. As $a$ tends to 1, the noise $\sum c^2$ over $1-a$ tends to "
        r"$\tfrac12\lim t\sum\omega^2$, where $\omega$ is a sample's weight by rounds, the mean over all "
        r"rounds of $1/n$ where it is used: the mean $U$ of $\Lambda u^2$ over a period. The paper's "
        r"$N_{\mathrm{eff}}$, which counts uses, has $t/N_{\mathrm{eff}}\to1/\bar\Lambda$ whatever the "
        r"period, so it is right if and only if $U=1/\bar\Lambda$ and else too large: for admissions "
        r"$1,3,1,3,\ldots$ used once the noise tends to $(1-a)/3$, and not to $(1-a)/4$. Where the memory "
        "keeps its size, as by capacity once it is full, both are equal, for any lifetimes. For stationary "
        r"random admissions the mean noise over $1-a$ tends to $\tfrac12\mathbb E[\Lambda u^2]$.",
        formula=r"\lim_{a\to1}\frac{\sum_ic_i^2}{1-a}=\frac12\lim_{t\to\infty}t\sum_i\omega_i(t)^2=\frac{U}2,\quad "
        r"\omega_i(t)=\frac1t\sum_{\tau\le t,\,i\in Q(\tau)}\frac1{n(\tau)},\quad U=\frac1p\sum_{j\le "
        r"p}\Lambda_ju_j^2\ge\frac1{\bar\Lambda}=\lim\frac t{N_{\mathrm{eff}}}",
        domain="quadratic losses with one Hessian; admissions of any period $p$, retention by age; "
        "random ones stationary; of constant size any memory",
        sketch=r"A sample of round $j$ has, $g$ rounds later, when it is gone, the weight $(1-a)\sum_da^{g-d}/n$ "
        r"over the $d<K$ of its rounds: between $(1-a)a^gu$ and $(1-a)a^{g-K+1}u$, where $u=\sum1/n$. So $\sum "
        r"c^2$ is $(1-a)^2$ times a sum of $\Lambda u^2a^{2g}$, up to a factor between $a^{2(K-1)}$ and 1, and up "
        r"to the last $K-1$ rounds' samples, whose squares add up to at most $(1-a)^2(K+p)U$. Over a period $\sum "
        "qa^{2r}$ lies between $a^{2(p-1)}pU$ and $pU$, and the periods before it are a geometric series: so "
        r"$\sum c^2/((1-a)U)$ lies between $(1-a)pa^{2(K+p-2)}/(1-a^{2p})$ and $(1-a)p/(1-a^{2p})+(1-a)(K+p)$, and "
        r"both tend to $\tfrac12$. If admissions are random, integers and stationary, both ends hold for each "
        r"path, round by round; in the mean every round has the same $\mathbb E[\Lambda u^2]\le K^2$, so they are "
        r"those of a period of one round. By rounds $\omega=u/t$ for all samples gone, so $t\sum\omega^2$ tends to "
        r"the mean of $\Lambda u^2$. By uses every sample gone has $A=K$, so $N_{\mathrm{eff}}$ is $N$ up to a "
        r"bounded number, and $t/N_{\mathrm{eff}}$ tends to $1/\bar\Lambda$, which is at most $U$: the weights "
        r"$1/n$ add up to 1 in every round, so $U-1/\bar\Lambda$ is the mean of $\Lambda(u-1/\bar\Lambda)^2$. If "
        r"$n=B$ in every round, $\omega=A/(Bt)$ and $\sum A=Bt$.",
        given=(WRITTEN,),
        checks={
            "the limit": (a_sample_gone, a_period, both_ends, confirming(within_the_ends)),
            "random admissions": (a_sample_gone, in_the_mean, confirming(random_admissions)),
            "shares of rounds": weights_of_rounds,
            "counts of uses": (
                lambda: tends_to(
                    1 / (rate * uniformity_from_deficits(rate * t, first, second, K)),
                    t,
                    1 / rate,
                    what=r"$t/N_{\mathrm{eff}}$",
                    domain=r"every $K$, $\bar\Lambda$ and bounded deficits $D_1$, $D_2$",
                ),
                lags.uneven_weights_cost,
            ),
            "they differ": (counts_mislead, confirming(counterexample_sample_by_sample)),
            "a memory of constant size": (
                lambda: equal(  # ω = A/(Bt), and ΣA = Bt
                    squares / (size * t) ** 2,
                    1 / effective_from_sums(size * t, squares),
                    domain="every size of the memory, every $t$, any lifetimes",
                    what=r"$\sum\omega^2$ and $1/N_{\mathrm{eff}}$",
                ),
                confirming(full_by_capacity),
            ),
        },
        symbols={**SYMBOLS, "ω": "a sample's weight by rounds: the mean of $1/n$ where it is used, else 0"},
    )
]
