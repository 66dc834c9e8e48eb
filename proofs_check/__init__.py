"""Claims, evidence, verdicts: every statement of the paper put to the test. See `proofs_check.claim`."""
