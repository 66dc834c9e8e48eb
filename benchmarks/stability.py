"""Bounds over measured risk.

Prints, for each policy of a result, the bound by stability and Theorem 1 corrected over the measured cumulative
excess risk, and the share of the former that is its constant per round: what `acdpp plot risk-vs-bound` draws at the
end.
"""

from math import isnan

from benchmarks.common import hardware, machine, parser_of
from benchmarks.runner import write
from figures.measured import read
from figures.risk_vs_bound import READS, compute
from theory.bound.sharper import step_constant


def main() -> None:
    given = parser_of("stability", __doc__).parse_args()
    result = read(given.result, READS)
    print(hardware())
    rows = {}  # ratios of means over seeds, at the last round; null where a bound is undefined
    for constants, (name, one) in zip(result.constants, compute(result).policies.items(), strict=True):
        measured, stable = float(one.measured.mean[-1]), one.stability and float(one.stability.mean[-1])
        corrected = float(one.corrected.mean[-1])
        constant = result.horizon * float(step_constant(constants))
        rows[name] = row = {
            "cumulative_excess_risk": measured,
            "stability_over_measured": stable and stable / measured,
            "corrected_over_measured": None if isnan(corrected) else corrected / measured,
            "constant_share": stable and constant / stable,
        }
        print(name, *(f"{key} {value:.4g}" for key, value in row.items() if value is not None), sep=", ")
    words = f"{result.study.dataset}, {result.horizon} rounds, {result.seeds} seeds"
    command = f"acdpp train --preset digits --seeds {result.seeds} --out RESULT; python -m benchmarks.stability RESULT"
    write({"study": words, "command": command, "hardware": machine(), "policies": rows}, given.out)


if __name__ == "__main__":
    main()
