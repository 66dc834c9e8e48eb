"""What remembers: the result folder and the summary."""
