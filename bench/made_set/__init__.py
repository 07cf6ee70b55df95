"""Made review sets of any size, to measure with: ``python -m rexview bench make-set``.

They are shaped like ReXVQA answered by several models: several questions a study, four options,
reports and explanations of real length. All of it is simulated, and the set's notice says so. The
same seed makes the same set, with the same versions of numpy and polars.
"""

from bench.made_set.writing import MadeSet, make_set

__all__ = ["MadeSet", "make_set"]
