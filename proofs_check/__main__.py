"""python -m proofs_check: decide every claim, and write the ledger and, where Coq is installed, the kernel's record."""

import os

from proofs_check import ledger
from proofs_check.engines import kernel
from proofs_check.registry import registry
from proofs_check.run import run

if __name__ == "__main__":
    if kernel.installed():  # first: a proof of a statement that is not on record decides nothing
        kernel.record(kernel.ask(report=print))
    ledger.write(run(registry(), jobs=os.cpu_count() or 1, report=lambda claim: print(claim.id)))
