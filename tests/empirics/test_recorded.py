"""Small studies of every kind, predicted and trained: their numbers are those recorded.

A record knows no truth, which is what the other tests are for: it says that some number changed, and which. Whoever
means to change one writes the record anew, and the difference is in the commit: python -m tests.empirics.test_recorded
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

from empirics import predict_study, run_study
from empirics.prediction import landscape
from empirics.settings.study import Study
from tests.empirics.small import blobs, columns, study

RECORD = Path(__file__).with_name("recorded.json")
ALMOST = 1e-6  # of a number: far above rounding, which another processor may do otherwise
POLICIES = (*Study().policies, "released", "buy-cheap")
FEW = {"seeds": 2, "rounds": 20, "policies": ("acdpp", "hybrid", "buy-cheap-online")}
SHORT = {"seeds": 1, "rounds": 6, "policies": ("constant",)}
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
}


def numbers(document, name=""):
    """All numbers in it, by the way to them."""
    if isinstance(document, dict):
        return {k: v for key, one in document.items() for k, v in numbers(one, f"{name}/{key}").items()}
    if isinstance(document, list | tuple):
        return {k: v for i, one in enumerate(document) for k, v in numbers(one, f"{name}/{i}").items()}
    return {name: document} if isinstance(document, int | float) and not isinstance(document, bool) else {}


def curves(found):
    return {
        name: [*one.risk[:: max(len(one.risk) // 7, 1)], *one.path[-2:], one.fitted]
        for name, one in found.items()
    }


def predicted(case, monkeypatch):
    given, options = PREDICTED[case], OPTIONS.get(case, {"best": False})
    if case == "as of many samples":  # of which some are looked at, in lumps of directions
        monkeypatch.setitem(landscape.PROBES, "cpu", 50 * 4**2)
        monkeypatch.setattr(landscape, "SINGLE", 5)
        monkeypatch.setattr(landscape, "LUMPS", 6)
    found = predict_study(study(**given), dataset=blobs(), **options)
    return numbers({"document": found.document(), "curves": curves(found.forecasts)})


def trained(case, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        summary = run_study(
            study(**({"predict": False} | TRAINED[case])), f"{folder}/result", dataset=blobs()
        )
        rows = {name: values[-1].item() for name, values in columns(f"{folder}/result").items()}
    return numbers(
        {"last row": rows} | {name: summary.get(name) for name in ("policies", "least_risk", "gap_closed")}
    )


def differing(found, recorded):
    """The names of the numbers that are not as recorded."""
    names = sorted(found.keys() | recorded.keys())
    values = ([one.get(name, np.nan) for name in names] for one in (found, recorded))
    same = np.isclose(*values, rtol=ALMOST, atol=1e-12, equal_nan=True)
    return [name for name, is_ in zip(names, same, strict=True) if not is_]


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORD.read_text(encoding="utf-8"))


KINDS = {"predicted": (predicted, PREDICTED), "trained": (trained, TRAINED)}


@pytest.mark.parametrize(
    ("kind", "case"), [(kind, case) for kind, (_, cases) in KINDS.items() for case in cases]
)
def test_a_small_study_is_as_recorded(kind, case, recorded, monkeypatch):
    assert differing(KINDS[kind][0](case, monkeypatch), recorded[kind][case]) == []


def main():
    document = {}
    for kind, (find, cases) in KINDS.items():
        for case in cases:
            with pytest.MonkeyPatch.context() as monkeypatch:
                found = find(case, monkeypatch)
            document.setdefault(kind, {})[case] = {
                name: float(f"{value:.9g}") for name, value in found.items()
            }
    RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
