"""The learning-error bound: Theorem 1, its appendix, and the aggregation rule."""

# in the order in which they are shown
MODULES = (
    "radicand",
    "mismatch",
    "retention",
    "supremum",
    "recursion",
    "generalisation",
    "theorem1",
    "aggregation",
)
