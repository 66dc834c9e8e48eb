"""The paper's numbers fit together."""

from theory.paper import BUDGET, BUFFERS, MEAN_PRICE, MNIST, RATE, RETENTION, SECTION7


def test_mnist_has_the_budgets_and_the_others_multiples_of_them() -> None:
    assert (MNIST.buffers, MNIST.cost, MNIST.mean_cost) == (BUFFERS, BUDGET, MEAN_PRICE)
    assert RATE * RETENTION == MNIST.total_buffer == 100
    assert RATE * MEAN_PRICE == BUDGET
    for said in SECTION7.values():
        assert said.buffers == tuple(said.times * size for size in BUFFERS)
        assert said.budget == said.times * BUDGET


def test_floats_are_the_nearest_to_the_exact_numbers() -> None:
    for said in SECTION7.values():
        near = said.rounded()
        assert (near.eta, near.target, near.budget) == (float(said.eta), float(said.target), said.budget)
        assert near.points == {other: float(gain) for other, gain in said.points.items()}
        assert near.speed_up.keys() == said.speed_up.keys() == near.points.keys()
        assert (near.name, near.model, near.partition) == (said.name, said.model, said.partition)
