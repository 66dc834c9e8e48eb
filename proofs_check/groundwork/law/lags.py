r"""The noise of admissions that repeat, exactly; that of constant admission is proved in Coq.

With period p and retention K a sample of round j has, g rounds later, the weight \((1-a)\sum_da^{g-d}/n(j+d)\) over the
rounds d = 0..min(g, K-1) in which it was used; once it is gone that falls by \(a^p\) a period.
"""

from proofs_check.prelude import *

from theory.numbers.algebra import ratio

a = sp.Symbol("a", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
SYMBOLS = glossary("law")
AVERAGED = SYMBOLS | glossary("averaging")
EVERY = r"every $K\ge1$ and $0<a<1$"


def geometric(last: Any) -> Any:
    """a + a² + … + a^last."""
    return (a - a ** (last + 1)) / (1 - a)


def sums() -> Evidence:
    """Proof of the closed form by induction: 0 without terms, and one more term from K to K+1."""
    return argument(
        (geometric(0), 0, r"$\sum a^d$ over no terms and 0"),
        (geometric(K + 1) - geometric(K), a ** (K + 1), r"one term more of $\sum a^d$"),
        domain=EVERY,
    )


def lag_sums() -> Evidence:
    r"""theory's \(\sum_{d<K}(K-d)a^d\), by induction over K."""
    return argument(
        (lag_sum(a, 1), 0, "the sum over lags at $K=1$ and 0"),
        (lag_sum(a, K + 1) - lag_sum(a, K), geometric(K), r"its growth and $\sum_{d\le K}a^d$"),
        domain=EVERY,
    )


def patterns(period: int = 6, kept: int = 9) -> st.SearchStrategy[Any]:
    """Pairs (admissions of one period, K) with some sample in memory in every round."""
    pairs = st.tuples(st.lists(st.integers(0, 5), min_size=1, max_size=period), st.integers(1, kept))
    return pairs.filter(lambda pair: all(_occupancy(*pair)))


def _occupancy(admissions: Sequence[int], kept: int) -> list[int]:
    period = len(admissions)
    return [sum(admissions[(j - d) % period] for d in range(kept)) for j in range(period)]


def long_run_noise(admissions: Sequence[int], kept: int, a: Any, phase: int = -1) -> Any:
    """Σc² after a round of this phase, once rounds without end have gone before."""
    period, n = len(admissions), _occupancy(admissions, kept)

    def square(gone: int) -> Any:
        """Sum of squared weights of the samples admitted `gone` rounds ago."""
        entered = phase - gone
        used = (ratio(1, n[(entered + d) % period]) * a ** (gone - d) for d in range(min(gone + 1, kept)))
        return admissions[entered % period] * sum(used) ** 2

    young = sum(square(gone) for gone in range(kept - 1))
    old = sum(square(gone) for gone in range(kept - 1, kept - 1 + period))
    return (1 - a) ** 2 * (young + old / (1 - a ** (2 * period)))


def uneven_weights_cost() -> Evidence:
    """The mean of Λ(u-ū)² with ū = mean Λu/mean Λ is mean(Λu²) - (mean Λu)²/mean Λ, and mean Λu is 1."""
    admitted = sp.Symbol("admitted", positive=True)
    weight, middle, squares = sp.symbols("weight middle squares", real=True)
    off = admitted * (weight - middle) ** 2
    parts = admitted * weight**2 - 2 * middle * (admitted * weight) + middle**2 * admitted
    means = (squares - 2 * middle * 1 + middle**2 * rate).subs(middle, 1 / rate)
    averaged = r"mean $\Lambda=\bar\Lambda$, mean $\Lambda u=1$"
    uneven = r"a round whose samples weigh more or less than $\bar u$; elsewhere it is 0"
    return argument(
        (off, parts, r"a round's $\Lambda(u-\bar u)^2$ and its parts, to be averaged,", averaged),
        (means, squares - 1 / rate, r"the parts' means and $U-1/\bar\Lambda$", averaged),
        (off > 0, [sp.Ne(weight, middle)], uneven),
        (K * (1 / (K * rate)), 1 / rate, "a sample's weight", r"$p$ divides $K$, so $n=K\bar\Lambda$"),
    )
