"""Bounds over measured risk. Run from the repository root:

    acdpp train --preset digits --seeds 20 --out results/digits-1
    python -m benchmarks.stability results/digits-1 --out digits.json

Prints, for each policy of a result, the bound by stability and Theorem 1 corrected over the measured cumulative
excess risk, and the share of the former that is its constant per round: what `acdpp plot risk-vs-bound` draws at the
end.
"""

from math import isnan
from pathlib import Path
from typing import Any

from benchmarks.hardware import hardware, machine
from benchmarks.options import parser_of
from benchmarks.runner import write
from figures.measured import read
from figures.risk_vs_bound import READS, compute
from theory.bound.sharper import step_constant


def main() -> None:
    given = parser_of("stability", __doc__).parse_args()
    found = ratios(given.result)
    print(hardware())
    for name, row in found["policies"].items():
        print(name, *(f"{key} {value:.4g}" for key, value in row.items() if value is not None), sep=", ")
    write(found, given.out)


def ratios(folder: Path) -> dict[str, Any]:
    """Ratios of means over seeds, at the last round; null where a bound is undefined."""
    result = read(folder, READS)
    rows = {}
    for constants, (name, one) in zip(result.constants, compute(result).policies.items(), strict=True):
        measured, stable = float(one.measured.mean[-1]), one.stability and float(one.stability.mean[-1])
        corrected = float(one.corrected.mean[-1])
        constant = result.horizon * float(step_constant(constants))
        rows[name] = {
            "cumulative_excess_risk": measured,
            "stability_over_measured": stable and stable / measured,
            "corrected_over_measured": None if isnan(corrected) else corrected / measured,
            "constant_share": stable and constant / stable,
        }
    words = f"{result.study.dataset}, {result.horizon} rounds, {result.seeds} seeds"
    command = f"acdpp train --preset digits --seeds {result.seeds} --out RESULT; python -m benchmarks.stability RESULT"
    return {"study": words, "command": command, "hardware": machine(), "policies": rows}


if __name__ == "__main__":
    main()
