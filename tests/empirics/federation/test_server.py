"""The server's side of the app as Flower calls it, and what a client may lose."""

import shutil
from dataclasses import replace

import pytest
from flwr.app import Context, RecordDict

from empirics.federation.client import _folder
from empirics.federation.processes import Place
from empirics.federation.server import STOPPED, server_app
from empirics.records.folder import Folder, read_result
from tests.empirics.federation.wire import Wire, federate, identity, nodes, rows, small
from tests.empirics.small import refused

STUDY = small("constant", rounds=4)


def serve(study, place, wire=None):
    config = {"result": str(place / "result"), "data-dir": "", "patience": 5.0}
    with identity():
        server_app(study)(wire or Wire(*nodes(study, place)), Context(0, 1, {}, RecordDict(), config))


def test_it_makes_its_result_and_leaves_it_alone_when_it_is_finished(tmp_path):
    serve(STUDY, tmp_path)
    before = read_result(tmp_path / "result")
    serve(STUDY, tmp_path)
    assert read_result(tmp_path / "result").rows.equals(before.rows)
    assert not (tmp_path / "result" / STOPPED).exists()


def test_another_study_than_the_results_is_refused_and_why_is_written_down(tmp_path):
    federate(STUDY, tmp_path, rounds=2)
    sentence, stopped = refused(serve, replace(STUDY, seed=7), tmp_path), tmp_path / "result" / STOPPED
    assert sentence.startswith("the study of this app is not that of the result")
    assert stopped.read_text() == f"{sentence}\n"
    serve(STUDY, tmp_path)
    assert not stopped.exists()


def test_any_end_is_written_down_but_not_into_the_folder_of_another_process(tmp_path):
    federate(STUDY, tmp_path, rounds=1)
    stopped = tmp_path / "result" / STOPPED
    with Folder.continued(tmp_path / "result"):
        assert "written by another process" in refused(serve, STUDY, tmp_path)
    assert not stopped.exists()
    wire = Wire(*nodes(STUDY, tmp_path))
    wire.push_messages = lambda messages: 1 / 0
    with pytest.raises(ZeroDivisionError):
        serve(STUDY, tmp_path, wire)
    assert stopped.read_text() == "ZeroDivisionError: division by zero\n"


def test_a_study_that_cannot_run_leaves_no_folder(tmp_path):
    refused(serve, replace(STUDY, dataset="npz:nowhere.npz"), tmp_path)
    assert not (tmp_path / "result").exists()


def test_a_client_that_loses_its_disk_goes_on_with_what_it_has(tmp_path):
    lost = []

    def faults(t, m, reply):
        if (t, m) == (2, 1):
            (folder,) = (tmp_path / "node-1").iterdir()
            shutil.rmtree(folder)
        if (t, m) == (3, 1):
            lost.append(dict(reply.content["metrics"]))
        return reply

    federate(STUDY, tmp_path, Wire(*nodes(STUDY, tmp_path), faults))
    federate(STUDY, tmp_path / "whole")
    assert lost[0]["cohort-rounds"] == [3]
    (admitted, n), (granted, most) = (rows(p, "admitted", "n") for p in (tmp_path, tmp_path / "whole"))
    assert admitted == granted
    assert n[2] < most[2]


def test_simulated_clients_and_processes_keep_their_samples_in_the_same_place(tmp_path):
    """So that one may go on where the other was stopped."""
    place = Place.of_result(tmp_path)
    simulated = Context(0, 1, {"partition-id": 3}, RecordDict(), {"buffers": str(place.clients)})
    assert _folder(simulated, 3) == place.client(3) / "samples"
