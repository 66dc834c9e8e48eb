"""The proofs that Coq checks, a file for each part of the paper; `engines.kernel` runs Coq.

| module | holds |
| --- | --- |
| `formulas` | the formulas of theory that the proofs are about, written into *Formulas.v |
| `coq_terms` | an expression as Coq writes it |
"""
