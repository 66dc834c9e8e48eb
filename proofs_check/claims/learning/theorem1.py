r"""Theorem 1 (`thm:regret-neff`): what it needs, and what then holds.

With D²/(2η) once, as in its proof, it is refuted three times over: by several local steps, by clients that drop
samples by their values, and by a loss that is not convex. With D²/(2η) in every round, as printed, it is for convex
losses true and empty as long as the model stays in Θ, and false where it leaves Θ, which without projection it may.
The corrected bound is checked link by link, each link a part of its own, and as a whole on examples with power:
without any one of its terms they violate it. The linear term is the exception, and is proved to be superfluous. The
sharper theorem is judged in `beyond`.
"""

from __future__ import annotations

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Correction, confirming
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying, refutes, together
from proofs_check.groundwork.learning.chaining import HAUSSLER, proved_constant
from proofs_check.groundwork.learning.counterexamples import (
    basin,
    dropping_by_value,
    local_steps,
    no_projection,
    non_convex,
)
from proofs_check.groundwork.learning.excess_risk import theorem_powered
from proofs_check.groundwork.learning.many_rounds import (
    assembled,
    theorem_round,
    theorem_telescopes,
    theorem_terms,
)
from proofs_check.groundwork.learning.one_round import (
    cauchy_schwarz,
    corrected_recursion,
    drift_of_local_steps,
    projection_helps,
    sharper_recursion,
)
from proofs_check.groundwork.learning.population import (
    decomposition,
    deviation_is_covered,
    mean_at_comparator,
    weights_add_up,
)
from proofs_check.groundwork.learning.worst_round import worst_case_corrected
from proofs_check.symbols import CONSTANTS, N, T, chi, inverse_neff, n, neff
from proofs_check.text import said
from theory.bound import (
    initial_term,
    linear_term,
    per_round_constant,
    round_terms,
    theorem_1,
    theorem_1_as_stated,
)
from theory.setting import Constants

PRINTED = theorem_1_as_stated([n], [N], [neff / N], CONSTANTS).terms  # of one round
ONE_ROUND = round_terms(chi, inverse_neff, N, CONSTANTS.merged).total
SHOWN = {
    "initial": initial_term(CONSTANTS.merged),
    "terms": ONE_ROUND,
    "constant": per_round_constant(CONSTANTS),
    "linear": linear_term(chi, CONSTANTS.merged),
}


def constant_is_never_small() -> Evidence:
    """C₂ with D²/(2η) inside exceeds √5·DG, where the risk itself varies by at most DG over Θ."""
    D, eta, G = sp.symbols("D eta G", positive=True)
    one_round = theorem_1_as_stated([1], [1], [1], Constants(D=D, sigma=1, eta=eta, B=1, Pdim=1, G=G)).terms
    larger = always(
        (one_round.constant + one_round.initial) ** 2 >= 5 * (D * G) ** 2,
        domain="$E=1$, every $D$, "
        r"$\eta$, $G>0$",
    )
    varies = _risk_varies_by_at_most()
    found = refutes(
        larger,
        r"$C_2\ge\sqrt{5}\cdot DG$ in every round, above any excess risk of convex losses on $\Theta$: "
        r"so read, the theorem says nothing as long as the model stays in $\Theta$",
    )
    return obeying(found, {"an excess risk of at most $DG$": varies})


def _risk_varies_by_at_most() -> Evidence:
    """F_P(θ) - F_P(θ*) <= ⟨∇F_P(θ), θ-θ*⟩ <= |∇F_P(θ)|·|θ-θ*|: convexity and Cauchy-Schwarz."""
    excess, along = sp.symbols("excess along", real=True)
    slope, way, D, G = sp.symbols("slope way D G", nonnegative=True)
    varies = always(
        excess <= D * G,
        given=[excess <= along, along**2 <= slope**2 * way**2, slope <= G, way <= D],
        domain=r"convex losses, every $D$, $G$; slope $=|\nabla F_P(\theta)|$, way "
        r"$=|\theta-\theta^{\star}|$, along $=\langle \nabla F_P(\theta),\theta-\theta^{\star}\rangle$",
    )
    return together(cauchy_schwarz(), varies)


def theorem_assembled() -> Evidence:
    """Theory's bound over T rounds: initial once, the constant T times, the three terms round by round."""
    return assembled(
        theorem_terms,
        lambda n, N, V, chi, stale: round_terms(chi, 1 / (N * V), N, CONSTANTS.merged).total,
        per_round_constant,
    )


def paid_once() -> Evidence:
    """Over T rounds the part besides the statistical terms is initial + T·constant; per round it exceeds the constant
    by less than any ε once T > initial/ε."""
    c = CONSTANTS
    once = theorem_1([1], [1], [1], [0], c).terms
    epsilon = sp.Symbol("epsilon", positive=True)
    return always(
        (once.initial + T * once.constant) / T - per_round_constant(c) <= epsilon,
        given=[T * epsilon >= initial_term(c.merged)],
        domain=r"every $T$, $\varepsilon$, $D$, $\eta$, $E$, $L$, $G$ with $T\ge D^2/(2\eta "
        r"E\varepsilon)$",
    )


NEEDED = (
    r"every loss is convex and differentiable in $\theta$",
    "gradients are bounded by $G$ and, for $E>1$, $L$-Lipschitz, wherever the local steps go",
    r"the server projects onto the convex set $\Theta$ of diameter $D$ after each round",
    "clients draw from one distribution and are weighted by $n_m/n$",
    "admission and retention do not look at sample values",
)


MISMATCH = (
    r"the squared mismatch at the iterates has mean at most $\sigma^2\chi$ (Assumption 4 gives "
    r"that at a fixed $\theta$)"
)


SKETCH = (
    r"In each round $\mathbb E[F_P(\theta)-F_P(\theta^{\star})]=\mathbb E[F_P(\theta)-\widehat "
    r"F^{\mathrm{all}}(\theta)]+\mathbb E[\widehat F^{\mathrm{all}}(\theta)-\widehat "
    r"F^{\mathrm{all}}(\theta^{\star})]+\mathbb E[\widehat "
    r"F^{\mathrm{all}}(\theta^{\star})-F_P(\theta^{\star})]$. The last is 0: given the schedule, which "
    r"does not look at values, the weights $\omega$ are constants that add up to 1 and the samples are "
    "draws of the population. The first is at most the mean uniform deviation, "
    r"$5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$ by lem:gen-Neff-app corrected, and that is below the "
    r"third term, since $5.2<10$ and $\log^{+}\ge0$. The second is bounded by the corrected recursion "
    r"(prop:Ropt-bound-app) with $\mathbb E|\nabla\widehat F^{\mathrm{all}}-\nabla\widehat "
    r"F^{\mathrm{mem}}|\le\sigma\sqrt{\chi}$, divided by $2\eta E$; over the rounds the squared "
    "distances telescope, the first is at most $D^2$ and the last at least 0. The links are checked by "
    "machine, a round of theory/ is seen to be their sum, and their composition is this sketch."
)


CLAIMS = [
    Claim(
        id="thm:regret-neff",
        kind="theorem",
        title="Theorem 1, the learning-error bound",
        statement="Under Assumptions 1-4 the cumulative excess risk of any policy is at most the printed "
        r"bound, both with $D^2/(2\eta)$ paid once, as in its proof and in the formula here, and with it "
        "in every round, as part of the $C_2$ that the theorem prints inside the sum. (With it in every "
        r"round the bound is exceeded by a model that leaves $\Theta$; for convex losses and a model "
        "that stays there it is true and empty: thm:regret-neff/constant.)",
        formula=said(
            r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)=@initial+\sum_t\Bigl[@terms+@constant\Bigr]",
            initial=PRINTED.initial,
            terms=PRINTED.root + PRINTED.linear + PRINTED.generalisation,
            constant=sp.expand(PRINTED.constant),
        ),
        domain=r"any joint policy, any $E\ge1$; rounds without a real radicand are "
        "thm:regret-neff/radicand",
        checks={
            r"$D^2/(2\eta)$ once": (local_steps, dropping_by_value, non_convex),
            r"$D^2/(2\eta)$ in every round": no_projection,
        },
        corrected=Correction(
            title=r"convex, projected, value-blind; $\chi$, $\eta E$, $\log^{+}$",
            statement=said(
                "With convex losses, projection, one distribution, weights $n_m/n$ and a schedule blind "
                "to sample values: $@initial$ once, and in each round $@terms$ and the constant "
                r"$@constant$, where $\sigma^2\chi$ bounds the squared mismatch at the iterates, a "
                "hypothesis. The linear term $@linear$ can be left out, and no other term can.",
                **SHOWN,
            ),
            formula=said(
                r"\mathcal E_T\le@initial+\sum_t\Bigl[@terms+@constant\Bigr]",
                **SHOWN,
            ),
            sketch=SKETCH,
            hypotheses=(*NEEDED, MISMATCH),
            checks={
                "decomposition of the excess risk": decomposition,
                "comparator unbiased": (weights_add_up, confirming(mean_at_comparator)),
                "uniform deviation": (proved_constant, deviation_is_covered),
                "recursion from the hypotheses": corrected_recursion,
                "local drift": drift_of_local_steps,
                "projection": projection_helps,
                "telescoping sum": theorem_telescopes,
                "sum of the links": (theorem_round, confirming(theorem_assembled)),
                "linear term superfluous": sharper_recursion,
                "whole, needing each other term": theorem_powered,
            },
            given=(HAUSSLER, WRITTEN),
        ),
    ),
    Claim(
        id="thm:regret-neff/convexity",
        kind="step",
        title="Assumptions 1-4 suffice: no convexity",
        statement="No convexity is needed: the bound holds for smooth losses with bounded values and "
        "gradients.",
        formula=r"\mathcal E_T\le\bar{\mathcal E}_T\ \text{for non-convex }\ell",
        domain=r"one deterministic loss, $E=1$, every iterate inside $\Theta$",
        checks=(non_convex, basin),
        corrected=Correction(
            title="convex losses, as in Theorem 1 corrected",
            statement="With convex losses the recursion behind the bound holds. Convexity enters once: "
            r"$\langle \nabla\widehat F^{\mathrm{all}}(\theta),\theta-\theta^{\star}\rangle \ge\widehat "
            r"F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^{\star})$.",
            formula=(
                r"\langle\nabla\widehat F^{all}(\theta),\theta-\theta^\star\rangle\ge"
                r"\widehat F^{all}(\theta)-\widehat F^{all}(\theta^\star)"
            ),
            sketch=r"The recursion needs a lower bound on $\langle \nabla\widehat "
            r"F^{\mathrm{all}},\theta-\theta^{\star}\rangle$; at a local minimum that product is 0. What "
            "else it needs, the drift of local steps and a projection, is as in prop:Ropt-bound-app.",
            hypotheses=(*NEEDED, MISMATCH),
            checks=(
                corrected_recursion,
                drift_of_local_steps,
                projection_helps,
                confirming(worst_case_corrected),
            ),
            given=(WRITTEN,),
        ),
    ),
    Claim(
        id="thm:regret-neff/projection",
        kind="step",
        title=r"the iterates stay in $\Theta$",
        statement=r"The dynamics, which do not project, keep the model in $\Theta$, so that the "
        "assumptions apply to it.",
        formula=r"\theta^{(t)}\in\Theta",
        domain=r"any step size $\eta>0$",
        checks=(no_projection,),
        corrected=Correction(
            title="project after each round",
            statement=r"Projecting onto the convex $\Theta$ after each round keeps the model there and "
            r"brings it no farther from $\theta^{\star}$.",
            formula=r"\|\Pi(y)-x\|\le\|y-x\|\ \forall x\in\Theta",
            sketch=r"$\langle y-\Pi(y),x-\Pi(y)\rangle \le0$ for $x$ in $\Theta$; expand $|y-x|^2$.",
            checks=(projection_helps,),
            symbols={"Π": r"the projection onto $\Theta$", "x": r"any point of $\Theta$", "y": "any point"},
        ),
    ),
    Claim(
        id="thm:regret-neff/local-steps",
        kind="step",
        title="the bound holds for any $E$",
        statement="With convex losses, projection, one distribution and a value-blind schedule the "
        "printed bound, with its own constants, holds for every number $E$ of local steps.",
        formula=r"\mathcal E_T\le\bar{\mathcal E}_T\quad\forall E\ge1",
        domain=r"$E\ge1$, $\eta$ not scaled by $E$",
        checks=(local_steps,),
        corrected=Correction(
            title=r"$\eta E$ for $\eta$, drift $\eta(E-1)DLG/2$",
            statement=said(
                r"A round is a step of size $\eta E$: $@initial$ once, $@linear$, and a per-round "
                "constant that grows with $E$, $@constant$.",
                **SHOWN,
            ),
            formula=said("@initial,\\ @linear,\\ @constant", **SHOWN),
            sketch="See prop:Ropt-bound-app. The printed constants stay bounded as $E$ grows with "
            r"$\eta$ fixed, but clients then reach their own minimisers, whose average is not the "
            "minimiser.",
            hypotheses=(*NEEDED, MISMATCH),
            checks={
                "recursion": corrected_recursion,
                "local drift": drift_of_local_steps,
                "projection": projection_helps,
                "telescoping sum": theorem_telescopes,
            },
            given=(WRITTEN,),
        ),
    ),
    Claim(
        id="thm:regret-neff/values",
        kind="step",
        title="the bound holds for any dropping rule",
        statement="The bound holds for every client policy, also one that chooses what to drop by the "
        "samples' values.",
        formula=r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)\quad\forall\pi",
        domain="convex, projected, $E=1$, one distribution",
        checks=(dropping_by_value,),
        corrected=Correction(
            title="for rules blind to values, such as $K$-step",
            statement=r"Where admission and retention do not look at sample values, $\mathbb E\widehat "
            r"F^{\mathrm{all}}(\theta^{\star})=\mathbb E\widehat "
            r"F^{\mathrm{mem}}(\theta^{\star})=F_P(\theta^{\star})$, and the uniform deviation of the "
            "weighted samples is that of fixed weights. $K$-step retention is such a rule.",
            formula=r"E\,\widehat F^{all}(\theta^\star)=E\,\widehat F^{mem}(\theta^\star)=F_P(\theta^\star)",
            sketch="Given the schedule, the weights are constants and the samples still independent draws: "
            "linearity for the means, lem:gen-Neff-app corrected for the deviation.",
            hypotheses=("admission and retention do not look at sample values",),
            checks={"means": (weights_add_up, confirming(mean_at_comparator)), "deviation": proved_constant},
            given=(HAUSSLER, WRITTEN),
        ),
    ),
    Claim(
        id="thm:regret-neff/constant",
        kind="step",
        title="$C_2$ in every round is of lower order",
        statement=r"$C_2$, which stands inside the sum over rounds and includes $D^2/(2\eta)$, is a "
        "lower-order constant.",
        formula=r"C_2\ni\tfrac{D^2}{2\eta}",
        domain="$E=1$; for larger $E$ it is larger",
        checks=(constant_is_never_small,),
        corrected=Correction(
            title=r"$D^2/(2\eta E)$ once; $\eta EG^2+\ldots$ per round",
            statement=said(
                "$@initial$ is paid once, so that its share of a round tends to 0; each round pays "
                "$@constant$.",
                **SHOWN,
            ),
            formula=said(r"@initial+T\cdot @constant", **SHOWN),
            sketch="The squared distances of the recursion (prop:Ropt-bound-app corrected) telescope, so "
            r"that $D^2/(2\eta E)$ appears once whatever $T$; the rest of a round's recursion, over "
            r"$2\eta E$, is its constant and its statistical terms. Inside the sum, $D^2/(2\eta)+5\eta "
            r"G^2/2\ge\sqrt{5}\cdot DG$ by the inequality of the means, and "
            r"$F_P(\theta)-F_P(\theta^{\star})\le\langle \nabla F_P(\theta),\theta-\theta^{\star}\rangle "
            r"\le DG$ for convex losses and $\theta$ in $\Theta$: with projection the printed theorem is "
            r"then true and empty. Without, the model may leave $\Theta$ and it is false "
            "(thm:regret-neff).",
            hypotheses=(*NEEDED, MISMATCH),
            checks={
                "recursion": corrected_recursion,
                "local drift": drift_of_local_steps,
                "projection": projection_helps,
                "paid once": (theorem_telescopes, confirming(theorem_assembled)),
                "share of a round": paid_once,
            },
            given=(WRITTEN,),
        ),
    ),
]
