"""The regret: Ω₁, Ω₂, Ω₃, Theorem 2, and Remark 1."""
