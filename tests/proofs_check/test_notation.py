"""Formulas are written from one expression, in LaTeX and in Unicode, and no symbol of a claim goes unexplained."""

import re

import pytest
import sympy as sp

from proofs_check.notation import (
    CONSTANTS,
    GLOSSARY,
    SPELLING,
    Formula,
    K,
    N,
    T,
    chi,
    decimal,
    explained,
    inverse_neff,
    latex,
    n,
    neff,
    rate,
    rho,
    said,
    t,
    unicode,
    words,
    written,
)
from proofs_check.registry import registry
from theory.bound import generalisation_term, initial_term, linear_term, root_term
from theory.reuse import inverse_effective_constant, uniformity_constant_as_stated

B, D, E, G, eta, sigma, Pdim = (
    getattr(CONSTANTS, name) for name in ("B", "D", "E", "G", "eta", "sigma", "Pdim")
)
x, mu = sp.Symbol("x", real=True), sp.Symbol("mu", real=True)
tau = sp.Symbol("tau", integer=True, positive=True)


# --- both spellings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "line", "tex"),
    [
        (root_term(chi, CONSTANTS), "Dσ√χ", r"D \sqrt{\chi} \sigma"),
        (linear_term(chi, CONSTANTS), "ησ²χ", r"\chi \eta \sigma^{2}"),
        (root_term(mu, CONSTANTS), "Dσ√([μ]⁺)", r"D \sigma \sqrt{\left[\mu\right]^{+}}"),
        (initial_term(CONSTANTS), "D²/(2η)", r"\frac{D^{2}}{2 \eta}"),
        (sp.sqrt(Pdim / rate), "√(Pdim/Λ̄)", r"\sqrt{\frac{\mathrm{Pdim}}{\bar\Lambda}}"),
        (1 / n - inverse_neff, "1/n - 1/N_eff", r"\frac{1}{n} - \frac{1}{N_{\mathrm{eff}}}"),
        (1 - 1 / sp.sqrt(K), "1 - 1/√K", r"1 - \frac{1}{\sqrt{K}}"),
        (sp.Min(K, t) * rate, "Λ̄·min(K, t)", r"\bar\Lambda \min\left(K, t\right)"),
        (sp.Max(x, 0), "[x]⁺", r"\left[x\right]^{+}"),
        (sp.log(sp.Max(1, N / Pdim)), "log⁺(N/Pdim)", r"\log^{+}\left(\frac{N}{\mathrm{Pdim}}\right)"),
        (sp.log(T), "log T", r"\log{T}"),
        (rho ** (t - 1), "ρ^(t - 1)", r"\rho^{t - 1}"),
        (sp.Sum(rho**tau, (tau, 1, T)), "Σ_{τ=1}^{T} ρ^τ", r"\sum_{\tau=1}^{T} \rho^{\tau}"),
        (sp.sqrt(2) * K, "√2·K", r"\sqrt{2} K"),
        (-K, "-K", "- K"),
        (sp.Rational(1, 2) * eta * E * G**2, "ηEG²/2", r"\frac{E G^{2} \eta}{2}"),
        (sp.exp(-x), "exp(-x)", r"e^{- x}"),
    ],
    ids=str,
)
def test_an_expression_is_written_in_both_spellings(expression, line, tex):
    assert unicode(expression) == line
    assert latex(expression) == tex


def _read(line):
    """The Unicode line as an expression again: brackets, roots, fractions and products as they are meant."""
    names = {spelling: name for name, (_, spelling) in SPELLING.items()}
    text = re.sub(r"√(\d+|[^\W\d_]\u0304?)", r" sqrt(\1)", line).replace("√", " sqrt")
    for spelling in sorted(names, key=len, reverse=True):
        text = text.replace(spelling, f" {names[spelling]} ")
    superscripts = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "**" + m.group().translate(superscripts), text)
    text = text.replace("·", "*").replace("^", "**")
    text = re.sub(r"log\s+(\w+)", r"log(\1)", text)
    symbols = {
        s.name: s for s in (K, t, T, n, N, rate, rho, chi, neff, mu, x, tau, B, D, E, G, eta, sigma, Pdim)
    }
    transformations = (
        *sp.parsing.sympy_parser.standard_transformations,
        sp.parsing.sympy_parser.implicit_multiplication,
    )
    # a run of capital letters is a product of symbols
    runs = re.compile(r"(?<![A-Za-z])(?!Pdim|Neff|Lambda)([A-Z]+[a-z]?|[a-z]{2})(?![A-Za-z])")
    text = runs.sub(lambda m: " ".join(m.group()), text)
    return sp.parsing.sympy_parser.parse_expr(text, local_dict=symbols, transformations=transformations)


@pytest.mark.parametrize(
    "expression",
    [
        root_term(chi, CONSTANTS),
        initial_term(CONSTANTS),
        generalisation_term(inverse_neff, Pdim * (1 + n), CONSTANTS),
        uniformity_constant_as_stated(K, t),
        sp.factor(uniformity_constant_as_stated(K, t)),
        inverse_effective_constant(K, K + t, rate),
        (1 - rho**2) / (K * (1 + rho)) - 3 * rate / (2 * T),
        20 * B * sp.sqrt(Pdim / rate) * (1 - 1 / sp.sqrt(K)),
    ],
    ids=unicode,
)
def test_a_line_read_back_is_the_expression(expression):
    assert sp.simplify(_read(unicode(expression)) - expression) == 0


def test_decimals_are_used_only_where_they_are_exact():
    assert unicode(decimal(sp.Rational(26, 5) * B)) == "5.2·B"
    for other in (sp.Rational(1, 3) * B, 10 * B, sp.Rational(257, 100) * B, sp.sqrt(2) * B):
        assert decimal(other) == other


# --- texts -------------------------------------------------------------------------------------------------


def test_a_template_is_filled_alike_in_both_spellings_and_refuses_what_it_does_not_know():
    formula = written(r"n=@n,\ N=@N", "n = @n, N = @N", n=K * rate, N=rate * t)
    assert formula.unicode == "n = KΛ̄, N = Λ̄t"
    assert formula.latex == r"n=K \bar\Lambda,\ N=\bar\Lambda t"
    assert said("It is @n.", n=K * rate) == "It is KΛ̄."
    with pytest.raises(ValueError, match="no expression is given for n"):
        said("@n")


def test_symbols_of_a_line_are_found_with_their_accents_and_indices():
    line = "Ē_T - E_T ≤ Σ√(σ̄²/N_eff)·c̄ΣB + C₂ + Vio^S + DσΛ̄kt, for all K"
    found = ["Ē_T", "E_T", "σ̄", "N_eff", "c̄", "ΣB", "C₂", "Vio^S", "D", "σ", "Λ̄", "k", "t", "K"]
    assert words(line) == found
    assert dict(explained("Dσ", {"σ": "something else"})) == {"D": GLOSSARY["D"], "σ": "something else"}


def unexplained(formula, symbols):
    """The symbols of a line that neither the glossary nor the claim explains."""
    known = {**GLOSSARY, **symbols}
    return [word for word in words(formula.unicode, known) if word not in known]


def test_an_unexplained_symbol_is_seen():
    assert unexplained(Formula("", "Ψ = Kt·log t for all t"), {}) == ["Ψ"]
    assert unexplained(Formula("", "Ψ = Kt"), {"Ψ": "a test"}) == []


@pytest.mark.parametrize("claim", registry(), ids=lambda claim: claim.id)
def test_every_symbol_of_a_claim_is_explained(claim):
    assert unexplained(claim.formula, claim.symbols) == []
    if claim.corrected:
        assert unexplained(claim.corrected.formula, {**claim.symbols, **claim.corrected.symbols}) == []
