"""Simulated review sets of any size for benchmarks: ``python -m rexview bench make-set``.

They have the form of ReXVQA answered by several models: several questions a study, four options,
reports and explanations of realistic length. Everything is simulated, and the set's notice states
it. A seed always makes the same set with the same versions of numpy and polars.
"""

from bench.made_set.writing import MadeSet, make_set

__all__ = ["MadeSet", "make_set"]
