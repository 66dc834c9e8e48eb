r"""The batched step: all runs and all clients of a round in one tensor program.

A chunk of rounds is loaded onto the device at once (samples in order of arrival, stretches, weights) and played without
talking to the host. The round number lives on the device too, so on CUDA a whole round is recorded once for
each memory width and replayed as one graph.

Where the study averages, the server keeps \(\bar\theta\leftarrow\bar\theta+w(\theta-\bar\theta)\) beside θ, with the
weights of `empirics.control.steps_and_means`, and both are measured. A round without a sample makes no step. The
mean is of what the server has before it projects, and is itself projected where it is measured: a mean of points on a
sphere lies within it, where a minimiser on the sphere is not.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.columns import FRESH, LAST, measured_columns
from empirics.control.schedule import Rounds
from empirics.control.steps_and_means import Learner
from empirics.settings.study import Study
from empirics.training.informed import InformationLearner
from empirics.training.model import Descent, Memory, Model, listening
from empirics.training.partition import Streams
from empirics.training.risk import project
from empirics.training.sample_order import SampleOrder
from empirics.training.world import world_of
from theory.setting import SettingError

__all__ = ["Engine", "aggregation_weights", "padded"]

OF_A_MODEL = ("risk", "accuracy")


def padded(width: Any) -> Any:
    """The widths that memories are padded to, 4, 6, 8, 12, 16, 24, …: few, and at most a third is waste."""
    power = 2 ** np.floor(np.log2(np.maximum(width, 4)))
    larger = np.where(2 * width <= 3 * power, 3 * power / 2, 2 * power)
    return np.where(width <= power, power, larger).astype(int)


def aggregation_weights(study: Study, occupancy: NDArray[Any]) -> NDArray[np.float64]:
    """w_m(t): proportional to α_m n_m (`eq:memory-proportional-weight`) or to n_m alone."""
    alpha = np.array(study.alpha) if study.weights == "paper" and study.alpha else np.ones(study.clients)
    mass = alpha * occupancy
    return np.asarray(mass / np.maximum(mass.sum(axis=-1, keepdims=True), np.finfo(float).tiny))


def _descents(study: Study, model: Model, theta: Tensor) -> list[tuple[Tensor, Descent]]:
    """Groups of runs and how they descend: one group if the model takes a step size per run, else one per step size."""
    own = [study.of_policy(name) for name in study.policies]
    pairs = [(one.steps, one.eta) for one in own for _ in range(study.seeds)]
    kinds = list(dict.fromkeys(pairs))
    runs = torch.arange(study.runs, device=theta.device)
    if not getattr(model.update, "per_run", False):
        if study.decays:
            raise SettingError(
                "the model's update takes one step size for all rounds: leave decay out, or mark it @per_run"
            )
        which = torch.tensor([kinds.index(pair) for pair in pairs], device=theta.device)
        return [(runs[which == k], Descent(*kind, study.momentum)) for k, kind in enumerate(kinds)]
    counts, sizes = zip(*pairs, strict=True)
    different = set(sizes)
    one = len(different) == 1
    size = different.pop() if one else torch.tensor(sizes, dtype=theta.dtype, device=theta.device)
    steps = None if len(set(counts)) == 1 else torch.tensor(counts, device=theta.device)
    return [(runs, Descent(max(counts), size, study.momentum, steps))]


class Engine:
    """Parameters, reuse counts and logs of all runs on the device; `play` moves them through a chunk of rounds.

    A part of a study `averages` where the whole does.
    """

    def __init__(
        self,
        model: Model,
        study: Study,
        streams: Streams,
        *,
        graphs: bool | None = None,
        listens: bool = False,
        averages: bool | None = None,
    ) -> None:
        self.model, self.study, self.listens = model, study, listens
        self.arrivals = SampleOrder(streams, study)
        self.theta = model.start(study.runs)
        self.device = self.theta.device
        self.informed = InformationLearner(model, study) if study.learner == "information" else None
        recorded = self.device.type == "cuda" and getattr(model, "graphs", True) and not self.informed
        self.graphs = recorded if graphs is None else graphs
        self.recorded: dict[int, Callable[[], None]] = {}
        self.pool: Any = None
        self.descents = _descents(study, model, self.theta)
        counted = streams.population if "mismatch" in study.measures else 0
        self.uses = self._zeros(study.runs, counted, dtype=torch.int32)
        self.learner, self.decays = Learner(study), study.decays
        averages = study.averages if averages is None else averages
        self.mean = self.theta.clone() if averages else None
        self.round = self._zeros(1, dtype=torch.int64)
        chunk = min(study.checkpoint, study.rounds)
        each = (chunk, study.runs, study.clients)
        self.begin, self.size, self.fresh, self.starts = (
            self._zeros(*each, dtype=torch.int64) for _ in range(4)
        )
        self.weights = self._zeros(*each, dtype=self.theta.dtype)
        self.eta, self.share = (self._zeros(chunk, study.runs, dtype=self.theta.dtype) for _ in range(2))
        self.world = world_of(model, study, streams)
        columns = 0 if self.world is None else self.world.table(1, 1).shape[1]
        self.scene = self._zeros(chunk, columns, dtype=self.theta.dtype)
        self.log = {
            column: self._zeros(chunk, study.runs, dtype=self.theta.dtype)
            for column in [*measured_columns(study, averages=averages), *([FRESH] if listens else [])]
        }
        self.lists = self._zeros(study.runs, study.clients, 0, dtype=torch.int64)

    def _zeros(self, *shape: int, dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    @property
    def averaged(self) -> Tensor | None:
        """The mean of models, within the ball."""
        return None if self.mean is None else project(self.mean, self.study.radius)

    @property
    def state(self) -> dict[str, Tensor]:
        """The state that passes from round to round and does not follow from the schedule."""
        mean = {} if self.mean is None else {"mean": self.mean}
        informed = self.informed.state if self.informed else {}
        return {"theta": self.theta, "uses": self.uses, **mean, **informed}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from the state that was saved."""
        if self.informed:
            self.informed.restore(saved)
        for name, tensor in self.state.items():
            tensor.copy_(torch.from_numpy(saved[name]))

    def follow(self, rounds: Rounds) -> dict[str, NDArray[Any]]:
        """The tables of a chunk of rounds; alone, it goes past rounds that were trained before."""
        origin, lists = self.arrivals.extend(rounds)
        weights = aggregation_weights(self.study, rounds.occupancy)
        eta, share = self.learner.follow(rounds, weights)
        return {
            "lists": lists,
            "begin": rounds.starts - origin,
            "size": rounds.occupancy,
            "fresh": rounds.admissions,
            "starts": rounds.starts,
            "weights": weights,
            "eta": eta,
            "share": share,
            **({} if self.world is None else {"scene": self.world.table(rounds.first, rounds.last)}),
        }

    def load(self, rounds: Rounds) -> None:
        """A chunk of rounds onto the device, at most `checkpoint` of them."""
        content = self.follow(rounds)
        lists = content.pop("lists")
        for name, values in content.items():
            target = getattr(self, name)
            target[: len(values)] = torch.from_numpy(np.ascontiguousarray(values)).to(target)
        self._make_room(max(lists.shape[2], int(padded(rounds.occupancy.max()))))
        self.lists[..., : lists.shape[2]] = torch.from_numpy(lists).to(self.lists)
        self.round.zero_()

    def _make_room(self, longest: int) -> None:
        """Recorded graphs know the lists by their place in memory: a longer one means recording again: rare."""
        if longest > self.lists.shape[2]:
            room = int(padded(longest))
            self.recorded.clear()
            self.pool = None  # torch forgets a pool with the last graph in it
            self.lists = self._zeros(self.study.runs, self.study.clients, room, dtype=torch.int64)

    def _now(self, table: Tensor) -> Tensor:
        return table.index_select(0, self.round).squeeze(0)

    def _memory(self, width: int) -> Memory:
        begin, size, weights = (self._now(table) for table in (self.begin, self.size, self.weights))
        slot = torch.arange(width, device=self.device)
        mask = slot < size[..., None]
        # masked slots may point past the end of the list: they read its last entry, and count for nothing
        place = (begin[..., None] + slot).clamp(max=self.lists.shape[2] - 1)
        return Memory(self.lists.gather(2, place), mask, weights)

    def _tilt(self, memory: Memory) -> Tensor:
        """ω_i - q_i/n over the population: the weights of ∇F_all - ∇F_mem, with this round's uses counted; 0 where
        nothing is in memory."""
        runs = self.study.runs
        held = torch.zeros_like(self.uses)
        held.scatter_add_(1, memory.index.view(runs, -1), memory.mask.view(runs, -1).to(held.dtype))
        self.uses += held
        overall, now = (
            counts.to(self.theta.dtype) / counts.sum(1, keepdim=True) for counts in (self.uses, held)
        )
        return torch.where(held.any(1, keepdim=True), overall - now, 0)

    def _moved(self, memory: Memory) -> Tensor:
        """Σ_m w_m Δ_m of every run."""
        if len(self.descents) == 1:
            ((_, descent),) = self.descents
            if self.decays:
                descent = replace(descent, eta=self._now(self.eta))
            return self.model.update(self.theta, memory, descent)
        moved = torch.zeros_like(self.theta)
        for runs, descent in self.descents:
            part = Memory(memory.index[runs], memory.mask[runs], memory.weights[runs])
            moved.index_copy_(0, runs, self.model.update(self.theta[runs], part, descent))
        return moved

    def _informed(self, memory: Memory) -> Tensor:
        assert self.informed is not None
        return self.informed.learn(memory, self._new(memory), self._now(self.starts))

    def step(self, width: int) -> None:
        """One round, in place: measure at θ(t), then train to θ(t+1), which joins the mean."""
        memory = self._memory(width)
        if self.world is not None:
            self.world.show(self._now(self.scene))
        found = self._measured(self._tilt(memory) if "mismatch" in self.log else None)
        if self.listens:
            found[FRESH] = self._fresh_loss(memory)
        # the largest of scores that are no numbers is no answer
        lost = ~torch.isfinite(self.theta).all(dim=1)
        found = {name: values.masked_fill(lost, torch.nan) for name, values in found.items()}
        for name, column in self.log.items():
            column.index_copy_(0, self.round, found[name][None])
        moved = self._informed(memory) if self.informed else self.theta + self._moved(memory)
        theta = project(moved, self.study.radius)
        trained = memory.weights.any(dim=1, keepdim=True)  # without a sample θ stays to the last bit
        self.theta.copy_(torch.where(trained, theta, self.theta))
        if self.mean is not None:
            self.mean.lerp_(moved, self._now(self.share)[:, None])
        self.round += 1

    def _fresh_loss(self, memory: Memory) -> Tensor:
        """The loss of the model on the samples that the round brought, (runs,), the last of each client's memory."""
        averaged = self.averaged
        new = replace(memory, mask=self._new(memory))
        loss = listening(self.model).mean_loss(self.theta if averaged is None else averaged, new)
        return torch.as_tensor(loss)

    def _new(self, memory: Memory) -> Tensor:
        """Slots of samples that the round brought."""
        size, fresh = self._now(self.size)[..., None], self._now(self.fresh)[..., None]
        return memory.mask & (torch.arange(memory.mask.shape[2], device=self.device) >= size - fresh)

    def _measured(self, tilt: Tensor | None) -> dict[str, Tensor]:
        """Measures at θ(t), and of the mean where that is the model."""
        found, averaged = self._of_model(self.theta, tilt), self.averaged
        if averaged is None:
            return found
        last = {LAST + name if name in OF_A_MODEL else name: values for name, values in found.items()}
        return last | self._of_model(averaged, None)

    def _of_model(self, theta: Tensor, tilt: Tensor | None) -> dict[str, Tensor]:
        found = self.model.measure(theta, tilt) if tilt is not None or "risk" in self.log else {}
        if "accuracy" in self.log:
            found["accuracy"] = self.model.accuracy(theta)
        return found

    def play(
        self,
        rounds: Rounds,
        tick: Callable[[int], None] = lambda t: None,
        widths: NDArray[np.int64] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """A chunk of rounds; returns the logged columns, (rounds, runs). The host waits once, at the end.

        `tick` is told of every round that was issued; on CUDA it may not have run yet. Memories are as wide as the runs
        need or, with `widths`, as those of a whole study of which these are a part: sums then are of the same length.
        """
        widths = padded(rounds.occupancy.max(axis=(1, 2))) if widths is None else widths
        with torch.no_grad():
            self.load(rounds)
            for t, width in enumerate(widths.tolist(), start=rounds.first):
                self._prepared(width)()
                tick(t)
        played = {name: column[: len(widths)] for name, column in self.log.items()}
        return {name: column.to("cpu", torch.float64, copy=True).numpy() for name, column in played.items()}

    def _prepared(self, width: int) -> Callable[[], None]:
        if width not in self.recorded:
            self.recorded[width] = self._record(width) if self.graphs else lambda: self.step(width)
        return self.recorded[width]

    def _record(self, width: int) -> Callable[[], None]:
        """A CUDA graph of the step. Recording needs warm-up runs on a side stream, whose effects are undone."""
        state = [self.round, *self.state.values(), *self.log.values()]
        saved = [tensor.clone() for tensor in state]
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self.round.copy_(saved[0])
                self.step(width)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # one pool for all widths: graphs run one after the other and leave nothing in it
        self.pool = self.pool or torch.cuda.graph_pool_handle()
        with torch.cuda.graph(graph, pool=self.pool):
            self.step(width)
        for tensor, value in zip(state, saved, strict=True):
            tensor.copy_(value)
        replay: Callable[[], None] = graph.replay
        return replay
