"""Proposing: what a model is asked for a study, and the rows of ``candidates`` that come of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rexview.curation.asking import Row, Step, Subject
from rexview.curation.candidate import open_id
from rexview.curation.proposing.reading import Proposals, read_proposals
from rexview.curation.studies import Study
from rexview.models.asking.prompts import fixed_wording
from rexview.models.backend import closed_object
from rexview.vocab import CATEGORIES, counted

WORDING: Final = fixed_wording(Path(__file__).with_name("propose-2.yaml"))
_QUESTION: Final = closed_object(
    {
        "question": {"type": "string"},
        "category": {"type": "string", "enum": list(CATEGORIES["open"])},
    }
)


def subjects_of(studies: Iterable[Study], count: int) -> list[Subject]:
    """Return what is asked about studies of which something is told; ``count`` questions each."""
    return [_subject(study, count) for study in studies if study.source]


def _subject(study: Study, count: int) -> Subject:
    texts = WORDING.texts
    values = {
        "source": study.source or "",
        "told": study.known,
        "count": str(count),
        "comparison": texts["with_prior" if study.has_prior else "without_prior"],
    }
    return Subject(study.case.id, (study.source or "",), values)


def _rows(found: Proposals, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": open_id(one.question),
            "question": one.question,
            "question_type": "open",
            "category": one.category,
            "extra": {"from": about[0]},
        }
        for one in found.questions
    ]


def _told(found: Proposals, subject: Subject) -> tuple[str, ...]:
    asked, came = subject.values["count"], len(found.questions)
    if str(came) == asked:
        return ()
    return (f"{counted(came, 'question')} came, {asked} were asked for.",)


PROPOSE: Final = Step(
    name="propose",
    table="candidates",
    wording=WORDING,
    schema=closed_object({"questions": {"type": "array", "items": _QUESTION}}),
    read=read_proposals,
    rows=_rows,
    output_tokens=300,
    told=_told,
)
