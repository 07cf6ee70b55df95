"""Benchmarks: each module has ``run()``, which returns rows to print (``python -m rexview bench``).

They compare alternatives in one run and report ratios, since absolute times differ between machines
and from minute to minute.
"""
