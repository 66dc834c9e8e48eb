"""A client of a federation: it draws the granted samples, keeps them on its own disk, trains, and reports the change of
the parameters and counts of samples; to a policy that listens, also the model's mean loss on the new samples before
training. For the information learner it answers with sums in place of training. Samples never leave the client."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from empirics.federation.client_memory import DiskMemory, Draw, Samples
from empirics.federation.client_reports import ClientReport
from empirics.federation.messages import Inquiry, Reply, Task, introduction, sums_content
from empirics.federation.sample_sources import Stream, checked, of_part, of_stream
from empirics.settings.study import Study
from empirics.training.device import choose_device
from empirics.training.model import Memory, Population, listening
from empirics.training.problem import Problem, make_model, make_problem
from empirics.training.questions import Answer, client_sums
from theory.setting import SettingError

__all__ = ["client_app", "trained"]


def trained(
    study: Study, task: Task, samples: Samples, fresh: int = 0, model: Any = None, device: str = "cpu"
) -> tuple[NDArray[Any] | None, float | None]:
    """The change of the parameters in E steps on these samples, None where the server learns from sums, and, if asked
    for, the mean loss before training on the last `fresh` samples."""
    descends, tests = task.inquiry is None, task.listens and fresh > 0
    if not len(samples) or not (descends or tests):
        return np.zeros_like(task.theta) if descends else None, None
    place, real = choose_device(device), getattr(torch, study.dtype)
    x, y = torch.from_numpy(samples.x).to(place, real), torch.from_numpy(samples.y).to(place)
    shares = torch.full((1, len(y)), 1 / len(y), dtype=real, device=place)
    made = make_model(study, Population(x, y, shares, x, y, task.classes), model)
    if made.size != task.theta.size:
        raise SettingError(f"the server's model has {task.theta.size} parameters, this client's {made.size}")
    theta = torch.from_numpy(task.theta.copy()).to(place)[None]
    shape = (1, 1, len(y))
    memory = Memory(
        torch.arange(len(y), device=place).view(shape),
        torch.ones(shape, dtype=torch.bool, device=place),
        torch.ones(shape[:2], dtype=theta.dtype, device=place),
    )
    moved, loss = None, None
    with torch.no_grad():
        if tests:
            tested, new = torch.from_numpy(task.tested.copy()).to(theta), memory.index >= len(y) - fresh
            loss = float(listening(made).mean_loss(tested[None], replace(memory, mask=new)))
        if descends:
            moved = made.update(theta, memory, task.descent)[0].cpu().numpy()
    return moved, loss


def client_app(study: Study, *, stream: Stream | None = None, model: Any = None) -> ClientApp:
    """The client's side of a Flower app. Its node config has the client id (`partition-id`) and the folder for its
    samples (`buffer`).

    `stream`, a function of the client id and of the number of samples drawn before, yields pairs of input and label;
    without it, a client draws from its part of the study's data set (in `data-dir`). `model` is a `torch.nn.Module`, or
    a function from the population to a module.
    """
    app = ClientApp()

    @app.query()
    def introduce(message: Message, context: Context) -> Message:
        return Message(introduction(_client_id(context)), reply_to=message)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return Message(_round(study, stream, model, message, context).content(), reply_to=message)

    @app.query("sums")
    def inform(message: Message, context: Context) -> Message:
        return Message(sums_content(_further(study, message, context)), reply_to=message)

    return app


def _round(study: Study, stream: Stream | None, model: Any, message: Message, context: Context) -> Reply:
    """A round, outside `client_app`: Ray pickles nested functions by their code, and fails on their globals."""
    _take_threads(study)
    client, task = _client_id(context), Task.read(message.content)
    draw = checked(_source(study, context, client, stream), task.classes)
    with DiskMemory.locked(_folder(context, client) / task.federation) as memory:
        memory.admit(task.order, draw)
    device = str(context.node_config.get("device", "cpu"))
    moved, loss = trained(study, task, memory.samples, memory.admitted, model, device)
    report = ClientReport(memory.admitted, memory.cohorts)
    answers = None if task.inquiry is None else _sums(task.inquiry, memory)
    return Reply(task.federation, client, task.order.round, report, moved, loss, answers)


def _further(study: Study, message: Message, context: Context) -> list[Answer]:
    """Answers to a further inquiry of the round for which the samples in memory are."""
    _take_threads(study)
    inquiry = Inquiry.read(message.content)
    with DiskMemory.locked(_folder(context, _client_id(context)) / inquiry.federation) as memory:
        now = None if memory.pending is None else memory.pending.round
    if now != inquiry.round:
        raise SettingError(
            f"an inquiry of round {inquiry.round}, and the samples in memory are of round {now}"
        )
    return _sums(inquiry, memory)


def _sums(inquiry: Inquiry, memory: DiskMemory) -> list[Answer]:
    held, gone = memory.samples, memory.dropped
    own = inquiry.weight, inquiry.first
    return client_sums(inquiry.questions, held.x, held.y, memory.admitted, (gone.x, gone.y), *own)


def _take_threads(study: Study) -> None:
    if study.threads is not None:
        torch.set_num_threads(study.threads)


def _client_id(context: Context) -> int:
    try:
        return int(context.node_config["partition-id"])
    except (KeyError, ValueError):
        raise SettingError("the node config must have partition-id, the client id from 0 on") from None


def _folder(context: Context, client: int) -> Path:
    own, all_in_one = context.node_config.get("buffer"), context.run_config.get("buffers")
    if own:
        return Path(str(own))
    if not all_in_one:
        raise SettingError("the node config must have buffer, the folder for this client's samples")
    return Path(str(all_in_one)) / f"client-{client}" / "samples"


def _source(study: Study, context: Context, client: int, stream: Stream | None) -> Draw:
    if stream is not None:
        return of_stream(stream, client)
    place = context.node_config.get("data-dir", context.run_config.get("data-dir"))
    return of_part(_problem(study, str(place) if place else None), client)


@lru_cache(maxsize=1)  # for a process that serves many rounds
def _problem(study: Study, data_dir: str | None) -> Problem:
    return make_problem(study, "cpu", None if data_dir is None else Path(data_dir))
