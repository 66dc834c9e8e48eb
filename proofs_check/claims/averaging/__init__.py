"""Averaged models: the law of a mean of models, its effective samples, and lower bounds; statements of our own."""
