"""A client that can be told to misbehave: by `rogue.json` beside the folder of its samples, as in
`{"round": 3, "do": "hang"}`. For federations of real processes, whose app is `app_of(study)`."""

import json
import os
import time
from pathlib import Path

from flwr.app import Array, ArrayRecord, Message
from flwr.clientapp import ClientApp

from empirics.federation.client import client_app


class Rogue(ClientApp):
    """The true client, but for what it is told."""

    def __init__(self, honest: ClientApp) -> None:
        super().__init__()
        self.honest = honest

    def __call__(self, message, context):
        home = Path(str(context.node_config["buffer"])).parent
        told = home / "rogue.json"
        order = json.loads(told.read_text()) if told.exists() else {}
        train = message.metadata.message_type == "train"
        now = train and message.content["config"]["round"] == order.get("round")
        reply = self.honest(message, context)
        if train:
            (home / f"did-{message.content['config']['round']}").touch()
        return LIES[order["do"]](reply, message, home) if now else reply


def hang(reply, message, home):
    """With its samples drawn and saved, and nothing said."""
    (home / "hanging").write_text(str(os.getpid()))
    time.sleep(600)


def greedy(reply, message, home):
    reply.content["metrics"]["delivered"] += 5
    return reply


def not_a_number(reply, message, home):
    return _moved(reply, lambda array: array * float("nan"))


def another_shape(reply, message, home):
    return _moved(reply, lambda array: array[:-1])


def replay(reply, message, home):
    """What it said is said again a round later."""
    reply.content["metrics"]["round"] -= 1
    return reply


def crash(reply, message, home):
    os._exit(9)


def _moved(reply: Message, change) -> Message:
    array = reply.content["arrays"]["moved"].numpy()
    reply.content["arrays"] = ArrayRecord({"moved": Array(change(array))})
    return reply


LIES = {one.__name__: one for one in (hang, greedy, not_a_number, another_shape, replay, crash)}


def app_of(study):
    return Rogue(client_app(study))
