"""Results: `folder` locks and checks a folder, `rows` are its table, `logs` feeds TensorBoard and MLflow, `summary` and
`best_policy` sum it up; `resume`, `fingerprint` and `provenance` say what a continued study must agree with."""
