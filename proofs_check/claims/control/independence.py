"""Uses of the independence of the costs: `eq:independence-factorization`, `eq:comparison-feasible`."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import in_round_1
from proofs_check.groundwork.control.orders import ONES

SMALL, BUDGET = Region(rate=3, rho=Fraction(1, 2)), Fraction(3)  # affordable at mean cost 1
STATES = (0, 2)  # of the Markov costs
A, m, N = sp.symbols("A m N", positive=True)
UNIT = fractions(0, 1, max_denominator=16)


def _debts() -> dict[int, Any]:
    """Z(2) after either first cost: round 1, without debt, admits Λ_max(1) = 6."""
    return {cost: debt_update(Fraction(0), cost, region_maximum(SMALL, 1), BUDGET) for cost in STATES}


def markov_factorises() -> Evidence:
    """A chain that stays put with probability 3/4: dear rounds follow debts."""
    debts, stays = _debts(), [Fraction(2, 4), Fraction(3, 4)]

    def chances(stay: Fraction) -> dict[tuple[int, int], Fraction]:
        """Costs in two rounds, each kept with probability `stay`, started from the stationary half and half."""
        return {(a, b): (stay if a == b else 1 - stay) / 2 for a, b in product(STATES, repeat=2)}

    def factors(stay: Fraction) -> Found:
        joint = sum(p * debts[a] * (b * SMALL.rate - BUDGET) for (a, b), p in chances(stay).items())
        debt = sum(p * debts[a] for (a, _), p in chances(stay).items())
        excess = sum(p * (b * SMALL.rate - BUDGET) for (_, b), p in chances(stay).items())
        return differing(**{"E[Z(2)(c(2)Λ̄-C)]": joint, "E[Z(2)]·E[c(2)Λ̄-C]": debt * excess})

    def unfair(stay: Fraction) -> Found:
        rows = chances(stay).items()
        first, second = ({x: sum(p for s, p in rows if s[i] == x) for x in STATES} for i in (0, 1))
        mean = sum(x * p for x, p in second.items())
        fine = sum(first.values()) == 1 and first == second and mean * SMALL.rate <= BUDGET
        return unless(fine, first=first, second=second, mean=mean)

    domain = r"Markov costs on $\{0,2\}$, $\bar\Lambda=C=3$, $\rho=1/2$, $\mathrm{Pdim}=1$"
    found, fair = (exhaust(grid(stay=stays), find, domain=domain) for find in (factors, unfair))
    return obeying(found, {"probabilities, stationary, of affordable mean": fair, **in_round_1(SMALL, ONES)})


def independent_factorises() -> Evidence:
    """Bilinear in the two distributions, so two values each decide it; the debts z are any numbers."""
    p, z1, z2, a, b, q = sp.symbols("p z1 z2 a b q", real=True)
    first, second = ((p, z1), (1 - p, z2)), ((q, a), (1 - q, b))
    joint = sum(x * y * z * (cost * rate - C) for x, z in first for y, cost in second)
    product_form = sum(x * z for x, z in first) * sum(y * (cost * rate - C) for y, cost in second)
    return equal(joint, product_form, domain="$c(t)$ independent of $Z(t)$, any two laws")


@drawn(r"Markov costs on $\{0,2\}$, affordable given the past", (60, 400), stay=UNIT, shift=UNIT)
def conditional_means_exact(stay: Fraction, shift: Fraction) -> Found:
    """The same chain with its later costs lowered by a factor; where each past leaves an affordable mean."""
    debts = _debts()
    rows = [(debts[a], shift * 2 * (stay if a == 2 else 1 - stay)) for a in STATES]
    value = sum((debt * (mean * SMALL.rate - BUDGET) / 2 for debt, mean in rows), Fraction(0))
    dear = any(mean * SMALL.rate > BUDGET for _, mean in rows)
    return unless(dear or value <= 0, **{"E[Z(2)(c(2)Λ̄-C)]": value})


def average_is_not_each() -> Evidence:
    """Deterministic costs: cheap rounds first, then dear ones; the average is affordable at every horizon."""
    rate, budget, domain = 3, 6, r"drifting costs 0 then 4, $\bar\Lambda=3$, $C=6$"
    costs = {rounds: [0] * (rounds // 2) + [4] * (rounds // 2) for rounds in (2, 4)}

    def exceeds(rounds: int) -> Found:
        worst = max(cost * rate - budget for cost in costs[rounds])
        return unless(worst <= 0, costs=costs[rounds], largest=worst)

    def dear(rounds: int, upto: int) -> Found:
        average = Fraction(sum(costs[rounds][:upto]), upto)
        return unless(average * rate <= budget, average=average)

    prefixes = [{"rounds": rounds, "upto": t} for rounds in costs for t in range(1, rounds + 1)]
    paid = exhaust(prefixes, dear, domain=domain)
    found = exhaust(grid(rounds=costs), exceeds, domain=domain)
    return obeying(found, {"an affordable average up to every round": paid})


def constant_mean_is_each() -> Evidence:
    """The average of a constant is that constant."""
    mean, T = sp.symbols("mean T", positive=True)
    domain = r"$\mathbb E[c(t)]$ the same in every round"
    return always(mean * rate - C <= 0, given=[T * mean * rate <= T * C], domain=domain)


CLAIMS = [
    Claim(
        id="eq:independence-factorization",
        kind="step",
        title=r"$\mathbb E[Z(c\bar\Lambda-C)]$ factorises",
        statement="The mean of debt times excess cost is the product of the two means, where the price is independent "
        "of the debt, as the proof says that it is.",
        formula=r"E[Z(t)(c(t)\bar\Lambda-C)]=E[Z(t)]\,E[c(t)\bar\Lambda-C]",
        domain=r"prices $c(t)\ge0$ that are independent of $Z(t)$; for others eq:independence-factorization/any",
        checks=(independent_factorises,),
    ),
    Claim(
        id="eq:independence-factorization/any",
        kind="reading",
        title="the same, for any prices within the paper's model",
        statement="The model assumes of prices that they are not negative, are revealed when the round begins, and "
        "have an affordable average. That makes them independent of the debt, so that the mean of debt times excess "
        "cost is the product of the two means.",
        formula=r"E[Z(t)(c(t)\bar\Lambda-C)]=E[Z(t)]\,E[c(t)\bar\Lambda-C]",
        domain=r"any cost process $c(t)\ge0$ revealed round by round",
        checks=(markov_factorises,),
        hypotheses=(r"$c(t)$ is independent of $c(1),\ldots,c(t-1)$",),
        checks_with_hypotheses=(independent_factorises,),
        corrected=Correction(
            title=r"$\mathbb E[Z(c\bar\Lambda-C)]\le0$ if $\mathbb E[c(t)\mid\text{past}]\,\bar\Lambda\le C$ in every "
            "round",
            statement="What the drift argument needs holds when the mean cost given the past is affordable in every "
            "round; independence is not needed, but for Markov costs the stationary mean is not enough.",
            formula=r"E[c(t)\mid\text{past}]\bar\Lambda\le C\Rightarrow E[Z(t)(c(t)\bar\Lambda-C)]\le0",
            symbols={"past": "all that happened before round $t$, which determines $Z(t)$"},
            sketch="$Z(t)$ is a function of the past and not negative. Condition on the past (the tower property): "
            r"$\mathbb E[Z(c\bar\Lambda-C)]=\mathbb E[Z(\mathbb E[c\mid\text{past}]\bar\Lambda-C)]$, a mean of "
            "products of a non-negative and a non-positive number.",
            checks=(
                theorem("Control.affordable_given_the_past", domain="any costs and debts of the past"),
                confirming(conditional_means_exact),
            ),
        ),
    ),
    Claim(
        id="eq:comparison-feasible",
        kind="step",
        title=r"$\mathbb E[c(t)\bar\Lambda-C]\le0$ in every round",
        statement="Because constant admission meets the average cost constraint, its mean cost is within the budget "
        "in every round.",
        formula=r"\tfrac1T\sum_tE[c(t)]\bar\Lambda\le C\Rightarrow E[c(t)\bar\Lambda-C]\le0\ \forall t",
        domain="any mean costs with an affordable average",
        repair="Assume it of every round, or a mean price that does not drift.",
        checks=(average_is_not_each,),
        hypotheses=(r"$\mathbb E[c(t)]$ is the same in every round",),
        checks_with_hypotheses=(constant_mean_is_each,),
        corrected=Correction(
            title="it must be assumed of every round; the average bounds the sum alone",
            statement=r"An affordable average bounds $\sum(\mathbb E[c(t)]\bar\Lambda-C)$ and no single round. That "
            "each round is affordable is a hypothesis of its own, implied by a mean cost that does not drift.",
            formula=r"\sum_t(E[c(t)]\bar\Lambda-C)\le0",
            hypotheses=(r"$\bar\Lambda\sum\mathbb E[c(t)]/T\le C$",),
            sketch=r"Multiply the average constraint by $T$. Costs 0 in the first half and $2C/\bar\Lambda$ in the "
            "second show that no more follows; there the queue ends at order $T$ (see eq:cost-proof-3).",
            checks={
                # induction over rounds: A is the average so far, m the next mean
                "the sum": lambda: argument(
                    (
                        N * (A * rate - C) + m * rate - C,
                        (N + 1) * ((N * A + m) / (N + 1) * rate - C),
                        "the sum of the excesses and the number of rounds times the average's",
                    ),
                    (N * (A * rate - C) <= 0, [A * rate <= C], "rounds with an affordable average"),
                    domain="one round more",
                ),
                "a constant mean": constant_mean_is_each,
            },
        ),
    ),
]
