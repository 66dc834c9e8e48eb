r"""The range in which theory's log⁺ is the printed log: from N = Pdim on.

Inside the region \(N(t)\ge\Lambda_{\min}(1)\), so an example with \(\mathrm{Pdim}\le\bar\Lambda(1-\rho)\) is as
printed.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.region_ends import plain
from theory.control.penalty import least_rate_as_printed

LARGE = [rho < 1, rate >= least_rate_as_printed(rho, CONSTANTS)]  # with symbols
LARGE_RATE = r"$\bar\Lambda\ge\mathrm{Pdim}/(1-\rho)$, so that $\log^+$ is the printed $\log$"
LOG_PLUS = r"$p$ with $\log^+$ (or as printed and $\mathrm{Pdim}\le\bar\Lambda(1-\rho)$)"
FACT = r"$N\ge\mathrm{Pdim}$, where $\log^+$ is the printed $\log$"


@cache
def same_logarithm() -> Evidence:
    """At N = Pdim(1 + more) theory's third term and the printed one are the same; N, once there, only grows."""
    first, later = sp.symbols("first later", nonnegative=True)
    large = CONSTANTS.Pdim * (1 + sp.Symbol("more", nonnegative=True))
    ours = generalisation_term(inverse_neff, large, CONSTANTS)
    printed = generalisation_term_as_printed(inverse_neff, large, CONSTANTS)
    return argument(
        (ours, printed, r"the third term with $\log^+$ and the printed one"),
        (first + later >= CONSTANTS.Pdim, [first >= CONSTANTS.Pdim], "every later round"),
        domain=r"every $N\ge\mathrm{Pdim}$, $N_{\mathrm{eff}}$, $B$",
    )


def as_printed(
    region: Region, constants: Constants = CONSTANTS, given: Sequence[Any] = ()
) -> dict[str, Evidence]:
    """That an example with this region and these constants never has N < Pdim, given what it says of its symbols."""
    rate, rho = (sp.latex(sp.sympify(x)) for x in (region.rate, region.rho))
    N, least = sp.Symbol("N_1", nonnegative=True), plain(region_minimum(region, 1))
    where = rf"$N(1)\ge\mathrm{{Pdim}}$ inside the region $\bar\Lambda={rate}$, $\rho={rho}$"
    return {FACT: argument(same_logarithm(), (constants.Pdim <= N, [least <= N, *given], where))}
