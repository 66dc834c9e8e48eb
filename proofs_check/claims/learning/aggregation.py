r"""The aggregation rule (`eq:global-aggregation`): whose risk do the averaged updates follow?

Clients draw from different distributions and have shares α_m of the population. With the printed weights, proportional
to \(\alpha_mn_m\), the expected update is no step on the population risk unless all memories are of one size; the bias
breaks Theorem 1. The weights \(w_m=\alpha_m\) are right whatever the memories hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always, conjunction
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.learning.counterexamples import stated_bound
from theory.algebra import ball
from theory.setting import Constants

WeightsOf = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]


def printed_weight(share: Any, size: Any, total: Any) -> Any:
    """w_m = α_m n_m / Σ α_j n_j (`eq:memory-proportional-weight`), the sum given as `total`."""
    return share * size / total


def _as_stated(shares: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    total = sum(a * n for a, n in zip(shares, sizes, strict=True))
    return [printed_weight(a, n, total) for a, n in zip(shares, sizes, strict=True)]


def _shares(shares: Sequence[Any], sizes: Sequence[Any]) -> Sequence[Any]:
    """w_m = α_m, whatever the memories hold."""
    del sizes
    return shares


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


def _bias(weights_of: WeightsOf) -> Any:
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
    r"two clients with shares $\alpha$ and $1-\alpha$ of the population, loss $(\theta-z)^2/2$, $z=1$ "
    "with the client's own chance"
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
    constants = Constants(D=1, sigma=1, eta=eta, B=Fraction(1, 2), Pdim=1, G=1, L=1)
    found = compare(
        lambda _: ball(T * (resting - best) ** 2 / 2),
        "<=",
        lambda _: stated_bound(constants, T, n),
        [{"T": T, "eta": eta, "n = N": n, "weights": [str(w) for w in weights], "start": str(resting)}],
        domain=r"$(\theta-z)^2/2$ on [0, 1], client 1 always sees 0, client 2 always 1; $E=1$, every "
        "sample kept",
    )
    return obeying(found, _point_masses_obey(constants, weights, resting, best))


def _point_masses_obey(
    constants: Constants, weights: Sequence[Fraction], resting: Fraction, best: Fraction
) -> dict[str, Evidence]:
    """What the example claims: its constants, a start that stays where it is, the minimiser."""
    theta, other, low, high = sp.symbols("theta other low high")
    inside = [theta >= 0, theta <= 1]

    def loss(x: Any, z: int) -> Any:
        return (x - z) ** 2 / 2

    def slope(x: Any, z: int) -> Any:
        return sp.diff(loss(theta, z), theta).subs(theta, x)

    def of_both(statement: Any, given: Sequence[Any] = ()) -> Evidence:
        return together(*(always(statement(z), given=given, domain=f"z = {z}") for z in (0, 1)))

    def moves(start: Fraction) -> dict[str, Any] | None:
        step = sum(w * (start - z) for z, w in enumerate(weights))
        return {"step": step} if step else None

    def spread(sigma: Any) -> dict[str, Any] | None:
        variance = sp.expand(sum((slope(theta, z) - (theta - Fraction(1, 2))) ** 2 for z in (0, 1)) / 2)
        return None if variance.is_number and variance <= sigma**2 else {"variance": variance}

    half = sp.Rational(best.numerator, best.denominator)
    return {
        "Θ = [0, 1], of diameter D": always(
            (theta - other) ** 2 <= constants.D**2,
            given=[*inside, other >= 0, other <= 1],
            domain=r"two points of $\Theta$",
        ),
        "0 <= loss <= B": of_both(
            lambda z: [loss(theta, z) >= 0, loss(theta, z) <= sp.Rational(str(constants.B))], inside
        ),
        "|gradient| <= G": of_both(lambda z: slope(theta, z) ** 2 <= constants.G**2, inside),
        "L-smoothness": of_both(
            lambda z: (slope(theta, z) - slope(other, z)) ** 2 <= (constants.L * (theta - other)) ** 2
        ),
        "convexity": of_both(lambda z: loss(other, z) >= loss(theta, z) + slope(theta, z) * (other - theta)),
        "gradient variance <= σ²": exhaust([{"sigma": constants.sigma}], spread, domain=r"every $\theta$"),
        "Pdim = 1": always(
            sp.Not(
                conjunction(
                    loss(theta, 0) > low, loss(theta, 1) > high, loss(other, 0) <= low, loss(other, 1) <= high
                )
            ),
            given=inside,
            domain="whatever the thresholds low and high at $z=0$ and 1: not both exceeded by one "
            r"$\theta$, neither by another",
        ),
        "a start that stays": exhaust([{"start": resting}], moves, domain="the printed update, $E=1$"),
        "the minimiser": always(
            loss(theta, 0) + loss(theta, 1) >= loss(half, 0) + loss(half, 1),
            domain="twice the risk, "
            r"every $\theta$",
        ),
    }


SHARE, SIZE, GRADIENT = sp.symbols("share size gradient", positive=True)


def unbiased(weight: Any, domain: str) -> Evidence:
    """Client m's part of E Σ w_m ∇F_m against that of ∇F_P = Σ α_m g_m: each of its n_m samples has mean g_m."""
    i = sp.Symbol("i", integer=True, positive=True)
    local_mean = symbolic_sum(GRADIENT, i, 1, SIZE) / SIZE
    return equal(
        weight * local_mean,
        SHARE * GRADIENT,
        what=r"a client's parts of $\mathbb E\sum w_m\nabla F_m$ "
        r"and $\nabla F_P$",
        domain=domain,
    )


def equal_memories() -> Evidence:
    """With one common n, Σα_jn = n, because Σα = 1."""
    return unbiased(
        printed_weight(SHARE, SIZE, SIZE), "any number of clients, n_m = n for all, Σα_m = 1; one local step"
    )


def only_equal_memories() -> Evidence:
    """w_m = α_m for every client needs n_m = Σα_jn_j for every one, so that all are equal: the hypothesis cannot be
    weakened unless the distributions agree."""
    total = sp.Symbol("total", positive=True)
    return always(
        sp.Equivalent(sp.Eq(printed_weight(SHARE, SIZE, total), SHARE), sp.Eq(SIZE, total)),
        domain=r"any number of clients, any shares and memories; total $=\sum \alpha_jn_j$ is the same "
        "for all",
    )


def one_distribution() -> Evidence:
    """Clients with one mean gradient: any weights that add up to 1 will do, and the printed ones do."""
    m, M = sp.symbols("m M", integer=True, positive=True)
    share, size = (sp.Function(name, positive=True) for name in ("alpha", "n"))
    total = sp.Sum(share(m) * size(m), (m, 1, M))
    summand = printed_weight(share(m), size(m), SIZE) * GRADIENT
    return equal(
        sp.simplify(sp.Sum(summand, (m, 1, M))).subs(SIZE, total),
        GRADIENT,
        domain="any number of clients of one distribution, any shares and memories; one local step",
        what=r"$\mathbb E\sum w_m\nabla F_m$ and $\nabla F_P$",
    )


def equal_memories_enumerated(context: Context) -> Evidence:
    """The printed weights with memories of one size, all outcomes enumerated."""
    drawn = {**CLIENTS, "sizes": st.integers(1, 3).map(lambda n: (n, n))}
    return search(context, drawn, _bias(_as_stated), domain=f"{DOMAIN}; n_1 = n_2", examples=60)


def share_weights(context: Context) -> Evidence:
    """w_m = α_m, all outcomes enumerated."""
    return search(context, CLIENTS, _bias(_shares), domain=DOMAIN, examples=60)


def share_weights_identity() -> Evidence:
    """w_m = α_m, term by term."""
    (weight,) = _shares([SHARE], [SIZE])
    return unbiased(
        weight, "any number of clients, any shares, memories and mean gradients at θ; one local step"
    )


SYMBOLS = {
    "w_m": "weight of client m's update",
    "α_m": "client m's share of the population",
    "n_m": "samples in client m's memory",
    "F_m": "empirical risk over client m's memory",
    "j": "a client, in sums",
}
CLAIMS = [
    Claim(
        id="eq:global-aggregation/bias",
        kind="reading",
        title=r"weights $\propto\alpha_mn_m$ follow $F_P$",
        statement="Taken as weights that serve the objective: with clients that draw from $P_m$ and the "
        r"weights $\alpha_mn_m/\sum \alpha_jn_j$, the expected update is a step on the population risk "
        r"$F_P$ of the mixture $\sum \alpha_mP_m$. (The paper gives these weights as a natural example "
        "and does not say what the update is on average.)",
        formula=r"E\sum_mw_m\nabla\widehat F_m=\nabla F_P,\quad w_m=\frac{\alpha_mn_m}{\sum_j\alpha_jn_j}",
        symbols=SYMBOLS,
        domain=r"clients with different distributions, one local step, $\theta$ fixed",
        hypotheses=("all clients hold equally many samples (or draw from one distribution)",),
        checks=(stated_weights, stated_weights_theorem),
        checks_with_hypotheses=(equal_memories, one_distribution, confirming(equal_memories_enumerated)),
        corrected=Correction(
            title=r"$w_m=\alpha_m$",
            statement=r"$w_m=\alpha_m$ makes the expected update a step on $F_P$ whatever the memories "
            "hold; with the printed weights that needs equal memories (or one distribution).",
            formula=r"w_m=\alpha_m",
            symbols=SYMBOLS,
            sketch="Each local mean is unbiased for its client's risk, so the expected update has "
            r"weights $w_m$ where $F_P$ has $\alpha_m$; $w_m/\alpha_m=n_m/\sum \alpha_jn_j$ is 1 for all "
            "$m$ only if all $n_m$ agree. (The appendix weights samples equally, $w_m=n_m/n$; that "
            r"follows $F_P$ just if $n_m$ is proportional to $\alpha_m$.)",
            checks={
                r"$\alpha_m$ unbiased": (share_weights_identity, confirming(share_weights)),
                r"$\alpha_mn_m$ only with equal memories": only_equal_memories,
                "or with one distribution": one_distribution,
            },
        ),
    ),
]
