"""Time of a federation's round, and the share of the server's own work.

Logistic regression on the digits, E = 10 steps on as many samples: `acdpp federate` under buy-cheap-online; Flower's
own FedAvg with a plain client in the same kind of processes (TLS, authenticated nodes) or the same simulation,
looking for answers as often; and the batched engine. Seconds per round are medians without the first, in which Flower
starts its workers. Bytes are all that went over loopback, so let nothing else run. The last columns time the server's
own work: deciding, checking and booking a round.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.common import hardware, machine, parser_of, settings, timed
from benchmarks.runner import write
from empirics import Study, run_study
from empirics.federation.app_folder import FederationFolder, write_app
from empirics.federation.client_reports import ClientReport
from empirics.federation.messages import Reply
from empirics.federation.processes import federation
from empirics.federation.server_state import ServerState, federated, prepare
from empirics.results.folder import read_settings

SETTINGS = settings("federation")
PLAIN_APP = Path(__file__).with_name("plain_app")


def main() -> None:
    parser = parser_of("federation", __doc__)
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error("--rounds must be 2 or more: the first does not count")
    print(f"{hardware()}\n{given.rounds} rounds; seconds per round, and kB over loopback per round")
    print(" ".join(f"{name:>10}" for name in SETTINGS["columns"]))
    found = []
    for kind, numbers in (("processes", given.processes), ("simulated", given.simulated)):
        for clients in (int(part) for part in numbers.split(",") if part):
            row = _measured(clients, given.rounds, simulation=kind == "simulated")
            found.append({"clients": clients, "kind": kind, **row})
            cells = [row["acdpp_s"], row["fedavg_s"], row["acdpp_s"] / row["fedavg_s"]]
            cells += [row["acdpp_kB"], row["fedavg_kB"], row["batched_ms"], row["books_ms"]]
            said, share = " ".join(f"{cell:10.3g}" for cell in cells), row["books_ms"] / 10 / row["acdpp_s"]
            print(f"{clients:10} {kind:>10} {said} {share:8.2f} %", flush=True)
    command = f"python -m benchmarks.federation --rounds {given.rounds}"
    command += f" --processes {given.processes} --simulated {given.simulated}"
    write({"hardware": machine(), "rounds": given.rounds, "cases": found, "command": command}, given.out)


def _measured(clients: int, rounds: int, *, simulation: bool) -> dict[str, float]:
    study, found = federated(Study(rounds=rounds), SETTINGS["policy"]), dict[str, float]()
    buffers = tuple(study.buffers[m % len(study.buffers)] for m in range(clients))
    study = replace(study, buffers=buffers, budget=5.5 * clients)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for name, measure in (("acdpp", _ours), ("fedavg", _plain)):
            seconds, sent = measure(study, place / name, simulation)
            found |= {f"{name}_s": seconds, f"{name}_kB": sent / 1e3}
        more, batched = SETTINGS["batched_rounds"], []
        for n in (10, 10 + more):
            alone = partial(run_study, replace(study, rounds=n, checkpoint=100), place / f"batched-{n}")
            batched += timed(alone)[1]
        found["batched_ms"] = 1e3 * (batched[1] - batched[0]) / more
        found["books_ms"] = 1e3 * _books(study, place / "books")
    return found


def _ours(study: Study, out: Path, simulation: bool) -> tuple[float, float]:
    prepare(study, out)
    place = FederationFolder.of_result(out)
    patience, buffers = SETTINGS["reply_seconds_max"], str(place.clients)
    write_app(place.app, study, result=str(out), patience=patience, buffers=buffers)
    done = lambda: int(read_settings(out)["progress"]["done"])  # noqa: E731
    return _paced(place, place.app, study, simulation, done)


def _plain(study: Study, out: Path, simulation: bool) -> tuple[float, float]:
    app, times = out / "app", out / "times"
    (app / "plain").mkdir(parents=True)
    about = {"times": times, "rounds": study.rounds, "clients": study.clients, "size": 65}
    about |= {"held": sum(study.buffers) // study.clients, "steps": study.steps, "eta": study.eta}
    for name, folder in (("pyproject.toml", app), ("server.py", app / "plain"), ("client.py", app / "plain")):
        template = (PLAIN_APP / f"{name}.txt").read_text(encoding="utf-8")
        (folder / name).write_text(template.format(**about), encoding="utf-8")
    (app / "plain" / "__init__.py").touch()

    def done() -> int:
        return len(times.read_text().split()) - 1 if times.exists() else 0

    return _paced(FederationFolder(out / "place"), app, study, simulation, done)


def _paced(
    place: FederationFolder, app: Path, study: Study, simulation: bool, done: Callable[[], int]
) -> tuple[float, float]:
    """The median seconds of a round after the first, and the mean bytes."""
    with federation(place, study.clients, simulation=simulation) as running:
        run = running.operator.start(app, study.clients if simulation else None)
        marks, asked = [], time.perf_counter()
        while len(marks) < study.rounds:
            if done() > len(marks):
                marks.append((time.perf_counter(), _loopback()))
            elif time.perf_counter() - asked > 10:
                asked = time.perf_counter()
                if running.operator.over(run) and done() <= len(marks):
                    raise SystemExit("the federation ended before its time")
            time.sleep(0.05)
    seconds = [b[0] - a[0] for a, b in pairwise(marks)]
    return statistics.median(seconds), (marks[-1][1] - marks[0][1]) / (study.rounds - 1)


def _loopback() -> int:
    """Bytes over loopback so far; 0 where the system does not say."""
    received = Path("/sys/class/net/lo/statistics/rx_bytes")
    return int(received.read_text()) if received.exists() else 0


def _books(study: Study, out: Path) -> float:
    """Seconds that the server's own part of a round takes, with all clients there."""
    prepare(study, out)
    with ServerState.open(out) as state:
        moved = np.zeros(state.problem.model.size)

        def play() -> None:
            replies = {}
            for m, granted in enumerate(map(int, state.decide())):
                report = ClientReport(granted, state.accounts.expected(m, granted))
                state.accounts.check(m, granted, report)
                replies[m] = Reply(state.token, m, state.done + 1, report, moved)
            state.book(replies)

        return statistics.median(timed(play, study.rounds)[1])


if __name__ == "__main__":
    main()
