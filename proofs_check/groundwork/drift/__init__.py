"""Shared by claims about a moving optimum: symbols, and all streams together with all walks."""
