"""Every policy inside the region: ranges, sums, orders, and the expansion of the regret."""
