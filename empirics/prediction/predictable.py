"""Which problems the law of reuse can predict, and why others not."""

from empirics.prediction.decided_rounds import ROUNDS_FOLLOWED_MAX
from empirics.training.linear import Linear
from empirics.training.problem import Problem

__all__ = ["refusal"]


def refusal(problem: Problem) -> str | None:
    """Reason why a problem cannot be predicted, or None."""
    study = problem.study
    if not isinstance(problem.model, Linear):
        return "the law of reuse needs the curvature at a minimiser: it predicts logistic regression alone"
    if study.radius is None:
        return "excess risk is undefined without a ball: give the study a radius"
    if study.drift.kind == "order":
        return "samples come in their own order, so that excess risk over a population is undefined"
    if study.learner == "information" and study.drift.kind != "none":
        return "the information learner is predicted in a world that stands still"
    if not problem.streams.moves_as_one(study):
        return "clients that differ drift apart, and their population is not a mixture of two"
    if study.drift.mixes and study.rounds > ROUNDS_FOLLOWED_MAX:
        return f"a drifting population is followed for at most {ROUNDS_FOLLOWED_MAX:,} rounds"
    if int(problem.population.support.sum()) < 2:
        return "the population is a single sample: there is nothing to learn"
    return None
