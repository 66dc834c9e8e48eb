r"""One round of drift plus penalty, on every path, and the sum of its drift constants, with theory's own functions."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.printed_log import as_printed
from proofs_check.groundwork.control.region_ends import plain, power
from proofs_check.groundwork.control.repaired_penalty import third_term_falls

Z, c, Lambda, most = sp.symbols("Z c Lambda_t most", nonnegative=True)
square = sp.Symbol("second_moment", positive=True)  # E[c²]
PAST = (
    r"$\mathbb E[c(t)\mid\text{past}]\,\bar\Lambda\le C$",
    r"$\mathbb E[c(t)^2\mid\text{past}]\le\mathbb E[c^2]$",
)  # what the T-slot lemma needs of the costs
REGIONS = r"every $\rho$, $t$, $\bar\Lambda$, $\mathbb E[c^2]$, $C$"


def debts_after(admitted: Sequence[Any], costs: Sequence[Any], C: Any) -> list[Any]:
    """The debts before round 1 and after each round."""
    debts = [Fraction(0)]
    for cost, amount in zip(costs, admitted, strict=True):
        debts.append(debt_update(debts[-1], cost, amount, C))
    return debts


def debt_behaves() -> Evidence:
    """Z(t+1) >= 0, and it grows in the admission: so the least admissions leave the least debt."""
    # a symbol of its own for the debt: what SymPy knows about a positive part must not decide the relation
    less, debt = sp.Symbol("less", nonnegative=True), sp.Symbol("debt", real=True)
    return always(
        [debt >= 0, debt >= debt_update(Z, c, less, C)],
        given=[sp.Eq(debt, debt_update(Z, c, Lambda, C)), less <= Lambda],
        domain=r"every $Z$, $c\ge0$, $C>0$ and admissions less $\le\Lambda$",
    )


def drift_constant_is() -> Evidence:
    """theory's B_t is (E[c²]Λ_max(t)²+C²)/2, which bounds the above because Λ <= Λ_max(t)."""
    written = (square * region_maximum(REGION, t) ** 2 + C**2) / 2
    inside = "every admission inside the region"
    return argument(
        (drift_constant(REGION, t, square, C), written, r"$B_t$, $(\mathbb E[c^2]\Lambda_{\max}^2+C^2)/2$"),
        ((c**2 * Lambda**2 + C**2) / 2 <= (c**2 * most**2 + C**2) / 2, [Lambda <= most], inside),
        domain=REGIONS,
    )


rate_is_a_choice = theorem("Control.constant_is_inside", domain="every round")


def upper_end_is_an_action() -> Evidence:
    """Λ_min(1) <= Λ_max(1): an inequality for every action inside the region must allow for the upper end."""
    low, high = (plain(end(REGION, 1)) for end in (region_minimum, region_maximum))
    domain = r"$\Lambda_{\max}(1)$, every $0<\rho<1$, $\bar\Lambda$"
    return always(sp.Le(low, high, evaluate=False), given=[rho < 1], domain=domain)


# --- round 1 -----------------------------------------------------------------------------------------------


def without_debt() -> Evidence:
    """Z = 0 and nothing seen: J is V times the third term, which falls in Λ with log⁺. So Λ(1) = Λ_max(1)."""
    objective = drift_plus_penalty(Lambda, Z=0, cost=c, C=C, V=V, retained=0, seen=0, constants=CONSTANTS)
    third = generalisation_term(1 / Lambda, Lambda, CONSTANTS)
    first = plain(region_maximum(REGION, 1))
    return argument(
        (objective, V * third, r"$J_1$ and $V$ times the third term at $N=\Lambda$"),
        third_term_falls(),
        (first, rate / (1 - rho), r"$\Lambda_{\max}(1)$ and $\bar\Lambda/(1-\rho)$"),
        domain=r"every $V$, $c$, $C$, constants, $\rho$, $\bar\Lambda$, with $\log^+$",
    )


def in_round_1(
    region: Region, constants: Constants = CONSTANTS, given: Sequence[Any] = ()
) -> dict[str, Evidence]:
    """The grounds of a counterexample about the first round of ACDPP, as printed."""
    return {r"round 1 admits $\Lambda_{\max}(1)$": without_debt(), **as_printed(region, constants, given)}


# --- the sum of the drift constants ------------------------------------------------------------------------

g, r, x = sp.symbols("g r x", positive=True)  # (1-ρ^t)/(1-ρ), ρ^((t-1)/2), ρ^t = ρr²
UPPER, LOWER = rho * (2 - x) / t**2, x * (2 - x) / t**2  # around q = x(2-x)/g²


def drift_excess() -> Evidence:
    """B_t exceeds (E[c²]Λ̄²+C²)/2 by E[c²]Λ̄²/(2(1-ρ)²) times q, with g(1-ρ) = 1-x."""
    return equal(
        plain(drift_constant(REGION, t, square, C) - (square * rate**2 + C**2) / 2),
        square * rate**2 / (2 * (1 - rho) ** 2) * power * (2 - power) / ((1 - power) / (1 - rho)) ** 2,
        domain=REGIONS,
        what=r"$B_t$'s excess and $\mathbb E[c^2]\bar\Lambda^2/(2(1-\rho)^2)\cdot x(2-x)/g^2$",
    )


def drift_summand() -> Evidence:
    """q lies between x(2-x)/t² and ρ(2-x)/t², and both are at most 2/t²."""
    quotient = x * (2 - x) / g**2
    premises, domain = [rho < 1, r <= 1, sp.Eq(x, rho * r**2)], r"every $0<\rho<1$ and $t\ge1$"
    return argument(
        (quotient <= UPPER, [g >= t * r, *premises], domain),
        (quotient >= LOWER, [g <= t, *premises], domain),
        (2 / t**2 >= UPPER, premises, domain),
    )
