"""Statements beyond the paper: stronger statements of our own."""
