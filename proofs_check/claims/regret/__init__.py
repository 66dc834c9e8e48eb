"""The regret: Ω₁, Ω₂, Ω₃, Theorem 2, and Remark 1."""

# in the order in which they are shown
MODULES = (
    "decomposition",
    "omega1",
    "omega2",
    "omega3",
    "theorem2",
    "sign",
    "remark1",
    "remark1_drift",
)
