"""The policy's problem of a round (`eq:dpp-policy`): one number to choose, and how its objective runs."""

from proofs_check.prelude import *

from theory.control.minimiser import mismatch_slopes

one, other, moved, held, gone, price, debt = sp.symbols("one other moved held gone price debt", positive=True)
L = sp.Symbol("L", nonnegative=True)  # log(N/Pdim)
BEND = 3 * L**2 + 2 * L - 2  # not negative from L = (√7-1)/3 on
LATER = r"$N(t-1)+\Lambda_{\min}(t)\ge e^{(\sqrt7-1)/3}\,\mathrm{Pdim}\approx1.731\,\mathrm{Pdim}$"


def only_the_sum() -> Evidence:
    """Moving some of the admissions from one client to another changes nothing."""

    def J(*amounts: Any) -> Any:
        state = {"Z": debt, "cost": price, "C": C, "V": V, "retained": held, "seen": held + gone}
        return drift_plus_penalty(sum(amounts), **state, constants=CONSTANTS)

    return argument(
        (J(one + moved, other), J(one, other + moved), "$J_t$, some admitted at one client or another"),
        domain="every state, price and constant",
    )


@drawn("two clients against one with the same sums", (60, 400), K=retentions(5), path=admissions(2))
def split(K: int, path: list[list[int]]) -> Found:
    several, single = (simulate(rounds, K) for rounds in (path, [[sum(row)] for row in path]))
    return differing(several=[(r.n, r.N) for r in several], single=[(r.n, r.N) for r in single])


ROUND = {"Z": 1, "cost": 1, "C": 9, "V": 140, "retained": 20, "seen": 20}
EARLY, HALF = Constants(D=1, sigma=1, eta=1, B=1, Pdim=28), Region(rate=10, rho=Fraction(1, 2))


def a_hump() -> Evidence:
    """Round 2 after 20 samples, of which none has left: J at 9 is above J at 8 and at 13."""

    def J(Lambda: int) -> Any:
        return drift_plus_penalty(
            ball(Lambda), **{k: ball(v) for k, v in ROUND.items()}, constants=EARLY.map(ball)
        )

    found = compare(
        lambda p: J(9),
        ">",
        lambda p: J(8).max(J(13)),
        [{"Λ": "9, between 8 and 13", **ROUND}],
        domain=r"round 2, $K\ge2$, $\bar\Lambda=10$, $\rho=1/2$, $\mathrm{Pdim}=28$, other constants 1; 20 samples "
        "at $c(1)=1/2$ so far, $C=9$, $c(2)=1$, $V=140$",
    )
    inside = exhaust(
        [{"Λ": x, "t": t} for x, t in ((20, 1), (8, 2), (9, 2), (13, 2))],
        lambda Λ, t: unless(bool(region_minimum(HALF, t) <= Λ <= region_maximum(HALF, t)), outside=Λ),
        domain="all admissions",
    )
    return obeying(found, {"the region in rounds 1 and 2": inside})


def convex_first_terms() -> Evidence:
    """Root and linear term are convex in Λ whatever the state; theory's slopes are the penalty's derivatives."""
    now = sp.Symbol("now", positive=True)
    size, seen = held + now, held + gone + now
    terms = penalty_terms(size, seen, CONSTANTS)
    gap = gone / (size * seen)
    together = CONSTANTS.D * CONSTANTS.sigma * sp.sqrt(gap) + CONSTANTS.eta * CONSTANTS.sigma**2 * gap
    second = mismatch_slopes(size, seen, gone, CONSTANTS)[1]
    i, j = sp.symbols("i j", positive=True)
    return argument(
        (terms.linear, CONSTANTS.eta * CONSTANTS.sigma**2 * gap, "the linear term with $1/n-1/N$ over one"),
        (sp.diff(together, now, 2), second, "the second derivative of the first two terms and theory's"),
        ([3 * (i + j) ** 2 - 4 * i * j >= 0, (i + j) ** 2 - i * j >= 0], [], "its factors, $i=1/n$, $j=1/N$"),
        domain="every state",
    )


def convex_third_term() -> Evidence:
    """The third term's second derivative has the sign of 3L²+2L-2, L = log(N/Pdim) >= 0."""
    u = sp.Symbol("u", positive=True)
    size = CONSTANTS.Pdim * (1 + u)
    found = sp.diff(generalisation_term(1 / size, size, CONSTANTS), u, 2) / CONSTANTS.Pdim**2
    second = generalisation_slopes(size, CONSTANTS, 1)[1]
    root = (sp.sqrt(7) - 1) / 3
    return argument(
        (found, second, "the third term's second derivative and theory's"),
        (
            second,
            5
            * CONSTANTS.B
            * BEND.subs(L, sp.log(1 + u))
            / (2 * size**2 * sp.sqrt(1 + u) * (1 + sp.log(1 + u)) ** sp.Rational(3, 2)),
            "it and a positive multiple of $3L^2+2L-2$",
        ),
        (sp.expand(BEND.subs(L, root)), 0, r"$3L^2+2L-2$ at $L=(\sqrt7-1)/3$ and 0"),
        always(BEND.subs(L, L + one) > BEND, domain=r"$3L^2+2L-2$ grows, $L\ge0$"),
        domain=r"every $N=\mathrm{Pdim}(1+u)$",
    )


CLAIMS = [
    Claim(
        id="eq:dpp-policy",
        kind="step",
        title=r"the problem of a round has one variable, $\Lambda$",
        statement=r"The objective $J_t$ depends on the admissions of the clients only through their sum.",
        formula=r"J_t(\boldsymbol\lambda)=J_t(\Lambda),\quad\Lambda=\sum_m\lambda_m",
        domain="$K$-step retention, every state",
        symbols={"λ": "the admissions of all clients"},
        checks=(only_the_sum, confirming(split)),
    ),
    Claim(
        id="eq:dpp-policy/unimodal",
        title=r"$J_t$ is convex once $N\ge1.731\,\mathrm{Pdim}$, not before",
        statement=rf"$J_t$ is convex where {LATER}, that is in all but the first rounds. Before, the "
        r"generalisation term bends the other way between $N=\mathrm{Pdim}$ and that, and there can be two local "
        "minima. (That a search for one variable solves the problem of a round is not said.)",
        formula=r"J_t''(\Lambda)\ge0\quad\text{for}\quad\log\frac N{\mathrm{Pdim}}\ge\frac{\sqrt7-1}3",
        hypotheses=(LATER,),
        domain="every state, price and region; $\\log^+$ in the penalty",
        sketch=r"$J_t$ is linear except for $Vp$. With $n=r+\Lambda$, $N=r+a+\Lambda$ the first two terms are a "
        r"root and a multiple of $a/(nN)$, both convex in $\Lambda$. The third, $10B\sqrt{(1+L)/x}$ with "
        r"$x=N/\mathrm{Pdim}$ and $L=\log x$, has a second derivative of the sign of $3L^2+2L-2$.",
        symbols={"L": r"$\log(N/\mathrm{Pdim})$"},
        checks={
            "first two terms": convex_first_terms,
            "third term": (convex_third_term, confirming(a_hump)),
        },
    ),
]
