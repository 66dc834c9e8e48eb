r"""Theorem 1 (`thm:regret-neff`): what it needs, and what then holds.

The corrected bound is checked link by link, and as a whole on small problems: all outcomes of a tiny one
enumerated, larger ones simulated. A second bound, our own, avoids the mismatch and its hypothesis
altogether.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.counterexamples import (
    basin,
    dropping_by_value,
    local_steps,
    no_projection,
    non_convex,
)
from proofs_check.claims.excess_risk import (
    enumerated_quadratic,
    memory_enumerated,
    memory_simulated,
    simulated_linear,
    simulated_logistic,
)
from proofs_check.claims.generalisation import CONSTANT, proved_constant
from proofs_check.claims.recursion import corrected_recursion, drift_of_local_steps, memory_recursion
from proofs_check.claims.worst_round import worst_case_corrected, worst_case_memory
from proofs_check.engines.exact import admissions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import limit
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, holds, refutes, undecided
from proofs_check.simulator import simulate
from theory.bound import theorem_1, theorem_1_as_stated
from theory.setting import Constants

__all__ = ["CLAIMS"]


def projection_helps() -> Evidence:
    """|y - x|² = |y - p|² - 2⟨y - p, x - p⟩ + |p - x|², and the product is not positive for the projection p
    of y."""
    moved, product_, near = sp.symbols("moved product near", real=True)
    return always(
        near <= moved - 2 * product_ + near,
        given=[moved >= 0, product_ <= 0],
        domain="any convex Θ, x in Θ, p the projection of y: moved = |y-p|², product = ⟨y-p, x-p⟩, near = "
        "|p-x|²",
    )


# --- the constant ------------------------------------------------------------------------------------------


def constant_is_never_small() -> Evidence:
    """C₂ with D²/(2η) inside exceeds √5·DG, where the risk itself varies by at most DG over Θ."""
    D, eta, G = sp.symbols("D eta G", positive=True)
    one_round = theorem_1_as_stated([1], [1], [1], Constants(D=D, sigma=1, eta=eta, B=1, Pdim=1, G=G)).terms
    larger = always(
        (one_round.constant + one_round.initial) ** 2 >= 5 * (D * G) ** 2, domain="E = 1, every D, η, G > 0"
    )
    return refutes(
        larger, "C₂ ≥ √5·DG in every round, above any excess risk: so read, the theorem says nothing"
    )


def paid_once() -> Evidence:
    """Shared out over T rounds, D²/(2ηE) tends to 0."""
    T, D, eta = sp.symbols("T D eta", positive=True)
    E = sp.Symbol("E", integer=True, positive=True)
    initial = theorem_1([1], [1], [1], [0], Constants(D=D, sigma=1, eta=eta, B=1, Pdim=1, E=E)).terms.initial
    share = limit(initial / T, T)
    certificate = {"share of a round": initial / T, "limit": share}
    make = holds if share == 0 else undecided
    return make(
        "limit", f"its share of a round tends to {share}", domain="every D, η, E", certificate=certificate
    )


# --- the corrected theorem ---------------------------------------------------------------------------------


def mean_at_comparator(context: Context) -> Evidence:
    """E F_all(θ*) = E F_mem(θ*) = F_P(θ*): all outcomes of a few samples, loss values 0 and 1 with equal
    chances."""

    def differs(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        for seen in simulate(rounds, K):
            if not 0 < seen.N <= 6 or seen.n == 0:
                continue
            streams = list(product((0, 1), repeat=seen.N))
            whole = sum(sum(w * v for w, v in zip(seen.weights.values(), z, strict=True)) for z in streams)
            value = dict(zip(seen.uses, range(seen.N), strict=True))
            memory = sum(Fraction(sum(z[value[i]] for i in seen.memory), seen.n) for z in streams)
            means = [Fraction(x) / len(streams) for x in (whole, memory)]
            if means != [Fraction(1, 2)] * 2:
                return {"round": seen.round, "mean of F_all": means[0], "mean of F_mem": means[1]}
        return None

    return search(
        context,
        {"K": retentions(3), "rounds": admissions(rounds=4, most=2)},
        differs,
        examples=60,
        domain="K-step retention, blind to values; F_P(θ*) = 1/2",
    )


def weights_add_up() -> Evidence:
    """By linearity E Σ ω_i ℓ(θ*; z_i) = Σ ω_i·F_P(θ*), with ω_i = A_i/ΣA."""
    i, N = sp.symbols("i N", integer=True, positive=True)
    count, risk = sp.Function("A"), sp.Symbol("F", real=True)
    mean = sp.Sum(count(i) * risk, (i, 1, N)) / sp.Sum(count(i), (i, 1, N))
    domain = "any N, any reuse counts that do not depend on the samples"
    return equal(mean, risk, domain=domain, what="E F_all(θ*) and F_P(θ*)")


NEEDED = (
    "every loss is convex and differentiable in θ",
    "gradients are bounded by G and, for E > 1, L-Lipschitz, wherever the local steps go",
    "the server projects onto the convex set Θ of diameter D after each round",
    "clients draw from one distribution and are weighted by n_m/n",
    "admission and retention do not look at sample values",
)
MISMATCH = "the squared mismatch at the iterates has mean at most σ²χ (Assumption 4 gives that at a fixed θ)"
BOUND = (
    r"\frac{D^2}{2\eta E}+\sum_t\Bigl[D\sigma\sqrt\chi+\eta E\sigma^2\chi+10B\sqrt{\tfrac{"
    r"\mathrm{Pdim}}{N_{\mathrm{eff}}}}"
    r"\sqrt{1+\log^+\tfrac N{\mathrm{Pdim}}}+\eta EG^2+\tfrac12\eta(E-1)DLG\Bigr]"
)

CLAIMS = [
    Claim(
        id="thm:regret-neff",
        kind="theorem",
        title="Theorem 1, the learning-error bound",
        statement="Under Assumptions 1-4 the cumulative excess risk of any policy is at most the printed "
        "bound, with D²/(2η) paid once, as in its proof.",
        latex=r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)",
        unicode="E_T(π) ≤ Ē_T(π)",
        domain="any joint policy, any E >= 1; rounds without a real radicand are thm:regret-neff/radicand",
        checks=(local_steps, dropping_by_value, non_convex),
        corrected=Correction(
            title="convex, projected, value-blind; χ, ηE, log⁺",
            statement="With convex losses, projection, one distribution, weights n_m/n and a schedule blind "
            "to sample values: D²/(2ηE) once, and in each round Dσ√χ + ηEσ²χ + "
            "10B√(Pdim/N_eff)√(1+log⁺(N/Pdim)) + ηEG² + η(E-1)DLG/2, where σ²χ bounds the squared mismatch "
            "at the iterates, a hypothesis.",
            latex=rf"\mathcal E_T\le{BOUND}",
            unicode="E_T ≤ D²/(2ηE) + Σ[Dσ√χ + ηEσ²χ + 10B√(Pdim/N_eff)√(1+log⁺(N/Pdim)) + ηEG² + "
            "η(E-1)DLG/2]",
            sketch="E[F_P(θ)-F_P(θ*)] = E[F_P(θ)-F_all(θ)] + E[F_all(θ)-F_all(θ*)], because E F_all(θ*) = "
            "F_P(θ*). The first is at most the uniform deviation (lem:gen-Neff-app), the second is summed by "
            "the corrected recursion (prop:Ropt-bound-app) with σ̄² <= σ²χ. The links are checked by machine, "
            "their composition is this sketch.",
            hypotheses=(*NEEDED, MISMATCH),
            checks=(
                lambda: corrected_recursion().about("recursion"),
                lambda: drift_of_local_steps().about("local drift"),
                lambda: projection_helps().about("projection"),
                lambda: weights_add_up().about("comparator"),
                lambda context: mean_at_comparator(context).about("comparator"),
                lambda: proved_constant(10).about("generalisation"),
                lambda context: enumerated_quadratic(context).about("whole, on examples"),
                lambda context: simulated_linear(context).about("whole, on examples"),
                lambda context: simulated_logistic(context).about("whole, on examples"),
            ),
        ),
    ),
    Claim(
        id="thm:regret-neff/convexity",
        kind="step",
        title="Assumptions 1-4 suffice: no convexity",
        statement="No convexity is needed: the bound holds for smooth losses with bounded values and "
        "gradients.",
        latex=r"\mathcal E_T\le\bar{\mathcal E}_T\ \text{for non-convex }\ell",
        unicode="E_T ≤ Ē_T without convexity",
        domain="one deterministic loss, E = 1, every iterate inside Θ",
        checks=(non_convex, basin),
        corrected=Correction(
            title="convex losses, as in Theorem 1 corrected",
            statement="With convex losses the recursion behind the bound holds. Convexity enters once: "
            "⟨∇F_all(θ), θ-θ*⟩ >= F_all(θ) - F_all(θ*).",
            latex=r"\langle\nabla\widehat F^{all}(\theta),\theta-\theta^\star\rangle\ge"
            r"\widehat F^{all}(\theta)-\widehat F^{all}(\theta^\star)",
            unicode="⟨∇F_all(θ), θ-θ*⟩ ≥ F_all(θ) - F_all(θ*)",
            sketch="The recursion needs a lower bound on ⟨∇F_all, θ-θ*⟩; at a local minimum that product is "
            "0.",
            hypotheses=NEEDED,
            checks=(corrected_recursion, worst_case_corrected),
        ),
    ),
    Claim(
        id="thm:regret-neff/projection",
        kind="step",
        title="the iterates stay in Θ",
        statement="The dynamics, which do not project, keep the model in Θ, so that the assumptions apply to "
        "it.",
        latex=r"\theta^{(t)}\in\Theta",
        unicode="θ(t) ∈ Θ",
        domain="any step size η > 0",
        checks=(no_projection,),
        corrected=Correction(
            title="project after each round",
            statement="Projecting onto the convex Θ after each round keeps the model there and brings it no "
            "farther from θ*.",
            latex=r"\|\Pi(y)-x\|\le\|y-x\|\ \forall x\in\Theta",
            unicode="|Π(y) - x| ≤ |y - x| for x in Θ",
            sketch="⟨y - Π(y), x - Π(y)⟩ <= 0 for x in Θ; expand |y - x|².",
            checks=(projection_helps,),
        ),
    ),
    Claim(
        id="thm:regret-neff/local-steps",
        kind="step",
        title="the bound holds for any E",
        statement="With convex losses, projection, one distribution and a value-blind schedule the printed "
        "bound, with its own constants, holds for every number E of local steps.",
        latex=r"\mathcal E_T\le\bar{\mathcal E}_T\quad\forall E\ge1",
        unicode="E_T ≤ Ē_T for every E",
        domain="E >= 1, η not scaled by E",
        checks=(local_steps,),
        corrected=Correction(
            title="ηE for η, drift η(E-1)DLG/2",
            statement="A round is a step of size ηE: D²/(2ηE) once, ηEσ²χ, and a per-round constant that "
            "grows with E, ηEG² + η(E-1)DLG/2.",
            latex=r"\tfrac{D^2}{2\eta E},\ \eta E\sigma^2\chi,\ \eta EG^2+\tfrac12\eta(E-1)DLG",
            unicode="D²/(2ηE), ηEσ²χ, ηEG² + η(E-1)DLG/2",
            sketch="See prop:Ropt-bound-app. The printed constants stay bounded as E grows with η fixed, but "
            "clients then reach their own minimisers, whose average is not the minimiser.",
            hypotheses=NEEDED,
            checks=(
                lambda: corrected_recursion().about("recursion"),
                lambda: drift_of_local_steps().about("local drift"),
            ),
        ),
    ),
    Claim(
        id="thm:regret-neff/values",
        kind="step",
        title="the bound holds for any dropping rule",
        statement="The bound holds for every client policy, also one that chooses what to drop by the "
        "samples' values.",
        latex=r"\mathcal E_T(\pi)\le\bar{\mathcal E}_T(\pi)\quad\forall\pi",
        unicode="E_T(π) ≤ Ē_T(π) for every π",
        domain="convex, projected, E = 1, one distribution",
        checks=(dropping_by_value,),
        corrected=Correction(
            title="for rules blind to values, such as K-step",
            statement="Where admission and retention do not look at sample values, E F_all(θ*) = E F_mem(θ*) "
            "= F_P(θ*), and the uniform deviation of the weighted samples is that of fixed weights. K-step "
            "retention is such a rule.",
            latex=r"E\,\widehat F^{all}(\theta^\star)=E\,\widehat F^{mem}(\theta^\star)=F_P(\theta^\star)",
            unicode="E F_all(θ*) = E F_mem(θ*) = F_P(θ*)",
            sketch="Given the schedule, the weights are constants and the samples still independent draws: "
            "linearity.",
            hypotheses=("admission and retention do not look at sample values",),
            checks=(weights_add_up, mean_at_comparator),
        ),
    ),
    Claim(
        id="thm:regret-neff/constant",
        kind="step",
        title="C₂ in every round is of lower order",
        statement="C₂, which stands inside the sum over rounds and includes D²/(2η), is a lower-order "
        "constant.",
        latex=r"C_2\ni\tfrac{D^2}{2\eta}",
        unicode="Σ[… + C₂], C₂ ∋ D²/(2η)",
        domain="E = 1; for larger E it is larger",
        checks=(constant_is_never_small,),
        corrected=Correction(
            title="D²/(2ηE) once; ηEG² + … per round",
            statement="D²/(2ηE) is paid once, and its share of a round tends to 0; per round there remain "
            "ηEG² + η(E-1)DLG/2.",
            latex=r"\frac{D^2}{2\eta E}+T\bigl(\eta EG^2+\tfrac12\eta(E-1)DLG\bigr)",
            unicode="D²/(2ηE) + T(ηEG² + η(E-1)DLG/2)",
            sketch="The squared distances telescope. Inside the sum, D²/(2η) + 5ηG²/2 >= √5·DG by the "
            "inequality of the means, and |F_P(θ)-F_P(θ*)| <= DG on Θ: the printed theorem is then true and "
            "empty.",
            checks=(paid_once,),
        ),
    ),
    Claim(
        id="thm:regret-neff/memory",
        kind="addition",
        title="a bound without mismatch and N_eff (ours)",
        statement="Measured through the memory's own objective, the excess risk needs neither the mismatch "
        "nor N_eff nor smoothness: D²/(2ηE) once, ηEG²/2 a round, and 5.2B√(Pdim(n-Λ))/n for the n-Λ samples "
        "that are not fresh. For K = 1 no statistical term is left: it is one pass of SGD.",
        latex=r"\mathcal E_T\le\frac{D^2}{2\eta E}+\frac T2\eta EG^2+5.2\,B\sum_t\frac{\sqrt{\mathrm{Pdim}"
        r"\,(n-\Lambda)}}n",
        unicode="E_T ≤ D²/(2ηE) + TηEG²/2 + 5.2·BΣ√(Pdim(n-Λ))/n",
        domain="convex losses, |∇ℓ| <= G, projection, one distribution, weights n_m/n, schedule blind to "
        "values",
        checks=(
            lambda: memory_recursion().about("local steps"),
            lambda: worst_case_memory().about("local steps"),
            lambda: projection_helps().about("projection"),
            lambda: weights_add_up().about("comparator"),
            lambda: proved_constant(CONSTANT).about("deviation of the old samples"),
            lambda context: memory_enumerated(context).about("whole, on examples"),
            lambda context: memory_simulated(context).about("whole, on examples"),
        ),
    ),
]
