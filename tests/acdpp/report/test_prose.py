"""Prose with mathematics in the line, as LaTeX."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from acdpp.report import prose
from acdpp.report.erratum import PREAMBLE
from proofs_check.notation import GLOSSARY
from proofs_check.registry import registry
from tests.typeset import faults, needs_pdflatex, pdflatex
from theory.setting import SettingError


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        (
            "20B√(Pdim/Λ̄)(1 - 1/√K)·√(T log T)",
            r"$20B\sqrt{\mathrm{Pdim}/\bar{\Lambda}}(1-1/\sqrt{K})\cdot\sqrt{T\log T}$",
        ),
        (
            "K* = max(⌈x⌉, 1) with λ_m = B_m/K*",
            r"$K^{\star}=\max(\lceil x\rceil ,1)$ with $\lambda_{m}=B_{m}/K^{\star}$",
        ),
        ("Σ_{j=t-K+1}^{t-1} Λ_min(j)", r"$\sum_{j=t-K+1}^{t-1}\Lambda_{\min}(j)$"),
        ("before round K, t < K; T → ∞", r"before round $K$, $t<K$; $T\to\infty$"),
        ("K-step retention of CIFAR-10", r"$K$-step retention of CIFAR-10"),
        ("Assumptions 1-4 at t-j+1 <= K", r"Assumptions~1--4 at $t-j+1\le K$"),
        ("A round admits a sample; A is its count", r"A round admits a sample; $A$ is its count"),
        ("with a = cΛ-C and a² <= 1, a mean", r"with $a=c\Lambda-C$ and $a^{2}\le1$, a mean"),
        ("the mean of A over Q, I think", r"the mean of $A$ over $Q$, I think"),
        ("[Z+a]⁺ and log⁺(N/Pdim)", r"$[Z+a]^{+}$ and $\log^{+}(N/\mathrm{Pdim})$"),
        ("Ṽ, σ̄², ĝ, c̄ΣB", r"$\widetilde{V}$, $\bar{\sigma}^{2}$, $\hat{g}$, $\bar{c}\sum B$"),
        ("E[c(t)² | past]·Λ̄ <= C", r"$\mathbb E[c(t)^{2}\mid \text{past}]\cdot\bar{\Lambda}\le C$"),
        (
            "2ηE·E[F_all(θ) - F_P(θ*)]",
            r"$2\eta E\cdot\mathbb E[\widehat F^{\mathrm{all}}(\theta)-F_{P}(\theta^{\star})]$",
        ),
        ("Ē_T, E_T and E = 1", r"$\bar{\mathcal E}_{T}$, $\mathcal E_{T}$ and $E=1$"),
        ("Vio^S(T) = O(T^φ·log T)", r"$\mathrm{Vio}^{\mathrm{S}}(T)=O(T^{\phi}\cdot\log T)$"),
        ("d_i = ω_i - 1{i in Q}/n", r"$d_{i}=\omega_{i}-\mathbf 1\{i\in Q\}/n$"),
        ("u = 1..K-1, 8^-j, ε_(j-1)", r"$u=1,\ldots,K-1$, $8^{-j}$, $\varepsilon_{j-1}$"),
        ("probability 1e-06, V = 1e+06, 2.3e+12", r"probability $10^{-6}$, $V=10^{6}$, $2.3\cdot 10^{12}$"),
        ("n = 10000000, T = 2,983,619, E = 57122", r"$n=10^{7}$, $T=2{,}983{,}619$, $E=57{,}122$"),
        ("N_eff < n, S1², L2(Q)", r"$N_{\mathrm{eff}}<n$, $S_{1}^{2}$, $L_{2}(Q)$"),
        ("Ω₃'s order, J_t' and ACDPP's", r"$\Omega_{3}$'s order, $J_{t}^{\prime}$ and ACDPP's"),
        ("measured -12.5 ± 26.7 (85 %)", r"measured $-12.5\pm26.7$ (85\,\%)"),
        ("under “why” & 100% of x_1 #2", r"under ``why'' \& 100\% of $x_{1}$ \#2"),
        (
            "|y - x|² and ⟨∇F_mem, x⟩ ≥ 0",
            r"$|y-x|^{2}$ and $\langle \nabla\widehat F^{\mathrm{mem}},x\rangle \ge0$",
        ),
        (
            "see `eq:x-y`, spread_bound",
            r"see \texttt{eq:\allowbreak x-\allowbreak y}, \texttt{spread\_\allowbreak bound}",
        ),
        ("D. Haussler, J. Combin. for every T. The", r"D. Haussler, J. Combin. for every $T$. The"),
        (
            "√ρ^t, √ΣB, √(KPdim), (mean)²",
            r"$\sqrt{\rho}^{t}$, $\sqrt{\sum  B}$, $\sqrt{K\mathrm{Pdim}}$, $(\text{mean})^{2}$",
        ),
        ("Stolz-Cesàro, Hölder, i.i.d.", r"Stolz-Ces\`{a}ro, H\"{o}lder, i.i.d."),
        ("in (0, 1], at [0, B)", r"in (0, 1], at $[0,B)$"),
    ],
)
def test_mathematics_in_the_line_is_set_and_words_stay_words(text: str, tex: str) -> None:
    assert prose.latex(text) == tex


@pytest.mark.parametrize("char", ["☃", "中", "\u0338", "￼", "\x07"])
def test_an_unknown_character_is_an_error_that_names_it(char: str) -> None:
    for text in (char, f"t < {char}", f"words {char} words", f"K{char}"):
        with pytest.raises(SettingError, match=f"U\\+{ord(char):04X}"):
            prose.latex(text)
    with pytest.raises(SettingError, match=f"U\\+{ord(char):04X}"):
        prose.formula(f"a={char}")


def test_labels_are_set_by_the_link_given() -> None:
    assert prose.latex("see eq:nc-lb, `rem:1/drift` (cor:x)", lambda label: f"<{label}>") == (
        "see <eq:nc-lb>, <rem:1/drift> (<cor:x>)"
    )


def _texts() -> list[str]:
    """All prose that the registry holds."""
    found: list[str] = []
    for claim in registry():
        found.append(claim.domain)
        for of in (claim, claim.corrected):
            if of is not None:
                found += [
                    of.title,
                    of.statement,
                    of.sketch,
                    *of.hypotheses,
                    *of.parts,
                    *of.symbols,
                    *of.symbols.values(),
                ]
                found += [text for given in of.given for text in (given.name, given.says)]
    return sorted({text for text in found if text} | {*GLOSSARY} | {*GLOSSARY.values()})


def test_every_text_of_every_claim_becomes_ascii_with_closed_formulas() -> None:
    for text in _texts():
        tex = prose.latex(text)
        assert tex.isascii()
        assert tex.count("$") % 2 == 0
        for opening, closing in ("{}", "()", "[]"):
            lost = tex.count(opening) - tex.count(closing), text.count(opening) - text.count(closing)
            assert lost[0] == lost[1] or opening == "{", text


def test_no_word_of_a_text_is_lost() -> None:
    """Letters come out as many as they went in, but for the names of commands."""
    for text in _texts():
        words = [w for w in text.replace("`", " ").split() if w.isalpha() and w.isascii() and len(w) > 3]
        tex = prose.latex(text).replace(r"\allowbreak ", "")
        assert all(word in tex for word in words), text


@needs_pdflatex
def test_latex_can_set_every_text_of_every_claim_and_no_line_sticks_out(tmp_path: Path) -> None:
    body = "\n\n".join(map(prose.latex, _texts()))
    assert not faults(pdflatex(f"{PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}", tmp_path))


def test_every_character_of_the_small_document_can_be_set(small: dict[str, object]) -> None:
    text = json.dumps(small, ensure_ascii=False)
    for char in {*unicodedata.normalize("NFC", text)}:
        if not char.isascii() and not unicodedata.combining(char):
            assert prose.latex(f"x{char}").isascii()
