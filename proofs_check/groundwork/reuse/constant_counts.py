"""Reuse counts under constant admission of Λ̄ samples per round, by closed forms and by brute force.

Two stretches cover all rounds, symbolically: t = K+s and K = t+s, with s >= 0.
"""

from proofs_check.prelude import *

CASES = {  # what brute force is asked
    "K": retentions(10),
    "t": st.integers(1, 24),
    "rates": st.lists(st.integers(1, 3), min_size=1, max_size=3),
}
FULL, FILLING = r"every $K\ge1$ and $t\ge K$, $t=K+s$", r"every $t\ge1$ and $K\ge t$, $K=t+s$"

k, y = sp.symbols("k y", positive=True)  # min(K, t) and t - (k-1)/2, in which closed forms are short
s = sp.Symbol("s", integer=True, nonnegative=True)
late = K + s  # t = K+s: the buffers are full


# K, t and the domain of each stretch
LATE, EARLY = (K, late, FULL), (t + s, t, FILLING)


def in_y(formula: Any) -> Any:
    """A formula in K and t, written in k and y as a sum of simple fractions."""
    return sp.apart(formula.subs(sp.Min(K, t), k).subs(t, y + (k - 1) / 2), y)


def run(K: int, t: int, clients: list[int]) -> Snapshot:
    """Round t of constant admission, by brute force."""
    return simulate([clients] * t, K)[-1]


def variance(values: Sequence[Any]) -> Fraction:
    """The variance of the uniform distribution on the values."""
    mean = Fraction(sum(values)) / len(values)
    return sum(((v - mean) * (v - mean) for v in values), Fraction(0)) / len(values)
