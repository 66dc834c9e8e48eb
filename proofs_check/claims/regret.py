"""Regret: the three corrections, their sum, the theorem, its remark."""

from __future__ import annotations

from proofs_check.claims.omega1 import OMEGA1
from proofs_check.claims.omega2 import OMEGA2
from proofs_check.claims.omega3 import OMEGA3
from proofs_check.claims.remark1 import REMARK1
from proofs_check.claims.theorem2 import THEOREM2

__all__ = ["CLAIMS"]

CLAIMS = [*OMEGA1, *OMEGA2, *OMEGA3, *THEOREM2, *REMARK1]
