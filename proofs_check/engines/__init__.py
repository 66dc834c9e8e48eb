"""The engines: each builds evidence of one method, and says precisely what that evidence proves.

| module | decides |
| --- | --- |
| `identity`, `smt` | equations by SymPy; polynomial inequalities by Z3 |
| `limit`, `expansion` | orders of growth; limits by expansions in falling powers |
| `argument` | several links, each by one of these |
| `enclosure`, `exact` | balls on a grid; exact numbers on all points of a range, or on drawn examples |
| `worst_case` | first-order methods by PEPit |
| `simulation`, `experiment` | Monte Carlo of the control loop; committed results of the paper's experiments |
| `kernel` | proofs in Coq, their statements and axioms |
"""
