"""The claims. A module that ends in a list `CLAIMS` is a group, named in `proofs_check.registry.GROUPS`."""
