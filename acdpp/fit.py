"""`--fit`: the radius of the ball, the feature scale and the step size that suit a study's data."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from acdpp import parse
from acdpp.options import Preset, StudyOptions
from acdpp.output import READING, needed_for, note, told, users_code
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study
    from empirics.training.fit import BallFit

__all__ = ["fitted", "pilot_size", "suiting"]


def pilot_size(options: StudyOptions) -> int | None:
    """Number of samples that `--pilot` allows to look at; None for all."""
    return None if options.pilot is None else parse.whole(options.pilot, "--pilot")


def fitted(study: Study, options: StudyOptions, *, quiet: bool = False) -> Study:
    """The study with the ball, scale and steps that suit its data, unless set explicitly; a note says which.

    By default only for the user's own data, 30 or more samples without timestamps; settings of --config then stay.
    """
    from empirics.settings.dataset_name import OWN_FILES
    from empirics.settings.toml import named_in

    fit, config, size = options.fit, options.config, pilot_size(options)
    own = study.dataset.startswith(OWN_FILES) or options.preset is Preset.own
    if fit is False or not (own or fit):
        return study
    if study.radius is None or study.model != "logistic" or study.drift.kind != "none":
        if fit:
            raise SettingError(
                "--fit needs logistic regression on a ball, and a population that does not drift"
            )
        return study
    with needed_for("training"):
        from empirics.training.fit import fitted_by
    choices = fitted_by(study)
    kept = {name for name in choices if getattr(options, name, None) is not None}
    kept |= named_in(config) if config is not None and not fit else frozenset()
    free = [name for name in choices if name not in kept]
    if quiet and not free:
        return study
    with users_code(), told(READING, None, quiet=quiet, transient=True):
        found = suiting(study, free, data_dir=options.data_dir, pilot=size, anyway=bool(fit))
    if isinstance(found, str):
        return study
    if not quiet:
        if free:
            note(f"chosen by a pilot: {found.words}; --no-fit keeps the preset's")
        if found.warning is not None:
            note(found.warning)
    return found.applied(study) if free else study


def suiting(
    study: Study,
    free: Collection[str],
    *,
    data_dir: Path | None = None,
    pilot: int | None = None,
    anyway: bool = False,
) -> BallFit | str:
    """The ball, scale and steps that suit a study's data, or a pilot of them; or the reason why nothing is chosen."""
    with needed_for("training"):
        from empirics.prediction.pilot import draw_pilot
        from empirics.training.device import threads
        from empirics.training.fit import fit_ball, why_not
        from empirics.training.problem import make_problem

    with threads(study.threads, "take a part of them"):
        problem = make_problem(study, "cpu", data_dir)
        reason = why_not(problem)
        if reason is not None and not anyway:
            return reason
        return fit_ball(problem if pilot is None else draw_pilot(problem, pilot).problem, free)
