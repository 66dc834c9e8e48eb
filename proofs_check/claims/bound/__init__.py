"""The learning-error bound: Theorem 1, its appendix, and the aggregation rule."""
