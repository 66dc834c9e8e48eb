r"""Counterexamples to Theorem 1 as printed, each with one thing missing that its proof needs.

In each the memory equals all samples seen, or nearly, so that the printed mismatch terms vanish, and samples
are so many that the generalisation term is small. What is left of the printed bound is D²/(2η), paid once as
in the paper's proof, and the per-round constant.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.engines.enclosure import compare
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes
from theory.algebra import ball
from theory.bound import generalisation_term, theorem_1_as_stated
from theory.reuse import uniformity
from theory.setting import Constants

__all__ = [
    "DriftingClients",
    "basin",
    "dropping_by_value",
    "local_steps",
    "no_projection",
    "non_convex",
    "stated_bound",
]

MANY = 10**6


def stated_bound(constants: Constants, T: int, N: int, *, once: bool = True) -> Any:
    """The printed bound over T rounds that all train on the same N samples, so that n = N = N_eff; a ball.

    `once` pays D²/(2η) once, as the proof does; otherwise in every round, as the theorem prints it.
    """
    terms = theorem_1_as_stated([N], [N], [1], constants).terms
    generalisation = generalisation_term(ball(Fraction(1, N)), ball(N), constants.map(ball))
    return ball((1 if once else T) * terms.initial + T * terms.constant) + T * generalisation


class DriftingClients:
    r"""A fixed point of many local steps that is not the minimiser.

    Θ = [0, 1]; z is 1 or 2 with equal chances; \(\ell(\theta;1)=\theta^2/2\),
    \(\ell(\theta;2)=(1-\theta)^2/20\): convex, L = G = 1, B = 1/2. Ten million clients draw one sample each
    in round 1 and keep it, so memory and all samples are the same, \(\bar\sigma=0\) and n = N = N_eff. With
    E = 2·169² steps of η = 1/500 each client all but reaches its own minimiser, 0 or 1, and the average is
    near 1/2, where the minimiser of the risk is 1/11. (This E makes the printed constant rational: 2(1-1/E)
    = (239/169)².)
    """

    clients = 10**7
    rounds = 10**4
    slack = Fraction(1, 10**3)  # how far the share of clients with z = 1 may be from 1/2
    curvature = Fraction(1, 10)
    constants = Constants(
        D=1, sigma=1, eta=Fraction(1, 500), B=Fraction(1, 2), Pdim=1, E=2 * 169**2, L=1, G=1
    )

    def cumulative_gap(self, *, population: bool) -> Any:
        """A ball below the expected sum of the rounds' gaps, of the population risk or of F_all above its
        own minimum.

        The share of clients with z = 1 lies within the slack of 1/2, but for Hoeffding's chance; a gap is
        never negative.
        """
        import flint

        one, beta = flint.arb(1), ball(self.curvature)
        share = one / 2 + ball(self.slack) * flint.arb(0, 1)
        steep = (one - ball(self.constants.eta)) ** self.constants.E
        flat = (one - ball(self.constants.eta) * beta) ** self.constants.E
        first, second = (one / 2, beta / 2) if population else (share, (1 - share) * beta)
        theta, total, best = one / 2, flint.arb(0), second / (first + second)
        for _ in range(self.rounds):
            total += (first + second) / 2 * (theta - best) ** 2
            theta = share * steep * theta + (1 - share) * (1 - flat * (1 - theta))
        return total * (1 - 2 * (-2 * self.clients * ball(self.slack) ** 2).exp())


def local_steps() -> Evidence:
    """Convex, projected, one distribution, blind to values; but E > 1 full steps."""
    example = DriftingClients()
    return compare(
        lambda p: example.cumulative_gap(population=True),
        "<=",
        lambda p: stated_bound(example.constants, example.rounds, example.clients),
        [{"T": example.rounds, "E": example.constants.E, "eta": Fraction(1, 500), "n = N": example.clients}],
        domain="losses θ²/2 and (1-θ)²/20 on [0, 1], one sample a client, kept for ever; share of each loss "
        "1/2 ± 1/1000",
    )


def _double_well(theta: Any) -> Any:
    return 1 + 3 * theta**2 - 10 * theta**3 + 6 * theta**4


def non_convex() -> Evidence:
    r"""\(f=1+3\theta^2-10\theta^3+6\theta^4\) on [0, 1]: minima f(0) = 1 and f(1) = 0, a maximum at 1/4;
    |f'| <= 5/2."""
    eta, T = Fraction(1, 100), 100
    constants = Constants(D=1, sigma=1, eta=eta, B=Fraction(17, 16), Pdim=1, G=Fraction(5, 2))

    def descent(_: Any) -> Any:
        theta, total = ball(Fraction(1, 8)), ball(0)
        for _ in range(T):
            total += _double_well(theta)
            theta -= ball(eta) * (6 * theta - 30 * theta**2 + 24 * theta**3)
        return total

    point = {"T": T, "eta": eta, "start": Fraction(1, 8), "n = N": MANY, "G": constants.G, "B": constants.B}
    return compare(
        descent,
        "<=",
        lambda _: stated_bound(constants, T, MANY),
        [point],
        domain="one deterministic loss, E = 1; descent from 1/8 tends to the local minimum 0",
    )


def basin() -> Evidence:
    """Every start in [0, 1/4] stays there, where the loss is at least 1, for every η <= 1/6."""
    theta, eta = sp.symbols("theta eta", nonnegative=True)
    after = theta - eta * sp.diff(_double_well(theta), theta)
    trapped = always(
        sp.And(after >= 0, after <= sp.Rational(1, 4), _double_well(theta) >= 1),
        given=[theta <= sp.Rational(1, 4), eta <= sp.Rational(1, 6)],
        domain="every start in [0, 1/4], every η <= 1/6",
    )
    return refutes(
        trapped, "descent never leaves [0, 1/4], where the excess risk is at least 1 in every round"
    )


def no_projection() -> Evidence:
    """θ²/2 on [-1, 1] with η = 3: θ ↦ -2θ leaves Θ, and the excess grows like 4^t."""
    T = 8
    constants = Constants(D=2, sigma=1, eta=3, B=Fraction(1, 2), Pdim=1, G=1)
    excess = sum(Fraction((-2) ** (t - 1)) ** 2 / 2 for t in range(1, T + 1))
    return compare(
        lambda _: ball(excess),
        "<=",
        lambda _: stated_bound(constants, T, MANY, once=False),
        [{"T": T, "eta": 3, "start": 1, "last iterate": (-2) ** (T - 1), "n = N": MANY}],
        domain="convex, E = 1, no projection; even with D²/(2η) counted in every round",
    )


def dropping_by_value() -> Evidence:
    r"""Loss 1/2 + zθ on [-1/2, 1/2], z = 1 with chance 3/8, else -1, so θ* = 1/2. Round 1 admits N = 4n
    samples; then clients keep the n largest, which are all 1 but for Hoeffding's chance, and the model stays
    at -1/2."""
    n, T, eta = MANY, 1000, Fraction(1, 100)
    constants = Constants(D=1, sigma=1, eta=eta, B=1, Pdim=1, G=1)

    def excess(_: Any) -> Any:
        # θ¹ = -1/2, θ² <= -1/2 + η, and from θ³ on -1/2 again, where the excess is 1/4
        return ball(Fraction(T - 2, 4)) * (1 - (-ball(Fraction(4 * n, 32))).exp())

    def bound(_: Any) -> Any:
        # of every four samples one is used in each round and three in the first alone
        reuse = [ball(Fraction(uniformity([t, 1, 1, 1]))) for t in range(1, T + 1)]
        sizes = [ball(4 * n), *[ball(n)] * (T - 1)]
        return theorem_1_as_stated(sizes, [ball(4 * n)] * T, reuse, constants.map(ball)).total

    return compare(
        excess,
        "<=",
        bound,
        [{"T": T, "eta": eta, "n": n, "N": 4 * n, "start": Fraction(-1, 2)}],
        domain="convex, projected, E = 1, one distribution; clients drop by sample value",
    )
