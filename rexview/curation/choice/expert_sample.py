"""Draw the multiple choice questions that experts read, 100 in every 1,000, and count defects."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

import polars as pl

from rexview.curation.choice.validation import combine_all_checks
from rexview.schema import ReviewSet
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import wilson_interval
from rexview.store.merged_set import EXPERT_CHECK
from rexview.vocab import QUESTION_DEFECTS

SHARE: Final = Fraction(100, 1000)
Key = tuple[str, str]


@dataclass(frozen=True)
class DefectShare:
    """Share of the questions read by experts with a defect; ``defect`` None is any of them."""

    defect: str | None
    found: int
    read: int
    share: float | None
    interval: Interval


@dataclass(frozen=True)
class SampleResult:
    """Experts' results for the sample so far.

    ``sample`` are case and candidate in reading order. ``read`` are those that an expert judged;
    ``unsure`` is the number seen without a verdict.
    """

    sample: tuple[Key, ...]
    of: int
    read: tuple[Key, ...]
    unsure: int
    defects: tuple[DefectShare, ...]


def draw_expert_sample(review_set: ReviewSet) -> list[Key]:
    """Return the questions that experts read, the same each time for the same questions.

    A tenth, rounded up, is drawn from those that fail no check by rules or models, by the seed of
    the set's protocol. Each category is drawn in proportion, the largest remainders rounded up.
    Experts' verdicts do not change the sample.
    """
    open_to = [
        key for key, one in combine_all_checks(review_set, experts=False).items() if not one.failed
    ]
    categories = {
        (case, candidate): category or ""
        for case, candidate, category in review_set.candidates.select(
            "case", "candidate", "category"
        ).iter_rows()
    }
    by_category: dict[str, list[Key]] = {}
    for key in open_to:
        by_category.setdefault(categories[key], []).append(key)
    many = ceil(len(open_to) * SHARE)
    exact = {name: len(keys) * Fraction(many, len(open_to)) for name, keys in by_category.items()}
    taken = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in by_remainder[: many - sum(taken.values())]:
        taken[name] += 1
    seed = review_set.info.protocol.seed

    def place(key: Key) -> str:
        return hashlib.sha256(json.dumps([seed, *key]).encode()).hexdigest()

    drawn = [
        key for name, keys in by_category.items() for key in sorted(keys, key=place)[: taken[name]]
    ]
    return sorted(drawn, key=place)


def count_expert_verdicts(review_set: ReviewSet) -> SampleResult:
    """Count experts' verdicts on the sample; a question has a defect if any of them names it."""
    sample = draw_expert_sample(review_set)
    said: dict[Key, set[str | None]] = {}
    words = review_set.validations.filter(pl.col("check") == EXPERT_CHECK)
    for case, candidate, passed, defect in words.select(
        "case", "candidate", "passed", "defect"
    ).iter_rows():
        met = said.setdefault((case, candidate), set())
        if passed is False or (defect and not passed):
            met.add(defect or "other")
        elif passed:
            met.add(None)
    read = tuple(key for key in sample if said.get(key))
    looked_at = sum(key in said for key in sample)
    counts = Counter(defect for key in read for defect in said[key] if defect)
    any_defect = sum(bool(said[key] - {None}) for key in read)
    shares = [_share(None, any_defect, len(read))]
    shares += [_share(defect, counts[defect], len(read)) for defect in QUESTION_DEFECTS]
    of = sum(not one.failed for one in combine_all_checks(review_set, experts=False).values())
    return SampleResult(tuple(sample), of, read, looked_at - len(read), tuple(shares))


def _share(defect: str | None, found: int, read: int) -> DefectShare:
    if not read:
        return DefectShare(defect, 0, 0, None, Interval(None, None, "No question was read yet."))
    return DefectShare(defect, found, read, found / read, wilson_interval(found, read))
