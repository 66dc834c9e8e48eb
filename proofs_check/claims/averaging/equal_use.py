r"""Equal use (`law:averaged/equal-use`), and bursts that are used once (`law:averaged/bursts`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.averaged_limits import wait_factor
from theory.law.averaging import averaged_risk, contractions, over_models
from theory.law.averaging import equal as equally
from theory.market.capacity import burst_rate
from theory.market.lower_bound import burst_inverse, burst_risk

LARGE_NUMBERS = Given("the law of large numbers", "that means over independent waits tend to expectations")
a, q, S, T, x = sp.symbols("a q S T x", positive=True)
k, t = sp.symbols("k t", integer=True, nonnegative=True)


@drawn("up to 12 counts up to 12", (60, 600), counts=st.lists(st.integers(1, 12), min_size=1, max_size=12))
def counted(counts: list[int]) -> Found:
    """N_eff = N for equal counts, and below N for all others; exactly."""
    size = effective_sample_size(counts)
    even = len(set(counts)) == 1
    return unless(size == len(counts) if even else size < len(counts), effective=size, N=len(counts))


@everywhere(
    "memories of 3 samples, replaced as a whole after each has been used $K=1,2,3$ times; $a=1/2$",
    kept=(1, 2, 3),
    cycles=by_profile((4, 8, 16), (4, 8, 16, 32)),
)
def equal_use_by_the_law(kept: int, cycles: int) -> Found:
    """N·Σb² is within 8K/N^(1/2) of 1."""
    rounds, samples = kept * cycles, 3 * cycles
    rule = by_age(([3] + [0] * (kept - 1)) * cycles, kept)
    squares = by_shares(rule, rounds, F(1, 2), [F(1, rounds + 1)] * (rounds + 1))[1][0]
    off = samples * squares - 1
    return unless(off * off * samples <= 64 * kept * kept, off=off, samples=samples)


def one_burst() -> Evidence:
    """g = (1-a^j)/(k+1) <= 1/(k+1): Σb² = Σg²/S <= k/(S(k+1)²); and (1-a^(k+1))/((k+1)(1-a)) is left of the start."""
    power, bursts = sp.symbols("power bursts", nonnegative=True)
    left = (1 - power) / ((bursts + 1) * (1 - a))
    twice = 2 / ((bursts + 1) * (bursts + 2))
    return argument(
        (((1 - power) / (bursts + 1)) ** 2 <= 1 / (bursts + 1) ** 2, [power <= 1], r"each burst, $a^j\le1$"),
        (bursts / (S * (bursts + 1) ** 2) <= 1 / (S * (bursts + 1)), [], "all bursts"),
        (left**2 <= 1 / ((bursts + 1) ** 2 * (1 - a) ** 2), [power <= 1, a < 1], "the start"),
        (1 / (bursts + 1) ** 2 <= twice, [], r"$k\ge0$"),
    )


def binomial_means() -> Evidence:
    """C(t,k)/(k+1) = C(t+1,k+1)/(t+1), and so on: sums of chances of t+1 and of t+2 rounds, except their first."""
    chance = sp.binomial(t, k)
    once, twice = (sp.gammasimp(sp.binomial(t + j, k + j).rewrite(sp.gamma)) for j in (1, 2))
    plain = sp.gammasimp(chance.rewrite(sp.gamma))
    return argument(
        (sp.gammasimp(plain / (k + 1) - once / (t + 1)), 0, r"$\binom tk/(k+1)-\binom{t+1}{k+1}/(t+1)$"),
        (
            sp.gammasimp(plain / ((k + 1) * (k + 2)) - twice / ((t + 1) * (t + 2))),
            0,
            r"$\binom tk/((k+1)(k+2))$ and $\binom{t+2}{k+2}/((t+1)(t+2))$",
        ),
        (burst_inverse(t, q) * q * (t + 1), 1 - (1 - q) ** (t + 1), "the chance of a burst in $t+1$ rounds"),
        (
            burst_risk(S, q, t, h=[1], variance=[0], start=[1], eta=1) * (t + 1) * (t + 2) * q**2,
            1,
            "theory's part of the start, with half of the $2$ of $2/((k+1)(k+2))$",
        ),
        domain="every $t$ and $q$",
    )


def limit_of_bursts() -> Evidence:
    """R·t·E[1/(k+1)]/S → 1, and t times the start's part → 0."""
    often = 1 - sp.exp(-x)
    noise = burst_rate(S, 1, often) * T * burst_inverse(T, often) / S
    problem: Any = {"h": [1], "variance": [0], "start": [1], "eta": q}
    return argument(
        (noise, T, 1, "the noise times $Rt$"),
        (T * burst_risk(S, often, T, **problem), T, 0, "$t$ times the transient"),
        domain="every $S$ and $q=1-e^{-x}$",
    )


@everywhere(
    "bursts of 2 samples in up to 6 rounds, with chance $1/4$ and $2/3$; two directions",
    often=(F(1, 4), F(2, 3)),
    rounds=by_profile((3, 6), (4, 7, 10)),
)
def every_pattern(often: F, rounds: int) -> Found:
    """The law of the mean over models, averaged over all patterns of bursts: below theory's bound; exactly."""
    problem: Any = {"h": [F(1, 2), F(1)], "variance": [F(2), F(1)], "start": [F(3), F(1)]}
    eta, mean, inverse = F(1, 2), F(0), F(0)
    a = contractions(problem["h"], [eta] * rounds)
    for pattern in product((0, 1), repeat=rounds):
        chance = often ** sum(pattern) * (1 - often) ** (rounds - sum(pattern))
        rule = by_age([2 * burst for burst in pattern], 1)
        risk = averaged_risk(rule, rounds, a, over_models(equally, pattern), **problem)
        mean += chance * risk.total[-1]
        inverse += chance / (sum(pattern) + 1)
    bound = burst_risk(2, often, rounds, eta=eta, **problem)
    true = mean <= bound and inverse == burst_inverse(rounds, often)
    return unless(true, mean=mean, bound=bound, inverse=inverse)


def over_rounds_of_time() -> Evidence:
    """T times a burst's share: (1-a)·Σa^d·W_d over independent waits of mean 1/q and variance (1-q)/q²."""
    z = sp.Symbol("z", positive=True)
    wait = q * z / (1 - (1 - q) * z)
    first = sp.simplify(sp.diff(wait, z).subs(z, 1))
    spread = sp.simplify(sp.diff(z * sp.diff(wait, z), z).subs(z, 1) - first**2)
    square = (1 - a) ** 2 * (spread / (1 - a**2) + (first / (1 - a)) ** 2)
    return argument(
        (first, 1 / q, "the mean wait"),
        (spread, (1 - q) / q**2, "its variance"),
        (q * square / S, wait_factor(a, q) / burst_rate(S, 1, q), "$T\\sum b^2$ and theory's over $R$"),
        (burst_rate(S, 1, q) / wait_factor(0 * a, q), burst_effective_rate(S, 1, q), "the rate at $a=0$"),
        domain="every $S$, $q$ and $0\\le a<1$",
    )


@everywhere(
    "$q=1/4,2/3$, $a=0,1/2,4/5$; all patterns of up to 5 rounds after a burst",
    often=(F(1, 4), F(2, 3)),
    a=(F(0), F(1, 2), F(4, 5)),
    rounds=(1, 3, 5),
)
def waits_pattern_by_pattern(often: F, a: F, rounds: int) -> Found:
    """E G² of a burst's share G = (1-a)Σ_t a^(bursts by t), from G = G_L + a^B·G' with G' of the same law."""
    square = crossed = again = F(0)
    for pattern in product((0, 1), repeat=rounds):
        chance = often ** sum(pattern) * (1 - often) ** (rounds - sum(pattern))
        share = (1 - a) * sum((a ** sum(pattern[:t]) for t in range(rounds)), F(0))
        left = a ** sum(pattern)
        square += chance * share**2
        crossed, again = crossed + chance * share * left, again + chance * left**2
    found = (square + 2 * crossed / often) / (1 - again)
    return unless(found * often**2 == wait_factor(a, often), found=found)


CLAIMS = [
    Claim(
        id="law:averaged/equal-use",
        title=r"equal use gives $N_{\mathrm{eff}}=N$",
        statement=r"$N_{\mathrm{eff}}\le N$, with equality if and only if every sample was used equally "
        "often. So among memories of constant size the averaged model is best served by equal use, once "
        "or often: then its noise tends to that of the mean of all samples.",
        formula=r"N_{\mathrm{eff}}=\frac{(\sum_iA_i)^2}{\sum_iA_i^2}\le N,\quad\text{equality if and only "
        r"if all }A_i\text{ are equal}",
        domain="any counts",
        sketch=r"$\sum(A-\bar A)^2=\sum A^2-(\sum A)^2/N$ is not negative, and 0 only if all are equal. "
        r"By law:averaged/counts the noise of the mean over $\tfrac12\sum hs^2$ is $1/N_{\mathrm{eff}}$ "
        "in the limit.",
        given=(Given("law:averaged/counts", r"that the mean's noise is $1/N_{\mathrm{eff}}$ in the limit"),),
        checks=(
            theorem("Buying.equal_use", domain="any counts"),
            confirming(counted),
            confirming(equal_use_by_the_law),
        ),
        symbols={**AVERAGED, "A": "how often a sample was used"},
    ),
    Claim(
        id="law:averaged/bursts",
        title="averaged, bursts used once lose nothing of their rate",
        statement="Let $S$ fresh samples replace the whole memory with chance $q$ in a round, "
        "independently, be trained on once, and rounds in between be idle. The equal mean over models, "
        "the start and those after each burst, has after $t$ rounds at most the stated risk, for all "
        "$t$: the noise of $R(t+1)$ samples, $R=Sq$, and a transient of order $t^{-2}$. So nothing of "
        "what was bought is lost in the limit, where the same bursts kept in memory have $Sq/(2-q)$ "
        "(buy:bursts). Over rounds of time, where a model weighs as much as the wait for the next, the "
        "noise is $1+(1-q)(1-a)/(1+a)$ times as large in the limit, which is $R/(Sq/(2-q))$ at $a=0$ and "
        "tends to 1 for small steps.",
        formula=said(
            r"\mathbb "
            r"E[F_P(\bar\theta)-F_P(\theta^\star)]\le\tfrac12\sum_hh\Bigl(\frac{s_h^2}S\cdot@inverse+\frac{(\theta_h(1)-\theta_h^\star)^2}{(1-a_h)^2}\cdot\frac2{(t+1)(t+2)q^2}\Bigr)",
            inverse=burst_inverse(t, q),
        ),
        domain=r"quadratic losses with one Hessian, every $S$, $0<q\le1$, $0\le a_h<1$",
        sketch="After $k$ bursts there are $k+1$ models, and in their equal mean the burst that $j$ "
        r"models have followed has the share $(1-a^j)/(k+1)$, at most $1/(k+1)$: $\sum b^2\le "
        r"k/(S(k+1)^2)\le1/(S(k+1))$. Of the start $(1-a^{k+1})/((k+1)(1-a))$ is left. $k$ is binomial, "
        r"with $\mathbb E[1/(k+1)]=(1-(1-q)^{t+1})/((t+1)q)$ and $\mathbb E[1/(k+1)^2]\le2\,\mathbb "
        r"E[1/((k+1)(k+2))]\le2/((t+1)(t+2)q^2)$, by $\binom tk/(k+1)=\binom{t+1}{k+1}/(t+1)$ and once "
        r"more. Over rounds a burst has the share $G/T$ with $G=(1-a)\sum a^dW_d$ over the waits $W$ from "
        r"its own on, of mean $1/q$ and variance $(1-q)/q^2$; there are about $qT$ bursts, and $T\sum "
        r"b^2$ tends to $q\,\mathbb E[G^2]/S$.",
        given=(WRITTEN, LARGE_NUMBERS),
        checks={
            "at most": (one_burst, binomial_means, confirming(every_pattern)),
            "in the limit": limit_of_bursts,
            "over rounds": (over_rounds_of_time, confirming(waits_pattern_by_pattern)),
        },
        symbols=AVERAGED
        | {"S": "samples of a burst", "q": "a round's chance of a burst", "k": "bursts so far"},
    ),
]
