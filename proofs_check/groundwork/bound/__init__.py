"""The links of Theorem 1's proof, and problems small enough to be solved exactly."""
