"""Sums over samples, of any number: of counts A_1, …, A_p only p, q = ΣA and r = ΣA² matter."""

from proofs_check.prelude import *

s = sp.Symbol("s", integer=True, nonnegative=True)
p, q, r = sp.symbols("p q r", positive=True)
a = sp.Symbol("a", nonnegative=True)  # the count of one more sample, which makes them p+1, q+a, r+a²


def added_up(summand: Any, count: Any, *moments: Any) -> Any:
    """The sum over samples of a polynomial in a sample's count, given the sums Σ1, ΣA, ΣA², … over these samples.

    >>> x, size, total = sp.symbols("x size total")
    >>> added_up(2 * x + 1, x, size, total)
    size + 2*total
    """
    coefficients = sp.Poly(summand, count).all_coeffs()[::-1]
    if len(coefficients) > len(moments):
        raise ArithmeticError(f"{summand} asks for the sum of {count}^{len(coefficients) - 1}")
    return sum(c * m for c, m in zip(coefficients, moments, strict=False))


def cauchy_schwarz_equality() -> Evidence:
    """(ΣA)² = pΣA² if and only if all counts are equal: carried on to one more sample, equal to the mean."""
    equality = sp.Eq((q + a) ** 2, (p + 1) * (r + a**2), evaluate=False)
    return always(
        sp.Equivalent(equality, sp.And(sp.Eq(q**2, p * r), sp.Eq(a * p, q))),
        given=[q**2 <= p * r],
        domain="one more sample: equality after it if and only if there was before and its count is the mean",
    )


def kstep_sums(uses: Any, squares: Any, gone: Any) -> tuple[Any, Any]:
    """ΣA and ΣA² over all samples from those over the memory, where every sample gone has been used K times."""
    used = uses_kstep(K + 1 + s, K)
    return uses + used * gone, squares + used**2 * gone


def printed_bound(view: Snapshot) -> Fraction:
    """1/n - 1/N_eff, which the paper takes for χ."""
    return Fraction(1, view.n) - 1 / (view.N * view.uniformity)
