"""Committed results of re-running the paper's Section 7, what the paper says there, and how a result is read.

| | |
| --- | --- |
| `stated` | the numbers of Section 7 |
| `document`, `fields` | a result of `acdpp reproduce`, read |
| `committed` | the results that decide, checked for contradictions |
| `DATASET-SETTING.json` | a result that decides claims: `mnist-paper.json`, and with another η `mnist-trained.json` |

Each file names the command that made it. What counts as reproduced is written down in
`proofs_check.engines.experiment`.
"""
