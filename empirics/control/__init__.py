"""Admissions, decided from prices and counts alone.

`prices` makes the prices (`price_file` reads a CSV), `policy` has policies and their protocol, `registry` finds them by
name, `schedule` decides the rounds of a study, `totals` counts memories, `controller` puts one policy into a server of
your own (`state_json` saves it), and `adaptive` listens to losses. `released` is the authors' rule, `departures` the
steps between it and the paper's.
"""
