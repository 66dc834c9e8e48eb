"""Small studies of every kind, predicted and trained: their numbers are those recorded."""

from pathlib import Path

import pytest

from empirics import Study, predict_study, run_study
from empirics.prediction import loss_landscape as landscape
from empirics.settings.drift import Drift
from tests.empirics.small import blobs, columns, study
from tests.recorded import held, numbers

RECORD = Path(__file__).with_name("recorded.json")
POLICIES = (*Study().policies, "released", "buy-cheap")
FEW = {"seeds": 2, "rounds": 20, "policies": ("acdpp", "hybrid", "buy-cheap-online")}
SHORT = {"seeds": 1, "rounds": 6, "policies": ("constant",)}
MOVES = Drift(kind="gradual", start=2, length=9)
TURNS = Drift(kind="periodic", length=5, parts="inputs", apart=1)
PREDICTED = {
    "many policies": FEW | {"policies": POLICIES, "rounds": 12},
    "old samples": SHORT | {"rounds": 40, "K": 36, "buffers": (40, 50, 70), "budget": 11.0},
    "many local steps": SHORT | {"steps": 20, "K": 3, "rounds": 18, "radius": 10.0},
    "inside the ball": FEW | {"radius": 300.0, "eta": 0.2},
    "momentum": SHORT | {"momentum": 0.6, "policies": ("constant", "oracle")},
    "classes": FEW | {"labels": "classes", "rounds": 8},
    "clients that differ": FEW | {"labels": "classes", "partition": "two-class", "rounds": 8},
    "weights that differ": FEW | {"alpha": (0.6, 0.3, 0.1), "weights": "samples"},
    "starts that differ": FEW | {"per_seed": ("start",), "radius": 1.0, "rounds": 8},
    "steps of their own": SHORT | {"policies": ("constant@eta=0.1", "constant@steps=5", "constant@K=2")},
    "as of many samples": SHORT | {"labels": "classes"},
    "the best": SHORT,
    "a pilot": SHORT | {"rounds": 3},
    "a population that moves": SHORT | {"labels": "classes", "drift": MOVES},
    "a sample of one that moves": SHORT | {"rounds": 4, "drift": TURNS},
    "a long time": SHORT | {"rounds": 5000, "buffers": (40, 50, 70), "budget": 220.0},
}
OPTIONS = {"the best": {"objective": "final"}, "a pilot": {"pilot": 60, "best": False}}
TRAINED = {
    "many policies": FEW | {"policies": POLICIES},
    "one round": SHORT | {"rounds": 1},
    "a weighty penalty": FEW | {"policies": ("acdpp",), "V": 1e3, "rho": 0.99, "predict": True},
    "the code": FEW | {"policies": ("acdpp+K+cap", "released-K", "acdpp@rho=0.5,V=3"), "fractions": "floor"},
    "classes": FEW | {"labels": "classes", "momentum": 0.5, "steps": 2},
    "shares": FEW | {"partition": "dirichlet", "per_class": 20, "per_seed": ("partition",)},
    "parts": FEW | {"partition": "split", "replacement": False, "scale": "pixels", "radius": None},
    "rounds without a new sample": SHORT | {"replacement": False, "budget": 4.0, "K": 8, "checkpoint": 1},
    "steps of their own": PREDICTED["steps of their own"] | {"measures": ("mismatch",)},
    "weights that differ": FEW | {"alpha": (0.6, 0.3, 0.1), "assumed_mean_cost": 4.0},
    "a population that moves": SHORT | {"checkpoint": 4, "drift": MOVES},
}


def predicted(case, monkeypatch, folder):
    given, options = PREDICTED[case], OPTIONS.get(case, {"best": False})
    if case == "a sample of one that moves":
        monkeypatch.setattr(landscape, "POPULATION_WHOLE_MAX", 100)
        monkeypatch.setattr(landscape, "SUBSAMPLE_SIZE", 60)
    if case in ("as of many samples", "a population that moves"):  # some, in lumps of directions
        monkeypatch.setitem(landscape.PROBE_CELLS_MAX, "cpu", 50 * 4**2)
        monkeypatch.setattr(landscape, "DIRECTIONS_ALONE", 5)
        monkeypatch.setattr(landscape, "DIRECTION_LUMPS", 6)
    found = predict_study(study(**given), dataset=blobs(), **options)
    curves = {
        name: [*one.risk[:: max(len(one.risk) // 7, 1)], *one.path[-2:], one.fitted]
        for name, one in found.forecasts.items()
    }
    return numbers({"document": found.document(), "curves": curves})


def trained(case, monkeypatch, folder):
    given = study(**({"predict": False} | TRAINED[case]))
    summary = run_study(given, folder / "result", dataset=blobs())
    rows = {name: values[-1].item() for name, values in columns(folder / "result").items()}
    kept = {name: summary.get(name) for name in ("policies", "least_risk", "gap_closed")}
    return numbers({"last row": rows} | kept)


CASES = [(found, case) for found, cases in ((predicted, PREDICTED), (trained, TRAINED)) for case in cases]


@pytest.mark.parametrize(("found", "case"), CASES)
def test_a_small_study_is_as_recorded(found, case, monkeypatch, tmp_path):
    held(RECORD, f"{found.__name__}: {case}", found(case, monkeypatch, tmp_path))
