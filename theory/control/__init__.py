"""ACDPP: admission region, surrogate penalty, its minimiser, one round, constraint violations."""
