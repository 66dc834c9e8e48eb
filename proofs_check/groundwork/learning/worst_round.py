r"""The tight worst case of one round, by PEPit, next to the printed and the corrected right-hand side.

A round: clients take E gradient steps of size η from θ on convex losses, G-Lipschitz and L-smooth; the
server averages them and projects onto Θ, convex, of diameter D. What is maximised is how far the squared
distance to θ* grows, plus the gap that the recursion subtracts.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from proofs_check.claim import Context
from proofs_check.engines.worst_case import compare
from proofs_check.evidence import Evidence, holds
from theory.bound import linear_term, per_round_constant, per_round_constant_as_stated, root_term
from theory.setting import Constants


def rise_as_stated(constants: Constants, chi: Any) -> Any:
    r"""\(2\eta D\bar\sigma+\eta^2(2\bar\sigma^2+C_1)+\eta^4C_2\) of `eq:opt-recursion-app`, with
    \(\bar\sigma^2=\sigma^2\chi\)."""
    c = constants
    return 2 * c.eta * (root_term(chi, c) + linear_term(chi, c) + per_round_constant_as_stated(c))


def rise(constants: Constants, chi: Any) -> Any:
    """The same, corrected: a round is one step of size ηE, plus the local drift."""
    c = constants.merged
    return 2 * c.eta * (root_term(chi, c) + linear_term(chi, c) + per_round_constant(constants))


SETTING = r"$\eta=1/4$, $D=2$, $L=3/2$, $G=3/4$, projected"
STAR, OWN = r"$\theta^\star$", "own minimum"
HALF = Fraction(1, 2)


def example(E: int) -> Constants:
    """No two constants alike, so that none can stand for another unseen."""
    return Constants(D=2, sigma=3, eta=Fraction(1, 4), B=2, Pdim=1, E=E, L=Fraction(3, 2), G=Fraction(3, 4))


def _chi(mismatch: Any) -> Any:
    """χ such that σ²χ is the squared mismatch."""
    return (mismatch / example(1).sigma) ** 2


def _worst(
    constants: Constants,
    mismatch: Any,
    stated: Any,
    gap_weight: Any,
    *,
    clients: int = 1,
    objective: str = "all",
    comparator: str = STAR,
) -> Evidence:
    """The largest |θ⁺-θ*|² - |θ-θ*|² + gap_weight·gap over convex, G-Lipschitz, L-smooth losses, against `stated`.

    `objective` says whose gap: that of all samples (whose gradient at θ misses that of the memory by at most
    `mismatch`) or of the memory. `comparator` is θ* or the objective's own minimiser, a point of Θ as well.
    """
    c = constants.map(float)

    def build() -> Any:
        import PEPit.functions as of
        from PEPit import PEP
        from PEPit.primitive_steps import proximal_step

        problem = PEP()
        domain = problem.declare_function(of.ConvexIndicatorFunction, D=c.D)
        losses = [
            problem.declare_function(of.SmoothConvexLipschitzFunction, L=c.L, M=c.G) for _ in range(clients)
        ]
        memory = sum(losses[1:], losses[0]) / clients
        theta, star = problem.set_initial_point(), problem.set_initial_point()
        domain.oracle(theta)
        domain.oracle(star)
        whole = memory
        if objective == "all" and mismatch > 0:
            whole = problem.declare_function(of.ConvexLipschitzFunction, M=c.G)
            problem.add_constraint(
                (whole.gradient(theta) - memory.gradient(theta)) ** 2 <= float(mismatch) ** 2
            )
        lowest = whole.stationary_point() if comparator == OWN else star
        if comparator == OWN:
            domain.oracle(lowest)
        end = 0 * theta
        for loss in losses:
            local = theta
            for _ in range(c.E):
                local = local - c.eta * loss.gradient(local)
            end = end + local / clients
        after, _, _ = proximal_step(end, domain, 1)
        gap = whole.value(theta) - whole.value(lowest)
        problem.set_performance_metric((after - star) ** 2 - (theta - star) ** 2 + float(gap_weight) * gap)
        return problem

    return compare(
        build,
        float(stated),
        domain=f"$E={c.E}$, {SETTING}, mismatch {mismatch}, {clients} client(s), gap to {comparator}",
        parameters={
            "E": c.E,
            "mismatch": mismatch,
            "clients": clients,
            "gap to": comparator,
            "gap of": objective,
        },
    )


def _all_of(found: Iterable[Evidence], domain: str) -> Evidence:
    """One finding from several worst cases: the first that does not hold, else a table of all."""
    table = []
    for one in found:
        if one.outcome != "holds":
            return one
        table.append(dict(one.certificate))
    pairs = ", ".join(f"{row['worst case']:.4g} ≤ {row['stated']:.4g}" for row in table)
    detail = f"worst case ≤ right-hand side in all {len(table)} settings: {pairs}"
    return holds("worst case", detail, domain=f"{domain}, {SETTING}", certificate={"settings": table})


def worst_case_own_minimum() -> Evidence:
    """PEPit on the printed recursion at E = 1."""
    c = example(1)
    return _worst(c, 0, rise_as_stated(c, 0), 2 * c.eta, comparator=OWN)


def worst_case_local_steps() -> Evidence:
    """PEPit on the recursion with weight 2η and the gap to θ*, E = 3."""
    c = example(3)
    return _worst(c, HALF, rise_as_stated(c, _chi(HALF)), 2 * c.eta)


def worst_case_corrected(context: Context) -> Evidence:
    """PEPit on the corrected recursion."""
    few = [(1, 0, 2), (1, HALF, 2), (2, 0, 2), (2, HALF, 2), (3, HALF, 2)]  # E, mismatch, clients
    more = [(3, Fraction(1, 4), 2), (3, 1, 2), (3, HALF, 3), (5, 1, 1)]
    found = (
        _worst(c, off, rise(c, _chi(Fraction(off))), 2 * c.eta * c.E, clients=clients)
        for c, off, clients in (
            (example(E), off, clients) for E, off, clients in few + context.choose([], more)
        )
    )
    return _all_of(found, rf"weight $2\eta E$, gap to {STAR}, $E$ and mismatch as listed")


def worst_case_one_step() -> Evidence:
    """PEPit on the printed right-hand side at E = 1, gap to θ*."""
    c = example(1)
    found = (
        _worst(c, off, rise_as_stated(c, _chi(off)), 2 * c.eta, clients=2)
        for off in (Fraction(0), HALF, Fraction(1))
    )
    return _all_of(found, f"$E=1$, gap to {STAR}, mismatch 0, $1/2$ and 1")


def worst_case_memory() -> Evidence:
    """PEPit on the memory's own objective: (ηE)²G² is tight."""
    found = (
        _worst(c, 0, (c.eta * c.E * c.G) ** 2, 2 * c.eta * c.E, clients=clients, objective="memory")
        for c, clients in ((example(1), 2), (example(2), 2), (example(3), 1))
    )
    return _all_of(found, rf"weight $2\eta E$, gap of the memory's objective to {STAR}, $E=1,2,3$")
