"""The server of a federation: a Flower strategy whose rounds are decided by a policy of this project.

A round asks the policy at the current price, sends every client its order, waits, and books the replies. Absent, late
or invalid clients take no part in the round: their grants are neither counted nor paid, and they are asked again in the
next round.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Strategy

from empirics.federation.app_folder import ROUND_WAIT_SECONDS, FederationFolder
from empirics.federation.client_memory import Order
from empirics.federation.delivery import NODE_GONE, POLL_SECONDS, PollingGrid, Sent, replies_so_far, send
from empirics.federation.messages import Reply, Task, answers_of, introduced_client
from empirics.federation.server_state import ServerState, federated, prepare
from empirics.overrides import HandedOver
from empirics.results.folder import SETTINGS, Busy
from empirics.settings.study import Study
from empirics.training.questions import Answer, Question
from theory.setting import SettingError

__all__ = ["Admission", "server_app"]

INTRODUCTION_RETRY_SECONDS = 10.0  # after a node failed to give its client id
SENTENCE_LETTERS_MAX = 400  # parts may come from clients
log = logging.getLogger("flwr")


class Admission(Strategy):
    """Rounds on a server's state. A node is asked for its client id once; of two nodes with one client id the first is
    accepted for as long as it is connected."""

    def __init__(self, state: ServerState, patience: float = ROUND_WAIT_SECONDS) -> None:
        self.state, self.patience = state, patience
        self.nodes: dict[int, int] = {}  # by client
        self.refused: set[int] = set()  # nodes
        self.calls: Sent = {}  # questions to nodes whose client id is unknown, or that were silent
        self.called: dict[int, float] = {}  # the earliest time of the next question, by node
        self.failed: set[int] = set()  # nodes that could not give a client id
        self.silent: set[int] = set()  # clients that did not answer in time
        self.tasks: dict[int, Task] = {}
        self.grid: Grid | None = None
        self.warned = False

    def tell(self, sentence: str) -> None:
        """Write a sentence into Flower's log and into the result's event log."""
        sentence = f"{' '.join(sentence.split()):.{SENTENCE_LETTERS_MAX}}"
        log.warning("%s", sentence)
        path = FederationFolder.of_result(self.state.folder.path).events
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as events:
            events.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {sentence}\n")

    def summary(self) -> None:
        study = self.state.study
        log.info("%s, %d clients, budget %g per round", *study.policies, study.clients, study.budget)

    def gather(self, grid: Grid) -> None:
        """Wait for all clients, at most for the patience."""
        until = time.monotonic() + self.patience
        self._call(grid)
        while away := [m for m in range(self.state.study.clients) if m not in self.nodes]:
            if time.monotonic() > until:
                self.tell(f"started without client {', '.join(map(str, away))}")
                return
            time.sleep(POLL_SECONDS)
            self._call(grid)

    def _call(self, grid: Grid) -> None:
        """Ask new and silent nodes for their client ids, and read the answers to earlier questions."""
        for node, reply in replies_so_far(grid, self.calls):
            if reply.has_error():
                self.called[node] = time.monotonic() + INTRODUCTION_RETRY_SECONDS
                if node not in self.failed:
                    self.failed.add(node)
                    self.tell(f"node {node} did not give its client id, and is asked again: {_why(reply)}")
            else:
                self._introduced(node, reply)
        there, now = set(grid.get_node_ids()), time.monotonic()
        self.refused &= there  # a node that reconnects may be repaired
        known = {node for m, node in self.nodes.items() if m not in self.silent}
        unknown = [n for n in there - known - self.refused if now >= self.called.get(n, 0)]
        self.called.update(dict.fromkeys(unknown, now + self.patience))
        questions = [Message(RecordDict(), dst_node_id=n, message_type=MessageType.QUERY) for n in unknown]
        self.calls = {n: m for n, m in self.calls.items() if m.metadata.dst_node_id not in unknown}
        self.calls.update(send(grid, questions))

    def _introduced(self, node: int, reply: Message) -> None:
        self.called.pop(node, None)
        try:
            client = introduced_client(reply.content, self.state.study.clients)
            if self.nodes.get(client, node) != node:
                raise SettingError(f"it claims to be client {client}, which another node is")
            before = next((m for m, other in self.nodes.items() if other == node), client)
            if before != client:
                raise SettingError(f"it claims to be client {client}, and was client {before}")
        except SettingError as error:
            self.tell(f"node {node} takes no part: {error}")
            self.refused.add(node)
            return
        self.nodes[client] = node
        if client in self.silent:
            self.silent.discard(client)
            self.tell(f"client {client} is back")

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Every client's order. Flower counts rounds from 1 at every start; the state has the true number."""
        self._call(grid)
        state, self.grid = self.state, grid
        own = state.study.of_policy(state.controller.name)
        grants, accounts, questions = state.decide(), state.accounts, state.questions()
        eta = 0.0 if questions else state.controller.eta
        settings = (own.steps, eta, own.momentum, state.problem.population.classes)
        models = (state.parameters, state.controller.listens, state.mean_to_test)
        self.tasks = {}
        for m, node in sorted(self.nodes.items()):
            if m not in self.silent:
                limits = (accounts.retention[m], accounts.capacity[m], accounts.booked[m])
                order = Order(state.done + 1, int(grants[m]), *limits)
                inquiry = state.inquiry(m, questions) if questions else None
                self.tasks[node] = Task(state.token, order, *settings, *models, inquiry)
        if not self.tasks:
            raise SettingError(f"no client is connected in round {state.done + 1}")
        return [
            Message(task.content(), dst_node_id=node, message_type=MessageType.TRAIN)
            for node, task in self.tasks.items()
        ]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Book the valid replies, in the order of the clients."""
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
                f"no client took part in round {self.state.done + 1}: see that they run, then continue the result"
            )
        self._warn_of_few(accepted)
        asked = dict(sorted(accepted.items()))
        measured = self.state.book(accepted, lambda questions: self._further(asked, questions))
        found: dict[str, Any] = {"clients": len(accepted), "spent": self.state.controller.books.spent}
        return first_arrays(self.state), MetricRecord(found | measured)

    def _further(self, asked: dict[int, Reply], questions: list[Question]) -> list[list[Answer]]:
        """Answers to further questions of those clients of a round that have such samples. A client that fails is left
        out for the rest of the round, which goes on with the sums of the others."""
        assert self.grid is not None
        t, kinds = self.state.done + 1, {question.samples for question in questions}
        messages, inquiries = [], {}
        for m, reply in asked.items():
            if any(reply.report.counted[kind] for kind in kinds):
                inquiries[m] = self.state.inquiry(m, questions)
                content = inquiries[m].content()
                messages.append(Message(content, dst_node_id=self.nodes[m], message_type="query.sums"))
        replies = self.grid.send_and_receive(messages, timeout=self.patience)
        answered = {reply.metadata.src_node_id: reply for reply in replies}
        found = []
        for m, inquiry in inquiries.items():
            try:
                content = self._arrived(m, answered.get(self.nodes[m]))
                found.append(answers_of(content, inquiry, asked[m].report))
            except SettingError as error:
                del asked[m]
                self.tell(f"round {t} goes on without further sums of client {m}: {error}")
        return found

    def _warn_of_few(self, replies: Mapping[int, Reply]) -> None:
        """Say once that sums over fewer samples than features give samples away."""
        for m, reply in sorted(replies.items()):
            counts = [one["count"][0] for one in reply.answers or [] if "gradients" in one]
            inquiry = self.tasks[self.nodes[m]].inquiry
            if self.warned or inquiry is None or not counts:
                continue
            few = round(min(counts) / inquiry.weight)
            if few < inquiry.features:
                self.warned = True
                self.tell(
                    f"client {m} sends sums over few samples, {few}, and there are {inquiry.features} features: "
                    "samples can be computed from them, and clients trust this server as if they sent samples (said "
                    "once)"
                )

    def _checked(self, client: int, message: Message | None, task: Task) -> Reply:
        """A client's reply, unless it is missing, failed or invalid."""
        reply = Reply.read(self._arrived(client, message), task)
        if reply.client != client:
            del self.nodes[client]  # its node is asked for its client id again
            raise SettingError(f"it answers as client {reply.client}")
        self.state.accounts.check(client, task.order.grant, reply.report)
        return reply

    def _arrived(self, client: int, message: Message | None) -> RecordDict:
        """The content of a message, unless it is missing or its client failed."""
        if message is None:
            self.silent.add(client)
            raise SettingError(f"no reply in {self.patience:g} s")
        if message.has_error():
            if message.error.code == NODE_GONE:
                self.silent.add(client)
            raise SettingError(f"it failed ({_why(message)})")
        return message.content

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """No messages: the server measures on its own data."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        return None


def _why(reply: Message) -> str:
    return f"{' '.join((reply.error.reason or 'no reason given').split()):.200}"


def first_arrays(state: ServerState) -> ArrayRecord:
    """The parameters as Flower starts and ends a round with them."""
    return ArrayRecord({"theta": Array(state.parameters)})


def server_app(study: Study, *, dataset: Any = None, model: Any = None) -> ServerApp:
    """The server's side of a Flower app. Its run config has the `result` folder, which is continued if it exists, the
    folder of the data (`data-dir`), and the seconds that a round waits for its clients (`patience`)."""
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        config = context.run_config
        out = Path(str(config["result"]))
        data_dir = Path(str(config["data-dir"])) if config.get("data-dir") else None
        own = {"dataset": dataset, "model": model}
        stopped = FederationFolder.of_result(out).stopped
        if not (out / SETTINGS).exists():
            prepare(federated(study), out, data_dir, **own)
        try:
            with ServerState.open(out, data_dir, **own) as state:
                stopped.unlink(missing_ok=True)
                if HandedOver(dataset, model).named(federated(study)) != state.study:
                    raise SettingError(
                        f"the study of this app differs from that of the result {str(out)!r}: give another result, or "
                        "restore the study"
                    )
                strategy = Admission(state, float(config.get("patience", ROUND_WAIT_SECONDS)))
                if not state.finished:
                    strategy.gather(grid)
                    left = state.study.rounds - state.done
                    polling: Any = PollingGrid(grid)
                    strategy.start(polling, first_arrays(state), num_rounds=left, timeout=strategy.patience)
                if not state.folder.finished:
                    state.finish()
        except Busy:
            raise  # another process has the folder
        except Exception as error:
            sentence = str(error) if isinstance(error, SettingError) else f"{type(error).__name__}: {error}"
            stopped.parent.mkdir(parents=True, exist_ok=True)
            stopped.write_text(f"{' '.join(sentence.split()):.{SENTENCE_LETTERS_MAX}}\n", encoding="utf-8")
            raise

    return app
