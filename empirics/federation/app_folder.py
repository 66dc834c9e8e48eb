"""A Flower app as a folder: what a user takes to real machines, and what `acdpp federate` runs on one.

The folder has a study in `acdpp_app/study.toml`, two modules of a few lines where a model or a stream of the user's own
goes, and a README with the commands for every host.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from empirics.files import replace_file, writable
from empirics.settings.presets import read_toml
from empirics.settings.study import Study
from empirics.settings.toml import spelled, toml
from theory.setting import SettingError

__all__ = ["PATIENCE", "PORT", "refuse_full", "refuse_several", "study_file", "write_app"]

PATIENCE = 120.0  # seconds
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

# May be given anew for a run: flwr run . acdpp --run-config 'patience=60'.
[tool.flwr.app.config]
"""
CONFIG = {
    "result": "The result folder, on the machine of the server.",
    "data-dir": "Where the server finds the standard files of the data set; empty for none.",
    "patience": "Seconds that a round waits for its clients before it goes on without those that are missing.",
    "buffers": "Folder for the samples of all clients; a node's own setting, buffer, goes before.",
}

SERVER = '''\
"""The server of this federation: it decides, weighs and keeps the books."""

from pathlib import Path

from empirics.federation.app_folder import study_file
from empirics.federation.server import server_app

STUDY = study_file(Path(__file__).with_name("study.toml"))

# A data set to measure the risk on, and a model of your own, the same as in client.py, go in here:
# app = server_app(STUDY, dataset=my_arrays, model=my_model)
app = server_app(STUDY)
'''

CLIENT = '''\
"""A client of this federation: it draws what it is granted, keeps it on its own disk, trains, and reports counts."""

from pathlib import Path

from empirics.federation.app_folder import study_file
from empirics.federation.client import client_app

STUDY = study_file(Path(__file__).with_name("study.toml"))

# A stream and a model of your own go in here, the model the same as in server.py:
# app = client_app(STUDY, stream=my_stream, model=my_model)
app = client_app(STUDY)
'''

README = """\
# A federation: {task}

{clients}, {rounds} rounds under the policy {policy}. The study is `acdpp_app/study.toml`; a model and a stream of your
own go into `acdpp_app/server.py` and `acdpp_app/client.py`. In what follows the server is reached as
`server.example`: put its own name there.

## On every host

```sh
pip install 'acdpp[flower]'
export FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1   # nothing is sent to anybody else
```

Every host needs the same versions of `acdpp` and of whatever your own model and stream need: nothing is installed when
the federation runs.

## On the server

Once, in this folder: certificates, of which `ca.crt` goes to every client and `server.key` to nobody.

```sh
python -m empirics.federation.credentials certificates server.example
```

The server itself, which stays in the foreground:

```sh
python -m empirics.federation.superlink --host 0.0.0.0 --port {port} \\
    --ssl-ca-certfile certificates/ca.crt --ssl-certfile certificates/server.crt \\
    --ssl-keyfile certificates/server.key \\
    --enable-supernode-auth --disable-runtime-dependency-installation
```

This is `flower-superlink`, which checks the key of every node, with one thing more: keys are registered and runs are
started by the user who started it, on this machine, and by nobody else. Plain `flower-superlink` takes both from
whoever reaches its port.

Once, in another shell on the server, where its commands find it:

```sh
export FLWR_HOME="$PWD/flower"
mkdir -p "$FLWR_HOME"
cat > "$FLWR_HOME/config.toml" <<END
[superlink.acdpp]
address = "127.0.0.1:{port}"
root-certificates = "$PWD/certificates/ca.crt"
END
```

## On each client

There are {clients}, with the numbers 0 to {last}; this is number 0. Each has a number, a key and a folder for its
samples of its own. Samples stay in that folder, and a restarted client goes on with them.

```sh
ssh-keygen -q -t ecdsa -b 384 -N '' -C '' -f client-0   # the key: client-0.pub goes to the server, client-0 nowhere
```

On the server, with the client's public key:

```sh
flwr supernode register client-0.pub acdpp
```

On the client, with the server's `ca.crt` beside it; it stays in the foreground and waits for its server:

```sh
flower-supernode --superlink server.example:{port} --root-certificates ca.crt \\
    --auth-supernode-private-key client-0 --host 127.0.0.1 --port 9094 \\
    --node-config "partition-id=0 buffer='$PWD/samples-0' data-dir=''"
```

A client that was killed is taken for alive for up to a minute, and refused until then: start it until it gets in, or
let your system do so (`Restart=always` of systemd).

`data-dir` is where this client finds the standard files of the data set; a file that the study names (`npz:…`, a trace
of prices) must lie at the same place here. `device='cuda'` trains on a GPU. Two clients on one machine take two ports
in place of 9094.

## Run

On the server, in this folder:

```sh
flwr run . acdpp --stream
```

The result lies in `{result}`, as of where the server was started: `acdpp plot learning {result}`
draws it. If the run stops, `{result}/federation/stopped.txt` says why. **To go on, run it again**: rounds that are in
the result are not repeated, and no client loses its samples. If the server was started again in between, register the
clients again before.
"""


def refuse_several(study: Study) -> Study:
    """A federation is one run: one policy, one replicate."""
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
    """A place for an app that is no empty folder, and no new one."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"{str(folder)!r} is not empty: give a new folder for the app")
    if not writable(folder, within=True):
        raise SettingError(f"{str(folder)!r} cannot be used for the app: nothing can be written there")


def write_app(
    folder: Path,
    study: Study,
    *,
    result: str = "result",
    data_dir: str = "",
    patience: float = PATIENCE,
    buffers: str = "",
) -> None:
    """Write the app of a study into a folder that is empty or does not exist yet."""
    refuse_several(study)
    try:
        refuse_full(folder)
        files = _files(
            study, {"result": result, "data-dir": data_dir, "patience": patience, "buffers": buffers}
        )
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            replace_file(folder / name, partial(Path.write_text, data=content, encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{str(folder)!r} cannot be written ({error.strerror})") from None


def _files(study: Study, config: Mapping[str, Any]) -> dict[str, str]:
    lines = [
        line for key, value in config.items() for line in (f"# {CONFIG[key]}", f"{key} = {spelled(value)}")
    ]
    several = f"{study.clients} clients" if study.clients > 1 else "1 client"
    readme = README.format(
        task=study.task,
        clients=several,
        last=study.clients - 1,
        rounds=f"{study.rounds:,}",
        policy=study.policies[0],
        port=PORT,
        result=config["result"],
    )
    return {
        f"{PACKAGE}/__init__.py": "",
        f"{PACKAGE}/server.py": SERVER,
        f"{PACKAGE}/client.py": CLIENT,
        f"{PACKAGE}/study.toml": toml(study),
        "README.md": readme,
        "pyproject.toml": PYPROJECT + "\n".join(lines) + "\n",
    }
