"""Sums over samples, of any number, and how a round of K-step retention moves them, for any admissions.

Of counts A_1, …, A_p only p, q = ΣA and r = ΣA² matter. A round admits x samples, each of which is used once in it; the
y samples that have been used K times leave before it; every other one in memory is used once more. Beside it runs what
`theory/` adds up by a sample's age. That a sample's count is `uses_kstep` of its age is `eq:kstep-drop`.
"""

from proofs_check.prelude import *

from theory.reuse.counts import cohort_deficits, uses_kstep

DOMAIN = "any $K$, any round, any admissions: induction over the rounds"

K, age, x, y = sp.symbols("K age x y", integer=True, positive=True)  # x admitted, y leaving
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


def cauchy_schwarz() -> Evidence:
    """(ΣA)² <= p·ΣA², by induction over the samples."""
    return always(
        (q + a) ** 2 <= (p + 1) * (r + a**2),
        given=[q**2 <= p * r],
        domain=r"one more sample, any counts $\ge0$; with one sample both sides are its square",
    )


def cauchy_schwarz_equality() -> Evidence:
    """(ΣA)² = pΣA² if and only if all counts are equal: carried on to one more sample, equal to the mean."""
    equality = sp.Eq((q + a) ** 2, (p + 1) * (r + a**2), evaluate=False)
    return always(
        sp.Equivalent(equality, sp.And(sp.Eq(q**2, p * r), sp.Eq(a * p, q))),
        given=[q**2 <= p * r],
        domain="one more sample: equality after it if and only if there was before and its count is the mean",
    )


@dataclass(frozen=True)
class Sums:
    """Over all samples seen, and over those in memory: what Ṽ and χ are made of; and theory's two deficits."""

    N: Any
    n: Any
    uses: Any
    squares: Any
    in_memory: Any
    first: Any
    second: Any

    @property
    def uniformity(self) -> Any:
        """Ṽ by its definition: the squared mean over itself plus the variance, the variance over N."""
        mean = self.uses / self.N
        variance = added_up((age - mean) ** 2, age, self.N, self.uses, self.squares) / self.N
        return mean**2 / (mean**2 + variance)

    @property
    def mismatch(self) -> Any:
        """χ by its definition: Σ(ω - 1/n)² over the memory, and Σω² over the samples gone, used K times each."""
        gone, weight = self.N - self.n, age / self.uses
        kept = (self.n, self.in_memory, self.squares - K**2 * gone)
        inside = added_up((weight - 1 / self.n) ** 2, age, *kept)
        return inside + added_up(weight**2, age, gone, K * gone, K**2 * gone)


def before() -> Sums:
    """Any round, in which theory's deficits are what is missing to K and K² uses of every sample."""
    N, n, uses, squares, in_memory = sp.symbols("N n uses squares in_memory", positive=True)
    return Sums(N, n, uses, squares, in_memory, K * N - uses, K**2 * N - squares)


def _theory_after(sums: Any, weight: Any, kept: tuple[Any, ...]) -> Any:
    """Σ weight(age) over all samples, a round later: new samples have age 1, those kept grow older."""
    older, leaving = (
        sp.expand(weight(now + 1, horizon) - weight(now, horizon))
        for now, horizon in ((age, age + 1 + s), (K, K))
    )
    if older.has(s):
        raise ArithmeticError(f"the change {older} of a weight depends on more than the age")
    return sums + added_up(older, age, *kept) + y * leaving + x * weight(1, 1 + s).subs(s, K - 1)


def after(b: Sums) -> Sums:
    """The round after it: counts by the rule above, deficits by theory's weights."""
    kept = (b.n - y, b.in_memory - K * y)  # samples, and their uses so far
    return Sums(
        N=b.N + x,
        n=b.n - y + x,
        uses=b.uses + added_up((age + 1) - age, age, *kept) + x,
        squares=b.squares + added_up(sp.expand((age + 1) ** 2 - age**2), age, *kept) + x,
        in_memory=added_up(age + 1, age, *kept) + x,
        first=_theory_after(b.first, lambda a, k: cohort_deficits(a, k)[0], kept),
        second=_theory_after(b.second, lambda a, k: cohort_deficits(a, k)[1], kept),
    )


def deficits_carried_on() -> Evidence:
    """K·N - D⁽¹⁾ = ΣA and K²·N - D⁽²⁾ = ΣA², from one round to the next; before round 1 all of it is 0. Where the sums
    over the last K rounds end is of no account: a sample of age K or more lacks nothing.
    """
    a, (first, second) = after(before()), cohort_deficits(K + s, K)
    return equations(
        (first, 0, "the first deficit at age $K+s$ and 0"),
        (second, 0, "the second deficit at age $K+s$ and 0"),
        (uses_kstep(K + s, K), K, "the uses at age $K+s$ and $K$"),
        (uses_kstep(age, age + s), age, "the uses up to age $K$ and the age"),
        (K * a.N - a.first, a.uses, r"$KN-D^{(1)}$ and $\sum A$"),
        (K**2 * a.N - a.second, a.squares, r"$K^2N-D^{(2)}$ and $\sum A^2$"),
        domain=DOMAIN,
    )


def gone_carried_on() -> Evidence:
    """The uses outside the memory are K for each sample gone, from one round to the next."""
    b, a = (r.uses - r.in_memory - K * (r.N - r.n) for r in (before(), after(before())))
    return equal(a, b, domain=DOMAIN, what="uses outside the memory, less $K$ each,")


def kstep_sums(uses: Any, squares: Any, gone: Any) -> tuple[Any, Any]:
    """ΣA and ΣA² over all samples from those over the memory, where every sample gone has been used K times."""
    used = uses_kstep(K + 1 + s, K)
    return uses + used * gone, squares + used**2 * gone


def printed_bound(view: Snapshot) -> Fraction:
    """1/n - 1/N_eff, which the paper takes for χ."""
    return Fraction(1, view.n) - 1 / (view.N * view.uniformity)
