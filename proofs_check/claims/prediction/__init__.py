"""The law of reuse: what a federation learns, exactly where losses are quadratic; statements of our own."""

# in the order in which they are shown
MODULES = (
    "exact_law",
    "retention",
    "limits",
    "effective_rate",
    "best_k",
    "finite_rounds",
    "clients",
    "client_curvatures",
    "local_steps",
    "own_curvature",
    "solved_memory",
)
