"""A study's settings: read, refused, saved, and read again."""

import math

import pytest

from empirics.settings.study import PRESETS, Study, read_toml
from theory.setting import SettingError


@pytest.mark.parametrize("name", PRESETS)
def test_a_saved_study_reads_back_as_itself(name):
    assert Study.from_document(PRESETS[name].document()) == PRESETS[name]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"round": 3}, "did you mean 'rounds'"),
        ({"cost": {"lo": 1}}, "unknown setting 'cost.lo': did you mean 'cost.low'"),
        ({"cost": "uniform"}, "cost must be a table"),
        ({"policies": "acdpp"}, "policies must be a list"),
        ({"policies": ["acdp"]}, "policies must be different ones of"),
        ({"policies": []}, "policies must be different ones of"),
        ({"policies": ["oracle", "oracle"]}, "policies must be different ones of"),
        ({"buffers": [8, 0]}, "buffers must be whole numbers"),
        ({"rounds": 0}, "horizon T must be a whole number"),
        ({"seeds": 2.5}, "seeds must be a whole number"),
        ({"eta": -1}, "eta must be a positive"),
        ({"rho": 1.0}, "rho must lie strictly between 0 and 1"),
        ({"alpha": [0.5, 0.6]}, "alpha must give each client"),
        ({"momentum": 1}, "momentum must lie in"),
        ({"replacement": "no"}, "replacement must be true or false"),
        ({"dataset": "imagenet"}, "dataset must be one of"),
        ({"radius": "big"}, "radius must be a positive"),
        ({"momentum": "much"}, "wrong type"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(given, message):
    with pytest.raises(SettingError, match=message) as caught:
        Study.from_document(given)
    assert "\n" not in str(caught.value)


def test_region_and_trade_off_follow_from_the_horizon_unless_given():
    study = Study.from_document({"rounds": 10_000})
    assert (study.V, study.rho) == (100.0, 0.99)
    kept = Study.from_document({"rounds": 10_000, "V": 7.0})
    assert (kept.V, kept.rho) == (7.0, 0.99)
    assert Study(rounds=1).rho == 1 - 1 / math.sqrt(2)


def test_a_settings_file_names_its_preset(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('preset = "released"\nrounds = 7\nradius = "none"\n[cost]\nhigh = 49\n')
    study = read_toml(path)
    assert (study.preset, study.rounds, study.radius) == ("released", 7, None)
    assert (study.cost.process, study.cost.high) == ("integer", 49)
    with pytest.raises(SettingError, match="for the preset 'released', not for 'paper'"):
        read_toml(path, "paper")
    for text, message in {"rounds = ": "not a TOML file", 'preset = "mine"': "preset must be one of"}.items():
        path.write_text(text)
        with pytest.raises(SettingError, match=message):
            read_toml(path)
    with pytest.raises(SettingError, match="cannot read"):
        read_toml(tmp_path / "none.toml")


def test_the_default_study_lies_within_the_theorems_hypotheses_and_the_others_do_not():
    assert Study().departures == ()
    assert "clients draw from different distributions" in PRESETS["paper"].departures
    assert len(PRESETS["released"].departures) == 4


def test_the_assumed_mean_cost_enters_the_design_alone():
    study = Study.from_document({"cost": {"process": "integer", "high": 49}, "assumed_mean_cost": 5.5})
    assert study.theory_budget.mean_cost == 5.5
    assert study.cost.mean == 25
