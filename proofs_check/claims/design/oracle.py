"""Does the costless oracle, always fresh, minimise the bound (`eq:kstep-opt-problem/oracle`)?"""

from proofs_check.prelude import *

from proofs_check.groundwork.design.leading_terms import share
from proofs_check.groundwork.regret.envelope import three

# Losses zθ²⁰⁰ on Θ = [0, 1], z = 0 or 1 with equal chances. Pdim 1: each loss is monotone in θ.
POWER = 200
STEEP = Constants(D=1, sigma=POWER // 2, eta=Fraction(1, 1000), B=1, Pdim=1, L=POWER * (POWER - 1), G=POWER)
SIZE = 100


def steep_facts() -> dict[str, Evidence]:
    """The losses have the constants they are used with: with p = θ¹⁹⁸, the loss is zpθ², its slope 200zpθ, …"""
    theta, p, z = sp.symbols("theta p z", nonnegative=True)
    statements = {
        r"$0\le$ loss $\le B$": z * p * theta**2 <= STEEP.B,
        r"slope $\le G$": z * POWER * p * theta <= STEEP.G,
        r"curvature $\le L$": z * POWER * (POWER - 1) * p <= STEEP.L,
        # z is 0 or 1, half and half
        r"deviation $\le\sigma$": (POWER * p * theta) ** 2 / 4 <= STEEP.sigma**2,
    }
    domain = r"$\theta$, $p=\theta^{198}$, $z$ in $[0,1]$"
    return {
        name: always(true, given=[v <= 1 for v in (theta, p, z) if v in true.free_symbols], domain=domain)
        for name, true in statements.items()
    }


def frozen_beats(oracle: Any, constants: Constants, horizons: tuple[int, ...], form: str) -> Evidence:
    """A buffer filled once and kept, n = N = N_eff and χ = 0, against the oracle; without the per-round constant."""
    kept = theorem_1([ball(SIZE)], [ball(SIZE)], [ball(1)], [ball(0)], constants.map(ball)).terms

    def fresh(p: Any) -> Any:
        terms = oracle(SIZE, p["T"], constants, certified=True).terms
        return three(terms) + terms.initial

    better = compare(
        lambda p: p["T"] * three(kept) + kept.initial,
        "<",
        fresh,
        [{"T": T, "n": SIZE} for T in horizons],
        domain=rf"{form} bound; losses $z\theta^{{200}}$ on $[0,1]$, $z=0$ or 1: $D=1$, $\sigma=100$, $B=1$, "
        rf"$\mathrm{{Pdim}}=1$, $\eta=1/1000$, $E={constants.E}$; $\sum B=100$",
    )
    last = better.certificate.get("last", {})
    sides = f"{last.get('left')} against {last.get('right')} at $T={last.get('T')}$"
    found = refutes(better, f"{form} bound: a buffer filled once and kept beats the fresh oracle: {sides}")
    return obeying(found, steep_facts())


def frozen_share(size: Any) -> Any:
    """The payments of the frozen buffer beyond the oracle's, per round, in the long run."""
    return generalisation_term(1 / size, size, CONSTANTS) - share(size)


def against_frozen() -> Evidence:
    """A round's share of the difference, for n = Pdim(1+more) and for n = Pdim/(1+more) samples."""
    t, more = sp.symbols("t more", positive=True)
    domain, found = r"$n$ above $\mathrm{Pdim}$, and $n$ below it; $T\to\infty$", []
    for size in (CONSTANTS.Pdim * (1 + more), CONSTANTS.Pdim / (1 + more)):
        frozen = theorem_1([size], [size], [1], [0], CONSTANTS).terms
        oracle = constant_round(1, t, size, CONSTANTS)
        gap = three(frozen) - three(oracle)
        found.append(equivalent(gap, t, t, frozen_share(size), domain=domain))
    return together(*found)


CLAIMS = [
    Claim(
        id="eq:kstep-opt-problem/oracle",
        kind="step",
        title="the fresh oracle minimises the bound",
        statement="Without a cost constraint, the bound is least when samples are always fresh and never reused.",
        formula=r"\bar{\mathcal E}_T^{oracle}=\min_\pi\bar{\mathcal E}_T(\pi)",
        domain="any policy within the buffers, no cost constraint",
        repair="Say it of $K$-step retention at the same occupancy, for large $T$.",
        checks=(
            lambda: frozen_beats(oracle_bound_as_stated, STEEP, (10, 10**3, 10**12), "printed"),
            lambda: frozen_beats(oracle_bound, replace(STEEP, E=10), (10, 10**3), "corrected"),
        ),
        corrected=Correction(
            title=r"against $K$-step; against frozen if $D\sigma$ is small",
            statement=said(
                "For all large $T$ the oracle's bound is below that of $K$-step retention with constant admission and "
                r"the same occupancy $n$, $K\ge2$. It is below that of a buffer filled once and kept if and only if "
                "$@share<@third$.",
                share=share(n),
                third=generalisation_term(1 / n, n, CONSTANTS),
            ),
            formula=said(
                r"\lim\tfrac1T(\bar{\mathcal E}_T^{frozen}-\bar{\mathcal E}_T^{oracle})=@gap",
                gap=frozen_share(n),
            ),
            sketch=r"The frozen buffer has $\chi=0$ and $N_{\mathrm{eff}}=n$ in every round; the oracle's $\chi$ "
            "tends to $1/n$ and its third term to 0. Against $K$-step retention the first two terms differ by $O(1)$ "
            "in total and the third decides.",
            checks={
                "$K$-step retention": theorem("Design.fresh_beats_kept", domain=r"every $n$ and $K\ge2$"),
                "against a frozen buffer": (theorem("Design.fresh_against_frozen"), against_frozen),
            },
        ),
    )
]
