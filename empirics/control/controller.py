"""One policy in the hands of a server of your own: prices in, admissions out, books kept, saved as JSON.

>>> from empirics.settings.study import Study
>>> server = Controller("constant", Study(buffers=(8, 9, 10), budget=33))
>>> for price in (5.0, 2.5, 7.25):
...     granted = server.decide(price)  # tell each client how many samples to admit, then train
...     server.report(granted - [1, 0, 0])  # the first client found one sample less than it was granted
>>> server.round, server.books.spent, server.books.debt
(4, 54.25, 0.0)

Under buy-cheap-online the clients' memories stay full, and a sample goes when its price is low for its age:

>>> server = Controller("buy-cheap-online", Study(buffers=(8, 9, 10), budget=33))
>>> server.capacity  # a client keeps its newest samples, this many at most
array([ 8,  9, 10])
>>> [int(server.decide(price).sum()) for price in (5.0, 9.0, 1.5, 2.5, 9.0, 2.5)]  # all arrives if nothing is reported
[27, 0, 27, 0, 0, 27]
>>> again = Controller.from_document(server.document())  # JSON values; save and load take a file
>>> again.decide(3.5), again.books.in_memory, again.books.spent
(array([0, 0, 0]), array([ 8,  9, 10]), 243.0)

With a learner's settings it says how large steps are, and what the newest model weighs in the mean of models:

>>> server = Controller("burst-online", Study(buffers=(8, 9, 10), budget=33, eta=8.0, decay=50, average="polynomial"))
>>> theta = mean = 0.0
>>> for price in (5.0, 9.0, 1.5, 2.5):
...     granted = server.decide(price)
...     theta -= server.eta * (theta - 1) / 9 if granted.any() else 0  # what the clients make of it
...     server.report(granted)
...     mean += server.share * (theta - mean)  # 0 after a round without samples: it has made no model
>>> round(server.share, 3), round(mean, 3)
(0.0, 0.785)

With learner information there is no step: a `SumServer` asks the clients for sums (`empirics.training.client_sums`).
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from empirics.control.memories import Totals
from empirics.control.policy import FOREVER, Policy
from empirics.control.prices import prices_of
from empirics.control.registry import Brief, capacity_for, dropped_by, kept_for, make_policy
from empirics.control.released import CONSTANTS
from empirics.control.schedule import checked_admissions
from empirics.control.state_json import plain, restored
from empirics.control.steps_and_means import Models, step_sizes
from empirics.files import replace_file
from empirics.settings.costs import PRICE_MAX, PRICE_MIN
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from empirics.users_code import NUMERIC, users_code
from theory.control.admission import debt_update
from theory.setting import Constants, SettingError, positive

__all__ = ["Books", "Controller"]

FORMAT = 2


@dataclass(frozen=True)
class Books:
    """Totals so far, and the samples in the clients' memories once the last round's have arrived."""

    rounds: int
    spent: float
    debt: float
    distinct: int
    in_memory: NDArray[np.int64]
    effective: float


class Controller:
    """Decides round by round as the study's batched loop does.

    The settings are a study's: buffers, budget, rounds (for V and ρ, which follow from them unless given), K, rate. The
    mean price is `study.assumed_mean_cost`, or else the one given here, or that of `study.cost`. The constants enter
    acdpp's penalty alone; without any, those of the released code are taken. A policy of your own comes as an object
    or a function that takes a `Brief`.
    """

    def __init__(
        self,
        policy: str = "constant",
        study: Study | None = None,
        *,
        mean_cost: float | Fraction | None = None,
        constants: Constants | None = None,
        own: Any = None,
    ) -> None:
        self.study = Study() if study is None else study
        self.name, self.constants = PolicyName(policy), CONSTANTS if constants is None else constants
        self.mean_cost = (
            prices_of(self.study).mean if mean_cost is None else Fraction(positive("mean_cost", mean_cost))
        )
        budget = self.study.theory_budget(self.mean_cost)
        brief = Brief(self.study, budget, self.constants.merged, self.study.cost)
        given = None if own is None else {self.name.base: own}
        self.policy: Policy = make_policy(self.name, brief, given)
        self._state = self.policy.start(1)
        kept, self._capacity = (rule(self.policy, self.study, self.name) for rule in (kept_for, capacity_for))
        self._totals = Totals.start(kept[np.newaxis], capacity=self._capacity[np.newaxis])
        self._pending: tuple[float, NDArray[np.int64]] | None = None
        self._dropped = 0  # the last round that was decided to drop all older samples
        self.books = Books(0, 0.0, 0.0, 0, np.zeros(self.study.clients, dtype=np.int64), 0.0)
        self._own, self._models = self.study.of_policy(self.name), Models.start(1)
        self._share = 1.0

    @property
    def round(self) -> int:
        """The round to be decided next, or the one decided and not reported."""
        return self.books.rounds + 1

    @property
    def eta(self) -> float:
        """The step size of this round."""
        self._refuse_information("step size")
        return float(step_sizes(self._own, self.round, self.books.distinct))

    @property
    def share(self) -> float:
        """The weight of the newest model in the mean of models; 0 after a round that has made none."""
        self._refuse_information("mean of models")
        return self._share

    def _refuse_information(self, name: str) -> None:
        if self.study.learner == "information":
            raise SettingError(f"learner information has no {name}: learn with empirics.SumServer")

    @property
    def retention(self) -> NDArray[np.int64]:
        """The rounds that each client keeps a sample: 1 in a round that is decided to drop all older samples.

        In later rounds it reaches back to that one: who was away in it drops them when it is back.
        """
        kept: NDArray[np.int64]
        (kept,) = self._totals.retention
        return np.minimum(kept, self.round - self._dropped + 1) if self._dropped else kept

    @property
    def capacity(self) -> NDArray[np.int64] | None:
        """The largest number of samples that each client keeps, the newest; None if age alone decides."""
        return None if (self._capacity == FOREVER).all() else self._capacity.copy()

    @property
    def pending(self) -> NDArray[np.int64] | None:
        """The samples granted in a round that is decided and not reported, if any."""
        return None if self._pending is None else self._pending[1].copy()

    def decide(self, cost: float) -> NDArray[np.int64]:
        """The samples that each client may admit in this round, at this price per sample.

        If the round before was not reported, all that was granted counts as delivered.
        """
        if not PRICE_MIN < positive("cost", cost) < PRICE_MAX:
            raise SettingError(
                f"a price lies between {PRICE_MIN:g} and {PRICE_MAX:g}, such as 2.5, got {cost:g}"
            )
        if self._pending is not None:
            self.report(self._pending[1])
        with users_code(f"policy {self.name!r} failed in round {self.round}", *NUMERIC):
            state, wanted = self.policy.decide(self._state, np.array([float(cost)]))
            fits = self._capacity[np.newaxis]
            granted: NDArray[np.int64]
            (granted,) = checked_admissions(wanted, fits.shape, fits)
            drops = dropped_by(self.policy, state, 1)
        self._state, self._pending = state, (float(cost), granted)
        if drops is not None and drops.any():
            self._dropped = self.round
        return granted.copy()

    def report(self, delivered: ArrayLike, *, trained: bool | None = None) -> None:
        """Book the samples that each client has admitted, at most what it was granted: what did not come is neither
        paid nor counted, nor owed.

        Then `share` is what the model that the round has made weighs in the mean of models; 0 if it has made none,
        which is so if it had no sample, or if you say so by `trained`.
        """
        if self._pending is None:
            raise SettingError("there is nothing to report: decide the round first")
        cost, granted = self._pending
        try:
            came = checked_admissions(delivered, granted.shape)
        except ValueError:
            raise SettingError(
                f"delivered must be one whole number for each of the {len(granted)} clients, got {delivered!r}"
            ) from None
        if (came > granted).any():
            m = int(np.argmax(came > granted))
            raise SettingError(f"client {m} delivered {came[m]} samples and was granted {granted[m]}")
        price, drops = np.array([cost]), np.array([[self._dropped == self.round]])
        self._state = self.policy.book(self._state, price, came[np.newaxis])
        _, _, track = self._totals.extend(came[np.newaxis, np.newaxis], drops)
        before, paid = self.books, cost * int(came.sum())
        held, seen = self._totals.n[0].copy(), int(self._totals.past[-1].sum())
        effective = float(track.effective[0, 0]) if seen else 0.0
        debt = float(debt_update(before.debt, cost, int(came.sum()), float(self.study.budget)))
        self.books = Books(before.rounds + 1, before.spent + paid, debt, seen, held, effective)
        self._pending = None
        made = bool(held.any()) if trained is None else trained
        self._share = float(self._models.extend(self._own, np.array([[made]]))[0, 0])

    @property
    def listens(self) -> bool:
        return hasattr(self.policy, "observe")

    def observe(self, loss: float | None) -> None:
        """The mean loss of the model on a round's samples before it trains on them, for a policy that listens; None
        where none came.

        If the world has changed by it, all that is held leaves in the round that is decided next.
        """
        if not self.listens:
            raise SettingError(
                f"policy {self.name!r} listens to no losses: take adaptive, or one of your own"
            )
        if loss is not None and not np.isfinite(loss):
            raise SettingError("a loss must be a finite number")
        heard = np.array([np.nan if loss is None else float(loss)])
        self._state = self.policy.observe(self._state, heard)  # type: ignore[attr-defined]

    @property
    def _rule(self) -> str | None:
        """A digest of the inputs of the policy; None for a user's policy that JSON cannot hold."""
        try:
            return _digest({"rule": plain(self.policy)})
        except SettingError:
            return None

    # --- JSON ----------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The controller as JSON values: `from_document` goes on as if nothing had happened."""
        constants = {name: value for name, value in asdict(self.constants).items() if value is not None}
        found = {
            "acdpp_controller": FORMAT,
            "policy": self.name,
            "rule": self._rule,
            "study": self.study.document(),
            "mean_cost": str(self.mean_cost),
            "constants": plain(constants),
            "books": plain(self.books),
            "pending": plain(self._pending),
            "dropped": self._dropped,
            "totals": plain(self._totals),
            "state": plain(self._state),
            "models": plain(self._models),
            "share": self._share,
        }
        return found | {"sha256": _digest(found)}

    @classmethod
    def from_document(cls, document: Any, *, own: Any = None) -> Self:
        """The controller of a document; `own` is the policy again, if it was one of your own."""
        if not isinstance(document, dict) or document.get("acdpp_controller") != FORMAT:
            raise SettingError("this is no saved controller of this version of acdpp")
        if document.get("sha256") != _digest({k: v for k, v in document.items() if k != "sha256"}):
            raise SettingError("the saved controller is damaged or was edited: its checksum does not fit")
        made = cls(
            document["policy"],
            Study.from_document(document["study"]),
            mean_cost=Fraction(document["mean_cost"]),
            constants=Constants(**restored(document["constants"])),
            own=own,
        )
        if document.get("rule") not in (None, made._rule):
            raise SettingError(
                f"{made.name} would decide otherwise than when it was saved: has the file of its prices changed?"
            )
        if "dropped" not in document and hasattr(made.policy, "drops"):
            raise SettingError(
                f"an older version of acdpp saved this controller without the round in which {made.name} last dropped "
                "samples: begin anew"
            )
        try:
            made._state = restored(document["state"], made._state)
            made._totals = restored(document["totals"], made._totals)
            made.books = restored(document["books"], made.books)
            made._pending = restored(document["pending"])
            made._dropped = document.get("dropped", 0)
            made._models = restored(document["models"], made._models)
            made._share = document["share"]
        except (KeyError, TypeError, ValueError) as error:
            raise SettingError(f"the saved controller does not fit policy {made.name!r}: {error}") from error
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a file, whole or not at all."""
        text = json.dumps(self.document(), ensure_ascii=False) + "\n"
        replace_file(Path(path), lambda beside: beside.write_text(text, encoding="utf-8"))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, own: Any = None) -> Self:
        """The controller that was saved to this file."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise SettingError(f"cannot read the controller {str(path)!r} ({error.strerror})") from None
        except ValueError:
            raise SettingError(f"{str(path)!r} is no saved controller, or damaged") from None
        return cls.from_document(document, own=own)


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
