"""What the page says of its fields, and what it looks like: plain data."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CHOICES", "GROUPS", "LAYOUT", "PAIRED", "SCHEME", "WORDS", "Words"]


class Words(NamedTuple):
    """The name of a field, and what it is, for who has come to it."""

    label: str
    hint: str


WORDS = {
    "budget": Words("Budget a round", "what all clients together may spend in a round, on average"),
    "buffers": Words("Buffers", "how many samples each client can hold, such as 8,9,10"),
    "rounds": Words("Rounds", "in each of them clients buy, then train"),
    "prices": Words(
        "Price of a sample",
        "uniform:1:10 (any price between), integer:1:10, markov:1:10 (it stays a while), drifting:1:10 (it rises), "
        "or one price such as 5.5",
    ),
    "price_file": Words(
        "… or prices from a file", "a CSV file with a price a round, dropped below or by name"
    ),
    "price_column": Words("Price column", "needed where the file has several"),
    "data": Words("Data", "digits (bundled), or npz:FILE, csv:FILE, parquet:FILE; or drop a file below"),
    "label": Words("Label column", "what is to be learnt from the other columns"),
    "time": Words("Time column", "if the table has one: it is no feature then"),
    "client": Words("Client column", "if the table has one: every client draws from its own rows"),
    "pilot": Words("Pilot", "plan from so many samples alone, with the error of that; empty: from all"),
    "fit": Words(
        "Radius and scale", "of a model on your data: tried on some of them, or as the preset has it"
    ),
    "policies": Words("Policies", "who decides when to buy; several are compared. Type to search"),
    "K": Words("Retention K", "rounds for which a sample is kept; empty: the best by the bound"),
    "eta": Words(
        "Step size η", "of a gradient step, in the first round; empty: chosen by your data, or the preset's"
    ),
    "steps": Words("Local steps E", "that each client takes in a round"),
    "decay": Words("Decay τ", "step sizes fall as 1/√(1 + t/τ); empty: they stay"),
    "average": Words("Mean of models", "the last model counts (none), or a mean of all, late ones more"),
    "average_by": Words("Its parameter", "the power, the share of the tail, or the memory of that mean"),
    "objective": Words("Recommend the least", "excess risk, summed over all rounds or at the end"),
}
GROUPS = {
    "Money": ("budget", "rounds", "buffers", "prices", "price_file", "price_column"),
    "Data": ("data", "label", "time", "client", "pilot", "fit"),
    "Learner and policy": ("policies", "K", "objective", "eta", "steps", "decay", "average", "average_by"),
}
PAIRED = (
    "K",
    "objective",
    "steps",
    "eta",
    "decay",
    "average",
    "average_by",
    "time",
    "client",
)  # two in a line
CHOICES = {
    "objective": {"cumulative": "over all rounds", "final": "at the end"},
    "fit": {"data": "chosen by the data", "preset": "the preset's"},
}
LAYOUT = """
:root { --ink: #333333; --quiet: #5f6368; --line: #dadce0; --card: #ffffff; --paper: #f6f7f9; --accent: #005a8e }
.body--dark { --ink: #dddddd; --quiet: #a8adb4; --line: #3a3d42; --card: #1c1e21; --paper: #121212; --accent: #6cb8ea }
body { font-size: 1rem; color: var(--ink); background: var(--paper) }
body.body--dark { background: var(--paper) }
.nicegui-content { padding: 0 }
.top { position: sticky; top: 0; z-index: 10; width: 100%; padding: .6rem 1.25rem; background: var(--card);
  border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.25rem }
.top h1 { font-size: 1.15rem; font-weight: 600; line-height: 1.6; margin: 0 }
.top .now { color: var(--quiet); margin-left: auto; font-variant-numeric: tabular-nums }
.plan { display: grid; grid-template-columns: minmax(0, 23rem) minmax(0, 1fr); gap: 1rem; width: 100%;
  max-width: 90rem; margin: 0 auto; padding: 1rem 1.25rem 3rem; align-items: start }
.plan form, .answer { display: grid; gap: 1rem; min-width: 0 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.1rem;
  min-width: 0 }
.card h2 { font-size: 1rem; font-weight: 600; line-height: 1.4; margin: 0 0 .5rem }
.card p, .quiet { margin: .35rem 0 0; color: var(--quiet); font-size: .875rem; line-height: 1.4 }
.pairs { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1rem }
.pairs > * { grid-column: 1 / -1 }
.pairs > .half { grid-column: auto }
.q-field__bottom { padding-top: 2px; line-height: 1.25 }
.q-field__messages { line-height: 1.25 }
.dropping { display: flex; align-items: center; gap: .5rem; margin-bottom: .6rem }
.drop { flex: 1; min-width: 0; width: auto; background: transparent; border: 1px dashed var(--line);
  border-radius: .4rem; box-shadow: none; color: var(--ink); max-height: none }
.drop .q-uploader__header { background: transparent; color: var(--quiet) }
.drop .q-uploader__header::before, .drop .q-uploader__list, .drop .q-uploader__subtitle,
.drop .q-uploader__header .q-btn { display: none }
.drop .q-uploader__header-content { padding: .35rem .6rem }
.drop .q-uploader__title { font-size: .875rem; font-weight: 400; line-height: 1.4; white-space: normal }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem }
.figures .card { padding: .8rem 1rem }
.figures dt { color: var(--quiet); font-size: .875rem }
.figures dd { margin: .1rem 0 0; font-size: 1.35rem; font-weight: 600; line-height: 1.35;
  font-variant-numeric: tabular-nums }
.figures dd + dd { font-size: .8125rem; font-weight: 400; color: var(--quiet); line-height: 1.4 }
.wide { overflow-x: auto }
table.rows { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
table.rows th, table.rows td { text-align: left; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line);
  vertical-align: top; font-weight: 400; line-height: 1.45 }
table.rows thead th { border-top: 0; color: var(--quiet); font-size: .8125rem }
table.rows tbody th { color: var(--ink) }
table.rows.told tbody th { color: var(--quiet); width: 9.5rem }
table.rows .number { text-align: right; white-space: nowrap }
table.rows .does td { border-top: 0; padding-top: 0; color: var(--quiet); font-size: .8125rem }
.plan pre { white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .875rem;
  line-height: 1.5; margin: .35rem 0 .6rem; padding: .6rem .75rem; background: var(--paper); border-radius: .4rem }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin-top: .6rem }
.plan .q-btn { text-transform: none; border-radius: .4rem }
.body--dark .q-btn--outline, .body--dark .q-btn--flat, .body--dark .q-field { --q-primary: var(--accent) }
@media (max-width: 60rem) {
  .plan { grid-template-columns: minmax(0, 1fr); padding: .75rem .75rem 2rem }
  .top { padding: .5rem .75rem }
  .top .now { margin-left: 0; font-size: .875rem }
}
@media (max-width: 30rem) {
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .6rem }
  .figures dd { font-size: 1.1rem }
  table.rows .number { white-space: normal }
  table.rows.told tbody th { width: 6.5rem }
}
"""
SCHEME = """
const dark = matchMedia("(prefers-color-scheme: dark)");
emitEvent("scheme", dark.matches);
dark.addEventListener("change", one => emitEvent("scheme", one.matches));
"""  # pictures have colours of their own
