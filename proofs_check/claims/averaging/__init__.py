"""Averaged models: the law of a mean of models, what it sees, and what nobody can beat; statements of our own."""
