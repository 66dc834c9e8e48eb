"""Number systems: the functions that depend on them, sums over rounds, the Lambert sum, Student's t."""
