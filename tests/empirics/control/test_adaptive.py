"""Constant admission that forgets when losses rise."""

import numpy as np

from empirics.control.adaptive import Adaptive, has_changed
from empirics.control.controller import Controller
from empirics.control.schedule import Schedule
from empirics.settings.study import Study
from tests.empirics.small import refused
from theory.setting import Constants

STUDY = Study(buffers=(8, 9, 10), budget=33, K=6)


def losses(rng, *levels, each=60):
    return np.concatenate([level + 0.15 * rng.normal(size=each) for level in levels])


def test_rising_losses_are_told_from_noise_and_from_learning():
    """Of still streams less than δ alarm in a round: at 0.05, more than 20 of 200 would be one case in 1,000."""
    rng = np.random.default_rng(0)
    assert sum(has_changed(losses(rng, 0.6, 0.6), 0.05) for _ in range(200)) <= 20
    assert not any(has_changed(losses(rng, 0.9, 0.6)) for _ in range(50))
    assert all(has_changed(losses(rng, 0.6, 0.9)) for _ in range(50))


def played(server, told):
    """What memories hold and what is paid, round by round."""
    held = []
    for loss in told:
        server.report(server.decide(5.5))
        server.observe(loss)
        held.append(int(server.books.in_memory.sum()))
    return held


def test_all_that_is_older_leaves_in_the_round_after_an_alarm_at_the_same_cost():
    told = losses(np.random.default_rng(1), 0.5, 1.5, each=30)
    server, still = (Controller("adaptive", STUDY, own=Adaptive.of) for _ in range(2))
    held, full = played(server, told), played(still, np.full(60, 0.5))
    alarms = [t for t in range(1, 60) if held[t] < held[t - 1] - 12]
    assert len(alarms) == 1
    assert 30 <= alarms[0] <= 40
    assert held[: alarms[0]] == full[: alarms[0]]
    assert held[alarms[0]] <= 7  # the new round's alone
    assert held[alarms[0] + 6 :] == full[alarms[0] + 6 :]
    assert server.books.spent == still.books.spent


def test_a_controller_that_listens_is_saved_and_goes_on_as_it_was(tmp_path):
    told = losses(np.random.default_rng(1), 0.5, 1.5, each=30)
    whole, part = (Controller("adaptive", STUDY, own=Adaptive.of) for _ in range(2))
    held = played(whole, told)
    for cut in (20, 33):
        part = Controller("adaptive", STUDY, own=Adaptive.of)
        first = played(part, told[:cut])
        part.save(tmp_path / "server.json")
        assert first + played(Controller.load(tmp_path / "server.json", own=Adaptive.of), told[cut:]) == held


def test_who_cannot_listen_or_hear_says_so():
    assert "listens to no losses" in refused(Controller("constant", STUDY).observe, 0.5)
    assert "finite number" in refused(Controller("adaptive", STUDY, own=Adaptive.of).observe, float("nan"))
    constants = Constants(D=1.0, sigma=1.0, eta=0.1, B=1.0, Pdim=5.0)
    study = Study(buffers=(8, 9, 10), budget=33, policies=("mine",))
    assert "give it to a Controller" in refused(Schedule, study, constants, policies={"mine": Adaptive.of})
