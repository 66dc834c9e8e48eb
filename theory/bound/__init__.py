"""Learning-error bounds: Theorem 1, constant admission, two sharper bounds, stability, high probability."""
