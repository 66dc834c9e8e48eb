"""Measurements: `python -m benchmarks.NAME` in the repository prints hardware, n, and the ratio to an alternative.

Settings and options of NAME are in studies/NAME.toml. Commands in committed results run as they are written there.
"""
