"""What decides a design in the long run."""
