"""A bound through the memory's own objective, without mismatch and N_eff (`thm:regret-neff/memory`).

Training follows the memory's objective, so it can be measured there and compared with the population directly. What is
fresh in a round is unknown to the model and causes no deviation; only the older samples do. For K = 1 none are left,
and the bound is that of one pass of SGD, which is attained. Clients may differ, if they are weighted by their shares.
"""

from __future__ import annotations

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, confirming
from proofs_check.evidence import Evidence
from proofs_check.groundwork.learning.chaining import HAUSSLER, proved_constant
from proofs_check.groundwork.learning.excess_risk import memory_powered
from proofs_check.groundwork.learning.many_rounds import (
    assembled,
    attained,
    constant_memory,
    memory_round_links,
    memory_telescopes,
    memory_terms,
)
from proofs_check.groundwork.learning.one_round import (
    average_over_clients,
    memory_recursion,
    projection_helps,
)
from proofs_check.groundwork.learning.population import (
    decomposition,
    fresh_do_not_deviate,
    fresh_mean,
    only_fresh,
    shares_add_up,
    stale_weights,
    stale_weights_constant,
    stale_weights_merged,
    stale_weights_of_a_client,
    stale_weights_of_clients,
    weights_add_up,
)
from proofs_check.groundwork.learning.worst_round import worst_case_memory
from proofs_check.notation import CONSTANTS, K, T, decimal, rate, said, t, written
from theory.bound import initial_term
from theory.sharper import memory_round, stale_weight, stale_weight_constant, step_constant

_more = sp.Symbol("more", positive=True)  # k - 1, for looks
k = sp.Symbol("k", integer=True, positive=True)
m, M = sp.symbols("m M", integer=True, positive=True)
share, size, fresh = sp.symbols("alpha_m n_m lambda_m", positive=True)
STALE = sp.Sum(stale_weight([fresh], [size], [share]), (m, 1, M))
CONSTANT_STALE = stale_weight_constant(K, t, rate).subs(sp.Min(K, t), 1 + _more)
SHOWN = {
    "initial": initial_term(CONSTANTS.merged),
    "constant": T * step_constant(CONSTANTS),
    "step": step_constant(CONSTANTS),
    "deviation": decimal(memory_round(_more, CONSTANTS).total).subs(_more, STALE),
    "alone": decimal(memory_round(CONSTANT_STALE, CONSTANTS).total).subs(_more, k - 1),
}


def memory_assembled() -> Evidence:
    """Theory's bound over T rounds is the sum of what the links give."""
    return assembled(
        memory_terms,
        lambda n, N, V, chi, stale: memory_round(stale, CONSTANTS).total,
        step_constant,
    )


SKETCH = (
    "Notation: client m has the share α_m of the population, Σα_m = 1, draws from P_m with risk F_{P,m}, and "
    "holds n_m ≥ 1 samples in round t, λ_m of them admitted in this round; F_m is their mean loss, F_mem = "
    "Σα_mF_m, F_P = Σα_mF_{P,m}, θ* a minimiser of F_P in Θ, x = θ-θ*. With one common distribution any "
    "weights that add up to 1 and do not look at the samples may stand for α_m, n_m/n for instance, and they "
    "may change from round to round. 1. A client starts at θ_0 = θ and takes θ_{e+1} = θ_e - η∇F_m(θ_e), e = "
    "0..E-1; with x_e = θ_e-θ*, |x_{e+1}|² = |x_e|² - 2η⟨∇F_m(θ_e), x_e⟩ + η²|∇F_m(θ_e)|². By convexity the "
    "product is at least F_m(θ_e) - F_m(θ*), and F_m(θ_e) ≥ F_m(θ) + ⟨∇F_m(θ), θ_e-θ⟩ ≥ F_m(θ) - G·ηeG, since "
    "e steps of at most ηG lead to a distance of at most ηeG. With Σ_{e<E}(1+2e) = E²: |x_E|² ≤ |x|² - "
    "2ηE[F_m(θ) - F_m(θ*)] + (ηEG)². 2. The server averages: |Σα_mx_E|² ≤ Σα_m|x_E|². It projects onto Θ, "
    "which contains θ*: no distance to θ* grows. Hence |θ⁺-θ*|² ≤ |θ-θ*|² - 2ηE[F_mem(θ) - F_mem(θ*)] + "
    "(ηEG)², in every run. 3. Divide by 2ηE and add: Σ[F_mem(θ) - F_mem(θ*)] ≤ D²/(2ηE) + TηEG²/2. 4. "
    "E[F_P(θ)-F_P(θ*)] = E[F_P(θ)-F_mem(θ)] + E[F_mem(θ)-F_mem(θ*)] + E[F_mem(θ*)-F_P(θ*)]. The last is 0: the "
    "schedule does not look at values, so each F_m(θ*) is unbiased for F_{P,m}(θ*). 5. F_P(θ)-F_mem(θ) = Σ_i "
    "w_i[F_{P,m(i)}(θ) - ℓ(θ; z_i)] over the samples in memory, w_i = α_m/n_m for one of client m. The θ with "
    "which round t starts was made in earlier rounds; given these, a fresh z_i is a draw of P_m that θ does "
    "not depend on, and its summand has mean 0. What is left are the older samples, at most E sup|Σ_{i "
    "old}w_i[F_{P,m(i)}(θ') - ℓ(θ'; z_i)]| over θ'. 6. That supremum has mean at most 5.2B√(Pdim·Σ_{i "
    "old}w_i²). The proof of lem:gen-Neff-app (five steps, in groundwork/learning/chaining) goes through: a constant "
    "taken from every loss changes no F_{P,m}(θ') - ℓ(θ'; z), whatever the weights add up to; symmetrisation "
    "needs independent samples and not one distribution; the process is sub-Gaussian for √(Σw_i²)·|f-g| in "
    "L₂(Q) with Q ∝ w²; and Haussler's packing numbers hold for every Q. 7. Σ_{i old}w_i² = "
    "Σ_mα_m²(n_m-λ_m)/n_m². Add over the rounds. For weights n_m/n it is (n-Λ)/n², which under constant "
    "admission is (k-1)/(k²Λ̄), k = min(K, t); that holds for α_m too if client m admits α_mΛ̄. Attained: loss "
    "Gθ on [0, D], start at D = MηEG, M rounds, samples without spread, K = 1."
)


CLAIMS = [
    Claim(
        id="thm:regret-neff/memory",
        kind="addition",
        title="a bound without mismatch and N_eff (ours)",
        statement=said(
            "Measured through the memory's own objective, the excess risk needs neither the mismatch nor "
            "N_eff nor smoothness: @initial once, @step a round, and @deviation for the samples that are not "
            "fresh, also where clients have distributions of their own and are weighted by their shares α_m. "
            "Under constant admission the last is @alone, k = min(K, t). For K = 1 no statistical term is "
            "left: it is one pass of SGD, and attained. No term can be left out.",
            **SHOWN,
        ),
        formula=written(
            r"\mathcal E_T\le@initial+@constant+\sum_t@deviation",
            "E_T ≤ @initial + @constant + Σ_t @deviation",
            **SHOWN,
        ),
        domain="convex losses, |∇ℓ| <= G wherever local steps lead, projection, w_m = α_m (or one distribution "
        "and any weights, such as n_m/n), every client holds a sample, schedule blind to values; any E, any "
        "retention",
        sketch=SKETCH,
        symbols={"n_m": "samples in the memory of client m", "λ_m": "of these, admitted in this round"},
        parts=(
            "local steps",
            "average over clients",
            "projection",
            "telescoping sum",
            "decomposition of the excess risk",
            "comparator unbiased",
            "fresh samples do not deviate",
            "weight of the older samples",
            "uniform deviation",
            "sum of the links",
            "constant admission",
            "attained",
            "whole, needing each term",
        ),
        checks={
            "local steps": (memory_recursion, confirming(worst_case_memory)),
            "average over clients": average_over_clients,
            "projection": projection_helps,
            "telescoping sum": memory_telescopes,
            "decomposition of the excess risk": decomposition,
            "comparator unbiased": (shares_add_up, weights_add_up),
            "fresh samples do not deviate": (fresh_mean, confirming(fresh_do_not_deviate)),
            "weight of the older samples": (
                stale_weights_of_a_client,
                confirming(stale_weights_of_clients),
                confirming(stale_weights),
            ),
            "uniform deviation": proved_constant,
            "sum of the links": (memory_round_links, confirming(memory_assembled)),
            "constant admission": (
                stale_weights_merged,
                stale_weights_constant,
                confirming(constant_memory),
            ),
            "attained": (only_fresh, attained),
            "whole, needing each term": memory_powered,
        },
        given=(HAUSSLER, WRITTEN),
    ),
]
