"""Speed, measured: each script prints hardware, n, and the ratio to an honest alternative."""
