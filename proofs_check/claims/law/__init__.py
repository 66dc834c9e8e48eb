"""The law of reuse: what a federation learns, exactly where losses are quadratic; statements of our own."""
