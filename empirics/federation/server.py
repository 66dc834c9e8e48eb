"""The server of a federation: a Flower strategy whose rounds are decided by a policy of this project.

A round asks the policy at the price of the day, sends every client its own order, waits for as long as it may, and
books what those who answered have done. Whoever is away, late or caught in a lie takes no part in the round: what it
was granted is neither counted nor paid, and it is asked again in the next one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Strategy

from empirics.federation.app_folder import PATIENCE
from empirics.federation.journal import Journal, federated, prepare
from empirics.federation.memory import Order
from empirics.federation.post import GONE, POLL, Prompt, Sent, answers, send
from empirics.federation.records import Reply, Task, who
from empirics.overrides import HandedOver
from empirics.results.folder import SETTINGS, Busy
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Admission", "server_app"]

AGAIN = 10.0  # seconds until a node that could not say who it is is asked again
TOLD = 400  # characters, of which some may be a stranger's
STOPPED, EVENTS = (Path("federation") / name for name in ("stopped.txt", "events.log"))
log = logging.getLogger("flwr")


class Admission(Strategy):
    """Rounds by the journal. Which node is which client is asked once; of two that claim to be the same, the first is
    believed for as long as it is there."""

    def __init__(self, journal: Journal, patience: float = PATIENCE) -> None:
        self.journal, self.patience = journal, patience
        self.nodes: dict[int, int] = {}  # of clients
        self.refused: set[int] = set()
        self.calls: Sent = {}  # to nodes of whom it is not known who or whether they are
        self.called: dict[int, float] = {}  # when to ask each of those again
        self.failed: set[int] = set()  # that could not say
        self.silent: set[int] = set()  # clients that did not answer in time
        self.tasks: dict[int, Task] = {}

    def tell(self, sentence: str) -> None:
        """What somebody should know, in Flower's log and beside the result."""
        sentence = f"{' '.join(sentence.split()):.{TOLD}}"
        log.warning("%s", sentence)
        path = self.journal.folder.path / EVENTS
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as events:
            events.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {sentence}\n")

    def summary(self) -> None:
        study = self.journal.study
        log.info("%s, %d clients, budget %g a round", study.policies[0], study.clients, study.budget)

    # --- who is there --------------------------------------------------------------------------------------

    def gather(self, grid: Grid) -> None:
        """Wait for all clients, but not for longer than the patience."""
        until = time.monotonic() + self.patience
        self._call(grid)
        while away := [m for m in range(self.journal.study.clients) if m not in self.nodes]:
            if time.monotonic() > until:
                self.tell(f"begun without client {', '.join(map(str, away))}")
                return
            time.sleep(POLL)
            self._call(grid)

    def _call(self, grid: Grid) -> None:
        """Ask nodes that are new or silent who they are, and hear what they have answered meanwhile."""
        for node, reply in answers(grid, self.calls):
            if reply.has_error():
                self._not_introduced(node, _why(reply))
            else:
                self._introduced(node, reply)
        there, now = set(grid.get_node_ids()), time.monotonic()
        self.refused &= there  # who comes anew may have learnt
        known = {node for m, node in self.nodes.items() if m not in self.silent}
        unknown = [n for n in sorted(there - known - self.refused) if now >= self.called.get(n, 0)]
        self.called.update(dict.fromkeys(unknown, now + self.patience))
        questions = [
            Message(RecordDict(), dst_node_id=node, message_type=MessageType.QUERY) for node in unknown
        ]
        self.calls = {n: m for n, m in self.calls.items() if m.metadata.dst_node_id not in unknown}
        self.calls.update(send(grid, questions))

    def _not_introduced(self, node: int, reason: str) -> None:
        self.called[node] = time.monotonic() + AGAIN
        if node not in self.failed:
            self.failed.add(node)
            self.tell(f"node {node} could not say which client it is, and is asked again: {reason}")

    def _introduced(self, node: int, reply: Message) -> None:
        self.called.pop(node, None)
        try:
            client = who(reply.content, self.journal.study.clients)
            if self.nodes.get(client, node) != node:
                raise SettingError(f"it says it is client {client}, which another node is")
            before = next((m for m, other in self.nodes.items() if other == node), client)
            if before != client:
                raise SettingError(f"it says it is client {client}, and was client {before}")
        except SettingError as error:
            self.tell(f"node {node} takes no part: {error}")
            self.refused.add(node)
            return
        self.nodes[client] = node
        if client in self.silent:
            self.silent.discard(client)
            self.tell(f"client {client} is back")

    # --- a round -------------------------------------------------------------------------------------------

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Every client's own order. Flower counts its rounds from 1 at every start; the journal knows better."""
        self._call(grid)
        journal = self.journal
        own = journal.study.of_policy(journal.study.policies[0])
        grants, holdings = journal.decide(), journal.holdings
        self.tasks = {}
        for m, node in sorted(self.nodes.items()):
            if m in self.silent:
                continue
            limits = (holdings.retention[m], holdings.capacity[m], holdings.booked[m])
            order = Order(journal.done + 1, int(grants[m]), *limits)
            classes = journal.problem.population.classes
            self.tasks[node] = Task(
                journal.token,
                order,
                own.steps,
                journal.controller.eta,
                own.momentum,
                classes,
                journal.parameters,
                journal.controller.listens,
                journal.mean_to_test,
            )
        if not self.tasks:
            raise SettingError(f"no client is there in round {journal.done + 1}")
        return [
            Message(task.content(), dst_node_id=node, message_type=MessageType.TRAIN)
            for node, task in self.tasks.items()
        ]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """In the order of the clients, whoever came first."""
        clients = {node: m for m, node in self.nodes.items()}
        answered = {reply.metadata.src_node_id: reply for reply in replies}
        accepted: dict[int, Reply] = {}
        for node, task in self.tasks.items():
            m, t = clients[node], task.order.round
            try:
                accepted[m] = self._checked(m, answered.get(node), task)
            except SettingError as error:
                self.tell(f"round {t} goes on without client {m}: {error}")
        if not accepted:
            raise SettingError(
                f"no client took part in round {self.journal.done + 1}: see that they run, then go on from the result"
            )
        measured = self.journal.book(
            {m: reply.account for m, reply in accepted.items()},
            {m: reply.moved for m, reply in accepted.items()},
            {m: reply.loss for m, reply in accepted.items()},
        )
        found: dict[str, Any] = {
            "clients": len(accepted),
            "spent": self.journal.controller.books.spent,
            **measured,
        }
        return _arrays(self.journal), MetricRecord(found)

    def _checked(self, client: int, message: Message | None, task: Task) -> Reply:
        """What a client says, if it says something that can be true."""
        if message is None:
            self.silent.add(client)
            raise SettingError(f"no answer in {self.patience:g} s")
        if message.has_error():
            if message.error.code == GONE:
                self.silent.add(client)
            raise SettingError(f"it failed ({_why(message)})")
        reply = Reply.read(message.content, task)
        if reply.client != client:
            del self.nodes[client]  # to be asked who it is
            raise SettingError(f"it answers as client {reply.client}")
        self.journal.check(client, reply.account)
        return reply

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Nothing: the server measures on its own data."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        return None


def _why(reply: Message) -> str:
    return f"{' '.join((reply.error.reason or 'it did not say why').split()):.200}"


def _arrays(journal: Journal) -> ArrayRecord:
    return ArrayRecord({"theta": Array(journal.parameters)})


# --- the app -----------------------------------------------------------------------------------------------


def server_app(study: Study, *, dataset: Any = None, model: Any = None) -> ServerApp:
    """The server's side of a Flower app. Its run config says where the `result` is, which is continued if there is
    one, where the data are (`data-dir`), and how many seconds a round waits for its clients (`patience`)."""
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        config = context.run_config
        out = Path(str(config["result"]))
        data_dir = Path(str(config["data-dir"])) if config.get("data-dir") else None
        own = {"dataset": dataset, "model": model}
        stopped = out / STOPPED
        if not (out / SETTINGS).exists():
            prepare(federated(study), out, data_dir, **own)
        try:
            with Journal.open(out, data_dir, **own) as journal:
                stopped.unlink(missing_ok=True)
                if HandedOver(dataset, model).named(federated(study)) != journal.study:
                    raise SettingError(
                        f"the study of this app is not that of the result {str(out)!r}: give another result, or put "
                        "the study back"
                    )
                strategy = Admission(journal, float(config.get("patience", PATIENCE)))
                if not journal.finished:
                    strategy.gather(grid)
                    left = journal.study.rounds - journal.done
                    prompt: Any = Prompt(grid)
                    strategy.start(prompt, _arrays(journal), num_rounds=left, timeout=strategy.patience)
                if not journal.folder.finished:
                    journal.finish()
        except Busy:
            raise  # the folder is another's
        except Exception as error:
            sentence = str(error) if isinstance(error, SettingError) else f"{type(error).__name__}: {error}"
            stopped.parent.mkdir(parents=True, exist_ok=True)
            stopped.write_text(f"{' '.join(sentence.split()):.{TOLD}}\n", encoding="utf-8")
            raise

    return app
