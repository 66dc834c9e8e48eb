"""A client that hangs or crashes in the round that `rogue.json` beside its samples names, as in `{"hangs": 3}`. It
imports little, since it starts in every round."""

import json
import os
import time
from pathlib import Path

from flwr.clientapp import ClientApp

from empirics.federation.client import client_app


class Rogue(ClientApp):
    """The real client, except that it may hang or crash after its samples are saved."""

    def __init__(self, study):
        super().__init__()
        self.honest = client_app(study)

    def __call__(self, message, context):
        home = Path(str(context.node_config["buffer"])).parent
        reply = self.honest(message, context)
        if message.metadata.message_type == "train":
            t = message.content["config"]["round"]
            (home / f"did-{t}").touch()
            faults = json.loads((home / "rogue.json").read_text())
            if t == faults.get("crashes"):
                os._exit(9)
            if t == faults.get("hangs"):
                (home / "hanging").write_text(str(os.getpid()))
                time.sleep(600)
        return reply
