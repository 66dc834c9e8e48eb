"""What the theory, the verification and the saved runs say, drawn.

One module a figure. `compute` turns settings into a frozen dataclass of arrays, all of them from `theory`,
`proofs_check` or a result of `empirics`; `draw` turns that dataclass into a matplotlib `Figure` and computes nothing.
`style` holds sizes, colours and fonts, `save` the files. No pyplot and no state that outlives a call.
"""
