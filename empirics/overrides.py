"""Data, model, policies and prices handed over in Python in place of those that a study's settings name."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from empirics.settings.costs import CostProcess
from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import GIVEN, Study

__all__ = ["HandedOver"]


@dataclass(frozen=True)
class HandedOver:
    """Things handed over in Python in place of those that the settings name."""

    dataset: Any = None
    model: Any = None
    policies: Mapping[str, Any] | None = None
    cost: Any = None

    @property
    def nothing(self) -> bool:
        return all(one is None for one in (self.dataset, self.model, self.policies, self.cost))

    def named(self, study: Study) -> Study:
        """The study with the names under which these things go into its record, and files by their full names."""
        given: dict[str, Any] = {}
        if self.dataset is not None:
            name = self.dataset if isinstance(self.dataset, str) else None
            given["dataset"] = name or GIVEN + str(getattr(self.dataset, "name", type(self.dataset).__name__))
        if self.model is not None:
            given["model"] = GIVEN + str(getattr(self.model, "__name__", type(self.model).__name__))
        if self.policies:
            there = {PolicyName(name).base for name in study.policies}
            more = [name for name in self.policies if name not in there]
            given["policies"] = [*study.policies, *more]
        if isinstance(self.cost, CostProcess):
            given["cost"] = self.cost
        elif isinstance(self.cost, str | os.PathLike):
            given["cost"] = CostProcess(process="trace", file=os.fspath(self.cost))
        elif self.cost is not None:
            given["cost"] = CostProcess(process="trace", file=GIVEN + type(self.cost).__name__)
        return _rooted(Study.from_document(given, study))


def _rooted(study: Study) -> Study:
    """The study with files named so that they are found from everywhere."""
    given: dict[str, Any] = {}
    if study.dataset.startswith(OWN_FILES):
        kind, _, file = study.dataset.partition(":")
        given["dataset"] = f"{kind}:{os.path.abspath(os.path.expanduser(file))}"
    if study.cost.file is not None and not study.cost.file.startswith(GIVEN):
        given["cost"] = {"file": os.path.abspath(os.path.expanduser(study.cost.file))}
    return Study.from_document(given, study)
