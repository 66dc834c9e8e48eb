"""Population drift: the law of reuse for a moving optimum, its long run, and the retention that suits it."""
