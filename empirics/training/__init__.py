"""What trains, and what is known of the problem.

`problem` makes tensors of data and settings, `streams` says which sample comes when, `model` is the protocol of one,
`linear` is logistic regression, `module` any network, which `other_models` makes; `engine` trains all runs and clients
at once, `twin` one client at a time. `risk` finds the certified minimiser, `constants` the theory's constants.
"""
