"""Messages to nodes, and their answers. Whose answer it is says the server's own list and never the answer itself, and
one that cannot be read costs nobody but its sender."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

__all__ = ["GONE", "POLL", "Prompt", "answers", "send"]

GONE = ErrorCode.NODE_UNAVAILABLE
POLL, EACH, LOOK = (
    0.2,
    0.02,
    5.0,
)  # seconds between two looks for answers, for each awaited one, and at who is there

Sent = dict[str, Message]


def send(grid: Grid, messages: Iterable[Message]) -> Sent:
    """Send; returns the messages that got through, by their numbers."""
    asked = list(messages)
    names = list(grid.push_messages(asked)) if asked else []
    return {name: message for name, message in zip(names, asked, strict=True) if name}


def answers(grid: Grid, sent: Sent) -> Iterator[tuple[int, Message]]:
    """The answers that are there, each with its node; what they answer is no longer in `sent`.

    One at a time: Flower reads what a client has sent without a net, and forgets the others of a batch.
    """
    for name, message in list(sent.items()):
        try:
            found = list(grid.pull_messages([name]))
        except httpx.HTTPError:
            raise  # the server itself does not answer
        except Exception as error:
            found = [_failed(message, f"an answer that cannot be read, {type(error).__name__}")]
        if found:
            del sent[name]
            yield message.metadata.dst_node_id, found[0]


def _failed(message: Message, reason: str, code: int = ErrorCode.UNKNOWN) -> Message:
    return Message(Error(code, reason), reply_to=message)


class Prompt:
    """A grid that looks for answers more often than Flower's own, which does every 3 s, and that does not wait for
    nodes of which the server knows that they are gone."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """The answers that come in time, each under the name of the node that was asked."""
        until = None if timeout is None else time.monotonic() + timeout
        sent, found = send(self._grid, messages), list[Message]()
        looked = time.monotonic()
        while sent:
            for node, reply in answers(self._grid, sent):
                reply.metadata.__dict__["_src_node_id"] = node
                found.append(reply)
            now = time.monotonic()
            if until is not None and now > until:
                break
            if now - looked > LOOK:
                looked, there = now, set(self._grid.get_node_ids())
                gone = [name for name, message in sent.items() if message.metadata.dst_node_id not in there]
                for name in gone:
                    message = sent.pop(name)
                    reply = _failed(message, "it is gone", GONE)
                    reply.metadata.__dict__["_src_node_id"] = message.metadata.dst_node_id
                    found.append(reply)
            if sent:
                time.sleep(max(POLL, EACH * len(sent)))
        return found
