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

from empirics.federation.books import Books, federated, prepare
from empirics.federation.memory import Order
from empirics.federation.records import Reply, Task, who
from empirics.records.folder import SETTINGS
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["Admission", "server_app"]

PATIENCE = 600.0
POLL, LOOK = 0.2, 5.0  # seconds between two looks for answers, and at who is there
STOPPED, EVENTS = (Path("federation") / name for name in ("stopped.txt", "events.log"))
log = logging.getLogger("flwr")


def _sent(grid: Grid, messages: Iterable[Message]) -> dict[str, int]:
    """Send, and return whose answers are to be awaited: the nodes, by the numbers of the messages that got through."""
    asked = list(messages)
    names = list(grid.push_messages(asked)) if asked else []
    return {name: m.metadata.dst_node_id for name, m in zip(names, asked, strict=True) if name}


class Prompt:
    """A grid that looks for answers more often than Flower's own, which does every 3 s, and that does not wait for
    nodes of which the server knows that they are gone."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """The answers that come in time."""
        until = None if timeout is None else time.monotonic() + timeout
        waiting, found = _sent(self._grid, messages), list[Message]()
        looked = time.monotonic()
        while waiting:
            for reply in self._grid.pull_messages(list(waiting)):
                waiting.pop(reply.metadata.reply_to_message_id, None)
                found.append(reply)
            now = time.monotonic()
            if until is not None and now > until:
                break
            if now - looked > LOOK:
                looked, there = now, set(self._grid.get_node_ids())
                waiting = {name: node for name, node in waiting.items() if node in there}
            if waiting:
                time.sleep(POLL)
        return found


class Admission(Strategy):
    """Rounds by the books. Which node is which client is asked once; of two that claim to be the same, the first is
    believed for as long as the federation runs."""

    def __init__(self, books: Books, patience: float = PATIENCE) -> None:
        self.books, self.patience = books, patience
        self.nodes: dict[int, int] = {}  # of clients
        self.refused: set[int] = set()
        self.calls: dict[str, int] = {}  # to nodes of whom it is not known who or whether they are
        self.silent: set[int] = set()  # clients that did not answer in time
        self.tasks: dict[int, Task] = {}

    def tell(self, sentence: str) -> None:
        """What somebody should know, in Flower's log and beside the result."""
        log.warning("%s", sentence)
        path = self.books.folder.path / EVENTS
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as events:
            events.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {sentence}\n")

    def summary(self) -> None:
        study = self.books.study
        log.info("%s, %d clients, budget %g a round", study.policies[0], study.clients, study.budget)

    # --- who is there --------------------------------------------------------------------------------------

    def gather(self, grid: Grid) -> None:
        """Wait for all clients, but not for longer than the patience."""
        until = time.monotonic() + self.patience
        self._call(grid)
        while away := [m for m in range(self.books.study.clients) if m not in self.nodes]:
            if time.monotonic() > until:
                self.tell(f"begun without client {', '.join(map(str, away))}")
                return
            time.sleep(POLL)
            self._call(grid)

    def _call(self, grid: Grid) -> None:
        """Ask nodes that are new or silent who they are, and hear what they have answered meanwhile."""
        if self.calls:
            for reply in grid.pull_messages(list(self.calls)):
                node = self.calls.pop(reply.metadata.reply_to_message_id)
                if reply.has_error():
                    continue  # it is asked again
                self._introduced(node, reply)
        known = {node for m, node in self.nodes.items() if m not in self.silent}
        waiting = set(self.calls.values())
        there = [n for n in grid.get_node_ids() if n not in known | self.refused | waiting]
        questions = [
            Message(RecordDict(), dst_node_id=node, message_type=MessageType.QUERY) for node in there
        ]
        self.calls.update(_sent(grid, questions))

    def _introduced(self, node: int, reply: Message) -> None:
        try:
            client = who(reply.content, self.books.study.clients)
            if self.nodes.get(client, node) != node:
                raise SettingError(f"it says it is client {client}, which another node is")
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
        """Every client's own order. Flower counts its rounds from 1 whenever a server begins; the books know better."""
        self._call(grid)
        books = self.books
        own = books.study.of_policy(books.study.policies[0])
        grants, ledger = books.decide(), books.ledger
        self.tasks = {}
        for m, node in sorted(self.nodes.items()):
            if m in self.silent:
                continue
            limits = (ledger.retention[m], ledger.capacity[m], ledger.booked[m])
            order = Order(books.done + 1, int(grants[m]), *limits)
            classes = books.problem.population.classes
            self.tasks[node] = Task(
                books.token, order, own.steps, float(own.eta), own.momentum, classes, books.parameters
            )
        if not self.tasks:
            raise SettingError(f"no client is there in round {books.done + 1}")
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
            reply = answered.get(node)
            if reply is None:
                self.silent.add(m)
                self.tell(f"round {t} goes on without client {m}: no answer in {self.patience:g} s")
            elif reply.has_error():
                self.tell(
                    f"round {t} goes on without client {m}: it failed ({_first_line(reply.error.reason)})"
                )
            else:
                try:
                    accepted[m] = self._checked(m, reply, task)
                except SettingError as error:
                    self.tell(f"round {t} goes on without client {m}: {error}")
        if not accepted:
            raise SettingError(
                f"no client took part in round {self.books.done + 1}: see that they run, then go on from the result"
            )
        measured = self.books.book(
            {m: reply.account for m, reply in accepted.items()},
            {m: reply.moved for m, reply in accepted.items()},
        )
        found: dict[str, Any] = {
            "clients": len(accepted),
            "spent": self.books.controller.books.spent,
            **measured,
        }
        return _arrays(self.books), MetricRecord(found)

    def _checked(self, client: int, message: Message, task: Task) -> Reply:
        reply = Reply.read(message.content, task)
        if reply.client != client:
            raise SettingError(f"it answers as client {reply.client}")
        self.books.check(client, reply.account)
        return reply

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Nothing: the server measures on its own data."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        return None


def _first_line(reason: str | None) -> str:
    return f"{' '.join((reason or 'it did not say why').split()):.200}"


def _arrays(books: Books) -> ArrayRecord:
    return ArrayRecord({"theta": Array(books.parameters)})


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
        stopped.unlink(missing_ok=True)
        try:
            if not (out / SETTINGS).exists():
                prepare(federated(study), out, data_dir, **own)
            with Books.open(out, data_dir, **own) as books:
                strategy = Admission(books, float(config.get("patience", PATIENCE)))
                if not books.finished:
                    strategy.gather(grid)
                    left = books.study.rounds - books.done
                    prompt: Any = Prompt(grid)
                    strategy.start(prompt, _arrays(books), num_rounds=left, timeout=strategy.patience)
                if not books.folder.finished:
                    books.finish()
        except SettingError as error:
            stopped.parent.mkdir(parents=True, exist_ok=True)
            stopped.write_text(f"{error}\n", encoding="utf-8")
            raise

    return app
