"""The model of a study that is not logistic regression: a network by name, or what a user gives."""

import copy
from typing import Any

import torch

from empirics.settings.study import GIVEN, Study
from empirics.training.model import Model, Population
from empirics.training.module import Module
from empirics.training.networks import NETWORKS
from empirics.training.resnet import ManyResNets
from empirics.users_code import found_at, users_code
from theory.setting import SettingError

__all__ = ["other_model"]


def other_model(study: Study, population: Population, given: Any, first: int = 0) -> Model:
    """The network that the study names, or the model that a user gave, by name or by hand; `first` is the number of the
    first replicate."""
    if given is None:
        given = NETWORKS.get(study.model)
    if given is None:
        if study.model.startswith(GIVEN) or ":" not in study.model:
            raise SettingError(
                f"there is no model {study.model!r}: logistic, {', '.join(NETWORKS)}, module:attribute, or "
                f"run_study(..., model=...) from Python"
            )
        given = found_at(study.model, "model")
    count = study.seeds if "start" in study.per_seed else 1
    begin = first if "start" in study.per_seed else 0  # one start for all is that of replicate 0
    made = [_made(given, population, study, s) for s in range(begin, begin + count)]
    others = [one for one in made if not isinstance(one, torch.nn.Module)]
    if not others:
        if study.model == "resnet9" and ManyResNets.suits(population):
            return ManyResNets(made, population, study.precision)
        return Module(made, population)
    other, *_ = others
    if count > 1 or not isinstance(other, Model):
        rest = ", or anything with size, start, update, measure and accuracy"
        raise SettingError(
            "a model must be a torch.nn.Module, or a function that takes the population and returns one"
            f"{' anew for every seed' if count > 1 else rest}, got {type(other).__name__}"
        )
    return other


def _made(given: Any, population: Population, study: Study, replicate: int) -> Any:
    """One model; what torch draws while it is made is fixed by the study's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(study.seed * 1_000_003 + replicate)
        if isinstance(given, torch.nn.Module):
            return _drawn_anew(given) if "start" in study.per_seed else given
        if not callable(given):
            return given
        needs_nothing = isinstance(given, type) and issubclass(given, torch.nn.Module)
        with users_code(f"the model {given!r:.60} could not be made"):
            return given() if needs_nothing else given(population)


def _drawn_anew(module: torch.nn.Module) -> torch.nn.Module:
    """A copy whose layers have drawn their parameters again, but for those that need no gradient."""
    fresh = copy.deepcopy(module)
    for layer in fresh.modules():
        reset = getattr(layer, "reset_parameters", None)
        if callable(reset):
            reset()
        elif any(one.requires_grad for one in layer.parameters(recurse=False)):
            raise SettingError(
                f"{type(layer).__name__} cannot draw its first parameters anew: give it reset_parameters, or the study "
                "a function that makes the model"
            )
    for now, then in zip(fresh.parameters(), module.parameters(), strict=True):
        if not then.requires_grad:
            now.data.copy_(then)
    return fresh
