"""Ground of several claims that is no claim itself: shared links of proofs, example problems, grids, ranges."""
