"""Admissions inside the region, the drift of one round, the Lambert sum, the paper's own setting."""
