"""From empirical to population risk: the decomposition of the excess risk, the comparator, which samples deviate."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound.chaining import with_log_symbols
from proofs_check.groundwork.reuse.constant_counts import EARLY, LATE
from theory.bound.sharper import stale_weight_constant

c = CONSTANTS
i, m, M = sp.symbols("i m M", integer=True, positive=True)  # a sample, a client, how many clients
SHARE, SIZE, FRESH = sp.symbols("share size fresh", positive=True)
OF_ALL, OF_MEMORY, RISK = (
    rf"${of}(\theta^{{\star}})$"
    for of in (r"\mathbb E\widehat F^{\mathrm{all}}", r"\mathbb E\widehat F^{\mathrm{mem}}", "F_P")
)


def _of_clients(summand: Any) -> Any:
    return sp.Sum(summand, (m, 1, M))


def decomposition() -> Evidence:
    """F_P(θ) - F_P(θ*) in three parts, of which the last has mean 0 and the first is at most the uniform deviation."""
    here, star, all_here, all_star = sp.symbols("here star all_here all_star", real=True)
    deviation, gap = sp.symbols("deviation gap", real=True)
    parts = (here - all_here) + (all_here - all_star) + (all_star - star)
    return argument(
        (parts, here - star, "the three parts and the excess risk"),
        (
            here - star <= deviation + gap,
            [here - all_here <= deviation, all_here - all_star <= gap, sp.Eq(all_star, star)],
            r"expectations: the deviation at $\theta$, the gap of the empirical objective, $\mathbb "
            r"EF(\theta^\star)=F_P(\theta^\star)$",
        ),
        domain="any risks",
    )


def deviation_is_below(bound: Any, domain: str) -> Evidence:
    """The proved deviation 5.2B√(Pdim/N_eff) is at most `bound`, whose logarithms are of numbers from 1 on."""
    below = sp.Le(deviation_term(1 / neff, c), with_log_symbols(bound), evaluate=False)
    return always(below, domain=rf"every $B$, $\mathrm{{Pdim}}$, $N_{{\mathrm{{eff}}}}>0$, {domain}")


def deviation_is_covered() -> Evidence:
    """It is at most the third term of Theorem 1, whatever N."""
    return deviation_is_below(generalisation_term(1 / neff, N, c), r"every $N>0$; $\log^+\ge0$")


@drawn(r"$K$-step; $F_P(\theta^\star)=1/2$", (60, 60), K=retentions(3), rounds=admissions(rounds=4, most=2))
def mean_at_comparator(K: int, rounds: list[list[int]]) -> Found:
    """E F_all(θ*) = E F_mem(θ*) = F_P(θ*): all outcomes of a few samples, loss values 0 and 1 with equal chances."""
    for seen in simulate(rounds, K):
        if not 0 < seen.N <= 6 or seen.n == 0:
            continue
        streams = list(product((0, 1), repeat=seen.N))
        whole = sum(sum(w * v for w, v in zip(seen.weights.values(), z, strict=True)) for z in streams)
        value = dict(zip(seen.uses, range(seen.N), strict=True))
        memory = sum(Fraction(sum(z[value[i]] for i in seen.memory), seen.n) for z in streams)
        means = [Fraction(x) / len(streams) for x in (whole, memory)]
        if means != [Fraction(1, 2)] * 2:
            return {"round": seen.round, "mean of F_all": means[0], "mean of F_mem": means[1]}
    return None


weights_add_up = theorem("Learning.unbiased", domain="given the admissions: any weights that add up to 1")


def shares_add_up() -> Evidence:
    """With w_m = α_m each client's mean is unbiased for its own risk F_m, and Σα_m F_m is the population's."""
    size, share, risk = sp.Function("n", integer=True, positive=True), sp.Function("alpha"), sp.Function("F")
    client = (sp.Sum(risk(m), (i, 1, size(m))) / size(m)).doit()
    return equal(
        _of_clients(share(m) * client),
        _of_clients(share(m) * risk(m)),
        domain="any clients, distributions and memories",
        what=f"{OF_MEMORY} and {RISK}",
    )


def fresh_mean() -> Evidence:
    """Given the older samples θ is fixed, and a fresh sample has mean loss F_m(θ): its part of F_P - F_mem is 0."""
    j, J = sp.symbols("j J", integer=True, positive=True)
    chance, loss = sp.Function("p"), sp.Function("l")
    weight, risk = sp.symbols("weight risk", real=True)
    total = sp.Sum(chance(j), (j, 1, J))
    mean = sp.simplify(sp.Sum(sp.expand(chance(j) * weight * (risk - loss(j))), (j, 1, J))) / total
    return equal(
        mean.subs(risk, sp.Sum(chance(j) * loss(j), (j, 1, J)) / total),
        0,
        domain=r"any weight, any number of values of the loss at this $\theta$, any chances",
        what=r"the mean of $w(F_m(\theta)-\ell(\theta;z))$ and 0",
    )


QUARTERS = fractions(0, 1, max_denominator=4)


@drawn(
    r"two clients with 1 or 2 samples, any loss table, any $\theta$ chosen by the older samples",
    (30, 600),
    sizes=st.tuples(*[st.integers(1, 2)] * 2),
    fresh=st.tuples(*[st.integers(0, 2)] * 2),
    chance=st.tuples(QUARTERS, QUARTERS),
    table=st.tuples(*[QUARTERS] * 4),
    share=QUARTERS,
    rule=st.integers(0, 2**16 - 1),
)
def fresh_do_not_deviate(
    sizes: Any, fresh: Any, chance: Any, table: Any, share: Fraction, rule: int
) -> Found:
    """E[F_P(θ) - F_mem(θ)] is that of the older samples alone, for every θ that depends on these: all outcomes."""
    shares = (share, 1 - share)
    samples = [(m, i >= min(fresh[m], sizes[m])) for m in (0, 1) for i in range(sizes[m])]  # (client, older)

    def mean(m: int, value: int) -> Fraction:
        """The risk of client m at θ = value; the table has the loss at θ = 0, 1 of z = 0, 1."""
        return Fraction(chance[m] * table[2 * value + 1] + (1 - chance[m]) * table[2 * value])

    all_parts = old_parts = Fraction(0)
    for outcome in product((0, 1), repeat=len(samples)):
        seen = sum(z << i for i, (z, (_, old)) in enumerate(zip(outcome, samples, strict=True)) if old)
        value = rule >> seen & 1  # any function of the older samples
        probability = Fraction(1)
        for (m, _), z in zip(samples, outcome, strict=True):
            probability *= chance[m] if z else 1 - chance[m]
        all_parts += probability * sum(a * mean(m, value) for m, a in enumerate(shares))
        for (m, old), z in zip(samples, outcome, strict=True):
            weight, loss = probability * shares[m] / sizes[m], table[2 * value + z]
            all_parts -= weight * loss
            old_parts += weight * (mean(m, value) - loss) * old
    return differing(all=all_parts, older=old_parts)


@drawn(
    "two clients, any $K$ and admissions",
    (60, 600),
    K=retentions(4),
    rounds=admissions(clients=2, rounds=6, most=5),
    share=fractions(0, 1, max_denominator=5),
)
def stale_weights(K: int, rounds: list[list[int]], share: Fraction) -> Found:
    """`stale_weight` is Σw_i² over the samples in memory that have been used before, sample by sample."""
    for seen in simulate(rounds, K):
        sizes = [seen.n_of(m) for m in (0, 1)]
        for shares in (None, [share, 1 - share]) if all(sizes) else ():
            weights = shares or [Fraction(size, seen.n) for size in sizes]
            older = [m for m, i in seen.memory if seen.uses[m, i] > 1]
            found = sum((weights[m] / sizes[m]) ** 2 for m in older)
            if found != stale_weight(rounds[seen.round - 1], sizes, shares):
                return {"round": seen.round, "shares": shares, "sample by sample": found}
    return None


def stale_weights_of_a_client() -> Evidence:
    """A client's n_m - λ_m older samples of weight w_m/n_m each: their squares add up to its summand of theory."""
    return equal(
        symbolic_sum((SHARE / SIZE) ** 2, i, 1, SIZE - FRESH),
        stale_weight([FRESH], [SIZE], [SHARE]),
        domain=r"any client, any weight, $\lambda_m$ of its $n_m$ samples fresh",
        what=r"$\sum(w_m/n_m)^2$ over the older samples and $w_m^2(n_m-\lambda_m)/n_m^2$",
    )


def stale_weights_merged() -> Evidence:
    """Weights n_m/n: the clients' summands add up to (n-Λ)/n², that of one client with all samples."""
    size, fresh = (sp.Function(name, positive=True) for name in ("n", "lambda"))
    summand = sp.expand(sp.cancel(stale_weight([fresh(m)], [size(m)], [size(m) / SIZE])))
    merged, alone = (_of_clients(size(m)) - _of_clients(fresh(m))) / SIZE**2, (SIZE - FRESH) / SIZE**2
    one = r"the stale weight of one client with all samples and $(n-\Lambda)/n^2$"
    return argument(
        (_of_clients(summand), merged, r"$\sum(n_m/n)^2(n_m-\lambda_m)/n_m^2$ and $(n-\Lambda)/n^2$"),
        (stale_weight([FRESH], [SIZE]), alone, one),
        domain=r"any number $M$ of clients, any memories; $n=\sum n_m$, of which $\Lambda$ are fresh",
    )


def stale_weights_constant() -> Evidence:
    """Constant admission, n = kΛ̄, k = min(K, t); also for clients with weights α_m that admit α_mΛ̄."""
    share, found = sp.Function("alpha", positive=True), []
    for (horizon, at, domain), k in ((LATE, K), (EARLY, t)):
        closed = stale_weight_constant(horizon, at, rate)
        each = stale_weight([share(m) * rate], [k * share(m) * rate], [share(m)])
        merged = r"$\sum\alpha_m^2(n_m-\lambda_m)/n_m^2$ and $\sum\alpha_m$ times the closed form"
        found.append(
            argument(
                (stale_weight([rate], [k * rate]), closed, r"$(n-\Lambda)/n^2$ and its closed form"),
                (_of_clients(each), _of_clients(share(m)) * closed, merged),
                domain=rf"every rate, {domain}; any clients that admit $\alpha_m\bar\Lambda$, $\sum\alpha_m=1$",
            )
        )
    return together(*found)


def only_fresh() -> Evidence:
    """K = 1, any admissions: all samples in memory are fresh, and no statistical term is left."""
    total = memory_round(stale_weight([SIZE], [SIZE], [SHARE]), c).total
    return equal(total, 0, domain=r"$\lambda_m=n_m$, every client", what="the round's term and 0")


def stale_weights_of_clients() -> Evidence:
    """`stale_weight` of several clients is the sum of their summands, and without shares has weights n_m/n."""
    domain, found = "one, two and three clients, all symbols", []
    for clients in (1, 2, 3):
        fresh, sizes, shares = (
            sp.symbols(f"{name}_1:{clients + 1}", positive=True) for name in ("lambda", "n", "alpha")
        )
        for given, weights in ((shares, shares), (None, [size / sum(sizes) for size in sizes])):
            each = sum(stale_weight([f], [s], [w]) for f, s, w in zip(fresh, sizes, weights, strict=True))
            whole, what = stale_weight(fresh, sizes, given), "the stale weight and the sum over clients"
            found.append(equal(whole, each, domain=domain, what=what, strength="certified"))
    return together(*found)
