"""What a model is asked for a report, and the rows of ``candidates`` that come of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rexview.curation.asking import Row, Step, Subject
from rexview.curation.choice.reading import MadeQuestions, read_questions
from rexview.curation.studies import Study
from rexview.models.asking.prompts import fixed_wording
from rexview.models.backend import closed_object
from rexview.schema import Report
from rexview.vocab import CATEGORIES, DIFFICULTIES

WORDING: Final = fixed_wording(Path(__file__).with_name("propose-choice-2.yaml"))
_TEXT: Final = {"type": "string"}
_QUESTION: Final = closed_object(
    {
        "statement": _TEXT,
        "question": _TEXT,
        "options": {"type": "array", "items": _TEXT},
        "answer": {"type": "string", "enum": list("ABCD")},
        "explanation": _TEXT,
        "category": {"type": "string", "enum": list(CATEGORIES["choice"])},
        "difficulty": {"type": "string", "enum": list(DIFFICULTIES)},
    }
)


def report_of(report: Report) -> str:
    """Return a report as it is told, its sections under their names."""
    parts = {"Findings": report.findings, "Impression": report.impression}
    return "\n".join(f"{name}: {text.strip()}" for name, text in parts.items() if text)


def subjects_of(studies: Iterable[Study], count: int) -> list[Subject]:
    """Return what is asked about the studies that have a report; up to ``count`` questions each."""
    return [_subject(study, count) for study in studies if report_of(study.case.report)]


def _subject(study: Study, count: int) -> Subject:
    values = {
        "told": report_of(study.case.report),
        "patient": study.patient,
        "count": str(count),
        "comparison": WORDING.texts["with_prior" if study.has_prior else "without_prior"],
    }
    return Subject(study.case.id, ("report",), values)


def _rows(found: MadeQuestions, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": one.id,
            "question": one.question,
            "question_type": "choice",
            "category": one.category,
            "options": list(one.options),
            "correct": one.correct,
            "explanation": one.explanation or None,
            "statement": one.statement or None,
            "difficulty": one.difficulty,
            "extra": {"from": about[0], "difficulty_by": "model"},
        }
        for one in found.questions
    ]


PROPOSE_CHOICE: Final = Step(
    name="choice",
    table="candidates",
    wording=WORDING,
    schema=closed_object({"questions": {"type": "array", "items": _QUESTION}}),
    read=read_questions,
    rows=_rows,
    output_tokens=900,
)
