r"""The one-step optimisation recursion and its sum (`prop:Ropt-bound-app`).

A round is a projected step \(\theta^+=\Pi(\theta-\eta E\,\hat g)\), where \(\hat g\) is the mean of all
local gradients. With \(x=\theta-\theta^\star\), three facts carry the corrected recursion: convexity,
\(\langle\nabla\widehat F^{all},x\rangle\ge \widehat F^{all}(\theta)-\widehat F^{all}(\theta^\star)\);
Cauchy-Schwarz for the mismatch, \(\langle\nabla\widehat F^{mem}-\nabla\widehat
F^{all},x\rangle\ge-D\bar\sigma\); and the local drift, \(\langle\hat g-\nabla\widehat
F^{mem},x\rangle\ge-\tfrac12\eta(E-1)LGD\). A projection brings no point of Θ farther away.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.counterexamples import DriftingClients
from proofs_check.claims.worst_round import (
    rise,
    rise_as_stated,
    worst_case_corrected,
    worst_case_local_steps,
    worst_case_one_step,
    worst_case_own_minimum,
)
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import fractions, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence
from theory.algebra import ball
from theory.bound import linear_term, per_round_constant, per_round_constant_as_stated
from theory.setting import Constants

__all__ = ["CLAIMS", "corrected_recursion", "drift_of_local_steps", "memory_recursion", "sharper_recursion"]


# --- linear losses, by hand --------------------------------------------------------------------------------


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


def _violated(left: Any, right: Any) -> bool:
    return bool(sp.sympify(left) > sp.sympify(right))


def own_minimum_at_one_step(context: Context) -> Evidence:
    """The recursion as printed at E = 1: the gap is taken to the minimum of F_all."""

    def find(eta: Any, D: Any) -> Mapping[str, Any] | None:
        seen = _linear_round(1, eta, D)
        right = seen["rise"] - 2 * eta * seen["gap to the minimum of F_all"]
        return (
            {"left": seen["distance after"], "right": right}
            if _violated(seen["distance after"], right)
            else None
        )

    return search(
        context,
        {"eta": fractions(), "D": fractions()},
        find,
        examples=200,
        domain="E = 1, one sample, losses linear in θ, start at θ* = 0, projection onto [-D/2, D/2]",
    )


def full_local_steps(context: Context) -> Evidence:
    """Even with the gap taken to θ*, several local steps of full size move farther than η allows for."""

    def find(E: int, eta: Any, D: Any) -> Mapping[str, Any] | None:
        seen = _linear_round(E, eta, D)
        right = seen["rise"] - 2 * eta * seen["gap to θ*"]
        return (
            {"left": seen["distance after"], "right": right}
            if _violated(seen["distance after"], right)
            else None
        )

    return search(
        context,
        {"E": st.integers(1, 4), "eta": fractions(), "D": fractions()},
        find,
        examples=300,
        domain="gap taken to θ*, E = 1..4, one sample, linear losses, start at θ* = 0, projected",
    )


# --- proofs ------------------------------------------------------------------------------------------------

_D, _eta, _L, _G = sp.symbols("D eta L G", positive=True)
_E = sp.Symbol("E", integer=True, positive=True)
_mismatch = sp.Symbol("mismatch", nonnegative=True)
_all, _memory, _local, _square, _gap = sp.symbols("all memory local square gap", real=True)
_SYMBOLIC = Constants(D=_D, sigma=1, eta=_eta, B=1, Pdim=1, E=_E, L=_L, G=_G)
_FACTS = [
    _memory >= _all - _D * _mismatch,
    _local >= _memory - _eta * (_E - 1) * _L * _G * _D / 2,
    _square >= 0,
    _square <= _G**2,
    _E >= 1,
]
_WORDS = (
    "every D, η, E, L, G > 0; all, memory, local are ⟨∇F_all, x⟩, ⟨∇F_mem, x⟩, ⟨ĝ, x⟩, square is |ĝ|², with "
    "convexity, Cauchy-Schwarz, the local drift and |ĝ| <= G given"
)


def _moved(step: Any) -> Any:
    """|x - step·ĝ|² - |x|², an upper bound on what the projected round does to the squared distance."""
    return -2 * step * _local + step**2 * _square


def corrected_recursion() -> Evidence:
    """Z3 on the corrected recursion, from its four premises."""
    step = _eta * _E
    statement = _moved(step) <= -2 * step * _gap + rise(_SYMBOLIC, _mismatch**2)
    return always(statement, given=[_all >= _gap, *_FACTS], domain=_WORDS)


def sharper_recursion() -> Evidence:
    """The same with |ĝ|² <= G² used directly: (ηE)²G² in place of 2(ηE)²(σ̄² + G²)."""
    step = _eta * _E
    rest = 2 * step * _D * _mismatch + (step * _G) ** 2 + step * _eta * (_E - 1) * _D * _L * _G
    return always(_moved(step) <= -2 * step * _gap + rest, given=[_all >= _gap, *_FACTS], domain=_WORDS)


def one_step_recursion() -> Evidence:
    """Z3 on the printed right-hand side at E = 1, gap to θ*."""
    single = Constants(D=_D, sigma=1, eta=_eta, B=1, Pdim=1, L=_L, G=_G)
    statement = _moved(_eta) <= -2 * _eta * _gap + rise_as_stated(single, _mismatch**2)
    facts = [fact.subs(_E, 1) for fact in _FACTS if fact != (_E >= 1)]
    return always(statement, given=[_all >= _gap, *facts], domain=_WORDS.replace(" E,", ""))


def memory_recursion() -> Evidence:
    """For the memory's own objective no mismatch appears, and no drift: what E local steps of one client add
    up to.

    A local step gives |x_{e+1}|² <= |x_e|² - 2η(f(θ_e) - f(θ*)) + η²G², and f(θ_e) >= f(θ_0) - G·ηeG.
    """
    e = sp.Symbol("e", integer=True, nonnegative=True)
    added = symbolic_sum(_eta**2 * _G**2 + 2 * _eta * (_eta * e * _G) * _G, e, 0, _E - 1)
    return equal(
        added, (_eta * _E * _G) ** 2, domain="every E >= 1", what="the sum over E local steps and (ηE)²G²"
    )


def drift_of_local_steps() -> Evidence:
    """After e local steps a client is at most ηeG away, so its gradient is off by at most LηeG: the mean
    over e."""
    e = sp.Symbol("e", integer=True, nonnegative=True)
    mean = symbolic_sum(_L * _eta * e * _G, e, 0, _E - 1) / _E
    return equal(
        mean, _eta * (_E - 1) * _L * _G / 2, domain="every E >= 1", what="the mean drift and η(E-1)LG/2"
    )


# --- the cumulative bound ----------------------------------------------------------------------------------


def cumulative_with_drift() -> Evidence:
    """The optimisation error of drifting clients against the printed cumulative bound."""
    example = DriftingClients()
    c = example.constants

    def right(_: Any) -> Any:
        return ball(Fraction(c.D**2) / (2 * c.eta) + example.rounds * per_round_constant_as_stated(c))

    return compare(
        lambda _: example.cumulative_gap(population=False),
        "<=",
        right,
        [{"T": example.rounds, "E": c.E, "eta": c.eta, "clients": example.clients}],
        domain="two convex quadratics on [0, 1], one sample a client, kept for ever, so mismatch 0",
    )


def cumulative_corrected() -> Evidence:
    """Summing the corrected recursion: what is left of the telescoping sum is at most D²/(2ηE)."""
    first, last, T = sp.symbols("first last T", nonnegative=True)
    step = _eta * _E
    per_round = rise(_SYMBOLIC, _mismatch**2) / (2 * step)
    merged = _SYMBOLIC.merged
    bound = _D**2 / (2 * step) + T * (
        _D * _mismatch + linear_term(_mismatch**2, merged) + per_round_constant(_SYMBOLIC)
    )
    return always(
        (first - last) / (2 * step) + T * per_round <= bound,
        given=[first <= _D**2, _E >= 1],
        domain="every first = |θ¹-θ*|² <= D² and last = |θ^(T+1)-θ*|² >= 0",
    )


_HYPOTHESES = (
    "every loss is convex and differentiable",
    "gradients are bounded by G and, for E > 1, L-Lipschitz, wherever the local steps go",
    "the server projects onto the convex set Θ after each round",
    "clients are weighted by n_m/n",
)

CLAIMS = [
    Claim(
        id="prop:Ropt-bound-app",
        kind="lemma",
        title="one-step recursion",
        statement="A round lowers the squared distance to θ* by 2η times the gap of F_all above its own "
        "minimum, up to 2ηDσ̄ + η²(2σ̄² + C₁) + η⁴C₂, for any number E of local steps.",
        latex=r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E["
        r"\widehat F^{all}_t(\theta^t)"
        r"-\min\widehat F^{all}_t]+2\eta D\bar\sigma+\eta^2(2\bar\sigma^2+C_1)+\eta^4C_2",
        unicode="E|θ⁺-θ*|² ≤ E|θ-θ*|² - 2η E[F_all(θ) - min F_all] + 2ηDσ̄ + η²(2σ̄²+C₁) + η⁴C₂",
        domain="Assumptions 1-4, any E >= 1",
        checks=(own_minimum_at_one_step, full_local_steps, worst_case_own_minimum, worst_case_local_steps),
        corrected=Correction(
            title="gap to θ*, ηE for η, convex, projected",
            statement="With convex losses and projection, the gap taken to θ* and ηE for η: 2ηE·gap, 2ηEDσ̄ + "
            "2(ηE)²(σ̄² + G²) + η²E(E-1)DLG.",
            latex=r"E\|\theta^{t+1}-\theta^\star\|^2\le E\|\theta^t-\theta^\star\|^2-2\eta E\,E["
            r"\widehat F^{all}_t(\theta^t)"
            r"-\widehat F^{all}_t(\theta^\star)]+2\eta ED\bar\sigma+2\eta^2E^2(\bar\sigma^2+G^2)+"
            r"\eta^2E(E-1)DLG",
            unicode="E|θ⁺-θ*|² ≤ E|θ-θ*|² - 2ηE·E[F_all(θ) - F_all(θ*)] + 2ηEDσ̄ + 2(ηE)²(σ̄²+G²) + "
            "η²E(E-1)DLG",
            sketch="θ⁺ = Π(θ - ηEĝ) with ĝ the mean of all local gradients, |ĝ| ≤ G. Expand |θ - ηEĝ - θ*|². "
            "⟨ĝ, x⟩ ≥ ⟨∇F_mem, x⟩ - η(E-1)LGD/2 by the local drift, ≥ ⟨∇F_all, x⟩ - Dσ̄ - … by "
            "Cauchy-Schwarz, ≥ F_all(θ) - F_all(θ*) - … by convexity. θ* minimises the population risk and "
            "not F_all, so the gap may be negative, but E F_all(θ*) = F_P(θ*), which is what the theorem "
            "needs. In fact |ĝ|² ≤ G² alone gives (ηE)²G² in place of 2(ηE)²(σ̄² + G²).",
            hypotheses=_HYPOTHESES,
            checks=(
                lambda: corrected_recursion().about("recursion"),
                lambda context: worst_case_corrected(context).about("recursion"),
                lambda: sharper_recursion().about("sharper"),
                lambda: drift_of_local_steps().about("local drift"),
            ),
        ),
    ),
    Claim(
        id="prop:Ropt-bound-app/one-local-step",
        kind="step",
        title="recursion at E = 1, gap to θ*",
        statement="With one local step, convex losses and projection, the printed right-hand side is right "
        "once the gap is taken to F_all(θ*) and not to the minimum of F_all.",
        latex=r"\|\theta^{+}-\theta^\star\|^2\le\|\theta-\theta^\star\|^2-2\eta[\widehat F^{all}(\theta)"
        r"-\widehat F^{all}(\theta^\star)]+2\eta D\bar\sigma+\eta^2(2\bar\sigma^2+5G^2)",
        unicode="|θ⁺-θ*|² ≤ |θ-θ*|² - 2η[F_all(θ) - F_all(θ*)] + 2ηDσ̄ + η²(2σ̄²+5G²)",
        domain="E = 1",
        checks=(one_step_recursion, worst_case_one_step),
    ),
    Claim(
        id="eq:Ropt-bound-app",
        kind="lemma",
        title="cumulative optimisation error",
        statement="The optimisation errors of T rounds add up to at most D²/(2η) + DΣσ̄ + (η/2)Σ(2σ̄² + C₁) + "
        "(η³/2)C₂T.",
        latex=r"\mathcal E^{opt}_T\le\frac{D^2}{2\eta}+D\sum\bar\sigma+\frac\eta2\sum(2\bar\sigma^2+C_1)+"
        r"\frac{\eta^3}2C_2T",
        unicode="E_T^opt ≤ D²/(2η) + DΣσ̄ + (η/2)Σ(2σ̄²+C₁) + (η³/2)C₂T",
        domain="Assumptions 1-4, any E >= 1",
        checks=(cumulative_with_drift,),
        corrected=Correction(
            title="against θ*, ηE for η, drift η(E-1)DLG/2",
            statement="Measured against θ*: D²/(2ηE) + DΣσ̄ + ηEΣσ̄² + T(ηEG² + η(E-1)DLG/2).",
            latex=r"\sum_tE[\widehat F^{all}_t(\theta^t)-\widehat F^{all}_t(\theta^\star)]\le\frac{D^2}{2"
            r"\eta E}+D\sum\bar\sigma"
            r"+\eta E\sum\bar\sigma^2+T\bigl(\eta EG^2+\tfrac12\eta(E-1)DLG\bigr)",
            unicode="ΣE[F_all(θ) - F_all(θ*)] ≤ D²/(2ηE) + DΣσ̄ + ηEΣσ̄² + T(ηEG² + η(E-1)DLG/2)",
            sketch="Divide the corrected recursion by 2ηE and add: the squared distances telescope, and the "
            "first is at most D². The recursion itself is prop:Ropt-bound-app.",
            hypotheses=_HYPOTHESES,
            checks=(
                lambda: cumulative_corrected().about("sum"),
                lambda: corrected_recursion().about("recursion"),
                lambda: drift_of_local_steps().about("local drift"),
            ),
        ),
    ),
]
