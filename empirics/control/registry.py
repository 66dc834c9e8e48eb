"""Policies by name: the built-in ones, those a user hands over, and those found at an import path.

A factory takes a `Brief`, what can be known before round 1, and returns a policy.
"""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.adaptive import Adaptive
from empirics.control.buying import BuyCheap, Taper, rising
from empirics.control.departures import Departing
from empirics.control.policy import FOREVER, DriftPlusPenalty, Fixed, Policy, Released
from empirics.control.prices import law_of, make_prices
from empirics.control.released import script_for
from empirics.settings.policy_name import MARK, PolicyName, is_built_in
from empirics.settings.study import Study
from empirics.users_code import NUMERIC, found_at, users_code
from theory.design.offline import best_rate, design_limit
from theory.market.knapsack import purchase_limit
from theory.market.prices import PriceLaw
from theory.market.replacement import best_replacement
from theory.setting import Budget, Constants, Region, SettingError

__all__ = ["BUILT_IN", "LISTENING", "Brief", "Maker", "capacity_for", "dropped_by", "kept_for"]
__all__ += ["make_policies", "make_policy", "maker_of", "register"]


@lru_cache(maxsize=256)
def _best_K(budget: Budget, constants: Constants) -> int:
    return design_limit(budget, constants).K


@dataclass(frozen=True)
class Brief:
    """The inputs of a policy before round 1: the study, the budgets with the mean cost, and the theory's constants.

    The study is that of the policy itself: a variant finds its own settings there, and in the budgets what it plans
    with. The constants take a round for one step, of size ηE. `prices` is where they come from, if that is known, in
    any form that `make_prices` takes.
    """

    study: Study
    budget: Budget
    constants: Constants
    prices: Any = None

    @property
    def K(self) -> int:
        """The retention that the study asks for, or the best by Corollary 2."""
        return _best_K(self.budget, self.constants) if self.study.K is None else self.study.K

    @property
    def law(self) -> PriceLaw | None:
        """The law of a round's price, with the mean that the budget takes for true; None where prices are unknown."""
        if self.prices is None:
            return None
        study, mean = self.study, self.budget.mean_cost
        law = law_of(make_prices(self.prices), study.seed, study.seeds, study.rounds)
        return law if law.mean == mean else law.scaled(float(mean / Fraction(law.mean)))

    def of_policy(self, name: str) -> Self:
        """The brief of one of the study's policies."""
        study, own = self.study.of_policy(name), self.study.constants_of(name, self.constants)
        merged = own if own is self.constants else own.merged
        planned = "budget" in PolicyName(name).own
        budget = replace(self.budget, cost=Fraction(str(study.budget))) if planned else self.budget
        return replace(self, study=study, budget=budget, constants=merged)


Maker = Callable[[Brief], Policy]
BUILT_IN: dict[str, Maker] = {}
LISTENING: dict[str, Maker] = {}  # those that hear losses, and so are decided while a study trains
_registered: dict[str, Maker] = {}


def register(name: str, maker: Maker | Policy) -> None:
    """Make a policy known by a name of its own, for studies and controllers of this process."""
    if is_built_in(name) or ":" in name or MARK in name or not name.isprintable() or not name.strip():
        raise SettingError(
            f"a policy of your own needs a new name without a colon or {MARK}, such as 'mine', got {name!r}"
        )
    _registered[name] = _maker(name, maker)


def _built_in(name: str) -> Callable[[Maker], Maker]:
    def keep(maker: Maker) -> Maker:
        BUILT_IN[name] = maker
        return maker

    return keep


def _adaptive(brief: Brief) -> Policy:
    """Constant admission that forgets when losses rise."""
    rule = _constant(brief)
    assert isinstance(rule, Fixed)
    return Adaptive(rule, tuple(int(size) for size in brief.budget.buffers))


LISTENING["adaptive"] = _adaptive


def _drift_plus_penalty(brief: Brief, *, capped: bool) -> DriftPlusPenalty:
    study, K = brief.study, brief.K
    rate = float(best_rate(K, brief.budget)) if study.rate is None else study.rate
    region = Region(rate=rate, rho=study.contraction)
    window = min(K, study.rounds)
    return DriftPlusPenalty(
        K, window, study.penalty_weight, region, brief.constants, brief.budget, capped=capped
    )


BUILT_IN["acdpp"] = partial(_drift_plus_penalty, capped=False)
BUILT_IN["acdpp-capped"] = partial(_drift_plus_penalty, capped=True)


@_built_in("constant")
def _constant(brief: Brief) -> Policy:
    M = len(brief.budget.buffers)
    rates, floored = _rates(brief.budget, brief.K), brief.study.fractions == "floor"
    return Fixed(rates, (0,) * M, (brief.K,) * M, brief.budget, floored)


@_built_in("oracle")
def _oracle(brief: Brief) -> Policy:
    """Fresh samples for all buffers in every round, whatever they cost."""
    buffers = brief.budget.buffers
    return Fixed(tuple(map(Fraction, buffers)), (0,) * len(buffers), (1,) * len(buffers), brief.budget)


@_built_in("hybrid")
def _hybrid(brief: Brief) -> Policy:
    """Half of the clients admit constantly, designed for their own buffers with the whole budget; the others take B_m
    samples in round 1 and keep them."""
    budget, study = brief.budget, brief.study
    live = max(len(budget.buffers) // 2, 1)
    idle = len(budget.buffers) - live
    half = Budget(buffers=budget.buffers[:live], cost=budget.cost, mean_cost=budget.mean_cost)
    K = design_limit(half, brief.constants).K if study.hybrid_K is None else study.hybrid_K
    opening = (0,) * live + tuple(int(size) for size in budget.buffers[live:])
    rates = _rates(half, K) + (Fraction(0),) * idle
    kept = (K,) * live + (FOREVER,) * idle
    return Fixed(rates, opening, kept, budget, study.fractions == "floor")


@_built_in("released")
def _released(brief: Brief) -> Policy:
    K = brief.study.released_K
    return Released(K, min(K, brief.study.rounds), brief.budget, script_for(brief.study.dataset))


def _departing(departures: Sequence[str]) -> Maker:
    """The maker of a policy between acdpp and released."""

    def make(brief: Brief) -> Policy:
        study = brief.study
        kept = replace(study, K=study.released_K) if "K" in departures else study
        rule = _drift_plus_penalty(replace(brief, study=kept), capped=False)
        return Departing.of(rule, script_for(study.dataset), departures)

    return make


@_built_in("buy-cheap")
def _buy_cheap(brief: Brief) -> Policy:
    """Buy below the best thresholds for the law of the prices."""
    law: Any = _known_law(brief, "buy-cheap")
    thresholds = _thresholds(law, brief.budget.total_buffer, float(brief.budget.cost))
    return BuyCheap(thresholds, _reserve(brief), brief.budget)


@lru_cache  # a study makes its policies several times
def _thresholds(law: PriceLaw, places: Any, cost: float) -> tuple[float, ...]:
    return best_replacement(law, places=places, budget=cost).thresholds


@_built_in("buy-cheap-online")
def _buy_cheap_online(brief: Brief) -> Policy:
    """Buy by age alone: the law of prices is unknown."""
    return BuyCheap(rising(brief.budget), _reserve(brief), brief.budget)


@_built_in("burst")
def _burst(brief: Brief) -> Policy:
    """All buffers at prices below the knapsack's threshold, nothing above it."""
    return BuyCheap(_burst_price(brief, "burst"), _reserve(brief), brief.budget, brief.study.burst_K)


@_built_in("burst-online")
def _burst_online(brief: Brief) -> Policy:
    """All buffers once so much has been saved, as buy-cheap-online: nothing is known of the prices."""
    return BuyCheap(rising(brief.budget), _reserve(brief), brief.budget, brief.study.burst_K)


@_built_in("taper")
def _taper(brief: Brief) -> Policy:
    """Burst, with fillings used again at first: the patience is the budgets that a filling costs at the mean price."""
    budget = brief.budget
    patience = float(budget.mean_cost * budget.total_buffer / budget.cost)
    return Taper(_burst_price(brief, "taper"), _reserve(brief), budget, patience=patience)


@_built_in("taper-online")
def _taper_online(brief: Brief) -> Policy:
    """Taper by the savings so far: the law of prices is unknown."""
    return Taper(rising(brief.budget), _reserve(brief), brief.budget)


def _burst_price(brief: Brief, name: str) -> tuple[float]:
    """The knapsack's threshold, the worth of samples of any age."""
    law = _known_law(brief, name)
    return (float(purchase_limit(law, brief.budget.total_buffer, float(brief.budget.cost)).threshold),)


def _known_law(brief: Brief, name: str) -> PriceLaw:
    law = brief.law
    if law is None:
        raise SettingError(f"{name} needs to know the law of the prices: use {name}-online, which does not")
    return law


def _reserve(brief: Brief) -> float:
    """Two thirds of what V rounds may cost; with V = √T the mean cost of 500 uniform prices is then within 1 % of C.

    A larger one is left over in part, since prices that vary make the debt settle below it; with a smaller one the
    thresholds follow every purchase.
    """
    return 2 / 3 * brief.study.penalty_weight * float(brief.budget.cost)


def _rates(budget: Budget, K: int) -> tuple[Fraction, ...]:
    """The best feasible rates for a given K, in proportion to the buffers."""
    share = Fraction(best_rate(K, budget)) / budget.total_buffer
    return tuple(size * share for size in budget.buffers)


# --- from a name to a policy -------------------------------------------------------------------------------


def _maker(name: str, given: Any) -> Maker:
    """The maker of a policy for every schedule, so that one with a memory of its own starts afresh."""
    if not isinstance(given, type) and isinstance(given, Policy):
        return lambda brief: copy.deepcopy(given)
    if callable(given):
        return lambda brief: given(brief) if _takes_one(given) else given()
    missing = [part for part in ("retention", "start", "decide", "book") if not hasattr(given, part)]
    raise SettingError(
        f"policy {name!r} must have retention, start, decide and book, or be a function that takes a Brief and returns "
        f"such a policy: {type(given).__name__} lacks {', '.join(missing)}"
    )


def _takes_one(maker: Callable[..., Any]) -> bool:
    """The maker can be called with one argument; a class of policies may need none."""
    try:
        inspect.signature(maker).bind(None)
    except (TypeError, ValueError):
        return False
    return True


def maker_of(name: str, own: Mapping[str, Any] | None = None) -> Maker:
    """The maker of the policy of this name: handed over, registered, built in, or at an import path."""
    name = PolicyName(name)
    base = name.base
    mine = {} if own is None else own
    if not isinstance(mine, Mapping):
        raise SettingError(
            f"policies of your own come by name, such as {{'mine': MyPolicy()}}, got {own!r:.60}"
        )
    if taken := [key for key in mine if is_built_in(str(key))]:
        raise SettingError(f"{taken[0]!r} is a built-in policy: give yours a name of its own")
    if marked := [key for key in mine if MARK in str(key)]:
        raise SettingError(
            f"a policy of your own needs a name without {MARK}, such as 'mine', got {marked[0]!r}"
        )
    known = BUILT_IN | LISTENING | _registered | {key: _maker(key, given) for key, given in mine.items()}
    if base not in known and name.departures is not None:
        known[base] = _departing(name.departures)
    if base not in known and ":" in base:
        known[base] = _maker(base, found_at(base, "policy"))
    if base not in known:
        if name.refusal:
            raise SettingError(name.refusal)
        near = get_close_matches(base, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "or module:attribute for one of your own"
        raise SettingError(f"there is no policy {base!r}: known are {', '.join(known)}, {hint}")
    return known[base]


def find_policies(
    names: Sequence[str], own: Mapping[str, Any] | None = None, *, imports: bool = True
) -> tuple[str, ...]:
    """The names of built-in policies; others are found and not made, which takes the constants of the data.

    Without `imports` a policy at an import path is not looked for.
    """
    built_in = tuple(name for name in names if is_built_in(PolicyName(name).base))
    for name in names:
        if name not in built_in and (imports or ":" not in name):
            maker_of(name, own)
    return built_in


def make_policy(name: str, brief: Brief, own: Mapping[str, Any] | None = None) -> Policy:
    """The policy of this name, or a variant of such a one."""
    name = PolicyName(name)
    make = maker_of(name, own)
    with users_code(f"policy {name!r} could not be made", *NUMERIC):
        policy = make(brief.of_policy(name))
    if not isinstance(policy, Policy) or not hasattr(policy, "retention"):  # which deriving does not bring
        raise SettingError(f"policy {name!r} must have retention, start, decide and book, got {policy!r}")
    kept, capacity = kept_for(policy, brief.study, name), capacity_for(policy, brief.study, name)
    if capacity.max() == FOREVER and hasattr(policy, "drops"):
        raise SettingError(
            f"policy {name!r} drops what it holds: give it a capacity too, such as its buffers"
        )
    if "K" in name.own and name.own["K"] not in kept:
        rounds = f"for {' or '.join(map(str, np.unique(kept)))} {'round' if kept.max() == 1 else 'rounds'}"
        how = rounds if capacity.min() == FOREVER else "until newer ones need their place"
        raise SettingError(f"{name.base} keeps samples {how} whatever K is: take K out of {name!r}")
    return policy


def make_policies(brief: Brief, own: Mapping[str, Any] | None = None) -> dict[str, Policy]:
    """All policies of the study, in its order."""
    return {name: make_policy(name, brief, own) for name in brief.study.policies}


def kept_for(policy: Policy, study: Study, name: str) -> NDArray[np.int64]:
    """The retention of each client."""
    return _each(policy.retention, study, f"policy {name!r} must keep samples for a whole number of rounds")


def capacity_for(policy: Policy, study: Study, name: str) -> NDArray[np.int64]:
    """The largest number of samples that each client keeps; FOREVER without a capacity."""
    capacity = getattr(policy, "capacity", None)
    what = f"policy {name!r} must have a whole number as its capacity,"
    return _each(FOREVER if capacity is None else capacity, study, what)


def dropped_by(policy: Policy, state: Any, replicates: int) -> NDArray[np.bool_] | None:
    """Replicates that drop all older samples in the round just decided; None for a policy that never does."""
    drops = getattr(policy, "drops", None)
    return None if drops is None else np.broadcast_to(np.asarray(drops(state), dtype=bool), (replicates,))


def _each(given: Sequence[int] | int, study: Study, what: str) -> NDArray[np.int64]:
    """One number per client; `what` says what it should be."""
    try:
        found = np.broadcast_to(np.asarray(given), (study.clients,))
    except ValueError:
        found = np.array(None)
    if found.dtype.kind not in "iu" or found.min() < 1:
        raise SettingError(
            f"{what} of at least 1, or one such number for each of the {study.clients} clients, got {given!r}"
        )
    return np.asarray(np.minimum(found, FOREVER), dtype=np.int64)
