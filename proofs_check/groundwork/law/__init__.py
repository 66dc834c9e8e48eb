"""What the law of reuse rests on: all streams, sums over lags, admissions that repeat."""
