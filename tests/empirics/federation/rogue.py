"""A client that misbehaves as `rogue.json` beside its samples says, as in `{"round": 3, "do": "hang"}`. It imports
little, since it starts in every round."""

import json
import os
import time
from pathlib import Path

from flwr.clientapp import ClientApp

from empirics.federation.client import client_app


class Rogue(ClientApp):
    """The real client, except that it may hang after its samples are saved, or crash."""

    def __init__(self, study):
        super().__init__()
        self.honest = client_app(study)

    def __call__(self, message, context):
        home = Path(str(context.node_config["buffer"])).parent
        told = home / "rogue.json"
        order = json.loads(told.read_text()) if told.exists() else {}
        reply = self.honest(message, context)
        if message.metadata.message_type != "train":
            return reply
        t = message.content["config"]["round"]
        (home / f"did-{t}").touch()
        match order.get("do") if t == order.get("round") else None:
            case "hang":
                (home / "hanging").write_text(str(os.getpid()))
                time.sleep(600)
            case "crash":
                os._exit(9)
        return reply
