"""ACDPP: admission region, surrogate penalty, its minimiser, one round, whole samples, constraint violations."""
