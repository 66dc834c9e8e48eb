"""A run's numbers are the same bits however many runs are computed with it (float64, on a CPU, with one thread)."""

from dataclasses import replace

import pytest
import torch

from empirics.training.device import threads
from empirics.training.linear import Linear
from empirics.training.model import Descent, Memory, Population
from tests.empirics.small import orderly

RUNS, CLIENTS, SAMPLES, FEATURES = 11, 3, 101, 9


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def found(population, theta, tilt, memory, part):
    """All that is measured and trained of some runs."""
    own = population.weights[part] if population.own else population.weights
    model = Linear(replace(population, weights=own, test_weights=own))
    runs = Memory(memory.index[part], memory.mask[part], memory.weights[part])
    moved = model.update(theta[part], runs, Descent(3, 0.5))
    risk = model.measure(theta[part], None)["risk"]  # perhaps of few samples
    told = {"update": moved, "risk alone": risk, "log-loss": model.log_loss(theta[part])}
    told |= {"accuracy": model.accuracy(theta[part])}
    return model.measure(theta[part], tilt[part]) | told


@orderly
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("own", [False, True], ids=["one population", "one each"])
@pytest.mark.parametrize("width", [6, FEATURES + 2], ids=["few samples", "many"])
def test_a_run_alone_or_among_others_is_the_same(classes, own, width):
    with threads(1, ""), torch.random.fork_rng():
        torch.manual_seed(0)
        x, y = normal(SAMPLES, FEATURES), torch.randint(classes, (SAMPLES,))
        heavy = 5 * (torch.arange(SAMPLES) == SAMPLES - 1)  # the last numbers are those that fill no vector
        weights = (normal(RUNS if own else 1, SAMPLES) + heavy).softmax(1)
        population = Population(x, y, weights, x, y, classes, own=own)
        for _ in range(4 if own or classes > 2 else 40):  # few numbers fill no vector
            theta, tilt = 2 * normal(RUNS, Linear(population).size), normal(RUNS, SAMPLES) + heavy
            held = torch.randint(SAMPLES, (RUNS, CLIENTS, width))
            memory = Memory(held, torch.rand(held.shape) < 0.8, normal(RUNS, CLIENTS).softmax(1))
            whole = found(population, theta, tilt, memory, slice(None))
            for part in (slice(0, 1), slice(2, 5)):
                for name, values in found(population, theta, tilt, memory, part).items():
                    assert torch.equal(values, whole[name][part]), (name, part)


def test_a_run_alone_is_the_same_where_few_samples_count():
    many = 10 * SAMPLES
    with threads(1, ""), torch.random.fork_rng():
        torch.manual_seed(0)
        x, y = normal(many, FEATURES), torch.randint(2, (many,))
        counts = torch.rand(2, many) < 0.15
        weights = normal(2, many).exp() * counts
        weights = weights / weights.sum(1, keepdim=True)
        all_of = Population(x, y, weights, x, y, 2, test_weights=weights, own=True)
        both, one = Linear(all_of), Linear(replace(all_of, weights=weights[:1], test_weights=weights[:1]))
        for theta in normal(100, 2, FEATURES):
            first = theta[:1]
            assert torch.equal(one.measure(first, None)["risk"], both.measure(theta, None)["risk"][:1])
            assert torch.equal(one.accuracy(first), both.accuracy(theta)[:1])


def test_a_number_has_the_same_digits_wherever_it_stands():
    x, y = torch.zeros(2, 1).double(), torch.tensor([0, 1])
    model = Linear(Population(x, y, torch.ones(1, 2).double() / 2, x, y, 2))
    for row in torch.linspace(-9, 9, 40 * 128, dtype=torch.float64).view(40, 1, 128, 1):
        for asked in (model.chances, lambda logits: model.losses(logits, torch.ones(1))):
            for count in (1, 5, 15, 16, 17, 35):
                assert torch.equal(asked(row[:, :count]), asked(row)[:, :count])
