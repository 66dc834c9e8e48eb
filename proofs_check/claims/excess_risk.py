r"""The corrected bounds as a whole, on small problems whose excess risk is known: enumerated or simulated.

Evidence for `thm:regret-neff` corrected, and for a second bound, our own, that goes through the memory's
objective and so needs neither the mismatch nor the hypothesis about it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_check.claim import Context
from proofs_check.claims.generalisation import CONSTANT
from proofs_check.claims.training import LINEAR, LOGISTIC, Problem, Training, enumerate_quadratic, train
from proofs_check.engines.enclosure import compare
from proofs_check.engines.simulation import compare_mean
from proofs_check.evidence import Evidence
from theory.algebra import ball
from theory.bound import theorem_1
from theory.reuse import trajectory
from theory.setting import Constants

__all__ = [
    "enumerated_quadratic",
    "memory_bound",
    "memory_enumerated",
    "memory_simulated",
    "simulated_linear",
    "simulated_logistic",
]


def _trained(
    context: Context, problem: Problem, rates: tuple[int, ...], K: int, eta: float, E: int
) -> Training:
    runs = context.choose(4000, 40000) if problem is LINEAR else context.choose(400, 4000)
    return train(problem, rates=rates, K=K, T=100, eta=eta, E=E, runs=runs, rng=context.generator())


def _corrected_total(problem: Problem, rates: tuple[int, ...], K: int, eta: float, E: int) -> float:
    path = trajectory(np.full(100, float(sum(rates))), K)
    return float(theorem_1(path.n, path.N, path.uniformity, path.mismatch, problem.constants(eta, E)).total)


def _simulated(
    context: Context, problem: Problem, rates: tuple[int, ...], K: int, eta: float, E: int
) -> Evidence:
    runs = _trained(context, problem, rates, K, eta, E)
    return compare_mean(
        runs.excess,
        _corrected_total(problem, rates, K, eta, E),
        low=0,
        high=runs.most,
        domain=f"{problem.name}; K={K}, E={E}, η={eta}, clients admit {rates}, T=100",
        what="cumulative excess risk",
        mismatch_over_sigma2_chi=float(runs.mismatch_ratio.max()),
    )


def simulated_linear(context: Context) -> Evidence:
    """Linear losses: the mismatch does not depend on θ, and the bound is nearly attained."""
    return _simulated(context, LINEAR, (400_000, 600_000), 5, 0.005, 4)


def simulated_logistic(context: Context) -> Evidence:
    """Logistic losses, where the mismatch at the iterate is a hypothesis; its measured ratio is in the
    certificate."""
    return _simulated(context, LOGISTIC, (20, 30), 5, 0.05, 3)


QUADRATIC = Constants(D=1, sigma=Fraction(1, 2), eta=Fraction(1, 4), B=Fraction(1, 2), Pdim=1, L=1, G=1)


def _quadratic_grid(context: Context) -> list[dict[str, Any]]:
    rounds = context.choose((1, 4, 7), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
    return [{"K": K, "E": E, "T": T} for K in (1, 2, 3) for E in (1, 3) for T in rounds]


def enumerated_quadratic(context: Context) -> Evidence:
    """All streams of a small quadratic problem, where the mismatch does not depend on θ."""

    def bound(p: Any) -> Any:
        path = trajectory([1] * p["T"], p["K"])
        columns = (path.n, path.N, path.uniformity, path.mismatch)
        n, N, V, chi = ([ball(Fraction(x)) for x in column] for column in columns)
        constants = replace(QUADRATIC, E=p["E"]).map(ball)
        return theorem_1(n, N, V, chi, constants).total

    return compare(
        lambda p: ball(enumerate_quadratic(p["K"], p["E"], QUADRATIC.eta, p["T"])),
        "<=",
        bound,
        _quadratic_grid(context),
        domain="(θ-z)²/2 on [0, 1], z = 0 or 1, one new sample a round, η = 1/4",
    )


# --- the bound by the memory's own objective ---------------------------------------------------------------


def memory_bound(admitted: Any, n: Any, constants: Constants) -> Any:
    r"""\(rac{D^2}{2\eta E}+rac T2\eta EG^2+5.2\,B\sum_t\sqrt{\mathrm{Pdim}\,(n-\Lambda)}/n\), on balls.

    The samples admitted in a round are fresh: the model does not know them, and they cause no deviation.
    """
    c = constants.map(ball).merged
    total = c.D**2 / (2 * c.eta) + len(n) * c.eta * c.G**2 / 2
    for fresh, size in zip(admitted, n, strict=True):
        total += ball(CONSTANT) * c.B * (c.Pdim * ball(Fraction(size - fresh))).sqrt() / ball(Fraction(size))
    return total


def memory_enumerated(context: Context) -> Evidence:
    """All streams of the quadratic problem against the bound by the memory."""

    def bound(p: Any) -> Any:
        constants = replace(QUADRATIC, E=p["E"])
        return memory_bound([1] * p["T"], trajectory([1] * p["T"], p["K"]).n, constants)

    return compare(
        lambda p: ball(enumerate_quadratic(p["K"], p["E"], QUADRATIC.eta, p["T"])),
        "<=",
        bound,
        _quadratic_grid(context),
        domain="(θ-z)²/2 on [0, 1], z = 0 or 1, one new sample a round, η = 1/4",
    )


def memory_simulated(context: Context) -> Evidence:
    """Fresh samples only: no statistical term at all is left, and the linear problem nearly attains the
    bound."""
    rate, eta = 1000, 0.02
    runs = _trained(context, LINEAR, (rate,), 1, eta, 1)
    bound = memory_bound([rate] * 100, [rate] * 100, LINEAR.constants(eta, 1))
    return compare_mean(
        runs.excess,
        float(bound.mid()),
        low=0,
        high=runs.most,
        what="cumulative excess risk",
        domain=f"{LINEAR.name}; K=1, E=1, η={eta}, 1000 fresh samples a round, T=100",
    )
