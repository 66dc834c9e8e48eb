"""The erratum: what it must tell, in an order and a form that can be printed."""

import re
from copy import deepcopy

import pytest

from acdpp.report import erratum, escapes, findings, line_breaks
from acdpp.report.contents import gather
from acdpp.report.markdown import markdown
from acdpp.report.page import page
from proofs_check.registry import registry
from proofs_check.symbols import GLOSSARY
from tests.typeset import check_erratum, faults, faults_of, needs_pdflatex, pdflatex


def case_of(document, label):
    """The erratum's text about one case."""
    text = erratum.latex(document).partition(rf"\hypertarget{{{label.replace(':', '-')}}}")[2]
    return text.partition(r"\hypertarget")[0]


def test_it_has_every_statement_that_is_not_true_and_no_other_and_compiles(small, tmp_path):
    verdicts = {c["id"]: c["verdict"] for c in small["claims"]}
    assert set(verdicts.values()) >= {"proved", "refuted", "conditional", "undecided"}
    assert [c["id"] for c in erratum.printed(small)] == [
        c["id"]
        for c in small["claims"]
        if verdicts[c["id"]] in ("refuted", "conditional") and c["kind"] != "addition"
    ]
    check_erratum(small, tmp_path)


def test_a_case_tells_what_is_printed_what_fails_what_holds_why_and_what_that_rests_on(small):
    case = case_of(small, "lem:gen-Neff-app")
    heads = " ".join(re.findall(r"\\said\{(.*?)\}", case))
    paper = "The paper Counterexample. Also. True if Shortest repair."
    assert heads == f"{paper} What holds instead Provided that Why. Rests on"
    assert r"$N\ge\mathrm{Pdim}$" in case
    assert r"\le5.2 B \sqrt{\frac{\mathrm{Pdim}}{N_{\mathrm{eff}}}}" in case
    assert "Haussler 1995" in case


def test_a_refutation_names_its_theorems_in_coq_and_where_they_stand(small):
    case = case_of(small, "eq:vck-exact")
    failure, _, correction = case.partition("What holds instead")
    assert re.search(r"Proved in Coq\}.*printed\\_uniformity\\_is\\_false\S* \(line \d+\)", failure)
    assert re.search(r"Proved in Coq\}.*uniformity\\_closed", correction)
    assert "axioms" not in case


def test_every_part_of_a_case_is_told(small):
    told = deepcopy(small)
    case = next(c for c in erratum.printed(told) if c["verdict"] == "conditional" and c["corrected"])
    numbers = {f"T = {10**k}": 30 * str(k) for k in range(1, 7)}
    example = _failing("counterexample: …", {"K": 2, "it satisfies convexity": "unsat"}, domain="at $K=2$.")
    general = _failing("K never helps", numbers, method="limit", strength="proof")
    case |= {"evidence": [general, general | {"detail": "T never helps"}, example], "kind": "step"}
    case |= {"domain": "every horizon", "why": "Because it is so."}
    case |= {"symbols": {"K": "a horizon of another kind", "zzz": "nothing"}}
    text = case_of(told, case["id"])
    for said in (
        r"\said{Counterexample.}K = 2. Setting: at $K=2$.",
        "Checked of it: convexity.",
        r"\said{In general.}K never",
        r"\said{Also.}T never",
        r"\begin{itemize}[nosep,label={}]" + "\n" + r"\item T = 10: 111",
        *("Claimed for: every horizon.", "Because it is so.", r"\said{Here}$K$: a horizon of another kind."),
    ):
        assert said in text
    assert "zzz" not in text
    case["corrected"]["why"] = "Because it is so. And more."
    assert case_of(told, case["id"]).count("Because it is so") == 1
    own = next(c for c in told["claims"] if c["kind"] == "addition")
    own["verdict"] = "undecided"
    tex = erratum.latex(told)
    assert escapes.code(own["id"]) not in tex
    assert "Among those listed, 1 step of proofs" in tex or "steps of proofs" in tex
    open_ = next(c for c in told["claims"] if c["verdict"] == "undecided")
    assert rf"\item {escapes.code(open_['id'])}: {escapes.latex(open_['title'])}." in tex


def test_what_several_proofs_rest_on_stands_once_at_the_end_with_the_notation(small):
    told = deepcopy(small)
    shared, own = {"name": "Somebody 1901", "says": "so it is"}, {"name": "Nobody", "says": "nothing"}
    corrected = [c for c in erratum.printed(told) if c["corrected"]]
    for case in corrected:
        case["corrected"]["given"], case["symbols"] = [shared], {}
    corrected[-1]["corrected"]["given"] = [shared, own]
    corrected[-1]["symbols"] = {"K": GLOSSARY["K"], "T": "another thing"}
    tex = erratum.latex(told)
    assert tex.count("so it is") == 1
    assert r"\hyperlink{given-Somebody-1901}{Somebody 1901}; Nobody: nothing." in tex
    notation = tex.partition(r"\section{Notation}")[2]
    assert re.findall(r"\\item\[\{(.*?)\}\]", notation) == ["$K$", r"$\mathbb E$"]


def test_links_lead_to_cases_of_the_erratum_alone(small):
    told = deepcopy(small)
    first, *_, last = erratum.printed(told)
    first["statement"] = f"See eq:Neff-def, which is true, and {last['id']}."
    tex = erratum.latex(told)
    links, places = (set(re.findall(rf"\\hyper{kind}\{{(.*?)\}}", tex)) for kind in ("link", "target"))
    assert re.sub("[:/_]", "-", last["id"]) in links <= places


def test_letter_and_substance_are_told_apart_in_every_format(small):
    whole = deepcopy(small)
    empty = next(claim for claim in whole["claims"] if claim["verdict"] == "proved")
    slip = next(claim for claim in whole["claims"] if claim["verdict"] == "refuted")
    empty["substance"] = {"verdict": "refuted", "of": slip["id"]}
    slip["substance"], slip["kind"] = {"verdict": "certified", "of": "corrected"}, "reading"
    whole["summary"] |= {
        "slips": 2,
        "statements": {"proved": 1, "certified": 2, "supported": 3, "refuted": 1},
    }
    tex = erratum.latex(whole)
    for said in (
        r"\said{In substance}certified: it fails by a slip alone.",
        "2 statements fail by a slip alone: ",
        f"1 statement ({escapes.code(empty['id'])}) stands to the letter, where ",
        "and, not counted above, 1 reading: ",
        "Of 7 statements of the paper that were checked, 6 stand as printed, 1 is not true, 0 are ",
    ):
        assert said in tex
    assert "**In substance certified:** it fails by a slip alone" in markdown(whole)
    shown = page(gather(whole, [], []), [], [], "acdpp report")
    assert re.search(r"In substance: <span class=.badge refuted.>.*as in <a href", shown)


def test_the_statements_of_the_paper_are_counted_and_those_of_ours_or_true_not_listed(small):
    tex = erratum.latex(small)
    counted = "Of 8 statements, 1 stands, 3 are not true, 3 are true only, 1 could not, acdpp 0.0.1"
    assert all(words in tex for words in counted.split(", "))
    tex = tex.replace(r"\allowbreak ", "")
    assert tex.count(r"\texttt{fig:test\_acc\_all/constant}") == 1
    assert r"\item \texttt{fig:test\_acc\_all/constant}" in tex
    for label in ("eq:Neff-def", "law:reuse/limits"):
        assert label not in tex


@needs_pdflatex
def test_there_may_be_nothing_to_correct(small, tmp_path):
    true = {**small, "claims": [c for c in small["claims"] if c["verdict"] == "proved"]}
    tex = erratum.latex(true)
    assert "None of the statements given must be changed" in tex
    assert not faults(pdflatex(tex, tmp_path))


def test_hypotheses_that_several_corrections_share_are_listed_once(small):
    twice = deepcopy(small)
    first, second, *_ = erratum.printed(twice)
    for claim in (first, second):
        claim["corrected"]["hypotheses"] = ["losses are convex", "steps are small", "samples are blue"]
    tex = erratum.latex(twice)
    assert tex.count("samples are blue") == 1
    assert rf"the hypotheses of \hyperlink{{{first['id'].replace(':', '-')}}}" in tex
    for claim in (first, second):
        claim["corrected"]["hypotheses"] = ["losses are convex", "samples are blue"]
    assert erratum.latex(twice).count("samples are blue") == 2  # two are as short as their place


@pytest.mark.parametrize(("verdict", "told"), [("proved", True), ("undecided", False), ("refuted", False)])
def test_a_reading_of_what_stands_is_told_beside_it(small, verdict, told):
    whole = {**small["claims"][0], "id": "thm:regret-neff", "verdict": verdict, "statement": "All is well."}
    tex = erratum.latex({**small, "claims": [whole, *small["claims"]]}).replace(r"\allowbreak ", "")
    assert (r"\said{\texttt{thm:regret-neff} stands}\verdict{(proved).} All is well." in tex) == told


# --- counterexamples ---------------------------------------------------------------------------------------


def _failing(detail, certificate, **more):
    found = {"outcome": "fails", "method": "exact", "strength": "exact", "domain": "", "part": ""}
    return {**found, "confirms": False, "detail": detail, "certificate": certificate, **more}


def test_the_smallest_counterexample_comes_first_and_one_that_is_the_same_is_left_out():
    large = _failing("counterexample: …", {"K": 900, "t": 3, "left": 3, "right": "1/2"})
    small = _failing("smallest counterexample: …", {"K": 2, "t": 3, "left": 5, "right": "1/4"})
    again = _failing("counterexample: …", {"K": 2, "t": 3, "left": 5, "right": "1/7"})
    general = _failing("K is never large", {"negation": "unsat"}, method="smt", strength="proof")
    found = findings.against({"evidence": [general, large, small, again]})
    assert [f.seen for f in found] == [
        "K = 2, t = 3, left side 5, right side 1/4",
        "K = 900, t = 3, left side 3, right side 1/2",
        "K is never large",
    ]


def test_what_refutes_nothing_by_itself_is_no_counterexample():
    solver = _failing("worst case 2, stated 1", {"worst case": 2}, strength="certified numerically")
    sample = _failing("mean in [1, 2]", {"mean": 2}, strength="statistical")
    holds = _failing("true", {}) | {"outcome": "holds"}
    assert findings.against({"evidence": [solver, sample, holds]}) == []


def test_a_certificate_is_told_without_code():
    for certificate, words in (
        ({"eta": "1/8", "rho": "3/4", "rate": 1}, "η = 1/8, ρ = 3/4, Λ̄ = 1"),
        ({"budget": "Budget(buffers=(1,), cost=1, mean_cost=Fraction(3, 2))"}, "buffers 1, C = 1, c̄ = 3/2"),
        ({"rounds": [[0, 1]], "reuse counts": [2, 1]}, "admissions by round (0, 1), reuse counts (2, 1)"),
        ({"Reg": "10 - 10*sqrt(2)", "Pdim": 5}, "Reg = 10 - 10·√2, Pdim = 5"),
        (
            {"left": "[38.7784060305 +/- 2.02e-11]", "right": "[4.6e+2 +/- 0.422]"},
            "left side 38.7784, right side 460 ± 0.422",
        ),
        ({"right": "sqrt(3)/76800000 + 120000000000001/1536000000000000"}, "right side 0.078125"),
        ({"σ̄², all signs": "13/50", "none": {}, "it satisfies convexity": "unsat"}, "σ̄² = 13/50 (all signs)"),
        ({"decimals": {"p^CK": "2.6400000"}}, "p^CK ≈ 2.64"),
    ):
        (found,) = findings.against({"evidence": [_failing("counterexample: …", certificate)]})
        assert found.seen == words


def test_what_was_checked_of_an_example_and_the_numbers_of_a_limit_are_told():
    certificate = {"T = 1e+03": "Ω₃ = 281", "values": {"N=1e+02": "446.97496"}, "limit": "oo"}
    certificate |= {"it satisfies smoothness": "unsat"}
    limit = _failing("Ω₃/log T tends to oo", certificate, method="limit", strength="proof")
    (found,) = findings.against({"evidence": [limit]})
    assert found.seen == "Ω₃/log T tends to infinity"
    assert found.numbers == ("T = 1e+03: Ω₃ = 281", "N=1e+02: 446.975")
    assert found.checked == ("smoothness",)


def test_text_of_a_file_is_never_executed(monkeypatch):
    """SymPy evaluates what it is given, so it is given numbers alone."""
    given = []
    monkeypatch.setattr("sympy.sympify", lambda text: given.append(text) or 1)
    for text in ("sqrt(3)/76800000 + 1", "__import__('os').system('true') or sqrt(76800000)"):
        assert findings.against({"evidence": [_failing("counterexample: …", {"right": text})]})
        assert given == ["sqrt(3)/76800000 + 1"]


# --- displayed formulas ------------------------------------------------------------------------------------


def _formulas():
    both = [of.formula for c in registry() for of in (c, c.corrected) if of]
    return [escapes.formula(tex) for tex in both if tex]


def test_breaking_a_formula_leaves_its_symbols_as_they_are():
    for tex in _formulas():
        shown = re.sub(
            r"\\(begin|end)\{(gather\*|aligned)\}|\\small|\\\\(\[2pt\])?|&|\\q?quad ?|[\s{},;]",
            "",
            line_breaks.display(tex),
        )
        assert shown == re.sub(r"\\q?quad ?|[\s{},;]", "", tex)


def test_lines_fit_the_page_as_far_as_they_can_be_broken():
    for tex in _formulas():
        body = re.sub(r"\\(begin|end)\{(gather\*|aligned)\}", "", line_breaks.display(tex))
        if not body.startswith(r"{\small"):
            assert all(
                line_breaks.width(line) <= line_breaks.WIDTH for line in re.split(r"\\\\(?:\[2pt\])?", body)
            )


def test_only_what_cannot_be_broken_is_set_small_and_a_fraction_is_as_wide_as_its_wider_part():
    long = line_breaks.WIDTH * 2 // 3 * "a"
    for tex, small, lines in (
        (long, False, 1),
        (f"{long}={long}", False, 2),
        (2 * long, True, 1),
        (rf"\left({long}\right)={long}", False, 2),
    ):
        shown = line_breaks.display(tex)
        assert (shown.startswith(r"{\small"), shown.count(r"\\[2pt]") + 1) == (small, lines)
    one, other = (line_breaks.width(tex) for tex in (r"\frac{c}{a+b}", r"\frac{a+b}{c}"))
    assert one == other > line_breaks.width("a+b")


@needs_pdflatex
def test_no_displayed_formula_of_any_claim_sticks_out_of_the_page(tmp_path):
    body = "\n\n".join(line_breaks.display(tex) for tex in _formulas())
    assert not faults_of(body, tmp_path)


# --- the tests' own eyes -----------------------------------------------------------------------------------


@needs_pdflatex
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (r"\noindent\hbox to 600pt{wide\hfil}", "too wide"),
        (r"see \ref{nowhere}", "ndefined"),
        (r"\hyperlink{nowhere}{here}", "does not exist"),
        (r"{\font\x=cmmi10 \x\char200}", "Missing character"),
    ],
)
def test_a_fault_on_the_page_is_seen(body, fault, tmp_path):
    tex = rf"\documentclass{{article}}\usepackage{{hyperref}}\begin{{document}}{body}\end{{document}}"
    found = faults(pdflatex(tex, tmp_path))
    assert any(fault in one for one in found)
