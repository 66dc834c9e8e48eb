"""`acdpp design --drift`: how long to keep samples of a population that moves, from its drift or from its samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acdpp import parse
from acdpp.output import console
from acdpp.study import needed_for, of_preset
from theory.design import best_rate
from theory.drift_limits import best_drifting_retention, best_drifting_step, drift_floor
from theory.setting import Budget, SettingError

__all__ = ["drifting_design", "show"]


def drifting_design(
    setting: Budget,
    drift: str,
    *,
    contraction: str | None,
    horizon: int | None,
    eta: str | None,
    steps: str | None,
    data_dir: Path | None,
) -> dict[str, Any]:
    """Plain JSON values. The drift is a number, q over the variance of a sample, or the name of a data set."""
    try:
        q = float(parse.number(drift, "--drift"))
    except SettingError:
        if contraction is not None:
            raise SettingError("--contraction is taken from the samples: leave it out") from None
        if horizon is None:
            raise SettingError(
                "--drift of samples needs --horizon, the rounds that they took to come, such as --horizon 500"
            ) from None
        return _from_samples(setting, drift, horizon, eta, steps, data_dir)
    if contraction is None or eta is not None or steps is not None or horizon is not None:
        raise SettingError(
            "--drift of a number takes --contraction, what a round leaves of a distance, such as 0.9, and neither "
            "--eta, --steps nor --horizon"
        )
    left = float(parse.number(contraction, "--contraction"))
    if q < 0 or not 0 <= left < 1:
        raise SettingError("--drift must be at least 0, and --contraction at least 0 and below 1")
    problem = {"h": [1.0], "variance": [1.0], "eta": 1 - left}
    return {"drift": q, "interval": None, "told": q > 0, **_choices(setting, [q], problem)[0]}


def _from_samples(
    setting: Budget, name: str, horizon: int, eta: str | None, steps: str | None, data_dir: Path | None
) -> dict[str, Any]:
    """Measured on a data set, with an interval."""
    with needed_for("measuring a drift"):
        from empirics.data import load
        from empirics.prediction.moving import how_it_moves
        from empirics.settings.study import Study
        from empirics.training.problem import choose_device, from_dataset
    given: dict[str, Any] = {"dataset": name, "policies": ["constant"]}
    if eta is not None:
        given["eta"] = float(parse.number(eta, "--eta"))
    if steps is not None:
        given["steps"] = parse.whole(steps, "--steps")
    study = Study.from_document(given, of_preset(None, None, name))
    data = load(name, data_dir)
    found = how_it_moves(from_dataset(study, data, choose_device("cpu")), data.time, horizon)
    problem = {"h": found.h, "variance": found.variance, "eta": study.eta, "E": study.steps}
    ends = [max(found.drift, 0.0), found.low, found.high]
    best, low, high = _choices(setting, ends, problem)
    return {
        "drift": found.drift,
        "interval": [found.low, found.high],
        "told": found.told,
        "samples": found.samples,
        "pairs": found.pairs,
        **best,
        "K_interval": sorted([low["K"], high["K"]]),
    }


def _choices(setting: Budget, drifts: list[float], problem: dict[str, Any]) -> list[dict[str, Any]]:
    """The best K and rate at each drift; and K = 1 or that K with a step of its own, whichever has less risk."""
    found: list[dict[str, Any]] = []
    for q in drifts:
        moving = problem | {"walk": [q * spread for spread in problem["variance"]]}
        K, rate = best_drifting_retention(setting, **moving)
        one: dict[str, Any] = {
            "K": K,
            "rate": float(rate),
            "risk": float(drift_floor(float(rate), K, **moving)),
            "tuned": None,
        }
        if q > 0 and not found:
            one["tuned"] = min((_tuned(setting, kept, moving) for kept in {1, K}), key=lambda it: it["risk"])
        found.append(one)
    return found


def _tuned(setting: Budget, K: int, moving: dict[str, Any]) -> dict[str, Any]:
    """This K with the best step."""
    rate = float(best_rate(K, setting))
    own = {name: value for name, value in moving.items() if name != "eta"}
    step = best_drifting_step(rate, **own, K=K)
    return {
        "K": K,
        "rate": rate,
        "step": step,
        "risk": float(drift_floor(rate, K, **(moving | {"eta": step}))),
    }


def show(document: dict[str, Any]) -> None:
    """For people."""
    say = console().print
    if document["interval"] is None:
        say(f"drift: the optimum moves by {document['drift']:.3g} of a sample's variance in a round")
    else:
        low, high = document["interval"]
        say(
            f"drift: {document['drift']:.3g} of a sample's variance in a round, {low:.3g} to {high:.3g} at 95 %, from "
            f"{document['samples']:,} samples in {document['pairs']} pairs of stretches"
        )
        if not document["told"]:
            say("that is not told from no drift at all: take more samples, or a longer time")
    kept = document.get("K_interval")
    between = "" if kept is None else f" ({kept[0]} to {kept[1]} over the interval)"
    say(f"at this step: keep samples for K = {document['K']} rounds{between}, {document['rate']:.4g} a round")
    say(f"excess risk in the long run: {document['risk']:.3g}")
    if tuned := document["tuned"]:
        say(f"with K = {tuned['K']} and steps of η = {tuned['step']:.3g}: {tuned['risk']:.3g}")
    say(
        "for quadratic losses, and an optimum that walks: acdpp train --drift or a sweep over K confirms it, or not"
    )
