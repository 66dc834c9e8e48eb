r"""In every round one of two proved bounds is below the printed one (E up to 3, and up to 10).

Here \(1/N_{\mathrm{eff}}=r^2\), \(\chi=s^2\), \(w^2\) is the stale weight, and \(\mu=1/n-1/N_{\mathrm{eff}}\) is \(\pm
q^2\).
"""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round, population
from proofs_check.groundwork.bound.chaining import CONSTANT, proved_constant
from theory.bound import theorem1 as bound

q, s, w = sp.symbols("q s w", nonnegative=True)
r = sp.Symbol("r", positive=True)
mu, fresh = sp.symbols("mu fresh", real=True)


def _printed(mu: Any, share: Any = 1) -> Any:
    """The printed root and generalisation terms, log⁺ a symbol that is not negative; `share` of the latter."""
    terms = bound.round_terms(mu, r**2, N, CONSTANTS)
    log_plus = sp.log(sp.Max(1, N / CONSTANTS.Pdim))
    if not terms.generalisation.has(log_plus):
        raise ValueError(f"log⁺(N/Pdim) is not in {terms.generalisation}")
    return terms.root + share * terms.generalisation.subs(log_plus, sp.Symbol("logarithm", nonnegative=True))


def a_bound_is_below(share: Any = 1) -> Evidence:
    """In every round one of the two bounds is at most the printed root and that share of the generalisation term."""
    through_all = sharper_round(s**2, r**2, CONSTANTS).total
    through_memory = memory_round(w**2, CONSTANTS).total
    printed, below = _printed(q**2, share), _printed(-(q**2), share)
    every = r"every $D$, $\sigma$, $B$, $\mathrm{Pdim}$"
    known = [s**2 <= q**2 + 2 * r**2, w**2 <= q**2 + r**2]
    wide = CONSTANTS.D * CONSTANTS.sigma >= bound.deviation_term(1, CONSTANTS)
    alone = r"$D\sigma\ge5.2B\sqrt{\mathrm{Pdim}}$: the bound through the memory, which knows no mismatch"
    either = sp.Or(through_all <= printed, through_memory <= printed)
    return argument(
        (either, known, rf"{every}; $\mu=q^2\ge0$, so that $1/n=q^2+r^2$"),
        (through_memory <= printed, [known[1], wide], alone),
        (through_memory <= below, [w**2 <= r**2 - q**2], rf"{every}; $\mu=-q^2<0$, so that $1/n=r^2-q^2$"),
    )


def mismatch_is_near() -> Evidence:
    """χ <= μ + 2/N_eff, because the memory's weight is not negative."""
    uses, squares = sp.symbols("uses squares", positive=True)
    in_memory = sp.Symbol("in_memory", real=True)
    inverse, chi = 1 / effective_from_sums(uses, squares), mismatch_from_sums(n, uses, squares, in_memory)
    sums = r"any retention rule: uses $=\sum A$, squares $=\sum A^2$, in_memory $=\sum A$ over the memory"
    return argument((chi <= (1 / n - inverse) + 2 * inverse, [in_memory >= 0], sums))


PROVED = decimal(sp.Rational(str(CONSTANT)))
HYPOTHESES = (
    "every loss is convex, in $[0,B]$, with gradients of at most $G$ wherever the local steps go",
    r"the server projects onto the convex set $\Theta$ of diameter $D$ after each round",
    "clients draw from one distribution and are weighted by $n_m/n$",
    "admission and retention do not look at sample values",
    said(
        r"where $D\sigma<@proved B\sqrt{\mathrm{Pdim}}$: $\mathbb E\sup\|\nabla\widehat "
        r"F^{\mathrm{all}}-\nabla\widehat "
        r"F^{\mathrm{mem}}\|\le\sigma\sqrt\chi$ in every round, the supremum over $\Theta$",
        proved=PROVED,
    ),
)
STATISTICS: dict[str, Any] = {
    "through the memory": (
        population.weights_add_up,
        population.decomposition,
        population.fresh_mean,
        population.stale_weights_of_a_client,
        population.stale_weights_merged,
        lambda: argument((stale_weight([fresh], [n]) <= 1 / n, [fresh >= 0], "weights $n_m/n$")),
        confirming(population.fresh_do_not_deviate),
    ),
    "through all samples": one_round.on_a_segment,
    "uniform deviation": proved_constant,
}
