"""The law of reuse: exact excess risk for quadratic losses, of last and averaged models, also in the long run."""
