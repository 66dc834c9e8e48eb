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
from proofs_check.symbols import CONSTANTS, rate, total_buffer
from proofs_check.text import said
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
            domain=r"every $K\ge1$, $t>K$, every rate",
        ),
        equal(
            mismatch_constant(beyond + 1, early, rate),
            mismatch_constant(beyond, early, rate),
            domain=r"every $t\ge1$, $K\ge t$",
            what=r"$\chi$ at $K+1$ and at $K$",
        ),
    )


def _full(horizon: Any, t: Any) -> Any:
    return mismatch_constant(horizon, t, total_buffer / horizon)


def mismatch_with_full_buffers() -> Evidence:
    """K ↦ χ(K, t) with rate ΣB/K: falls up to K = t, rises beyond."""
    return together(
        always(_full(k + 1, late) <= _full(k, late), domain=r"full buffers, every $K\ge1$, $t>K$"),
        always(
            _full(beyond + 1, early) >= _full(beyond, early),
            domain=r"full buffers, every $t\ge1$, "
            r"$K\ge t$",
        ),
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
            domain=r"every $t\ge1$, $K\ge t$",
            what=r"$1/N_{\mathrm{eff}}$ at $K+1$ and at $K$",
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
            domain=r"any rate $r$; beyond $N=\mathrm{Pdim}$, and up to it",
            what="the slope and a number that is not positive",
        )
        for side, factor in slopes.items()
    )
    return together(*found)


CLAIMS = [
    Claim(
        id="cor:optimal-k/monotone",
        kind="addition",
        title="how the terms depend on $K$ (ours)",
        statement=r"Round by round: at a fixed rate $\chi$ falls in $K$; with full buffers $\chi$ falls "
        r"up to $K=t$ and rises beyond; at a fixed rate $1/N_{\mathrm{eff}}$ rises in $K$; and the "
        "generalisation term falls in the rate. So a search over $K$ can be cut short.",
        formula=said(
            r"\chi(K+1,t)\le\chi(K,t),\quad N_{\mathrm{eff}}(K+1,t)\le N_{\mathrm{eff}}(K,t)",
        ),
        domain=r"constant admission, every $K$, $t\ge1$ and rate",
        sketch=r"With $k=\min(K,t)$ the closed forms of $\chi$ and $1/N_{\mathrm{eff}}$ are quotients of "
        "polynomials in $K$ and $t$. Put $K=j+1$, $t=K+1+u$ for rounds after the buffers are full (and "
        r"$t=j+1$, $K=t+u$ before): with $j$, $u\ge0$ each difference of neighbours, denominators "
        r"cleared, is a polynomial of one sign, which Z3 confirms. For $t\le K$ nothing has been "
        "dropped, so $K$ does not matter at a fixed rate. In the rate $r$, $N=rt$ and "
        r"$N_{\mathrm{eff}}$ is proportional to $r$: the generalisation term's square is a constant "
        r"times $1/r$ below $N=\mathrm{Pdim}$, and $(1+\log N/\mathrm{Pdim})/r$ beyond, whose slope is "
        r"$-\log(N/\mathrm{Pdim})/r^2$.",
        checks={
            r"$\chi$, rate fixed": mismatch_falls_at_fixed_rate,
            r"$\chi$, buffers full": mismatch_with_full_buffers,
            r"$N_{\mathrm{eff}}$, rate fixed": effective_size_falls,
            "generalisation": generalisation_falls_in_rate,
        },
        symbols={"j": r"any number $\ge0$", "u": r"any number $\ge0$", "r": "a rate of admissions"},
    ),
]
