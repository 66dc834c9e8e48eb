r"""The learning-error bound: the optimisation recursion, the generalisation gap, Theorem 1, and the
aggregation rule."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims import generalisation, recursion, theorem
from proofs_check.claims.counterexamples import stated_bound
from proofs_check.claims.surviving import SURVIVING
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence
from theory.algebra import ball
from theory.setting import Constants

__all__ = ["CLAIMS"]


# --- aggregation weights -----------------------------------------------------------------------------------


def _as_stated(shares: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    """w_m = α_m n_m / Σ α_j n_j (`eq:memory-proportional-weight`)."""
    total = sum(a * n for a, n in zip(shares, sizes, strict=True))
    return [a * n / total for a, n in zip(shares, sizes, strict=True)]


def _expected_direction(
    weights: Sequence[Fraction], sizes: Sequence[int], chances: Sequence[Fraction]
) -> Fraction:
    """E Σ w_m ∇F_m(0) for the loss (θ-z)²/2, z = 1 with the client's chance, else 0: every outcome is
    played."""
    mean = Fraction(0)
    for outcome in product(*(product((0, 1), repeat=n) for n in sizes)):
        chance = Fraction(1)
        for z, p in zip(outcome, chances, strict=True):
            chance *= p ** sum(z) * (1 - p) ** (len(z) - sum(z))
        mean -= chance * sum(w * Fraction(sum(z), len(z)) for w, z in zip(weights, outcome, strict=True))
    return mean


CLIENTS = {
    "share": st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(3, 4), Fraction(1, 8)]),
    "sizes": st.tuples(st.integers(1, 3), st.integers(1, 3)),
    "chances": st.tuples(*[st.fractions(0, 1, max_denominator=4)] * 2),
}


def _bias(weights_of: Any) -> Any:
    def find(
        share: Fraction, sizes: tuple[int, int], chances: tuple[Fraction, Fraction]
    ) -> dict[str, Any] | None:
        shares = [share, 1 - share]
        weights = weights_of(shares, sizes)
        expected = _expected_direction(weights, sizes, chances)
        wanted = -sum(a * p for a, p in zip(shares, chances, strict=True))
        if expected == wanted:
            return None
        return {"weights": weights, "expected direction at θ=0": expected, "∇F_P(0)": wanted}

    return find


DOMAIN = (
    "two clients with shares α and 1-α of the population, loss (θ-z)²/2, z = 1 with the client's own chance"
)


def stated_weights(context: Context) -> Evidence:
    """The expected update direction with the printed weights, all outcomes enumerated."""
    return search(context, CLIENTS, _bias(_as_stated), domain=DOMAIN, examples=100)


def stated_weights_theorem() -> Evidence:
    """The bias breaks Theorem 1: point masses at 0 and 1, equal shares, memories of 1 and 3 million; fixed
    point 3/4."""
    eta, T, n = Fraction(1, 500), 20_000, 4 * 10**6
    weights = _as_stated([Fraction(1, 2)] * 2, [n // 4, 3 * n // 4])
    resting, best = weights[1], Fraction(1, 2)  # the update's fixed point; the minimiser of the risk
    constants = Constants(D=1, sigma=1, eta=eta, B=Fraction(1, 2), Pdim=1, G=1)
    return compare(
        lambda _: ball(T * (resting - best) ** 2 / 2),
        "<=",
        lambda _: stated_bound(constants, T, n),
        [{"T": T, "eta": eta, "n = N": n, "weights": [str(w) for w in weights], "start": str(resting)}],
        domain="(θ-z)²/2 on [0, 1], client 1 always sees 0, client 2 always 1; E = 1, every sample kept",
    )


def equal_memories() -> Evidence:
    """With one common n the weights are the shares, for any number of clients: Σα = 1."""
    share, size, total = sp.symbols("share size total", positive=True)
    weight = share * size / (total * size)
    return equal(
        weight.subs(total, 1),
        share,
        domain="any number of clients, n_m = n for all, Σα_m = 1",
        what="w_m and α_m",
    )


def only_equal_memories() -> Evidence:
    """For two clients w = α needs n₁ = n₂: the hypothesis cannot be weakened unless the distributions
    agree."""
    share, first, second = sp.symbols("share first second", positive=True)
    weight = _as_stated([share, 1 - share], [first, second])[0]
    return always(
        sp.Implies(sp.Eq(weight, share), sp.Eq(first, second)),
        given=[share < 1],
        domain="two clients, 0 < α < 1, any memories",
    )


def equal_memories_enumerated(context: Context) -> Evidence:
    """The printed weights with memories of one size, all outcomes enumerated."""
    drawn = {**CLIENTS, "sizes": st.integers(1, 3).map(lambda n: (n, n))}
    return search(context, drawn, _bias(_as_stated), domain=f"{DOMAIN}; n_1 = n_2", examples=60)


def share_weights(context: Context) -> Evidence:
    """w_m = α_m, all outcomes enumerated."""
    return search(context, CLIENTS, _bias(lambda shares, sizes: shares), domain=DOMAIN, examples=60)


def share_weights_identity() -> Evidence:
    """E Σ α_m ∇F_m = Σ α_m E∇ℓ(θ; z_m), whatever the memories' sizes: each local mean is unbiased."""
    m, M, i = sp.symbols("m M i", integer=True, positive=True)
    size, share, gradient = (
        sp.Function("n", integer=True, positive=True),
        sp.Function("alpha"),
        sp.Function("g"),
    )
    local_mean = sp.Sum(gradient(m), (i, 1, size(m))) / size(m)
    update = sp.Sum(share(m) * local_mean.doit(), (m, 1, M))
    return equal(
        update,
        sp.Sum(share(m) * gradient(m), (m, 1, M)),
        what="E Σ α_m ∇F_m and ∇F_P",
        domain="any number of clients, any memories, any θ; one local step",
    )


AGGREGATION = Claim(
    id="eq:global-aggregation/bias",
    kind="step",
    title="weights ∝ α_m n_m follow F_P",
    statement="With clients that draw from P_m and the weights α_m n_m/Σα_j n_j, the expected update is a "
    "step on the population risk F_P of the mixture Σα_m P_m.",
    latex=r"E\sum_mw_m\nabla\widehat F_m=\nabla F_P,\quad w_m=\frac{\alpha_mn_m}{\sum_j\alpha_jn_j}",
    unicode="E Σ w_m ∇F_m = ∇F_P,  w_m = α_m n_m/Σα_j n_j",
    domain="clients with different distributions, one local step, θ fixed",
    hypotheses=("all clients hold equally many samples (or draw from one distribution)",),
    checks=(stated_weights, stated_weights_theorem),
    checks_with_hypotheses=(equal_memories, equal_memories_enumerated),
    corrected=Correction(
        title="w_m = α_m",
        statement="w_m = α_m makes the expected update a step on F_P whatever the memories hold; with the "
        "printed weights that needs equal memories (or one distribution).",
        latex=r"w_m=\alpha_m",
        unicode="w_m = α_m",
        sketch="Each local mean is unbiased for its client's risk, so the expected update has weights w_m "
        "where F_P has α_m; w_m/α_m = n_m/Σα_jn_j is 1 for all m only if all n_m agree. (The appendix "
        "weights samples equally, w_m = n_m/n; that follows F_P just if n_m is proportional to α_m.)",
        checks=(
            lambda: share_weights_identity().about("α_m unbiased"),
            lambda context: share_weights(context).about("α_m unbiased"),
            lambda: only_equal_memories().about("α_m n_m only with equal memories"),
        ),
    ),
)

CLAIMS = [*recursion.CLAIMS, *generalisation.CLAIMS, *theorem.CLAIMS, SURVIVING, AGGREGATION]
