"""What decides, from prices and counts alone.

`prices` yields what a sample costs (`trace_file` reads a CSV), `policy` has the policies and the protocol of one's own,
`registry` finds them by name, `schedule` plays all of a study's, `totals` keeps count of who holds what, `controller`
puts one policy into a server of one's own, with `codec` for its JSON, and `adaptive` is one that listens to losses
there. `released` is the authors' rule, `departures` what lies between it and the paper's.
"""
