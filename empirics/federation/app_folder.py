"""A Flower app as a folder, for real machines or for `acdpp federate` on this one.

The folder has a study in `acdpp_app/study.toml`, two short modules for a model or a stream of the user, and a README
with the commands for every host.
"""

from functools import partial
from pathlib import Path
from typing import Self

from empirics.files import replace_file, writable
from empirics.settings.study import Study
from empirics.settings.toml import read_toml, spelled, toml
from theory.setting import SettingError

__all__ = ["PORT", "ROUND_WAIT_SECONDS", "FederationFolder", "refuse_full", "refuse_several", "study_file"]
__all__ += ["write_app"]

ROUND_WAIT_SECONDS = 120.0
PORT = 8000
PACKAGE = "acdpp_app"

PYPROJECT = """\
[project]
name = "acdpp-app"
version = "1.0.0"
description = "A study of acdpp as a federation of clients"
license = "Apache-2.0"
dependencies = ["acdpp[flower]"]

[tool.flwr.app]
publisher = "acdpp"

[tool.flwr.app.components]
serverapp = "acdpp_app.server:app"
clientapp = "acdpp_app.client:app"

# Overridden for a run by: flwr run . acdpp --run-config 'patience=60'.
[tool.flwr.app.config]
"""
CONFIG = {
    "result": "The result folder, on the server.",
    "data-dir": "The server's folder of the data set's standard files; may be empty.",
    "patience": "Seconds that a round waits for its clients before it continues without absent ones.",
    "buffers": "Folder for the samples of all clients, unless a node's config has buffer.",
}

SERVER = '''\
"""The server of this federation: it decides, aggregates and keeps accounts."""

from pathlib import Path

from empirics.federation.app_folder import study_file
from empirics.federation.server import server_app

STUDY = study_file(Path(__file__).with_name("study.toml"))

# A data set to measure the risk on, and your own model, as in client.py, go here:
# app = server_app(STUDY, dataset=my_arrays, model=my_model)
app = server_app(STUDY)
'''

CLIENT = '''\
"""A client of this federation: it draws granted samples, keeps them on its own disk, trains, and reports counts."""

from pathlib import Path

from empirics.federation.app_folder import study_file
from empirics.federation.client import client_app

STUDY = study_file(Path(__file__).with_name("study.toml"))

# Your own stream, and your own model, as in server.py, go here:
# app = client_app(STUDY, stream=my_stream, model=my_model)
app = client_app(STUDY)
'''

README = Path(__file__).with_name("app_readme.md")


class FederationFolder:
    """Paths of a federation's files.

    | path | content |
    | --- | --- |
    | `app/` | the Flower app that runs |
    | `certificates/` | the server's, new at every start |
    | `clients/client-M/` | `key` and `key.pub`, `node.toml`, `samples/` |
    | `logs/` | output of `superlink` and the clients |
    | `events.log` | rounds without some client, and the reason |
    | `stopped.txt` | the reason, if the last run stopped early |
    """

    def __init__(self, root: Path) -> None:
        self.root, self.app, self.clients = root, root / "app", root / "clients"
        self.certificates, self.logs = root / "certificates", root / "logs"
        self.stopped, self.events = root / "stopped.txt", root / "events.log"

    @classmethod
    def of_result(cls, result: Path) -> Self:
        return cls(result.absolute() / "federation")

    def client(self, number: int) -> Path:
        return self.clients / f"client-{number}"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"


def refuse_several(study: Study) -> Study:
    """Refuse several policies or seeds: a federation is one run."""
    if len(study.policies) != 1 or study.seeds != 1:
        raise SettingError(
            f"a federation runs one policy once, got {len(study.policies)} policies and {study.seeds} seeds: choose "
            "one policy, and seeds = 1"
        )
    return study


def study_file(path: Path) -> Study:
    """The study of an app folder."""
    return refuse_several(read_toml(path))


def refuse_full(folder: Path) -> None:
    """Refuse a path for an app that is neither new nor an empty folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"{str(folder)!r} is not empty: give a new folder for the app")
    if not writable(folder, within=True):
        raise SettingError(f"{str(folder)!r} cannot be used for the app: it is not writable")


def write_app(
    folder: Path,
    study: Study,
    *,
    result: str = "result",
    data_dir: str = "",
    patience: float = ROUND_WAIT_SECONDS,
    buffers: str = "",
) -> None:
    """Write the app of a study into a new or empty folder."""
    (policy,) = refuse_several(study).policies
    config = {"result": result, "data-dir": data_dir, "patience": patience, "buffers": buffers}
    lines = [f"# {CONFIG[key]}\n{key} = {spelled(value)}\n" for key, value in config.items()]
    readme = README.read_text(encoding="utf-8").format(
        task=study.task,
        clients=f"{study.clients} clients" if study.clients > 1 else "1 client",
        last=study.clients - 1,
        rounds=f"{study.rounds:,}",
        policy=policy,
        port=PORT,
        result=result,
    )
    files = {
        f"{PACKAGE}/__init__.py": "",
        f"{PACKAGE}/server.py": SERVER,
        f"{PACKAGE}/client.py": CLIENT,
        f"{PACKAGE}/study.toml": toml(study),
        "README.md": readme,
        "pyproject.toml": PYPROJECT + "".join(lines),
    }
    try:
        refuse_full(folder)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            replace_file(folder / name, partial(Path.write_text, data=content, encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{str(folder)!r} cannot be written ({error.strerror})") from None
