"""Committed results of repeating the paper's Section 7, and what the paper states there.

| | |
| --- | --- |
| `stated` | the numbers of Section 7 |
| `reproduction`, `json_entries` | read a result of `acdpp reproduce` |
| `committed` | the committed results, checked for contradictions |
| `DATASET-SETTING.json` | a result with the command that made it, `mnist-trained.json` with another η |

`proofs_check.engines.experiment` states the rules by which results decide claims.
"""
