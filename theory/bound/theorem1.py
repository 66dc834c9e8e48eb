r"""The learning-error bound (Theorem 1): the contribution of a round, and its sum along any trajectory.

A round contributes

\[D\sigma\sqrt{\mu}+\eta\sigma^2\mu+10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\,
  \sqrt{1+\log^+(N/\mathrm{Pdim})}\;+\;\text{a constant},\]

and \(D^2/(2\eta)\) is paid once. The paper prints \(\mu=1/n-1/N_{\mathrm{eff}}\); the corrected form has
\(\mu=\chi\), the true occupancy in the first rounds, the true uniformity, and \(\eta E\) for \(\eta\).

**Hypotheses of the corrected form.** It is an upper bound on the cumulative excess risk, per-round constant included
(without G that constant is left out, and with it a term linear in T), if: every loss is convex and differentiable in
θ, with gradients bounded by G and, for E > 1, L-Lipschitz wherever local steps lead; θ starts in the convex set Θ of
diameter D and the server projects onto it after each round; no round is without samples; clients are weighted by
\(n_m/n\) and draw from one distribution; admissions and drops do not look at sample values; the squared mismatch at the
iterates has mean at most \(\sigma^2\chi\) (Assumption 4 gives that at a fixed θ only); and the uniform deviation is at
most the third term, whose constant 10 is the paper's and more than enough (`lem:gen-Neff-app` in `proofs_check`).

**Stated forms** are printed symbol for symbol with three exceptions. \(D^2/(2\eta)\), which the paper puts into the
constant of every round, is paid once, as in its proof; constants are named apart, in the oracle's bound too. A
radicand is taken by its positive part, and the rounds in which that is needed are listed. The logarithm is log⁺; which
is the printed one, and where the two differ, is said in `theory.control.penalty`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import groupby
from math import fsum
from typing import Any

import numpy as np

from theory.numbers.algebra import log, log_plus, ratio, sqrt, sqrt_plus
from theory.setting import Constants, SettingError, not_negative, same_length

__all__ = ["DEVIATION", "Bound", "Terms", "deviation_term", "generalisation_term"]
__all__ += ["generalisation_term_as_printed", "initial_term", "linear_term", "per_round_constant"]
__all__ += ["per_round_constant_as_stated", "root_term", "round_terms", "theorem_1", "theorem_1_as_stated"]

Ranges = tuple[tuple[int, int], ...]
PER_ROUND = ("root", "linear", "generalisation")
ROUNDING = 8 * np.finfo(float).eps  # a term takes about eight roundings
# what Haussler's packing numbers and chaining give at Pdim = 1, the worst, rounded up (lem:gen-Neff-app, corrected)
DEVIATION = Fraction(26, 5)
MAY_VANISH = ("mismatch", "stale", "overlap")  # columns that are 0 in a round where nothing is amiss


@dataclass(frozen=True)
class Terms:
    """The parts of a bound, of one round or summed; `constant` is per round, `initial` is paid once."""

    root: Any
    linear: Any
    generalisation: Any
    constant: Any = 0
    initial: Any = 0

    @property
    def total(self) -> Any:
        """The sum of the parts."""
        return self.root + self.linear + self.generalisation + self.constant + self.initial

    def __sub__(self, other: Terms) -> Terms:
        return Terms(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Bound:
    """A bound over T rounds: its terms, the absolute error of their total, and what had to be made real.

    `negative` maps a term to the (first, last) stretches of rounds whose radicand is negative and was taken as
    zero (the stated form alone needs that); `left_out` are rounds where the printed form divides by zero.
    """

    terms: Terms
    error: float
    negative: dict[str, Ranges] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()

    @property
    def total(self) -> Any:
        """The bound."""
        return self.terms.total


# --- one round ---------------------------------------------------------------------------------------------


def root_term(mismatch: Any, constants: Constants) -> Any:
    r"""\(D\sigma\sqrt{[\mu]^+}\) (`eq:cum-regret-bound_detail`, first term); \(\chi\ge0\) needs no positive part.

    >>> root_term(4, Constants(D=1, sigma=3, eta=1, B=1, Pdim=5))
    Fraction(6, 1)
    """
    return constants.D * constants.sigma * sqrt_plus(mismatch)


def linear_term(mismatch: Any, constants: Constants) -> Any:
    r"""\(\eta\sigma^2\mu\) (`eq:cum-regret-bound_detail`, second term), signed as printed.

    >>> linear_term(4, Constants(D=1, sigma=3, eta=2, B=1, Pdim=5))
    72
    """
    return constants.eta * constants.sigma * constants.sigma * mismatch


def generalisation_term(inverse_effective: Any, N: Any, constants: Constants) -> Any:
    r"""\(10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\sqrt{1+\log^+(N/\mathrm{Pdim})}\) (`eq:gen-gap-Neff-app`).

    The paper prints log, not log⁺: `generalisation_term_as_printed`. Decreasing in N where
    \(N_{\mathrm{eff}}=N\), which the printed one is from N = Pdim on alone.

    >>> generalisation_term(Fraction(1, 20), 20, Constants(D=1, sigma=1, eta=1, B=1, Pdim=20))
    Fraction(10, 1)
    """
    P = constants.Pdim
    return 10 * constants.B * sqrt_plus(P * inverse_effective) * sqrt(1 + log_plus(ratio(N, P)))


def generalisation_term_as_printed(inverse_effective: Any, N: Any, constants: Constants) -> Any:
    r"""\(10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\sqrt{1+\log(N/\mathrm{Pdim})}\) (`eq:gen-gap-Neff-app`), as printed.

    The same as `generalisation_term` from N = Pdim on, smaller below, and not real below Pdim/e.

    >>> generalisation_term_as_printed(Fraction(1, 20), 20, Constants(D=1, sigma=1, eta=1, B=1, Pdim=20))
    Fraction(10, 1)
    """
    P = constants.Pdim
    return 10 * constants.B * sqrt(P * inverse_effective) * sqrt(1 + log(ratio(N, P)))


def deviation_term(squared_weights: Any, constants: Constants) -> Any:
    r"""\(5.2\,B\sqrt{\mathrm{Pdim}\sum_i\omega_i^2}\): bounds the mean uniform deviation of weighted samples
    (`lem:gen-Neff-app`, corrected). \(\sum_i\omega_i^2\) is \(1/N_{\mathrm{eff}}\) for shares of use.

    The samples are independent, of any distributions, and the weights do not look at them; no logarithm is needed.

    >>> deviation_term(Fraction(1, 20), Constants(D=1, sigma=1, eta=1, B=2, Pdim=5))
    Fraction(26, 5)
    """
    reach = constants.B * sqrt_plus(constants.Pdim * squared_weights)
    return ratio(DEVIATION.numerator * reach, DEVIATION.denominator)


def round_terms(mismatch: Any, inverse_effective: Any, N: Any, constants: Constants) -> Terms:
    """The three terms of one round (`eq:cum-regret-bound_detail`); `mismatch` is χ, or what the paper prints for it."""
    return Terms(
        root=root_term(mismatch, constants),
        linear=linear_term(mismatch, constants),
        generalisation=generalisation_term(inverse_effective, N, constants),
    )


def per_round_constant(constants: Constants) -> Any:
    r"""\(\eta EG^2+\tfrac12\eta(E-1)DLG\): what a round adds besides its three terms, corrected.

    A round moves θ by at most \(\eta EG\), and local step e is taken at most \(\eta eG\) away from the round's start.
    The first fact alone gives \(\tfrac12\eta EG^2\) and no linear term: the paper's split into
    \(\eta E\sigma^2\chi\) and \(\eta EG^2\) is kept, and is larger. Zero, that is left out, when G is not given.

    >>> per_round_constant(Constants(D=5, sigma=1, eta=ratio(1, 5), B=1, Pdim=1, E=2, G=3, L=7))
    Fraction(141, 10)
    """
    if constants.G is None:
        return 0
    steps, G = constants.E, constants.G
    drift = ratio((steps - 1) * constants.D * _smoothness(constants), 2) if steps != 1 else 0
    return constants.eta * G * (steps * G + drift)


def per_round_constant_as_stated(constants: Constants) -> Any:
    r"""\(\tfrac\eta2C_1+\tfrac{\eta^3}2C_2\) with the printed \(C_1,C_2\) (`eq:C1C2-def`, `eq:Ropt-Neff-app`).

    >>> per_round_constant_as_stated(Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, G=2))
    Fraction(10, 1)
    """
    if constants.G is None:
        return 0
    eta, G = constants.eta, constants.G
    first, second = 5 * G * G, 0
    if constants.E != 1:
        L, steps = _smoothness(constants), constants.E
        first += sqrt(ratio(8 * (steps - 1) * (G * L * constants.D) ** 2, steps))
        second = ratio(4 * (steps - 1) * (L * G) ** 2, steps)
    return ratio(eta * first + eta**3 * second, 2)


def _smoothness(constants: Constants) -> Any:
    if constants.L is None:
        raise SettingError("with E > 1 and G the per-round constant needs the smoothness L too, such as L=1")
    return constants.L


# --- T rounds, any trajectory ------------------------------------------------------------------------------


def _ranges(flags: Iterable[bool]) -> Ranges:
    """Maximal runs of true flags as (first, last) rounds, counted from 1."""
    runs = groupby(enumerate(flags, start=1), key=lambda pair: bool(pair[1]))
    spans = [[t for t, _ in run] for flag, run in runs if flag]
    return tuple((span[0], span[-1]) for span in spans)


def add_up(make_round: Callable[..., Terms], columns: dict[str, Any], initial: Any, constant: Any) -> Bound:
    """Sum a per-round formula along a trajectory: floats in arrays at once, all else round by round."""
    T = same_length(**columns)
    for name, column in columns.items():
        not_negative(name, column)
        if name not in MAY_VANISH and any(_certain(value == 0) for value in column):
            raise SettingError(
                f"{name} must not be 0 in any round: a round without samples trains on nothing"
            )
    vectorised = all(
        isinstance(column, np.ndarray) and column.dtype.kind == "f" for column in columns.values()
    )
    error: float = 0
    if vectorised:
        per_round = make_round(*columns.values())
        parts = [getattr(per_round, name) for name in PER_ROUND]
        sums = {name: fsum(part) for name, part in zip(PER_ROUND, parts, strict=True)}
        error = float(ROUNDING * fsum(np.abs(part).sum() for part in parts))
    else:
        rounds = [make_round(*row) for row in zip(*columns.values(), strict=True)]
        sums = {name: sum(getattr(terms, name) for terms in rounds) for name in PER_ROUND}
    return Bound(Terms(**sums, constant=constant * T, initial=initial), error=error)


def theorem_1(n: Any, N: Any, uniformity: Any, mismatch: Any, constants: Constants) -> Bound:
    r"""Theorem 1 corrected, for per-round lists or arrays (`thm:regret-neff`); an upper bound under the
    hypotheses above. `theory.reuse.trajectories.trajectory` makes the four columns from admissions.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)
    >>> theorem_1(np.ones(1), [1], [1], [0], unit).terms
    Terms(root=Fraction(0, 1), linear=0, generalisation=Fraction(10, 1), constant=0, initial=Fraction(1, 2))
    """
    merged = constants.merged
    return add_up(
        lambda n_t, N_t, V_t, chi_t: round_terms(chi_t, ratio(1, N_t * V_t), N_t, merged),
        {"n": n, "N": N, "uniformity": uniformity, "mismatch": mismatch},
        initial=initial_term(merged),
        constant=per_round_constant(constants),
    )


def theorem_1_as_stated(n: Any, N: Any, uniformity: Any, constants: Constants) -> Bound:
    r"""Theorem 1 as printed (`eq:cum-regret-bound_detail`), with the rounds whose radicand is negative.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)
    >>> theorem_1_as_stated([1, 2], [1, 2], [1, Fraction(9, 10)], unit).negative
    {'root': ((2, 2),)}
    """
    result = add_up(
        lambda n_t, N_t, V_t: round_terms(
            ratio(1, n_t) - ratio(1, N_t * V_t), ratio(1, N_t * V_t), N_t, constants
        ),
        {"n": n, "N": N, "uniformity": uniformity},
        initial=initial_term(constants),
        constant=per_round_constant_as_stated(constants),
    )
    negative = _ranges(_certain(N_t * V_t < n_t) for n_t, N_t, V_t in zip(n, N, uniformity, strict=True))
    return replace(result, negative={"root": negative} if negative else {})


def _certain(flag: Any) -> bool:
    """True if a comparison is certain; symbols and overlapping balls leave it open."""
    return type(flag).__name__ in ("bool", "BooleanTrue") and bool(flag)  # Python's, NumPy's or SymPy's


def initial_term(constants: Constants) -> Any:
    r"""\(D^2/(2\eta)\), paid once (`eq:cum-regret-bound_detail`); the corrected form is given `Constants.merged`.

    >>> initial_term(Constants(D=3, sigma=1, eta=2, B=1, Pdim=5))
    Fraction(9, 4)
    """
    return ratio(constants.D * constants.D, 2 * constants.eta)
