"""Whole studies: what is saved explains itself, and a killed study continues to the same numbers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
import torch

from empirics import measuring
from empirics.records.columns import COLUMNS
from empirics.records.folder import read_result
from empirics.records.summary import FIELDS
from empirics.run import run_study
from empirics.settings.study import Study
from empirics.training.module import Module
from tests.empirics.small import blobs
from theory.bound import theorem_1
from theory.reuse import trajectory
from theory.setting import Constants, SettingError

SMALL = {
    "rounds": 40,
    "seeds": 2,
    "checkpoint": 10,
    "buffers": [8, 12],
    "budget": 11.0,
    "steps": 2,
    "labels": "parity",
}


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
    for row in saved["policies"].values():
        assert set(row) == set(FIELDS)
    assert set(rows.column_names) == set(COLUMNS)
    assert rows.num_rows == len(Study().policies) * 2 * 40
    files = [".lock", "rounds.parquet", "settings.json", "state-000000000040.npz", "summary.json"]
    assert sorted(path.name for path in out.iterdir()) == files
    for name, column in COLUMNS.items():
        assert rows.schema.field(name).metadata[b"description"].decode() == column.help


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
    assert run_study(out=out, resume=True) == json.loads(json.dumps(summary))


def test_a_finished_result_is_read_without_its_state_but_not_continued(result, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(result[0], copy)
    (state,) = copy.glob("state-*.npz")
    state.unlink()
    assert read_result(copy).summary == read_result(result[0]).summary
    with pytest.raises(SettingError, match="held the state"):
        run_study(out=copy, resume=True)


def test_a_result_cannot_be_continued_with_other_settings(result):
    with pytest.raises(SettingError, match=r"eta is 0.5 there and 0.25 here; seed is 0 there and 1 here"):
        run_study(small(seed=1, eta=0.25), result[0], resume=True)
    with pytest.raises(SettingError, match="has 40 rounds already, which cannot be cut to 30"):
        run_study(small(rounds=30), result[0], resume=True)


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
    stale = out / "parts" / "000000000021-000000000030.parquet"
    stale.write_bytes((out / "parts" / "000000000001-000000000010.parquet").read_bytes())
    (out / "settings.json.partial").write_text("{")
    assert run_study(out=out, resume=True) == result[1]


SCRIPT = """
import sys, time
from pathlib import Path
from empirics import measuring, run
from empirics.records.summary import FIELDS
from empirics.run import run_study
from tests.empirics.small import blobs
from empirics.settings.study import Study
from empirics.training.module import Module
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
    while not list(killed.glob("state-*.npz")) and process.poll() is None:
        time.sleep(0.005)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "summary.json").exists()
    study = Study.from_document(setting)
    assert run_study(study, killed, resume=True) == run_study(study, whole)
    assert pq.read_table(killed / "rounds.parquet").equals(pq.read_table(whole / "rounds.parquet"))


# --- extending, and what may have changed since ------------------------------------------------------------


def test_an_extended_study_is_the_longer_study_bit_for_bit(tmp_path):
    setting = {"policies": ["constant", "oracle", "hybrid"], "K": 30}
    whole = run_study(small(**setting, rounds=37), tmp_path / "whole")
    run_study(small(**setting, rounds=25), tmp_path / "longer")
    assert run_study(small(**setting, rounds=37), tmp_path / "longer", resume=True) == whole
    order = [(name, "ascending") for name in ("policy", "seed", "round")]
    tables = [read_result(tmp_path / name).rows.sort_by(order) for name in ("whole", "longer")]
    assert tables[0].equals(tables[1])
    assert read_result(tmp_path / "longer").settings["continued"][0]["after_round"] == 25


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"policies": ["constant", "acdpp", "acdpp-capped"]},
            "the settings of acdpp, acdpp-capped depend on",
        ),
        (
            {"policies": ["constant"], "cost": {"process": "drifting"}},
            "its prices depend on the number of rounds",
        ),
    ],
)
def test_what_was_chosen_for_the_horizon_cannot_be_extended(given, message, tmp_path):
    study = small(**given, rounds=12)
    summary = run_study(study, tmp_path / "result")
    with pytest.raises(SettingError, match=message):
        run_study(small(**given, rounds=20), tmp_path / "result", resume=True)
    assert run_study(study, tmp_path / "result", resume=True) == json.loads(json.dumps(summary))


def test_acdpp_can_be_extended_where_its_weight_and_region_are_given(tmp_path):
    given = {"policies": ["acdpp"], "V": 5.0, "rho": 0.9, "K": 4}
    run_study(small(**given, rounds=12), tmp_path / "longer")
    longer = run_study(small(**given, rounds=20), tmp_path / "longer", resume=True)
    assert longer == run_study(small(**given, rounds=20), tmp_path / "whole")


def stopped_at(study, out, after, **own):
    def stop(done):
        if done == after:
            raise Killed

    with pytest.raises(Killed):
        run_study(study, out, progress=stop, **own)


def test_another_version_is_a_warning_that_says_what_it_means(result, tmp_path, monkeypatch):
    stopped_at(small(), tmp_path / "old", 25)
    known = measuring.versions()
    monkeypatch.setattr(measuring, "versions", lambda: known | {"torch": "99.0"})
    with pytest.warns(UserWarning, match=r"torch .* → 99.0: .* need not bit for bit") as caught:
        summary = run_study(out=tmp_path / "old", resume=True)
    assert len(caught) == 1
    assert summary == result[1]
    assert read_result(tmp_path / "old").settings["continued"][0]["versions"]["torch"] == "99.0"


def test_a_policy_that_decides_otherwise_than_before_is_found_out(tmp_path):
    class Moody(Steady):
        def decide(self, state, cost):
            state, admitted = super().decide(state, cost)
            return state, admitted + 1

    study = small(policies=["constant"])
    stopped_at(study, tmp_path / "moody", 25, policies={"mine": Steady()})
    with pytest.raises(SettingError, match="in round 1 of mine, admitted was 2 and is 4 now"):
        run_study(out=tmp_path / "moody", resume=True, policies={"mine": Moody()})
    with pytest.raises(SettingError, match="there is no policy 'mine'"):
        run_study(out=tmp_path / "moody", resume=True)
    run_study(out=tmp_path / "moody", resume=True, policies={"mine": Steady()})


def test_other_data_or_prices_are_refused(tmp_path):
    x, y = blobs().train_x, blobs().train_y
    prices = np.linspace(1, 9, 40)
    own = {"dataset": (x, y), "cost": prices}
    stopped_at(small(policies=["constant"]), tmp_path / "own", 25, **own)
    with pytest.raises(SettingError, match="the data are not what it began with"):
        run_study(out=tmp_path / "own", resume=True, **(own | {"dataset": (2 * x, y)}))
    with pytest.raises(SettingError, match="the prices are not what it began with"):
        run_study(out=tmp_path / "own", resume=True, **(own | {"cost": prices + 1}))
    with pytest.raises(SettingError, match="data set 'given:tuple' was handed over in Python"):
        run_study(out=tmp_path / "own", resume=True, cost=prices)
    with pytest.raises(SettingError, match="prices 'given:ndarray' were handed over in Python"):
        run_study(out=tmp_path / "own", resume=True, dataset=(x, y))
    summary = run_study(out=tmp_path / "own", resume=True, **own)
    assert summary["intervals"].startswith("over 2 seeds, which differ in samples; shared: costs and")
    for wrong in ({"dataset": (2 * x, y)}, {"cost": prices + 1}):  # also of a finished one
        with pytest.raises(SettingError, match="not what it began with"):
            run_study(out=tmp_path / "own", resume=True, **(own | wrong))
    with pytest.raises(
        SettingError, match=r"policies is \['constant'\] there and \['constant', 'more'\] here"
    ):
        run_study(out=tmp_path / "own", resume=True, **own, policies={"more": Steady()})


@pytest.mark.parametrize("after", [15, 40])
def test_admissions_are_compared_client_by_client(tmp_path, after):
    class Shifted(Steady):
        def decide(self, state, cost):
            return state, np.tile([0, 2], (len(cost), 1))

    study = small(policies=["constant"], rounds=40)
    if after < 40:
        stopped_at(study, tmp_path / "own", after, policies={"mine": Steady()})
    else:
        run_study(study, tmp_path / "own", policies={"mine": Steady()})
    with pytest.raises(
        SettingError, match=r"some client's admissions or retention are not as they were|depend on"
    ):
        run_study(
            study if after < 40 else small(policies=["constant"], rounds=50),
            tmp_path / "own",
            resume=True,
            policies={"mine": Shifted()},
        )


@pytest.mark.parametrize("why", ["prices", "policy"])
def test_an_extension_that_fails_leaves_the_result_as_it_was(tmp_path, why):
    class Dry(Steady):
        def start(self, replicates):
            return 0

        def decide(self, state, cost):
            return state + 1, np.full((len(cost), 2), int(state < 12))

    own = {"cost": np.linspace(1, 9, 15)} if why == "prices" else {"policies": {"dry": Dry()}}
    study, longer = (small(policies=["constant"], rounds=rounds) for rounds in (10, 20))
    summary = run_study(study, tmp_path / "result", **own)
    files = {path.name: path.read_bytes() for path in (tmp_path / "result").iterdir()}
    with pytest.raises(
        SettingError, match="15 prices" if why == "prices" else "policy dry leaves round 15 without"
    ):
        run_study(longer, tmp_path / "result", resume=True, **own)
    assert {path.name: path.read_bytes() for path in (tmp_path / "result").iterdir()} == files
    assert run_study(study, tmp_path / "result", resume=True, **own) == json.loads(json.dumps(summary))


def test_a_study_under_way_can_be_cut_to_what_it_has(tmp_path):
    given = {"policies": ["constant", "oracle"]}
    stopped_at(small(**given, rounds=40), tmp_path / "cut", 25)
    cut = run_study(small(**given, rounds=20), tmp_path / "cut", resume=True)
    assert cut == run_study(small(**given, rounds=20), tmp_path / "whole")


def test_chunks_larger_than_parquets_own_row_groups_can_be_replayed(tmp_path, monkeypatch):
    plain = pq.write_table
    given = {"policies": ["constant", "oracle"]}
    whole = run_study(small(**given), tmp_path / "whole")

    def small_groups(table, where, row_group_size=7, **more):
        plain(table, where, row_group_size=row_group_size, **more)

    monkeypatch.setattr(pq, "write_table", small_groups)
    stopped_at(small(**given), tmp_path / "large", 25)
    assert pq.ParquetFile(next((tmp_path / "large" / "parts").iterdir())).num_row_groups == 1
    assert run_study(out=tmp_path / "large", resume=True) == whole


def test_the_network_may_start_elsewhere_when_a_study_goes_on(tmp_path):
    """A module made anew has other first parameters, but the state has what they have become."""
    own = {"dataset": (blobs().train_x, blobs().train_y)}
    study = small(policies=["constant"], labels="classes", eta=0.1)

    def made(seed):
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))

    whole = run_study(study, tmp_path / "whole", model=made(1), **own)
    stopped_at(study, tmp_path / "own", 15, model=made(1), **own)
    assert run_study(out=tmp_path / "own", resume=True, model=made(2), **own) == whole


def test_a_study_can_be_continued_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", x=blobs().train_x, y=blobs().train_y)
    (tmp_path / "prices.csv").write_text("".join(f"{price}\n" for price in range(1, 41)))
    study = small(
        policies=["constant"], dataset="npz:mine.npz", cost={"process": "trace", "file": "prices.csv"}
    )
    stopped_at(study, tmp_path / "own", 15)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run_study(out=tmp_path / "own", resume=True)["rounds"] == 40


def test_another_model_is_refused_even_with_as_many_parameters(tmp_path):
    def other(population):
        layers = list(network(population))
        return torch.nn.Sequential(layers[0], layers[1], torch.nn.ReLU(), layers[3])

    other.__name__ = "network"
    own = {"dataset": (blobs().train_x, blobs().train_y)}
    stopped_at(small(policies=["constant"], labels="classes"), tmp_path / "own", 15, model=network, **own)
    for wrong in (other, torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 4))):
        with pytest.raises(
            SettingError, match=r"the model is not the one|given:network' there and 'given:Seq"
        ):
            run_study(out=tmp_path / "own", resume=True, model=wrong, **own)
    run_study(out=tmp_path / "own", resume=True, model=network, **own)


# --- one's own things --------------------------------------------------------------------------------------


class Steady:
    """One sample a client and round, for three rounds."""

    retention = 3

    def start(self, replicates):
        return None

    def decide(self, state, cost):
        return state, np.ones((len(cost), 2), dtype=int)

    def book(self, state, cost, delivered):
        return state


def network(population):
    width = population.x[0].numel()
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(width, 5), torch.nn.Tanh(), torch.nn.Linear(5, population.classes)
    )


def test_own_data_model_policy_and_prices_give_a_result_like_any_other(tmp_path):
    prices = 1 + np.arange(40) % 7
    own = {
        "dataset": (blobs().train_x, blobs().train_y),
        "model": network,
        "policies": {"mine": Steady()},
        "cost": prices,
    }
    study = small(policies=["constant"], labels="classes", eta=0.1)
    stopped_at(study, tmp_path / "own", 15, **own)
    summary = run_study(out=tmp_path / "own", resume=True, **own)
    assert summary == run_study(study, tmp_path / "whole", **own)
    settings, _, rows = read_result(tmp_path / "own")
    assert list(summary["policies"]) == ["constant", "mine"]
    assert settings["study"]["model"] == "given:network"
    mine = rows.filter(pa.compute.equal(rows["policy"], "mine"))
    assert set(mine["admitted"].to_pylist()) == {2}
    first = mine.filter(pa.compute.equal(mine["seed"], 0)).sort_by("round")
    assert first["cost"].to_pylist() == prices.tolist()
    assert first["risk"].to_pylist()[-1] < first["risk"].to_pylist()[0]
    assert "excess_risk" not in rows.column_names
    assert summary["policies"]["mine"]["bound_corrected"] is None
    assert "the model is not known to have a convex loss" in summary["outside_the_hypotheses"]


class Odd(Module):
    """A model whose answers can be exchanged."""

    def __init__(self, population, **answers):
        super().__init__(network(population), population)
        self.answers = answers

    def update(self, theta, memory, descent):
        return self.answers.get("update", lambda theta: torch.zeros_like(theta))(theta)

    def accuracy(self, theta):
        return self.answers.get("accuracy", super().accuracy)(theta)

    def measure(self, theta, tilt):
        return self.answers.get("measure", lambda theta: super(Odd, self).measure(theta, tilt))(theta)


def test_frozen_parameters_stay_and_the_network_itself_is_left_alone(tmp_path):
    layers = torch.nn.Linear(8, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4)
    net = torch.nn.Sequential(*layers)
    layers[0].requires_grad_(False)
    before = [p.clone() for p in net.parameters()]
    study = small(policies=["constant"], labels="classes", rounds=3)
    run_study(study, tmp_path / "frozen", dataset=(blobs().train_x, blobs().train_y), model=net)
    assert all(
        p.dtype == torch.float32 and torch.equal(p, q) for p, q in zip(net.parameters(), before, strict=True)
    )
    assert read_result(tmp_path / "frozen").settings["parameters"] == 5 * 4 + 4


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (torch.nn.Linear(3, 4), "does not take inputs of shape"),
        (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 3)), "one score a class"),
        (torch.nn.BatchNorm1d(8), "has buffers"),
        (torch.nn.Flatten(), "no parameters"),
        (lambda population: 3, "a model must be a torch.nn.Module"),
        (lambda population: 1 / 0, "could not be made: ZeroDivisionError"),
        (
            torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(), torch.nn.Linear(8, 4)),
            "failed in a first round",
        ),
        (
            lambda population: Odd(population, update=lambda theta: theta[:1, :1]),
            "update must return a tensor of shape",
        ),
        (
            lambda population: Odd(population, accuracy=lambda theta: 0.5),
            "failed in a first round: TypeError",
        ),
        (lambda population: Odd(population, measure=lambda theta: {}), "failed in a first round: KeyError"),
        (7, "a model must be a torch.nn.Module"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_anything_is_written(model, message, tmp_path):
    data = (blobs().train_x, blobs().train_y)
    with pytest.raises(SettingError, match=message) as caught:
        run_study(small(labels="classes"), tmp_path / "never", dataset=data, model=model)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "never").exists()


def test_a_module_class_starts_every_seed_anew_if_asked_to(tmp_path):
    own = {"dataset": (blobs().train_x, blobs().train_y), "model": network}
    for per_seed in ([], ["start"]):
        study = small(policies=["constant"], labels="classes", rounds=3, per_seed=per_seed, eta=0.1)
        name = f"with-{len(per_seed)}"
        run_study(study, tmp_path / name, **own)
        rows = read_result(tmp_path / name).rows
        first = rows.filter(pa.compute.equal(rows["round"], 1))["risk"].to_pylist()
        assert (first[0] == first[1]) == (not per_seed)


def test_partition_and_start_of_each_seed_enter_the_spread(tmp_path):
    study = small(
        policies=["constant", "oracle"], partition="dirichlet", per_seed=["partition", "start"], rounds=6
    )
    summary = run_study(study, tmp_path / "result")
    settings, _, rows = read_result(tmp_path / "result")
    assert len(set(settings["least_risk"]["values"])) == 2
    assert min(rows["excess_risk"].to_pylist()) >= -1e-10
    assert "differ in costs and samples and partition and first parameters" in summary["intervals"]


# --- refusals before anything is written -------------------------------------------------------------------


def test_a_result_that_no_disk_could_hold_is_refused(tmp_path):
    with pytest.raises(SettingError, match="GB are free"):
        run_study(small(rounds=10**12), tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"\w+ of constant is not finite in round"),
        ({"measures": ["accuracy"]}, "θ of constant is not finite after round 10"),
        ({"measures": ["risk"], "rounds": 1}, "is not finite after"),
    ],
)
def test_divergence_is_said_and_not_recorded(tmp_path, given, message):
    wild = {
        "policies": ["constant"],
        "radius": None,
        "eta": 1e8,
        "steps": 8,
        "dtype": "float32",
        "labels": "classes",
    }
    layers = [torch.nn.Linear(8, 30), *(torch.nn.Linear(30, 30) for _ in range(4)), torch.nn.Linear(30, 4)]
    own = {"dataset": (blobs().train_x, blobs().train_y), "model": torch.nn.Sequential(*layers)}
    with pytest.raises(SettingError, match=f"training diverged: .*{message}"):
        run_study(small(**(wild | given)), tmp_path / "wild", **own)
    with pytest.raises(SettingError, match="unfinished"):
        read_result(str(tmp_path / "wild"))


def test_resuming_what_is_no_result_is_refused_and_makes_nothing(tmp_path):
    with pytest.raises(SettingError, match=r"is no result"):
        run_study(out=tmp_path / "mistyped", resume=True)
    assert not (tmp_path / "mistyped").exists()
