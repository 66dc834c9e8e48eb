"""Reuse counts, uniformity and the effective sample size: Sections 4 and 5."""

# in the order in which they are shown
MODULES = (
    "ages",
    "effective_size",
    "kstep",
    "closed_form",
    "occupancy",
)
