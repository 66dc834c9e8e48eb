"""Claims, evidence, verdicts: the statements of the paper put to the test. See README.md beside this file.

| module | holds |
| --- | --- |
| `claim` | what a claim is, and how it is decided |
| `evidence` | what a check found, and the verdict that follows |
| `engines` | nine ways to check: kernel, identity, smt, limit, enclosure, exact, worst_case, simulation, experiment |
| `kernel` | the proofs that Coq checks, and theory's formulas as it reads them |
| `registry` | all claims in the paper's order (`registry.registry`), or those of a file |
| `run` | many claims, in several processes (`run.run`) |
| `claims`, `groundwork` | the claims, part by part; what several of them lean on |
| `experiments` | committed results of running the paper's experiments again, and what the paper says of its own |
| `simulator` | the ground truth: every sample by name |
| `symbols`, `printing`, `text` | the symbols and what they mean; LaTeX of an expression; texts with mathematics |
| `ledger`, `table`, `served` | the recorded verdicts; the table of all claims in docs/claims.md; docs/kernel.md |

What a claim of one's own needs is here as well, but for the engines.
"""

import os

os.environ.setdefault("SYMPY_CACHE_SIZE", "None")  # no limit: less time for some more memory

from proofs_check.claim import (
    Case,
    CheckError,
    Claim,
    Context,
    Correction,
    Given,
    confirming,
    decide,
    qualified,
)
from proofs_check.evidence import Evidence, fails, holds, obeying, undecided, verdict
from proofs_check.registry import claims_from, select
from proofs_check.simulator import simulate

__all__ = [
    "Case",
    "CheckError",
    "Claim",
    "Context",
    "Correction",
    "Evidence",
    "Given",
    "claims_from",
    "confirming",
    "decide",
    "fails",
    "holds",
    "obeying",
    "qualified",
    "select",
    "simulate",
    "undecided",
    "verdict",
]
