"""`acdpp verify`, from the outside: table, case, JSON, ledger, own claims, exit status."""

import json
import re
import sys
from itertools import chain
from pathlib import Path

import pytest

import proofs_check
from proofs_check import claims_page, ledger
from proofs_check.registry import claims_from
from proofs_check.run import run
from proofs_check.text import terminal
from tests.acdpp.program import acdpp, refusal
from tests.refused import refused

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
    (case,) = run(claims_from(own), jobs=2, file=own)  # in a worker, which executes the file again
    assert [e.outcome for e in case.stated] == ["holds", "holds"]
    result = call("--file", str(own))
    assert result.returncode == 0
    assert re.search(r"squares\s+proved\s+identity.✓ exact.✓", result.stdout)
    assert "1 claim: 1 proved (" in result.stdout
    (confirmed,) = re.findall("- (.*), confirming", call("--file", str(own), "--explain").stdout)
    assert confirmed.startswith("exact, ")


def test_a_worker_tries_as_many_examples_as_are_asked_for(tmp_path):
    own = tmp_path / "examples.py"
    own.write_text(
        "from proofs_check import Claim, holds\n"
        "check = lambda context: holds('exact', str(context.choose('few', 'many')) + str(context.seed), domain='any')\n"
        "CLAIMS = [Claim(id='own:' + n, title='t', statement='S.', formula='x', domain='any', sketch='It is so.', "
        "checks=(check,)) for n in 'ab']\n"
    )
    for profile, said in (("quick", "few7"), ("full", "many7")):
        cases = run(claims_from(own), jobs=2, file=own, seed=7, profile=profile)
        assert [case.stated[0].detail for case in cases] == [said, said]


def test_a_worker_that_is_killed_ends_in_one_sentence(own):
    claims = claims_from(own)
    own.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert "a worker was killed" in refused(run, claims, jobs=2, file=own)


def test_a_wrong_claim_of_ones_own_is_refuted_with_a_counterexample(own):
    own.write_text(own.read_text().replace("(2 * K + 1)", "(2 * K - 1)"))
    result = call("--file", str(own), "--explain")
    assert result.returncode == 1
    assert "verdict: refuted" in result.stdout
    assert "K=1: 1 against 1/3" in result.stdout
    assert "Not established:" in result.stdout


def test_a_claim_of_ones_own_must_be_established_as_it_stands(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(
        "from proofs_check import Claim, fails, holds, undecided\n"
        "ends = {'no': fails, 'yes': holds, 'maybe': undecided}\n"
        "ends = {name: lambda one=one: one('exact', '1', domain='any', certificate={'K': 1})\n"
        "    for name, one in ends.items()}\n"
        "words = {'kind': 'k', 'title': 't', 'statement': 'S.', 'domain': 'any', 'hypotheses': ('h',)}\n"
        "words |= {'checks_with_hypotheses': (ends['yes'],)}\n"
        "CLAIMS = [Claim(id=name, checks=(check,), **words) for name, check in ends.items()]\n"
    )
    for name, verdict in (("no", "conditional"), ("maybe", "undecided")):
        result = call("--file", str(own), "--claim", name)
        assert (result.returncode, f"{name} is {verdict}" in result.stdout) == (1, True)
    assert call("--file", str(own), "--claim", "yes").returncode == 0


def test_a_check_of_the_paper_s_claims_that_breaks_ends_with_3(own, monkeypatch):
    own.write_text(own.read_text().replace("K * (K + 1)", "undefined * (K + 1)"))
    monkeypatch.setattr("proofs_check.registry.labelled", lambda labels: claims_from(own))
    result = call()
    assert (result.returncode, result.stdout) == (3, "")
    assert "a check of acdpp itself failed: " in result.stderr


SAME = "Claim(id=i, kind='k', title='t', statement='S.', domain='d', checks=(symbolically,)) for i in 2 * 'edcba'"


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ("K * (K + 1)", "undefined * (K + 1)", "check symbolically of claim squares broke: NameError"),
        ("CLAIMS = [", f"CLAIMS = [*({SAME}), ", "but a, b, c, d, e comes twice"),
    ],
)
def test_a_broken_check_or_a_label_used_twice_is_one_sentence_and_no_verdict(own, right, wrong, sentence):
    own.write_text(own.read_text().replace(right, wrong))
    assert sentence in refusal("verify", "--file", str(own))


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


def test_the_whole_case_has_its_hypotheses_its_repair_and_its_substance():
    label = "lem:gen-Neff-app"
    claim, *_ = json.loads(call("--claim", label, "--json").stdout)["claims"]
    text = " ".join(call("--claim", label, "--explain").stdout.split())
    told = [f"added hypothesis: {one}" for one in claim["hypotheses"]]
    told += [f"hypothesis: {one}" for one in claim["corrected"]["hypotheses"]]
    assert len(claim["corrected"]["hypotheses"]) > 1
    for one in (*told, f"shortest repair: {claim['repair']}"):
        assert " ".join(terminal(one).split()) in text
    for more in ((), ("--explain",)):
        assert "in substance proved: it fails by a slip" in " ".join(
            call("--claim", "eq:nc-Nc", *more).stdout.split()
        )


def test_what_coq_proves_is_counted_and_it_is_said_whether_it_was_asked_here():
    for labels, counted in (
        (["eq:nc-Nc"], ""),
        (["eq:Neff-def"], "1 statement"),
        (["eq:vck-exact"], "3 statements"),
        (["eq:cost-proof-2/bounded"], "2 statements"),  # with added hypotheses, and corrected
    ):
        words = [word for label in labels for word in ("--claim", label)]
        text, recorded = " ".join(call(*words).stdout.split()), "not asked" in call(*words, "--json").stdout
        how = "as recorded; acdpp verify --kernel checks them here" if recorded else "checked here"
        assert (f"proofs about {counted}: {how}." in text) == ("proofs about" in text) == bool(counted)
    words = ("--claim", "eq:Neff-def")
    (claim,), text = json.loads(call(*words, "--json").stdout)["claims"], call(*words, "--explain").stdout
    proved = [e["certificate"].items() for e in claim["evidence"] if e["method"] == "kernel"]
    for name, facts in chain(*proved):
        items = [f"{item}: {facts[item]}" for item in ("stands in", "in Coq")]
        for fact in (f"{name}: {facts['says']}", *items):
            assert " ".join(terminal(fact).split()) in " ".join(text.split())


def test_what_coq_is_asked_about_is_no_longer_what_theory_gives(monkeypatch):
    monkeypatch.setattr("proofs_check.engines.kernel.changes", lambda asked: ["More.v differs"])
    for more in ((), ("--json",)):
        result = call("--claim", "eq:Neff-def", *more)
        assert (result.returncode, "More.v differs" in result.stdout) == (1, not more)


def test_every_checker_that_is_missing_is_named(monkeypatch):
    for name in ("PEPit", "z3"):
        monkeypatch.setitem(sys.modules, name, None)
    assert refusal("verify").startswith("acdpp: verifying needs PEPit and z3: pip install")


def test_json_has_exactly_the_documented_shape():
    asked = ("--claim", "eq:kstep-drop", "--claim", "eq:Neff-def", "--json", "--seed", "7")
    document = json.loads(call(*asked).stdout)
    assert list(document) == ["claims", "summary", "version", "seed"]
    assert document["seed"] == 7
    none = dict.fromkeys(("certified", "supported", "refuted", "undecided"), 0) | {"readings": {}, "own": {}}
    letter, substance = {"proved": 1, "conditional": 1}, {"proved": 2}
    counted = {"statements": letter, "statements_in_substance": substance, "slips": 1}
    assert document["summary"] == none | letter | {"total": 2} | counted
    first, second = document["claims"]
    statement = ["title", "statement", "latex", "unicode", "verdict", "qualified", "given", "hypotheses"]
    statement += ["parts", "why"]
    assert list(first) == [
        *("id", "section", "kind", *statement, "substance", "repair", "domain"),
        *("evidence", "evidence_with_hypotheses", "corrected", "symbols"),
    ]
    assert list(first["corrected"]) == [*statement, "evidence"]
    assert first["section"] == "reuse"
    assert first["hypotheses"]
    outcomes = {
        key: {one["outcome"] for one in first[key]} for key in ("evidence", "evidence_with_hypotheses")
    }
    assert outcomes == {"evidence": {"fails"}, "evidence_with_hypotheses": {"holds"}}
    assert second["corrected"] is None
    for claim, of in ((first, "corrected"), (second, "")):
        assert claim["substance"] == {"verdict": "proved", "of": of}
    for evidence in first["evidence"] + first["evidence_with_hypotheses"] + first["corrected"]["evidence"]:
        found = ["part", "method", "strength", "outcome", "confirms", "detail", "domain", "certificate"]
        assert list(evidence) == found
        assert evidence["domain"]
        assert evidence["certificate"]


def test_a_verdict_is_shown_everywhere_with_what_it_rests_on():
    label = "thm:regret-neff/values"  # whose correction alone is given something
    (recorded,) = [e for e in ledger.read() if e.id == label]
    rests = recorded.corrected.qualified
    assert ", given " in rests
    (entry,) = json.loads(call("--claim", label, "--json").stdout)["claims"]
    assert entry["corrected"]["qualified"] == rests
    assert [given["name"] for given in entry["corrected"]["given"]] == list(recorded.corrected.given)
    for shown in (call("--claim", label), call("--claim", label, "--explain")):
        assert rests.partition(", ")[2] in " ".join(shown.stdout.split())
    assert rests in claims_page.page([recorded])


def test_exit_status_is_one_when_a_verdict_is_not_the_recorded_one_and_no_ledger_is_written(
    tmp_path, monkeypatch
):
    assert call("--claim", "eq:Neff-def").returncode == 0
    book, recorded = tmp_path / "ledger.json", ledger.LEDGER.read_text(encoding="utf-8")
    monkeypatch.setattr(ledger, "LEDGER", book)
    for said in ("is not in the ledger", "eq:Neff-def was recorded as refuted and is proved"):
        result = call("--claim", "eq:Neff-def")
        assert (result.returncode, said in result.stdout) == (1, True)
        assert book.exists() == ("recorded as" in said)
        book.write_text(recorded.replace('"verdict": "proved"', '"verdict": "refuted"'))
