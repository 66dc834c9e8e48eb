"""Measurements: `python -m benchmarks.NAME` prints hardware, n, and the ratio to an honest alternative.

Settings and options of NAME are in studies/NAME.toml. Commands in committed results run as they are written there.
"""
