"""Shared by claims about the law of reuse: all streams, sums over lags, periodic admissions."""
