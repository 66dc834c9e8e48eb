"""The exact finite-horizon design, against trying every K with the same bound.

First many clients, then few clients whose bound is almost flat in K, where a block of K is hard to rule out. Trying
every K up to T is out of reach at T = 10^6 and beyond; the alternative evaluates a sample of K and is scaled up.
"""

import statistics
from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.common import hardware, parser_of, settings, timed
from theory.bound.constant_admission import constant_bound
from theory.design.offline import best_rate, design, fill_ratio
from theory.setting import Budget, Constants

SETTING = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
SETTINGS = settings("design")
REPEATS, SAMPLE = SETTINGS["repeats"], SETTINGS["sample"]


def report(who: str, sizes: tuple[int, ...], cost: int, T: int, setting: Constants) -> None:
    """One line: the design, its time, and what every K would take."""
    budget = Budget(buffers=sizes, cost=cost, mean_cost=Fraction(11, 2))
    chosen, seconds = timed(lambda: design(replace(budget), T, setting), REPEATS)
    tried = list(map(int, np.unique(np.geomspace(1, T, SAMPLE).astype(int))))
    bound = lambda K: constant_bound(K, best_rate(K, budget), T, setting).total  # noqa: E731
    bounds, (whole,) = timed(lambda: [bound(K) for K in tried])
    assert chosen.bound <= min(bounds)
    took, each = statistics.median(seconds), whole / len(tried)
    print(
        f"{who}, T = {T:,}, x = {float(fill_ratio(budget)):.6g}: K* = {chosen.K:,} "
        f"in {took:.3g} s (median of {REPEATS}, {chosen.evaluations} sums); "
        f"every K up to T at {each:.3g} s each would take {each * T:.3g} s, {each * T / took:.2g} times as long"
    )


def main() -> None:
    options = parser_of("design", __doc__).parse_args()
    print(hardware())
    sizes = tuple(map(int, np.random.default_rng(1).integers(5, 16, options.clients)))
    for cost in (options.clients, 55):
        report(f"{options.clients:,} clients", sizes, cost, options.horizon, SETTING)
    for case in SETTINGS["flat"]:
        buffers, D, B = tuple(case["buffers"]), case["D"], Fraction(case["B"])
        who = f"flat: {len(buffers)} client(s), D = {D:,}, B = {float(B):g}"
        report(who, buffers, case["cost"], case["T"], replace(SETTING, D=D, B=B))


if __name__ == "__main__":
    main()
