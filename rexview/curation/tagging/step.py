"""Tagging: what a model is asked of a question, and the row of ``candidate_tags`` it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexview.curation.asking import Row, Step
from rexview.curation.tagging.reading import Tags, read_tags
from rexview.models.asking.prompts import fixed_wording
from rexview.models.backend import closed_object
from rexview.vocab import QUESTION_TAGS

WORDING: Final = fixed_wording(Path(__file__).with_name("tag-2.yaml"))
_VALUES: Final = {"type": "array", "items": {"type": "string"}}


def _rows(found: Tags, about: tuple[str, ...]) -> list[Row]:
    row: Row = {
        "candidate": about[0],
        "tags": {name: list(words) for name, words in found.tags.items()},
    }
    if found.more_than_four:
        row["extra"] = {"more_than_four": {n: list(w) for n, w in found.more_than_four.items()}}
    return [row]


TAG: Final = Step(
    name="tag",
    table="candidate_tags",
    wording=WORDING,
    schema=closed_object(dict.fromkeys(QUESTION_TAGS, _VALUES)),
    read=read_tags,
    rows=_rows,
    output_tokens=90,
)
