"""One thread for torch: the tests' tensors are small, and cores may be shared."""

import torch

torch.set_num_threads(1)
