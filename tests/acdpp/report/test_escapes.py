"""Texts as LaTeX: formulas as they are written, words escaped, labels linked, no character lost."""

import pytest

from acdpp.report import escapes
from proofs_check.registry import registry
from proofs_check.symbols import GLOSSARY
from tests.proofs_check.test_text import texts_of
from tests.refused import refused
from tests.typeset import faults_of, needs_pdflatex


def test_formulas_are_set_and_words_stay_words():
    for text, tex in (
        (r"before round $K$, $t<K$; 100% & #2", r"before round $K$, $t<K$; 100\% \& \#2"),
        ("Theorem 1 at 85 % of `a_b`", r"Theorem~1 at 85\,\% of \texttt{a\_\allowbreak b}"),
        (r"$E[c^2]\le C$ for “all” of ACDPP's", r"$\mathbb E[c^2]\le C$ for ``all'' of ACDPP's"),
        (
            "Stolz-Cesàro, Hölder, Ω₃ = σ̄²",
            r"Stolz-Ces\`{a}ro, H\"{o}lder, \(\Omega\)\(_{3}\) = \(\bar{\sigma}\)\(^{2}\)",
        ),
    ):
        assert escapes.latex(text) == tex


@pytest.mark.parametrize("char", ["☃", "中", "\u0338", "￼", "\x07"])
def test_an_unknown_character_is_an_error_that_names_it(char):
    for text in (char, f"${char}$", f"words {char} words"):
        assert f"U+{ord(char):04X}" in refused(escapes.latex, text)


def test_labels_are_set_by_the_link_given():
    text = "see eq:nc-lb, `rem:1/drift` (cor:x)"
    assert escapes.latex(text, lambda label: f"[{label}]") == "see [eq:nc-lb], [rem:1/drift] ([cor:x])"


def _texts():
    """Every text of the registry."""
    found = {text for claim in registry() for text in (claim.domain, *texts_of(claim)) if text}
    return sorted(found | {*GLOSSARY.values()})


def test_every_text_of_every_claim_becomes_ascii_and_loses_no_word():
    for text in _texts():
        tex = escapes.latex(text).replace(r"\allowbreak ", "")
        assert tex.isascii()
        words = (w for w in text.replace("`", " ").split() if w.isalpha() and w.isascii() and len(w) > 3)
        assert all(word in tex for word in words), text


@needs_pdflatex
def test_latex_can_set_every_text_and_symbol_and_no_line_sticks_out(tmp_path):
    symbols = {name for claim in registry() for of in (claim, claim.corrected) if of for name in of.symbols}
    body = "\n\n".join([*map(escapes.latex, _texts()), *map(escapes.symbol, sorted(symbols | {*GLOSSARY}))])
    assert not faults_of(body, tmp_path)
