"""Admissions, decided from prices and counts alone.

| module | holds |
| --- | --- |
| `prices`, `price_file` | the prices of all rounds; those of a CSV file |
| `policy` | the protocol of policies, and the paper's; their formulas are in `theory.control` |
| `buying`, `adaptive` | policies that buy at low prices, and that listen to losses |
| `released`, `departures` | the authors' rule, and the steps between it and the paper's |
| `registry` | policies by name |
| `schedule`, `memories` | the rounds of a study: who admits what, at which debt; who holds which samples until when |
| `steps_and_means` | step sizes of rounds, and weights of models in a mean |
| `controller`, `state_json` | one policy in a server of your own; its state on disk |
"""
