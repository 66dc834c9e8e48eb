"""Time and error of Σ_{t≤T} of the bound, by four methods: about a minute, with --quick a few seconds.

The certified ball is the reference for the errors of the other three. Ratios are of CPU time, which other
work on the machine disturbs less than the wall clock.
"""

import time
from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import mpmath
import numpy as np

from benchmarks.common import hardware, parser_of, timed
from theory.bound.constant_admission import constant_breaks, constant_round
from theory.numbers import summation
from theory.numbers.algebra import ball as to_ball
from theory.numbers.summation import plain_total, total, total_ball
from theory.setting import Constants

SETTING = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
BREAKS = constant_breaks(10, 10, SETTING)
SUMEM_ACCURACY = 1e-12
SUMEM_STARTS = (16, 32, 64, 128)


def bound_round(number: Callable[[Fraction], Any]) -> Callable[[Any], Any]:
    """One round under constant admission: K = 10, rate 10, D = σ = B = 1, η = 1/10, Pdim = 5."""
    numbers = SETTING.map(lambda x: number(Fraction(x)))
    return lambda t: constant_round(10, t, number(Fraction(10)), numbers).total


Timing = namedtuple("Timing", "result wall cpu n")  # medians of the times that n calls took


def timing(call: Callable[[], Any], n: int, before: Callable[[], object] = lambda: None) -> Timing:
    """The last result of n calls; what `before` does before each of them is not timed."""
    clocks = lambda: np.array([time.perf_counter(), time.process_time()])  # noqa: E731
    result, seconds = timed(call, n, clocks, before)
    return Timing(result, *np.median(seconds, axis=0), n)


def with_sumem(T: int, start: int) -> Any:
    """mpmath's Euler-Maclaurin from `start` on, where the summand is smooth, after a plain head."""
    f = bound_round(lambda x: mpmath.mpf(x.numerator) / x.denominator)
    head = mpmath.fsum(f(mpmath.mpf(t)) for t in range(1, start))
    return head + mpmath.sumem(lambda t: f(mpmath.mpf(t)), [start, T], tol=head * SUMEM_ACCURACY)


def relative_error(value: Any, reference: Any) -> float:
    """Against the ball; of a ball, its own relative radius."""
    if isinstance(value, flint.arb):
        return float(value.rad() / value.mid())
    with flint.ctx.workprec(128):
        return float(abs(flint.arb(mpmath.nstr(mpmath.mpf(value), 25)) / reference - 1).mid())


def main() -> None:
    options = parser_of("summation", __doc__).parse_args()
    T = 10**7 if options.quick else options.horizon
    print(f"{hardware()}, NumPy {np.__version__}, mpmath {mpmath.__version__}, flint {flint.__version__}")

    f = bound_round(float)
    ours = partial(total, f, T, BREAKS)
    balls = partial(total_ball, bound_round(to_ball), T, BREAKS)
    runs = {
        "total, first call in the process": timing(ours, n=1),
        "total, cold rule": timing(ours, n=51, before=summation.float_rule.cache_clear),
        "total, warm": timing(ours, n=201),
        "total_ball, cold rule": timing(balls, n=5, before=summation.ball_rule.cache_clear),
        "total_ball, warm": timing(balls, n=5),
    }
    warm, cold, reference = runs["total, warm"], runs["total, cold rule"], runs["total_ball, warm"].result
    tries = {start: timing(lambda s=start: with_sumem(T, s), n=5) for start in SUMEM_STARTS}
    good = {s: run for s, run in tries.items() if relative_error(run.result, reference) <= SUMEM_ACCURACY}
    start = min(good or tries, key=lambda one: tries[one].cpu)
    runs[f"mpmath.sumem, best start ({start})"] = tries[start]
    if not options.without_plain:
        runs["NumPy in chunks"] = timing(lambda: plain_total(f, T), n=1)

    print(f"T = {T:,}: the bound is {reference.str(25)}")
    print(f"total says {warm.result.value!r} with error {warm.result.error / warm.result.value:.1e} relative")
    print(f"{'method':34}{'wall s':>10}{'CPU s':>10}{'n':>5}{'rel. error*':>13}{'/ warm':>12}{'/ cold':>10}")
    for name, run in runs.items():
        error = relative_error(getattr(run.result, "value", run.result), reference)
        ratios = f"{run.cpu / warm.cpu:12,.1f}{run.cpu / cold.cpu:10,.1f}"
        print(f"{name:34}{run.wall:10.3g}{run.cpu:10.3g}{run.n:5}{error:13.1e}{ratios}")
    print("* against the proved ball; for the ball itself, its proved relative radius")


if __name__ == "__main__":
    main()
