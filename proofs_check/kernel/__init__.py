"""The proofs that Coq checks, a file for each part of the paper; and the formulas that they are about, from theory."""
