"""A small study, and an office in this process: what is asked and answered goes by post, as elsewhere, and workers can
be lost."""

import json
import pickle
from contextlib import contextmanager
from unittest import mock

from empirics.shards.crew import Lost
from empirics.shards.shard import Worker
from tests.empirics.small import blobs_file, study

MIXED = ("constant", "acdpp", "oracle@eta=0.1,steps=3,decay=4", "buy-cheap-online@average=equal")
FILES = ("rounds.parquet", "summary.json", "state-*.npz")


def small(**given):
    few = {"rounds": 7, "checkpoint": 3, "seeds": 4, "policies": MIXED, "predict": False, "steps": 2}
    plain = {"radius": None, "measures": ("risk", "mismatch"), "V": 3.0, "rho": 0.7}
    return study(dataset=blobs_file(), **few | plain | given)


def done(folder):
    """Rounds that are saved."""
    return json.loads((folder / "settings.json").read_text())["progress"]["done"]


def files(folder):
    """All that a study found, byte by byte."""
    return {path.name: path.read_bytes() for name in FILES for path in folder.glob(name)}


class Desk:
    """Workers are objects; the calls that are counted in `losing` find theirs lost, and workers counted in `saying` say
    something else of themselves."""

    def __init__(self, shards, losing=(), saying=()):
        self.shards, self.losing, self.calls, self.played = shards, losing, 0, 0
        self.hired, self.answers, self.saying = [], [], dict(saying)

    def shared(self, thing):
        return pickle.dumps(thing)

    def hire(self, *, again):
        self.hired.append({"worker": Worker(), "alive": True, "number": len(self.hired) + 1})
        return self.hired[-1]

    def ask(self, worker, what, *given):
        return {"worker": worker, "what": what, "given": pickle.dumps(given)}

    def wait(self, tickets):
        return len(tickets) - 1  # the last of all is ready first

    def answer(self, ticket):
        worker = ticket["worker"]
        self.calls += 1
        if self.calls in self.losing:
            worker["alive"] = False
        if not worker["alive"]:
            raise Lost("it was killed")
        given = [
            pickle.loads(one) if isinstance(one, bytes) else one for one in pickle.loads(ticket["given"])
        ]
        self.played += len(given[0].cost) if ticket["what"] == "play" else 0
        found = getattr(worker["worker"], ticket["what"])(*given)
        if ticket["what"] == "make" and worker["number"] in self.saying:
            found = self.saying[worker["number"]](found)
        self.answers.append((ticket["what"], found))
        return pickle.loads(pickle.dumps(found))

    def fire(self, worker):
        worker["alive"] = False


@contextmanager
def at_desk(desk):
    """Whoever asks for Ray comes here."""

    @contextmanager
    def opened(on, study, device, shards):
        yield desk

    try:
        with mock.patch("empirics.shards.on_ray.opened", opened):
            yield desk
    finally:  # also where something was refused
        assert not [one for one in desk.hired if one["alive"]]
