r"""Replacement of samples: the best rule for a memory that is kept full, with known price law.

What a round adds to the noise is a sum over the S places of the memory of a burden g(age) (`theory.market.capacity`),
and what it costs is a sum over places too. So places decouple: with a price \(\mu\) on money, each place is an optimal
stopping problem of its own, whose state is the age of its sample. With h(j) the value of having used a sample j times,

\[h(j)=\mathbb E\min\bigl(\mu c,\ g(j+1)-\lambda+h(j+1)\bigr),\qquad g(1)-\lambda+h(1)=0,\]

and it is replaced where \(c\le\theta(j)=(g(j+1)-\lambda+h(j+1))/\mu\). For growing g the thresholds \(\theta(j)\) grow:
the older a sample, the more may be paid for the next, and replacing all samples that are old enough is first in, first
out. Whatever the rule, \(\mathbb E[g]+\mu\,\mathbb E[\mathrm{cost}]\ge\lambda(\mu)\) in the long run, for every rule
that does not know the future, and so no rule of mean cost C/S a place has a burden below
\(\max_\mu(\lambda(\mu)-\mu C/S)\). A mixture of two such rules attains it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from theory.market.capacity import age_burden, effective_rate
from theory.market.prices import PriceLaw
from theory.numbers.algebra import ratio
from theory.setting import SettingError, positive

__all__ = ["Cycle", "Replacement", "ages_in_memory", "best_replacement", "best_rule", "cycle", "least_burden"]

TURNS_MAX = 200
AGES_FIRST = 2**6
AGES_MAX = 2**12
EPS = 2**-40  # relative, in floats


@dataclass(frozen=True)
class Cycle:
    """A place under thresholds θ(1), …, θ(J), ages beyond J counting as J: means per round."""

    thresholds: tuple[Any, ...]
    renewals: Any
    burden: Any
    cost: Any


def ages_in_memory(law: PriceLaw, thresholds: Sequence[Any]) -> list[Any]:
    r"""Shares of the rounds in which a place holds a sample of age 1, …, J-1, and of J or more; by renewal, exact for
    exact laws.

    A sample that has been used j times is replaced at prices up to \(\theta(j)\), the last of which holds for all later
    ages.

    >>> from theory.market.prices import Atoms
    >>> ages_in_memory(Atoms.of([1, 3]), [1, 3])
    [Fraction(2, 3), Fraction(1, 3)]
    """
    if not len(thresholds):
        raise SettingError("a rule needs a threshold for at least one age")
    alive = [law.mass(law.highest)]  # 1, in the number system of the law
    for threshold in thresholds[:-1]:
        alive.append(alive[-1] * (1 - law.mass(threshold)))
    taken = law.mass(thresholds[-1])
    if taken:
        alive[-1] = ratio(alive[-1], taken)
    elif alive[-1]:  # one day a sample stays for good
        alive[:-1] = [0 * one for one in alive[:-1]]
    rounds = sum(alive)
    return [ratio(one, rounds) for one in alive]


def cycle(law: PriceLaw, thresholds: Sequence[Any], burdens: Sequence[Any]) -> Cycle:
    r"""Means per round under these thresholds, with a burden for each age, the last for all later ones; exact for exact
    laws.

    >>> from theory.market.prices import Atoms
    >>> found = cycle(Atoms.of([1, 3]), [1, 3], [1, 3])
    >>> found.renewals, found.burden, found.cost
    (Fraction(2, 3), Fraction(5, 3), Fraction(1, 1))
    """
    ages = ages_in_memory(law, thresholds)
    if len(burdens) != len(ages):
        raise SettingError(
            f"there must be as many thresholds as burdens, one per age, got {len(ages)} and {len(burdens)}"
        )
    burden = sum(often * burden for often, burden in zip(ages, burdens, strict=True))
    cost = sum(often * law.spent(threshold) for often, threshold in zip(ages, thresholds, strict=True))
    renewals = sum(often * law.mass(threshold) for often, threshold in zip(ages, thresholds, strict=True))
    return Cycle(tuple(thresholds), renewals, burden, cost)


def best_rule(law: PriceLaw, burdens: Sequence[Any], multiplier: Any) -> Cycle:
    r"""The thresholds with the least \(\mathbb E[g]+\mu\,\mathbb E[\mathrm{cost}]\); for exact laws exactly the least.

    A ratio over a cycle is least where the cycle's costs, less that ratio for each round, are least and 0: each guess
    at the ratio gives a stopping problem, and its best rule a lower ratio, until it stays.

    >>> from theory.market.prices import Atoms
    >>> best_rule(Atoms.of([1, 3]), [1, 3, 5], ratio(5, 2)).thresholds
    (Fraction(6, 5), Fraction(2, 1), Fraction(2, 1))
    """
    _growing(burdens)
    positive("the price of money", multiplier)
    return _improved(law, burdens, multiplier, _never(law, burdens))


def _improved(law: PriceLaw, burdens: Sequence[Any], multiplier: Any, best: Cycle) -> Cycle:
    """The best rule, from one that is known."""
    worth = guess = best.burden + multiplier * best.cost
    if not law.mass(law.lowest):  # no price is the lowest: it cannot be waited for
        guess = guess - EPS * (burdens[-1] - burdens[0])
    for _ in range(TURNS_MAX):
        found = cycle(law, _stopping(law, burdens, multiplier, guess), burdens)
        value = found.burden + multiplier * found.cost
        if worth - value <= _noise(worth):
            return found if value <= worth else best
        best, worth, guess = found, value, value
    raise SettingError("the best thresholds were not found: the prices lie too far apart")


def _growing(burdens: Sequence[Any]) -> None:
    grows = all(later >= earlier - _noise(earlier) for earlier, later in pairwise(burdens))
    if not len(burdens) or not grows:
        raise SettingError("burdens must be numbers, one for each age, that do not fall with age")


def _never(law: PriceLaw, burdens: Sequence[Any]) -> Cycle:
    """The rule that never replaces."""
    zero = 0 * law.mean
    return Cycle((zero,) * len(burdens), zero, burdens[-1], zero)


def _stopping(law: PriceLaw, burdens: Sequence[Any], multiplier: Any, worth: Any) -> list[Any]:
    """Thresholds with the least cost of a cycle in which each round earns `worth`, from the last age down."""
    threshold = law.indifferent(ratio(burdens[-1] - worth, multiplier))
    found = [_attained(law, threshold)]
    for burden in reversed(burdens[1:]):
        last = found[-1]
        later = law.spent(last) + (1 - law.mass(last)) * threshold  # h(j+1)/μ
        threshold = ratio(burden - worth, multiplier) + later
        found.append(_attained(law, threshold))
    return found[::-1]


def _attained(law: PriceLaw, threshold: Any) -> Any:
    """A threshold beyond all prices is as good as the highest: one spelling for each rule."""
    return min(threshold, law.highest)


def _noise(value: Any) -> Any:
    return EPS * abs(value) if isinstance(value, float) else 0


@dataclass(frozen=True)
class Replacement:
    """The best rule within a budget: a share of the places by `rule`, the others by `cheaper`, at the budget's cost.

    `multiplier` is what a unit of money saves of a place's burden. No causal rule of this cost has less than `burden`.
    """

    rule: Cycle
    cheaper: Cycle
    share: Any
    places: Any
    burden: Any
    multiplier: Any

    def _mixed(self, name: str) -> Any:
        return self.share * getattr(self.rule, name) + (1 - self.share) * getattr(self.cheaper, name)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """θ(1), …, θ(J) of the costlier rule: up to which price a sample used j times is replaced.

        They grow with age; roundings against that are removed.
        """
        return tuple(accumulate((float(value) for value in self.rule.thresholds), max))

    @property
    def rate(self) -> Any:
        """Distinct samples per round."""
        return self.places * self._mixed("renewals")

    @property
    def cost(self) -> Any:
        """Mean cost per round."""
        return self.places * self._mixed("cost")

    @property
    def effective_rate(self) -> Any:
        """The limit of N_eff/t, if the burden is that of small steps."""
        return effective_rate(self.places, ratio(self.burden + 1, 2))


def best_replacement(
    law: PriceLaw, places: Any, budget: Any, burden: Callable[[int], Any] = age_burden
) -> Replacement:
    """The rule with the least mean burden within the budget; by default with the largest effective rate.

    Ages are distinguished until older samples do not matter; `burden` may not fall with age.

    >>> from theory.market.prices import Uniform
    >>> best = best_replacement(Uniform(1., 10.), places=100, budget=55)
    >>> f"{best.effective_rate:.2f} effective of {best.rate:.2f} samples per round for {best.cost:.2f}"
    '18.64 effective of 22.17 samples per round for 55.00'
    """
    share = ratio(positive("the cost budget C", budget), positive("the places", places))
    if share >= law.mean:
        always = cycle(law, [law.highest], [burden(1)])
        return Replacement(always, always, 1, places, always.burden, 0)
    ages = min(2 * int(ratio(law.mean, share)) + 8, AGES_FIRST)
    settles = burden(2 * AGES_MAX) - burden(AGES_MAX) <= EPS * burden(AGES_MAX)
    while ages <= AGES_MAX and (settles or law.lowest <= share * AGES_MAX):
        burdens = [burden(j) for j in range(1, 2 * ages + 1)]
        rule, cheaper, mix, value, multiplier = least_burden(law, burdens[:ages], share)
        found = Replacement(rule, cheaper, mix, places, value, multiplier)
        later = (_longer(law, one, burdens) for one in (rule, cheaper))
        if replace(found, rule=next(later), cheaper=next(later))._mixed("burden") - value <= EPS * value:
            return found
        ages = 2 * ages
    raise SettingError(
        f"the budget replaces a sample too rarely to tell the best rule, with ages up to {AGES_MAX}: "
        "give a larger budget, or fewer places"
    )


def _longer(law: PriceLaw, rule: Cycle, burdens: Sequence[Any]) -> Cycle:
    """The rule with twice as many distinct ages."""
    kept = rule.thresholds
    return cycle(law, kept + kept[-1:] * len(kept), burdens)


def least_burden(law: PriceLaw, burdens: Sequence[Any], share: Any) -> tuple[Cycle, Cycle, Any, Any, Any]:
    r"""The two rules, the weight of the costlier, the burden and the multiplier of the best mixture of cost C/S.

    Two rules span a line over cost; the best rule at the line's slope either lies below it, and takes the place of
    one of them, or proves that nothing does.

    >>> from theory.market.prices import Atoms
    >>> _, _, mix, burden, slope = least_burden(Atoms.of([1, 3]), [1, 3, 5, 7], ratio(3, 4))
    >>> mix, burden, slope
    (Fraction(1, 8), Fraction(25, 12), Fraction(5, 3))
    """
    _growing(burdens)
    if positive("the budget of a place", share) > law.mean:
        raise SettingError(f"the budget of a place must be at most the mean price {law.mean}, got {share}")
    dear = cycle(law, [law.highest] * len(burdens), burdens)
    idle = _never(law, burdens)
    for _ in range(TURNS_MAX):
        slope = ratio(idle.burden - dear.burden, dear.cost - idle.cost)
        line = dear.burden + slope * dear.cost
        if slope <= 0:
            break
        found = _improved(law, burdens, slope, dear)
        if line - (found.burden + slope * found.cost) <= _noise(line):
            break
        if found.cost >= share:
            dear = found
        else:
            idle = found
        if _noise(line) and dear.cost - share <= EPS * share:
            break
    mix = ratio(share - idle.cost, dear.cost - idle.cost)
    return dear, idle, mix, mix * dear.burden + (1 - mix) * idle.burden, slope
