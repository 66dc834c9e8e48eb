"""Uniformity Ṽ and effective sample size of any reuse counts: their ranges, and Kish's formula.

All four statements hold. They are carried on from N samples to N+1; the functions of `theory/`, which take a list, are
then compared with the definition on lists of symbols, for all values at once, and on drawn counts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, confirming
from proofs_check.engines.exact import counts, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.reuse.sample_sums import added_up, cauchy_schwarz_equality, lists_of
from proofs_check.symbols import N
from proofs_check.text import said
from theory.reuse import (
    effective_from_sums,
    effective_sample_size,
    uniformity,
)

A, more = sp.symbols("A a", positive=True)  # a sample's count, and that of one more sample
S1, S2 = sp.symbols("S1 S2", positive=True)  # sums of the reuse counts and of their squares

USED = "reuse counts, each at least 1"
WHERE = r"all positive counts at once, for each $N\le6$"


def _uniformity(N: Any, first: Any, second: Any, over: Any) -> Any:
    """Ṽ by its definition from N, ΣA and ΣA², with the squared deviations divided by `over`."""
    mean = first / N
    variance = added_up((A - mean) ** 2, A, N, first, second) / over
    return mean**2 / (mean**2 + variance)


def _of_counts(counts: list[Any], over: int) -> Any:
    """Ṽ by its definition, the counts added up one by one."""
    mean = sum(counts) / sp.Integer(len(counts))
    return mean**2 / (mean**2 + sum((c - mean) ** 2 for c in counts) / over)


def at_most_one() -> Evidence:
    """Ṽ <= 1 from N samples to N+1, Ṽ written as N_eff/N by Kish's formula; a single sample has Ṽ = 1."""
    return together(
        always(
            effective_from_sums(S1 + more, S2 + more**2) / (N + 1) <= 1,
            given=[effective_from_sums(S1, S2) / N <= 1],
            domain="one more sample, any counts",
        ),
        equal(_uniformity(1, A, A**2, 1), 1, domain="one sample", what=r"$\widetilde V$ and 1"),
        kish(),
    )


def positive() -> Evidence:
    """From the definition: a positive mean is enough. Signs are premises here, or SymPy would have decided it."""
    first, second = sp.symbols("S1 S2", real=True)
    return always(
        _uniformity(N, first, second, N) > 0, given=[first > 0, second > 0], domain="any $N$, any counts"
    )


def uniformity_of_lists() -> Evidence:
    """theory's `uniformity` of a list is the definition."""
    found = [
        equal(
            uniformity(lists_of(size)),
            _of_counts(lists_of(size), size),
            domain=WHERE,
            what=r"theory's $\widetilde V$ and the definition",
            strength="certified",
        )
        for size in range(1, 7)
    ]
    return together(*found)


def uniformity_range_exact(context: Context) -> Evidence:
    """On drawn counts, by theory's function."""
    return search(
        context,
        {"counts": counts()},
        lambda counts: None if 0 < uniformity(counts) <= 1 else {"uniformity": uniformity(counts)},
        domain=USED,
        examples=context.choose(100, 2000),
    )


def effective_at_most_N() -> Evidence:
    """N_eff <= N from N samples to N+1."""
    return together(
        always(
            effective_from_sums(S1 + more, S2 + more**2) <= N + 1,
            given=[effective_from_sums(S1, S2) <= N],
            domain="one more sample, any counts",
        ),
        equal(effective_from_sums(A, A**2), 1, domain="one sample", what=r"$N_{\mathrm{eff}}$ and 1"),
    )


def effective_at_least_one() -> Evidence:
    """N_eff >= 1 from N samples to N+1: (ΣA)² >= ΣA² as no count is negative."""
    return together(
        always(
            effective_from_sums(S1 + more, S2 + more**2) >= 1,
            given=[effective_from_sums(S1, S2) >= 1],
            domain=r"one more sample, any counts $\ge0$",
        ),
        equal(effective_from_sums(A, A**2), 1, domain="one sample", what=r"$N_{\mathrm{eff}}$ and 1"),
    )


def effective_of_lists() -> Evidence:
    """theory's `effective_sample_size` of a list is N·Ṽ by the definition."""
    found = [
        equal(
            effective_sample_size(lists_of(size)),
            size * _of_counts(lists_of(size), size),
            domain=WHERE,
            what=r"theory's $N_{\mathrm{eff}}$ and $N\cdot\widetilde V$",
            strength="certified",
        )
        for size in range(1, 7)
    ]
    return together(*found)


def effective_range_exact(context: Context) -> Evidence:
    """On drawn counts, by theory's function."""

    def outside(counts: list[int]) -> dict[str, Any] | None:
        size = effective_sample_size(counts)
        return None if 1 <= size <= len(counts) else {"effective size": size}

    return search(context, {"counts": counts()}, outside, domain=USED, examples=100)


def kish() -> Evidence:
    """Σω² = Σ(A/ΣA)², term by term, is one over (ΣA)²/ΣA², and this is N·Ṽ."""
    weights = added_up((A / S1) ** 2, A, N, S1, S2)
    size = effective_from_sums(S1, S2)
    return together(
        equal(
            weights,
            1 / size,
            domain=r"every $N$, $\sum A$ and $\sum A^2$",
            what=r"$\sum \omega^2$ and "
            r"$1/N_{\mathrm{eff}}$",
        ),
        equal(
            size,
            N * _uniformity(N, S1, S2, N),
            domain=r"every $N$, $\sum A$ and $\sum A^2$",
            what=r"$N_{\mathrm{eff}}$ "
            r"and $N\cdot\widetilde V$",
        ),
    )


def kish_exact(context: Context) -> Evidence:
    """Weights added up one by one, against theory's two functions."""

    def differs(counts: list[int]) -> dict[str, Any] | None:
        total = sum(counts)
        inverse = sum(Fraction(a, total) ** 2 for a in counts)
        product_form = len(counts) * uniformity(counts)
        if inverse * product_form == 1 and product_form == effective_sample_size(counts):
            return None
        return {"Σω²": inverse, "N·Ṽ": product_form, "N_eff": effective_sample_size(counts)}

    return search(context, {"counts": counts()}, differs, domain=USED, examples=context.choose(100, 2000))


def over_fewer_is_smaller() -> Evidence:
    """(ΣA)² < NΣA² for counts that differ is the second piece."""
    return together(
        always(
            N * _uniformity(N, S1, S2, N - 1) < effective_from_sums(S1, S2),
            given=[N >= 2, S1**2 < N * S2],
            domain=r"every $N\ge2$ and all counts that are not all equal",
        ),
        cauchy_schwarz_equality(),
    )


def over_fewer_when_equal() -> Evidence:
    """N samples used A times each."""
    product_form = N * _uniformity(N, N * A, N * A**2, N - 1)
    return together(
        equal(product_form, N, domain="all counts equal", what=r"$N\cdot\widetilde V$ over $N-1$ and $N$"),
        equal(
            effective_from_sums(N * A, N * A**2),
            N,
            domain="all counts equal",
            what=r"$1/\sum "
            r"\omega^2$ and $N$",
        ),
    )


def over_fewer_exact(context: Context) -> Evidence:
    """On drawn counts."""

    def not_smaller(counts: list[int]) -> dict[str, Any] | None:
        product_form = len(counts) * _of_counts(counts, len(counts) - 1)
        true = effective_sample_size(counts)
        return None if product_form < true else {"N·Ṽ over N-1": product_form, "1/Σω²": true}

    uneven = counts().filter(lambda drawn: len(set(drawn)) > 1)
    return search(context, {"counts": uneven}, not_smaller, domain="reuse counts that differ", examples=60)


CLAIMS = [
    Claim(
        id="eq:Vtilde-def-body",
        kind="definition",
        title=r"$\widetilde V$ lies in (0, 1]",
        statement="The uniformity factor is positive and at most 1.",
        formula=r"\widetilde V=\bar A^2/(\bar A^2+\mathrm{Var}A)\in(0,1]",
        domain="at least one sample used",
        checks={
            "at most 1": (at_most_one, confirming(uniformity_range_exact), confirming(uniformity_of_lists)),
            "positive": positive,
        },
        symbols={"Ā": "mean of the reuse counts", "Var": "their variance, over $N$"},
    ),
    Claim(
        id="eq:Neff-def",
        kind="definition",
        title=r"$1\le N_{\mathrm{eff}}\le N$",
        statement=r"The effective sample size $N\cdot\widetilde V$ lies between 1 and the number of "
        "distinct samples.",
        formula=r"1\le N_{\mathrm{eff}}=N\widetilde V\le N",
        domain="at least one sample used",
        checks={
            r"$N\cdot\widetilde V$": (kish, confirming(effective_of_lists)),
            "at least 1": (effective_at_least_one, confirming(effective_range_exact)),
            "at most $N$": (effective_at_most_N, confirming(effective_range_exact)),
        },
    ),
    Claim(
        id="eq:omega-l2",
        kind="equation",
        title=r"$\sum \omega^2=1/N_{\mathrm{eff}}$",
        statement="The squared multiplicity weights add up to one over the effective sample size (Kish's "
        "formula), with the empirical variance taken over $N$.",
        formula=said(
            r"\sum_i\omega_i^2=@inverse=\frac1{N_{\mathrm{eff}}},\ S_1=\sum A_i,\ S_2=\sum A_i^2",
            inverse=1 / effective_from_sums(S1, S2),
        ),
        domain="at least one sample used",
        checks=(kish, confirming(effective_of_lists), confirming(kish_exact)),
        symbols={"S": "a sum over all samples"},
    ),
    Claim(
        id="eq:omega-l2/normalisation",
        kind="reading",
        title="the variance must be over $N$, not $N-1$",
        statement="The identity needs the variance of the reuse counts over $N$: with $N-1$ the product "
        r"$N\cdot\widetilde V$ is strictly smaller than $1/\sum \omega^2$, unless all counts are equal, "
        "when both are $N$.",
        formula=r"N\bar A^2/(\bar A^2+s_{N-1}^2)<1/\sum\omega_i^2",
        domain=r"$N\ge2$",
        checks={
            "counts differ": (over_fewer_is_smaller, confirming(over_fewer_exact)),
            "counts equal": over_fewer_when_equal,
        },
        symbols={"Ā": "mean of the reuse counts", "s": "$s^2$ is their variance, over $N-1$"},
    ),
]
