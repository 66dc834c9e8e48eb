"""Choosing K and the rates offline: Corollary 2, the oracle, whole numbers of samples."""
