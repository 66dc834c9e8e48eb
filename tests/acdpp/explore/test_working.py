"""Behind the page: the last question wins, and a study trains, is watched and stops where it can go on."""

import time
from unittest.mock import Mock

import numpy as np
import pytest

from acdpp.explore import working
from acdpp.explore.planner import Planner, Refused, Stopped
from acdpp.explore.working import Asking, Training
from empirics.results.folder import read_result
from empirics.run import run_study, study_of
from tests.acdpp.explore.test_planner import PLANNER, asked
from tests.empirics.small import until


class Slow(Planner):
    """Answers with the budget of the question, then waits until it is stopped, if it is."""

    def answers(self, question, *, search=True, stop, tell):
        if question.study.budget == 13:
            raise Refused("budget", "unlucky")
        yield question.study.budget
        tell("waiting", 1, None)
        while question.study.budget == 22:
            if stop():
                time.sleep(0.05)  # until the next question is there
                yield -1.0  # what comes too late is not shown
                raise Stopped
            time.sleep(0.001)


def test_the_last_question_is_answered_and_what_was_asked_before_is_stopped():
    asking = Asking(Slow())
    asking.ask(asked())
    until(lambda: asking.answer == 22.0 and asking.doing == "waiting, 1", 20)
    never_begun, last = asked(budget="30"), asked(budget="40")
    asking.ask(never_begun)
    asking.ask(last)
    until(lambda: asking.answer == 40.0 and not asking.doing, 20)
    assert asking.news == 2
    asking.ask(asked(budget="13"))
    until(lambda: asking.refused is not None, 20)
    assert (asking.answer, asking.refused) == (40.0, ("budget", "unlucky"))
    assert asking.current is None
    asking.ask(asked())
    until(lambda: asking.answer == 22.0, 20)
    assert asking.refused is None
    assert asking.current == 22.0
    asking.stop()
    assert asking.current is None
    asking.ask(asked(budget="50"))  # the thread is free again
    until(lambda: asking.answer == 50.0, 20)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError("too many samples"), "this is beyond what can be computed here (too many samples)"),
        (KeyError("x"), "this cannot be answered (KeyError: 'x')"),
    ],
)
def test_what_cannot_be_computed_is_a_sentence_too(error, sentence, monkeypatch):
    monkeypatch.setattr(Planner, "answers", Mock(side_effect=error))
    asking = Asking(Planner())
    asking.ask(asked())
    until(lambda: asking.news, 20)
    assert asking.refused == ("data", sentence)


def test_a_study_trains_and_shows_the_means_of_what_it_measures(tmp_path):
    question = asked(policies="constant,buy-cheap-online")
    training = Training(question, tmp_path / "result", PLANNER)
    training.wait(60)
    assert training.study == PLANNER.suited(question)[0].study != question.study  # as it was predicted
    assert (training.running, training.refused, training.done) == (False, "", 12)
    assert training.folder == tmp_path / "result"
    assert training.said == f"{training.curves.sentence()}; result: {tmp_path / 'result'}"
    assert study_of(training.folder) == training.study
    rows = read_result(training.folder).rows
    for name, means in training.curves.means.items():
        mine = rows.filter(np.array(rows["policy"].to_pylist()) == name)
        shown = np.array(mine["excess_risk"].to_pylist()).reshape(-1, 12).mean(axis=0)
        np.testing.assert_allclose(means, shown)
    assert list(training.summary["policies"]) == ["constant", "buy-cheap-online"]


def test_a_training_that_is_stopped_can_be_continued(monkeypatch, tmp_path):
    def stopping(study, out, *, progress, announce, see):
        def tell(done):
            if done == 3:
                training.stop()
            progress(done)

        time.sleep(0.05)  # until there is a training to be stopped
        return run_study(study, out, progress=tell, announce=announce, see=see)

    monkeypatch.setattr(working, "run_study", stopping)
    training = Training(asked(policies="constant"), tmp_path / "result")
    training.wait(60)
    assert (training.running, training.refused, training.summary, training.done) == (False, "", None, 2)
    assert run_study(out=tmp_path / "result", resume=True)["rounds"] == 12


def test_what_nobody_foresaw_ends_a_training_with_a_sentence(monkeypatch):
    monkeypatch.setattr(working, "run_study", Mock(side_effect=KeyError("x")))
    training = Training(asked())
    training.wait(60)
    assert (training.refused, training.running) == ("the training failed (KeyError: 'x')", False)
    assert training.news


def test_a_refusal_is_the_training_s_own_sentence(tmp_path):
    (tmp_path / "there").write_text("")
    training = Training(asked(), tmp_path / "there")
    training.wait(60)
    assert "there" in training.refused
    assert training.said == training.refused
    training.refused = ""  # as before the first round, when it is not known where the result will be
    assert training.said == "waiting for the first rounds, round 0 of 12"
