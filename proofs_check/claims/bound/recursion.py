"""The one-step optimisation recursion and its sum (`prop:Ropt-bound-app`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round, worst_round
from proofs_check.groundwork.bound.counterexamples import DriftingClients
from proofs_check.groundwork.bound.one_round import ANY_SPACE, MISMATCH, SETTING
from proofs_check.groundwork.bound.worst_round import rise, rise_as_stated
from theory.bound import theorem1 as bound

ONE_STEP = replace(CONSTANTS, E=1, L=None)
HYPOTHESES = (*SETTING, "clients are weighted by $n_m/n$", MISMATCH)
RISE = {"rise": rise(CONSTANTS, chi)}
SHOWN = {
    "initial": bound.initial_term(CONSTANTS.merged),
    "terms": bound.root_term(chi, CONSTANTS.merged) + bound.linear_term(chi, CONSTANTS.merged),
    "constant": bound.per_round_constant(CONSTANTS),
}


def linear_facts() -> dict[str, Evidence]:
    """The facts that `farther_than_printed` claims of its losses, for every D; each is monotone in θ, so Pdim = 1."""
    theta, D = sp.Symbol("theta", real=True), CONSTANTS.D
    losses = [z * theta + D / 2 for z in (1, -1)]
    slopes = [sp.diff(loss, theta) for loss in losses]
    domain = r"every $D$, $\theta$ in $[-D/2,D/2]$"
    inside, within = [theta >= -D / 2, theta <= D / 2], [r for f in losses for r in (f >= 0, f <= D)]
    return {
        r"$0\le\ell\le B$": always(within, given=inside, domain=domain),
        r"slopes $\pm1$: $G=\sigma=1$, a constant risk": exhaust(
            [{"slope": s} for s in slopes],
            lambda slope: unless(abs(slope) <= 1 and sum(slopes) == 0, slopes=slopes),
            domain=domain,
        ),
    }


def farther_than_printed(steps: st.SearchStrategy[int], gap: Fraction, domain: str, examples: int) -> Check:
    """Round 1 with one sample, ℓ = zθ + D/2, z = ±1, from the minimiser θ* = 0, so σ̄ = 0. `gap` in units of D."""

    def find(E: int, eta: Any, D: Any) -> Found:
        ends = [max(-D / 2, min(D / 2, -eta * E * z)) for z in (1, -1)]
        constants = Constants(D=D, sigma=1, eta=eta, B=D, Pdim=1, E=E, G=1, L=Fraction(1, 10**6))
        left, right = sum(end * end for end in ends) / 2, rise_as_stated(constants, 0) - 2 * eta * gap * D
        return unless(bool(sp.sympify(left) <= sp.sympify(right)), left=left, right=right)

    def check(context: Context) -> Evidence:
        drawn = {"E": steps, "eta": fractions(), "D": fractions()}
        where = rf"{domain}, one sample, linear losses, start at $\theta^\star=0$, on $[-D/2,D/2]$"
        return obeying(search(context, drawn, find, domain=where, examples=examples), linear_facts())

    return check


def assumption_4_is_not_enough() -> Evidence:
    """Three kinds of samples, each steep near its own corner of a simplex, where a step on its sample leads.

    At every fixed θ one kind of three is steep at most, but at the iterate it is that of the sample in memory.
    """
    slight, eta, kinds, chance = Fraction(1, 10), 10, range(3), Fraction(1, 3)

    def slope(x: Any) -> Any:
        return -slight + (1 + slight) * max(2 * x - 1, 0)

    # over all kinds of the two samples: θ² = -η·slope(0) along the first, and there ∇ℓ of the two, each on its own axis
    total, reached = Fraction(0), -eta * slope(Fraction(0))
    for first, second in product(kinds, repeat=2):
        ours, other = slope(reached), slope(Fraction(0))
        total += chance**2 * (ours**2 + other**2 if first != second else 0)
    uses, squares = 3, 5  # A = 2 and 1, both in memory
    weight = Fraction(2, uses) - Fraction(1, 2)
    found, chi = weight**2 * total, Fraction(mismatch_from_sums(2, uses, squares, uses))
    variance = chance * (1 - chance) * (1 + 2 * slight**2)
    places = sp.symbols("theta_1:4", nonnegative=True)
    steep = [-sp.Rational(1, 10) + sp.Rational(11, 10) * sp.Max(0, 2 * x - 1) for x in places]
    facts = {
        "at most one slope of size 1 on the simplex": always(
            sum(s**2 for s in steep) <= 1 + 2 * sp.Rational(1, 100),
            given=[sum(places) <= 1],
            domain=r"$\theta\ge0$, $\sum\theta\le1$",
        ),
        "the iterate is in it": exhaust(
            [{"x": reached}], lambda x: unless(0 <= x <= 1, x=x), domain="round 2", strength="proof"
        ),
    }
    said = {"mean squared mismatch": found, "variance at most": variance, "chi": chi}
    above = exhaust(
        [said],
        lambda **_: unless(found > variance * chi, ratio=found / (variance * chi)),
        domain=r"$K=2$, one sample per round, three kinds, round 2: it is above $\sigma^2\chi$",
        strength="proof",
    )
    return obeying(above, facts)


CLAIMS = [
    Claim(
        id="prop:Ropt-bound-app",
        kind="lemma",
        title="one-step recursion",
        statement=r"A round lowers the squared distance to $\theta^\star$ by $2\eta$ times the gap of $\widehat "
        r"F^{\mathrm{all}}$ above its own minimum, up to $2\eta D\bar\sigma+\eta^2(2\bar\sigma^2+C_1)+\eta^4C_2$, "
        "for any number $E$ of local steps.",
        formula=said(
            r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E[\widehat "
            r"F^{all}_t(\theta^t)-\min\widehat F^{all}_t]+2\eta D\bar\sigma+2\eta^2\bar\sigma^2+@printed",
            printed=sp.expand(2 * CONSTANTS.eta * bound.per_round_constant_as_stated(CONSTANTS)),
        ),
        domain=r"Assumptions 1-4, any $E\ge1$",
        repair=r"Assume convex $L$-smooth losses and a projection; take the gap to $\theta^\star$; write $\eta E$ for "
        r"$\eta$, with the drift of local steps; keep $\bar\sigma^2$, or assume that $\sigma^2\chi$ bounds the "
        r"mismatch at the iterates.",
        checks=(
            farther_than_printed(st.just(1), Fraction(1, 2), r"gap to the minimum, $E=1$", 200),
            # several local steps of full size move farther than η allows for
            farther_than_printed(st.integers(1, 4), Fraction(0), r"gap to $\theta^\star$, $E\le4$", 300),
            worst_round.worst_case_own_minimum,
            worst_round.worst_case_local_steps,
        ),
        corrected=Correction(
            title=r"gap to $\theta^\star$, $\eta E$ for $\eta$, convex, projected",
            statement=said(
                r"With convex losses and projection, the gap taken to $\theta^\star$ and $\eta E$ for $\eta$, a "
                r"round adds at most $@rise$. The linear term in $\chi$, and half of what stands with $G^2$, can be "
                r"left out. That the mismatch at the iterates is $\sigma^2\chi$ at most is a hypothesis. It is met for "
                r"every $K$ by gradients $u(\theta)+s(\theta)b(z)$ with $s$ or $b$ a number: one Hessian, two kinds "
                r"of samples, or $\varphi(\theta)-\langle b(z),\theta\rangle$ with any convex $\varphi$. Assumption 4 "
                "alone does not give it.",
                **RISE,
            ),
            formula=said(
                r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E\,E[\widehat "
                r"F^{all}_t(\theta^t)-\widehat F^{all}_t(\theta^\star)]+@rise",
                **RISE,
            ),
            sketch=r"$\theta^+=\Pi(\theta-\eta E\hat g)$ with $\hat g$ the mean of all local gradients, $|\hat g|\le "
            r"G$, and $x=\theta-\theta^\star$. A projection onto $\Theta$ brings no point of $\Theta$ farther away, "
            r"so $|\theta^+-\theta^\star|^2\le|x|^2-2\eta E\langle\hat g,x\rangle+(\eta E)^2|\hat g|^2$. "
            r"$\langle\hat g,x\rangle\ge\langle\nabla\widehat F^{\mathrm{mem}},x\rangle-\eta(E-1)LGD/2$ by the local "
            r"drift, $\ge\langle\nabla\widehat F^{\mathrm{all}},x\rangle-D|\nabla\widehat "
            r"F^{\mathrm{all}}-\nabla\widehat F^{\mathrm{mem}}|-\ldots$ by Cauchy-Schwarz, $\ge\widehat "
            r"F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^\star)-\ldots$ by convexity. In the mean the "
            r"mismatch is at most $\sigma\sqrt{\chi}$, by Jensen. $\theta^\star$ minimises the population risk and "
            r"not $\widehat F^{\mathrm{all}}$, so the gap may be negative, but $\mathbb E\widehat "
            r"F^{\mathrm{all}}(\theta^\star)=F_P(\theta^\star)$, which is what the theorem needs. $|\hat g|^2\le "
            r"G^2$ alone gives $(\eta E)^2G^2$ in place of $2(\eta E)^2(\sigma^2\chi+G^2)$. With $K\ge2$ the iterate "
            r"knows samples in memory, so that $\sigma^2\chi$, right at a fixed $\theta$, needs a reason. If gradients "
            r"are $u(\theta)+s(\theta)b(z)$, the mismatch is $s(\theta)\sum(\omega_i-1/n)b(z_i)$, where "
            r"$\theta$ only scales. Else it may fail: let each of three kinds be steep near its own corner of a "
            "simplex, and let the first step lead to the corner of its own sample.",
            hypotheses=HYPOTHESES,
            checks={
                "recursion": theorem("Learning.recursion", domain=ANY_SPACE),
                "what can be left out": theorem("Learning.recursion_sharper", domain=ANY_SPACE),
                "where the mismatch is so small": one_round.mismatch_of_one_factor,
                "and not by Assumption 4": assumption_4_is_not_enough,
            },
        ),
    ),
    Claim(
        id="prop:Ropt-bound-app/one-local-step",
        kind="step",
        title=r"recursion at $E=1$, gap to $\theta^\star$",
        statement=r"In the mean, with one local step, convex losses, projection, weights $n_m/n$ and $\sigma^2\chi$ "
        r"bounding the mean square of the mismatch at the iterates, the printed right-hand side is right once the gap "
        r"is taken to $\widehat F^{\mathrm{all}}(\theta^\star)$ and not to the minimum of $\widehat "
        r"F^{\mathrm{all}}$.",
        formula=said(
            r"\mathbb E\|\theta^{+}-\theta^\star\|^2\le\mathbb E\|\theta-\theta^\star\|^2-2\eta\,\mathbb E[\widehat "
            r"F^{all}(\theta)-\widehat F^{all}(\theta^\star)]+@rise",
            rise=rise_as_stated(ONE_STEP, chi),
        ),
        domain=r"$E=1$; gradients of at most $G$, and $\Theta$ of diameter at most $D$",
        checks=(theorem("Learning.one_local_step", domain=ANY_SPACE),),
        sketch=r"As for prop:Ropt-bound-app, corrected, with $E=1$: no local drift, and $5\eta G^2$ where $\eta G^2$ "
        "is enough.",
    ),
    Claim(
        id="eq:Ropt-bound-app",
        kind="reading",
        title="cumulative optimisation error",
        statement="The optimisation errors of $T$ rounds add up to at most "
        r"$D^2/(2\eta)+D\sum\bar\sigma+(\eta/2)\sum(2\bar\sigma^2+C_1)+(\eta^3/2)C_2T$. (Of the same lemma as "
        "prop:Ropt-bound-app, summed over the rounds, and counted there.)",
        formula=said(
            r"\mathcal E^{opt}_T\le@initial+D\sum\bar\sigma+\eta\sum\bar\sigma^2+T\Bigl(@printed\Bigr)",
            initial=bound.initial_term(CONSTANTS),
            printed=sp.expand(bound.per_round_constant_as_stated(CONSTANTS)),
        ),
        domain=r"Assumptions 1-4, any $E\ge1$",
        checks=(
            lambda: DriftingClients().against(
                lambda c, T: ball(bound.initial_term(c) + T * bound.per_round_constant_as_stated(c)),
                population=False,
            ),
        ),
        corrected=Correction(
            title=r"against $\theta^\star$, $\eta E$ for $\eta$, drift $\eta(E-1)DLG/2$",
            statement=said(
                r"Measured against $\theta^\star$: $@initial$ once, and in each round $@terms$ and the constant "
                "$@constant$.",
                **SHOWN,
            ),
            formula=said(
                r"\sum_tE[\widehat F^{all}_t(\theta^t)-\widehat "
                r"F^{all}_t(\theta^\star)]\le@initial+\sum_t\bigl[@terms\bigr]+T\cdot @constant",
                **SHOWN,
            ),
            sketch=r"Divide the corrected recursion by $2\eta E$ and add: the squared distances telescope, the first "
            "is at most $D^2$ and the last at least 0. The recursion itself is prop:Ropt-bound-app.",
            hypotheses=HYPOTHESES,
            checks=(theorem("Learning.cumulative_optimisation", domain=ANY_SPACE),),
        ),
    ),
]
