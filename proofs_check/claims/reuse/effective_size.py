"""Uniformity Ṽ and effective sample size of any reuse counts: their ranges, and Kish's formula."""

from proofs_check.prelude import *

from proofs_check.engines.exact import counts
from proofs_check.groundwork.reuse.reuse_rounds import added_up, cauchy_schwarz_equality
from theory.reuse.counts import uniformity

A = sp.Symbol("A", positive=True)  # a sample's count
S1, S2 = sp.symbols("S1 S2", positive=True)  # sums of the reuse counts and of their squares

USED = "reuse counts, each at least 1"
MEAN = {"Ā": "mean of the reuse counts"}


def _uniformity(N: Any, first: Any, second: Any, over: Any) -> Any:
    """Ṽ by its definition from N, ΣA and ΣA², with the squared deviations divided by `over`."""
    mean = first / N
    variance = added_up((A - mean) ** 2, A, N, first, second) / over
    return mean**2 / (mean**2 + variance)


def _of_counts(counts: list[Any], over: int) -> Any:
    """Ṽ by its definition, the counts added up one by one."""
    mean = sum(counts) / sp.Integer(len(counts))
    return mean**2 / (mean**2 + sum((c - mean) ** 2 for c in counts) / over)


@drawn(USED, (100, 2000), counts=counts())
def uniformity_counted(counts: list[int]) -> Found:
    return differing(counted=_of_counts(counts, len(counts)), theory=uniformity(counts))


KISH = theorem("Reuse.effective_size", domain=USED)


@drawn(USED, (100, 2000), counts=counts())
def kish_counted(counts: list[int]) -> Found:
    inverse = sum(Fraction(a, sum(counts)) ** 2 for a in counts)
    product = len(counts) * uniformity(counts)
    return differing(counted=1 / inverse, product=product, N_eff=effective_sample_size(counts))


def over_fewer_is_smaller() -> Evidence:
    """(ΣA)² < NΣA² for counts that differ is the second piece."""
    smaller = N * _uniformity(N, S1, S2, N - 1) < effective_from_sums(S1, S2)
    differ = r"every $N\ge2$ and all counts that are not all equal"
    return argument((smaller, [N >= 2, S1**2 < N * S2], differ), cauchy_schwarz_equality())


@drawn("reuse counts that differ", (60, 60), counts=counts().filter(lambda drawn: len(set(drawn)) > 1))
def over_fewer_counted(counts: list[int]) -> Found:
    product, true = len(counts) * _of_counts(counts, len(counts) - 1), effective_sample_size(counts)
    return unless(product < true, product=product, kish=true)


CLAIMS = [
    Claim(
        id="eq:Vtilde-def-body",
        kind="definition",
        title=r"$\widetilde V$ lies in (0, 1]",
        statement="The uniformity factor is positive and at most 1.",
        formula=r"\widetilde V=\bar A^2/(\bar A^2+\mathrm{Var}A)\in(0,1]",
        domain="at least one sample used",
        checks={
            "at most 1": (
                theorem("Reuse.uniformity_by_variance", "Reuse.uniformity_range", domain=USED),
                confirming(uniformity_counted),
            ),
            "positive": theorem("Reuse.uniformity_by_variance", "Reuse.uniformity_range", domain=USED),
        },
        symbols={**MEAN, "Var": "their variance, over $N$"},
    ),
    Claim(
        id="eq:Neff-def",
        kind="definition",
        title=r"$1\le N_{\mathrm{eff}}\le N$",
        statement=r"The effective sample size $N\widetilde V$ lies between 1 and the number of distinct samples.",
        formula=r"1\le N_{\mathrm{eff}}=N\widetilde V\le N",
        domain="at least one sample used",
        checks={
            r"$N\widetilde V$": (KISH, confirming(kish_counted)),
            "at least 1": theorem("Reuse.effective_at_least_one", domain=USED),
            "at most $N$": KISH,
        },
    ),
    Claim(
        id="eq:omega-l2",
        kind="equation",
        title=r"$\sum\omega^2=1/N_{\mathrm{eff}}$",
        statement="The squared multiplicity weights add up to one over the effective sample size (Kish's "
        "formula), with the empirical variance taken over $N$.",
        formula=said(
            r"\sum_i\omega_i^2=@inverse=\frac1{N_{\mathrm{eff}}},\ S_1=\sum A_i,\ S_2=\sum A_i^2",
            inverse=1 / effective_from_sums(S1, S2),
        ),
        domain="at least one sample used",
        checks=(KISH, confirming(kish_counted)),
        symbols={"S": "a sum over all samples"},
    ),
    Claim(
        id="eq:omega-l2/normalisation",
        kind="reading",
        title="the variance must be over $N$, not $N-1$",
        statement="The identity needs the variance of the reuse counts over $N$: with $N-1$ the product "
        r"$N\widetilde V$ is strictly smaller than $1/\sum\omega^2$, unless all counts are equal, when both are $N$.",
        formula=r"N\bar A^2/(\bar A^2+s_{N-1}^2)<1/\sum\omega_i^2",
        domain=r"$N\ge2$",
        checks={
            "counts differ": (over_fewer_is_smaller, confirming(over_fewer_counted)),
            "counts equal": lambda: argument(
                (N * _uniformity(N, N * A, N * A**2, N - 1), N, r"$N\widetilde V$ over $N-1$ and $N$"),
                (effective_from_sums(N * A, N * A**2), N, r"$1/\sum\omega^2$ and $N$"),
                domain="all counts equal",
            ),
        },
        symbols={**MEAN, "s": "$s^2$ is their variance, over $N-1$"},
    ),
]
