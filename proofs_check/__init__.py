"""The paper's statements put to the test: claims, evidence, verdicts. README.md beside this file explains how.

| module | holds |
| --- | --- |
| `claim`, `evidence` | a claim, how it is decided, and a check that breaks; what a check returns, and its verdict |
| `context` | what a check may depend on besides the mathematics: the seed and the amount of random examples |
| `engines` | nine ways to check: kernel, identity, smt, limit, enclosure, exact, worst_case, simulation, experiment |
| `kernel` | the proofs that Coq checks; `kernel.formulas`: theory's formulas in Coq, `kernel.coq_terms`: terms in Coq |
| `claims`, `groundwork` | the claims, part by part; what several of them need |
| `prelude` | the names that claims and groundwork share, for `import *` |
| `registry`, `run` | all claims in the paper's order, by label, or those of a file; many claims in several processes |
| `experiments` | committed results of repeating the paper's experiments, and what the paper states about its own |
| `simulator` | the ground truth: every sample by name |
| `symbols`, `printing`, `text` | the symbols and their meanings; LaTeX of an expression; texts with mathematics |
| `ledger`, `document` | the recorded verdicts and their counts; cases as JSON |
| `claims_page`, `kernel_page` | make docs/claims.md and docs/kernel.md |

The names below, and the engines, are all that a claim of your own needs.
"""

import os

os.environ.setdefault("SYMPY_CACHE_SIZE", "None")  # no limit: less time for some more memory

from proofs_check.claim import Case, CheckError, Claim, Correction, Given, confirming, decide, qualified
from proofs_check.context import Context
from proofs_check.evidence import Evidence, fails, holds, obeying, undecided, verdict
from proofs_check.registry import claims_from, select
from proofs_check.simulator import simulate

__all__ = ["Case", "CheckError", "Claim", "Context", "Correction", "Evidence", "Given", "claims_from"]
__all__ += ["confirming", "decide", "fails", "holds", "obeying", "qualified", "select", "simulate"]
__all__ += ["undecided", "verdict"]
