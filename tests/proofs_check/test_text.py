"""Texts are written once, with theory's own expressions in them; the line of a terminal says the same."""

from dataclasses import replace

import pytest
import sympy as sp

from proofs_check.document import symbols
from proofs_check.printing import decimal, latex
from proofs_check.registry import labelled, registry
from proofs_check.symbols import CONSTANTS, GLOSSARY, K, N, T, chi, n, rate, rho, t
from proofs_check.text import explained, line, mathematics, said, split, symbols_of, terminal
from tests.refused import refused
from theory.bound.theorem1 import initial_term, linear_term, root_term

B, Pdim = CONSTANTS.B, CONSTANTS.Pdim
x, mu = sp.Symbol("x", real=True), sp.Symbol("mu", real=True)
tau = sp.Symbol("tau", integer=True, positive=True)


def test_an_expression_is_written_as_the_paper_would_and_shown_on_a_line():
    for expression, tex, shown in (
        (root_term(chi, CONSTANTS), r"D \sigma \sqrt{\chi}", "Dσ√χ"),
        (linear_term(chi, CONSTANTS), r"\eta \sigma^{2} \chi", "ησ²χ"),
        (n * chi, r"n \chi", "nχ"),
        (root_term(mu, CONSTANTS), r"D \sigma \sqrt{\left[\mu\right]^{+}}", "Dσ√([μ]⁺)"),
        (initial_term(CONSTANTS), r"\frac{D^{2}}{2 \eta}", "D²/(2η)"),
        (sp.sqrt(Pdim / rate), r"\sqrt{\frac{\mathrm{Pdim}}{\bar\Lambda}}", "√(Pdim/Λ̄)"),
        (1 - 1 / sp.sqrt(K), r"1 - \frac{1}{\sqrt{K}}", "1 - 1/√K"),
        (sp.Min(K, t) * rate, r"\bar\Lambda \min\left(K, t\right)", "Λ̄ min(K, t)"),
        (sp.log(sp.Max(1, N / Pdim)), r"\log^{+}\left(\frac{N}{\mathrm{Pdim}}\right)", "log⁺(N/Pdim)"),
        (sp.log(T), r"\log{T}", "log T"),
        (sp.log(T) ** 2, r"\log^{2}{T}", "log² T"),
        (rho ** (t - 1), r"\rho^{t - 1}", "ρ^(t-1)"),
        (sp.Sum(rho**tau, (tau, 1, T)), r"\sum_{\tau=1}^{T} \rho^{\tau}", "Σ_{τ=1}^T ρ^τ"),
        (sp.sqrt(2) * K, r"\sqrt{2} K", "√2·K"),
        (-K, "- K", "-K"),
        (sp.exp(-x), r"e^{- x}", "e^(-x)"),
    ):
        assert latex(expression) == tex
        assert line(tex) == shown


def test_a_formula_keeps_its_meaning_on_a_line():
    for tex, shown in (
        (r"\frac{a+b}{c(d-e)^2}\cdot\frac1{(1-\rho)^2}", "(a + b)/(c(d - e)²)·1/(1 - ρ)²"),
        (r"\frac1{(a+b)(c-d)}+A_{ij,k}", "1/((a + b)(c - d)) + A_{ij,k}"),
        (r"\tfrac12\sum_{i\le S}g(A_i)\,\mathbb E[c^2]", "½Σ_{i≤S} g(A_i)E[c²]"),
        (r"\|\nabla\widehat F^{all}\|^2\le-1,\ x\in\mathbb N", "‖∇F̂^all‖² ≤ -1, x ∈ ℕ"),
        (r"\lim_{a\to1}K^\star_T\quad\text{for all }t", "lim_{a→1} K_T* for all t"),
        (r"10B\,\mathrm{Pdim}\,\mathrm{Pdim}\sqrt{3}\sqrt x", "10B·Pdim·Pdim·√3·√x"),
        (r"\binom E2\eta^2+\tbinom{E}{4}", "(E choose 2)η² + (E choose 4)"),
        (r"\sqrt{(a+b)+(c+d)}x^{CK}", "√((a + b) + (c + d))·x^CK"),
        (r"\lceil x\rceil\pm2\cdot3\frac45\frac{a\cdotp b}c", "⌈x⌉ ± 2·3·4/5·(a·b)/c"),
        (r"{x_1}^{CK}y_1 2a/-b=\frac{\mathrm dx^2}y\mathrm{Pdim}!", "x₁^CK·y₁·2a/-b = dx²/y·Pdim!"),
    ):
        assert line(tex) == shown


@pytest.mark.parametrize("tex", [r"N\leD", r"\frac{a}", r"x^", r"\left(a", r"\vec a", r"\Hat a"])
def test_a_formula_that_cannot_be_read_is_refused_by_name(tex):
    assert tex in refused(line, tex)


def test_decimals_are_used_only_where_they_are_exact():
    assert line(latex(decimal(sp.Rational(26, 5) * B))) == "5.2B"
    for other in (sp.Rational(1, 3) * B, 10 * B, sp.Rational(257, 100) * B, sp.sqrt(2) * B):
        assert decimal(other) == other


def test_expressions_are_put_in_and_what_is_not_given_is_refused():
    assert said(r"It is $@n$ for $t\ge@T$.", n=K * rate, T=T) == r"It is $K \bar\Lambda$ for $t\ge T$."
    with pytest.raises(ValueError, match="no expression is given for a, b, c, d, e in"):
        said("$@e+@d+@c+@b+@a$")


def test_words_stay_as_they_are_and_a_lost_dollar_sign_is_seen():
    assert terminal(r"5 % of K_t, `a_b` and $K_t$") == "5 % of K_t, `a_b` and K_t"
    assert mathematics("a $b$ c $d$") == ["b", "d"]
    with pytest.raises(ValueError, match="a dollar sign is missing"):
        list(split("costs $5"))


def test_symbols_are_found_with_their_accents_and_indices_and_no_word_is_one():
    text = (
        r"For all $K$: $\bar{\mathcal E}_T-\mathcal E_T\le\sum\sqrt{\bar\sigma^2/N_{\mathrm{eff}}}\,\bar c"
        r"\textstyle\sum B+C_2+\mathrm{Vio}^{\mathrm S}+D\sigma\bar\Lambda kt\text{ for all }x$"
    )
    found = ["K", "Ē_T", "E_T", "σ̄", "N_eff", "c̄", "ΣB", "C₂", "Vio^S", "D", "σ", "Λ̄", "k", "t", "x"]
    assert symbols_of(text) == found
    nested = ["a" * letters for letters in range(1, 40)]
    assert symbols_of(rf"$\mathrm{{{nested[-1]}}}$", nested) == nested[-1:]
    told = dict(explained(r"$D\sigma$", {"σ": "something else"}))
    assert told == {"D": GLOSSARY["D"], "σ": "something else"}


def unexplained(formula, symbols):
    """The symbols of a formula that neither the glossary nor the claim explains."""
    known = {**GLOSSARY, **symbols}
    return [name for name in symbols_of(f"${formula}$", known) if name not in known]


def test_an_unexplained_symbol_is_seen():
    assert unexplained(r"\Psi=Kt\log t", {}) == ["Ψ"]
    assert unexplained(r"\Psi=Kt", {"Ψ": "a test"}) == []
    (claim,) = labelled(["eq:nc-Nc"])
    correction = replace(claim.corrected, statement=r"$\chi=\Psi$", symbols={"Ψ": "a test"})
    assert {"χ", "Ψ"} <= symbols(replace(claim, corrected=correction)).keys() - symbols(claim).keys()
    assert "χ" in symbols(replace(claim, sketch=r"By $\chi$."))


def check_words(claim):
    """What must be true of the words of every claim: whole sentences, short titles, symbols that are explained."""
    symbols = dict(claim.symbols)
    assert claim.domain
    for of, longest in ((claim, 60), (claim.corrected, 120)):
        if of is not None:
            assert of.statement.endswith((".", ")")), claim.id
            assert of.formula, claim.id
            assert "@" not in of.formula + of.statement + of.title, claim.id
            assert len(terminal(of.title)) <= longest, claim.id
            symbols |= of.symbols
            assert unexplained(of.formula, symbols) == [], claim.id
    assert claim.corrected is None or claim.corrected.sketch


def texts_of(claim):
    """All that a claim and its correction say."""
    for of in filter(None, (claim, claim.corrected)):
        yield from (of.title, of.statement, of.sketch, *of.hypotheses, *of.parts, *of.symbols.values())
        yield from (text for given in of.given for text in (given.name, given.says))


def test_every_claim_says_what_it_states_in_words_and_symbols_and_every_text_can_be_shown():
    for claim in registry():
        check_words(claim)
        assert not [text for text in texts_of(claim) if "\\" in terminal(text)], claim.id
