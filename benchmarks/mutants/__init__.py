"""Errors planted in the theory, the claims and the rest of the code, and what notices them."""
