"""Shared by claims about buying: purchases and rules by brute force, certificates, the online loop."""
