"""Export of a trained model: its state_dict and a description of its module, in one file that needs torch alone."""

import inspect
import json
import warnings
from collections.abc import Mapping
from math import isclose
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from empirics.data import data_of
from empirics.files import replace_file
from empirics.results.fingerprint import fingerprint, same_model
from empirics.results.folder import read_state
from empirics.results.provenance import versions
from empirics.settings.study import GIVEN, Study
from empirics.training.device import choose_device
from empirics.training.linear import Linear
from empirics.training.module import Module, answers
from empirics.training.problem import Problem, from_dataset
from empirics.training.risk import project
from theory.setting import SettingError

__all__ = ["MODELS", "export_model"]

MODELS = ("averaged", "last")
INPUTS_AT_A_TIME = 512
COMPARED_INPUTS = 64  # on which a module built from its description must agree
BLOCKS, RESIDUAL = "Sequential", "Residual"


def export_model(
    result: Path | str,
    out: Path | str,
    *,
    policy: str | None = None,
    seed: int = 0,
    which: str | None = None,
    dataset: Any = None,
    model: Any = None,
    device: str = "cpu",
    data_dir: Path | None = None,
) -> dict[str, Any]:
    """Write the model of one run of a finished result to the new file `out`; returns what its metadata say.

    `which` is averaged or last: by default what the study answers for. Data set and model that were handed over in
    Python are handed over again. `torch.load(out, weights_only=True)` has a `state_dict` and the `metadata` as JSON.
    """
    place, file = Path(result), Path(out)
    settings, summary, state = read_state(place)
    study = Study.from_document(settings["study"])
    name, last = _chosen(study, policy, seed, which)
    if file.exists() or not file.parent.is_dir():
        wrong = "already exists" if file.exists() else "has a parent folder that does not exist"
        raise SettingError(f"{str(file)!r} {wrong}: give the name of a new file, such as model.pt")
    prefix = "last_" if last and study.averages else ""
    recorded = summary["policies"][name][f"{prefix}final_accuracies"][seed]
    if recorded is None:
        raise SettingError(f"{name} diverged with seed {seed}: there is no model to export")
    problem, x, names = _problem(study, settings, place, dataset, model, choose_device(device), data_dir)
    saved = torch.from_numpy(state["theta"]).to(problem.population.x)
    if not same_model(state["fingerprint"], fingerprint(problem, saved)):
        raise SettingError(f"the model is not the one that {str(place)!r} was trained with")
    run = study.policies.index(name) * study.seeds + seed
    if not last:
        saved = project(torch.from_numpy(state["mean"]).to(saved), study.radius)
    module, build = _rebuilt(_module(problem, saved[run]), x[:COMPARED_INPUTS])
    metadata = {
        "dataset": study.dataset,
        "labels": study.labels,
        "policy": name,
        "seed": seed,
        "rounds": study.rounds,
        "which": MODELS[last],
        "model": study.model,
        "build": build,
        "dtype": study.dtype,
        "input_shape": list(x.shape[1:]),
        "subtract_from_inputs": problem.scaling.less.tolist(),
        "divide_inputs_by": problem.scaling.over.tolist(),
        "classes": problem.population.classes,
        "class_names": names,
        "accuracy": recorded,
        "versions": versions(),
    }
    if study.drift.kind == "none":
        _compare(module, x, problem.population.test_y, recorded)
    plain = {name: tensor.detach().cpu().clone() for name, tensor in module.state_dict().items()}
    content = {"state_dict": plain, "metadata": json.dumps(metadata)}
    try:
        replace_file(file, lambda beside: torch.save(content, beside))
    except (OSError, RuntimeError) as error:  # torch has its own words for a full disk
        raise SettingError(f"{str(file)!r} cannot be written ({error})") from None
    return metadata


def _chosen(study: Study, policy: str | None, seed: int, which: str | None) -> tuple[str, bool]:
    """The policy, and True for its last iterate."""
    name = study.policies[0] if policy is None and len(study.policies) == 1 else policy
    if name not in study.policies:
        asked = "which policy" if policy is None else f"there is no policy {policy!r}"
        raise SettingError(f"{asked}: the result has {', '.join(study.policies)}")
    if not 0 <= seed < study.seeds:
        raise SettingError(f"the seed must be one of the result's, 0 to {study.seeds - 1}, got {seed}")
    averages = study.of_policy(name).average != "none"
    if which is not None and which not in MODELS:
        raise SettingError(f"the model is {' or '.join(MODELS)}, got {which!r}")
    if which == "averaged" and not averages:
        raise SettingError(f"{name} keeps no mean of its models: take the last one")
    return name, which == "last" or not averages


def _problem(
    study: Study,
    settings: Mapping[str, Any],
    place: Path,
    dataset: Any,
    model: Any,
    device: torch.device,
    data_dir: Path | None,
) -> tuple[Problem, Tensor, list[int | str]]:
    """The study's problem, if these are its data, the inputs of the test set as a module takes them, and its labels."""
    for what, given, name in (("dataset", dataset, study.dataset), ("model", model, study.model)):
        if given is None and name.startswith(GIVEN):
            raise SettingError(
                f"the {what} of {str(place)!r} was handed over in Python: call empirics.export_model with {what}="
            )
    there = data_dir or settings["asked"]["data_dir"]
    data = data_of(study, there and Path(there), dataset)
    problem = from_dataset(study, data, device, model)
    if problem.digest != settings["data_digest"] or problem.model.size != settings["parameters"]:
        what = "data are" if problem.digest != settings["data_digest"] else "model is"
        raise SettingError(f"the {what} not what {str(place)!r} was trained with")
    x = torch.from_numpy(problem.scaling.of(data.test_x, study.dtype)).to(device)
    names: list[int | str] = (
        ["even", "odd"] if study.labels == "parity" else list(data.class_names or range(data.classes))
    )
    return problem, x, names


def _module(problem: Problem, theta: Tensor) -> nn.Module:
    """The module with these parameters, which has one score a class; logistic regression of two has 0 for the first."""
    model = problem.model
    if isinstance(model, Linear):
        rows = theta.view(model.outputs, model.features)
        if model.outputs == 1:
            rows = torch.cat([torch.zeros_like(rows), rows])
        if problem.study.scale != "pixels":
            rows = rows / rows.new_tensor(2).sqrt()
        linear = nn.Linear(model.features - 1, len(rows), dtype=rows.dtype, device=rows.device)
        linear.load_state_dict({"weight": rows[:, :-1], "bias": rows[:, -1]})
        return nn.Sequential(nn.Flatten(), linear)
    if not isinstance(model, Module):
        raise SettingError(f"model {problem.study.model!r} is no torch.nn.Module, and has no state_dict")
    found, pieces = model.module, torch.split(theta, [shape.numel() for shape in model.shapes.values()])
    named = dict(zip(model.shapes, pieces, strict=True))
    with torch.no_grad():
        for name, parameter in found.named_parameters():
            if name in named:
                parameter.copy_(named[name].view(parameter.shape))
    return found


# --- how to build it again ---------------------------------------------------------------------------------


def _rebuilt(module: nn.Module, x: Tensor) -> tuple[nn.Module, Any]:
    """A module built from a description, and the description; the module itself and None if it has other layers."""
    try:
        build = json.loads(json.dumps(_described(module)))
        again = _built(*build).to(x)
        values = module.state_dict().values()  # residual blocks are renamed
        again.load_state_dict(dict(zip(again.state_dict(), values, strict=True)))
        with torch.no_grad():
            alike = torch.equal(again(x), module(x))
    except Exception:  # whatever a module of the user's own has as attributes
        alike = False
    return (again, build) if alike else (module, None)


def _described(module: nn.Module) -> list[Any]:
    """The kind of a module, and its arguments by name or its parts."""
    from empirics.training.networks import Residual

    kind = type(module)
    if isinstance(module, nn.Sequential):
        return [BLOCKS, [_described(one) for one in module]]
    if isinstance(module, Residual):
        return [RESIDUAL, [_described(one) for one in module.blocks]]
    if getattr(nn, kind.__name__, None) is not kind:
        raise TypeError(f"{kind.__name__} is none of torch's own")
    arguments = [name for name in inspect.signature(kind).parameters if hasattr(module, name)]
    found = {name: getattr(module, name) for name in arguments}
    return [kind.__name__, found | ({"bias": found["bias"] is not None} if "bias" in found else {})]


class _Residual(nn.Sequential):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.as_tensor(super().forward(x))  # type: ignore[no-untyped-call]


def _built(kind: str, given: Any) -> nn.Module:
    """Build a module from its description, as the documentation does."""
    kinds: dict[str, type[nn.Module]] = {RESIDUAL: _Residual}
    made = kinds.get(kind) or getattr(nn, kind)
    return made(**given) if isinstance(given, dict) else made(*(_built(*one) for one in given))


# --- is it the model of the study? -------------------------------------------------------------------------


def _compare(module: nn.Module, x: Tensor, y: Tensor, recorded: float) -> None:
    with torch.no_grad():
        found = torch.cat([answers(module(part)) for part in torch.split(x, INPUTS_AT_A_TIME)])
    accuracy = float((found == y).double().mean())
    if not isclose(accuracy, recorded, abs_tol=1e-6):  # a study in float32 has its mean in float32
        warnings.warn(
            f"the model's test accuracy is {accuracy:.6g} here and {recorded:.6g} in the record: another device or "
            "version rounds differently",
            stacklevel=3,
        )
