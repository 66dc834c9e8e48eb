"""Networks that train at once: as many as the GPU has room for."""

from collections.abc import Iterator

import torch

__all__ = ["parts"]

MEMORY_SHARE_MAX = 0.7  # of the free memory that training may take


def parts(count: int, each: int, device: torch.device) -> Iterator[slice]:
    """Slices of as many networks as the GPU has room for."""
    room = MEMORY_SHARE_MAX * _free(device)
    some = max(int(room // each), 1)
    for start in range(0, count, some):
        yield slice(start, start + some)


def _free(device: torch.device) -> int:
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
