"""From empirical to population risk: the decomposition of the excess risk, the comparator, which samples deviate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Context
from proofs_check.engines.exact import admissions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together, undecided
from proofs_check.notation import CONSTANTS, N, neff
from proofs_check.simulator import simulate
from theory.bound import deviation_term, generalisation_term
from theory.sharper import stale_weight, stale_weight_constant

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
        domain="expectations: the deviation at θ, the gap of the empirical objective, E F(θ*) = F_P(θ*)",
    )
    return together(split, bounded)


def deviation_is_covered() -> Evidence:
    """The proved deviation 5.2B√(Pdim/N_eff) is at most the third term, whatever N: their quotient is at least 1."""
    more = sp.Symbol("more", nonnegative=True)
    quotient = sp.simplify(generalisation_term(1 / neff, N, c) / deviation_term(1 / neff, c))
    plain = quotient.subs(sp.log(sp.Max(1, N / c.Pdim)), more)
    if plain.free_symbols != {more}:
        return undecided("smt", f"the quotient of the two is {quotient}, which is not in log⁺(N/Pdim) alone")
    return always(plain >= 1, domain="every N, N_eff, B, Pdim; `more` is log⁺(N/Pdim) >= 0")


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
        domain="K-step retention, blind to values; F_P(θ*) = 1/2",
    )


def weights_add_up() -> Evidence:
    """By linearity E Σ ω_i ℓ(θ*; z_i) = Σ ω_i·F_P(θ*), with ω_i = A_i/ΣA."""
    i, N = sp.symbols("i N", integer=True, positive=True)
    count, risk = sp.Function("A"), sp.Symbol("F", real=True)
    mean = sp.Sum(count(i) * risk, (i, 1, N)) / sp.Sum(count(i), (i, 1, N))
    domain = "any N, any reuse counts that do not depend on the samples"
    return equal(mean, risk, domain=domain, what="E F_all(θ*) and F_P(θ*)")


def shares_add_up() -> Evidence:
    """With w_m = α_m each client's mean is unbiased for its own risk F_m, and Σα_m F_m is the population's."""
    m, M, i = sp.symbols("m M i", integer=True, positive=True)
    size, share, risk = sp.Function("n", integer=True, positive=True), sp.Function("alpha"), sp.Function("F")
    client = (sp.Sum(risk(m), (i, 1, size(m))) / size(m)).doit()
    return equal(
        sp.Sum(share(m) * client, (m, 1, M)),
        sp.Sum(share(m) * risk(m), (m, 1, M)),
        domain="any clients, distributions and memories",
        what="E F_mem(θ*) and F_P(θ*)",
    )


# --- the memory's own: fresh samples cause no deviation ----------------------------------------------------

chances = st.fractions(0, 1, max_denominator=4)
tables = st.tuples(*[st.fractions(0, 1, max_denominator=4)] * 4)  # the loss at θ = 0, 1 of z = 0, 1


def fresh_mean() -> Evidence:
    """Given the older samples, θ is fixed, and a fresh sample's loss has the mean F_m(θ): its part of F_P - F_mem
    vanishes. Any two values, any chance; a law with more values is a mixture of these."""
    p, a, b, weight = sp.symbols("p a b weight", real=True)
    risk = p * a + (1 - p) * b
    return equal(
        p * weight * (risk - a) + (1 - p) * weight * (risk - b),
        0,
        domain="any weight, any loss with two values at this θ",
        what="the mean of w(F_m(θ) - ℓ(θ; z)) and 0",
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
        context, drawn, differs, examples=context.choose(60, 600), domain="two clients, any K and admissions"
    )


def stale_weights_constant() -> Evidence:
    """Weights n_m/n make it (n-Λ)/n²; under constant admission n = kΛ̄, and clients that admit α_mΛ̄ give the same."""
    K, t = (sp.Symbol(x, integer=True, positive=True) for x in ("K", "t"))
    more = sp.Symbol("more", integer=True, nonnegative=True)
    first, second, a, b, rate, share = sp.symbols("first second a b rate share", positive=True)
    merged = equal(
        stale_weight([first, second], [a, b]),
        (a + b - first - second) / (a + b) ** 2,
        domain="two clients, any memories",
        what="Σ(n_m/n)²(n_m-λ_m)/n_m² and (n-Λ)/n²",
    )
    full, filling = (
        equal(
            stale_weight([rate], [k * rate]),
            stale_weight_constant(horizon, now, rate),
            domain=words,
            what="(n-Λ)/n² and its closed form",
        )
        for k, horizon, now, words in (
            (K, K, K + more, "every K, t >= K, rate"),
            (t, t + more, t, "every t, K >= t, rate"),
        )
    )
    shares = [share, 1 - share]
    apart = equal(
        stale_weight([s * rate for s in shares], [K * s * rate for s in shares], shares),
        stale_weight_constant(K, K + more, rate),
        domain="two clients with shares α, 1-α that admit αΛ̄ and (1-α)Λ̄",
        what="Σα_m²(n_m-λ_m)/n_m² and its closed form",
    )
    return together(merged, full, filling, apart)
