"""The README is short, its output is that of its commands, and its numbers have a source."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

<<<<<<< HEAD
from acdpp.plan import show
from proofs_check import claims_page
from proofs_check.ledger import read, tally

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 70


def result(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def verdicts() -> Iterator[str]:
    """How many of the paper's statements are refuted and proved."""
    counts = tally(read())
    letter, substance = counts["statements"], counts["statements_in_substance"]
    yield (
        f"Of {sum(letter.values())} statements {letter['refuted']} are refuted to the letter and "
        f"{substance['refuted']} in substance; {letter['proved']} and {substance['proved']} are proved"
    )


def design() -> Iterator[str]:
    """The plan that is on record for the README's first command, as it is printed."""
    record = result("docs/results/design-digits-500.json")
    page = (ROOT / "docs" / "set-budgets.md").read_text(encoding="utf-8")
    assert (
        re.search(r"(?m)^acdpp plan .*$", README)[0] in page
    )  # where test_set_budgets_page.py looks after it
    assert record["seconds"]["wall"] == pytest.approx(60, rel=0.25)
    yield "a plan in about a minute"
    told = StringIO()
    with redirect_stdout(told):
        show(record["design"])
    printed = " ".join(told.getvalue().split())
    (shown,) = re.findall(r"(?ms)^```text\n(.*?)^```$", README)
    assert len(shown.splitlines()) == 3
    for line in shown.splitlines():
        assert line in printed
        yield line


def predictions() -> Iterator[str]:
    """Of the study whose prediction was held against a training, and of those on the page of the law."""
    study = result("acdpp/report/prediction-digits-500.json")
    assert "--rounds" not in study["command"]  # the usual 500
    found = study["policies"].values()
    off = max(abs(row["predicted_over_measured"] - 1) for row in found)
    yield f"within {100 * off:.0f} % of what is then measured"
    above = [round(row["corrected_over_measured"], -2) for row in found]
    yield f"lies {min(above):,.0f} to {max(above):,.0f} times above"
    measured = {name: row["cumulative_excess_risk"]["mean"] for name, row in study["policies"].items()}
    gap = {name: one - measured["oracle"] for name, one in measured.items() if name != "oracle"}
    ratio = {name: row["predicted_over_measured"] for name, row in study["policies"].items()}
    times = [
        (ratio[name] * measured[name] - ratio["oracle"] * measured["oracle"]) / gap[name] for name in gap
    ]
    page = (ROOT / "docs" / "law-of-reuse.md").read_text(encoding="utf-8")
    assert f"predicted {min(times):.2f} to {max(times):.2f} times as large" in " ".join(page.split())
    mnist = page.partition("| MNIST")[2].partition("± is the standard error")[0]
    *usual, worst = sorted(float(one) for one in re.findall(r"(\d\.\d+) ±", mnist))
    assert len(usual) == 15
    assert usual[0] > 1
    yield f"On MNIST the law is up to {100 * usual[-1] - 100:.0f} % off, in one extreme case {100 * worst - 100:.0f} %"


def learner() -> Iterator[str]:
    """Our learner and policy against the paper's, at the paper's budget."""
    studies, other = (
        result(f"docs/results/learner-{one}-3000.json")["studies"] for one in ("digits", "mnist")
    )
    rows, there = {}, {}
    for found, study in ((rows, studies), (there, other)):
        for name, row in study["uniform"][
            "policies"
        ].items():  # the first is ours, and then come changes of it
            found.setdefault((name.partition("@")[0], "average" in name), row)
    ours, oracle, theirs = rows["taper", True], rows["oracle", False], rows["acdpp", False]
    assert oracle["mean_cost"] == pytest.approx(10 * ours["mean_cost"], rel=0.01)
    risks = [f"{one['cumulative_excess_risk']['mean']:.3g}" for one in (ours, oracle, theirs)]
    yield "cumulative excess risk {}, the oracle's {}, the paper's policy {}".format(*risks)
    half = (ours["final_excess_risk"]["high"] - ours["final_excess_risk"]["mean"]) / ours["bound"]
    yield f"final risk {ours['final_over_bound']:.2f} ± {half:.2f} times the least that as many independent Gaussian"
    yield f"without, it is {rows['taper-online', True]['final_over_bound']:.2f} times"
    final = [there[policy, True]["final_over_bound"] for policy in ("taper", "taper-online")]
    yield "On the ten classes of MNIST the two are {:.2f} and {:.2f} times".format(*final)
    yield "from 3,000 rounds on the digits"
    ahead = result("docs/results/learner-predicted-mnist-1000.json")["studies"].values()
    off = [one - 1 for s in ahead for row in s["policies"].values() for one in row["over_measured"].values()]
    yield f"and for means of models up to {100 * max(map(abs, off)):.0f} %"
    assert len(studies) == 7


def names() -> Iterator[str]:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    yield f"*{cited['title']}* ({cited['year']})"
    yield tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]


def test_every_number_is_that_of_a_recorded_result() -> None:
    """Commands have numbers too, but those are for the reader to choose: test_commands_shown.py runs them."""
    told = " ".join(re.sub(r"(?ms)^```sh$.*?^```$|`(?:acdpp|python) [^`]*`", "", README).split())
    for source in (verdicts, design, predictions, learner, names):
        for words in source():
            assert words in told, source.__name__
            told = told.replace(words, "")
    assert not re.findall(r".{0,40}\d.{0,20}", told), "a number without a source"
=======
from docs.numbers.renew import MARKED
from proofs_check import table
from proofs_check.ledger import read
from tests.acdpp.program import acdpp

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES_MAX = 70
CLAIM = "lem:omega3-order"
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", README)
>>>>>>> 1f5b6cd (State page tests by behaviour; five tests of sentences go)


def test_it_takes_a_minute_to_read() -> None:
    assert len(README.splitlines()) <= LINES_MAX


def test_its_blocks_are_a_first_minute_its_output_and_the_test_command() -> None:
    (_, first), (_, _), (_, second) = BLOCKS
    assert [kind for kind, _ in BLOCKS] == ["sh", "text", "sh"]
    assert [line.split()[1] for line in first.splitlines()[1:]] == ["verify", "plot", "design"]
    assert second == "pip install -c constraints.txt -e '.[dev]' && pytest -n 2 --dist loadfile\n"


def test_its_output_is_that_of_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """All claims are decided by tests/proofs_check, and the picture is drawn by test_commands_shown.py."""
    monkeypatch.setenv("COLUMNS", "120")
    _, _, _, design = (line.split()[1:] for line in BLOCKS[0][1].splitlines())
    printed = [acdpp("verify", "--claim", CLAIM).stdout, "plots/bound-vs-T.png", acdpp(*design).stdout]
    verdicts = Counter(str(entry.stated.verdict) for entry in read())
    order = ("proved", "certified", "supported", "conditional", "refuted", "undecided")
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in order)
    told = " ".join(" ".join([*printed, f"{verdicts.total()} claims: {counts}"]).split())
    for line in BLOCKS[1][1].replace("…", "").splitlines():
        assert " ".join(line.split()) in told


def test_every_number_has_a_source() -> None:
    """A result file, the output shown, or a command, whose numbers are for the reader to choose."""
    prose = re.sub(r"(?ms)^```.*?^```$|`[^`]*`|\]\([^)]*\)", "", MARKED.sub("", README))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    assert f"*{cited['title']}* ({cited['year']})" in " ".join(prose.split())
    known = {str(cited["year"]), "2.0", *re.findall(r"\d[\d.]*", BLOCKS[1][1])}
    assert set(re.findall(r"\d+(?:\.\d+)?", prose)) <= known


def test_the_table_of_claims_is_that_of_the_ledger() -> None:
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
<<<<<<< HEAD
    assert page == claims_page.page(read())
    claims = result("proofs_check/ledger.json")["claims"]
    assert re.findall(r"(?m)^\| `(.*?)`", page) == [claim["id"] for claim in claims]
    kinds = Counter(claim["kind"] for claim in claims)
    ours, readings = kinds["addition"], kinds["reading"]
    assert f"{len(claims) - ours - readings} statements of the paper: to the letter " in page
    assert f" {readings} readings of it: " in page
    assert f" {ours} claims of our own: " in page
    assert claims_page.repairs(read()) in (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
=======
    assert page == table.page(read())
    assert re.findall(r"(?m)^\| `(.*?)`", page) == [entry.id for entry in read()]
>>>>>>> 1f5b6cd (State page tests by behaviour; five tests of sentences go)
