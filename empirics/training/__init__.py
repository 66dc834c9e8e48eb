"""Training, and the learning problem.

| module | holds |
| --- | --- |
| `engine`, `twin` | all runs and clients at once; one client at a time, slow and obvious |
| `problem` | tensors of data and settings |
| `partition`, `sample_order` | clients' pools (iid, classes, Dirichlet, client ids); the order of their samples |
| `world` | a drifting population |
| `scaling`, `fit` | features as models see them; what `--fit` chooses |
| `model`, `linear` | the protocol of models; logistic regression |
| `module`, `networks`, `other_models` | any network of torch's; ours; those of a user |
| `resnet`, `layout` | many ResNets at once on a GPU, and the layout of their parameters |
| `kernels`, `kernel_tiles`, `gpu_memory` | their kernels; the work of a program; how many networks fit |
| `information`, `informed` | a server that adds up gradient and curvature; its place in the engine |
| `sums`, `questions`, `client_sums` | what it adds up; sums as answers of clients; a server that asks for them |
| `risk`, `constants` | the certified minimiser of the risk; the constants of the theory |
| `device` | CPU or GPU, and threads |
"""
