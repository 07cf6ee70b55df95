"""``bench curation``: measure what the page Curate computes after each decision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl

from bench.measure import (
    Measured,
    Row,
    at_most,
    in_turn,
    processor_milliseconds,
    ratio_at_most,
    result,
)
from rexview import frames
from rexview.analysis.curation import build_curation
from rexview.curation.candidates import open_candidates
from rexview.curation.coverage import CATEGORY, count_coverage
from rexview.curation.near_duplicates import (
    SIMILARITY_THRESHOLD,
    LetterSimilarity,
    find_similar_pairs,
)
from rexview.schema import ReviewSet, SetInfo
from rexview.vocab import CATEGORIES, CRITERIA, QUESTION_TAGS

# Time of the curated set's numbers: 1,000 simulated studies with five candidates each.
#
# Coverage is compared with pandas on the same tables. Near-duplicates are compared with
# scikit-learn, which compares all pairs of texts; both must find the same.

STUDIES: Final = 1_000
PER_STUDY: Final = 5
GOAL: Final = at_most(200)
_ROUNDS: Final = 5
_VALUES: Final = 12
"""Number of different values of each tag."""
_FORMS: Final = (
    "Is there {} in the {}, and what is its most likely cause?",
    "Describe the extent of {} near the {}, and name the signs that you rely on.",
    "Which features tell {} from {} on this radiograph?",
    "Measure {} and say what its size means beside the {}.",
)
_WORDS: Final = (
    *("an effusion", "a pneumothorax", "consolidation", "atelectasis", "a nodule", "oedema"),
    *("left base", "right apex", "left hilum", "right lower zone", "mediastinum", "diaphragm"),
    *("cardiomegaly", "a fracture", "a catheter", "fibrosis", "costophrenic angle", "aortic knob"),
)


def run() -> Measured:
    """Measure coverage, near-duplicates and the records of the page.

    Raises
    ------
    AssertionError
        The alternative counts or finds something else.
    """
    review_set = made_set()
    of = f"{STUDIES:,} studies, {STUDIES * PER_STUDY:,} candidates"
    rows = [_coverage(review_set, of), _alike(review_set, of)]
    build_curation(review_set)  # texts are compared once, before the measurements
    (took,) = in_turn(processor_milliseconds(lambda: build_curation(review_set)), rounds=_ROUNDS)
    rows.append(result(f"all records of the page anew, after a decision, {of}", took, "ms"))
    return Measured(
        rows,
        notes="Of the processor. The browser counts coverage by itself until the page follows.",
    )


def _coverage(review_set: ReviewSet, of: str) -> Row:
    tables = [
        getattr(review_set, name).to_pandas()
        for name in ("candidates", "candidate_tags", "selections")
    ]
    candidates = open_candidates(review_set)  # the page already has them
    ours = count_coverage(candidates)
    theirs = _by_pandas(*tables)
    for part, counts in theirs.items():
        assert {row.value: row.chosen for row in ours.parts[part] if row.chosen} == counts, part
    took, alternative = in_turn(
        processor_milliseconds(lambda: count_coverage(candidates)),
        processor_milliseconds(lambda: _by_pandas(*tables)),
        rounds=_ROUNDS,
    )
    what = f"coverage of categories and tags, {of}"
    return result(what, took, "ms", alternative=alternative, name="pandas", goal=GOAL)


def _by_pandas(
    candidates: pd.DataFrame, tags: pd.DataFrame, selections: pd.DataFrame
) -> dict[str, dict[Any, int]]:
    """Count the selected questions by category and by each value of each tag."""
    key = ["case", "candidate"]
    chosen = selections[selections["decision"] == "chosen"][key]
    found: dict[str, dict[Any, int]] = {}
    found[CATEGORY] = candidates.merge(chosen, on=key)["category"].value_counts().to_dict()
    one = tags.merge(chosen, on=key)["tags"].explode()
    spread = pd.DataFrame(list(one.dropna())).explode("values")
    for name, part in spread.groupby("name"):
        found[str(name)] = part["values"].value_counts().to_dict()
    return found


def _alike(review_set: ReviewSet, of: str) -> Row:
    from sklearn.metrics.pairwise import cosine_similarity

    texts = review_set.candidates["question"].to_list()

    def ours() -> Any:
        return find_similar_pairs(texts, LetterSimilarity())

    def theirs() -> Any:
        cosines = cosine_similarity(LetterSimilarity().vectors(texts), dense_output=True)
        return np.argwhere(np.triu(cosines > SIMILARITY_THRESHOLD, 1))

    assert [(one.first, one.second) for one in ours()] == list(map(tuple, theirs().tolist()))
    took, alternative = in_turn(
        processor_milliseconds(ours), processor_milliseconds(theirs), rounds=3
    )
    name = "scikit-learn, every two"
    what, goal = f"near-duplicates, {of}", ratio_at_most(1)
    return result(what, took, "ms", alternative=alternative, name=name, goal=goal)


def made_set() -> ReviewSet:
    """Make the set: a model scored and tagged all candidates, one of each study is selected."""
    random = np.random.default_rng(1)
    cases = [f"c{number:04}" for number in range(STUDIES)]
    keys = [{"case": case, "candidate": f"q-{place}"} for case in cases for place in range(5)]
    by = {"source": "model", "by": "made"}
    categories = list(CATEGORIES["open"])
    tables: dict[str, list[dict[str, Any]]] = {
        "cases": [{"id": case, "question": "Describe.", "study_id": case} for case in cases],
        "candidates": [
            {**key, **by, "question": _question(random), "category": categories[place % 3]}
            for place, key in enumerate(keys)
        ],
        "candidate_ratings": [
            {**key, **by, **{name: int(random.integers(2, 6)) for name in CRITERIA}} for key in keys
        ],
        "candidate_tags": [
            {
                **key,
                **by,
                "tags": [
                    {"name": name, "values": [f"{name} {random.integers(_VALUES)}"]}
                    for name in QUESTION_TAGS
                ],
            }
            for key in keys
        ],
        "selections": [
            {**key, "reader": "made", "decision": "chosen"} for key in keys[::PER_STUDY]
        ],
    }
    made = {name: _frame(name, rows) for name, rows in tables.items()}
    empty = {name: schema.to_frame() for name, schema in frames.TABLES.items()}
    given: dict[str, Any] = empty | made
    return ReviewSet(Path(), SetInfo(name="Made"), **given)


def _question(random: np.random.Generator) -> str:
    form = _FORMS[random.integers(len(_FORMS))]
    first, second, *more = random.choice(_WORDS, 6, replace=False)
    return f"{form.format(first, second)} Consider {', '.join(more)}."


def _frame(name: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    schema = frames.TABLES[name]
    frame = pl.DataFrame(list(rows), schema={key: schema[key] for key in rows[0]})
    absent = [
        pl.lit([] if isinstance(dtype, pl.List) else None, dtype).alias(column)
        for column, dtype in schema.items()
        if column not in frame.columns
    ]
    return frame.with_columns(absent).select(*schema)


__all__ = ["run"]
