"""Drift plus penalty: the queue, the comparison with constant admission, the T-slot lemma, both violations."""

# in the order in which they are shown
MODULES = (
    "drift",
    "debt_queue",
    "independence",
    "occupancy",
    "comparison",
    "t_slot",
    "cost_violation",
    "largest_violation",
    "cost_proof",
    "buffer_violation",
    "first_round",
)
