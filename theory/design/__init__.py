"""Offline design: the retention horizon K and the admission rates for given budgets."""
