"""What a learner reaches on some splits of a table: the work of a process."""

import time
from argparse import Namespace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.common import timed
from benchmarks.tables.rivals import LEARNERS
from benchmarks.tables.splits import split_of

Task = tuple[str, int, str, range]  # table, rows per round, learner, splits
Measured = tuple[NDArray[Any], NDArray[Any], float]  # log-loss and accuracy, (settings, splits), and seconds


def begin() -> None:
    """Set up a process of a single thread."""
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    threadpool_limits(1)


def measured(task: Task, given: Namespace, end: float) -> Measured | None:
    """Log-loss and accuracy of a learner, or nothing when no work is to begin any more."""
    if time.monotonic() > end:
        return None
    name, batch, learner, seeds = task
    splits = split_of(name, batch, seeds, given)
    truth = splits.test.y.cpu().numpy()
    chances, (seconds,) = timed(partial(LEARNERS[learner], splits))
    own = np.take_along_axis(chances, truth[None, :, :, None], -1)[..., 0]
    return -np.log(own.clip(1e-15)).mean(-1), (chances.argmax(-1) == truth).mean(-1), seconds
