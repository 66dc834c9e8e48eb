"""The exact finite-horizon design for many clients, against trying every K with the same bound.

    python -m benchmarks.design

Trying every K up to T is out of reach at T = 10^9; the alternative evaluates a sample of K and is scaled up.
"""

from __future__ import annotations

import argparse
import statistics
import time
from fractions import Fraction

import numpy as np

from benchmarks.hardware import hardware
from theory.constant_admission import constant_bound
from theory.design import best_rate, design, fill_ratio
from theory.setting import Budget, Constants

SETTING = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
REPEATS, SAMPLE = 5, 200


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the finite-horizon design.")
    parser.add_argument("--clients", type=int, default=10**6)
    parser.add_argument("--horizon", type=int, default=10**9)
    options = parser.parse_args()
    T = options.horizon
    print(hardware())
    sizes = tuple(map(int, np.random.default_rng(1).integers(5, 16, options.clients)))
    for cost in (options.clients, 55):
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            budget = Budget(buffers=sizes, cost=cost, mean_cost=Fraction(11, 2))
            chosen = design(budget, T, SETTING)
            seconds.append(time.perf_counter() - start)
        tried = np.unique(np.geomspace(1, T, SAMPLE).astype(int))
        start = time.perf_counter()
        bounds = [constant_bound(int(K), best_rate(int(K), budget), T, SETTING).total for K in tried]
        each = (time.perf_counter() - start) / len(tried)
        assert chosen.bound <= min(bounds)
        took = statistics.median(seconds)
        print(
            f"{options.clients:,} clients, T = {T:,}, x = {float(fill_ratio(budget)):.6g}: K* = {chosen.K} "
            f"in {took:.3g} s (median of {REPEATS}, {chosen.evaluations} sums); "
            f"every K up to T at {each:.3g} s each would take {each * T:.3g} s, {each * T / took:.2g} times as long"
        )


if __name__ == "__main__":
    main()
