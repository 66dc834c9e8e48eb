"""A small document of real cases: refuted, conditional, undecided and proved ones of the paper, and one of ours."""

from typing import Any

import pytest

from proofs_check.document import document
from proofs_check.registry import registry
from proofs_check.run import run

QUICK = [
    "eq:Neff-def",
    "eq:vck-exact",
    "eq:ck-bound-detail/occupancy",
    "lem:gen-Neff-app",
    "thm:regret-neff/constant",
    "eq:comparison-feasible",
    "fig:test_acc_all/constant",
    "fig:buffer_cost_horizontal",
    "law:reuse/limits",
]


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    return document(run([c for c in registry() if c.id in QUICK]), version="0.0.1", seed=0)
