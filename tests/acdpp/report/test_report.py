"""`acdpp report`: its formats come from one document, bad input is refused, and nothing half-written is left."""

import inspect
import json
import re

import pytest

from acdpp.plot import FIGURES, MEASURED
from acdpp.report import contents, drawn
from acdpp.report.erratum import latex
from acdpp.report.markdown import markdown
from acdpp.report.mathml import NotTypeset, mathml
from acdpp.report.page import page
from acdpp.reproduce import PUBLISHED
from figures.options import Style
from figures.style import LOOKS
from tests.acdpp.program import refusal, said

LABELS = ("eq:kstep-drop", "eq:ck-distinct-samples")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    words = [word for label in LABELS for word in ("--claim", label)]
    file = tmp_path_factory.mktemp("verdicts") / "verdicts.json"
    file.write_text(said("verify", "--json", "--jobs", 1, *words), encoding="utf-8")
    return file


@pytest.fixture
def document(verdicts):
    return json.loads(verdicts.read_text(encoding="utf-8"))


def report_of(document, folder, code=0):
    """Output for changed verdicts; the page is in `new`."""
    (file := folder / "changed.json").write_text(json.dumps(document), encoding="utf-8")
    words = ("report", "--verdicts", str(file), "--out", str(folder / "new"), "--no-figures")
    return refusal(*words) if code == 2 else said(*words, code=code)


def test_all_formats_tell_of_the_same_cases(verdicts, tmp_path):
    forms = ("html", "latex", "markdown", "json")
    words = [word for form in forms for word in ("--format", form)]
    told = said("report", "--verdicts", verdicts, "--out", tmp_path / "new", "--no-figures", *words)
    names = ["report.html", "erratum.tex", "report.md", "report.json"]
    assert told.split() == [str(tmp_path / "new" / name) for name in names]
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "new").iterdir()}
    assert sorted(texts) == sorted(names)
    document = json.loads(texts["report.json"])
    assert [claim["id"] for claim in document["claims"]] == list(LABELS)
    assert document["results"] == []
    for label in LABELS:
        assert label in texts["report.html"]
        assert label in texts["report.md"]
    assert "kstep-drop" in texts["erratum.tex"]
    assert "ck-distinct-samples" not in texts["erratum.tex"]  # it is true


def test_a_result_is_told_in_text_too(document):
    measured = {
        "final_accuracy": {"mean": 0.9, "error": 0.01},
        "cumulative_excess_risk": {"mean": 10.0, "error": 0.25},
        "mean_cost": {"mean": 55.0, "error": None},
        "predicted_over_measured": 1.0123,
        "final_excess_risk": {"mean": 0.5, "error": 0.25},
        "final_predicted_over_measured": 0.75,
        "corrected_over_measured": 2345.6,
    }
    lost = {name: {"mean": None, "error": None} for name in ("final_accuracy", "mean_cost")}
    found = result("mi*ne", rounds=1000, budget=55, policies={"constant": measured, "my_own": lost})
    text = markdown({**document, "results": [found]})
    assert "## Result mi\\*ne\n\na task; 1,000 rounds, budget 55 per round. Mean" in text
    assert "| constant | 0.90 ± 0.01 | 10.0 ± 0.2 | 1.012 | 2,346 | 0.5 ± 0.2 | 0.750 | 55 |" in text
    assert "| my\\_own | – | – | – | – | – | – | – |" in text
    assert "## Result" not in markdown({**document, "results": []})


def test_a_verdict_that_is_not_the_recorded_one_is_told(document, tmp_path):
    document["claims"][1]["verdict"] = document["claims"][1]["qualified"] = "refuted"
    case, now = document["claims"][0], "was recorded as proved and is refuted"
    case["corrected"]["verdict"] = case["corrected"]["qualified"] = "refuted"
    told = " ".join(report_of(document, tmp_path, code=1).split())
    for whose in ("the correction of eq:kstep-drop", "eq:ck-distinct-samples"):
        assert f"not as recorded: {whose} {now}" in told
    words = ("report", "--verdicts", tmp_path / "changed.json", "--no-figures", "--out", tmp_path / "new")
    assert len(json.loads(said(*words, "--json", code=1))["differences"]) == 2
    text = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert re.search(r'role="alert".*?was recorded as proved and is refuted', text, re.DOTALL)


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.pop("summary"),
        lambda d: d["summary"].pop("refuted"),
        lambda d: d["claims"][0].pop("evidence_with_hypotheses"),
        lambda d: d["claims"][0].pop("given"),
        lambda d: d["claims"][0]["corrected"].pop("why"),
        lambda d: d["claims"][0]["evidence"][0].pop("certificate"),
        lambda d: d["claims"][1].update(verdict="mystery"),
        lambda d: d.update(claims={}),
    ],
)
def test_verdicts_of_another_version_are_refused(damage, document, tmp_path):
    damage(document)
    assert "holds no verdicts of this version" in report_of(document, tmp_path, code=2)
    assert not (tmp_path / "new").exists()


def test_claims_of_ones_own_are_not_taken_for_the_papers(document, tmp_path):
    document["claims"][0]["id"] = "my:claim"
    assert "'my:claim' is no claim about the paper" in report_of(document, tmp_path, code=2)


@pytest.mark.parametrize("part", ["statement", "latex"])
def test_what_is_not_as_recorded_is_told_in_every_format(part, document):
    document["claims"][0]["corrected"][part] = document["claims"][1][part] = "something else."
    names, differences = (
        ("the correction of eq:kstep-drop", "eq:ck-distinct-samples"),
        contents.differs(document),
    )
    assert differences == [f"{name}: its statement is not the recorded one" for name in names]
    told = contents.gather(document, [], differences)
    assert not told["complete"]
    for text in (markdown(told), latex(told), page(told, [], [], "acdpp report")):
        assert "its statement is not the recorded one" in text
        assert "The statements of" not in text


def result(name, **more):
    """A summary without measured risk, of which a run diverged."""
    means = {"final_accuracy": (None, None), "mean_cost": (5.0, 0.5), "distinct_samples": (7.0, None)}
    row = {key: {"mean": mean, "error": error} for key, (mean, error) in means.items()}
    row |= {"largest_occupancy": 9, "diverged": 1}
    found = {"name": name, "task": "a task", "rounds": 3, "seeds": 2, "budget": 5}
    found |= {"intervals": "over 2 seeds"}
    found |= {"nominal_constants": ["G"], "outside_the_hypotheses": [], "policies": {"constant": row}}
    return found | more


def test_results_without_risk_and_of_the_same_name_are_told_apart(document):
    document = contents.gather(document, [], [])
    document["results"] = [result("run", task="first"), result("run", task="second")]
    figures = [
        [drawn.Figure(f"figure-result-{n}-learning", "caption", f"plot {n}", f"<svg>{n}</svg>")]
        for n in (1, 2)
    ]
    text = page(document, [], figures, "acdpp report")
    first, second = text.split("<article id=")[-2:]
    for words in ("first", "<svg>1</svg>", "1 of 2 runs of constant", "result-1"):
        assert words in first
    assert "<svg>2</svg>" in second
    assert "∞" not in first
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_results_have_their_figures_in_places_of_their_own_and_all_files_are_named(
    verdicts, tmp_path, monkeypatch
):
    places = []
    monkeypatch.setattr(contents, "read_result", lambda path: result(path.name))
    monkeypatch.setattr(drawn, "of_theory", lambda track: [])
    monkeypatch.setattr(drawn, "of_result", lambda path, *place: places.append((path.name, place[0])) or [])
    words = ("--result", "one", "--result", "two", "--format", "html", "--format", "json", "--json")
    told = json.loads(said("report", "--verdicts", verdicts, "--out", tmp_path / "new", *words))
    assert told["files"] == [str(tmp_path / "new" / name) for name in ("report.html", "report.json")]
    assert places == [("one", "result-1"), ("two", "result-2")]
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    said("report", "--verdicts", verdicts, "--out", "new", "--result", ".")
    assert "report --verdicts FILE --result here</code>" in (here / "new" / "report.html").read_text("utf-8")


def test_the_same_document_gives_the_same_page_and_names_the_command(verdicts, tmp_path):
    for name, words in (("a", []), ("b", ["--format", "html"])):
        said("report", "--verdicts", verdicts, "--out", tmp_path / name, "--no-figures", *words)
    first, again = ((tmp_path / name / "report.html").read_text(encoding="utf-8") for name in "ab")
    assert first == again
    assert "Made by <code>acdpp report --verdicts FILE --no-figures</code>" in first
    assert str(tmp_path) not in first


def test_text_of_a_claim_is_text(document, tmp_path):
    """Markup in a user's own words is shown, not obeyed."""
    document["claims"][0]["statement"] = "<script>alert(1)</script> & eq:ck-distinct-samples"
    document["claims"][0]["evidence"][0]["certificate"] = {"<b>": "<i>x</i>"}
    report_of(document, tmp_path, code=1)
    text = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in text
    assert "alert(1)</script>" not in text
    assert "<i>x</i>" not in text
    assert '&amp; <a href="#eq:ck-distinct-samples">eq:ck-distinct-samples</a>' in text


def test_every_remark_on_a_case_and_on_a_result_is_shown(document):
    document = contents.gather(document, [], [])
    first, second = document["claims"]
    first |= {"domain": "every horizon", "repair": "mend it", "kind": "reading"}
    evidence = first["evidence"][0]
    names = ("holds", "fails")
    found = [evidence | {"method": one, "outcome": one, "confirms": one == "holds"} for one in names]
    first["evidence"], second["kind"] = found, "addition"
    remarks = {"not_predicted": "no ball", "prediction_notes": ["a note", "one more"]}
    remarks |= {"nominal_constants": ["G", "L"], "outside_the_hypotheses": ["a reason", "another"]}
    document["results"] = [result("run", **remarks)]
    row = document["results"][0]["policies"]["constant"]
    risks = zip(("cumulative_excess_risk", "final_excess_risk"), (2.0, 1.0), strict=True)
    row |= {name: {"mean": mean, "error": None} for name, mean in risks}
    row |= {"bound_corrected": 600.0, "corrected_over_measured": 300.0, "final_predicted_over_measured": 0.75}
    document["summary"]["statements"] = {"proved": 5, "refuted": 2}
    text = page(document, [], [[]], "acdpp report")
    cases = text.partition('id="verdicts"')[2].split('<details class="case"')[1:]
    for words in (
        "<h4>A reading of the paper</h4>",
        ">for every horizon</p>",
        "<h4>Shortest repair</h4>\n<p>mend it</p>",
        *('"true">✓</span>\n<strong>holds</strong>', '"true">✗</span>\n<strong>fails</strong>'),
    ):
        assert words in cases[0]
    assert "<h4>Statement</h4>" in cases[1]
    assert re.findall("<strong>holds</strong>, .*?, holds(?: [(].*?[)])?(, confirming)?:", cases[0])[0]
    assert not re.search("<strong>fails</strong>, .*?, confirming:", cases[0])
    shown = text.partition('id="result-1"')[2]
    for words in (
        *("Not predicted: no ball", "prediction: a note<", "prediction: one more<", "problem: G, L<"),
        "corrected bound: a reason<",
        "corrected bound: another<",
        "<td>600</td><td>300</td><td>1</td><td>0.750</td>",
        "3 rounds, budget 5 per round",
        "<td>9</td><td>7</td>",
    ):
        assert words in shown
    assert "That is one study." not in text
    assert "7 statements of the paper, to the letter" in text
    assert '<a href="#results">' in text
    assert '<a href="#figures">' not in text
    figure = drawn.Figure("figure-x", "c", "d", "<svg/>")
    bare = page(document | {"results": []}, [figure], [], "acdpp report")
    assert "That is one study." in bare
    assert ('<a href="#figures">' in bare, '<a href="#results">' in bare) == (True, False)
    assert 'lead">Statements of' in bare
    assert 'lead">The statements of' in page(document | {"complete": True}, [], [[]], "acdpp report")


def test_the_longest_label_is_linked_and_central_cases_come_in_their_order(document):
    document = contents.gather(document, [], [])
    first, second = document["claims"]
    first["id"], second["id"] = "cor:optimal-k", "cor:optimal-k/finite-horizon"
    first["statement"] = "See cor:optimal-k/finite-horizon and cor:optimal-k."
    third = second | {"id": "eq:vck-exact"}
    text = page(document | {"claims": [first, second, third]}, [], [], "acdpp report")
    for label in ("cor:optimal-k/finite-horizon", "cor:optimal-k"):
        assert f' <a href="#{label.replace("/", ".")}">{label}</a>' in text
    central = text.partition('id="central"')[2].partition("</section>")[0]
    assert re.findall('href="#(.*?)"', central) == ["eq:vck-exact", "cor:optimal-k"]


def test_the_prediction_shown_first_is_that_of_the_first_result_that_has_one(document):
    document = contents.gather(document, [], [])
    risk, unsure = {"mean": 2.0, "error": 0.1}, {"mean": 1.0, "error": None}
    found = {"predicted_over_measured": 1.25, "corrected_over_measured": 300.0, "bound_corrected": 600.0}
    found |= {"cumulative_excess_risk": risk, "final_excess_risk": unsure}
    without, other = (result(name)["policies"]["constant"] for name in "ab")
    document["results"] = [result("bare"), result("known", seeds=1), result("last")]
    for one, more in zip(
        document["results"][1:], (found, found | {"predicted_over_measured": 7.5}), strict=True
    ):
        one["policies"] = {"lost": without | found | {"predicted_over_measured": None}, "mine": other | more}
        one["policies"]["yours"] = other | more | {"corrected_over_measured": 200.0}
    text = page(document, [], [[], [], []], "acdpp report")
    first = text.partition('id="how-far"')[2].partition("</article>")[0]
    assert "a task, 3 rounds, 1 seed; result known" in first
    document["results"] = document["results"][2:]
    assert "a task, 3 rounds, 2 seeds; result last" in page(document, [], [[]], "acdpp report")
    assert re.findall('row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>', first) == [
        ("mine", "2.0 ± 0.1", "1.250", "300"),
        ("yours", "2.0 ± 0.1", "1.250", "200"),
    ]
    assert "corrected, is 200 to 300 times it" in first


def test_a_case_is_found_by_every_engine_that_looked_at_it(document):
    document = contents.gather(document, [], [])
    case = document["claims"][0]
    parts = (case["evidence"], case["evidence_with_hypotheses"], case["corrected"]["evidence"])
    for found, method in zip(parts, ("smt", "limit", "enclosure"), strict=True):
        found[0]["method"] = method
    text = page(document, [], [], "acdpp report")
    engines = [set(found.split("|")) for found in re.findall('data-engines="(.*?)"', text)]
    assert {"smt", "limit", "enclosure"} <= engines[0]
    assert set(re.findall("<option>(.*?)</option>", text)) >= engines[0] | engines[1]


def test_a_formula_that_cannot_be_typeset_is_not_shown_as_it_is():
    with pytest.raises(NotTypeset, match="geC"):
        mathml(r"a\geC")


def test_letters_and_signs_that_browsers_would_lose():
    for tex, part in (
        (r"\mathbb E x", "<mi>𝔼</mi>"),
        (r"\mathcal E", "<mi>ℰ</mi>"),
        (r"\mathbf 1", "<mn>𝟏</mn>"),
        (r"a\sim b", "<mo>&#x0223C;</mo>"),
        (r"a\iff b", "<mo>&#x027FA;</mo>"),
    ):
        assert part in mathml(tex)


def test_a_figure_that_needs_what_is_not_installed_is_left_out_and_said(monkeypatch):
    experiments = []

    def without(name):
        def fails(**options):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        monkeypatch.setattr(drawn, "REPORTED", (("frontier", {"risk": False}),))
        monkeypatch.setitem(FIGURES, "frontier", fails)
        monkeypatch.setitem(FIGURES, "section7", lambda result: experiments.extend(result) or [])
        return list(drawn.of_theory(lambda name: lambda steps: steps))

    (figure,) = without("torch")
    assert (figure.needs, figure.svg, figure.command) == ("torch", "", "acdpp plot frontier --no-risk")
    both = {f"{dataset}-{setting}" for dataset in PUBLISHED for setting in ("paper", "released")}
    assert {path.stem for path in experiments} == both | {"mnist-trained"}
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        without("numpy")


def test_every_figure_of_the_report_takes_its_options_and_has_a_caption():
    for name, options in drawn.REPORTED:
        assert set(options) <= set(inspect.signature(FIGURES[name]).parameters)
    names = {*(name for name, _ in drawn.REPORTED), *MEASURED}
    assert names | {"section7-accuracy", "section7-constraints"} <= set(drawn.CAPTIONS)


def test_a_drawing_takes_on_the_ink_and_ground_of_the_page_and_keeps_other_colours():
    svg = (
        '<?xml version="1.0"?><svg width="10pt" height="5pt" viewBox="0 0 10 5"><metadata>x</metadata>'
        '<rect id="a" style="fill: #FFFFFF; stroke: #000000"/><rect fill="#e6e6e6"/><use xlink:href="#a"/>'
        '<path clip-path="url(#a)" style="fill: #010101; stroke: #0072b2"/></svg>'
    )
    made = drawn.within_page(svg, "figure-x", LOOKS[Style.paper])
    assert made.startswith('<svg class="drawing" viewBox="0 0 10 5"')
    for part in (
        *('id="figure-x-a" style="fill: var(--ground); stroke: var(--ink)"', 'style="fill: var(--faint)"'),
        *('href="#figure-x-a"', "url(#figure-x-a)", "fill: #010101; stroke: #0072b2"),
    ):
        assert part in made
    assert "metadata" not in made


def test_what_is_refuted_is_not_said_to_hold_under_hypotheses(document):
    document = contents.gather(document, [], [])
    case = document["claims"][0]
    assert case["verdict"] == "conditional"
    assert "It holds if" in page(document, [], [], "acdpp report")
    for verdict in ("refuted", "undecided"):
        case["verdict"] = case["qualified"] = verdict
        text = page(document, [], [], "acdpp report")
        assert ("It holds if" in text, "Also looked at with" in text) == (False, True)
