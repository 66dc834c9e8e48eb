"""The fields of the page: their groups, labels, hints and choices."""

from typing import NamedTuple

__all__ = ["CHOICES", "GROUPS", "LABELS", "PAIRED", "Label"]


class Label(NamedTuple):
    """The name of a field, and the hint that appears once the field has focus."""

    name: str
    hint: str


LABELS = {
    "budget": Label("Budget per round", "average cost of all clients together"),
    "buffers": Label("Buffers", "number of samples that each client can hold, such as 8,9,10"),
    "rounds": Label("Rounds", "in each round clients buy, then train"),
    "prices": Label(
        "Price of a sample",
        "uniform:1:10 (any price in between), integer:1:10, markov:1:10 (persistent), drifting:1:10 (rising), or one "
        "price such as 5.5",
    ),
    "price_file": Label(
        "… or prices from a file", "CSV file with one price per round, dropped below or by name"
    ),
    "price_column": Label("Price column", "required if the file has several columns"),
    "data": Label("Data", "digits (bundled), npz:FILE, csv:FILE or parquet:FILE; or drop a file below"),
    "label": Label("Label column", "what is learnt from the other columns"),
    "time": Label("Time column", "timestamps, if any; the column is then no feature"),
    "client": Label("Client column", "client ids, if any; each client then draws from its own rows"),
    "pilot": Label("Pilot", "number of samples to plan from, with standard errors; empty: all samples"),
    "fit": Label("Radius and scale", "of the model on your data: chosen by a pilot, or the preset's"),
    "policies": Label("Policies", "rules that decide when to buy; several are compared. Type to search"),
    "K": Label("Retention K", "rounds for which a sample is kept; empty: the best by the bound"),
    "eta": Label("Step size η", "in the first round; empty: chosen by a pilot of your data, or the preset's"),
    "steps": Label("Local steps E", "gradient steps of each client per round"),
    "decay": Label("Decay τ", "step sizes fall as 1/√(1 + t/τ); empty: constant"),
    "average": Label("Mean of models", "none for the last model, or a mean that weighs late models more"),
    "average_by": Label("Its parameter", "power, share of the tail, or memory of the mean"),
    "objective": Label("Minimise", "excess risk summed over all rounds, or at the end"),
}
GROUPS = {
    "Money": ("budget", "rounds", "buffers", "prices", "price_file", "price_column"),
    "Data": ("data", "label", "time", "client", "pilot", "fit"),
    "Learner and policy": ("policies", "K", "objective", "eta", "steps", "decay", "average", "average_by"),
}
# two per line
PAIRED = ("K", "objective", "steps", "eta", "decay", "average", "average_by", "time", "client")
CHOICES = {
    "objective": {"cumulative": "over all rounds", "final": "at the end"},
    "fit": {"data": "chosen by a pilot", "preset": "the preset's"},
}
