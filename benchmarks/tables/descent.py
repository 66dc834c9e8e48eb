"""Descent with settings of its own: a race chooses step size, decay and mean of models, by bought rows alone.

In every round clients take steps on the rows that they hold, averaged after each step. A pilot row weighs as much
as any other over the study. Steps are in units of 1 / mean |x|² of the pilot and fall to 1 / (1 + decay) of
themselves over the study; a mean weights the model of round t by about t^γ. In the race all settings play as many
rounds as the study has on four fifths of the pilot, drawn from it round by round, are scored on the last fifth, and
halved as they go. The first few are the study's; of these the best on new rows, before they are learnt, is asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.tables.splits import SETTINGS, Chances, Splits
from empirics.training.sums import FOLDS, Rows, losses


@dataclass(frozen=True)
class Racers:
    """Settings that run, (runs, settings), with models (…, parameters) and their means (…, γ, parameters)."""

    steps: Tensor
    decays: Tensor
    models: Tensor
    means: Tensor

    @classmethod
    def of(cls, pilot: Rows, parameters: int) -> "Racers":
        """All settings at 0."""
        grids = [pilot.x.new_tensor(SETTINGS[name]) for name in ("descent_steps", "descent_decays")]
        steps, decays = torch.cartesian_prod(*grids).T
        unit = pilot.x.square().sum(-1).mean(1, keepdim=True)
        models = pilot.x.new_zeros(len(unit), len(steps), parameters)
        means = models[:, :, None].expand(-1, -1, len(SETTINGS["descent_means"]), -1)
        return cls(steps / unit, decays.expand(len(unit), -1), models, means)

    @property
    def answers(self) -> Tensor:
        """Means as models, (runs, settings times γ, parameters); where they diverged, 0."""
        return self.means.flatten(1, 2).nan_to_num(0.0, 0.0, 0.0)

    def kept(self, which: Tensor) -> "Racers":
        """Some of the settings, (runs, settings)."""
        runs = torch.arange(len(which), device=which.device)[:, None]
        return Racers(*(each[runs, which] for each in vars(self).values()))

    def repeated(self, times: int) -> "Racers":
        """All settings for more runs."""
        return Racers(*(each.repeat(times, *[1] * (each.dim() - 1)) for each in vars(self).values()))

    def after(self, held: Rows, number: int, rounds: int) -> "Racers":
        """Models and means after a round."""
        steps = self.steps / (1 + self.decays * (number - 1) / rounds)
        models = descended(self.models, held, steps)
        gammas = steps.new_tensor(SETTINGS["descent_means"])[:, None]
        means = torch.lerp(self.means, models[:, :, None], (1 + gammas) / (number + gammas))
        return replace(self, models=models, means=means)

    def losses(self, rows: Rows) -> Tensor:
        """Summed losses of means, (runs, settings, γ)."""
        return losses(self.answers, rows).view(self.means.shape[:3])


def descended(models: Tensor, held: Rows, steps: Tensor) -> Tensor:
    """Models after the steps of a round."""
    runs, many, size = models.shape
    outputs = size // held.x.shape[-1]
    targets = F.one_hot(held.y, max(outputs, 2)).mT[:, None, -outputs:]
    weights = (held.counted / held.counted.sum(1, keepdim=True))[:, None, None]
    for _ in range(SETTINGS["descents"]):
        logits = (models.view(runs, many * outputs, -1) @ held.x.mT).view(runs, many, outputs, -1)
        apart = (logits.sigmoid() if outputs == 1 else logits.softmax(2)) - targets
        gradient = (apart * weights).view(runs, many * outputs, -1) @ held.x
        models = models - steps[..., None] * gradient.view(models.shape)
    return models


def race(pilot: Rows, batch: int, rounds: int, racers: Racers) -> tuple[Tensor, Tensor]:
    """Settings, the best first, and the losses of their means by cross-validation, (runs, settings, γ)."""
    pilot = pilot.part(slice(pilot.y.shape[1] // FOLDS * FOLDS))
    fold = torch.arange(pilot.y.shape[1], device=pilot.y.device) % FOLDS
    learnt, test = (
        stacked([pilot.part((fold == k) == held) for k in range(FOLDS)]) for held in (False, True)
    )
    runs, many = racers.steps.shape
    alive = torch.arange(many, device=pilot.y.device).expand(runs, -1)
    trial = racers.repeated(FOLDS)
    for number, held in enumerate(studied(learnt, drawn(learnt, batch, rounds), rounds), start=1):
        trial = trial.after(held, number, rounds)
        if number in [int(share * rounds) for share in SETTINGS["descent_halved"]] or number == rounds:
            loss = trial.losses(test).unflatten(0, (FOLDS, runs)).sum(0)
            order = loss.amin(2).argsort(1)
            if number < rounds:
                order = order[:, : max(len(order[0]) // 2, SETTINGS["descent_leads"])]
            alive, trial = alive.gather(1, order), trial.kept(order.repeat(FOLDS, 1))
    return alive, loss[torch.arange(runs, device=order.device)[:, None], order]


def stacked(parts: list[Rows]) -> Rows:
    """Samples of more runs."""
    return Rows(*(torch.cat(each) for each in zip(*(vars(part).values() for part in parts), strict=True)))


def studied(pilot: Rows, fresh: Iterable[Rows], rounds: int) -> Iterator[Rows]:
    """What is held, round by round."""
    kept: list[Rows] = []
    light = pilot.weighted(pilot.counted.new_full((1, 1), SETTINGS["keep"] / rounds))
    for one in fresh:
        kept = [*kept, one][-SETTINGS["keep"] :]
        yield light.with_rows(*kept)


def drawn(pilot: Rows, batch: int, rounds: int) -> Iterator[Rows]:
    """Rounds that buy from the pilot, pass by pass in a new order."""
    many, generator = pilot.y.shape[1], torch.Generator().manual_seed(0)
    passes = range(-(-batch * rounds // many))
    order = torch.cat([torch.randperm(many, generator=generator) for _ in passes]).to(pilot.y.device)
    return (pilot.part(part) for part in order[: batch * rounds].split(batch))


def descent(splits: Splits) -> Chances:
    """The study, with the first of the race."""
    bought = replace(splits.bought, x=splits.bought.x.float(), counted=splits.bought.counted.float())
    pilot, fresh = bought.part(slice(splits.pilot)), bought.part(slice(splits.pilot, None))
    batches = [fresh.part(slice(k, k + splits.batch)) for k in range(0, fresh.y.shape[1], splits.batch)]
    outputs = 1 if splits.classes == 2 else splits.classes
    racers = Racers.of(pilot, outputs * pilot.x.shape[-1])
    alive, score = race(pilot, splits.batch, len(batches), racers)
    racers, score = racers.kept(alive[:, : SETTINGS["descent_leads"]]), score[:, : SETTINGS["descent_leads"]]
    for number, held in enumerate(studied(pilot, batches, len(batches)), start=1):
        if number > SETTINGS["descent_heard"] * len(batches):
            score = score + racers.losses(batches[number - 1])
        racers = racers.after(held, number, len(batches))
    runs, best = torch.arange(len(score), device=score.device), score.flatten(1).argmin(1)
    return splits.chances(racers.answers[runs, best][:, None].to(splits.test.x))
