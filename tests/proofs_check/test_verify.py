"""`acdpp verify`, from the outside: table, case, JSON, ledger, own claims, exit status."""

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import proofs_check
from acdpp import verify
from proofs_check import ledger, table
from proofs_check.registry import registry, select
from proofs_check.run import run
from theory.setting import SettingError

app = typer.Typer()
app.command()(verify.command)
GUIDE = Path(proofs_check.__file__).with_name("README.md")


def call(*arguments):
    result = CliRunner().invoke(app, [*arguments, "--jobs", "1"])
    if isinstance(result.exception, SettingError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def own(tmp_path):
    """The example of the guide, as a file."""
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    path = tmp_path / "my_claims.py"
    path.write_text(code, encoding="utf-8")
    return path


def test_the_example_of_the_guide_is_proved(own):
    result = call("--file", str(own))
    assert result.exit_code == 0
    assert re.search(r"squares\s+proved\s+identity.✓ exact.✓", result.stdout)


def test_a_wrong_claim_of_ones_own_is_refuted_with_a_counterexample(own):
    own.write_text(own.read_text().replace("(2 * K + 1)", "(2 * K - 1)"))
    result = call("--file", str(own), "--explain")
    assert result.exit_code == 1
    assert "verdict: refuted" in result.stdout
    assert "K=1: 1 against 1/3" in result.stdout
    assert "Not established:" in result.stdout


def test_a_broken_check_of_ones_own_is_one_sentence_and_no_verdict(own):
    own.write_text(own.read_text().replace("return K * (K + 1)", "return undefined * (K + 1)"))
    with pytest.raises(SettingError, match="check symbolically of claim squares broke: NameError"):
        call("--file", str(own))


@pytest.mark.parametrize(
    ("content", "message"),
    [("CLAIMS = []", "must end in a list CLAIMS"), ("import nowhere", "does not run: ModuleNotFoundError")],
)
def test_a_file_without_claims_is_refused(tmp_path, content, message):
    path = tmp_path / "empty.py"
    path.write_text(content)
    with pytest.raises(SettingError, match=message):
        call("--file", str(path))
    with pytest.raises(SettingError, match="there is no file"):
        call("--file", str(tmp_path / "absent.py"))


def test_the_table_fits_eighty_columns_and_names_the_correction():
    result = call("--claim", "eq:vck-exact")
    assert all(len(line.rstrip()) <= 80 for line in result.stdout.splitlines())
    assert "→ k(k - 1)(4k + 1)/6" in result.stdout
    assert "2 claims: 2 refuted" in result.stdout


def test_the_whole_case_holds_every_number_needed_to_check_it_by_hand():
    text = " ".join(call("--claim", "eq:nc-Nc", "--explain").stdout.split())
    for part in (
        "K: 1",
        "rounds: 1",
        "simulated: 3, 3",
        "formula: 4, 3",
        "LaTeX:",
        "why:",
    ):
        assert part in text


def test_json_has_exactly_the_documented_shape():
    document = json.loads(
        call("--claim", "eq:kstep-drop", "--claim", "eq:Neff-def", "--json", "--seed", "7").stdout
    )
    assert list(document) == ["claims", "summary", "version", "seed"]
    assert document["seed"] == 7
    counted = document["summary"]
    assert {name: n for name, n in counted.items() if n} == {"proved": 1, "conditional": 1, "total": 2}
    assert set(counted) == {
        "proved",
        "certified",
        "supported",
        "conditional",
        "refuted",
        "undecided",
        "total",
    }
    first, second = document["claims"]
    statement = [
        *("title", "statement", "latex", "unicode", "verdict"),
        *("qualified", "given", "hypotheses", "parts", "why"),
    ]
    assert list(first) == [
        *("id", "section", "kind", *statement, "domain"),
        *("evidence", "evidence_with_hypotheses", "corrected", "symbols"),
    ]
    assert list(first["corrected"]) == [*statement, "evidence"]
    assert first["section"] == "reuse"
    assert first["hypotheses"]
    assert second["corrected"] is None
    found = first["evidence"] + first["evidence_with_hypotheses"] + first["corrected"]["evidence"]
    for evidence in found:
        keys = ["part", "method", "strength", "outcome", "confirms", "detail", "domain", "certificate"]
        assert list(evidence) == keys
        assert evidence["domain"]
        assert evidence["certificate"]


def test_what_a_verdict_rests_on_stands_beside_it_everywhere():
    label = "lem:gen-Neff-app"
    (entry,) = json.loads(call("--claim", label, "--json").stdout)["claims"][:1]
    assert entry["corrected"]["qualified"].startswith(f"{entry['corrected']['verdict']}, given Haussler 1995")
    assert any("Haussler" in given["name"] and given["says"] for given in entry["corrected"]["given"])
    assert "given Haussler 1995" in " ".join(call("--claim", label).stdout.split())
    assert "given Haussler 1995" in call("--claim", label, "--explain").stdout
    (recorded,) = [e for e in ledger.read() if e.id == label]
    assert recorded.corrected.qualified in table.page([recorded])


def test_the_whole_case_explains_its_symbols_and_the_argument_of_our_own_theorems():
    text = " ".join(call("--claim", "cor:optimal-k/monotone", "--explain").stdout.split())
    assert "why:" in text
    assert "K: retention horizon" in text
    assert "χ: gradient mismatch" in text


def test_exit_status_is_one_when_a_verdict_is_not_the_recorded_one(tmp_path, monkeypatch):
    assert call("--claim", "eq:Neff-def").exit_code == 0
    book = tmp_path / "ledger.json"
    book.write_text(
        ledger.LEDGER.read_text(encoding="utf-8").replace('"verdict": "proved"', '"verdict": "refuted"')
    )
    monkeypatch.setattr(ledger, "LEDGER", book)
    result = call("--claim", "eq:Neff-def")
    assert result.exit_code == 1
    assert "eq:Neff-def was recorded as refuted and is proved" in result.stdout


def test_only_record_writes_the_ledger_and_only_as_a_whole(tmp_path, monkeypatch):
    book = tmp_path / "ledger.json"
    monkeypatch.setattr(ledger, "LEDGER", book)
    assert call("--claim", "eq:Neff-def").exit_code == 1
    assert not book.exists()
    with pytest.raises(SettingError, match="--record writes the whole ledger"):
        call("--claim", "eq:Neff-def", "--record")
    one = run(select(registry(), ["eq:Neff-def"]))
    ledger.write(one)
    assert [entry.id for entry in ledger.read()] == ["eq:Neff-def"]
    assert ledger.differences(one, ledger.read()) == []


def test_bad_use_is_status_two():
    assert CliRunner().invoke(app, ["--profile", "slow"]).exit_code == 2
    assert CliRunner().invoke(app, ["--jobs", "0"]).exit_code == 2
