"""What several claims lean on and is no claim itself: shared links of proofs, example problems, grids, ranges."""
