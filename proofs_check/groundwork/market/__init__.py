"""What the claims about buying rest on: purchases and rules by brute force, certificates, the online loop."""
