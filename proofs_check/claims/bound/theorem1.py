"""Theorem 1 (`thm:regret-neff`): what it needs, and what then holds. The sharper theorem is judged in `beyond`."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import counterexamples, empty_bound, population
from proofs_check.groundwork.bound.chaining import DEVIATION, HAUSSLER, proved_constant
from proofs_check.groundwork.bound.excess_risk import theorem_powered
from proofs_check.groundwork.bound.many_rounds import THEOREM
from proofs_check.groundwork.bound.one_round import ANY_SPACE, MISMATCH, PROJECTION, SETTING
from theory.bound import theorem1 as bound

PLAIN = 1 / n - 1 / neff  # without the positive parts that make theory's form real
ROUND = {
    "initial": empty_bound.PRINTED.initial,
    "terms": CONSTANTS.D * CONSTANTS.sigma * sp.sqrt(PLAIN)
    + CONSTANTS.eta * CONSTANTS.sigma**2 * PLAIN
    + bound.generalisation_term_as_printed(1 / neff, N, CONSTANTS),
    "constant": sp.expand(empty_bound.PRINTED.constant),
}
SHOWN = {
    "initial": bound.initial_term(CONSTANTS.merged),
    "terms": bound.round_terms(chi, inverse_neff, N, CONSTANTS.merged).total,
    "constant": bound.per_round_constant(CONSTANTS),
    "linear": bound.linear_term(chi, CONSTANTS.merged),
}
BLIND = "admission and retention do not look at sample values"
NEEDED = (*SETTING, "clients draw from one distribution and are weighted by $n_m/n$", BLIND, MISMATCH)


def constant_is_never_small() -> Evidence:
    """C₂ with D²/(2η) inside exceeds √5·DG, which is more than an excess risk can be."""
    found = refutes(
        empty_bound.constant_exceeds(sp.sqrt(5)),
        r"$C_2\ge\sqrt5\, DG$ in every round, above any excess risk on a convex $\Theta$: so read, the "
        r"theorem says nothing as long as the model stays in $\Theta$",
    )
    return obeying(found, {"an excess risk of at most $DG$": empty_bound.risk_in_a_round()})


def paid_once() -> Evidence:
    """Besides the statistical terms, a round exceeds the constant by less than any ε once T > initial/ε."""
    once, epsilon = bound.theorem_1([1], [1], [1], [0], CONSTANTS).terms, sp.Symbol("epsilon", positive=True)
    return always(
        (once.initial + T * once.constant) / T - bound.per_round_constant(CONSTANTS) <= epsilon,
        given=[T * epsilon >= bound.initial_term(CONSTANTS.merged)],
        domain=r"every $T$, $\varepsilon$, $D$, $\eta$, $E$, $L$, $G$ with $T\ge D^2/(2\eta E\varepsilon)$",
    )


CLAIMS = [
    Claim(
        id="thm:regret-neff",
        kind="theorem",
        title="Theorem 1, the learning-error bound",
        statement="Under Assumptions 1-4 the cumulative excess risk of any policy is at most the printed bound. To the "
        r"letter, $\theta(t)$ lies in $\Theta$, and $C_2$ stands inside the sum and includes $D^2/(2\eta)$. Then on "
        r"a convex $\Theta$ the bound is larger than any excess risk, and holds for that reason; that $\Theta$ is "
        r"convex is not assumed, and without it the bound can fail. What a reader takes from the theorem is what its "
        r"proof is about, $D^2/(2\eta)$ paid once: thm:regret-neff/once.",
        formula=said(
            r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)=\sum_t\Bigl[@terms+C_2\Bigr],\quad C_2=@initial+@constant",
            **ROUND,
        ),
        symbols={"C_2": "the constant of a round, with those of the appendix"},
        domain=r"any joint policy, any $E\ge1$; rounds without a real radicand are thm:regret-neff/radicand",
        repair=r"Take $D^2/(2\eta E)$ out of the sum; assume convex $L$-smooth losses, a projection, one distribution, "
        r"weights $n_m/n$, rules blind to values, and that $\sigma^2\chi$ bounds the mismatch at the iterates; write "
        r"$\chi$, $\eta E$ and $\log^+$.",
        checks=(counterexamples.two_points,),
        hypotheses=(empty_bound.CONVEX,),
        checks_with_hypotheses=(empty_bound.EMPTY,),
        sketch=empty_bound.WHY,
        substance="thm:regret-neff/once",
        corrected=Correction(
            title=r"convex, projected, value-blind; $\chi$, $\eta E$, $\log^+$",
            statement=said(
                "With convex losses, projection, one distribution, weights $n_m/n$ and a schedule blind to sample "
                "values: $@initial$ once, and in each round $@terms$ and the constant $@constant$, where "
                r"$\sigma^2\chi$ bounds the squared mismatch at the iterates, a hypothesis. The linear term "
                "$@linear$ can be left out, and no other term can.",
                **SHOWN,
            ),
            formula=said(r"\mathcal E_T\le@initial+\sum_t\Bigl[@terms+@constant\Bigr]", **SHOWN),
            sketch=r"In each round $\mathbb E[F_P(\theta)-F_P(\theta^\star)]=\mathbb E[F_P(\theta)-\widehat "
            r"F^{\mathrm{all}}(\theta)]+\mathbb E[\widehat F^{\mathrm{all}}(\theta)-\widehat "
            r"F^{\mathrm{all}}(\theta^\star)]+\mathbb E[\widehat F^{\mathrm{all}}(\theta^\star)-F_P(\theta^\star)]$. "
            r"The last is 0: given the schedule, which does not look at values, the weights $\omega$ are constants "
            "that add up to 1 and the samples are draws of the population. The first is at most the mean uniform "
            r"deviation, $5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$ by lem:gen-Neff-app corrected, and that is "
            r"below the third term, since $5.2<10$ and $\log^+\ge0$. The second is bounded by the corrected "
            r"recursion (prop:Ropt-bound-app) with $\mathbb E|\nabla\widehat F^{\mathrm{all}}-\nabla\widehat "
            r"F^{\mathrm{mem}}|\le\sigma\sqrt{\chi}$, divided by $2\eta E$; over the rounds the squared distances "
            "telescope, the first is at most $D^2$ and the last at least 0.",
            hypotheses=NEEDED,
            checks={
                "the bound, from three statistical facts": (
                    theorem("Learning.theorem_1", domain=ANY_SPACE),
                    confirming(THEOREM.assembled),
                ),
                "comparator unbiased": population.weights_add_up,
                "uniform deviation": (proved_constant, population.deviation_is_covered),
                "linear term superfluous": theorem("Learning.recursion_sharper", domain=ANY_SPACE),
                "whole, needing each other term": theorem_powered,
            },
            given=(HAUSSLER, DEVIATION),
        ),
    ),
    Claim(
        id="thm:regret-neff/once",
        kind="reading",
        title=r"Theorem 1 with $D^2/(2\eta)$ once, as in its proof",
        statement="Under Assumptions 1-4 the cumulative excess risk of any policy is at most the printed bound, with "
        r"$D^2/(2\eta)$ paid once and the appendix's constants in every round, as its proof has it.",
        formula=said(r"\mathcal E_T(\pi)\le@initial+\sum_t\Bigl[@terms+@constant\Bigr]", **ROUND),
        domain=r"any joint policy, any $E\ge1$, every iterate in $\Theta$; what holds instead: thm:regret-neff",
        checks=(counterexamples.local_steps, counterexamples.dropping_by_value, counterexamples.non_convex),
    ),
    Claim(
        id="thm:regret-neff/convexity",
        kind="reading",
        title="Assumptions 1-4 suffice: no convexity",
        statement=r"No convexity is needed: the bound of the proof, $D^2/(2\eta)$ once, holds for smooth losses with "
        "bounded values and gradients.",
        formula=r"\mathcal E_T\le\bar{\mathcal E}_T\ \text{for non-convex }\ell",
        domain=r"one deterministic loss, $E=1$, every iterate inside $\Theta$",
        checks=(counterexamples.non_convex, counterexamples.basin),
        corrected=Correction(
            title="convex losses, as in Theorem 1 corrected",
            statement="With convex losses the recursion behind the bound holds. Convexity enters once: "
            r"$\langle\nabla\widehat F^{\mathrm{all}}(\theta),\theta-\theta^\star\rangle\ge\widehat "
            r"F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^\star)$.",
            formula=r"\langle\nabla\widehat F^{all}(\theta),\theta-\theta^\star\rangle\ge\widehat "
            r"F^{all}(\theta)-\widehat F^{all}(\theta^\star)",
            sketch=r"The recursion needs a lower bound on $\langle\nabla\widehat "
            r"F^{\mathrm{all}},\theta-\theta^\star\rangle$; at a local minimum that product is 0. What else it "
            "needs, the drift of local steps and a projection, is as in prop:Ropt-bound-app.",
            hypotheses=NEEDED,
            checks=(theorem("Learning.recursion", domain=ANY_SPACE),),
        ),
    ),
    Claim(
        id="thm:regret-neff/projection",
        kind="step",
        substance="corrected",
        title=r"the iterates stay in $\Theta$",
        statement=r"The paper lets $\theta^{(t)}\in\Theta$ be the model of round $t$: the printed dynamics, local "
        r"steps and a weighted sum without a projection, keep the model in $\Theta$, where the assumptions are made. "
        r"(That $\theta^{(t)}$ lies in $\Theta$ says that a projection is meant: a slip.)",
        formula=r"\theta^{(t)}\in\Theta",
        domain=r"any step size $\eta>0$",
        repair=r"Project onto a convex $\Theta$ after each round.",
        checks=(counterexamples.no_projection,),
        hypotheses=(r"the server projects onto a convex $\Theta$ after each round",),
        checks_with_hypotheses=(PROJECTION,),
        corrected=Correction(
            title="project after each round",
            statement=r"Projecting onto the convex $\Theta$ after each round keeps the model there and brings it no "
            r"farther from $\theta^\star$.",
            formula=r"\|\Pi(y)-x\|\le\|y-x\|\ \forall x\in\Theta",
            sketch=r"$\langle y-\Pi(y),x-\Pi(y)\rangle\le0$ for $x$ in $\Theta$; expand $|y-x|^2$.",
            checks=(PROJECTION,),
            symbols={"x": r"any point of $\Theta$", "y": "any point"},
        ),
    ),
    Claim(
        id="thm:regret-neff/local-steps",
        kind="reading",
        title="the bound holds for any $E$",
        statement="With convex losses, projection, one distribution and a value-blind schedule the printed bound, "
        r"with its own constants and $D^2/(2\eta)$ once, holds for every number $E$ of local steps.",
        formula=r"\mathcal E_T\le\bar{\mathcal E}_T\quad\forall E\ge1",
        domain=r"$E\ge1$, $\eta$ not scaled by $E$",
        checks=(counterexamples.huber_and_slope, counterexamples.local_steps),
        corrected=Correction(
            title=r"$\eta E$ for $\eta$, drift $\eta(E-1)DLG/2$",
            statement=said(
                r"A round is a step of size $\eta E$: $@initial$ once, $@linear$, and a per-round constant that "
                "grows with $E$, $@constant$.",
                **SHOWN,
            ),
            formula=said("@initial,\\ @linear,\\ @constant", **SHOWN),
            sketch=r"See prop:Ropt-bound-app. The printed constants stay bounded as $E$ grows with $\eta$ fixed, but "
            "clients then reach their own minimisers, whose average is not the minimiser. With $E=41$ that is enough "
            "to break the printed bound; up to $E=10$, the paper's, it survives "
            "(thm:regret-neff/ten-local-steps). From 11 to 40 neither is known.",
            hypotheses=NEEDED,
            checks=(theorem("Learning.cumulative_optimisation", domain=ANY_SPACE),),
        ),
    ),
    Claim(
        id="thm:regret-neff/values",
        kind="reading",
        title="the bound holds for any dropping rule",
        statement=r"The bound of the proof, $D^2/(2\eta)$ once, holds for every client policy, also one that chooses "
        "what to drop by the samples' values.",
        formula=r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)\quad\forall\pi",
        domain="convex, projected, $E=1$, one distribution",
        checks=(counterexamples.dropping_by_value,),
        corrected=Correction(
            title="for rules blind to values, such as $K$-step",
            statement=r"Where admission and retention do not look at sample values, $\mathbb E\widehat "
            r"F^{\mathrm{all}}(\theta^\star)=\mathbb E\widehat F^{\mathrm{mem}}(\theta^\star)=F_P(\theta^\star)$, "
            "and the uniform deviation of the weighted samples is that of fixed weights. $K$-step retention is such "
            "a rule.",
            formula=r"E\,\widehat F^{all}(\theta^\star)=E\,\widehat F^{mem}(\theta^\star)=F_P(\theta^\star)",
            sketch="Given the schedule, the weights are constants and the samples still independent draws: linearity "
            "for the means, lem:gen-Neff-app corrected for the deviation.",
            hypotheses=(BLIND,),
            checks={
                "means": (population.weights_add_up, confirming(population.mean_at_comparator)),
                "deviation": proved_constant,
            },
            given=(HAUSSLER, DEVIATION),
        ),
    ),
    Claim(
        id="thm:regret-neff/constant",
        kind="step",
        substance="corrected",
        title="$C_2$ in every round is of lower order",
        statement=r"$C_2$, which stands inside the sum over rounds and collects $D^2/(2\eta)$ and other lower-order "
        "constants, is of lower order. (The recursion of the appendix pays $D^2/(2\\eta)$ once, and no later result "
        "uses $C_2$: a slip.)",
        formula=r"C_2\ni\tfrac{D^2}{2\eta}",
        domain=r"every $E\ge1$, $\Theta$ convex",
        repair=r"Take $D^2/(2\eta E)$ out of the sum, and say that the rest, $\eta EG^2+\ldots$, is small with $\eta$.",
        checks=(constant_is_never_small,),
        corrected=Correction(
            title=r"$D^2/(2\eta E)$ once; $\eta EG^2+\ldots$ per round",
            statement=said(
                "$@initial$ is paid once, so that its share of a round tends to 0; each round pays $@constant$.",
                **SHOWN,
            ),
            formula=said(r"@initial+T\cdot @constant", **SHOWN),
            sketch="The squared distances of the recursion (prop:Ropt-bound-app corrected) telescope, so that "
            r"$D^2/(2\eta E)$ appears once whatever $T$. Inside the sum, $D^2/(2\eta)+5\eta G^2/2\ge\sqrt5\, DG$ by "
            r"the inequality of the means, more than an excess risk can be on a convex $\Theta$: so the printed "
            r"theorem is then true and empty (thm:regret-neff).",
            hypotheses=NEEDED,
            checks={
                "paid once": theorem("Learning.cumulative_optimisation", domain=ANY_SPACE),
                "share of a round": paid_once,
            },
        ),
    ),
]
