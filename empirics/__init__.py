"""Streaming federated training on CPU or GPU, and what it measures against the bounds of `theory`.

A study is a list of policies and a number of replicates. Its admissions depend on costs and counts alone, so they
are computed first (`policy`, `schedule`); then every run and every client trains in one tensor program (`engine`),
and the excess risk is measured exactly, because the population is the finite data set itself (`risk`).
"""
