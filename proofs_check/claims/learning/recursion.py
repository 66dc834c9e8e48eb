r"""The one-step optimisation recursion and its sum (`prop:Ropt-bound-app`).

A round is a projected step \(\theta^+=\Pi(\theta-\eta E\,\hat g)\), with \(\hat g\) the mean of all local gradients.
As printed the recursion is refuted twice over: the gap is taken to the minimum of \(\widehat F^{all}\), which is not at
θ*, and E full local steps move farther than η allows for. With \(x=\theta-\theta^\star\), three facts carry the
corrected one: convexity, \(\langle\nabla\widehat F^{all},x\rangle\ge\widehat F^{all}(\theta)-\widehat
F^{all}(\theta^\star)\); Cauchy-Schwarz for the mismatch, \(\langle\nabla\widehat F^{mem}-\nabla\widehat
F^{all},x\rangle\ge-D\bar\sigma\); and the local drift, \(\langle\hat g-\nabla\widehat F^{mem},x\rangle\ge-\tfrac12\eta
(E-1)LGD\). A projection brings no point of Θ farther away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, fractions, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying
from proofs_check.groundwork.learning.counterexamples import DriftingClients
from proofs_check.groundwork.learning.many_rounds import (
    theorem_telescopes,
)
from proofs_check.groundwork.learning.one_round import (
    PREMISES,
    WORDS,
    corrected_recursion,
    drift_of_local_steps,
    gap,
    moved,
    projection_helps,
    sharper_recursion,
)
from proofs_check.groundwork.learning.worst_round import (
    rise,
    rise_as_stated,
    worst_case_corrected,
    worst_case_local_steps,
    worst_case_one_step,
    worst_case_own_minimum,
)
from proofs_check.symbols import CONSTANTS, chi
from proofs_check.text import said
from theory.algebra import ball
from theory.bound import (
    initial_term,
    linear_term,
    per_round_constant,
    per_round_constant_as_stated,
    root_term,
)
from theory.setting import Constants

ONE_STEP = replace(CONSTANTS, E=1, L=None)


def _linear_round(E: int, eta: Any, D: Any) -> dict[str, Any]:
    r"""Round 1 with one sample: \(\ell(\theta;z)=z\theta+D/2\), z = ±1 with equal chances, on [-D/2, D/2].

    The population risk is constant, so \(\theta^\star=0\) is a minimiser; start there. Memory and all
    samples are the same one sample, so \(\bar\sigma=0\). G = 1; a linear loss is L-smooth for every L > 0.
    """
    half = Fraction(D) / 2
    ends = [max(-half, min(half, -eta * E * z)) for z in (1, -1)]
    constants = Constants(D=D, sigma=1, eta=eta, B=D, Pdim=1, E=E, G=1, L=Fraction(1, 10**6))
    return {
        "distance after": sum(end * end for end in ends) / 2,
        "gap to the minimum of F_all": half,
        "gap to θ*": Fraction(0),
        "rise": rise_as_stated(constants, 0),
    }


def _linear_facts() -> dict[str, Evidence]:
    """What `_linear_round` claims of its losses, for every D; each is monotone in θ, so Pdim = 1."""
    theta, D = sp.Symbol("theta", real=True), sp.Symbol("D", positive=True)
    losses = [z * theta + D / 2 for z in (1, -1)]
    slopes = [sp.diff(loss, theta) for loss in losses]

    def wrong(slope: Any) -> dict[str, Any] | None:
        return None if abs(slope) <= 1 and sum(slopes) == 0 else {"slopes": slopes}

    inside = [theta >= -D / 2, theta <= D / 2]
    domain = "every D, θ in [-D/2, D/2]"
    return {
        "0 <= loss <= B": always([r for f in losses for r in (f >= 0, f <= D)], given=inside, domain=domain),
        "slopes ±1: G = σ = 1, a constant risk": exhaust(
            [{"slope": s} for s in slopes], wrong, domain=domain
        ),
    }


def _violated(left: Any, right: Any) -> bool:
    return bool(sp.sympify(left) > sp.sympify(right))


def own_minimum_at_one_step(context: Context) -> Evidence:
    """The recursion as printed at E = 1: the gap is taken to the minimum of F_all."""

    def find(eta: Any, D: Any) -> Mapping[str, Any] | None:
        seen = _linear_round(1, eta, D)
        left, right = seen["distance after"], seen["rise"] - 2 * eta * seen["gap to the minimum of F_all"]
        return {"left": left, "right": right} if _violated(left, right) else None

    found = search(
        context,
        {"eta": fractions(), "D": fractions()},
        find,
        examples=200,
        domain=r"$E=1$, one sample, losses linear in $\theta$, start at $\theta^{\star}=0$, projection "
        "onto $[-D/2,D/2]$",
    )
    return obeying(found, _linear_facts())


def full_local_steps(context: Context) -> Evidence:
    """Even with the gap taken to θ*, several local steps of full size move farther than η allows for."""

    def find(E: int, eta: Any, D: Any) -> Mapping[str, Any] | None:
        seen = _linear_round(E, eta, D)
        left, right = seen["distance after"], seen["rise"] - 2 * eta * seen["gap to θ*"]
        return {"left": left, "right": right} if _violated(left, right) else None

    found = search(
        context,
        {"E": st.integers(1, 4), "eta": fractions(), "D": fractions()},
        find,
        examples=300,
        domain=r"gap taken to $\theta^{\star}$, $E=1,\ldots,4$, one sample, linear losses, start at "
        r"$\theta^{\star}=0$, projected",
    )
    return obeying(found, _linear_facts())


def one_step_recursion() -> Evidence:
    """Z3 on the printed right-hand side at E = 1, gap to θ*."""
    eta = CONSTANTS.eta
    statement = moved(eta) <= -2 * eta * gap + rise_as_stated(ONE_STEP, chi)
    facts = [fact.subs(CONSTANTS.E, 1) for fact in PREMISES.values()]
    nonnegative = sp.Symbol("chi", nonnegative=True)
    return always(statement.subs(chi, nonnegative), given=facts, domain=WORDS.replace(" E, L,", ""))


def cumulative_with_drift() -> Evidence:
    """The optimisation error of drifting clients against the printed cumulative bound."""
    example = DriftingClients()
    c = example.constants
    found = compare(
        lambda _: example.cumulative_gap(population=False),
        "<=",
        lambda _: ball(initial_term(c) + example.rounds * per_round_constant_as_stated(c)),
        [{"T": example.rounds, "E": c.E, "eta": c.eta, "clients": example.clients}],
        domain=r"losses $\theta^2/2$ and $(1-\theta)^2/20$ on [0, 1], one sample a client, kept for "
        "ever, so mismatch 0",
    )
    return obeying(found, example.problem.facts)


HYPOTHESES = (
    "every loss is convex and differentiable",
    "gradients are bounded by $G$ and, for $E>1$, $L$-Lipschitz, wherever the local steps go",
    r"the server projects onto the convex set $\Theta$ after each round",
    "clients are weighted by $n_m/n$",
    r"the squared mismatch at the iterates has mean at most $\sigma^2\chi$",
)
PER_ROUND = root_term(chi, CONSTANTS.merged) + linear_term(chi, CONSTANTS.merged)


CLAIMS = [
    Claim(
        id="prop:Ropt-bound-app",
        kind="lemma",
        title="one-step recursion",
        statement=r"A round lowers the squared distance to $\theta^{\star}$ by $2\eta$ times the gap of "
        r"$\widehat F^{\mathrm{all}}$ above its own minimum, up to $2\eta "
        r"D\bar\sigma+\eta^2(2\bar\sigma^2+C_1)+\eta^4C_2$, for any number $E$ of local steps.",
        formula=said(
            r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E["
            r"\widehat F^{all}_t(\theta^t)-\min\widehat F^{all}_t]+2\eta D\bar\sigma+2\eta^2\bar\sigma^2+@printed",
            printed=sp.expand(2 * CONSTANTS.eta * per_round_constant_as_stated(CONSTANTS)),
        ),
        domain=r"Assumptions 1-4, any $E\ge1$",
        checks=(own_minimum_at_one_step, full_local_steps, worst_case_own_minimum, worst_case_local_steps),
        corrected=Correction(
            title=r"gap to $\theta^{\star}$, $\eta E$ for $\eta$, convex, projected",
            statement=said(
                r"With convex losses and projection, the gap taken to $\theta^{\star}$ and $\eta E$ for "
                r"$\eta$, a round adds at most $@rise$. The linear term in $\chi$, and half of what "
                "stands with $G^2$, can be left out.",
                rise=rise(CONSTANTS, chi),
            ),
            formula=said(
                r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E\,E["
                r"\widehat F^{all}_t(\theta^t)-\widehat F^{all}_t(\theta^\star)]+@rise",
                rise=rise(CONSTANTS, chi),
            ),
            sketch=r"$\theta^{+}=\Pi(\theta-\eta E\hat{g})$ with $\hat{g}$ the mean of all local "
            r"gradients, $|\hat{g}|\le G$, and $x=\theta-\theta^{\star}$. A projection onto $\Theta$ "
            r"brings no point of $\Theta$ farther away, so $|\theta^{+}-\theta^{\star}|^2\le|x|^2-2\eta "
            r"E\langle \hat{g},x\rangle +(\eta E)^2|\hat{g}|^2$. $\langle \hat{g},x\rangle \ge\langle "
            r"\nabla\widehat F^{\mathrm{mem}},x\rangle -\eta(E-1)LGD/2$ by the local drift, $\ge\langle "
            r"\nabla\widehat F^{\mathrm{all}},x\rangle -D|\nabla\widehat F^{\mathrm{all}}-\nabla\widehat "
            r"F^{\mathrm{mem}}|-\ldots$ by Cauchy-Schwarz, $\ge\widehat "
            r"F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^{\star})-\ldots$ by convexity. "
            r"In the mean the mismatch is at most $\sigma\sqrt{\chi}$, by Jensen. $\theta^{\star}$ "
            r"minimises the population risk and not $\widehat F^{\mathrm{all}}$, so the gap may be "
            r"negative, but $\mathbb E\widehat F^{\mathrm{all}}(\theta^{\star})=F_P(\theta^{\star})$, "
            r"which is what the theorem needs. $|\hat{g}|^2\le G^2$ alone gives $(\eta E)^2G^2$ in place "
            r"of $2(\eta E)^2(\sigma^2\chi+G^2)$.",
            hypotheses=HYPOTHESES,
            checks={
                "recursion": (corrected_recursion, confirming(worst_case_corrected)),
                "what can be left out": sharper_recursion,
                "local drift": drift_of_local_steps,
                "projection": projection_helps,
            },
            given=(WRITTEN,),
        ),
    ),
    Claim(
        id="prop:Ropt-bound-app/one-local-step",
        kind="step",
        title=r"recursion at $E=1$, gap to $\theta^{\star}$",
        statement="With one local step, convex losses and projection, the printed right-hand side is "
        r"right once the gap is taken to $\widehat F^{\mathrm{all}}(\theta^{\star})$ and not to the "
        r"minimum of $\widehat F^{\mathrm{all}}$.",
        formula=said(
            r"\|\theta^{+}-\theta^\star\|^2\le\|\theta-\theta^\star\|^2-2\eta[\widehat F^{all}(\theta)"
            r"-\widehat F^{all}(\theta^\star)]+@rise",
            rise=rise_as_stated(ONE_STEP, chi),
        ),
        domain="$E=1$",
        checks=(one_step_recursion, projection_helps, confirming(worst_case_one_step)),
        sketch=r"As for prop:Ropt-bound-app, corrected, with $E=1$: no local drift, and $5\eta G^2$ "
        r"where $\eta G^2$ is enough.",
        given=(WRITTEN,),
    ),
    Claim(
        id="eq:Ropt-bound-app",
        kind="lemma",
        title="cumulative optimisation error",
        statement=r"The optimisation errors of $T$ rounds add up to at most $D^2/(2\eta)+D\sum "
        r"\bar\sigma+(\eta/2)\sum (2\bar\sigma^2+C_1)+(\eta^3/2)C_2T$.",
        formula=said(
            r"\mathcal E^{opt}_T\le@initial+D\sum\bar\sigma+\eta\sum\bar\sigma^2+T\Bigl(@printed\Bigr)",
            initial=initial_term(CONSTANTS),
            printed=sp.expand(per_round_constant_as_stated(CONSTANTS)),
        ),
        domain=r"Assumptions 1-4, any $E\ge1$",
        checks=(cumulative_with_drift,),
        corrected=Correction(
            title=r"against $\theta^{\star}$, $\eta E$ for $\eta$, drift $\eta(E-1)DLG/2$",
            statement=said(
                r"Measured against $\theta^{\star}$: $@initial$ once, and in each round $@terms$ and the "
                "constant $@constant$.",
                initial=initial_term(CONSTANTS.merged),
                terms=PER_ROUND,
                constant=per_round_constant(CONSTANTS),
            ),
            formula=said(
                r"\sum_tE[\widehat F^{all}_t(\theta^t)-\widehat F^{all}_t(\theta^\star)]\le@initial+\sum_t\bigl[@terms"
                r"\bigr]+T\cdot @constant",
                initial=initial_term(CONSTANTS.merged),
                terms=PER_ROUND,
                constant=per_round_constant(CONSTANTS),
            ),
            sketch=r"Divide the corrected recursion by $2\eta E$ and add: the squared distances "
            "telescope, the first is at most $D^2$ and the last at least 0. The recursion itself is "
            "prop:Ropt-bound-app.",
            hypotheses=HYPOTHESES,
            checks={
                "telescoping sum": theorem_telescopes,
                "recursion": corrected_recursion,
                "local drift": drift_of_local_steps,
                "projection": projection_helps,
            },
            given=(WRITTEN,),
        ),
    ),
]
