"""Buying when it is cheap: what money buys, memories kept full, and the online rule; statements of our own."""
