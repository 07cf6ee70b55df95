"""A key for all that the outcome of looking at an answer depends on, but for the rules themselves.

Two numbers of 64 bits: the columns of the answer and of its case that detectors may read, and what
the detectors are set to for its model. Worked out column by column, a second for a million answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.batch import ANSWER_COLUMNS, CASE_COLUMNS
from rexview.detect.core.detector import Detector
from rexview.detect.kept.rules import settings_of
from rexview.frames.mapped import of_all_rows
from rexview.schema import ReviewSet

Keys = npt.NDArray[np.uint64]
"""Shape (n, 2)."""
_SEEDS: Final = (0x5CA1AB1E, 0x0DDBA11)
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)


def keys_of(review_set: ReviewSet, detectors: Sequence[Detector]) -> tuple[Keys, Keys]:
    """Return the keys of all cases and of all newest answers of a review set."""
    newest = review_set.newest
    of_cases = hashed(review_set.cases, CASE_COLUMNS)
    settings = [
        hashlib.sha256(settings_of(detectors, model.id).encode()).digest()
        for model in review_set.models
    ]
    of_models = np.array(
        [np.frombuffer(digest[:16], dtype=np.uint64) for digest in settings], dtype=np.uint64
    ).reshape(-1, 2)
    of_answers = hashed(review_set.answers, ANSWER_COLUMNS)[newest.row]
    for others in (of_cases[newest.case], of_models[newest.model]):
        of_answers = mixed(of_answers, others)
    return of_cases, of_answers


def hashed(table: pl.DataFrame, columns: Sequence[str]) -> Keys:
    """Return the keys of all rows of a table, by some of its columns."""
    found = np.zeros((len(table), 2), dtype=np.uint64)
    for name in columns:
        hashes = of_all_rows(table, partial(_of_column, name))
        found = mixed(found, hashes.to_numpy())
    return found


def _of_column(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.select(pl.col(name).hash(seed).alias(str(seed)) for seed in _SEEDS)


def mixed(keys: Keys, others: Keys) -> Keys:
    """Take other numbers into keys; the order in which they are taken in matters."""
    mixed = (keys ^ others) * _PRIME
    return mixed ^ (mixed >> _SHIFT)
