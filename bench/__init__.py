"""Benchmarks: each module has ``run()``, which returns rows to print (``python -m rexview bench``).

They compare side by side in one run and give ratios, since absolute times differ from machine to
machine and from minute to minute.
"""
