"""The summary of a trained study, as text: the answer in five lines, or every table."""

import shlex
from pathlib import Path
from typing import Any

from acdpp.output import count, pm, print_json, say, show_table

__all__ = ["show_ranking", "show_summary", "tell_summary"]

CUMULATIVE = "cumulative_excess_risk"
POLICIES_NAMED_MAX = 2  # of those that do not differ significantly from the best
PAIRS_NAMED_MAX = 10  # of a ranking


def tell_summary(summary: dict[str, Any], place: Path, *, verbose: bool, as_json: bool) -> None:
    """Print the summary of a result, or one JSON object."""
    document = {"result": str(place), **summary}
    if as_json:
        print_json(document)
    else:
        show_summary(document, verbose=verbose)


def show_summary(document: dict[str, Any], *, verbose: bool = False) -> None:
    """Print the answer in five lines or, with `verbose`, every table; then the command that exports the model."""
    result = document["result"]
    best = _show_answer(document)
    for name, row in document["policies"].items():
        if lost := row.get("diverged"):
            say(f"diverged: {lost} of {document['seeds']} runs of {name}; its mean is undefined")
    if verbose:
        _show_all(document)
        say(f"result: {result}", whole=True)
    else:
        again = f"acdpp resume {shlex.quote(result)} --verbose"
        say(f"result: {result}; all tables: {again}", whole=True)
    if best is not None:
        which = "" if len(document["policies"]) == 1 else f" --policy {shlex.quote(best)}"
        say(f"model: acdpp export {shlex.quote(result)}{which} --out model.pt", whole=True)


def _show_answer(document: dict[str, Any]) -> str | None:
    """Print the best policy, its lead, whether the lead is significant, and its cost; return its name."""
    from empirics.results.best_policy import ACCURACY, LOSS, RISK, answer

    policies, found = document["policies"], answer(document)
    if found is None:
        return None
    best, words = policies[found.best], found.measure.replace("_", " ")
    words = "mean loss before training" if found.measure == LOSS else words
    own = best[found.measure]
    which = "best within the budget" if found.alone else "best" if len(policies) > 1 else "trained"
    beside = f" (test accuracy {pm(best['final_accuracy'])})" if found.measure == RISK else ""
    say(f"{which}: {found.best}{beside}")
    if found.next is None:
        predicted = best.get("predicted")
        say(f"{words}: {pm(own)}" + (f", predicted {predicted[found.measure]:.4g}" if predicted else ""))
    else:
        other = policies[found.next][found.measure]
        if found.measure == RISK:
            by = f"{100 * (1 - own['mean'] / other['mean']):.1f} % below" if other["mean"] > 0 else "below"
        else:
            side = "above" if found.measure == ACCURACY else "below"
            by = f"{abs(own['mean'] - other['mean']):.4f} {side}"
        say(f"{words}: {pm(own)}, {by} {found.next} ({pm(other)})")
        say(_significance(found, document["seeds"]))
    cost, budget = best["mean_cost"]["mean"], document["budget"]
    beyond = ""
    if found.beyond is not None:
        row = policies[found.beyond]
        beyond = f"; {found.beyond} ({pm(row[found.measure])}) cost {row['mean_cost']['mean']:.4g}"
    say(f"cost: {cost:.4g} per round, of a budget of {budget:g}{beyond}")
    return found.best


def _significance(found: Any, seeds: int) -> str:
    if seeds == 1:
        return "significance: unknown with one seed"
    by, unsure = f"(5 % level, {seeds} seeds)", found.undecided
    if not unsure:
        others = f"all {found.compared} other policies" if found.compared > 1 else "the other policy"
        return f"significantly different from {others} {by}"
    some = len(unsure) <= POLICIES_NAMED_MAX
    shown = ", ".join(unsure) if some else f"{len(unsure)} of {found.compared} policies"
    return f"not significantly different from {shown} {by}"


def _show_all(document: dict[str, Any]) -> None:
    policies = document["policies"]
    say(f"{document['task']}; {document['rounds']:,} rounds")
    say(f"mean ± standard error {document['intervals']}")
    measured = "least_risk" in document
    if measured:
        _show_risk(document)
    show_table(
        "Model after the last round, on test samples",
        ["accuracy", "log-loss"],
        {
            name: [pm(row["final_accuracy"]), pm(row["final_log_loss"]) if "final_log_loss" in row else "–"]
            for name, row in policies.items()
        },
    )
    show_table(
        "Constraints",
        [f"cost (of {document['budget']:g})", "buffer violation", "largest memory"],
        {
            name: [
                f"{row['mean_cost']['mean']:.4g}",
                count(row["buffer_violation"], "∞"),
                str(row["largest_occupancy"]),
            ]
            for name, row in policies.items()
        },
    )
    if all("mean_risk" in row for row in policies.values()):
        show_table(
            "Model at the start of each round, on the population or samples of that round",
            ["mean loss", "mean accuracy"],
            {
                name: [pm(row["mean_risk"]), pm(row["mean_accuracy"]) if "mean_accuracy" in row else "–"]
                for name, row in policies.items()
            },
        )
    if all("mismatch" in row for row in policies.values()):
        _show_mismatch(policies)
    if measured:
        show_ranking(document["ranking"])
    _show_gaps(document["gap_closed"])
    if document["nominal_constants"]:
        say(f"nominal constants, not derived from the data: {', '.join(document['nominal_constants'])}")
    for reason in document["outside_the_hypotheses"]:
        say(f"outside the hypotheses of the corrected bound: {reason}")


def _show_risk(document: dict[str, Any]) -> None:
    policies, reason = document["policies"], document.get("not_predicted")
    predicted = all(row.get("predicted") for row in policies.values())

    def cells(row: dict[str, Any]) -> list[str]:
        measured = [pm(row[f"{which}_excess_risk"]) for which in ("final", "cumulative")]
        known = row["cumulative_excess_risk"]["mean"] is not None
        bound = count(
            row["corrected_over_measured"], "∞" if known and row["bound_corrected"] is not None else "–"
        )
        if not predicted:
            return [*measured, *(count(row[f"bound_{form}"], "–") for form in ("stated", "corrected")), bound]
        ratios = (row.get("final_predicted_over_measured"), row["predicted_over_measured"])
        final, summed = ("–" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
        return [measured[0], final, measured[1], summed, *([bound] if bounded else [])]

    bounded = any(row["bound_corrected"] is not None for row in policies.values())
    # short headings, so that long names fit
    if predicted:
        title = "Excess population risk; ÷: predicted over measured"
        headings = ["final", "÷", "cumulative", "÷"]
        if bounded:
            title += "; bound ÷: Theorem 1 over measured cumulative risk"
            headings.append("bound ÷")
    else:
        title = "Excess population risk and Theorem 1; ÷: relative to the measured cumulative risk"
        headings = ["final", "cumulative", "stated", "corrected", "÷"]
    show_table(title, headings, {name: cells(row) for name, row in policies.items()})
    last = {name: row[f"last_{CUMULATIVE}"] for name, row in policies.items() if f"last_{CUMULATIVE}" in row}
    if last:
        shown = ", ".join(f"{name} {pm(value)}" for name, value in last.items())
        say(f"these are means of models; cumulative excess risk of the last iterates: {shown}")
    if reason is not None:
        say(f"not predicted: {reason}")
    unsure = {name: row["predicted_error"] for name, row in policies.items() if row.get("predicted_error")}
    if unsure:
        risks = {name: policies[name]["predicted"][CUMULATIVE] for name in unsure}
        most = max(error[CUMULATIVE] / risks[name] for name, error in unsure.items())
        say(f"standard error of the prediction, over paths of prices or samples: at most {100 * most:.1f} %")
    if bound := document.get("lower_bound"):
        least = bound["final_excess_risk"]
        say(f"lower bound of the final excess risk: {least:.3g} (quadratic losses, Gaussian samples)")
    for note in document.get("prediction_notes", ()):
        say(f"note on the prediction: {note}")


def show_ranking(ranking: dict[str, Any]) -> None:
    """Print the measured ranking of the policies, and where the bounds disagree."""

    def pairs(entries: list[list[str]]) -> str:
        more = [f"{len(entries) - PAIRS_NAMED_MAX} more"] if len(entries) > PAIRS_NAMED_MAX else []
        return ", ".join([" and ".join(pair) for pair in entries[:PAIRS_NAMED_MAX]] + more)

    say(f"measured, best first: {', '.join(ranking['measured'])}")
    decided = ranking["decided_pairs"]
    if not decided:
        say(
            "no two policies differ significantly (5 % level): there is no ranking to compare the bounds with"
        )
        return
    if ranking["undecided"]:
        say(f"not significantly different (5 % level): {pairs(ranking['undecided'])}")
    if "corrected_disagrees_on" not in ranking:
        say(
            "no bound ranks them: the bounds are for last iterates, constant steps and training in every round"
        )
        return
    for form in ("corrected", "stated"):
        wrong = ranking[f"{form}_disagrees_on"]
        if wrong:
            say(f"the {form} bound ranks {', '.join(ranking[form])}: wrong on {pairs(wrong)}")
        else:
            kind = f"{decided} significant {'pair' if decided == 1 else 'pairs'}"
            say(f"the {form} bound ranks all {kind}, of {ranking['pairs']}, as measured")


def _show_gaps(gaps: dict[str, Any]) -> None:
    for measure, shares in gaps.items():
        if shares:
            shown = [
                f"{name} {100 * one['share']:.0f} % ({100 * one['low']:.0f} to {100 * one['high']:.0f} %)"
                for name, one in shares.items()
            ]
            words = measure.replace("_", " ")
            say(f"share of the gap in {words} between constant and oracle: {', '.join(shown)}")


def _show_mismatch(policies: dict[str, dict[str, Any]]) -> None:
    def spans(stretches: list[list[int]]) -> str:
        shown = [f"{a}-{b}" if b > a else str(a) for a, b in stretches]
        return ", ".join(shown if len(shown) <= 3 else [*shown[:3], "…"]) or "none"

    def cells(row: dict[str, Any], unbounded: str) -> list[str]:
        ratios = (row[name] for name in ("over_chi", "over_stated", "over_stated_early"))
        chi, stated, early = (unbounded if one is None else f"{one:.2f}" for one in ratios)
        return [chi, stated, f"{early} (t ≤ {row['early_rounds']})", spans(row["above_stated"])]

    show_table(
        "Measured gradient mismatch relative to variance × χ, and to the paper's 1/n - 1/N_eff",
        ["χ", "stated", "stated, early", "above σ² × stated in rounds"],
        {name: cells(row["mismatch"], "–" if row.get("diverged") else "∞") for name, row in policies.items()},
    )
