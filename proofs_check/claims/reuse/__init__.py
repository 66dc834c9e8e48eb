"""Reuse counts, uniformity and the effective sample size: Sections 4 and 5."""
