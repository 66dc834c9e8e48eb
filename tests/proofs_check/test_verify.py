"""`acdpp verify`, from the outside: table, case, JSON, ledger, own claims, exit status."""

import json
import re
from pathlib import Path

import pytest

import proofs_check
from proofs_check import claims_page, ledger
from proofs_check.claim import decide
from proofs_check.run import _work
from tests.acdpp.program import acdpp, refusal

GUIDE = Path(proofs_check.__file__).with_name("README.md")


def call(*arguments):
    return acdpp("verify", *arguments, "--jobs", "1")


@pytest.fixture
def own(tmp_path):
    """The example of the guide, as a file."""
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    path = tmp_path / "my_claims.py"
    path.write_text(code, encoding="utf-8")
    return path


def test_the_example_of_the_guide_is_proved(own):
    stated, *_ = _work("squares", own, 0, "quick")
    assert [e.outcome for e in stated] == ["holds", "holds"]
    result = call("--file", str(own))
    assert result.returncode == 0
    assert re.search(r"squares\s+proved\s+identity.✓ exact.✓", result.stdout)


def test_a_wrong_claim_of_ones_own_is_refuted_with_a_counterexample(own):
    own.write_text(own.read_text().replace("(2 * K + 1)", "(2 * K - 1)"))
    result = call("--file", str(own), "--explain")
    assert result.returncode == 1
    assert "verdict: refuted" in result.stdout
    assert "K=1: 1 against 1/3" in result.stdout
    assert "Not established:" in result.stdout


def test_a_broken_check_of_ones_own_is_one_sentence_and_no_verdict(own):
    own.write_text(own.read_text().replace("return K * (K + 1)", "return undefined * (K + 1)"))
    sentence = refusal("verify", "--file", str(own))
    assert "check symbolically of claim squares broke: NameError" in sentence


@pytest.mark.parametrize(
    ("content", "message"),
    [("CLAIMS = []", "must end in a list CLAIMS"), ("import nowhere", "does not run: ModuleNotFoundError")],
)
def test_a_file_without_claims_is_refused(tmp_path, content, message):
    path = tmp_path / "empty.py"
    path.write_text(content)
    assert message in refusal("verify", "--file", str(path))
    assert "there is no file" in refusal("verify", "--file", str(tmp_path / "absent.py"))


def test_the_table_fits_eighty_columns_and_names_the_correction():
    result = call("--claim", "eq:vck-exact")
    assert all(len(line.rstrip()) <= 80 for line in result.stdout.splitlines())
    assert "→ k(k - 1)(4k + 1)/6" in result.stdout
    assert "2 claims: 2 refuted" in result.stdout


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("eq:nc-Nc", ("K: 1", "rounds: 1", "simulated: 3, 3", "formula: 4, 3", "LaTeX:", "why:")),
        ("cor:optimal-k/monotone", ("why:", "K: retention horizon", "χ: gradient mismatch")),
    ],
)
def test_the_whole_case_has_every_number_to_check_it_by_hand_its_symbols_and_the_argument(label, parts):
    text = " ".join(call("--claim", label, "--explain").stdout.split())
    for part in parts:
        assert part in text


def test_json_has_exactly_the_documented_shape():
    document = json.loads(
        call("--claim", "eq:kstep-drop", "--claim", "eq:Neff-def", "--json", "--seed", "7").stdout
    )
    assert list(document) == ["claims", "summary", "version", "seed"]
    assert document["seed"] == 7
    counted = document["summary"]
    assert {name: n for name, n in counted.items() if n} == {
        "proved": 1,
        "conditional": 1,
        "total": 2,
        "statements": {"proved": 1, "conditional": 1},
        "statements_in_substance": {"proved": 2},
        "slips": 1,
    }
    assert set(counted) == {
        *("proved", "certified", "supported", "conditional", "refuted", "undecided", "total"),
        *("statements", "statements_in_substance", "slips", "readings", "own"),
    }
    first, second = document["claims"]
    statement = [
        *("title", "statement", "latex", "unicode", "verdict"),
        *("qualified", "given", "hypotheses", "parts", "why"),
    ]
    assert list(first) == [
        *("id", "section", "kind", *statement, "substance", "repair", "domain"),
        *("evidence", "evidence_with_hypotheses", "corrected", "symbols"),
    ]
    assert list(first["corrected"]) == [*statement, "evidence"]
    assert first["section"] == "reuse"
    assert first["hypotheses"]
    assert second["corrected"] is None
    assert [claim["substance"] for claim in (first, second)] == [
        {"verdict": "proved", "of": "corrected"},
        {"verdict": "proved", "of": ""},
    ]
    found = first["evidence"] + first["evidence_with_hypotheses"] + first["corrected"]["evidence"]
    for evidence in found:
        keys = ["part", "method", "strength", "outcome", "confirms", "detail", "domain", "certificate"]
        assert list(evidence) == keys
        assert evidence["domain"]
        assert evidence["certificate"]


def test_what_a_verdict_rests_on_stands_beside_it_everywhere(monkeypatch):
    label, known = "lem:gen-Neff-app", {}  # which is decided once, and shown three times
    monkeypatch.setattr(
        "proofs_check.run.decide",
        lambda claim, **how: known.get(claim.id) or known.setdefault(claim.id, decide(claim, **how)),
    )
    (entry,) = json.loads(call("--claim", label, "--json").stdout)["claims"][:1]
    assert entry["corrected"]["qualified"].startswith(f"{entry['corrected']['verdict']}, given Haussler 1995")
    assert any("Haussler" in given["name"] and given["says"] for given in entry["corrected"]["given"])
    assert "given Haussler 1995" in " ".join(call("--claim", label).stdout.split())
    assert "given Haussler 1995" in call("--claim", label, "--explain").stdout
    (recorded,) = [e for e in ledger.read() if e.id == label]
    assert recorded.corrected.qualified in claims_page.page([recorded])


def test_exit_status_is_one_when_a_verdict_is_not_the_recorded_one(tmp_path, monkeypatch):
    assert call("--claim", "eq:Neff-def").returncode == 0
    book = tmp_path / "ledger.json"
    book.write_text(
        ledger.LEDGER.read_text(encoding="utf-8").replace('"verdict": "proved"', '"verdict": "refuted"')
    )
    monkeypatch.setattr(ledger, "LEDGER", book)
    result = call("--claim", "eq:Neff-def")
    assert result.returncode == 1
    assert "eq:Neff-def was recorded as refuted and is proved" in result.stdout


def test_only_record_writes_the_ledger_and_only_as_a_whole(tmp_path, monkeypatch):
    book = tmp_path / "ledger.json"
    monkeypatch.setattr(ledger, "LEDGER", book)
    assert call("--claim", "eq:Neff-def").returncode == 1
    assert not book.exists()
    assert "--record writes the whole ledger" in refusal("verify", "--claim", "eq:Neff-def", "--record")
    assert not book.exists()
