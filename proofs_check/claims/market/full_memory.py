r"""A memory kept full (`buy:full-memory`): N_eff and noise (`buy:noise-by-age`) know only how old the memory is."""

from functools import reduce
from operator import add

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import SYMBOLS as LAGS
from proofs_check.groundwork.law.lags import d, geometric, lag_sums, sums
from proofs_check.groundwork.market.market import SYMBOLS, S, a, j
from theory.market.capacity import noise_by_age, trajectory_by_capacity, trajectory_of

Rounds = list[list[int]]
Sizes = list[int]
age, mean = sp.symbols("A mean", positive=True)
used, squares = sp.symbols("A_1 A_2", positive=True)  # ΣA and ΣA²
held, size = sp.symbols("n B", nonnegative=True)  # of a client, which holds the minimum afterwards
# every sequence of one client, with every size of its memory; round 1 admits at least one
PATHS = [path for length in range(1, 5) for path in product(range(4), repeat=length) if path[0]]
SHORT = [([[x] for x in path], [size]) for path in PATHS for size in range(1, 4)]
AMOUNTS = st.lists(st.one_of(st.just(0), st.integers(0, 2), st.integers(0, 12)), min_size=3, max_size=3)
ROUNDS = st.lists(AMOUNTS, min_size=1, max_size=10).filter(lambda rows: sum(rows[0]) > 0)
SIZES = st.lists(st.integers(1, 6), min_size=3, max_size=3)


def kept(rounds: Rounds, capacities: Sizes) -> Cohorts:
    """The cohorts of several clients, by theory's own rule."""
    clients = zip(zip(*rounds, strict=True), capacities, strict=True)
    return reduce(add, (by_capacity(list(column), size) for column, size in clients))


def played(find: Callable[[Rounds, Sizes], Found]) -> Check:
    short = "every admissions up to 4 rounds and 3 per round, one client, every size up to 3"
    return everywhere(short, memory=SHORT)(lambda memory: find(*memory))


def of_clients(find: Callable[[Rounds, Sizes], Found]) -> Check:
    more = "three clients, up to 10 rounds, buffers up to 6, zeros and more than fit included"
    return confirming(drawn(more, (60, 600), memory=st.tuples(ROUNDS, SIZES))(lambda memory: find(*memory)))


def _overfull(rounds: Rounds, capacities: Sizes) -> Found:
    """Each client holds all samples so far, up to its buffer, as theory says."""
    came = [0] * len(capacities)
    occupancy = kept(rounds, capacities).occupancy(len(rounds)).tolist()
    snapshots = simulate_by_capacity(rounds, capacities)
    for snapshot, amounts, listed in zip(snapshots, rounds, occupancy, strict=True):
        came = [before + amount for before, amount in zip(came, amounts, strict=True)]
        held = [snapshot.n_of(client) for client in range(len(capacities))]
        wanted = [min(total, size) for total, size in zip(came, capacities, strict=True)]
        if held != wanted or listed != sum(wanted):
            return {"round": snapshot.round, "held": held, "wanted": wanted, "theory": listed}
    return None


def _other_rate(rounds: Rounds, capacities: Sizes) -> Found:
    """N_eff and mean age, counted from the samples, after a round that fills the memories."""
    places, total = sum(capacities), F(0)
    for snapshot in simulate_by_capacity([capacities, *rounds], capacities):
        total += F(sum(snapshot.uses[sample] for sample in snapshot.memory), places)
        found = effective_sample_size(list(snapshot.uses.values())) / snapshot.round
        stated = effective_rate(places, total / snapshot.round)
        if snapshot.n != places or found != stated:
            return {"round": snapshot.round, "n": snapshot.n, "N_eff/t": found, "stated": stated}
    return None


def _other_trajectory(rounds: Rounds, capacities: Sizes) -> Found:
    """theory's n, N, uniformity and mismatch against the samples, in every round."""
    found = trajectory_of(kept(rounds, capacities), len(rounds))
    columns = [found.n, found.N, found.uniformity, found.mismatch]
    for snapshot in simulate_by_capacity(rounds, capacities):
        true = (snapshot.n, snapshot.N, snapshot.uniformity, snapshot.mismatch)
        stated = tuple(column[snapshot.round - 1] for column in columns)
        if true != stated:
            return {"round": snapshot.round, "true": true, "stated": stated}
    if len(capacities) == 1:
        alone = trajectory_by_capacity([row[0] for row in rounds], capacities[0])
        if list(alone.effective) != list(found.effective):
            return {"one client": list(alone.effective), "as cohorts": list(found.effective)}
    return None


LAW = Given("law:reuse", r"that $\theta$ is $\sum(1-a)a^d\,\bar z(t-1-d)$, its noise the sum of squares")
u = sp.Symbol("u", positive=True)  # 1/(1-a) or 1/a, which grows


def sum_over_lags() -> Evidence:
    """(1-a)²Σ_{d,e}a^(d+e)·k(|d-e|): lag l stands at a^l/(1-a²), twice for l >= 1; with k(l) = P(age > l)/S."""
    lags = sp.Symbol("l", integer=True, nonnegative=True)
    old = sp.Symbol("P", nonnegative=True)  # the share of the memory that is older than l
    series, burden = a**lags / (1 - a**2), 1 + 2 * a**lags * old
    share = r"lags 0 and $l$, any share $P$ of samples older than $l$; $g$ is $1+\sum2a^l$ over all $l$ below an age"
    noise = (1 - a) ** 2 * (burden / S) / (1 - a**2)
    return argument(
        (series - a**2 * series, a**lags, "$a^l$", r"$\sum_da^{2d+l}$, less all but its first term"),
        (noise, noise_by_age(S, burden, a), "the variance and theory's noise", share),
    )


def _far_from_theory(period: tuple[list[int], int], a: F) -> Found:
    """The law's own recursion, averaged over a period: rounds before it add less than 3a^t/S, Var z̄ being 1/S."""
    admissions, capacity = period
    p = len(admissions)
    first = capacity * p  # by then whatever came in round 1 is gone
    T = first + 50 // p * p + p
    whole = [capacity, *(admissions * (T // p + 1))][:T]
    squares = squared_weights(by_capacity(whole, capacity), a, T)
    noise = sum(squares[T - p + 1 :], F(0)) / p  # θ after each of the last p rounds
    played = simulate_by_capacity([[x] for x in whole[: first + p]], [capacity])[first:]
    burdens = [age_burden(s.uses[sample], a) for s in played for sample in s.memory]
    stated = noise_by_age(capacity, sum(burdens, F(0)) / len(burdens), a)
    true = abs(noise - stated) <= 3 * a ** (T - p) / capacity
    return unless(true, noise=float(noise), stated=float(stated))


listed_periods = everywhere(
    r"five periods, bursts and trickles, $a=1/10,1/2,3/4$; to $3a^t/S$, $t\ge50$",
    period=(([1], 3), ([2], 6), ([0, 3], 3), ([1, 0, 4], 5), ([5, 0, 0, 1], 6)),
    a=(F(1, 10), F(1, 2), F(3, 4)),
)(_far_from_theory)


def ends() -> Evidence:
    """a → 1: (2j-1)/(2S) over 1-a, half the inverse of the effective rate; a → 0: 1/S, whatever the ages."""
    few, around = [sp.Integer(age) for age in (1, 2, 7)], "ages around 1, 2, 7; every $S$"

    def noise(left: Any) -> list[Any]:
        return [noise_by_age(S, age_burden(age, left), left) for age in few]

    halves = zip(noise(1 - 1 / u), few, strict=True)
    small = [(found * u, 1 / (2 * effective_rate(S, age)), "noise/$(1-a)$") for found, age in halves]
    large = [(found, 1 / S, "the noise") for found in noise(1 / u)]
    return argument(
        limits(u, *small, domain=rf"$a\to1$, {around}"),
        (1 / effective_rate(S, j), age_burden(j) / S, "1/rate and $g/S$ at $a=1$", "every mean age"),
        limits(u, *large, domain=rf"$a\to0$, {around}"),
    )


def constant_admission() -> Evidence:
    """Ages 1..K in equal shares: Σg = K + 2Σ(K-d)a^d, one age more from K to K+1, and S = KΛ̄ gives v(a, K)/Λ̄."""
    more, mean = lag_sum(a, K + 1) - lag_sum(a, K), (K + 2 * lag_sum(a, K)) / K
    return argument(
        (age_burden(1, a), 1 + 2 * lag_sum(a, 1), r"$\sum g$ at $K=1$"),
        (age_burden(K + 1, a), 1 + 2 * more, "one age more"),
        (age_burden(K + 1, a), 1 + 2 * geometric(K), "$g$ and its sum"),
        (noise_by_age(K * rate, mean, a), stationary_noise(a, K) / rate, r"the noise and $v/\bar\Lambda$"),
        domain=r"every $K$, $\bar\Lambda$ and $a$",
    )


CLAIMS = [
    Claim(
        id="buy:full-memory",
        title=r"a full memory: buffers hold, $N_{\mathrm{eff}}/t=S/(2\bar A-1)$",
        statement="Let every client keep its newest $B_m$ samples, first in, first out. Whatever is admitted, "
        "it never holds more than $B_m$; and once it has had $B_m$ samples it holds exactly $B_m$ ever after. "
        r"With $S$ samples in memory in each of $t$ rounds, $N_{\mathrm{eff}}(t)/t$ is $S/(2\bar A-1)$, exactly "
        r"and for any admissions, $\bar A$ being the mean age of what was trained on, over samples and rounds.",
        formula=said(
            r"n_m(t)\le B_m,\qquad\frac{N_{\mathrm{eff}}(t)}t=@rate", rate=effective_rate(S, sp.Symbol("Ā"))
        ),
        domain="every admissions, every number of clients, every buffers; the rate for memories full from "
        "round 1 on",
        sketch=r"A memory of size $B$ that holds $n$ and admits $x$ keeps the newest $\min(n+x,B)$. Let "
        "$A_i$ be how often sample $i$ has been used: its age, while it is in memory. A round with $S$ "
        r"samples adds $S$ to $\sum A_i$, so $\sum A_i=St$. A sample in memory goes from $A-1$ to $A$, its "
        r"square grows by $2A-1$, and no other square changes: $\sum A_i^2$ is the sum over all rounds and "
        r"their samples of $2A-1$, which is $St(2\bar A-1)$. $N_{\mathrm{eff}}=(\sum A)^2/\sum A^2$.",
        checks={
            "buffers hold": (
                theorem("Buying.capacity_holds", domain="any admissions, any buffer"),
                of_clients(_overfull),
            ),
            "the effective rate": (
                theorem("Buying.effective_rate_of_a_full_memory", domain="any samples, rounds and drops"),
                confirming(played(_other_rate)),
            ),
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="buy:full-memory/trajectory",
        title=r"$n$, $N$, $\widetilde V$ and $\chi$ of memories by capacity, round by round",
        statement="For any admissions of any clients that keep their newest $B_m$ samples, full or not "
        "yet, the trajectory from cohorts (theory.market.capacity), linear in $T$, has the $n$, $N$, uniformity "
        "and mismatch of every round.",
        formula=said(
            r"N_{\mathrm{eff}}=@neff,\qquad\chi=@chi",
            neff=effective_from_sums(used, squares),
            chi=mismatch_from_sums(n, used, squares, sp.Symbol("A_Q")),
        ),
        domain="all short sequences of one client, and sequences of three clients drawn at random",
        sketch="Samples that come and go together are a cohort, with the rounds of its entry and its last "
        r"use. $N$ counts entries, $\sum A$ grows by $n$ and $\sum A^2$ by $\sum(2A-1)$ in a round, and the "
        r"sums over what has left take lifetimes and their squares: $\widetilde V$ and $\chi$ are functions "
        "of these. The checks play every sample by name.",
        checks=(played(_other_trajectory), of_clients(_other_trajectory)),
        symbols={"A_Q": "all uses of the samples in memory", "A_1": "all uses", "A_2": "all squared uses"},
    ),
    Claim(
        id="buy:noise-by-age",
        title="noise in a full memory is a mean over ages",
        statement="Let a memory hold $S$ samples in every round and be stationary (or of a period, in the "
        "mean over it). For quadratic losses with one Hessian the law's noise is $(1-a)/(1+a)$ times the "
        r"mean over the memory of $g(\text{age})$, over $S$. As $a\to1$ it is $(1-a)/2$ over the effective "
        r"rate $S/(2\bar A-1)$; as $a\to0$ it is $1/S$; and under constant admission, ages $1,\ldots,K$ in "
        r"equal shares, it is $v(a,K)/\bar\Lambda$.",
        formula=said(
            r"\lim\sum_ic_i^2=\frac{1-a}{1+a}\cdot\frac{\mathbb E[g_a(A)]}S,\qquad g_a(j)=@g",
            g=age_burden(j, a),
        ),
        domain="$0<a<1$; any rule by which samples leave, as long as $S$ are there in every round",
        given=(WRITTEN, LAW),
        sketch=r"$\theta$ is the mean of $\bar z(t-1-d)$ with weights $(1-a)a^d$, and "
        r"$\mathrm{Cov}(\bar z(\tau),\bar z(\tau'))$ is the number of common samples over $S^2$, in units of "
        "a sample's variance. A sample of the later of two rounds $l$ apart is in the earlier if and only if "
        r"its age exceeds $l$: in the mean over a stationary memory that number is $S\,P(A>l)$, and the "
        r"noise $(1-a)^2\sum_{d,e}a^{d+e}P(A>|d-e|)/S$. Lag $l$ stands at $\sum_da^{2d+l}=a^l/(1-a^2)$, "
        r"twice for $l\ge1$, and $1+2\sum_la^l\mathbf 1\{A>l\}=g(A)$. As $a\to1$ every $a^d$ tends to 1 and "
        r"$g$ to $2A-1$, whose mean is $S$ over the effective rate (buy:full-memory); as $a\to0$, to 1. Over "
        r"ages $1,\ldots,K$ the sum of $g$ is $K+2\sum_{d<K}(K-d)a^d$, and $S=K\bar\Lambda$.",
        checks={
            "the burden of an age": lambda: argument(
                (age_burden(1, a), 1, "$g$ of a fresh sample"),
                (age_burden(j + 1, a) - age_burden(j, a), 2 * a**j, "the growth of $g$"),
                (age_burden(1), 1, "$g$ of a fresh sample at $a=1$"),
                (age_burden(j + 1) - age_burden(j), 2, "the growth of $g$ at $a=1$"),
                domain="every age and $0<a<1$, and $a=1$",
            ),
            "the mean over ages": (sum_over_lags, confirming(listed_periods)),
            "small and large steps": (
                lambda: together(
                    limits(u, ((1 - 1 / u) ** d, 1, "$a^d$"), domain=r"$a\to1$, every $d$"),
                    limits(u, (u**-d, 0, "$a^d$"), domain=r"$a\to0$, every $d\ge1$"),
                ),
                ends,
            ),
            "constant admission": (constant_admission, lag_sums, sums),
        },
        symbols={**SYMBOLS, "a": LAGS["a"], "c": LAGS["c"]},
    ),
]
