"""What is said once of a loaded set: its words in their order, and what people gave with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rexview.analysis.clickhouse.tables.definitions import LAYOUT
from rexview.detect.core.finding_index import Phrase
from rexview.metrics.identity import MetricId
from rexview.schema import ReviewSet
from rexview.stats.judges.opinions import Judge
from rexview.stats.multiple_choice.chosen import Rater

PEOPLE: Final = (
    *("scores", "flags", "edits", "choices", "preferences", "references", "comments"),
    *("decisions", "candidates", "candidate_ratings", "candidate_tags", "selections"),
    *("validations", "stale_scores", "stale_flags", "stale_edits", "stale_choices"),
    "stale_preferences",
)
"""Tables of a review set that people fill: small, and held by the app as a whole."""


@dataclass(frozen=True)
class Manifest:
    """A version of a set on ClickHouse.

    Attributes
    ----------
    version : str
        Letters and digits.
    fingerprint : str
        The state of the files that was loaded.
    models : tuple of str
        Ids in the set's order: ``model`` of the rows are places in it.
    n_cases, n_answers, n_images : int
    words : mapping of str to tuple of str
        The values of the columns of cases, in the order of the facets.
    tags : mapping of str to tuple of str
        The values (``name:value``) of each tag, in order.
    properties : tuple of (str, str, str)
        What tells cases apart, as :class:`rexview.analysis.engine.CaseProperty`.
    phrases : tuple of Phrase
        What ``phrases`` of rows are places in.
    metrics : tuple of MetricId
        What ``metric_values`` of rows are of.
    metrics_in_set : tuple of (int, tuple of int)
        On how many answers each of them has a value, and on how many it was computed together.
    raters : tuple of Rater
        Who chose anything, of those that the files have answers of.
    judges : tuple of (Judge, int, int)
        Those who gave opinions, the newest first; how many on earlier texts of answers, and in how
        many texts of its wording.
    plain_words : tuple of str
        Words of models' names that stand in questions and reports, too.
    people : mapping of str to tuple of str
        Rows of :data:`PEOPLE` as JSON.
    """

    version: str
    fingerprint: str
    models: tuple[str, ...]
    n_cases: int
    n_answers: int
    n_images: int
    words: Mapping[str, tuple[str, ...]]
    tags: Mapping[str, tuple[str, ...]]
    properties: tuple[tuple[str, str, str], ...]
    phrases: tuple[Phrase, ...]
    metrics: tuple[MetricId, ...]
    metrics_in_set: tuple[tuple[int, tuple[int, ...]], ...]
    raters: tuple[Rater, ...]
    judges: tuple[tuple[Judge, int, int], ...]
    plain_words: tuple[str, ...]
    people: Mapping[str, tuple[str, ...]]

    def as_json(self) -> str:
        """Return it as text."""
        return json.dumps({"layout": LAYOUT, **asdict(self)}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Manifest | None:
        """Read it; None where another layout wrote it."""
        given: dict[str, Any] = json.loads(text)
        if given.pop("layout", None) != LAYOUT:
            return None
        made = {
            **given,
            "models": tuple(given["models"]),
            "words": _tuples(given["words"]),
            "tags": _tuples(given["tags"]),
            "properties": tuple(tuple(one) for one in given["properties"]),
            "phrases": tuple(Phrase(*one) for one in given["phrases"]),
            "metrics": tuple(MetricId(*one) for one in given["metrics"]),
            "metrics_in_set": tuple((n, tuple(of)) for n, of in given["metrics_in_set"]),
            "raters": tuple(Rater(**one) for one in given["raters"]),
            "judges": tuple((Judge(**one), stale, texts) for one, stale, texts in given["judges"]),
            "plain_words": tuple(given["plain_words"]),
            "people": _tuples(given["people"]),
        }
        return cls(**made)


def _tuples(given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in given.items()}


def without_people(review_set: ReviewSet) -> dict[str, Any]:
    """Return the tables that people fill, empty: what the files and models alone say is left."""
    return {name: getattr(review_set, name).clear() for name in PEOPLE}
