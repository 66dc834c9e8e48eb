"""TensorBoard and MLflow show the rows of a result and nothing else, also of a study that was stopped and goes on."""

import shutil
import time
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from acdpp import watch
from empirics import read_result, run, run_study
from empirics.results import logs
from tests.acdpp.program import acdpp
from tests.empirics.small import Killed, Periodic, blobs, blobs_file, refused, stopped_at, study

RUNS = [("constant", 0), ("constant", 1), ("a/b", 0), ("a/b", 1)]
WAITS = Periodic((2, 2, 2), (0, 0, 0), (0, 0, 0), retention=1)  # so that some values are none
OWN = {"dataset": blobs(), "policies": {"a/b": WAITS}}


def small(*asked, **given):
    return study(policies=("constant", "a/b"), seeds=2, rounds=20, predict=False, log=asked, **given)


def rows_of(out, policy, seed):
    rows = read_result(out).rows.to_pylist()
    return [row for row in rows if (row["policy"], row["seed"]) == (policy, seed)]


def shown_by_tensorboard(out, policy, seed):
    """Rounds and values of every tag, by TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    folder = out / "tensorboard" / policy / str(seed)
    [file] = folder.iterdir()
    versions = [event.file_version for event in EventFileLoader(str(file)).Load()]
    assert versions == ["brain.Event:2"] + [""] * (len(versions) - 1)
    seen = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {tag: [(one.step, one.value) for one in seen.Scalars(tag)] for tag in seen.Tags()["scalars"]}


def shown_by_mlflow(out, policy, seed):
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=(out / "mlruns").as_uri())
    [run] = [
        one
        for one in client.search_runs([client.get_experiment_by_name("acdpp").experiment_id])
        if (one.data.params["policy"], one.data.params["seed"]) == (policy, str(seed))
    ]
    assert run.info.status == "FINISHED"
    assert run.data.params.items() >= {"rounds": "20", "budget": "22.0"}.items()
    found = {key: client.get_metric_history(run.info.run_id, key) for key in run.data.metrics}
    now = time.time()
    assert all(now - 600 < one.timestamp / 1000 <= now for ones in found.values() for one in ones)
    return {key: [(one.step, one.value) for one in ones] for key, ones in found.items()}


KINDS = [
    pytest.param("tensorboard", "tensorboard", "a%2Fb", shown_by_tensorboard, id="tensorboard"),
    # MLflow imports for seconds
    pytest.param("mlflow", "mlruns", "a/b", shown_by_mlflow, id="mlflow", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("kind", "folder", "other", "shown"), KINDS)
def test_a_viewer_shows_every_row_once_also_where_a_study_went_on(tmp_path, kind, folder, other, shown):
    for most, rounds in ((20, list(range(1, 21))), (7, [1, 3, 6, 9, 12, 15, 18, 20])):
        out = tmp_path / str(most)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(logs.LOGS[kind], "MOST", most)
            stopped_at(small(kind), out, 16, **OWN)
            assert [one for one in (out / folder).rglob("*") if one.is_file()]  # while it runs
            run_study(out=out, resume=True, **OWN)
        for policy, seed in RUNS:
            found = shown(out, other if policy == "a/b" else policy, seed)
            rows = rows_of(out, policy, seed)
            wanted = {
                tag: [
                    (row["round"], pytest.approx(row[tag], rel=1e-6))  # TensorBoard has 32 bits
                    for row in rows
                    if row["round"] in rounds and row[tag] is not None and np.isfinite(row[tag])
                ]
                for tag in logs.LOGGED
                if tag in rows[0]
            }
            assert found == wanted
            assert {"accuracy", "risk", "cost", "admitted"} <= found.keys()


def test_a_part_of_a_chunk_is_not_shown_twice(tmp_path, monkeypatch):
    class Cut(logs.TensorBoard):
        def add(self, rows):
            super().add(rows.slice(0, 3))
            raise OSError(28, "No space left on device")

    out = tmp_path / "out"
    monkeypatch.setitem(logs.LOGS, "tensorboard", Cut)
    with pytest.raises(OSError, match="then continue by acdpp resume"):
        run_study(small("tensorboard"), out, **OWN)
    monkeypatch.undo()
    run_study(out=out, resume=True, **OWN)
    rounds = [t for t, _ in shown_by_tensorboard(out, "constant", 0)["risk"]]
    assert rounds == list(range(1, 21))


def test_a_longer_study_and_one_stopped_before_its_end_was_written_are_shown_whole(tmp_path, monkeypatch):
    fixed, out = {"V": 3.0, "rho": 0.5}, tmp_path / "out"
    run_study(small("tensorboard", **fixed), out, **OWN)
    longer = replace(small("tensorboard", **fixed), rounds=25)
    with monkeypatch.context() as patch:
        patch.setattr(run, "concluded", Mock(side_effect=Killed))
        with pytest.raises(Killed):
            run_study(longer, out, resume=True, **OWN)
    shutil.rmtree(out / "tensorboard")
    seen = []
    run_study(longer, out, resume=True, see=lambda rows: seen.append(rows["round"].max()), **OWN)
    assert seen == [8, 16, 20, 25]  # of a study that goes on, what it had before too
    assert [t for t, _ in shown_by_tensorboard(out, "constant", 1)["n"]] == list(range(1, 26))


def test_a_log_that_is_not_installed_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "find_spec", lambda name: None)
    out = tmp_path / "never"
    assert 'needs mlflow: pip install "acdpp[mlflow]"' in refused(run_study, small("mlflow"), out, **OWN)
    assert not out.exists()
    assert "log must be" in refused(small, "wandb")
    monkeypatch.undo()
    with pytest.raises(KeyboardInterrupt):
        run_study(small("tensorboard"), out, see=Mock(side_effect=KeyboardInterrupt), **OWN)
    monkeypatch.setattr(logs, "find_spec", lambda name: None)
    assert "needs tensorboard" in refused(run_study, None, out, resume=True, **OWN)


def test_the_command_line_asks_for_logs_and_shows_curves_as_text(tmp_path):
    config, out = tmp_path / "study.toml", tmp_path / "out"
    config.write_text('policies = ["oracle"]\npredict = false\ncheckpoint = 5\nmeasures = ["accuracy"]\n')
    words = ["--config", config, "--dataset", blobs_file(), "--rounds", "10", "--seeds", "2", "--out", out]
    done = acdpp("train", *map(str, words), "--log", "tensorboard", "--watch", "--no-fit")
    for t, line in zip((5, 10), done.stderr.splitlines(), strict=True):
        mean = np.mean([rows_of(out, "oracle", seed)[t - 1]["accuracy"] for seed in (0, 1)])
        assert line == f"acdpp: accuracy, round {t} of 10: oracle {mean:.3g}"
    assert len(shown_by_tensorboard(out, "oracle", 1)["accuracy"]) == 10


def chunk(first, values):
    """Rows of two policies with two seeds, of which the second has twice the value."""
    count = len(values[0])
    return {
        "policy": np.repeat(["one", "other"], 2 * count),
        "seed": np.tile(np.repeat([0, 1], count), 2),
        "round": np.tile(np.arange(first, first + count), 4),
        "excess_risk": np.concatenate([np.multiply(row, k) for row in values for k in (1, 2)]),
    }


def test_curves_have_the_mean_over_seeds_on_one_scale_that_is_not_logarithmic_for_accuracies():
    curves = watch.Curves(8)
    assert curves.lines(40) == ["waiting for the first rounds, round 0 of 8"]
    curves.add(chunk(1, [[1, 1], [2.0**7, 2.0**6]]))
    curves.add(chunk(3, [[2, np.nan], [4, 1]]))
    assert curves.sentence() == "excess risk, round 4 of 8: one nan, other 1.5"
    assert curves.lines(24)[1:] == [f"▁▁▂{' ' * 12}nan one", f"█▇▃▁{' ' * 11}1.5 other"]
    assert curves.lines(20)[1:] == [f"▁{' ' * 10}nan one", f"█▁{' ' * 9}1.5 other"]
    long = "buy-cheap-online"
    curves.means[long] = curves.means.pop("other")
    assert curves.lines(32)[2] == f"█▁{' ' * 10}1.5 {long}"
    assert curves.lines(31)[1:] == ["one", f"▁▁▂{' ' * 12}nan", long, f"█▇▃▁{' ' * 11}1.5"]
    rows = chunk(1, [[0, 1, 2], [4, 5, 7]])
    rows["accuracy"] = rows.pop("excess_risk") / 1.5
    curves, nothing = watch.Curves(3), watch.Curves(3)
    curves.add(rows)
    assert [line[:3] for line in curves.lines(80)[1:]] == ["▁▂▃", "▅▆█"]
    del rows["accuracy"]  # without measures there are none
    nothing.add(rows)
    assert nothing.lines(80) == ["nothing is measured, round 3 of 3"] == [nothing.sentence()]


def test_a_terminal_shows_curves_and_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    with watch.watched(4) as (tell, see, doing):
        see(chunk(1, [[1, 1], [2.0**7, 2.0**6]]))
        tell(2)
        doing("rounds")
    shown = capsys.readouterr().err
    for words in ("round 2 of 4", f"▁▁{' ' * 9}1.5 one", f"█▇{' ' * 10}96 other", "rounds ", "2/4"):
        assert words in shown
