"""From acdpp to the released rule, one departure at a time."""

from itertools import combinations

import numpy as np
import pytest

from empirics.control.registry import make_policy
from empirics.control.released import SCRIPTS, released_penalty
from empirics.control.schedule import brief_for, plan
from empirics.settings.policy_name import DEPARTURES
from tests.empirics.small import CONTROL, refused, study
from theory.control.penalty import penalty
from theory.paper import BUFFERS

TEN = {"buffers": BUFFERS, "budget": 55.0, "rounds": 60, "seeds": 1}
OBJECTIVES = [("", "mnist"), ("+penalty", "mnist"), ("+constants", "mnist")]
OBJECTIVES += [("+penalty+constants", dataset) for dataset in SCRIPTS]
RICH = TEN | {"budget": 220.0, "released_K": 4}


def played(name, **given):
    """Admissions and occupancy of every round."""
    rounds = plan(study(policies=(name,), **given), CONTROL)
    return np.stack([rounds.admissions, rounds.occupancy])


def made(name, **given):
    return make_policy(name, brief_for(study(policies=(name,), **given), CONTROL))


@pytest.mark.parametrize("given", [*({"dataset": name} for name in SCRIPTS), RICH], ids=str)
def test_all_departures_are_the_released_rule(given):
    assert np.array_equal(played("acdpp+all", **given), played("released", **given))
    assert made("acdpp+" + "+".join(DEPARTURES), **given) == made("acdpp+all", **given)


def test_no_departures_are_acdpp_and_each_matters_by_itself_and_to_all_the_others():
    for own in (TEN, {"K": 3, "V": 900.0, "rho": 0.9, "rate": 4.5}):
        none = played("released-" + "-".join(DEPARTURES), **own)
        assert np.array_equal(none, played("acdpp", **own))
    here = TEN | {"budget": 50.5, "V": 3.0}
    names = [f"acdpp+{one}" for one in DEPARTURES] + [f"released-{one}" for one in DEPARTURES]
    seen = {name: played(name, **here) for name in ("acdpp", "released", *names)}
    for one, other in combinations(seen, 2):
        assert not np.array_equal(seen[one], seen[other]), (one, other)


@pytest.mark.parametrize("dataset", SCRIPTS)
def test_the_region_and_its_cap(dataset):
    rho, cap = SCRIPTS[dataset].region.rho, SCRIPTS[dataset].cap
    own = {"dataset": dataset, "rate": 4.0, "rho": 0.99}
    for t in (1, 7, 100, 5000, 10**6):
        slow, fast = -np.expm1(t / 100 * np.log(rho)), 1 - 0.99**t
        ends = {
            "acdpp+K": (4 * fast, 4 / fast),
            "acdpp+cap": (4 * fast, min(4 / fast, cap)),
            "acdpp+region": (max(40 * slow, 1), max(40 / slow, max(40 * slow, 1) + 10)),
            "acdpp+region+cap": (max(40 * slow, 1), max(min(40 / slow, cap), max(40 * slow, 1) + 10)),
        }
        for name, both in ends.items():
            assert made(name, **own).ends(t) == pytest.approx(both, rel=1e-9), (name, t)
    assert made("acdpp+cap", dataset=dataset, rate=2.0 * cap, rho=0.5).ends(3) == (cap, cap)


@pytest.mark.parametrize(("departures", "dataset"), OBJECTIVES)
def test_the_rate_minimises_the_objective_that_the_departures_name(departures, dataset):
    policy = made(f"acdpp+cap{departures}", dataset=dataset, rate=40.0, rho=0.99, V=700.0)
    script = SCRIPTS[dataset]
    constants, V = (script.constants, script.V) if "constants" in departures else (CONTROL, 700.0)
    state = policy.start(200)
    for _ in range(10):
        state = policy.book(state, np.full(200, 1e-3), np.full((200, 3), 9))
    debt = np.array([0.0, *np.geomspace(1e-2, 1e7, 199)])
    object.__setattr__(state.server, "debt", debt)
    cost, held, seen = np.tile([1.5, 7.0], 100), 27.0 * (policy.rule.window - 1), 270.0
    low, high = policy.ends(11)
    grid = np.linspace(low, high, 40001)
    found = policy.rate(state, cost)
    assert found.min() < low + 0.1
    assert found.max() > high - 0.1
    assert ((found > low + 1) & (found < high - 1)).sum() > 1
    if "penalty" in departures:  # thirds are cut off until a tenth is left, and its middle is taken
        cuts = np.ceil(np.log(10 * (high - low)) / np.log(1.5))
        assert found.min() == pytest.approx(low + (high - low) * (2 / 3) ** cuts / 2)
    for run in range(200):
        if "penalty" in departures:
            p, near = released_penalty(held + grid, constants.Pdim + seen + grid, constants), 0.1
        else:
            p, near = penalty(held + grid, seen + grid, constants), grid[1] - grid[0]
        assert abs(found[run] - grid[np.argmin(debt[run] * cost[run] * grid + V * p)]) < near


def test_what_is_no_departure_is_refused_in_one_sentence():
    for name, message in {
        "acdpp+regoin": "did you mean 'region'",
        "acdpp+": "departures of the released code are K, region, cap, rounding, penalty, constants, each",
        "acdpp+K+K": "each named once as in",
        "acdpp+all+K": "acdpp+all has them all",
        "released+K": "known are acdpp, ",
        "released-all": "departures of the released code are",
        "acdpp+regoin@K=3": "there is no policy 'acdpp+regoin': the departures",
    }.items():
        assert message in refused(made, name)
        assert len(refused(made, name)) < 250
