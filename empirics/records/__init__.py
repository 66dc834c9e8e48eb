"""What remembers: `folder` locks and checks a result, `columns` and `rows` are its table, `summary` sums it up."""
