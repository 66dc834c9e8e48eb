"""Reuse of samples: counts, uniformity, effective sample size, gradient mismatch."""
