"""Re-running the paper's Section 7: one study, or the ladder of studies that tells what carries its reported gain."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from empirics.results import explained_gain as explained
from empirics.results import reproduction
from empirics.results.folder import SETTINGS, new_folder
from empirics.run import Announce, Progress, run_study
from empirics.settings.ladder import EQUAL, at_equal_spending, rungs
from empirics.settings.study import Study
from theory.paper import ROUNDS, RUNS

__all__ = ["explain", "reproduce"]

Stage = Callable[[str, Study], AbstractContextManager[Progress]]


def reproduce(
    study: Study | None, out: Path | None = None, *, announce: Announce = lambda folder: None, **options: Any
) -> dict[str, Any]:
    """Train by `run_study`, which takes the options, and leave in the result `reproduction.json`, which is returned."""
    place: list[Path] = []

    def begun(folder: Path) -> None:
        place.append(folder)
        announce(folder)

    run_study(study, out, announce=begun, **options)
    (folder,) = place
    document = reproduction.reproduction(folder)
    reproduction.save(folder / reproduction.NAME, document)
    return document


def explain(
    dataset: str,
    out: Path | None = None,
    *,
    worlds: tuple[str, ...] | None = None,
    seeds: int = RUNS,
    rounds: int = ROUNDS,
    eta: float | None = None,
    device: str | None = None,
    data_dir: Path | None = None,
    stage: Stage = lambda name, study: nullcontext(lambda done: None),
    announce: Announce = lambda folder: None,
) -> tuple[Path, dict[str, Any]]:
    """Train the ladder, or some of its worlds, into subfolders of `out`, and leave `explained.json` there.

    What is finished stays, what was begun is continued. `stage` is told of every study that is trained and gives what
    is told of its rounds.
    """
    studies = rungs(dataset, worlds, seeds=seeds, rounds=rounds)
    results = Path("results")
    fresh = out is None and not results.exists()
    place = new_folder(results, f"{dataset}-explained") if out is None else out
    announce(place)

    def train(study: Study, folder: Path) -> None:
        with stage(folder.name, study) as progress:
            there = (folder / SETTINGS).exists()
            options: dict[str, Any] = {
                "device": device,
                "data_dir": data_dir,
                "resume": there,
                "progress": progress,
            }
            reproduce(study, folder, **options)

    try:
        for world, named in studies.items():
            study = named if eta is None else replace(named, eta=eta)
            train(study, place / world)
            if world in EQUAL:
                cost = explained.spending(reproduction.Runs.read(place / world))
                train(at_equal_spending(study, cost), explained.equal_folder(place, world))
    finally:
        if out is None and not any(place.iterdir()):
            place.rmdir()  # claimed in vain: the data are not there, say
            if fresh:
                with suppress(OSError):  # another study has begun there
                    results.rmdir()
    document = explained.explained(place)
    reproduction.save(place / explained.NAME, document)
    return place, document
