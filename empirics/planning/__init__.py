"""Planning: the policy and learner of least predicted excess risk that a budget can buy."""
