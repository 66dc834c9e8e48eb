r"""Losses of one number θ on an interval Θ, and proofs that they obey the constants they are used with.

A sample z is one of a few atoms; the loss of an atom is convex or not, a polynomial in θ or made of a few
polynomials. An example that is to refute a bound, or to show that none of its terms can go, must satisfy the bound's
hypotheses: `Problem.facts` proves each of them, so that a wrong G or B takes the example's power away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import sympy as sp

from proofs_check.engines.exact import exhaust
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, holds, together, undecided
from theory.setting import Constants

__all__ = ["Loss", "Problem", "theta"]

theta = sp.Symbol("theta", real=True)


@dataclass(frozen=True)
class Loss:
    """The loss of one atom: polynomials in θ, each from the end of the one before to its own end; the last has none.

    >>> hinge = Loss((0 * theta, theta**2 / 2), ends=(0,))
    >>> hinge.at(2), hinge.slope_at(2), hinge.slope_at(-1)
    (Fraction(2, 1), Fraction(2, 1), Fraction(0, 1))
    """

    pieces: tuple[Any, ...]
    ends: tuple[Any, ...] = ()

    def piece(self, x: Any) -> Any:
        """The polynomial that holds at x; at an end, the one on its left."""
        return next((p for p, end in zip(self.pieces, self.ends, strict=False) if x <= end), self.pieces[-1])

    def at(self, x: Any) -> Any:
        """The loss at a number or a ball, with the piece that holds there."""
        return _value(self.piece(x), x)

    def slope_at(self, x: Any) -> Any:
        """Its derivative."""
        return _value(sp.diff(self.piece(x), theta), x)


def _value(polynomial: Any, x: Any) -> Any:
    """A polynomial at a number of any system, by Horner; coefficients enter as integers and quotients of these."""
    total = 0 * x
    for coefficient in sp.Poly(polynomial, theta).all_coeffs():
        total = (
            total * x + _fraction(coefficient)
            if isinstance(x, int | Fraction)
            else (total * x + int(coefficient.p) / (0 * x + int(coefficient.q)))
        )
    return total


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _exact(x: Any) -> Any:
    return sp.Rational(x.numerator, x.denominator)


@dataclass(frozen=True)
class Problem:
    """Losses over the atoms with their chances, on Θ = [low, high], with the constants that are claimed for them."""

    name: str
    low: Any
    high: Any
    losses: tuple[Loss, ...]
    chances: tuple[Any, ...]
    constants: Constants
    convex: bool = True

    def risk(self, x: Any) -> Any:
        """The population risk at an exact θ."""
        return sum(p * loss.at(x) for p, loss in zip(self.chances, self.losses, strict=True))

    def _cells(self) -> list[tuple[Any, Any, list[Any]]]:
        """Intervals of Θ on which each loss is one polynomial: (low, high, the polynomials)."""
        inner = sorted({end for loss in self.losses for end in loss.ends if self.low < end < self.high})
        borders = [self.low, *inner, self.high]
        return [
            (a, b, [loss.piece((Fraction(a) + b) / 2) for loss in self.losses]) for a, b in pairwise(borders)
        ]

    def _everywhere(self, name: str, say: Any) -> Evidence:
        """Z3 on a relation about the losses' polynomials, on every cell; constants are compared exactly."""
        found = []
        for a, b, polynomials in self._cells():
            inside = [theta >= _exact(Fraction(a)), theta <= _exact(Fraction(b))]
            for relation in say(polynomials):
                domain = f"{name} of {self.name}, θ in [{a}, {b}]"
                if relation.free_symbols:
                    found.append(always(relation, given=inside, domain=domain))
                else:
                    true = bool(relation)
                    violation = None if true else {"false": str(relation)}
                    found.append(exhaust([{}], lambda v=violation: v, domain=domain))
        return together(*found)

    def _joints(self) -> Evidence:
        """Values and slopes agree where two pieces meet."""

        def jump(atom: int, end: Any) -> dict[str, Any] | None:
            loss = self.losses[atom]
            i = loss.ends.index(end)
            pair = loss.pieces[i : i + 2]
            jumps = [pair[0] - pair[1], sp.diff(pair[0] - pair[1], theta)]
            sizes = [sp.sympify(j).subs(theta, _exact(Fraction(end))) for j in jumps]
            return {"jump": sizes} if any(sizes) else None

        points = [{"atom": i, "end": end} for i, loss in enumerate(self.losses) for end in loss.ends]
        if not points:
            return holds("exact", "each loss is one polynomial", strength="certified")
        return exhaust(points, jump, domain=f"differentiability of {self.name}")

    @cached_property
    def facts(self) -> dict[str, Evidence]:
        """Each hypothesis about the losses that the constants stand for, with its proof on Θ."""
        c = self.constants
        B, G, sigma = (_exact(Fraction(x)) for x in (c.B, c.G, c.sigma))
        weights = [_exact(Fraction(p)) for p in self.chances]

        def slopes(polynomials: Iterable[Any]) -> list[Any]:
            return [sp.diff(p, theta) for p in polynomials]

        def variance(polynomials: list[Any]) -> Any:
            pairs = list(zip(weights, slopes(polynomials), strict=True))
            return sp.expand(sum(p * s**2 for p, s in pairs) - sum(p * s for p, s in pairs) ** 2)

        def curvatures(polynomials: Iterable[Any]) -> list[Any]:
            return [sp.diff(p, theta, 2) for p in polynomials]

        found = {
            "Θ has diameter D": exhaust(
                [{"low": self.low, "high": self.high, "D": c.D}],
                lambda low, high, D: None if 0 < high - low <= D else {"diameter": high - low},
                domain=self.name,
            ),
            "chances add up to 1": exhaust(
                [{"chances": list(self.chances)}],
                lambda chances: None if sum(chances) == 1 and min(chances) > 0 else {"sum": sum(chances)},
                domain=self.name,
            ),
            "0 <= loss <= B": self._everywhere(
                "range", lambda p: [r for f in p for r in (_ge(f, 0), _ge(B, f))]
            ),
            "|∇loss| <= G": self._everywhere("slope", lambda p: [_ge(G**2, s**2) for s in slopes(p)]),
            "variance <= σ²": self._everywhere("variance", lambda p: [_ge(sigma**2, variance(p))]),
            "differentiable": self._joints(),
            "Pdim": self._pdim(),
        }
        if self.convex:
            found["convex"] = self._everywhere("curvature", lambda p: [_ge(f, 0) for f in curvatures(p)])
        if c.L is not None:
            L = _exact(Fraction(c.L))
            found["∇loss is L-Lipschitz"] = self._everywhere(
                "curvature", lambda p: [r for f in curvatures(p) for r in (_ge(L, f), _ge(f, -L))]
            )
        if c.E != 1:
            found["local steps stay where this holds"] = self._stays()
        return found

    def _stays(self) -> Evidence:
        """A local step from Θ ends in Θ, so by induction all do; what is linear obeys its constants everywhere."""
        if all(
            sp.degree(f, theta) <= 1 and len(loss.pieces) == 1 for loss in self.losses for f in loss.pieces
        ):
            return holds("exact", "linear losses have one slope everywhere", strength="certified")
        eta = _exact(Fraction(self.constants.eta))
        low, high = (_exact(Fraction(x)) for x in (self.low, self.high))

        def inside(polynomials: Iterable[Any]) -> list[Any]:
            after = [theta - eta * sp.diff(p, theta) for p in polynomials]
            return [r for x in after for r in (_ge(x, low), _ge(high, x))]

        return self._everywhere("local step", inside)

    def _pdim(self) -> Evidence:
        """As many points as there are atoms can be shattered at most. If each loss is monotone in θ, its level sets
        are half-lines, and two half-lines never make all four patterns: then Pdim is 1.
        """
        if len(self.losses) <= self.constants.Pdim:
            return exhaust(
                [{"atoms": len(self.losses), "Pdim": self.constants.Pdim}],
                lambda atoms, Pdim: None if atoms <= Pdim else {"atoms": atoms},
                domain=r"a point is shattered once: $\mathrm{Pdim}$ is at most the number of atoms",
            )
        found = []
        for i in range(len(self.losses)):
            up, down = (
                self._everywhere("monotone", lambda p, i=i, s=s: [_ge(s * sp.diff(p[i], theta), 0)])
                for s in (1, -1)
            )
            if "holds" not in (up.outcome, down.outcome):
                return undecided("smt", f"loss {i} was not shown to be monotone, so Pdim is not known")
            found.append(up if up.outcome == "holds" else down)
        return together(*found)


def _ge(a: Any, b: Any) -> Any:
    """a >= b, left for Z3 where a symbol is in it."""
    return sp.Ge(sp.expand(a - b), 0)
