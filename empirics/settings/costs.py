"""The settings of the sampling cost c(t): a random process, or a file with prices.

c(t) is revealed at the beginning of round t and equal for all policies of a replicate. The drawn processes have
mean (low + high) / 2: in every round for the first three, on average over the horizon for the drifting one, which
starts cheap and ends dear and so breaks the paper's factorisation E[Z(cΛ̄-C)] = E[Z]·E[cΛ̄-C].
`empirics.control.prices` makes prices of these settings.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from empirics.settings.field import apply_checks, between, choice, optional, setting, text
from theory.paper import PRICES
from theory.setting import SettingError

__all__ = ["PRICE_MAX", "PRICE_MIN", "CostProcess", "Process"]

# prices lie strictly between: whole ones stay exact, and no sum, drift or mean of them over- or underflows
PRICE_MIN, PRICE_MAX = 1e-15, 1e15


class Process(StrEnum):
    uniform = "uniform"
    integer = "integer"
    markov = "markov"
    drifting = "drifting"
    trace = "trace"


@dataclass(frozen=True, kw_only=True)
class CostProcess:
    """Settings of the cost.

    >>> CostProcess(process="integer", low=1, high=10).mean
    Fraction(11, 2)
    """

    process: str = setting(
        "uniform",
        "uniform (on [low, high]), integer (on low..high), markov (kept with probability stay, else drawn anew), "
        "drifting (uniform times a factor that rises over the horizon) or trace (the prices of a file).",
        choice(*Process),
    )
    low: float = setting(PRICES[0], "The lowest cost of a sample.", between(PRICE_MIN, PRICE_MAX, such_as=1))
    high: float = setting(
        PRICES[1], "The highest; a drifting cost may exceed it.", between(PRICE_MIN, PRICE_MAX, such_as=10)
    )
    stay: float = setting(
        0.9,
        "For markov: the probability that the cost stays; each c(t) is uniform.",
        between(0, 1, low_too=True, such_as=0.9),
    )
    drift: float = setting(
        0.5,
        "For drifting: the factor goes from 1 - drift to 1 + drift.",
        between(0, 1, low_too=True, such_as=0.5),
    )
    file: str | None = setting(
        None,
        "For trace: a CSV file with a price per line, in the order of the rounds.",
        optional(text("prices.csv")),
    )
    column: str | None = setting(
        None,
        "For trace: the column of prices; none if the file has one column.",
        optional(text("price")),
    )

    def __post_init__(self) -> None:
        apply_checks(self)
        if self.high < self.low:
            raise SettingError(
                f"high must not be below low, such as 10 and 1, got {self.high} and {self.low}"
            )
        if self.process == Process.integer and not all(
            float(end).is_integer() for end in (self.low, self.high)
        ):
            raise SettingError(
                f"integer costs need whole ends, such as 1 and 10, got {self.low} and {self.high}"
            )
        if self.process == Process.trace and self.file is None:
            raise SettingError(
                'process = "trace" needs the file with the prices, such as file = "prices.csv"'
            )
        if self.process != Process.trace and (self.file, self.column) != (None, None):
            raise SettingError(f'file and column belong to process = "trace", got them with {self.process!r}')

    @property
    def mean(self) -> Fraction:
        """The mean cost, exact for the decimals that were typed in; that of a trace is in its file."""
        if self.process == Process.trace:
            raise SettingError(
                f"the mean of a trace is not a setting: it is that of the prices in {self.file}"
            )
        return (Fraction(str(self.low)) + Fraction(str(self.high))) / 2
