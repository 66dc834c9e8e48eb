"""Losses of one number θ on an interval, with proofs that they satisfy the constants claimed for them.

An example counts only if `Problem.facts` proves each hypothesis: a wrong G or B makes it void.
"""

from functools import cached_property

from proofs_check.prelude import *

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
        return _value(sp.diff(self.piece(x), theta), x)


def _value(polynomial: Any, x: Any) -> Any:
    """A polynomial at a number of any system, by Horner; coefficients enter as integers and quotients of these."""
    total = 0 * x
    for coefficient in sp.Poly(polynomial, theta).all_coeffs():
        p, q = int(coefficient.p), int(coefficient.q)
        total = total * x + (Fraction(p, q) if isinstance(x, int | Fraction) else p / (0 * x + q))
    return total


def _exact(x: Any) -> Any:
    return sp.Rational(str(Fraction(x)))


def shown(true: bool, domain: str, **numbers: Any) -> Evidence:
    """A fact that a few numbers decide."""
    return exhaust([numbers], lambda **_: unless(true, violated=True), domain=domain)


def _slopes(polynomials: Iterable[Any], order: int = 1) -> list[Any]:
    return [sp.diff(p, theta, order) for p in polynomials]


def _margins(low: Any, values: Iterable[Any], high: Any) -> list[Any]:
    """Expressions that are not negative if low <= value <= high."""
    return [margin for value in values for margin in (value - low, high - value)]


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
        return sum(p * loss.at(x) for p, loss in zip(self.chances, self.losses, strict=True))

    def _nonnegative(self, name: str, margins: Callable[[list[Any]], list[Any]]) -> Evidence:
        """Z3 on margins of the losses, on every interval where each loss is one polynomial; constants exactly."""
        inner = sorted({end for loss in self.losses for end in loss.ends if self.low < end < self.high})
        found = []
        for a, b in pairwise([self.low, *inner, self.high]):
            inside = [theta >= _exact(a), theta <= _exact(b)]
            domain = rf"{name} of {self.name}, $\theta$ in [{a}, {b}]"
            for margin in margins([loss.piece((Fraction(a) + b) / 2) for loss in self.losses]):
                true = sp.Ge(sp.expand(margin), 0)
                if true.free_symbols:
                    found.append(always(true, given=inside, domain=domain))
                else:
                    found.append(shown(bool(true), domain))
        return together(*found)

    @cached_property
    def facts(self) -> dict[str, Evidence]:
        """Each hypothesis about the losses that the constants stand for, with its proof on Θ."""
        c = self.constants
        B, G, sigma = (_exact(x) for x in (c.B, c.G, c.sigma))
        width = self.high - self.low

        def variance(polynomials: list[Any]) -> Any:
            pairs = list(zip(map(_exact, self.chances), _slopes(polynomials), strict=True))
            return sum(p * s**2 for p, s in pairs) - sum(p * s for p, s in pairs) ** 2

        found = {
            r"$\Theta$ has diameter $D$": shown(0 < width <= c.D, self.name, diameter=width, D=c.D),
            "chances add up to 1": shown(
                sum(self.chances) == 1 and min(self.chances) > 0, self.name, chances=list(self.chances)
            ),
            r"$0\le\ell\le B$": self._nonnegative("range", lambda p: _margins(0, p, B)),
            r"$|\nabla\ell|\le G$": self._nonnegative("slope", lambda p: [G**2 - s**2 for s in _slopes(p)]),
            r"variance $\le\sigma^2$": self._nonnegative("variance", lambda p: [sigma**2 - variance(p)]),
            "differentiable": self._joints(),
            r"$\mathrm{Pdim}$": self._pdim(),
        }
        if self.convex:
            found["convex"] = self._nonnegative("curvature", lambda p: _slopes(p, 2))
        if c.L is not None:
            L, lipschitz = _exact(c.L), r"$\nabla\ell$ is $L$-Lipschitz"
            found[lipschitz] = self._nonnegative("curvature", lambda p: _margins(-L, _slopes(p, 2), L))
        if c.E != 1:
            found["local steps stay where this holds"] = self._stays()
        return found

    def _joints(self) -> Evidence:
        """Values and slopes agree where two pieces meet."""

        def jump(atom: int, end: Any) -> Found:
            loss = self.losses[atom]
            i = loss.ends.index(end)
            gap = sp.sympify(loss.pieces[i] - loss.pieces[i + 1])
            sizes = [f.subs(theta, _exact(end)) for f in (gap, sp.diff(gap, theta))]
            return unless(not any(sizes), jump=sizes)

        points = [{"atom": i, "end": end} for i, loss in enumerate(self.losses) for end in loss.ends]
        if not points:
            return holds("exact", "each loss is one polynomial", strength="certified")
        return exhaust(points, jump, domain=f"differentiability of {self.name}")

    def _stays(self) -> Evidence:
        """Local steps stay in Θ, or the constants hold everywhere: linear losses, and convex ones with linear ends."""
        if all(len(loss.pieces) == 1 and sp.degree(loss.pieces[0], theta) <= 1 for loss in self.losses):
            return holds("exact", "linear losses have one slope everywhere", strength="certified")
        if all(self._everywhere(loss) for loss in self.losses):
            return holds("exact", "slopes and curvatures are within $G$ and $L$", strength="certified")
        eta, low, high = (_exact(x) for x in (self.constants.eta, self.low, self.high))
        return self._nonnegative(
            "local step", lambda p: _margins(low, (theta - eta * s for s in _slopes(p)), high)
        )

    def _everywhere(self, loss: Loss) -> bool:
        """Convex pieces whose slopes lie between the two at the sides, which are constant and at most G."""
        c, sides = self.constants, (loss.pieces[0], loss.pieces[-1])
        bends = [sp.diff(piece, theta, 2) for piece in loss.pieces]
        ends = [sp.diff(side, theta) for side in sides]
        if c.L is None or any(x.free_symbols for x in map(sp.sympify, (*bends, *ends))):
            return False
        curved = all(0 <= bend <= _exact(c.L) for bend in bends)
        return self.convex and curved and all(abs(end) <= _exact(c.G) for end in ends)

    def _pdim(self) -> Evidence:
        """Pdim is at most the number of atoms, and 1 if each loss is monotone: level sets are then half-lines."""
        atoms, Pdim = len(self.losses), self.constants.Pdim
        if atoms <= Pdim:
            most = r"a point is shattered once: $\mathrm{Pdim}$ is at most the number of atoms"
            return shown(True, most, atoms=atoms, Pdim=Pdim)
        found = []
        for i in range(atoms):
            up, down = (
                self._nonnegative("monotone", lambda p, i=i, s=s: [s * sp.diff(p[i], theta)])  # type: ignore[misc]
                for s in (1, -1)
            )
            if "holds" not in (up.outcome, down.outcome):
                return undecided("smt", f"loss {i} was not shown to be monotone, so Pdim is not known")
            found.append(up if up.outcome == "holds" else down)
        return together(*found)
