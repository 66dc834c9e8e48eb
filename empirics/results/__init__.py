"""What remembers: `folder` locks and checks a result, `columns` and `rows` are its table, `logs` shows it to
others' viewers, `summary` sums it up, `answer` in short."""
