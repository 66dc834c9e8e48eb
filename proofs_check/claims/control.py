"""Control: the cost-debt queue, the comparison with constant admission, the T-slot lemma, the violations."""

from __future__ import annotations

from proofs_check.claims.buffers import BUFFER_CLAIMS
from proofs_check.claims.comparison import COMPARISON
from proofs_check.claims.drift import DRIFT
from proofs_check.claims.slots import SLOTS
from proofs_check.claims.violations import VIOLATIONS

__all__ = ["CLAIMS"]

CLAIMS = [*DRIFT, *COMPARISON, *SLOTS, *VIOLATIONS, *BUFFER_CLAIMS]
