"""A federation of real processes under a test: started as `acdpp federate` does, with clients that can be told to
misbehave."""

import json
import os
import signal
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from empirics.federation.app_folder import write_app
from empirics.federation.journal import prepare
from empirics.federation.processes import Federation, Place, federation
from empirics.records.folder import read_settings

CLIENT = """\
from pathlib import Path

from empirics.federation.app_folder import study_file
from tests.empirics.federation.rogue import app_of

app = app_of(study_file(Path(__file__).with_name("study.toml")))
"""
LONG = 300  # seconds for anything at all


def until(what, limit=LONG):
    """Wait for something to be so."""
    end = time.monotonic() + limit
    while not (found := what()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)
    return found


@dataclass
class Trial:
    """A running federation and its result."""

    running: Federation
    out: Path
    run: int

    @property
    def done(self):
        return int(read_settings(self.out)["progress"]["done"])

    @property
    def finished(self):
        return read_settings(self.out)["progress"]["summary_sha256"] is not None

    def home(self, client):
        return self.running.place.client(client)

    def wait(self):
        """Until the run is over, however it ended."""
        until(lambda: self.finished or self.running.operator.state(self.run).over)

    def told(self):
        """What the server had to tell."""
        events = self.out / "federation" / "events.log"
        return events.read_text() if events.exists() else ""

    def kill(self, client):
        """The node and what it has started, by -9: no chance to say a word."""
        node = self.running.nodes[client]
        os.killpg(node.pid, signal.SIGKILL)
        node.wait()
        with_it = self.home(client) / "hanging"
        if with_it.exists():
            with_pid = int(with_it.read_text())
            with_it.unlink()
            with suppress(ProcessLookupError):
                os.kill(with_pid, signal.SIGKILL)


@contextmanager
def trial(study, out, *, patience=60, rogues=None):
    """A federation of a study, or the same again if there is one: processes end with the context."""
    place = Place.of_result(out)
    if not out.exists():
        prepare(study, out)
        write_app(place.app, study, result=str(out), patience=patience)
        (place.app / "acdpp_app" / "client.py").write_text(CLIENT)
    for client in range(study.clients):
        told = place.client(client) / "rogue.json"
        told.parent.mkdir(parents=True, exist_ok=True)
        told.write_text(json.dumps((rogues or {}).get(client, {})))
    with federation(place, study.clients) as running:
        yield Trial(running, out, running.operator.start(place.app))
