"""Streaming federated training on CPU or GPU, and what it measures against the bounds of `theory`.

A study is a list of policies and a number of replicates. Its admissions depend on costs and counts alone (`control`);
every run and every client trains in one tensor program (`training`), and the excess risk is measured exactly, because
the population is the finite data set itself. What comes out is a folder that explains itself (`results`).

| floor | what |
| --- | --- |
| `run` | a whole study: `run_study` |
| `planning` | the best policy and learner that a budget can buy: `plan_study` |
| `reproduce` | the paper's Section 7 |
| `export` | a trained model to take away: `export_model` |
| `predict` | what a study will learn before anything is trained: `predict_study` |
| `federation` | a study on real clients, with Flower |
| `validate` | whether a study can be run as asked, checked once; `overrides`: what is handed over in Python |
| `shards` | training in this process, or by workers on Ray, each with some of the runs |
| `results` | result folder, rows, summary |
| `prediction` | the law of reuse on a study's own problem |
| `training` | samples, models, the batched engine and its slow twin |
| `control` | prices, policies, schedule, and a `Controller` for a server of your own |
| `settings` | `Study`, presets, TOML |
| `data` | digits, MNIST, CIFAR-10, Imagenette, or your own arrays |
| `columns`, `reference` | the columns of a result, each declared once; docs/reference.md made of settings and columns |
| `draws`, `files`, `users_code` | random numbers by key; writing in one piece; errors of your own code |

Everything that users need is named here; torch is loaded by what trains, not by this package.

>>> from empirics import Study
>>> study = Study(rounds=100, policies=("constant", "oracle"))
>>> study.clients, study.runs
(10, 20)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from empirics.columns import COLUMNS
    from empirics.control.controller import Books, Controller
    from empirics.control.policy import Policy
    from empirics.control.prices import Prices, Trace, make_prices, read_trace
    from empirics.control.registry import Brief, register
    from empirics.data import Dataset, as_dataset, from_table
    from empirics.export import export_model
    from empirics.planning.plan import Plan, plan_study
    from empirics.predict import predict_study
    from empirics.prediction.result import Prediction
    from empirics.results.folder import Result, read_result
    from empirics.run import run_study
    from empirics.settings.costs import CostProcess
    from empirics.settings.presets import PRESETS
    from empirics.settings.study import Study
    from empirics.settings.toml import read_toml
    from empirics.training.client_sums import SumServer
    from empirics.training.fit import fitted_study
    from empirics.training.model import Model, Population
    from empirics.training.questions import added, check_sums, client_sums

_HOMES = {
    "run": ("run_study",),
    "planning.plan": ("Plan", "plan_study"),
    "predict": ("predict_study",),
    "prediction.result": ("Prediction",),
    "export": ("export_model",),
    "settings.study": ("Study",),
    "settings.costs": ("CostProcess",),
    "settings.presets": ("PRESETS",),
    "settings.toml": ("read_toml",),
    "results.folder": ("Result", "read_result"),
    "columns": ("COLUMNS",),
    "control.controller": ("Books", "Controller"),
    "control.policy": ("Policy",),
    "control.registry": ("Brief", "register"),
    "control.prices": ("Prices", "Trace", "make_prices", "read_trace"),
    "data": ("Dataset", "as_dataset", "from_table"),
    "training.client_sums": ("SumServer",),
    "training.questions": ("added", "check_sums", "client_sums"),
    "training.fit": ("fitted_study",),
    "training.model": ("Model", "Population"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["COLUMNS", "PRESETS", "Books", "Brief", "Controller", "CostProcess", "Dataset", "Model", "Plan"]
__all__ += ["Policy", "Population", "Prediction", "Prices", "Result", "Study", "SumServer", "Trace"]
__all__ += ["added", "as_dataset", "check_sums", "client_sums", "export_model", "fitted_study"]
__all__ += ["from_table", "make_prices", "plan_study", "predict_study", "read_result", "read_toml"]
__all__ += ["read_trace", "register", "run_study"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'empirics' has no attribute {name!r}")
    return getattr(import_module(f"empirics.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
