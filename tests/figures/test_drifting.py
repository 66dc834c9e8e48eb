"""The figures of a population that moves draw what was measured, and mark its changes."""

import pytest

from empirics.run import run_study
from empirics.settings.drift import Drift
from figures import drifting, prediction, retention, risk_vs_bound
from figures.measured import read
from figures.options import NotMeasured
from tests.empirics.small import blobs, study
from tests.figures.small import PAPER, fits


def trained(out, drift, **given):
    few = {"rounds": 24, "seeds": 2, "measures": ("risk",)}
    run_study(study(drift=drift, **few | given), out, dataset=blobs())
    return read(out, drifting.READS)


def drawn(figure):
    return [list(line.get_ydata()) for line in figure.axes[0].lines]


def test_risk_over_time_has_the_moments_of_change(tmp_path, measured):
    moves = Drift(kind="gradual", start=6, length=9)
    result = trained(tmp_path / "moves", moves, policies=("constant", "oracle"))
    data = drifting.compute(result)
    assert data.changes == [6, 15]
    assert data.measured["oracle"].mean.tolist() == result["excess_risk"][1].mean(axis=0).tolist()
    assert data.predicted["oracle"].tolist() == result["predicted_excess_risk"][1, 0].tolist()
    figure = drifting.draw(data, PAPER)
    upright = [line.get_xdata()[0] for line in figure.axes[0].lines if len(set(line.get_xdata())) == 1]
    assert upright == [6, 15]
    for curves in ({name: one.mean for name, one in data.measured.items()}, data.predicted):
        assert all(values.tolist() in drawn(figure) for values in curves.values())
    assert fits(figure)
    ordered = drifting.compute(trained(tmp_path / "order", Drift(kind="order"), policies=("constant",)))
    assert (ordered.changes, ordered.predicted) == ([], {})
    other = drifting.draw(ordered, PAPER)
    assert "loss" in other.axes[0].get_ylabel()
    told, untold = ([text.get_text() for text in one.legends[0].get_texts()] for one in (figure, other))
    assert (told[:3], len(told), untold) == (["constant", "oracle", "predicted"], 4, ["constant"])
    assert told[3].startswith("change begins")
    with pytest.raises(NotMeasured, match="does not drift"):
        drifting.compute(measured)


def test_speeds_stand_side_by_side_over_the_retention_where_other_figures_refuse(tmp_path):
    given = {"policies": ("constant@K=1", "constant@K=3"), "predict": False}
    drifts = [Drift(kind="periodic", length=length) for length in (6, 12)]
    results = [trained(tmp_path / str(drift.length), drift, **given) for drift in drifts]
    data = drifting.compute_speeds(results)
    assert list(data.risks) == ["periodic, 6 rounds", "periodic, 12 rounds"]
    for risk, result in zip(data.risks.values(), results, strict=True):
        assert risk.mean == pytest.approx(result["excess_risk"].sum(axis=2).mean(axis=1))
    figure = drifting.draw_speeds(data, PAPER)
    assert fits(figure)
    assert all(risk.mean.tolist() in drawn(figure) for risk in data.risks.values())
    with pytest.raises(NotMeasured, match="are both"):
        drifting.compute_speeds(results[:1] * 2)
    other = trained(tmp_path / "labels", Drift(kind="periodic", length=6, parts="labels"), **given)
    still = trained(tmp_path / "still", Drift(), **given)
    all_ = drifting.compute_speeds([results[0], other, still]).risks
    assert list(all_) == ["periodic, 6 rounds of classes", "periodic, 6 rounds of labels", "no drift"]
    pairs = [f"{policy}@K={K}" for policy in ("constant", "acdpp") for K in (1, 3)]
    two = trained(tmp_path / "two", Drift(), **given | {"policies": tuple(pairs)})
    assert list(drifting.compute_speeds([two]).risks) == ["no drift, constant", "no drift, acdpp"]
    data = drifting.compute_speeds(
        [still, trained(tmp_path / "1", Drift(kind="abrupt", start=9), **given, seeds=1)]
    )
    assert list(data.risks) == ["no drift", "abrupt in round 9"]
    assert "over 2 seeds" in data.note
    assert "One seed" in data.note
    assert "No prediction: the setting predict is false" in retention.compute(still).note
    with pytest.raises(NotMeasured, match="fixed population"):
        risk_vs_bound.compute(read(tmp_path / "labels", risk_vs_bound.READS))
    reason = r"^this result has no prediction \(the setting predict is false\): train with predict = true"
    with pytest.raises(NotMeasured, match=reason):
        prediction.compute(read(tmp_path / "labels", prediction.READS))
