"""The report in Markdown: complete, and its links lead somewhere."""

import re
from copy import deepcopy

import pytest

from acdpp.report.contents import MEANING
from acdpp.report.markdown import anchor, markdown
from proofs_check.registry import registry
from proofs_check.text import terminal


def test_every_link_leads_to_a_heading_every_case_has_one_and_formulas_are_kept(small):
    text = markdown(small)
    places = [anchor(heading.replace("`", "")) for heading in re.findall("(?m)^#+ (.*)$", text)]
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert len(set(places)) == len(places)
    assert links <= set(places)
    for claim in small["claims"]:
        assert f"### `{claim['id']}`" in text
        assert anchor(claim["id"]) in links
    for formula in re.findall(r"\$\$\n(.*?)\n\$\$", text, re.DOTALL):
        assert formula.isascii()
        assert not re.search(r"\\[^A-Za-z]|[<>]", formula)  # which Markdown would read
    page = pytest.importorskip("markdown").markdown(text, extensions=["toc", "tables"])
    assert links == set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))


def test_a_case_tells_verdict_statement_counterexample_correction_and_why(small):
    text = markdown(small)
    case = text[text.index("### `eq:vck-exact`") : text.index("### `eq:ck-bound-detail/occupancy`")]
    (claim,) = (c for c in small["claims"] if c["id"] == "eq:vck-exact")
    for said in (
        "**refuted** (corollary)",
        "**Counterexample:** K = 2, t = 1",
        "**What holds instead** (✓ proved)",
        r"k=\min(K,t)",
    ):
        assert said in case
    assert case.count("$$") == 4
    assert terminal(claim["statement"])[:40] in case


def test_every_part_of_a_case_is_told(small):
    told = deepcopy(small)
    found = {"outcome": "holds", "strength": "exact", "confirms": False, "certificate": {}, "part": "upper"}
    true = next(c for c in told["claims"] if c["verdict"] == "proved")
    clauses = [f"clause {place} {60 * 'x'}" for place in range(9)]
    true["evidence"] = [found | {"method": "smt", "detail": "; ".join(clauses), "domain": "all of them"}]
    true["given"], true["symbols"] = [{"name": "Somebody 1901", "says": "so it is"}], {"K": "a horizon"}
    wrong = next(c for c in told["claims"] if c["verdict"] == "conditional")
    values = {"values": {"N=1": "2.5"}, "T = 9": "nine"}
    wrong["evidence"] = [found | values | {"outcome": "fails", "method": "limit", "strength": "proof"}]
    wrong["evidence"][0] |= {"certificate": values, "detail": "it grows", "domain": "every N"}
    wrong |= {"hypotheses": ["first thing", "second thing"], "repair": "mend it"}
    refuted = next(c for c in told["claims"] if c["verdict"] == "refuted" and c["corrected"])
    for case in (refuted, next(c for c in told["claims"] if c["verdict"] == "undecided")):
        case["given"] = [{"name": "Nobody", "says": "nothing"}]
    refuted["corrected"] |= {"hypotheses": ["third thing", "fourth thing"]}
    text = markdown(told | {"summary": told["summary"] | {"total": 1}})
    kept = "; ".join(clauses[:3])
    for said in (
        f"- smt, holds (upper): {kept}; …. On: all of them.",
        *("**Rests on:** Somebody 1901, so it is", "<summary>Symbols</summary>\n\nK: a horizon\n"),
        "**What fails:** it grows (every N)\n\n- N=1: 2.5\n- T = 9: nine\n",
        "**True if:** first thing; second thing",
        "**Shortest repair:** mend it",
        "**Provided that:** third thing; fourth thing",
        "\n\n1 claim, decided",
    ):
        assert said in text
    assert "Nobody" not in text


def test_labels_stay_apart_as_places():
    assert len({anchor(claim.id) for claim in registry()}) == len(registry())


def test_counts_are_those_of_the_document(small):
    text = markdown(small)
    assert f"{small['summary']['total']} claims" in text
    for verdict in MEANING:
        groups = ("statements", "statements_in_substance", "readings", "own")
        counts = (small["summary"][group].get(verdict, 0) for group in groups)
        assert f"{verdict} | {' | '.join(map(str, counts))} |" in text


def test_prose_has_no_meaning_for_markdown(small):
    strange = deepcopy(small)
    strange["claims"][0]["statement"] = "K* < x_1 <b> and *x* [y](z) see eq:vck-exact | ~a~"
    strange["claims"][0]["latex"] = "a<b>c"
    text = markdown(strange)
    assert r"a\lt b\gt c" in text
    assert r"K\* &lt; x\_1 &lt;b> and \*x\* \[y\](z) see [`eq:vck-exact`](#eqvck-exact) \| \~a\~" in text
