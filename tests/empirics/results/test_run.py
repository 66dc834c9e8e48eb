"""Whole studies: what is saved explains itself, and a killed study continues to the same numbers."""

import json
import shutil
import tracemalloc
from functools import partial, update_wrapper

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from empirics import Study, read_result, run_study
from empirics.columns import COLUMNS
from empirics.results import provenance
from empirics.results.fingerprint import fingerprint, same_model
from empirics.results.folder import read_settings, read_state
from empirics.results.summary import FIELDS
from empirics.training.device import threads
from empirics.training.module import Module
from tests.empirics.small import (
    GPU,
    Periodic,
    Pulled,
    assert_same_rows,
    blobs,
    blobs_file,
    columns,
    problem,
    stopped_at,
    study,
)
from tests.refused import refused
from theory.bound.theorem1 import theorem_1
from theory.reuse.trajectories import trajectory
from theory.setting import Constants

FEW = {"rounds": 40, "seeds": 2, "checkpoint": 10, "steps": 2, "predict": False}
MEAN = {"average": "polynomial", "V": 5.0, "budget": 22.0}
DATA = (blobs().train_x, blobs().train_y)


def small(**given):
    plain = {"buffers": [8, 12], "budget": 11.0, "labels": "parity", "dataset": blobs_file()}
    return Study.from_document(plain | FEW | given)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "result"
    return out, run_study(small(), out)


@pytest.fixture
def killed(tmp_path):
    """That study, killed in its third chunk."""
    return stopped_at(small(), tmp_path / "killed", 25)


def test_a_result_explains_itself(result):
    out, summary = result
    settings, saved, rows = read_result(out)
    assert saved == json.loads(json.dumps(summary))
    assert Study.from_document(settings["study"]) == small()
    assert settings["versions"].items() >= {"numpy": np.__version__, "pyarrow": pa.__version__}.items()
    assert settings["data"] == {"train": len(blobs().train_y), "test": len(blobs().test_y)}
    assert not read_state(out)[2]["fingerprint"].size  # settings and data determine the model
    for row in saved["policies"].values():
        assert {*row, "idle_rounds", "last_final_accuracy", "mean_risk", "mean_risks"} == set(FIELDS)
    here = {*rows.column_names, "predicted_excess_risk", "fresh_loss"}
    assert here == {one for one in COLUMNS if "last" not in one}
    assert rows.num_rows == len(Study().policies) * 2 * 40
    files = [".lock", "rounds.parquet", "settings.json", "state-000000000040.npz", "summary.json"]
    assert sorted(path.name for path in out.iterdir()) == files
    for name in rows.column_names:
        assert rows.schema.field(name).metadata[b"description"].decode() == COLUMNS[name].help


def test_the_best_accuracy_of_the_last_iterate_is_its_own(tmp_path):
    summary = run_study(small(policies=["constant"], average="equal", eta=2.0), tmp_path / "result")
    table, row = columns(tmp_path / "result"), summary["policies"]["constant"]
    for name in ("", "last_"):
        best = np.reshape(table[f"{name}accuracy"], (-1, 40)).max(1)  # of each seed, before the last model
        final = row[f"{name}final_accuracy"]["mean"]
        assert row[f"{name}best_accuracy"]["mean"] >= max(best.mean(), final) - 1e-12
    assert row["last_best_accuracy"] != row["best_accuracy"]


def test_the_last_model_is_measured_as_a_further_round_would(tmp_path):
    given = {"policies": ["constant@K=2"], "average": "equal", "seeds": 1}
    given |= {"radius": 0.05}  # the mean leaves the ball
    short, _ = (run_study(small(rounds=T, **given), tmp_path / str(T)) for T in (6, 7))
    found, (*_, row) = short["policies"]["constant@K=2"], read_result(tmp_path / "7").rows.to_pylist()
    for name in ("risk", "accuracy", "last_risk"):
        last = name.replace("last_", "last_final_") if "last" in name else f"final_{name}"
        assert (row["round"], row[name]) == (7, pytest.approx(found[last]["mean"], rel=1e-12))


def test_the_rows_are_consistent_with_theory(result):
    out, summary = result
    table = columns(out)
    assert table["excess_risk"].min() >= -1e-10
    for row in summary["policies"].values():
        assert 0 < (risk := row["cumulative_excess_risk"]["mean"]) < row["bound_corrected"]
        for form in ("corrected", "stated"):
            assert row[f"{form}_over_measured"] == row[f"bound_{form}"] / risk
    constant = {name: values[table["policy"] == "constant"] for name, values in table.items()}
    track = trajectory(constant["admitted"][40:].astype(float), K=10)
    for name, field in {"n": "n", "N": "N", "chi": "mismatch", "uniformity": "uniformity"}.items():
        np.testing.assert_allclose(constant[name][40:], getattr(track, field), rtol=1e-12)
    constants = Constants(**read_result(out).settings["constants"]["constants"])
    bound = theorem_1(track.n, track.N, track.uniformity, track.mismatch, constants).total
    row = summary["policies"]["constant"]
    assert row["bound_corrected"] == pytest.approx(bound, rel=1e-12)
    assert row["cumulative_excess_risk"]["mean"] == pytest.approx(constant["excess_risk"].sum() / 2)


def test_a_finished_result_can_be_read_again_but_neither_overwritten_nor_changed(result, tmp_path):
    out, summary = result
    (out / "summary.json.partial").touch()
    assert run_study(small(), out, resume=True) == json.loads(json.dumps(summary))
    assert run_study(out=out, resume=True) == json.loads(json.dumps(summary))
    assert not (out / "summary.json.partial").exists()
    for given, resume, message in (
        ({}, False, "already holds a result"),
        ({"seed": 1, "eta": 0.25}, True, "eta is 0.5 there and 0.25 here; seed is 0 there and 1 here"),
        ({"rounds": 30}, True, "already has 40 rounds, which cannot be cut to 30"),
        ({"rounds": 60}, True, "to 60 rounds: the settings of acdpp, acdpp-capped, buy-cheap"),
    ):
        assert message in refused(run_study, small(**given), out, resume=resume)
    assert "give out=FOLDER" in refused(run_study, resume=True)
    assert "is no result" in refused(run_study, out=tmp_path / "mistyped", resume=True)
    copy = shutil.copytree(out, tmp_path / "copy")
    next(copy.glob("state-*.npz")).unlink()
    assert read_result(copy).summary == read_result(out).summary
    assert "state after round 40" in refused(run_study, out=copy, resume=True)


def held(folder, rounds):
    """Bytes of Python and NumPy that a study holds on to at most, and how many admissions it decides."""
    plain = {"radius": None, "V": 10.0, "rho": 0.9, "measures": ("accuracy",)}
    policies, seen = ["acdpp", "constant", "hybrid", "released"], []
    given = small(rounds=rounds, seeds=20, policies=policies, **plain)
    tracemalloc.start()
    try:
        run_study(given, folder, progress=lambda _: seen.append(tracemalloc.get_traced_memory()[0]))
    finally:
        tracemalloc.stop()
    return max(seen), rounds * given.runs * given.clients


@pytest.mark.slow
def test_memory_grows_by_less_than_the_admissions_of_the_rounds_alone(result, tmp_path):
    """Admissions take 8 bytes each; a schedule that is held has six arrays of that size."""
    (short, few), (long, many) = (held(tmp_path / str(rounds), rounds) for rounds in (20, 80))
    assert long - short < 8 * (many - few)


@pytest.mark.parametrize(("device", "after"), [("cpu", 3), ("cpu", 25), pytest.param("cuda", 25, marks=GPU)])
def test_a_study_stopped_anywhere_continues_to_the_same_numbers(result, tmp_path, device, after):
    whole, wanted = result
    if device == "cuda":
        wanted = run_study(small(), whole := tmp_path / "whole", device=device)
    out = stopped_at(small(), tmp_path / "parts", after, device=device)
    assert "unfinished" in refused(read_result, out)
    assert run_study(small(), out, resume=True) == wanted
    assert_same_rows(out, whole)


def test_rows_without_their_checkpoint_are_written_again(result, killed):
    """A kill after the rows and before the state: the state on disk decides."""
    parts = killed / "parts"
    shutil.copy(parts / "000000000001-000000000010.parquet", parts / "000000000021-000000000030.parquet")
    (killed / "settings.json.partial").write_text("{")
    stopped_at(None, killed, 25, resume=True)
    assert not list(killed.rglob("*30.parquet"))
    assert run_study(out=killed, resume=True) == result[1]


def test_another_version_is_a_warning_that_says_what_it_means(result, killed, monkeypatch):
    known = dict(provenance.versions())
    provenance.versions().clear()
    assert provenance.versions() == known
    others = known.keys() - {"python"}
    monkeypatch.setattr(provenance, "versions", lambda: known | dict.fromkeys(others, "99.0"))
    monkeypatch.setattr(provenance.platform, "machine", lambda: "abacus")
    told = " .* → 99.0, ".join([*sorted(others), r"device .* → .*abacus.* up to rounding"])
    with pytest.warns(UserWarning, match=told) as caught:
        summary = run_study(out=killed, resume=True)
    assert len(caught) == 1
    assert "python" not in str(caught[0].message)
    assert summary == result[1]
    assert read_result(killed).settings["continued"][0]["versions"]["torch"] == "99.0"


def test_a_study_that_leaves_its_threads_to_torch_warns_where_they_are_others(tmp_path):
    before = torch.get_num_threads()
    given, out = {"policies": ["constant"], "threads": None}, tmp_path / "result"
    run_study(small(**given, rounds=2), out)
    told = f"^continued with threads {before} → {before + 1}: the numbers agree .* up to rounding"
    with threads(before + 1, ""), pytest.warns(UserWarning, match=told):
        run_study(small(**given, rounds=3), out, resume=True)
    assert read_settings(out)["continued"][0]["threads"] == before + 1


def test_a_card_is_known_by_its_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a card, {device}")
    assert provenance.machine(torch.device("cuda", 1))["device"] == "a card, cuda:1"


def test_chunks_larger_than_parquets_own_row_groups_can_be_replayed(tmp_path, monkeypatch):
    plain = pq.write_table
    study = small(policies=["constant", "oracle"], rounds=14)
    whole = run_study(study, tmp_path / "whole")

    def small_groups(table, where, row_group_size=7, **more):
        plain(table, where, row_group_size=row_group_size, **more)

    monkeypatch.setattr(pq, "write_table", small_groups)
    out = stopped_at(study, tmp_path / "large", 12)
    assert pq.ParquetFile(next((out / "parts").iterdir())).num_row_groups == 1
    assert run_study(out=out, resume=True) == whole


def test_a_checkpoint_may_come_before_anybody_has_a_sample(tmp_path):
    given = {"policies": ("constant",), "budget": 2.0, "rounds": 6, "seeds": 2, "predict": False}
    found = [run_study(study(**given, checkpoint=n), tmp_path / f"{n}", dataset=blobs()) for n in (1, 6)]
    assert found[0]["policies"] == found[1]["policies"]
    row = found[0]["policies"]["constant"]
    assert (row["idle_rounds"], {*row["bound_corrected_terms"].values()}) == (1, {None})


def test_idle_rounds_and_last_iterates_are_in_the_books(tmp_path):
    given = small(policies=["burst", "constant@decay=9,average=none"], **MEAN)
    summary = run_study(given, tmp_path / "result")
    table, found = columns(tmp_path / "result"), summary["policies"]["burst"]
    burst, idle = table["policy"] == "burst", table["n"] == 0
    mine = {name: values[burst] for name, values in table.items()}
    assert (mine["admitted"] == np.where(idle[burst], 0, 20)).all()
    assert (found["idle_rounds"], idle[~burst].sum()) == (idle.sum() / 2, 0)
    for name in ("chi", "stated_mismatch", "mismatch"):
        assert np.array_equal(np.isnan(table[name]), idle), name
    for name in ("risk", "excess_risk", "accuracy"):
        assert np.array_equal(table[name][~burst], table[f"last_{name}"][~burst])
        assert not np.array_equal(mine[name], mine[f"last_{name}"])
    still = np.flatnonzero(idle & (table["round"] < 40))
    for name in ("risk", "last_risk"):
        assert np.array_equal(table[name][still + 1], table[name][still])
    over = np.nansum(mine["mismatch"]) / np.nansum(mine["variance"] * mine["chi"])
    assert found["mismatch"]["over_chi"] == pytest.approx(over)
    assert found["mean_cost"]["mean"] == pytest.approx((mine["cost"] * mine["admitted"]).mean())
    assert found["last_cumulative_excess_risk"]["mean"] == pytest.approx(mine["last_excess_risk"].sum() / 2)
    for row in summary["policies"].values():
        assert {row["bound_corrected"], row["bound_stated"], *row["bound_corrected_terms"].values()} == {None}
    assert "corrected_agrees" not in summary["ranking"]
    assert summary["outside_the_hypotheses"][-1] == "some rounds have no sample"


MOVING = {"policies": ["constant", "buy-cheap-online@V=4.0"], "buffers": [4, 5, 7], "budget": 22.0}
MOVING |= {"average": "exponential", "average_by": 0.8, "checkpoint": 8}
APART = {"policies": ["constant"], "partition": "two-class"}
APART |= {"drift": {"kind": "gradual", "parts": "labels", "length": 6, "apart": 2}}
FORGETS = {"policies": ["constant@K=20", "adaptive@K=20"], "buffers": [400], "budget": 110.0, "eta": 3.0}
FORGETS |= {"drift": {"kind": "abrupt", "parts": "labels", "start": 30}, "labels": "classes", "radius": 20.0}
FORGETS |= {"checkpoint": 8}  # after round 32 one run has forgotten, and the other has not
LENGTHS = {  # settings; rounds, the round of a stop, and rounds from then on
    "longer": ({"policies": ["constant", "oracle", "hybrid"], "K": 30, "predict": True}, 25, None, 37),
    "V given": ({"policies": ["acdpp"], "V": 5.0, "rho": 0.9, "K": 4, "checkpoint": 50}, 12, None, 20),
    "cut to what it has": ({"policies": ["constant", "oracle"], "predict": True}, 40, 25, 20),
    "idle rounds": ({"policies": ["burst", "constant@average=equal"], "decay": 9.0} | MEAN, 25, None, 37),
    "a population that turns": (MOVING | {"drift": {"kind": "periodic", "length": 7}}, 20, 9, 30),
    "samples in their order": (MOVING | {"drift": {"kind": "order", "length": 3}}, 20, 9, 30),
    "clients that drift apart": (APART, 6, None, 12),
    "it forgets": (FORGETS, 38, 35, 45),
}


@pytest.mark.parametrize(("given", "rounds", "stop", "then"), LENGTHS.values(), ids=LENGTHS)
def test_a_study_of_another_length_is_that_study_bit_for_bit(given, rounds, stop, then, tmp_path):
    out, whole, begun = tmp_path / "changed", tmp_path / "whole", small(**given, rounds=rounds)
    if stop:
        stopped_at(begun, out, stop)
    if rounds < then:
        run_study(begun, out, resume=bool(stop))
    done = read_settings(out)["progress"]["done"]
    changed = run_study(small(**given, rounds=then), out, resume=True)
    assert changed == run_study(small(**given, rounds=then), whole)
    assert_same_rows(out, whole)
    continued = read_settings(out)["continued"]
    assert (len(continued), continued[-1]["after_round"]) == (1 + bool(stop and rounds < then), done)


def test_a_study_that_cannot_be_extended_stays_as_it_was(tmp_path):
    dry = Periodic(*10 * [(1, 1)], (0.5, 0.5))
    for given, own, message in (
        ({}, {"cost": np.linspace(1, 9, 10)}, "10 prices"),
        ({"checkpoint": 5}, {"policies": {"dry": dry}}, "policy 'dry' failed in round 11"),
        ({"policies": ["constant", "acdpp", "acdpp-capped"]}, {}, "of acdpp, acdpp-capped depend on"),
        ({"policies": ["burst@average=none", "oracle"], "average": "tail"}, {}, "the tail of oracle begins"),
        ({"cost": {"process": "drifting"}}, {}, "its prices depend on the number of rounds"),
        ({"drift": {"kind": "order"}}, {}, "how many samples pass in a round"),
    ):
        out = tmp_path / message
        study, longer = (small(**({"policies": ["constant"], "rounds": T} | given)) for T in (5, 11))
        summary = run_study(study, out, **own)
        files = {path.name: path.read_bytes() for path in out.iterdir()}
        assert message in refused(run_study, longer, out, resume=True, **own)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == files
        assert run_study(study, out, resume=True, **own) == json.loads(json.dumps(summary))


def network(population, bend=torch.nn.Tanh):
    return torch.nn.Sequential(torch.nn.Linear(8, 5), bend(), torch.nn.Linear(5, population.classes))


bent = update_wrapper(partial(network, bend=torch.nn.ReLU), network)  # another with as many parameters
MINE = {"mine": Periodic((1, 1))}
OWN = {"dataset": DATA, "model": network, "policies": MINE, "cost": 1 + np.arange(50) % 7}
OF_OWN = {"policies": ["constant"], "labels": "classes", "eta": 0.1}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    stopped = stopped_at(small(**OF_OWN, rounds=20), folder / "stopped", 15, **OWN)
    return stopped, folder / "whole", run_study(small(**OF_OWN, rounds=20), folder / "whole", **OWN)


def test_own_data_model_policy_and_prices_give_a_result_like_any_other(own, tmp_path):
    stopped, whole, summary = own
    out = shutil.copytree(stopped, tmp_path / "own")
    assert run_study(out=out, resume=True, **OWN) == summary
    assert_same_rows(out, whole)
    assert list(summary["policies"]) == ["constant", "mine"]
    assert read_result(out).settings["study"]["model"] == "given:network"
    table = columns(out)
    mine = {name: values[table["policy"] == "mine"] for name, values in table.items()}
    assert set(mine["admitted"]) == {2}
    assert mine["cost"][:20].tolist() == OWN["cost"][:20].tolist()
    assert mine["risk"][19] < mine["risk"][0]
    assert "excess_risk" not in table
    assert summary["policies"]["mine"]["bound_corrected"] is None
    assert "the model is not known to have a convex loss" in summary["outside_the_hypotheses"]


def test_other_things_than_it_began_with_are_refused(own):
    """Without rounds a stopped study goes on; with rounds a finished one is read or extended."""
    data, prices = {"dataset": (2 * DATA[0], DATA[1])}, {"cost": OWN["cost"] + 1}
    for rounds, changed, message in (
        (None, data, "the data are not what it began with"),
        (None, prices, "the prices are not what it began with"),
        (None, {"dataset": None}, "data set 'given:tuple' was handed over in Python"),
        (None, {"cost": None}, "prices 'given:ndarray' were handed over in Python"),
        (None, {"policies": None}, "there is no policy 'mine'"),
        (None, {"policies": MINE | {"more": MINE["mine"]}}, "policies is ['constant', 'mine'] there and"),
        (None, {"policies": {"mine": Periodic((2, 2))}}, "in round 1 of mine, admitted was 2 and is 4 now"),
        (None, {"policies": {"mine": Periodic((0, 2))}}, "some client's admissions or retention are not as"),
        (None, {"model": bent}, "the model is not the one it began with"),
        (None, {"model": torch.nn.Linear(8, 4)}, "'given:network' there and 'given:Linear' here"),
        (20, data, "not what it began with"),
        (20, prices, "not what it began with"),
        (30, {"policies": {"mine": Periodic((0, 2))}}, "some client's admissions or retention"),
        (30, {"model": bent}, "the model is not the one it began with"),
    ):
        study, folder = (small(**OF_OWN, rounds=rounds), own[1]) if rounds else (None, own[0])
        assert message in refused(run_study, study, folder, resume=True, **(OWN | changed))
    assert read_result(own[1]).summary == json.loads(json.dumps(own[2]))


class Hasty(Pulled):
    def update(self, theta, memory, descent):
        return 2 * super().update(theta, memory, descent)


def test_models_of_the_same_risk_differ_in_their_steps():
    tasks = [problem(study(), model=model) for model in (Pulled, Pulled, Hasty)]
    one, same, other = (fingerprint(task, torch.ones(9, 2, dtype=torch.float64)) for task in tasks)
    assert (same_model(one, same), same_model(one, other)) == (True, False)


def test_the_network_may_start_elsewhere_when_a_study_goes_on(tmp_path):
    """A module made anew has other first parameters, but the state has what they have become."""
    study, first = small(**OF_OWN, rounds=20), {"model": network(blobs()), "dataset": DATA}
    whole = run_study(study, tmp_path / "whole", **first)
    stopped_at(study, tmp_path / "own", 15, **first)
    assert run_study(out=tmp_path / "own", resume=True, model=network(blobs()), dataset=DATA) == whole


def test_frozen_parameters_stay_and_the_network_itself_is_left_alone(tmp_path):
    net = network(blobs())
    net[0].requires_grad_(False)
    before = [p.clone() for p in net.parameters()]
    run_study(small(**OF_OWN, rounds=3), tmp_path / "frozen", dataset=DATA, model=net)
    for now, then in zip(net.parameters(), before, strict=True):
        assert now.dtype == torch.float32
        assert torch.equal(now, then)
    assert read_result(tmp_path / "frozen").settings["parameters"] == 5 * 4 + 4


def odd(**answers):
    told = {name: lambda *_, answer=answer: answer for name, answer in answers.items()}
    return lambda population: type("Odd", (Module,), told)(network(population), population)


def test_a_model_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    for model, message in (
        (torch.nn.Linear(3, 4), "does not take inputs of shape"),
        (torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 3)), "for two inputs, got (2, 3)"),
        (torch.nn.BatchNorm1d(8), "has buffers"),
        (torch.nn.Flatten(), "no parameters"),
        (lambda population: 3, "a model must be a torch.nn.Module"),
        (7, "a model must be a torch.nn.Module"),
        (lambda population: 1 / 0, "could not be made: ZeroDivisionError"),
        (torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(8, 4)), "failed in a first round"),
        (odd(update=torch.zeros(1, 1)), "update must return a tensor of shape"),
        (odd(accuracy=0.5), "failed in a first round: AttributeError"),
        (odd(measure={}), "failed in a first round: KeyError"),
    ):
        given = {"out": tmp_path / "never", "dataset": DATA, "model": model}
        assert message in refused(run_study, small(labels="classes"), **given)
        assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("model", [network, network(blobs())])
@pytest.mark.parametrize("per_seed", [[], ["start"]])
def test_a_network_starts_every_seed_anew_if_asked_to(tmp_path, per_seed, model):
    study = small(**OF_OWN, rounds=2, per_seed=per_seed)
    run_study(study, tmp_path / "result", dataset=DATA, model=model)
    first, _, other, _ = columns(tmp_path / "result")["risk"]
    assert (first == other) == (not per_seed)
