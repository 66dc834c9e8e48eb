"""Training runs whose excess risk is known, exactly or enclosed, and the bounds against them.

`powered` asks that a bound hold in every example, and that each of its terms be needed in one of them.
"""

from dataclasses import field

from proofs_check.prelude import *

from proofs_check.groundwork.bound.counterexamples import DriftingClients
from proofs_check.groundwork.bound.training import Loss, Problem, shown, theta
from theory.bound.sharper import memory_1, sharper_1
from theory.bound.stability import overlap_by_uses, stability_1
from theory.bound.theorem1 import Bound

DOMAIN = "exact or enclosed excess risks of the examples named; each obeys the hypotheses, which is proved"
TERMS = ("root", "generalisation", "constant", "initial")


@dataclass(frozen=True)
class Example:
    """A run: `excess` is a ball around its cumulative excess risk, the columns have one entry per round."""

    name: str
    constants: Constants
    excess: Any
    stale: Sequence[Any]
    N: Sequence[Any] = ()
    uniformity: Sequence[Any] = ()
    mismatch: Sequence[Any] = ()
    n: Sequence[Any] = ()
    overlap: Sequence[Any] = ()
    facts: Mapping[str, Evidence] = field(default_factory=dict)

    def bound(self, bound: Callable[..., Bound], columns: Sequence[str]) -> Terms:
        """A bound on the run, from its columns in balls; many rounds are alike."""
        made = cache(lambda x: ball(Fraction(x)))
        given = ([made(x) for x in getattr(self, name)] for name in columns)
        terms: Terms = bound(*given, self.constants.map(ball)).terms
        return terms


def powered(
    examples: Iterable[Example],
    bound: Callable[..., Bound],
    columns: Sequence[str],
    terms: Sequence[str] = TERMS,
) -> Evidence:
    """A violated bound fails; a term that no example needs, or a hypothesis not shown, leaves the check open."""
    table: dict[str, list[dict[str, Any]]] = {}
    doubts: list[Evidence] = []
    pieces = 0
    with precise():
        for example in examples:
            parts, facts, excess = example.bound(bound, columns), example.facts, example.excess
            total = parts.total
            row = {"example": example.name, "excess": excess.str(8), "bound": total.str(8)}
            if excess > total:
                found = fails("enclosure", f"excess above the bound: {row}", domain=DOMAIN, certificate=row)
                return obeying(found, facts)
            if not excess <= total:
                overlap = f"excess and bound overlap in {example.name}"
                doubts.append(undecided("enclosure", overlap, certificate=row))
            if unshown := [name for name, fact in facts.items() if fact.outcome != "holds"]:
                doubts.append(undecided("enclosure", f"not shown of {example.name}: {', '.join(unshown)}"))
            pieces += 1 + len(facts)
            for name in terms:
                term = getattr(parts, name)
                if excess > total - term:
                    share = float(((excess - (total - term)) / term).lower())
                    needs = {"bound without it": (total - term).str(8), "needed share": round(share, 4)}
                    table.setdefault(name, []).append({**row, **needs})
    if doubts:
        return doubts[0]
    if idle := [name for name in terms if name not in table]:
        needless = f"no example needs the term {', '.join(idle)}"
        return undecided("enclosure", needless, domain=DOMAIN, certificate=table)
    shares = ", ".join(f"{name} {max(r['needed share'] for r in table[name]):.0%}" for name in terms)
    power = "the bound holds in all examples, in none without a term that it needs; at least needed"
    return holds("enclosure", f"{power}: {shares}", domain=DOMAIN, certificate=table, pieces=pieces)


# --- examples ----------------------------------------------------------------------------------------------

SAMPLES = 10**14
LINEAR = Fraction(1, 10**6)  # smoothness of losses that are linear: any positive number


def _kept(T: int, size: int) -> dict[str, Any]:
    """All samples come in round 1 and are kept for ever: memory and all samples are one thing."""
    stale = [stale_weight([size], [size]), *[stale_weight([0], [size])] * (T - 1)]
    alike = {"n": [size] * T, "N": [size] * T, "uniformity": [1] * T, "mismatch": [0] * T}
    return alike | {"stale": stale, "overlap": [overlap_by_uses(t, size) for t in range(1, T + 1)]}


@cache
def slope() -> Example:
    """2θ on [0, 3] from 3: descent takes 3/(2ηE) rounds to arrive and uses up D²/(2ηE)."""
    constants = Constants(D=3, sigma=1, eta=Fraction(1, 60), B=6, Pdim=1, E=3, L=LINEAR, G=2)
    problem = Problem(r"$2\theta$", 0, 3, (Loss((2 * theta,)),), (1,), constants)
    h, T = constants.eta * constants.E, 30
    excess = sum(2 * max(3 - 2 * h * t, Fraction(0)) for t in range(T))
    return Example("slope", constants, ball(excess), facts=problem.facts, **_kept(T, SAMPLES))


@cache
def oscillation() -> Example:
    """2|θ|, rounded off near 0, on [-η, η] from η: a step of 2η leads to the other end and back, for ever."""
    eta, edge, T = Fraction(1, 10), Fraction(1, 500), 100
    constants = Constants(D=2 * eta, sigma=1, eta=eta, B=2 * eta, Pdim=1, G=2)
    loss = Loss((-2 * theta - edge, theta**2 / edge, 2 * theta - edge), ends=(-edge, edge))
    problem = Problem(r"$2|\theta|$, rounded off", -eta, eta, (loss,), (1,), constants)
    excess, x = Fraction(0), eta
    for _ in range(T):
        excess += problem.risk(x)  # whose minimum is 0
        x = max(min(x - eta * loss.slope_at(x), eta), -eta)
    return Example("oscillation", constants, ball(excess), facts=problem.facts, **_kept(T, SAMPLES))


@cache
def drifting() -> Example:
    """Clients that all but reach their own minimisers in E local steps."""
    example = DriftingClients(rounds=1000)
    excess = example.cumulative_gap(population=True)
    columns = _kept(example.rounds, example.clients)
    return Example("drifting clients", example.constants, excess, facts=example.problem.facts, **columns)


def _ends(p: Fraction, T: int, constants: Constants, *slopes: Any) -> Fraction:
    """Σ_t E[slope of the risk × distance to -1], from 0 on [-1, 1], if the memory has the first slope with chance p."""
    chances, total = (p, 1 - p), Fraction(0)
    risk_slope = sum(chance * s for chance, s in zip(chances, slopes, strict=True))
    for chance, s in zip(chances, slopes, strict=True):
        x = Fraction(0)
        for _ in range(T):
            total += chance * risk_slope * (x + 1)
            x = min(max(x - constants.eta * constants.E * s, Fraction(-1)), Fraction(1))
    return total


@cache
def frozen() -> Example:
    """2 + 2zθ on [-1, 1], z = 1 with chance 3/4, else -1: one sample, kept for ever, is wrong one time in four."""
    constants = Constants(D=2, sigma=Fraction(7, 4), eta=Fraction(1, 80), B=4, Pdim=1, E=2, L=LINEAR, G=2)
    losses, chance, T = (Loss((2 + 2 * theta,)), Loss((2 - 2 * theta,))), Fraction(3, 4), 400
    problem = Problem(r"$2+2z\theta$", -1, 1, losses, (chance, 1 - chance), constants)
    excess = _ends(chance, T, constants, 2, -2)
    return Example("frozen sample", constants, ball(excess), facts=problem.facts, **_kept(T, 1))


@cache
def two_distributions() -> Example:
    """1 + zθ on [-1, 1]; client 1, a quarter, sees z = 1; client 2 sees it with chance 3/4, keeps one sample."""
    constants = Constants(D=2, sigma=1, eta=Fraction(1, 80), B=2, Pdim=1, E=2, L=LINEAR, G=1)
    shares, chance, T = (Fraction(1, 4), Fraction(3, 4)), Fraction(3, 4), 800
    losses = (Loss((1 + theta,)), Loss((1 - theta,)))
    mixture = shares[0] + shares[1] * chance
    problem = Problem(r"$1+z\theta$", -1, 1, losses, (mixture, 1 - mixture), constants)
    # the memory's slope is decided by client 2's sample
    excess, sizes = _ends(chance, T, constants, shares[0] + shares[1], shares[0] - shares[1]), [SAMPLES, 1]
    stale = [stale_weight(sizes, sizes, shares), *[stale_weight([0, 0], sizes, shares)] * (T - 1)]
    overlap = [t * stale[-1] for t in range(T)]  # every sample's weight is what it was in each earlier round
    return Example("two distributions", constants, ball(excess), stale, overlap=overlap, facts=problem.facts)


@cache
def _walk(name: str, eta: Fraction, blocks: int, kept: int) -> Example:
    """1/2 + zθ on [-1/2, 1/2], z = ±1, one sample that is kept for some rounds: a random walk with drift to -1/2."""
    constants = Constants(D=1, sigma=1, eta=eta, B=1, Pdim=1, E=2, L=LINEAR, G=1)
    p, half = Fraction(3, 5), Fraction(1, 2)
    losses = (Loss((half + theta,)), Loss((half - theta,)))
    problem = Problem(r"$1/2+z\theta$", -half, half, losses, (p, 1 - p), constants)
    places = int(1 / (eta * constants.E))  # steps from end to end
    with precise():
        law, excess = [ball(0)] * places + [ball(1)], ball(0)
        for _ in range(blocks):
            after = [ball(0)] * (places + 1)
            for step, chance in ((-1, ball(p)), (1, ball(1 - p))):
                for i, mass in enumerate(law):
                    way = [min(max(i + step * j, 0), places) for j in range(kept + 1)]
                    excess += mass * chance * sum(way[:-1]) * ball(2 * p - 1) / places
                    after[way[-1]] += mass * chance
            law = after
    uses = [overlap_by_uses(j, 1) for j in range(1, kept + 1)] * blocks
    stale = [stale_weight([1], [1]), *[stale_weight([0], [1])] * (kept - 1)] * blocks
    return Example(name, constants, excess, stale, overlap=uses, facts=problem.facts)


ATOMS, SLOPE = 10, Fraction(1, 10)


def one_of_many(N: int, T: int) -> dict[str, Any]:
    """N samples come in round 1 and one of them is kept: its count in round t is t, that of the others 1."""
    later = range(2, T + 1)
    used = [N - 1 + t for t in later]
    chi = [Fraction((N - 1) ** 2 + N - 1, u * u) for u in used]
    uniformity = [Fraction(u * u, N * (N - 1 + t * t)) for t, u in zip(later, used, strict=True)]
    return {
        "n": [N, *[1] * (T - 1)],
        "N": [N] * T,
        "uniformity": [1, *uniformity],
        "mismatch": [0, *chi],
        "stale": [stale_weight([N], [N]), *[stale_weight([0], [1])] * (T - 1)],
    }


def corner_facts(constants: Constants) -> dict[str, Evidence]:
    """The losses of `corners` are linear on a simplex, so that its corners decide."""
    atoms = range(1, ATOMS + 1)
    gradients = [[-(1 - SLOPE), *(Fraction(-(j == z)) for j in atoms)] for z in atoms]
    mean = [sum(column) / ATOMS for column in zip(*gradients, strict=True)]

    def square(v: Iterable[Any]) -> Any:
        return sum(x * x for x in v)

    variance = sum(square(x - m for x, m in zip(g, mean, strict=True)) for g in gradients) / ATOMS
    facts = {
        r"$\Theta$ has diameter $D$": constants.D**2 >= 2,
        r"$0\le\ell\le B$": all(0 <= 1 + slope <= constants.B for g in gradients for slope in g),
        r"$|\nabla\ell|\le G$": all(square(g) <= constants.G**2 for g in gradients),
        r"variance $\le\sigma^2$": variance <= constants.sigma**2,
        r"$\mathrm{Pdim}$, at most the number of atoms": constants.Pdim >= ATOMS,
    }
    return {name: shown(true, "corners of the simplex", shown=true) for name, true in facts.items()}


@cache
def corners() -> Example:
    r"""Losses \(1-\theta_z-\tfrac9{10}\theta_0\), z uniform on 1..10, on a simplex: e_0 is best, e_z for a sample z.

    Round 1 trains on N samples and stays at e_0, except with the chance that Hoeffding bounds; one sample is kept, and
    each projected step moves θ_z by ηE/20 towards its corner. The mean squared mismatch is the variance times χ.
    """
    D, sigma, G = Fraction(99, 70), Fraction(19, 20), Fraction(27, 20)  # above √2, √(9/10), √1.81
    constants = Constants(D=D, sigma=sigma, eta=Fraction(1, 100), B=1, Pdim=ATOMS, E=2, L=LINEAR, G=G)
    T, h = 7000, constants.eta * constants.E
    worst = 1 - Fraction(1, ATOMS) - SLOPE  # the excess risk in any other corner
    ideal = sum(worst * min(h * SLOPE / 2 * (t - 2), Fraction(1)) for t in range(2, T + 1))
    with precise():
        chance = ATOMS * (-2 * SAMPLES * ball(1 - SLOPE - Fraction(1, ATOMS)) ** 2).exp()
        excess = ball(ideal) * (1 - chance) + chance * T * ball(0).union(ball(1))
    return Example("corners", constants, excess, facts=corner_facts(constants), **one_of_many(SAMPLES, T))


def _of_all_samples() -> list[Example]:
    return [slope(), oscillation(), drifting(), frozen(), corners()]


def theorem_powered() -> Evidence:
    """Theorem 1 corrected. Its linear term is not asked for: the recursion holds without it."""
    return powered(_of_all_samples(), theorem_1, ("n", "N", "uniformity", "mismatch"))


def sharper_powered() -> Evidence:
    return powered(_of_all_samples(), sharper_1, ("N", "uniformity", "mismatch"))


def memory_powered() -> Evidence:
    """The memory's bound: every term that it has, with several local steps and with clients that differ."""
    examples = [
        slope(),
        _walk("random walk", Fraction(1, 50), 1000, 1),
        drifting(),
        frozen(),
        two_distributions(),
        corners(),
    ]
    return powered(examples, memory_1, ("stale",), TERMS[1:])


def stability_powered() -> Evidence:
    examples = [slope(), frozen(), two_distributions(), _walk("held sample", Fraction(1, 100), 100, 10)]
    return powered(examples, stability_1, ("overlap",), TERMS[1:])
