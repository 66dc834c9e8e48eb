"""The slow, obvious twin of the batched engine: one run, one client, one sample at a time. The tests' oracle.

Memories are lists of samples with their ages. A round admits, drops what no longer fits, trains, and drops what was
used K times. Control is played for one replicate alone.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from scipy.special import loggamma
from torch import Tensor

from empirics.control.policy import Policy
from empirics.control.prices import make_prices
from empirics.control.registry import capacity_for, dropped_by, kept_for
from empirics.draws import Purpose, permutation, uniform
from empirics.settings.study import Study
from empirics.training.client_sums import SumServer
from empirics.training.informed import client_weights
from empirics.training.linear import Linear
from empirics.training.partition import Streams
from empirics.training.problem import Problem
from empirics.training.sums import Rows, RowSums

__all__ = ["Client", "Record", "run_twin"]


class Client:
    """One client's pool, memory and way of drawing samples."""

    def __init__(
        self, study: Study, streams: Streams, replicate: int, number: int, retention: int, capacity: int
    ) -> None:
        pools = streams.pools[replicate if len(streams.pools) > 1 else 0]
        self.study, self.pool, self.retention, self.capacity = study, pools[number], retention, capacity
        later = () if streams.later is None else streams.later[replicate if len(streams.pools) > 1 else 0]
        self.later = later[number] if later else None
        self.replicate, self.number = replicate, number
        self.memory: list[tuple[int, int]] = []  # sample and age
        self.shuffles = -1
        self.left: list[int] = []

    def admit(self, t: int, count: int) -> None:
        """`count` new samples of age 0, in the place of the oldest where there is no other."""
        self._draw(t, count)
        self.memory = self.memory[-self.capacity :]

    def _draw(self, t: int, count: int) -> None:
        if self.study.replacement:
            for slot in range(count):
                where = {"replicate": self.replicate, "client": self.number, "t": t, "slot": slot}
                u, pool = uniform(self.study.seed, Purpose.sample, **where), self.pool
                drift = self.study.drift
                if self.later is not None:
                    w = drift.weight(t - drift.apart * self.number)
                    pool = self.later if uniform(self.study.seed, Purpose.part, **where) < w else pool
                elif drift.kind == "order":
                    each = drift.length or Fraction(len(pool), self.study.rounds + 1)
                    pool = pool[int((t - 1) * each) : int(t * each)]
                self.memory.append((int(pool[int(u * len(pool))]), 0))
            return
        if self.shuffles < 0 or len(self.left) < count:
            self.shuffles += 1
            where = {"replicate": self.replicate, "client": self.number, "t": self.shuffles}
            order = permutation(len(self.pool), self.study.seed, Purpose.shuffle, **where)
            self.left = [int(self.pool[place]) for place in order]
        self.memory += [(sample, 0) for sample in self.left[:count]]
        self.left = self.left[count:]

    def train(self, model: Linear, theta: Tensor, eta: float) -> Tensor:
        """E full-batch steps of this size from theta; returns the model difference. Uses up one round of every sample's
        life."""
        self.memory = [(sample, age + 1) for sample, age in self.memory]
        samples = [sample for sample, _ in self.memory]
        x, y = model.population.x[samples], model.targets[samples]
        local, velocity = theta, torch.zeros_like(theta)
        for _ in range(self.study.steps):
            logits = x @ local.T
            guess = torch.sigmoid(logits) if model.outputs == 1 else torch.softmax(logits, dim=1)
            velocity = self.study.momentum * velocity + (guess - y).T @ x / len(samples)
            local = local - eta * velocity
        return local - theta

    def drop(self) -> None:
        """Drop samples that have been used K times."""
        self.memory = [(sample, age) for sample, age in self.memory if age < self.retention]


class Summing:
    """The server of one run that adds up information: which samples are new, held and dropped, one by one."""

    def __init__(self, study: Study, model: Linear) -> None:
        self.model, self.weights, self.server = model, client_weights(study), SumServer.of(study, model)
        self.held: dict[tuple[int, int], int] = {}  # sample by client and number

    def learn(self, memories: list[list[tuple[int, int]]], admitted: list[int]) -> Tensor:
        """The model after a round, from the clients' memories and how many samples each has admitted in all."""
        now = {
            (m, count - len(memory) + k): sample
            for m, (memory, count) in enumerate(zip(memories, admitted, strict=True))
            for k, (sample, _) in enumerate(memory)
        }
        gone = {key: sample for key, sample in self.held.items() if key not in now}
        fresh = {key: sample for key, sample in now.items() if key not in self.held}
        self.held = now
        self.server.hear(*map(self._sums, (gone, fresh, now)))
        return torch.from_numpy(self.server.theta)

    def _sums(self, samples: dict[tuple[int, int], int]) -> RowSums:
        population, index = self.model.population, torch.tensor(list(samples.values()), dtype=torch.int64)
        share = torch.tensor([[self.weights[m] for m, _ in samples]], dtype=torch.float64)
        rows = Rows(population.x[index][None].double(), population.y[index][None], share)
        return RowSums(rows, self.model.outputs)


@dataclass(frozen=True)
class Record:
    """One run: θ(1..T+1), the means of models then, admissions and memory sizes per client, and the measured mismatch
    at θ(t), 0 without a sample."""

    theta: Tensor
    mean: Tensor
    admissions: np.ndarray
    occupancy: np.ndarray
    debt: np.ndarray
    mismatch: np.ndarray


def run_twin(
    problem: Problem,
    policy: Policy,
    replicate: int,
    *,
    name: str = "twin",
    rounds: int | None = None,
    measure: bool = True,
) -> Record:
    """Play one replicate of a policy, with E and η as its name has them; `rounds` may stop it early, `measure` says
    whether to measure the mismatch."""
    study, model = problem.study.of_policy(name), problem.model
    assert isinstance(model, Linear)
    T = study.rounds if rounds is None else rounds
    limits = zip(*(rule(policy, study, name) for rule in (kept_for, capacity_for)), strict=True)
    streams = problem.streams
    clients = [Client(study, streams, replicate, m, int(K), int(B)) for m, (K, B) in enumerate(limits)]
    (costs,) = make_prices(study.cost).chunks(study.seed, study.seeds, study.rounds, study.rounds)
    state, Z = policy.start(1), 0.0
    theta = model.start(study.runs)[replicate].view(model.outputs, model.features)
    models, born = [theta.reshape(-1)], [1]  # and the t of each θ(t), copies in idle rounds left out
    thetas, means = [theta.reshape(-1)], [theta.reshape(-1)]
    admissions, occupancy, debt, mismatch = [], [], [], []
    uses: dict[int, int] = {}
    drawn, totals = 0, [0] * study.clients
    summing = Summing(study, model) if study.learner == "information" else None
    for t in range(1, T + 1):
        cost = costs[t - 1, replicate : replicate + 1]
        state, admitted = policy.decide(state, cost)
        for client in clients:
            client.memory = [] if dropped_by(policy, state, 1) else client.memory
        state = policy.book(state, cost, admitted)
        debt.append(Z)
        Z = max(Z + float(cost[0]) * int(admitted.sum()) - problem.study.budget, 0.0)
        for client, count in zip(clients, admitted[0], strict=True):
            client.admit(t, int(count))
        sizes = [len(client.memory) for client in clients]
        if measure:
            mismatch.append(_mismatch(model, theta, clients, uses) if sum(sizes) else 0.0)
        alpha = study.alpha if study.weights == "paper" and study.alpha else [1.0] * study.clients
        mass = sum(a * n for a, n in zip(alpha, sizes, strict=True))
        passed = t if study.decay_by == "rounds" else drawn
        eta = study.eta if study.decay is None else study.eta / (1 + passed / study.decay) ** 0.5
        drawn += int(admitted.sum())
        totals = [total + int(count) for total, count in zip(totals, admitted[0], strict=True)]
        memories = [client.memory for client in clients]
        moved = torch.zeros_like(theta)
        for client, a, n in zip(clients, alpha, sizes, strict=True):
            if n > 0:
                moved = moved + a * n / (mass or 1) * client.train(model, theta, eta)
            client.drop()
        if summing is not None and mass > 0:
            moved = summing.learn(memories, totals).view_as(theta) - theta
        if mass > 0:
            models.append((theta + moved).reshape(-1))
            theta = _within(theta + moved, study.radius)
            born.append(t + 1)
        thetas.append(theta.reshape(-1))
        means.append(_within(_mean(study, models, born), study.radius))
        admissions.append(admitted[0])
        occupancy.append(sizes)
    columns = (np.array(admissions), np.array(occupancy), np.array(debt), np.array(mismatch))
    return Record(torch.stack(thetas), torch.stack(means), *columns)


def _within(theta: Tensor, radius: float | None) -> Tensor:
    return theta if radius is None or theta.norm() <= radius else theta * (radius / theta.norm())


def _mean(study: Study, models: list[Tensor], born: list[int]) -> Tensor:
    """The mean of all models so far, before the ball, each with its weight, from scratch."""
    k = np.arange(1.0, len(models) + 1)
    if study.average == "none":
        weights = (k == len(k)).astype(float)
    elif study.average == "equal":
        weights = np.ones(len(k))
    elif study.average == "polynomial":  # Γ(j+γ)/Γ(j), which is j(j+1)···(j+γ-1) for whole γ
        gamma = float(study.averaging or 0)
        weights = np.exp(loggamma(k + gamma) - loggamma(k))
    elif study.average == "tail":
        first = int(float(study.averaging or 0) * study.rounds) + 1
        before = [i for i, t in enumerate(born) if t <= first]  # the last of these is in force at θ(first)
        weights = (np.arange(len(k)) >= before[-1]).astype(float)
    else:
        weights = float(study.averaging or 0) ** (len(k) - k)
    shares = torch.from_numpy(weights / weights.sum()).to(models[0])
    return shares @ torch.stack(models)


def _mismatch(model: Linear, theta: Tensor, clients: list[Client], uses: dict[int, int]) -> float:
    """‖∇F_all - ∇F_mem‖² at theta, from the multiplicities of the samples used so far, this round's included."""
    held = [sample for client in clients for sample, _ in client.memory]
    for sample in held:
        uses[sample] = uses.get(sample, 0) + 1
    total = sum(uses.values())

    def gradient(sample: int) -> Tensor:
        x, y = model.population.x[sample], model.targets[sample]
        logits = theta @ x
        guess = torch.sigmoid(logits) if model.outputs == 1 else torch.softmax(logits, dim=0)
        return torch.outer(guess - y, x)

    nothing = torch.zeros_like(theta)
    overall = sum((count / total * gradient(sample) for sample, count in uses.items()), nothing)
    memory = sum((gradient(sample) / len(held) for sample in held), nothing)
    return float((overall - memory).square().sum())
