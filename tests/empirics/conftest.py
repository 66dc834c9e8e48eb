"""One thread for torch, and no oneDNN: the tests' tensors are small, and cores may be shared. On ARM oneDNN takes most
of a millisecond for every layer of a float32 network."""

import logging

import torch

torch.set_num_threads(1)
torch.backends.mkldnn.set_flags(_enabled=False)
for name in list(logging.root.manager.loggerDict):
    if name.startswith("torch"):  # pytest hangs its log on loggers that do not propagate, six times a test
        logging.getLogger(name).propagate = True
