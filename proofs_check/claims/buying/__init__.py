"""Buying when it is cheap: what money buys, memories kept full, and the online rule; statements of our own."""

# in the order in which they are shown
MODULES = (
    "limit",
    "full_memory",
    "noise_by_age",
    "bursts",
    "best_rule",
    "joint_rules",
    "papers_rule",
    "online_debt",
    "online_rate",
    "online_age",
    "settled",
    "savings",
    "gain",
)
