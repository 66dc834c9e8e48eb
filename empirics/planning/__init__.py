"""Planning: the policy and learner of least predicted excess risk that a budget can buy.

| module | holds |
| --- | --- |
| `plan` | `plan_study`: the best by each objective, beside the paper's own and a lower bound |
| `search` | the search: candidates, which are screened and which are predicted fully |
"""
