r"""The symbols of the paper in SymPy, their LaTeX, and the meanings that `acdpp verify --explain` prints."""

import re
from pathlib import Path

import sympy as sp

from theory.setting import Constants, Region

__all__ = ["CONSTANTS", "GLOSSARY", "REGION", "SPELLING", "C", "K", "N", "T", "V", "chi", "glossary"]
__all__ += ["inverse_neff", "mean_cost", "n", "neff", "rate", "rho", "t", "total_buffer"]

K, t, T = sp.symbols("K t T", integer=True, positive=True)
n, N, rate, rho, chi, neff, C, V, mean_cost, total_buffer = sp.symbols(
    "n N Lambda rho chi Neff C V mean_cost total_buffer", positive=True
)
inverse_neff = 1 / neff
CONSTANTS = Constants(
    **{name: sp.Symbol(name, positive=True) for name in ("D", "sigma", "eta", "B", "Pdim", "L", "G")},
    E=sp.Symbol("E", integer=True, positive=True),
)
REGION = Region(rate=rate, rho=rho)

# LaTeX of the symbols whose LaTeX is not their name
GREEK = ("rho", "sigma", "eta", "chi", "gamma", "phi", "tau", "mu", "alpha", "alpha_m", "lambda_m")
SPELLING = {name: rf"\{name}" for name in GREEK} | {
    "Lambda": r"\bar\Lambda",
    "Neff": r"N_{\mathrm{eff}}",
    "Pdim": r"\mathrm{Pdim}",
    "mean_cost": r"\bar c",
    "total_buffer": r"\textstyle\sum B",
    "second_moment": r"E[c^2]",
    "drift_total": r"\textstyle\sum_tB_t",
    "Ā": r"\bar A",
    "ψ": r"\psi",
    "E[k]": r"\mathbb E[k]",
    "E[g²]": r"\mathbb E[g^2]",
    "E[hg]": r"\mathbb E[hg]",
    "omega1": r"\Omega_1",
    "omega2": r"\Omega_2",
    "omega3": r"\Omega_3",
}


def glossary(chapter: str) -> dict[str, str]:
    """Meanings of a chapter's symbols, in `glossary.md`.

    >>> glossary("market")["C"]
    'what may be spent in a round, on average'
    """
    text = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8")
    _, part = text.split(f"\n## {chapter}\n")
    return dict(re.findall("^- `(.+?)`: (.+)$", part.split("\n## ")[0], re.MULTILINE))


GLOSSARY = glossary("paper")
