r"""The symbols of the paper in SymPy, their LaTeX, and the meanings that `acdpp verify --explain` prints."""

import sympy as sp

from theory.setting import Constants, Region

__all__ = ["CONSTANTS", "GLOSSARY", "REGION", "SPELLING", "C", "K", "N", "T", "V", "chi", "inverse_neff"]
__all__ += ["mean_cost", "n", "neff", "rate", "rho", "t", "total_buffer"]

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
SPELLING = {
    "Lambda": r"\bar\Lambda",
    "rho": r"\rho",
    "sigma": r"\sigma",
    "eta": r"\eta",
    "chi": r"\chi",
    "gamma": r"\gamma",
    "phi": r"\phi",
    "tau": r"\tau",
    "mu": r"\mu",
    "alpha": r"\alpha",
    "alpha_m": r"\alpha_m",
    "lambda_m": r"\lambda_m",
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

GLOSSARY = {
    "A": "reuse count of a sample: in how many rounds it has been trained on",
    "B": "bound on the loss",
    "B_m": "buffer of client m",
    "B_t": "the drift's quadratic part in round t, bounded",
    "C": "sampling-cost budget of a round",
    "C₁": "a constant of the paper's recursion (eq:C1C2-def)",
    "C₂": "the paper's per-round constant",
    "D": "diameter of the domain Θ",
    "E": "local steps per round (before a bracket: expectation)",
    "E_T": "cumulative excess risk after T rounds",
    "Ē_T": "the bound on it",
    "F_P": "population risk",
    "F̂": "empirical risk: over all samples seen, weighted by use (all), over the memory (mem), of a client (m)",
    "G": "bound on gradients",
    "J_t": "the drift-plus-penalty objective of round t",
    "K": "retention horizon: in how many rounds a sample is used",
    "L": "smoothness of the losses; as a function, half the squared debt",
    "M": "number of clients",
    "N": "distinct samples seen so far",
    "N_eff": "effective sample size, N·Ṽ",
    "Pdim": "pseudo-dimension of the loss class",
    "Q": "the memory",
    "Reg": "regret: the policy's bound less the oracle's",
    "T": "number of rounds",
    "V": "weight of the penalty in drift plus penalty",
    "Vio^B": "cumulative buffer violation",
    "Vio^S": "cumulative cost violation",
    "W": "the memory's share of all uses",
    "Z": "cost debt",
    "c": "cost of a sample",
    "c̄": "mean cost of a sample",
    "i": "a sample",
    "k": "min(K, t)",
    "m": "a client",
    "n": "samples in memory",
    "p": "the penalty",
    "p^CK": r"the penalty after a switch to $\bar\Lambda$",
    "p̄": r"the bound on the penalty after a switch to $\bar\Lambda$, printed or repaired",
    "t": "a round",
    "x": "c̄ΣB/C: rounds it takes to pay for full buffers",
    "y": "t - (k-1)/2",
    "Λ": "samples admitted in a round",
    "Λ_max": "upper end of the region",
    "Λ_min": "lower end of the region",
    "Λ̄": "target rate of admissions",
    "Ṽ": "uniformity of the reuse counts",
    "ΣB": "all buffers together",
    "ΣB_t": "the drift's quadratic parts, added over the rounds",
    "Θ": "the parameter domain",
    "Ω₁": "bound less penalties",
    "Ω₂": "comparison penalties less their limits",
    "Ω₃": "limiting penalties less the oracle's bound",
    "α": "a client's share of the population",
    "γ": "exponent of V = T^γ",
    "η": "step size",
    "θ": "the model",
    "λ": "samples that a client admits in a round",
    "ℓ": "the loss",
    "μ": "the printed 1/n - 1/N_eff",
    "π": "a policy",
    "ρ": "contraction of the admission region",
    "σ": "bound on the gradients' standard deviation",
    "σ̄": "root of the mean squared mismatch",
    "τ": "a round",
    "φ": "exponent of 1-ρ = T^-φ",
    "χ": "gradient mismatch, Σ(ω - 1{in memory}/n)²",
    "ω": "a sample's share of all uses",
    "∇": "gradient",
}
