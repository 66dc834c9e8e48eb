"""Regret: the terms Ω₁, Ω₂, Ω₃, the cost of the region's transient, the expansion to O(1), orders of growth."""
