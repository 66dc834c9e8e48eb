"""Choosing K and the rates offline: Corollary 2, the oracle, whole numbers of samples."""

# in the order in which they are shown
MODULES = (
    "optimal_k",
    "finite_horizon",
    "oracle",
    "integrality",
)
