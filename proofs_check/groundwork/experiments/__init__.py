"""Shared by claims about experiments: making a claim from committed results."""
