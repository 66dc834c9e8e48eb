"""What a study is: its settings, the named ones, and the prices it pays. Plain data, no torch."""
