"""The paper's numbers fit together."""

from theory.paper import BUDGET, BUFFERS, MEAN_PRICE, MNIST, RATE, RETENTION, SECTION7


def test_mnist_has_the_budgets_and_the_others_multiples_of_them() -> None:
    assert (MNIST.buffers, MNIST.cost, MNIST.mean_cost) == (BUFFERS, BUDGET, MEAN_PRICE)
    assert RATE * RETENTION == MNIST.total_buffer == 100
    assert RATE * MEAN_PRICE == BUDGET
    for said in SECTION7.values():
        assert said.buffers == tuple(said.times * size for size in BUFFERS)
        assert said.budget == said.times * BUDGET
