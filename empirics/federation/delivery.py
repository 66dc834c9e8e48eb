"""Sending messages to nodes and polling for their replies. The sender of a reply is known from the server's own list,
never from the reply itself, and an unreadable reply excludes only its sender."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

__all__ = ["NODE_GONE", "POLL_SECONDS", "PollingGrid", "Sent", "replies_so_far", "send"]

NODE_GONE = ErrorCode.NODE_UNAVAILABLE
POLL_SECONDS = 0.2  # between two looks for replies, at least
POLL_SECONDS_PER_REPLY = 0.02  # for each reply that is awaited
NODES_SECONDS = 5.0  # between two looks at the connected nodes

Sent = dict[str, Message]


def send(grid: Grid, messages: Iterable[Message]) -> Sent:
    """Send; returns the messages that were accepted, by their ids."""
    asked = list(messages)
    names = list(grid.push_messages(asked)) if asked else []
    return {name: message for name, message in zip(names, asked, strict=True) if name}


def replies_so_far(grid: Grid, sent: Sent) -> Iterator[tuple[int, Message]]:
    """The replies that have arrived, each with its node; their messages are removed from `sent`.

    They are pulled one by one: an unreadable reply makes Flower lose the whole batch.
    """
    for name, message in list(sent.items()):
        try:
            found = next(iter(grid.pull_messages([name])), None)
        except httpx.HTTPError:
            raise  # the server itself does not answer
        except Exception as error:
            found = _failed(message, f"unreadable reply, {type(error).__name__}")
        if found is not None:
            del sent[name]
            yield message.metadata.dst_node_id, found


def _failed(message: Message, reason: str, code: int = ErrorCode.UNKNOWN) -> Message:
    return Message(Error(code, reason), reply_to=message)


class PollingGrid:
    """A grid that polls more often than Flower's, which does every 3 s, and does not wait for disconnected nodes."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        """The replies that come in time, each under the id of the node that was asked."""
        until = None if timeout is None else time.monotonic() + timeout
        sent, found = send(self._grid, messages), list[Message]()
        looked = time.monotonic()

        def take(node: int, reply: Message) -> None:
            reply.metadata.__dict__["_src_node_id"] = node
            found.append(reply)

        while sent:
            for node, reply in replies_so_far(self._grid, sent):
                take(node, reply)
            now = time.monotonic()
            if until is not None and now > until:
                break
            if now - looked > NODES_SECONDS:
                looked, connected = now, set(self._grid.get_node_ids())
                for name, message in list(sent.items()):
                    if (node := message.metadata.dst_node_id) not in connected:
                        del sent[name]
                        take(node, _failed(message, "it is gone", NODE_GONE))
            if sent:
                time.sleep(max(POLL_SECONDS, POLL_SECONDS_PER_REPLY * len(sent)))
        return found
