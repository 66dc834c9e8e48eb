"""The page on budgets shows the design that is on record, and what came of it when it was trained."""

import json
import re
from pathlib import Path

from acdpp.plan import show

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "set-budgets.md").read_text(encoding="utf-8")
RECORD = json.loads((ROOT / "docs" / "results" / "design-digits-500.json").read_text(encoding="utf-8"))
LONGER = ROOT / "docs" / "results" / "design-digits-3000.json"


def test_the_design_that_is_shown_is_the_one_on_record(capsys):
    show(RECORD["design"])
    printed = " ".join(capsys.readouterr().out.split())
    shown = re.search(r"--objective final\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)[1]
    assert len(shown.splitlines()) == 4
    for line in shown.splitlines():
        assert line in printed


def test_what_it_came_to_when_it_was_trained_is_on_record():
    told, design, trained = " ".join(PAGE.split()), RECORD["design"], RECORD["trained"]
    final, total = trained["final_excess_risk"], trained["cumulative_excess_risk"]
    assert f"risk of {final['mean']:.6f} ± {final['error']:.6f} (standard error)" in told
    over = final["mean"] / design["lower_bound"]["final_excess_risk"]
    predicted, error = (design[one]["cumulative_excess_risk"] for one in ("predicted", "error"))
    assert f"{over:.1f} times the lower bound" in told
    assert f"of {total['mean']:.2f} ± {total['error']:.2f}, where {predicted:.1f} ± {error:.1f} was" in told
    tried, seconds = len(design["tried"]), RECORD["seconds"]["processor"]
    assert f"tried {tried} settings in {seconds:.0f} s of processor time; it takes longer" in told


def test_the_design_for_more_rounds_is_on_record():
    told, record = " ".join(PAGE.split()), json.loads(LONGER.read_text(encoding="utf-8"))
    design, final = record["design"], record["trained"]["final_excess_risk"]
    assert record["command"].endswith(" --rounds 3000")
    tried, seconds = len(design["tried"]), record["seconds"]["processor"]
    assert f"tried {tried} settings in {seconds:.0f} s of processor time" in told
    assert (
        f"{design['policy']} again, with a decay of {design['decay']} and the polynomial mean with γ = 0.5"
        in told
    )
    assert (design["average"], design["average_by"]) == ("polynomial", 0.5)
    over = f"{final['mean'] / design['lower_bound']['final_excess_risk']:.2f} times the lower bound"
    assert f"was {final['mean']:.7f} ± {final['error']:.7f}, {over}" in told
    assert f"where {design['over_lower_bound']:.2f} times was predicted" in told
    assert over in " ".join((ROOT / "docs" / "learner.md").read_text(encoding="utf-8").split())
