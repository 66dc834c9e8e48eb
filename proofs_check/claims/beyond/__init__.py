"""What goes beyond the paper: stronger statements of our own."""

# in the order in which they are shown
MODULES = (
    "sharper_theorem",
    "memory_bound",
    "three_local_steps",
    "monotone",
    "spread",
    "regret_expansion",
    "region_buys_nothing",
)
