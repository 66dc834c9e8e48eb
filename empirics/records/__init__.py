"""What remembers: `folder` locks and checks the result folder, `columns` and `rows` are its table, `summary` sums it up."""
