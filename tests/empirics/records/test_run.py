"""Whole studies: what is saved explains itself, and a killed study continues to the same numbers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from empirics.records.folder import COLUMNS, read_result
from empirics.run import run_study
from empirics.settings.study import Study
from theory.bound import theorem_1
from theory.reuse import trajectory
from theory.setting import Constants, SettingError

SMALL = {"rounds": 40, "seeds": 2, "checkpoint": 10, "buffers": [8, 12], "budget": 11.0, "steps": 2}


def small(**given):
    return Study.from_document(SMALL | given)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "result"
    summary = run_study(small(), out)
    return out, summary


def test_a_result_explains_itself(result):
    out, summary = result
    settings, saved, rows = read_result(out)
    assert saved == json.loads(json.dumps(summary))
    assert Study.from_document(settings["study"]) == small()
    assert settings["versions"]["torch"]
    assert set(rows.column_names) == set(COLUMNS)
    assert rows.num_rows == 5 * 2 * 40
    assert sorted(path.name for path in out.iterdir()) == ["rounds.parquet", "settings.json", "summary.json"]


def test_the_rows_are_consistent_with_theory(result):
    _, summary, rows = read_result(result[0])
    settings = json.loads((result[0] / "settings.json").read_text())
    table = {name: np.array(rows[name].to_pylist()) for name in rows.column_names}
    mine = (table["policy"] == "constant") & (table["seed"] == 1)
    order = np.argsort(table["round"][mine])
    column = {name: values[mine][order] for name, values in table.items()}
    track = trajectory(column["admitted"].astype(float), K=10)
    for name, expected in {
        "n": track.n,
        "N": track.N,
        "chi": track.mismatch,
        "uniformity": track.uniformity,
    }.items():
        assert np.allclose(column[name], expected, rtol=1e-12)
    constants = Constants(**settings["constants"]["constants"])
    bound = theorem_1(track.n, track.N, track.uniformity, track.mismatch, constants).total
    assert summary["policies"]["constant"]["bound_corrected"] == pytest.approx(bound, rel=1e-12)
    cumulative = column["excess_risk"].sum()
    other = table["excess_risk"][(table["policy"] == "constant") & (table["seed"] == 0)].sum()
    assert summary["policies"]["constant"]["cumulative_excess_risk"]["mean"] == pytest.approx(
        (cumulative + other) / 2
    )


def test_the_measured_risk_lies_below_the_corrected_bound(result):
    for row in result[1]["policies"].values():
        assert 0 < row["cumulative_excess_risk"]["mean"] < row["bound_corrected"]


def test_excess_risk_is_never_negative(result):
    rows = read_result(result[0])[2]
    assert min(rows["excess_risk"].to_pylist()) >= -1e-10


def test_a_finished_result_is_never_overwritten_and_can_be_read_again(result):
    out, summary = result
    with pytest.raises(SettingError, match="already holds a result"):
        run_study(small(), out)
    assert run_study(small(), out, resume=True) == json.loads(json.dumps(summary))


def test_a_result_cannot_be_continued_with_other_settings(result):
    with pytest.raises(SettingError, match="study changed"):
        run_study(small(seed=1), result[0], resume=True)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(SettingError, match="not empty"):
        run_study(small(), tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


class Killed(Exception):
    """Stands in for a loss of power between two rounds."""


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_study_stopped_on_the_gpu_continues_to_the_same_numbers(tmp_path):
    def stop(done):
        if done == 25:
            raise Killed

    study = small(policies=["acdpp", "constant", "hybrid"])
    with pytest.raises(Killed):
        run_study(study, tmp_path / "stopped", device="cuda", progress=stop)
    resumed = run_study(study, tmp_path / "stopped", device="cuda", resume=True)
    assert resumed == run_study(study, tmp_path / "whole", device="cuda")
    tables = [pq.read_table(tmp_path / name / "rounds.parquet") for name in ("stopped", "whole")]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("after", [3, 25])
def test_a_study_stopped_anywhere_continues_to_the_same_numbers(result, tmp_path, after):
    def stop(done):
        if done == after:
            raise Killed

    out = tmp_path / "stopped"
    with pytest.raises(Killed):
        run_study(small(), out, progress=stop)
    with pytest.raises(SettingError, match="unfinished"):
        read_result(out)
    summary = run_study(small(), out, resume=True)
    assert summary == result[1]
    assert pq.read_table(out / "rounds.parquet").equals(pq.read_table(result[0] / "rounds.parquet"))


def test_rows_without_their_checkpoint_are_written_again(result, tmp_path):
    """A kill after the rows and before the state: the state on disk decides."""
    out = tmp_path / "stopped"

    def stop(done):
        if done == 30:
            raise Killed

    with pytest.raises(Killed):
        run_study(small(), out, progress=stop)
    stale = out / "parts" / "000000000021.parquet"
    stale.write_bytes((out / "parts" / "000000000001.parquet").read_bytes())
    (out / "settings.json.partial").write_text("{")
    assert run_study(small(), out, resume=True) == result[1]


SCRIPT = """
import sys, time
from pathlib import Path
from empirics.run import run_study
from empirics.settings.study import Study
run_study(Study.from_document({setting!r}), Path(sys.argv[1]), progress=lambda done: time.sleep(0.005))
"""


def test_kill_9_loses_at_most_the_last_interval(tmp_path):
    setting = SMALL | {"rounds": 400, "policies": ["constant", "oracle"]}
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    # the same number of threads, because it may change the last bit of a sum
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    environment |= {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(setting=setting), str(killed)], env=environment
    )
    while not (killed / "checkpoint.npz").exists() and process.poll() is None:
        time.sleep(0.005)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "summary.json").exists()
    study = Study.from_document(setting)
    assert run_study(study, killed, resume=True) == run_study(study, whole)
    assert pq.read_table(killed / "rounds.parquet").equals(pq.read_table(whole / "rounds.parquet"))
