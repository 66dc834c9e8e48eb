"""The scale of inputs: their norms, and for the linear model the constant input of the bias."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.settings.study import Study

__all__ = ["AS_THEY_ARE", "Scaling", "scaled_inputs", "scaling_of", "standardised"]

FEATURE_ROUNDING = 1e-6  # relative, of a feature: float32 has seven digits


@dataclass(frozen=True)
class Scaling:
    """The shift of inputs and their divisor after it: numbers, or arrays of an input's shape."""

    less: NDArray[np.float64]
    over: NDArray[np.float64]

    def of(self, given: NDArray[Any], dtype: str) -> NDArray[Any]:
        found = given.astype(dtype)
        if self.less.any():
            found = found - self.less.astype(dtype)
        return np.asarray(found / self.over.astype(dtype))


AS_THEY_ARE = Scaling(np.array(0.0), np.array(1.0))


def scaling_of(train: NDArray[Any], study: Study) -> Scaling:
    """Divide by the largest norm of a training input; `standard` features vary by 1 around 0 before that."""
    if study.scale == "pixels":
        return AS_THEY_ARE
    if study.scale == "standard":
        less, over = standardised(train)
        return Scaling(less, over * _longest((train - less) / over))
    return Scaling(np.array(0.0), np.array(_longest(train.astype(study.dtype))))


def standardised(x: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of every feature; 1 for one that does not vary by more than it was rounded.

    >>> standardised(np.array([[0.1, 3.0, 0.0], [0.1, 7.0, 0.0]], np.float32))[1].tolist()
    [1.0, 2.0, 1.0]
    >>> standardised(np.array([[0.1, 3.0], [0.3, 9.0]]))[1].round(6).tolist()
    [0.1, 3.0]
    """
    mean, spread = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64)
    return mean, np.where(spread > FEATURE_ROUNDING * np.abs(x).max(axis=0), spread, 1.0)


def _longest(x: NDArray[Any]) -> float:
    return float(np.linalg.norm(x.reshape(len(x), -1), axis=1).max()) or 1.0


def scaled_inputs(given: NDArray[Any], scaling: Scaling, study: Study, *, flat: bool) -> NDArray[Any]:
    """Inputs of the study's type and scale.

    Flat ones, for the linear model, get a constant 1 for the bias, and (x/‖x‖_max, 1)/√2 has norm at most 1.
    """
    part = scaling.of(given, study.dtype)
    if flat:
        part = part.reshape(len(part), -1)
        part = np.concatenate([part, np.ones((len(part), 1), part.dtype)], axis=1)
        if study.scale != "pixels":
            part = part / np.sqrt(np.array(2, part.dtype))
    return part
