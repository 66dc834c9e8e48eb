"""Dependence of the bound's terms on K and on the rate, round by round (`cor:optimal-k/monotone`)."""

from proofs_check.prelude import *

from theory.reuse.constant import inverse_effective_constant as inverse

j, u = sp.symbols("j u", integer=True, nonnegative=True)
k, late = j + 1, j + 2 + u  # K >= 1 and t >= K + 1: from K to K + 1 while K < t
early, beyond = j + 1, j + 1 + u  # t >= 1 and K >= t
LATE, EARLY = r"every $K\ge1$, $t>K$, every rate", r"every $t\ge1$, $K\ge t$"


def _stays(function: Any, what: str) -> tuple[Any, ...]:
    later, now = (function(horizon, early, rate) for horizon in (beyond + 1, beyond))
    return later, now, f"{what} at $K+1$ and at $K$", EARLY


def _full(horizon: Any, t: Any) -> Any:
    return mismatch_constant(horizon, t, total_buffer / horizon)


def generalisation_falls_in_rate() -> Evidence:
    """Its square at rate r, N = rt and N_eff = r·size: slope -100B²Pdim/(size·r²)·(1, or log(N/Pdim) beyond Pdim)."""
    r, t, size = sp.symbols("r t size", positive=True)
    c, share = CONSTANTS, r * t / CONSTANTS.Pdim
    square = generalisation_term(1 / (r * size), r * t, c) ** 2
    what = "the slope and a number that is not positive"
    sides = ((share, sp.log(share)), (sp.Integer(1), 1))
    slopes = [(sp.diff(square.xreplace({sp.Max(1, share): side}), r), factor) for side, factor in sides]
    return argument(
        *((slope, -100 * c.B**2 * c.Pdim * factor / (size * r**2), what) for slope, factor in slopes),
        domain=r"any rate $r$; beyond $N=\mathrm{Pdim}$, and up to it",
    )


CLAIMS = [
    Claim(
        id="cor:optimal-k/monotone",
        title="how the terms depend on $K$ (ours)",
        statement=r"Round by round: at a fixed rate $\chi$ falls in $K$; with full buffers $\chi$ falls up "
        r"to $K=t$ and rises beyond; at a fixed rate $1/N_{\mathrm{eff}}$ rises in $K$; and the "
        "generalisation term falls in the rate. So a search over $K$ can be cut short.",
        formula=r"\chi(K+1,t)\le\chi(K,t),\quad N_{\mathrm{eff}}(K+1,t)\le N_{\mathrm{eff}}(K,t)",
        domain=r"constant admission, every $K$, $t\ge1$ and rate",
        sketch=r"With $k=\min(K,t)$ the closed forms of $\chi$ and $1/N_{\mathrm{eff}}$ are quotients of "
        "polynomials in $K$ and $t$. Put $K=j+1$, $t=K+1+u$ for rounds after the buffers are full (and "
        r"$t=j+1$, $K=t+u$ before): with $j$, $u\ge0$ each difference of neighbours, denominators cleared, "
        r"is a polynomial of one sign, which Z3 confirms. For $t\le K$ nothing has been dropped, so $K$ "
        r"does not matter at a fixed rate. In the rate $r$, $N=rt$ and $N_{\mathrm{eff}}$ is proportional "
        r"to $r$: the generalisation term's square is a constant times $1/r$ below $N=\mathrm{Pdim}$, and "
        r"$(1+\log(N/\mathrm{Pdim}))/r$ beyond, whose slope is $-\log(N/\mathrm{Pdim})/r^2$.",
        checks={
            r"$\chi$, rate fixed": lambda: argument(
                (mismatch_constant(k + 1, late, rate) <= mismatch_constant(k, late, rate), [], LATE),
                _stays(mismatch_constant, r"$\chi$"),
            ),
            r"$\chi$, buffers full": lambda: argument(
                (_full(k + 1, late) <= _full(k, late), [], r"full buffers, every $K\ge1$, $t>K$"),
                (_full(beyond + 1, early) >= _full(beyond, early), [], f"full buffers, {EARLY}"),
            ),
            r"$N_{\mathrm{eff}}$, rate fixed": lambda: argument(
                (inverse(k + 1, late, rate) >= inverse(k, late, rate), [], LATE),
                _stays(inverse, r"$1/N_{\mathrm{eff}}$"),
            ),
            "generalisation": generalisation_falls_in_rate,
        },
        symbols={"j": r"any number $\ge0$", "u": r"any number $\ge0$", "r": "a rate of admissions"},
    )
]
