"""The claims, in the paper's order: a folder for each part, a file for each result. No claim module imports another."""
