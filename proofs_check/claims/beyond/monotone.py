"""How the bound's terms depend on K and on the rate, round by round (`cor:optimal-k/monotone`).

These facts let a search over K be cut short (`theory/design_search.py`): all K, t and rates, proved.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.claim import Claim
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.notation import CONSTANTS, rate, total_buffer, written
from theory.bound import generalisation_term
from theory.reuse import inverse_effective_constant, mismatch_constant

j, u = sp.symbols("j u", integer=True, nonnegative=True)
k, late = j + 1, j + 2 + u  # K >= 1 and t >= K + 1: from K to K + 1 while K < t
early, beyond = j + 1, j + 1 + u  # t >= 1 and K >= t


def mismatch_falls_at_fixed_rate() -> Evidence:
    """K ↦ χ(K, t) at one rate, for K < t; from K = t on nothing changes."""
    return together(
        always(
            mismatch_constant(k + 1, late, rate) <= mismatch_constant(k, late, rate),
            domain="every K >= 1, t > K, every rate",
        ),
        equal(
            mismatch_constant(beyond + 1, early, rate),
            mismatch_constant(beyond, early, rate),
            domain="every t >= 1, K >= t",
            what="χ at K+1 and at K",
        ),
    )


def _full(horizon: Any, t: Any) -> Any:
    return mismatch_constant(horizon, t, total_buffer / horizon)


def mismatch_with_full_buffers() -> Evidence:
    """K ↦ χ(K, t) with rate ΣB/K: falls up to K = t, rises beyond."""
    return together(
        always(_full(k + 1, late) <= _full(k, late), domain="full buffers, every K >= 1, t > K"),
        always(_full(beyond + 1, early) >= _full(beyond, early), domain="full buffers, every t >= 1, K >= t"),
    )


def effective_size_falls() -> Evidence:
    """K ↦ 1/N_eff(K, t) rises at one rate, and still more with rate ΣB/K; from K = t on it stays at one rate."""
    domain = "every K >= 1, t > K, every rate"
    return together(
        always(
            inverse_effective_constant(k + 1, late, rate) >= inverse_effective_constant(k, late, rate),
            domain=domain,
        ),
        equal(
            inverse_effective_constant(beyond + 1, early, rate),
            inverse_effective_constant(beyond, early, rate),
            domain="every t >= 1, K >= t",
            what="1/N_eff at K+1 and at K",
        ),
    )


def generalisation_falls_in_rate() -> Evidence:
    """Its square at rate r, N = rt and N_eff = r·size: slope -100B²Pdim/(size·r²)·(1, or log(N/Pdim) beyond Pdim)."""
    r, t, size = sp.symbols("r t size", positive=True)
    c = CONSTANTS
    square = generalisation_term(1 / (r * size), r * t, c) ** 2
    share = r * t / c.Pdim
    slopes = {share: sp.log(share), sp.Integer(1): 1}
    found = (
        equal(
            sp.diff(square.xreplace({sp.Max(1, share): side}), r),
            -100 * c.B**2 * c.Pdim * factor / (size * r**2),
            domain="any rate r; beyond N = Pdim, and up to it",
            what="the slope and a number that is not positive",
        )
        for side, factor in slopes.items()
    )
    return together(*found)


CLAIMS = [
    Claim(
        id="cor:optimal-k/monotone",
        kind="addition",
        title="how the terms depend on K (ours)",
        statement="Round by round: at a fixed rate χ falls in K; with full buffers χ falls up to K = t and "
        "rises beyond; at a fixed rate 1/N_eff rises in K; and the generalisation term falls in the rate. So "
        "a search over K can be cut short.",
        formula=written(
            r"\chi(K+1,t)\le\chi(K,t),\quad N_{\mathrm{eff}}(K+1,t)\le N_{\mathrm{eff}}(K,t)",
            "χ(K+1, t) ≤ χ(K, t), N_eff(K+1, t) ≤ N_eff(K, t)",
        ),
        domain="constant admission, every K, t >= 1 and rate",
        sketch="With k = min(K, t) the closed forms of χ and 1/N_eff are quotients of polynomials in K and t. Put K = "
        "j+1, t = K+1+u for rounds after the buffers are full (and t = j+1, K = t+u before): with j, u >= 0 each "
        "difference of neighbours, denominators cleared, is a polynomial of one sign, which Z3 confirms. For t <= K "
        "nothing has been dropped, so K does not matter at a fixed rate. In the rate r, N = rt and N_eff is "
        "proportional to r: the generalisation term's square is a constant times 1/r below N = Pdim, and (1 + log "
        "N/Pdim)/r beyond, whose slope is -log(N/Pdim)/r².",
        parts=("χ, rate fixed", "χ, buffers full", "N_eff, rate fixed", "generalisation"),
        checks={
            "χ, rate fixed": mismatch_falls_at_fixed_rate,
            "χ, buffers full": mismatch_with_full_buffers,
            "N_eff, rate fixed": effective_size_falls,
            "generalisation": generalisation_falls_in_rate,
        },
        symbols={"j": "any number >= 0", "u": "any number >= 0", "r": "a rate of admissions"},
    ),
]
