"""The leading terms of the bound under constant admission, for every K and all constants: what decides a design."""

from proofs_check.prelude import *

t = sp.Symbol("t", positive=True)
LONG_RUN = r"constant admission, any $K$ and rate; $T\to\infty$"


def share(occupancy: Any) -> Any:
    """The cost of a round in the long run when n samples are in memory: Dσ/√n + ηEσ²/n, by theory's terms."""
    return root_term(1 / occupancy, CONSTANTS.merged) + linear_term(1 / occupancy, CONSTANTS.merged)


def third_terms(pace: Any) -> Any:
    """The sum of the third terms of T rounds at a rate, over √(T log T)."""
    return 20 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim / pace)


def average_share() -> Evidence:
    """At any K and rate a round's share tends to that of KΛ̄ samples, and the third term's to 0."""
    terms = constant_round(K, t, rate, CONSTANTS)
    return together(
        equivalent(terms.root + terms.linear, t, t, share(K * rate), domain=LONG_RUN),
        equivalent(terms.generalisation, t, t, 0, domain=LONG_RUN),
    )


def third_term_grows() -> Evidence:
    third = constant_round(K, t, rate, CONSTANTS).generalisation
    return equivalent(third, t, sp.sqrt(t * sp.log(t)), third_terms(rate), domain=LONG_RUN)
