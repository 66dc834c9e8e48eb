"""The tight worst case of one round, by PEPit, next to the printed and the corrected right-hand side."""

from proofs_check.prelude import *

from proofs_check.engines import worst_case
from theory.bound.theorem1 import per_round_constant

Side = Callable[[Constants, Any], Any]  # of the constants and χ


def rise_as_stated(constants: Constants, chi: Any) -> Any:
    r"""\(2\eta D\bar\sigma+\eta^2(2\bar\sigma^2+C_1)+\eta^4C_2\) of `eq:opt-recursion-app`."""
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


def _worst(
    constants: Constants,
    mismatch: Any,
    stated: Side,
    *,
    weight: Any = None,
    clients: int = 1,
    objective: str = "all",
    comparator: str = STAR,
) -> Evidence:
    """The largest |θ⁺-θ*|² - |θ-θ*|² + weight·gap over convex, G-Lipschitz, L-smooth losses, against `stated`.

    The gap is that of all samples, whose gradient at θ misses the memory's by `mismatch`, or of the memory, to θ* or to
    its own minimiser; its weight is 2ηE by default.
    """
    c = constants.map(float)

    def build() -> Any:
        import PEPit.functions as classes
        from PEPit import PEP
        from PEPit.primitive_steps import proximal_step

        problem = PEP()
        domain = problem.declare_function(classes.ConvexIndicatorFunction, D=c.D)
        smooth = classes.SmoothConvexLipschitzFunction
        losses = [problem.declare_function(smooth, L=c.L, M=c.G) for _ in range(clients)]
        memory = sum(losses[1:], losses[0]) / clients
        theta, star = problem.set_initial_point(), problem.set_initial_point()
        domain.oracle(theta)
        domain.oracle(star)
        whole = memory
        if objective == "all" and mismatch > 0:
            whole = problem.declare_function(classes.ConvexLipschitzFunction, M=c.G)
            off = whole.gradient(theta) - memory.gradient(theta)
            problem.add_constraint(off**2 <= float(mismatch) ** 2)
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
        gap = (2 * c.eta * c.E if weight is None else float(weight)) * (
            whole.value(theta) - whole.value(lowest)
        )
        problem.set_performance_metric((after - star) ** 2 - (theta - star) ** 2 + gap)
        return problem

    right = float(stated(constants, Fraction(mismatch / constants.sigma) ** 2))
    domain = f"$E={c.E}$, {SETTING}, mismatch {mismatch}, {clients} client(s), gap to {comparator}"
    of = {"E": c.E, "mismatch": mismatch, "clients": clients, "gap to": comparator, "gap of": objective}
    return worst_case.compare(build, right, domain=domain, parameters=of)


def _each(
    settings: Iterable[tuple[int, Any, int]], stated: Side, domain: str, objective: str = "all"
) -> Evidence:
    """At each E, mismatch and number of clients: the first that does not hold, else a table of all."""
    table = []
    for E, off, clients in settings:
        one = _worst(example(E), Fraction(off), stated, clients=clients, objective=objective)
        if one.outcome != "holds":
            return one
        table.append(dict(one.certificate))
    pairs = ", ".join(f"{row['worst case']:.4g} ≤ {row['stated']:.4g}" for row in table)
    detail = f"worst case ≤ right-hand side in all {len(table)} settings: {pairs}"
    return holds("worst case", detail, domain=f"{domain}, {SETTING}", certificate={"settings": table})


def worst_case_own_minimum() -> Evidence:
    """The printed recursion at E = 1."""
    return _worst(example(1), Fraction(0), rise_as_stated, comparator=OWN)


def worst_case_local_steps() -> Evidence:
    """The recursion with weight 2η and the gap to θ*, E = 3."""
    return _worst(example(3), HALF, rise_as_stated, weight=2 * example(3).eta)


def worst_case_memory() -> Evidence:
    """The memory's own objective: (ηE)²G² is tight."""
    domain = rf"weight $2\eta E$, gap of the memory's objective to {STAR}, $E=1,2,3$"
    tight = [(1, 0, 2), (2, 0, 2), (3, 0, 1)]
    return _each(tight, lambda c, chi: (c.eta * c.E * c.G) ** 2, domain, objective="memory")
