"""A small document of real cases: refuted, conditional, undecided and proved ones of the paper, and one of ours."""

import json

import pytest

from proofs_check.document import document
from proofs_check.registry import registry
from proofs_check.run import run
from tests.shared import shared

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
def small(tmp_path_factory):
    def decide(place):
        claims = run([c for c in registry() if c.id in QUICK])
        place.write_text(json.dumps(document(claims, version="0.0.1", seed=0)), encoding="utf-8")

    return json.loads(shared(tmp_path_factory, "document", decide).read_text(encoding="utf-8"))
