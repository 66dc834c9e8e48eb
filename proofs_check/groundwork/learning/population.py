"""From empirical to population risk: the decomposition of the excess risk, the comparator, which samples deviate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Context
from proofs_check.engines.exact import admissions, retentions, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together, undecided
from proofs_check.simulator import simulate
from proofs_check.symbols import CONSTANTS, N, neff
from theory.bound import deviation_term, generalisation_term
from theory.sharper import memory_round, stale_weight, stale_weight_constant

c = CONSTANTS


def decomposition() -> Evidence:
    """F_P(θ) - F_P(θ*) in three parts, of which the last has mean 0 and the first is at most the uniform deviation."""
    here, star, all_here, all_star, deviation = sp.symbols("here star all_here all_star deviation", real=True)
    gap = sp.Symbol("gap", real=True)
    parts = (here - all_here) + (all_here - all_star) + (all_star - star)
    split = equal(parts, here - star, domain="any risks", what="the three parts and the excess risk")
    bounded = always(
        here - star <= deviation + gap,
        given=[
            here - all_here <= deviation,
            all_here - all_star <= gap,
            sp.Eq(all_star, star),
        ],
        domain=r"expectations: the deviation at $\theta$, the gap of the empirical objective, $\mathbb "
        r"EF(\theta^{\star})=F_P(\theta^{\star})$",
    )
    return together(split, bounded)


def deviation_is_covered() -> Evidence:
    """The proved deviation 5.2B√(Pdim/N_eff) is at most the third term, whatever N: their quotient is at least 1."""
    more = sp.Symbol("more", nonnegative=True)
    quotient = sp.simplify(generalisation_term(1 / neff, N, c) / deviation_term(1 / neff, c))
    plain = quotient.subs(sp.log(sp.Max(1, N / c.Pdim)), more)
    if plain.free_symbols != {more}:
        return undecided("smt", f"the quotient of the two is {quotient}, which is not in log⁺(N/Pdim) alone")
    return always(
        plain >= 1,
        domain=r"every $N$, $N_{\mathrm{eff}}$, $B$, $\mathrm{Pdim}$; `more` is "
        r"$\log^{+}(N/\mathrm{Pdim})\ge0$",
    )


def mean_at_comparator(context: Context) -> Evidence:
    """E F_all(θ*) = E F_mem(θ*) = F_P(θ*): all outcomes of a few samples, loss values 0 and 1 with equal chances."""

    def differs(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
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

    return search(
        context,
        {"K": retentions(3), "rounds": admissions(rounds=4, most=2)},
        differs,
        examples=60,
        domain=r"$K$-step retention, blind to values; $F_P(\theta^{\star})=1/2$",
    )


def weights_add_up() -> Evidence:
    """By linearity E Σ ω_i ℓ(θ*; z_i) = Σ ω_i·F_P(θ*), with ω_i = A_i/ΣA; in memory each of n samples has 1/n."""
    i, N = sp.symbols("i N", integer=True, positive=True)
    count, risk = sp.Function("A"), sp.Symbol("F", real=True)
    of_all = sp.Sum(count(i) * risk, (i, 1, N)) / sp.Sum(count(i), (i, 1, N))
    of_memory = symbolic_sum(risk / N, i, 1, N)
    return together(
        equal(
            of_all,
            risk,
            domain="any $N$, any reuse counts that do not depend on the samples",
            what=r"$\mathbb E\widehat F^{\mathrm{all}}(\theta^{\star})$ and $F_P(\theta^{\star})$",
        ),
        equal(
            of_memory,
            risk,
            domain="any $n$ in memory",
            what=r"$\mathbb E\widehat "
            r"F^{\mathrm{mem}}(\theta^{\star})$ and $F_P(\theta^{\star})$",
        ),
    )


def shares_add_up() -> Evidence:
    """With w_m = α_m each client's mean is unbiased for its own risk F_m, and Σα_m F_m is the population's."""
    m, M, i = sp.symbols("m M i", integer=True, positive=True)
    size, share, risk = sp.Function("n", integer=True, positive=True), sp.Function("alpha"), sp.Function("F")
    client = (sp.Sum(risk(m), (i, 1, size(m))) / size(m)).doit()
    return equal(
        sp.Sum(share(m) * client, (m, 1, M)),
        sp.Sum(share(m) * risk(m), (m, 1, M)),
        domain="any clients, distributions and memories",
        what=r"$\mathbb E\widehat F^{\mathrm{mem}}(\theta^{\star})$ and $F_P(\theta^{\star})$",
    )


# --- the memory's own: fresh samples cause no deviation ----------------------------------------------------

SHARE, SIZE, FRESH = sp.symbols("share size fresh", positive=True)
chances = st.fractions(0, 1, max_denominator=4)
tables = st.tuples(*[st.fractions(0, 1, max_denominator=4)] * 4)  # the loss at θ = 0, 1 of z = 0, 1


def fresh_mean() -> Evidence:
    """Given the older samples, θ is fixed, and a fresh sample's loss has the mean F_m(θ): its part of F_P - F_mem
    vanishes. By linearity, for any number of values l_j with chances p_j/Σp; a general law has means for sums."""
    j, J = sp.symbols("j J", integer=True, positive=True)
    chance, loss = sp.Function("p"), sp.Function("l")
    weight, risk = sp.symbols("weight risk", real=True)
    total = sp.Sum(chance(j), (j, 1, J))
    mean = sp.simplify(sp.Sum(sp.expand(chance(j) * weight * (risk - loss(j))), (j, 1, J))) / total
    return equal(
        mean.subs(risk, sp.Sum(chance(j) * loss(j), (j, 1, J)) / total),
        0,
        domain=r"any weight, any number of values of the loss at this $\theta$, any chances",
        what=r"the mean of $w(F_m(\theta)-\ell(\theta;\ z))$ and 0",
    )


def fresh_do_not_deviate(context: Context) -> Evidence:
    """E[F_P(θ) - F_mem(θ)] is that of the older samples alone, for every θ that depends on these; two clients with
    distributions of their own, all outcomes enumerated."""

    def differs(
        sizes: Any, fresh: Any, chance: Any, table: Any, share: Fraction, rule: int
    ) -> dict[str, Any] | None:
        shares, new = (share, 1 - share), [min(f, s) for f, s in zip(fresh, sizes, strict=True)]
        risk = [
            sum(
                a * (p * table[2 * v + 1] + (1 - p) * table[2 * v])
                for a, p in zip(shares, chance, strict=True)
            )
            for v in (0, 1)
        ]
        all_parts = old_parts = Fraction(0)
        owners = [m for m in (0, 1) for _ in range(sizes[m])]
        is_old = [i >= new[m] for m in (0, 1) for i in range(sizes[m])]
        for outcome in product((0, 1), repeat=len(owners)):
            seen = sum(z << i for i, (z, old) in enumerate(zip(outcome, is_old, strict=True)) if old)
            value = rule >> seen & 1  # any function of the older samples
            probability = Fraction(1)
            for m, z in zip(owners, outcome, strict=True):
                probability *= chance[m] if z else 1 - chance[m]
            empirical = Fraction(0)
            for m, z, old in zip(owners, outcome, is_old, strict=True):
                weight = shares[m] / sizes[m]
                empirical += weight * table[2 * value + z]
                mean = chance[m] * table[2 * value + 1] + (1 - chance[m]) * table[2 * value]
                old_parts += probability * weight * (mean - table[2 * value + z]) * old
            all_parts += probability * (risk[value] - empirical)
        return None if all_parts == old_parts else {"all": all_parts, "older": old_parts}

    drawn = {
        "sizes": st.tuples(*[st.integers(1, 2)] * 2),
        "fresh": st.tuples(*[st.integers(0, 2)] * 2),
        "chance": st.tuples(chances, chances),
        "table": tables,
        "share": st.fractions(0, 1, max_denominator=4),
        "rule": st.integers(0, 2**16 - 1),
    }
    domain = "two clients with 1 or 2 samples, any loss table, any θ chosen by the older samples"
    return search(context, drawn, differs, examples=context.choose(30, 600), domain=domain)


def stale_weights(context: Context) -> Evidence:
    """`stale_weight` is Σw_i² over the samples in memory that have been used before, sample by sample."""

    def differs(K: int, rounds: list[list[int]], share: Fraction) -> dict[str, Any] | None:
        for seen in simulate(rounds, K):
            sizes = [seen.n_of(m) for m in (0, 1)]
            if 0 in sizes:
                continue
            fresh = rounds[seen.round - 1]
            for shares in (None, [share, 1 - share]):
                weights = shares or [Fraction(size, seen.n) for size in sizes]
                older = [m for m, i in seen.memory if seen.uses[m, i] > 1]
                found = sum((weights[m] / sizes[m]) ** 2 for m in older)
                if found != stale_weight(fresh, sizes, shares):
                    return {"round": seen.round, "shares": shares, "sample by sample": found}
        return None

    drawn = {
        "K": retentions(4),
        "rounds": admissions(clients=2, rounds=6, most=5),
        "share": st.fractions(0, 1, max_denominator=5),
    }
    return search(
        context,
        drawn,
        differs,
        examples=context.choose(60, 600),
        domain="two clients, any $K$ and admissions",
    )


def stale_weights_of_a_client() -> Evidence:
    """A client's n_m - λ_m older samples of weight w_m/n_m each: their squares add up to its summand of theory."""
    i = sp.Symbol("i", integer=True, positive=True)
    return equal(
        symbolic_sum((SHARE / SIZE) ** 2, i, 1, SIZE - FRESH),
        stale_weight([FRESH], [SIZE], [SHARE]),
        domain=r"any client, any weight, $\lambda_m$ of its $n_m$ samples fresh",
        what=r"$\sum (w_m/n_m)^2$ over the older samples and $w_m^2(n_m-\lambda_m)/n_m^2$",
    )


def stale_weights_merged() -> Evidence:
    """Weights n_m/n: a client's summand is (n_m-λ_m)/n², so that all of them add up to (n-Λ)/n², that of one client
    with all samples."""
    m, M = sp.symbols("m M", integer=True, positive=True)
    size, fresh = (sp.Function(name, positive=True) for name in ("n", "lambda"))
    whole = sp.Symbol("whole", positive=True)
    summand = sp.expand(sp.cancel(stale_weight([fresh(m)], [size(m)], [size(m) / whole])))
    admitted, held = (sp.Sum(f(m), (m, 1, M)) for f in (fresh, size))
    return together(
        equal(
            sp.Sum(summand, (m, 1, M)),
            (held - admitted) / whole**2,
            domain=r"any number $M$ of clients, any memories; whole $=\sum n_m$",
            what=r"$\sum (n_m/n)^2(n_m-\lambda_m)/n_m^2$ and $(n-\Lambda)/n^2$",
        ),
        equal(
            stale_weight([FRESH], [SIZE]),
            (SIZE - FRESH) / SIZE**2,
            domain=r"one client with all samples, $n$ of which $\Lambda$ are fresh",
            what=r"its stale weight and $(n-\Lambda)/n^2$",
        ),
    )


def stale_weights_constant() -> Evidence:
    """Under constant admission n = kΛ̄, k = min(K, t); and clients with weights α_m that admit α_mΛ̄ give the same, as
    each one's summand is α_m times the closed form."""
    K, t = (sp.Symbol(x, integer=True, positive=True) for x in ("K", "t"))
    more = sp.Symbol("more", integer=True, nonnegative=True)
    rate = sp.Symbol("rate", positive=True)
    m, M = sp.symbols("m M", integer=True, positive=True)
    share = sp.Function("alpha", positive=True)
    found = []
    for k, horizon, now, words in (
        (K, K, K + more, "every K, t >= K, rate"),
        (t, t + more, t, "every t, K >= t, rate"),
    ):
        closed = stale_weight_constant(horizon, now, rate)
        summand = stale_weight([share(m) * rate], [k * share(m) * rate], [share(m)])
        found += [
            equal(
                stale_weight([rate], [k * rate]),
                closed,
                domain=words,
                what=r"$(n-\Lambda)/n^2$ and its "
                "closed form",
            ),
            equal(
                sp.Sum(summand, (m, 1, M)),
                sp.Sum(share(m), (m, 1, M)) * closed,
                domain=f"{words}, any number M of clients that admit α_mΛ̄; Σα_m = 1",
                what=r"$\sum \alpha_m^2(n_m-\lambda_m)/n_m^2$ and $\sum \alpha_m$ times the closed form",
            ),
        ]
    return together(*found)


def only_fresh() -> Evidence:
    """K = 1, any admissions: all samples in memory are fresh, and no statistical term is left."""
    stale = stale_weight([SIZE], [SIZE], [SHARE])
    return equal(
        memory_round(stale, c).total,
        0,
        domain=r"$\lambda_m=n_m$, every client",
        what="the round's term and 0",
    )


def stale_weights_of_clients() -> Evidence:
    """`stale_weight` of several clients is the sum of their summands, and without shares has weights n_m/n."""
    found = []
    for clients in (1, 2, 3):
        fresh, sizes, shares = (
            sp.symbols(f"{name}_1:{clients + 1}", positive=True) for name in ("lambda", "n", "alpha")
        )
        for given, weights in ((shares, shares), (None, [size / sum(sizes) for size in sizes])):
            found.append(
                equal(
                    stale_weight(fresh, sizes, given),
                    sum(stale_weight([f], [s], [w]) for f, s, w in zip(fresh, sizes, weights, strict=True)),
                    domain="one, two and three clients, all symbols",
                    what="the stale weight and the sum over clients",
                    strength="certified",
                )
            )
    return together(*found)
