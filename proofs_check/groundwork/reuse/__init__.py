"""Counting uses: sums over samples, rounds of K-step retention, constant admission."""
