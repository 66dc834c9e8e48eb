"""Training, and the learning problem.

`problem` makes tensors of data and settings, `partition` the clients' pools (iid, classes, Dirichlet, client ids),
`sample_order` the order of their samples, `world` a drifting population. `model` is the protocol of models, `linear`
logistic regression, `module` any network, which `other_models` makes; `engine` trains all runs and clients at once,
`twin` one client at a time, and `information` is a server that adds up gradient and curvature. `risk` finds the
certified minimiser, `constants` the theory's constants, and `fit` is what `--fit` chooses.
"""
