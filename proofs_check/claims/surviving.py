r"""Where the printed bound survives: one local step, constant admission, and Dσ at most 8B√Pdim.

Two bounds on a round are at hand, both with the same telescoping part: through all samples seen,
\(D\sigma\sqrt\chi+ 5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}+\tfrac12\eta G^2\), and through the memory,
\(5.2B\sqrt{\mathrm{Pdim}(n-\Lambda)}/n+\tfrac12\eta G^2\). The printed round has
\(\mu=1/n-1/N_{\mathrm{eff}}\) for χ, too small, but 10 where 5.2 is enough. While \(N_{\mathrm{eff}}\) is of
the order of n the second is below it, later the first.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import Claim
from proofs_check.claims.generalisation import CONSTANT, proved_constant
from proofs_check.claims.recursion import memory_recursion, sharper_recursion
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from theory.bound import linear_term, per_round_constant_as_stated
from theory.reuse import inverse_effective_constant, mismatch_constant
from theory.setting import Constants

__all__ = ["SURVIVING"]

j, u = sp.symbols("j u", integer=True, nonnegative=True)
PROVED = sp.Rational(CONSTANT.numerator, CONSTANT.denominator)
PRINTED = 10
LARGEST = 8  # of Dσ / (B√Pdim)


def _memory_is_enough(K: Any, t: Any, k: Any) -> Any:
    """5.2√(k-1)/k <= 10√(1/N_eff), squared, at rate 1; both sides scale alike in the rate."""
    return PRINTED**2 * inverse_effective_constant(K, t, 1) >= PROVED**2 * (k - 1) / k**2


def while_filling() -> Evidence:
    """Rounds t <= K: the bound through the memory is below the printed third term."""
    t = j + 1
    return always(_memory_is_enough(t + u, t, t), domain="every t >= 1, K >= t, any rate")


def when_full() -> Evidence:
    """Rounds t >= K: where it is not, μ > 0 and Dσ(√χ - √μ) <= (10 - 5.2)B√(Pdim/N_eff).

    √χ - √μ <= (χ - μ)/√χ, so (8(χ - μ))² <= 4.8²·χ/N_eff is enough.
    """
    K = j + 1
    t = K + u
    late = sp.Not(_memory_is_enough(K, t, K))
    inverse, chi = inverse_effective_constant(K, t, 1), mismatch_constant(K, t, 1)
    mu = 1 / K - inverse
    domain = "every K >= 1, t >= K where the memory's bound exceeds the printed third term, Dσ <= 8B√Pdim, "
    "any rate"
    enough = (LARGEST * (chi - mu)) ** 2 <= (PRINTED - PROVED) ** 2 * inverse * chi
    return together(always(mu > 0, given=[late], domain=domain), always(enough, given=[late], domain=domain))


def constants_cover() -> Evidence:
    """ηG²/2 is at most the printed linear and constant terms, also where μ is negative: μ >= -1, σ <= G."""
    eta, sigma, G = sp.symbols("eta sigma G", positive=True)
    mu = sp.Symbol("mu", real=True)
    constants = Constants(D=1, sigma=sigma, eta=eta, B=1, Pdim=1, G=G)
    printed = linear_term(mu, constants) + per_round_constant_as_stated(constants)
    return always(
        eta * G**2 / 2 <= printed, given=[mu >= -1, sigma <= G], domain="μ >= -1/N_eff >= -1, σ <= G, E = 1"
    )


SURVIVING = Claim(
    id="thm:regret-neff/one-local-step",
    kind="addition",
    title="printed bound at E = 1, Dσ <= 8B√Pdim (ours)",
    statement="Under the hypotheses of the corrected theorem, with E = 1, constant admission of at least one "
    "sample a round, σ <= G and Dσ <= 8B√Pdim, the printed bound (true uniformity, positive parts, log⁺, "
    "D²/(2η) once) is right: its constant 10, where 5.2 is enough, makes up for the mismatch that it misses.",
    latex=r"E=1,\ D\sigma\le8B\sqrt{\mathrm{Pdim}}\implies\mathcal E_T\le\bar{\mathcal E}_T",
    unicode="E = 1, Dσ ≤ 8B√Pdim ⇒ E_T ≤ Ē_T",
    domain="K-step retention, constant admission, every K and t; hypotheses of thm:regret-neff corrected",
    checks=(
        lambda: sharper_recursion().about("recursion through all samples"),
        lambda: memory_recursion().about("recursion through the memory"),
        lambda: while_filling().about("t <= K"),
        lambda: when_full().about("t >= K"),
        lambda: constants_cover().about("constants"),
        lambda: proved_constant(CONSTANT).about("generalisation"),
    ),
)
