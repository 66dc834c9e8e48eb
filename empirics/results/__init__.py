"""Results of studies.

| module | holds |
| --- | --- |
| `folder`, `rows` | a result folder that survives a kill, locked and checked; its table |
| `resume`, `fingerprint`, `provenance` | what a continued study must agree with; a user's model; data and versions |
| `measures`, `divergence` | measures made of the engine's; runs that are no longer finite |
| `summary`, `best_policy`, `oracle_gap` | a study per policy; the best one; the share of the oracle's gap closed |
| `reproduction`, `explained_gain` | Section 7 from a result; the causes of the gain that it reports |
| `logs` | TensorBoard and MLflow |
"""
