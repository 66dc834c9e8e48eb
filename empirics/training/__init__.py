"""What trains, and what is known of the problem.

`problem` makes tensors of data and settings, `streams` says which sample comes when, `model` is the protocol of one,
`linear` and `module` are logistic regression and any network, `engine` trains all runs and clients at once, `twin` one
client at a time. `risk` finds the certified minimiser, `constants` the theory's constants.
"""
