"""A small study, and workers in this process that can be lost; their calls and answers are pickled, as elsewhere."""

import json
import pickle
from contextlib import contextmanager
from unittest import mock

from empirics.shards.shard import Worker
from empirics.shards.workers import WorkerLost
from tests.empirics.small import blobs_file, study

MIXED = ("constant", "acdpp", "oracle@eta=0.1,steps=3,decay=4", "buy-cheap-online@average=equal")
FILES = ("rounds.parquet", "summary.json", "state-*.npz")


def small(**given):
    few = {"rounds": 7, "checkpoint": 3, "seeds": 4, "policies": MIXED, "predict": False, "steps": 2}
    plain = {"radius": None, "measures": ("risk", "mismatch"), "V": 3.0, "rho": 0.7}
    return study(dataset=blobs_file(), **few | plain | given)


def done(folder):
    """The number of saved rounds."""
    return json.loads((folder / "settings.json").read_text())["progress"]["done"]


def files(folder):
    """The bytes of a study's results."""
    return {path.name: path.read_bytes() for name in FILES for path in folder.glob(name)}


class LocalBackend:
    """Workers are objects; the worker of the n-th call is lost for n in `losing`, and `saying` changes the description
    that the n-th worker gives of itself."""

    def __init__(self, shards, losing=(), saying=()):
        self.shards, self.losing, self.calls, self.played = shards, losing, 0, 0
        self.started, self.answers, self.saying = [], [], dict(saying)

    def shared(self, thing):
        return pickle.dumps(thing)

    def start(self, *, again):
        number = len(self.started) + 1
        self.started.append({"worker": Worker(), "alive": True, "number": number, "asked": []})
        return self.started[-1]

    def ask(self, worker, what, *given):
        worker["asked"].append({"worker": worker, "what": what, "given": pickle.dumps(given)})
        return worker["asked"][-1]

    def wait(self, tickets):
        assert all(ticket is ticket["worker"]["asked"][0] for ticket in tickets)  # what is answered next
        return (len(tickets) - 1) // 2  # the ticket in the middle is ready first

    def answer(self, ticket):
        worker = ticket["worker"]
        self.calls += 1
        if self.calls in self.losing:
            worker["alive"] = False
        if not worker["alive"]:
            raise WorkerLost("it was killed")
        assert worker["asked"].pop(0) is ticket
        given = pickle.loads(ticket["given"])
        given = [pickle.loads(one) if isinstance(one, bytes) else one for one in given]
        self.played += len(given[0].cost) if ticket["what"] == "play" else 0
        found = getattr(worker["worker"], ticket["what"])(*given)
        if ticket["what"] == "make" and worker["number"] in self.saying:
            found = self.saying[worker["number"]](found)
        self.answers.append((ticket["what"], found))
        return pickle.loads(pickle.dumps(found))

    def end(self, worker):
        worker["alive"] = False


@contextmanager
def in_place_of_ray(backend):
    """Replace Ray by a backend, whose workers must all have ended afterwards."""

    @contextmanager
    def opened(on, study, device, shards):
        yield backend

    try:
        with mock.patch("empirics.shards.on_ray.opened", opened):
            yield backend
    finally:  # also after a refusal
        assert not [one for one in backend.started if one["alive"]]
