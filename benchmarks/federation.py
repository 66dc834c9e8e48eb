"""Time of a federation's round, and the share of the server's own work. Run from the repository root:

    python -m benchmarks.federation                     # 2 and 10 processes, 2, 10 and 50 simulated clients
    python -m benchmarks.federation --processes 2,10,50 --rounds 4

Logistic regression on the digits, E = 10 steps on as many samples: `acdpp federate` under buy-cheap-online; Flower's
own FedAvg with a plain client in the same kind of processes (TLS, authenticated nodes) or the same simulation,
looking for answers as often; and the batched engine. Seconds per round are medians without the first, in which Flower
starts its workers. Bytes are all that went over loopback, so let nothing else run. The last columns time the server's
own work: deciding, checking and booking a round.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.hardware import hardware, machine
from benchmarks.options import parser_of, settings
from benchmarks.runner import write
from empirics.federation.app_folder import FederationFolder, write_app
from empirics.federation.client_reports import ClientReport
from empirics.federation.processes import federation
from empirics.federation.server_state import ServerState, federated, prepare
from empirics.results.folder import read_settings
from empirics.run import run_study
from empirics.settings.study import Study

SETTINGS = settings("federation")
Count = Callable[[], int]
PLAIN_SERVER = """
import time
from pathlib import Path
import numpy as np
from flwr.app import ArrayRecord, Array
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg
from empirics.federation.delivery import PollingGrid

app = ServerApp()

@app.main()
def main(grid, context):
    config = context.run_config
    times = Path(config["times"])
    def note(t, arrays):
        with times.open("a") as file:
            file.write(f"{{time.time()}}\\n")
    M = int(config["clients"])
    strategy = FedAvg(fraction_evaluate=0.0, min_train_nodes=M, min_available_nodes=M)
    first = ArrayRecord({{"theta": Array(np.zeros({size}))}})
    strategy.start(PollingGrid(grid), first, num_rounds=int(config["rounds"]), timeout=3600, evaluate_fn=note)
    times.with_suffix(".end").touch()
"""
PLAIN_CLIENT = """
import numpy as np
import torch
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from sklearn.datasets import load_digits

app = ClientApp()

@app.train()
def train(message, context):
    torch.set_num_threads(1)
    m = int(context.node_config["partition-id"])
    digits = load_digits()
    x = torch.tensor(digits.data / 100.0)[m * 20 : m * 20 + {held}]
    x = torch.cat([x, torch.ones(len(x), 1)], 1)
    y = torch.tensor(digits.target % 2)[m * 20 : m * 20 + {held}].double()
    theta = torch.from_numpy(message.content["arrays"]["theta"].numpy().copy())
    for _ in range({steps}):
        theta = theta - {eta} * (torch.sigmoid(x @ theta) - y) @ x / len(x)
    arrays = ArrayRecord({{"theta": Array(theta.numpy())}})
    metrics = MetricRecord({{"num-examples": len(x)}})
    return Message(RecordDict({{"arrays": arrays, "metrics": metrics}}), reply_to=message)
"""
PLAIN_PROJECT = """
[project]
name = "plain"
version = "1.0.0"
license = "Apache-2.0"
dependencies = []
[tool.flwr.app]
publisher = "plain"
[tool.flwr.app.components]
serverapp = "plain.server:app"
clientapp = "plain.client:app"
[tool.flwr.app.config]
times = "{times}"
rounds = {rounds}
clients = {clients}
"""


def main() -> None:
    """Parse, measure, print a table, and write it down if asked."""
    parser = parser_of("federation", __doc__)
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error("--rounds must be 2 or more: the first does not count")
    print(hardware())
    print(f"{given.rounds} rounds; seconds a round, and kB over loopback a round")
    print(" ".join(f"{name:>10}" for name in SETTINGS["columns"]))
    found = []
    for kind, numbers in (("processes", given.processes), ("simulated", given.simulated)):
        for clients in (int(part) for part in numbers.split(",") if part):
            row = _measured(clients, given.rounds, simulation=kind == "simulated")
            found.append({"clients": clients, "kind": kind, **row})
            cells = [row["acdpp_s"], row["fedavg_s"], row["acdpp_s"] / row["fedavg_s"]]
            cells += [row["acdpp_kB"], row["fedavg_kB"], row["batched_ms"], row["books_ms"]]
            share = row["books_ms"] / 10 / row["acdpp_s"]
            numbers_said = " ".join(f"{cell:10.3g}" for cell in cells)
            print(f"{clients:10} {kind:>10} {numbers_said} {share:8.2f} %", flush=True)
    command = f"python -m benchmarks.federation --rounds {given.rounds}"
    command += f" --processes {given.processes} --simulated {given.simulated}"
    write({"hardware": machine(), "rounds": given.rounds, "cases": found, "command": command}, given.out)


def _study(clients: int, rounds: int) -> Study:
    study = federated(Study(rounds=rounds), SETTINGS["policy"])
    buffers = tuple(study.buffers[m % len(study.buffers)] for m in range(clients))
    return replace(study, buffers=buffers, budget=5.5 * clients)


def _measured(clients: int, rounds: int, *, simulation: bool) -> dict[str, float]:
    study, found = _study(clients, rounds), dict[str, float]()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for name, measure in (("acdpp", _ours), ("fedavg", _plain)):
            seconds, sent = measure(study, place / name, simulation)
            found |= {f"{name}_s": seconds, f"{name}_kB": sent / 1e3}
        more = SETTINGS["batched_rounds"]
        short, long = (_seconds_of(replace(study, rounds=n), place / f"batched-{n}") for n in (10, 10 + more))
        found["batched_ms"] = 1e3 * (long - short) / more
        found["books_ms"] = 1e3 * _books(study, place / "books")
    return found


def _seconds_of(study: Study, out: Path) -> float:
    begin = time.perf_counter()
    run_study(replace(study, checkpoint=100), out)
    return time.perf_counter() - begin


def _ours(study: Study, out: Path, simulation: bool) -> tuple[float, float]:
    prepare(study, out)
    place = FederationFolder.of_result(out)
    write_app(
        place.app, study, result=str(out), patience=SETTINGS["reply_seconds_max"], buffers=str(place.clients)
    )
    with federation(place, study.clients, simulation=simulation) as running, _loopback() as sent:
        run = running.operator.start(place.app, study.clients if simulation else None)
        done = lambda: int(read_settings(out)["progress"]["done"])  # noqa: E731
        return _paced(done, lambda: running.operator.over(run), study.rounds, sent)


def _plain(study: Study, out: Path, simulation: bool) -> tuple[float, float]:
    app, times = out / "app", out / "times"
    (app / "plain").mkdir(parents=True)
    project = PLAIN_PROJECT.format(times=times, rounds=study.rounds, clients=study.clients)
    held = sum(study.buffers) // study.clients
    files = {
        "pyproject.toml": project,
        "plain/__init__.py": "",
        "plain/server.py": PLAIN_SERVER.format(size=65),
        "plain/client.py": PLAIN_CLIENT.format(held=held, steps=study.steps, eta=study.eta),
    }
    for name, text in files.items():
        (app / name).write_text(text)

    def done() -> int:
        return len(times.read_text().split()) - 1 if times.exists() else 0

    place = FederationFolder(out / "place")
    with federation(place, study.clients, simulation=simulation) as running, _loopback() as sent:
        run = running.operator.start(app, study.clients if simulation else None)
        return _paced(done, lambda: running.operator.over(run), study.rounds, sent)


def _paced(done: Count, over: Callable[[], bool], rounds: int, sent: Count) -> tuple[float, float]:
    """The median seconds of a round after the first, and the mean bytes."""
    marks, asked = [], time.perf_counter()
    while len(marks) < rounds:
        if done() > len(marks):
            marks.append((time.perf_counter(), sent()))
        elif time.perf_counter() - asked > 10:
            asked = time.perf_counter()
            if over() and done() <= len(marks):
                raise SystemExit("the federation ended before its time")
        time.sleep(0.05)
    seconds = [b[0] - a[0] for a, b in pairwise(marks)]
    return statistics.median(seconds), (marks[-1][1] - marks[0][1]) / (rounds - 1)


@contextmanager
def _loopback() -> Iterator[Count]:
    """Bytes over loopback so far; 0 where the system does not say."""
    table = Path("/proc/net/dev")

    def sent() -> int:
        if not table.exists():
            return 0
        line = next(line for line in table.read_text().splitlines() if line.strip().startswith("lo:"))
        return int(line.split(":")[1].split()[0])

    yield sent


def _books(study: Study, out: Path) -> float:
    """Seconds that the server's own part of a round takes, with all clients there."""
    prepare(study, out)
    times = []
    with ServerState.open(out) as state:
        moved = dict.fromkeys(range(study.clients), np.zeros(state.problem.model.size))
        for _ in range(study.rounds):
            begin = time.perf_counter()
            reports = {}
            for m, granted in enumerate(map(int, state.decide())):
                reports[m] = ClientReport(granted, state.accounts.expected(m, granted))
                state.accounts.check(m, granted, reports[m])
            state.book(reports, moved, {})
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    main()
