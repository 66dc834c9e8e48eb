"""The app: its folder is valid for Flower, its README's commands too, and its server makes and continues a result."""

import io
import re
import shlex
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from flwr.app import Context, RecordDict
from flwr.cli.build import build_fab_from_disk
from flwr.common.config import parse_config_args, validate_config
from flwr.superlink.cli.flower_superlink import _parse_args_run_superlink
from flwr.supernode.cli.flower_supernode import _parse_args_run_supernode

from empirics.federation import server_state, superlink
from empirics.federation.app_folder import FederationFolder, study_file, write_app
from empirics.federation.server import server_app
from empirics.results.folder import Folder, read_result
from empirics.settings.costs import CostProcess
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from tests.empirics.federation.wire import Wire, federate, identity, small
from tests.empirics.small import blobs, refused

ONE = replace(PRESETS["digits"], policies=("acdpp",), seeds=1, buffers=(8, 9, 10), rounds=5)
FOUR = small("constant", rounds=4)


@pytest.mark.parametrize(
    "study",
    [
        ONE,
        replace(ONE, policies=("acdpp@K=7,eta=0.5",), K=3, radius=None, per_class=7, alpha=(0.5, 0.25, 0.25)),
        replace(ONE, cost=CostProcess(process="trace", file='pri"ces ü.csv', column="a b")),
        replace(PRESETS["released"], policies=("released",), seeds=1),
        Study(policies=("constant",), seeds=1, dataset="npz:my data.npz"),
    ],
)
def test_the_study_comes_back_as_it_was(tmp_path, study):
    write_app(tmp_path / "app", study)
    assert study_file(tmp_path / "app" / "acdpp_app" / "study.toml") == study


@pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")  # Flower's own
def test_flower_takes_the_folder_and_all_that_the_app_needs_travels(tmp_path):
    write_app(tmp_path / "app", ONE, result='a "result" ü', data_dir="data", patience=7.5, buffers="b")
    document = tomllib.loads((tmp_path / "app" / "pyproject.toml").read_text(encoding="utf-8"))
    valid, errors, warnings = validate_config(document, check_module=True, project_dir=tmp_path / "app")
    assert (valid, errors, warnings) == (True, [], [])
    config = {"result": 'a "result" ü', "data-dir": "data", "patience": 7.5, "buffers": "b"}
    assert document["tool"]["flwr"]["app"]["config"] == config
    bundle = zipfile.ZipFile(io.BytesIO(build_fab_from_disk(tmp_path / "app")))
    wanted = {f"acdpp_app/{name}" for name in ("__init__.py", "server.py", "client.py", "study.toml")}
    assert wanted <= set(bundle.namelist())


@pytest.mark.parametrize(("buffers", "clients"), [((8,), "1 client,"), ((8, 9), "2 clients,")])
def test_the_readme_counts_clients_and_has_commands_that_flower_takes(tmp_path, buffers, clients):
    write_app(tmp_path, replace(ONE, buffers=buffers))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"There are {clients} with the ids 0 to {len(buffers) - 1};" in text
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.S)).replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    [link] = [words[3:] for words in found if words[:3] == ["python", "-m", superlink.__name__]]
    [node] = [words[1:] for words in found if words[:1] == ["flower-supernode"]]
    server = _parse_args_run_superlink().parse_args(link)
    assert server.enable_supernode_auth
    assert not server.insecure
    assert not server.runtime_dependency_install
    supernode = _parse_args_run_supernode().parse_args(node)
    assert not supernode.insecure
    assert supernode.superlink == f"server.example:{server.port}"
    config = {"partition-id": 0, "buffer": "$PWD/samples-0", "data-dir": ""}  # the shell replaces $PWD
    assert parse_config_args([supernode.node_config]) == config
    assert ["flwr", "run", ".", "acdpp", "--stream"] in found
    assert f'address = "127.0.0.1:{server.port}"' in text


@pytest.mark.parametrize("several", [{"policies": ("acdpp", "constant")}, {"seeds": 2}])
def test_several_runs_are_no_federation(tmp_path, several):
    assert "one policy once" in refused(write_app, tmp_path / "app", replace(ONE, **several))
    assert not (tmp_path / "app").exists()
    write_app(tmp_path / "app", ONE)
    study = tmp_path / "app" / "acdpp_app" / "study.toml"
    study.write_text(study.read_text().replace("seeds = 1\n", "seeds = 2\n"))
    assert "one policy once" in refused(study_file, study)


@pytest.mark.parametrize("place", [".", "mine.txt", "mine.txt/app", "/proc/app"])
def test_a_folder_for_the_app_is_new_or_empty_and_writable(tmp_path, place):
    (tmp_path / "mine.txt").write_text("kept")
    said = "cannot be" if place.endswith("app") else "not empty"
    assert said in refused(write_app, tmp_path / place, ONE)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("mine.txt", "kept")]


def serve(study, place, wire=None, data="", **own):
    config = {"result": str(place / "result"), "data-dir": data, "patience": 5.0}
    with identity():
        server_app(study, **own)(wire or Wire(study, place), Context(0, 1, {}, RecordDict(), config))


def test_it_makes_its_result_and_leaves_it_alone_when_it_is_finished(tmp_path):
    (tmp_path / "result").mkdir()
    serve(FOUR, tmp_path, data=str(tmp_path), dataset=blobs())
    before = read_result(tmp_path / "result")
    assert before.settings["asked"]["data_dir"] == str(tmp_path)
    serve(FOUR, tmp_path, dataset=blobs())
    assert read_result(tmp_path / "result").rows.equals(before.rows)
    assert not FederationFolder.of_result(tmp_path / "result").stopped.exists()


def test_the_data_may_be_moved_before_a_federation_is_continued(tmp_path, monkeypatch):
    made = Mock(wraps=server_state.make_problem)
    monkeypatch.setattr(server_state, "make_problem", made)
    server_state.prepare(FOUR, tmp_path / "result", Path("here"))
    for given in (None, tmp_path):
        with server_state.ServerState.open(tmp_path / "result", given):
            pass
    places = [call.args[2] for call in made.call_args_list]
    assert places == [Path("here"), Path("here").absolute(), tmp_path]


def test_any_end_is_written_down_but_not_into_a_folder_of_another_process_or_a_new_one(tmp_path):
    refused(serve, replace(FOUR, dataset="npz:nowhere.npz"), tmp_path)
    assert not (tmp_path / "result").exists()
    federate(FOUR, tmp_path, rounds=1)
    stopped = FederationFolder.of_result(tmp_path / "result").stopped
    with Folder.continued(tmp_path / "result"):
        assert "written by another process" in refused(serve, FOUR, tmp_path)
    assert not stopped.exists()
    wire = Wire(FOUR, tmp_path)
    wire.push_messages = lambda messages: 1 / 0
    with pytest.raises(ZeroDivisionError):
        serve(FOUR, tmp_path, wire)
    assert stopped.read_text() == "ZeroDivisionError: division by zero\n"
    sentence = refused(serve, replace(FOUR, seed=7), tmp_path)
    assert "the study of this app differs" in sentence
    assert stopped.read_text() == f"{sentence}\n"
    serve(FOUR, tmp_path)
    assert not stopped.exists()


def test_simulated_clients_keep_their_samples_where_processes_find_them(tmp_path):
    place = FederationFolder.of_result(tmp_path / "result")
    wire = Wire(FOUR, tmp_path)
    for context in wire.contexts.values():
        del context.node_config["buffer"]
        context.run_config["buffers"] = str(place.clients)
    federate(FOUR, tmp_path, wire, rounds=1)
    for m in range(3):
        assert len(list((place.client(m) / "samples").rglob("memory.npz"))) == 1
