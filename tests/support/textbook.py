"""Statistics from their definitions: a second opinion on those of scipy and scikit-learn."""

from math import comb, sqrt
from statistics import NormalDist

import numpy as np


def wilson(k, n, level=0.95):
    """Return Wilson's score interval of k successes among n (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(k * (n - k) / n + z * z / 4)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def exact_mcnemar(only_a, only_b):
    """Return the two-sided exact p of McNemar's test: twice the smaller tail, at most 1."""
    n, k = only_a + only_b, min(only_a, only_b)
    return min(2 * sum(comb(n, i) for i in range(k + 1)) / 2**n, 1.0)


def benjamini_hochberg(ps):
    """Return adjusted p: the smallest rate of false discoveries at which each is still one."""
    m, ranks = len(ps), sorted(ps)
    return [min(m * q / (ranks.index(q) + ranks.count(q)) for q in ranks if q >= p) for p in ps]


def quadratic_kappa(table):
    """Return Cohen's kappa with quadratic weights of a square table of counts (Cohen 1968)."""
    shares = np.asarray(table, dtype=float) / np.sum(table)
    places = np.arange(len(shares))
    weights = (places[:, None] - places) ** 2
    by_chance = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    apart = (weights * by_chance).sum()
    return 1 - (weights * shares).sum() / apart if apart else float("nan")
