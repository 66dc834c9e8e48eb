r"""Small steps see an effective rate (`law:reuse/effective-rate`), and not that of the paper's effective sample size.

The law weighs a sample by \(1/n(\tau)\) in each round in which it is used; \(N_{\mathrm{eff}}\) weighs it by the number
of these rounds. The two agree where the memory keeps its size, and differ where it does not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together, undecided
from proofs_check.groundwork.prediction.periods import (
    PATTERNS,
    noise_in_the_long_run,
    patterns,
    uneven_weights_cost,
)
from proofs_check.symbols import K, rate
from proofs_check.text import said
from theory.law import by_capacity
from theory.reuse import effective_from_sums, effective_sample_size, uniformity_from_deficits
from theory.stationary import inverse_effective_rate

t = sp.Symbol("t", positive=True)  # 1/(1-a), or a number of rounds
U, first, second = sp.symbols("U D_1 D_2", positive=True)
p = sp.Symbol("p", integer=True, positive=True)
UNEVEN = (1, 3)  # admissions of the counterexample, K = 1
HALF = sp.Rational(1, 2)


def lower_end(a: Any, K: Any, p: Any) -> Any:
    """Below Σc²/((1-a)U): every sample gone, at its weight in its first round, a period's at that of its last."""
    return (1 - a) * p * a ** (2 * (K + p - 2)) / (1 - a ** (2 * p))


def upper_end(a: Any, K: Any, p: Any) -> Any:
    """Above it: every sample gone, at its weight in its last round, and those still there at u."""
    return (1 - a) * (p / (1 - a ** (2 * p)) + K + p)


# --- the limit ---------------------------------------------------------------------------------------------


def a_sample_gone() -> Evidence:
    """A round's share of its weight, a^(g-d)/n with 0 <= d < K, lies between a^g/n and a^(g-K+1)/n."""
    left, power, least, share = sp.symbols(
        "left power least share", positive=True
    )  # a^(g-d), a^d, a^(K-1), 1/n
    return always(
        [left * power * share <= left * share, left * share <= left * power / least * share],
        given=[power <= 1, least <= power],
        domain=r"$a^d$ and $a^{K-1}$, $0\le d<K$, $0<a<1$; summed over $d$, $1/n$ adds up to $u$",
    )


def a_period() -> Evidence:
    """Of p numbers q with the mean U, Σq·a^(2r) over r < p lies between a^(2(p-1))·pU and pU; periods: 1/(1-a^(2p))."""
    a, q, power, least = sp.symbols("a q power least", positive=True)
    return together(
        always(
            [least * q <= power * q, power * q <= q],
            given=[power <= 1, least <= power],
            domain="each $q$, $r<p$",
        ),
        equal(
            (1 / (1 - a ** (2 * p))) - a ** (2 * p) / (1 - a ** (2 * p)),
            1,
            domain="every $p$: the geometric series less its tail",
            what="its first term",
        ),
        always(
            ((K - 1) / p + 1) * p * U <= (K + p) * U,
            domain="the last $K-1$ rounds lie in $(K-1)/p+1$ periods at most",
        ),
    )


def both_ends() -> Evidence:
    """Both ends tend to ½ as a → 1, K and p symbolic."""
    a = 1 - 1 / t
    return together(
        *(
            tends_to(
                end(a, K, p),
                t,
                HALF,
                what=f"the {name} end",
                domain=r"$a\to1$, every $K$ and "
                "period $p$",
            )
            for name, end in (("lower", lower_end), ("upper", upper_end))
        )
    )


def within_the_ends(context: Context) -> Evidence:
    """The noise in the long run, exactly, over (1-a)U: between the ends, in every phase."""

    def find(pattern: tuple[list[int], int], a: Fraction) -> dict[str, Any] | None:
        admissions, kept = pattern
        scale = (1 - a) * inverse_effective_rate(admissions, kept)
        low, high = (end(a, kept, len(admissions)) for end in (lower_end, upper_end))
        for phase in range(len(admissions)):
            share = noise_in_the_long_run(admissions, kept, a, phase) / scale
            if not low <= share <= high:
                return {"phase": phase, "noise/((1-a)U)": share, "low": low, "high": high}
        return None

    some = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
    return search(
        context,
        {"pattern": patterns(), "a": some},
        find,
        domain="periods up to 6, $K$ up to 9; $a=1/10$, $1/2$, $9/10$, $999/1000$",
        examples=context.choose(60, 600),
    )


def listed_patterns() -> Evidence:
    """The same limit from the noise itself, a rational function of a: listed admissions, every phase."""
    found = []
    for admissions, kept in PATTERNS:
        U = inverse_effective_rate(admissions, kept)
        for phase in range(len(admissions)):
            noise = noise_in_the_long_run(admissions, kept, 1 - 1 / t, phase)
            found.append(
                tends_to(
                    sp.cancel(sp.together(sp.sympify(noise * t))),
                    t,
                    sp.Rational(U.numerator, 2 * U.denominator),
                    what=r"$\sum c^2/(1-a)$",
                    domain=f"admissions {admissions} again and again, K = {kept}",
                )
            )
    return together(*found)


def weights_of_rounds() -> Evidence:
    """t·Σω²: of t rounds all but K + p have samples that are gone, in whole periods, each with Λu² of mean U."""
    return together(
        *(
            tends_to(
                U * (t + off) / t,
                t,
                U,
                what=r"$t\cdot\sum \omega^2$",
                domain="every $K$ and $p$: up to $K+p$ rounds' samples more or less",
            )
            for off in (-(K + p), K + p)
        )
    )


# --- counts of uses ----------------------------------------------------------------------------------------


def counts_see_the_mean_rate() -> Evidence:
    """t/N_eff with N = Λ̄t and deficits of any bounded size: 1/Λ̄, whatever K."""
    effective = rate * t * uniformity_from_deficits(rate * t, first, second, K)
    return tends_to(
        t / effective,
        t,
        1 / rate,
        what=r"$t/N_{\mathrm{eff}}$",
        domain=r"every $K$, $\bar\Lambda$ and bounded "
        "deficits $D_1$, $D_2$",
    )


def counts_mislead() -> Evidence:
    """Admissions 1, 3, 1, 3, … used once: Σc²/(1-a) → 1/3, where half of t/N_eff would give 1/4."""
    true, counted = inverse_effective_rate(UNEVEN, 1) / 2, Fraction(len(UNEVEN), 2 * sum(UNEVEN))
    domain = "admissions 1, 3, 1, 3, …, K = 1"
    if true == counted:
        return undecided("limit", f"the example does not tell the two apart: {true}", domain=domain)
    noise = sp.cancel(sp.together(sp.sympify(noise_in_the_long_run(UNEVEN, 1, 1 - 1 / t) * t)))
    return tends_to(
        noise,
        t,
        sp.Rational(true.numerator, true.denominator),
        what=f"Σc²/(1-a), while t/(2N_eff) tends to {counted},",
        domain=domain,
    )


def counterexample_sample_by_sample(context: Context) -> Evidence:
    """The same example, t·Σω² by the law's weights and by counts, exactly, at growing t."""

    def find(cycles: int) -> dict[str, Any] | None:
        counts = list(UNEVEN) * cycles
        T = len(counts)
        by_weight = T * sum(m * Fraction(1, m * T) ** 2 for m in counts)
        by_count = T / effective_sample_size([1] * sum(counts))
        if by_weight == inverse_effective_rate(UNEVEN, 1) and by_count == Fraction(1, 2) < by_weight:
            return None
        return {"by weight": by_weight, "by count": by_count}

    return exhaust(
        ({"cycles": c} for c in range(1, context.choose(20, 100))),
        find,
        domain=r"admissions 1, 3, 1, 3, $\ldots$, $K=1$",
    )


def a_constant_memory() -> Evidence:
    """n = B in every round: ω = A/(Bt), and ΣA = Bt, so Σω² = ΣA²/(ΣA)² = 1/N_eff."""
    size, squares = sp.symbols("size squares", positive=True)
    return equal(
        squares / (size * t) ** 2,
        1 / effective_from_sums(size * t, squares),
        domain="every size of the memory, every $t$, any lifetimes",
        what=r"$\sum \omega^2$ and $1/N_{\mathrm{eff}}$",
    )


def full_by_capacity(context: Context) -> Evidence:
    """Memories by capacity, full from round 1 on: the law's weights and the counts, sample by sample."""

    def find(admissions: list[int], capacity: int) -> dict[str, Any] | None:
        cohorts, T = by_capacity([capacity, *admissions], capacity), len(admissions) + 1
        held = cohorts.occupancy(T).tolist()
        spans = zip(cohorts.entered.tolist(), cohorts.left.tolist(), cohorts.count.tolist(), strict=True)
        squares, uses = Fraction(0), []
        for entered, left, count in spans:
            rounds = range(entered, min(left, T) + 1)
            squares += count * (sum(Fraction(1, held[tau - 1]) for tau in rounds) / T) ** 2
            uses += [len(rounds)] * count
        counted = 1 / effective_sample_size(uses)
        return None if squares == counted else {"Σω²": squares, "1/N_eff": counted}

    return search(
        context,
        {"admissions": st.lists(st.integers(0, 9), min_size=1, max_size=12), "capacity": st.integers(1, 9)},
        find,
        domain="any admissions up to 12 rounds after the memory was filled, capacity up to 9",
        examples=context.choose(80, 800),
    )


CLAIMS = [
    Claim(
        id="law:reuse/effective-rate",
        kind="addition",
        title=r"small steps see $\sum \omega^2$ of shares $1/n$, not $N_{\mathrm{eff}}$ of counts",
        statement="Let admissions have a period, some sample be in memory in every round, and each be "
        r"kept for $K$ rounds. As a tends to 1, the noise $\sum c^2$ over $1-a$ tends to "
        r"$\tfrac12\cdot\lim t\cdot\sum \omega^2$, where $\omega$ is a sample's weight by rounds, the "
        r"mean over all rounds of $1/n$ where it is used: the mean $U$ of $\Lambda u^2$ over a period. "
        r"The paper's $N_{\mathrm{eff}}$, which counts uses, has $t/N_{\mathrm{eff}}\to1/\bar\Lambda$ "
        r"whatever the period, so it is right just where $U=1/\bar\Lambda$ and else too large: for "
        r"admissions 1, 3, 1, 3, $\ldots$used once the noise tends to $(1-a)/3$, and not to $(1-a)/4$. "
        "Where the memory keeps its size, as by capacity once it is full, both are equal, for any "
        "lifetimes.",
        formula=said(
            r"\lim_{a\to1}\frac{\sum_ic_i^2}{1-a}=\frac12\lim_{t\to\infty}t\sum_i\omega_i(t)^2=\frac{U}2,\quad "
            r"\omega_i(t)=\frac1t\sum_{\tau\le t,\,i\in Q(\tau)}\frac1{n(\tau)},\quad "
            r"U=\frac1p\sum_{j\le p}\Lambda_ju_j^2\ge\frac1{\bar\Lambda}=\lim\frac t{N_{\mathrm{eff}}}",
        ),
        domain="quadratic losses with one Hessian; admissions of any period $p$, retention by age; the "
        "last part any memory of constant size",
        sketch=r"A sample of round $j$ has, $g$ rounds later, when it is gone, the weight $(1-a)\sum "
        r"a^{g-d}/n$ over the $d<K$ of its rounds: between $(1-a)a^g\cdot u$ and $(1-a)a^{g-K+1}\cdot "
        r"u$, where $u=\sum 1/n$. So $\sum c^2$ is $(1-a)^2$ times a sum of $\Lambda u^2\cdot a^{2g}$, "
        "up to a factor between $a^{2(K-1)}$ and 1, and up to the last $K-1$ rounds' samples, whose "
        r"squares add up to at most $(1-a)^2(K+p)U$. Over a period $\sum q\cdot a^{2r}$ lies between "
        r"$a^{2(p-1)}\cdot pU$ and $pU$, and the periods before it are a geometric series: so $\sum "
        r"c^2/((1-a)U)$ lies between $(1-a)p\cdot a^{2(K+p-2)}/(1-a^{2p})$ and "
        r"$(1-a)p/(1-a^{2p})+(1-a)(K+p)$, and both tend to $\tfrac12$. (The same holds in the mean for "
        r"stationary random admissions, since each round's $\Lambda u^2$ has the same mean.) By rounds "
        r"$\omega=u/t$ for all samples gone, so $t\cdot\sum \omega^2$ tends to the mean of $\Lambda "
        r"u^2$. By uses every sample gone has $A=K$, so $N_{\mathrm{eff}}$ is $N$ up to a bounded "
        r"number, and $t/N_{\mathrm{eff}}$ tends to $1/\bar\Lambda$, which is at most $U$: the weights "
        r"$1/n$ add up to 1 in every round, so $U-1/\bar\Lambda$ is the mean of "
        r"$\Lambda(u-1/\bar\Lambda)^2$. If $n=B$ in every round, $\omega=A/(Bt)$ and $\sum A=Bt$.",
        given=(WRITTEN,),
        checks={
            "the limit": (
                a_sample_gone,
                a_period,
                both_ends,
                confirming(within_the_ends),
                confirming(listed_patterns),
            ),
            "shares of rounds": weights_of_rounds,
            "counts of uses": (counts_see_the_mean_rate, uneven_weights_cost),
            "they differ": (counts_mislead, confirming(counterexample_sample_by_sample)),
            "a memory of constant size": (a_constant_memory, confirming(full_by_capacity)),
        },
        symbols={
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "c": r"a sample's weight in $\theta$",
            "u": r"what a sample weighs over all its rounds, $\sum 1/n$",
            "U": r"the mean of $\Lambda u^2$ over a period",
            "p": "the period of the admissions",
            "j": "a round",
            "ω": "a sample's weight by rounds: the mean of $1/n$ where it is used, and 0 elsewhere",
        },
    ),
]
