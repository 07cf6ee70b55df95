"""Export tables: CSV, Excel and Parquet, and the rows that all three share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from rexview.export.export_records import (
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportContent,
    ExportDecision,
    ExportFlag,
    ExportMark,
)
from rexview.vocab import DIMENSIONS, option_with_letter

# The rows of exported tables: one an answer, with its details, as plain values.
#
# Numbers stay numbers and dates stay dates; each format converts what it cannot store to text.

Row = dict[str, Any]
FINALS: Final = (*DIMENSIONS, "content", "gap")
ANSWER_COLUMNS: Final = (
    *("model", "model_name", "answer", "status", "finish_reason", "choice", "choice_correct"),
    *("explanation", "run", "prompt", "created", *FINALS, "n_readers"),
)
_WHO: Final = {"detector": "rule", "reader": "reader"}


def case_row(case: ExportCase) -> Row:
    """Return the columns of a case itself; lists are lists of text."""
    return {
        "number": case.number,
        "case": case.id,
        "study": case.study,
        "patient": case.patient,
        "site": case.site,
        "section": case.section or None,
        "shown_s": case.seconds,
        "question_type": case.question_type,
        "category": case.category or None,
        "difficulty": case.difficulty,
        "normal": case.normal,
        "tags": [f"{name}: {', '.join(values)}" for name, values in case.tags.items()],
        "age": case.context.age,
        "sex": case.context.sex,
        "indication": case.context.indication,
        "comparison": case.context.comparison,
        "question": case.question,
        "options": [option_with_letter(words, place) for place, words in enumerate(case.options)],
        "right_option": None if case.correct is None else _option(case, case.correct),
        "right_explanation": case.explanation,
        "report_findings": case.report.findings,
        "report_impression": case.report.impression,
        "views": [image.title for image in case.images],
        "votes": case.vote.count if case.vote else None,
        "voted_right": _counts(case.vote.right) if case.vote else None,
        "voted_harm": _counts(case.vote.harm) if case.vote else None,
    }


def answer_row(content: ExportContent, case: ExportCase, answer: ExportAnswer | None) -> Row:
    """Return an answer's columns, without boxes and single scores; all None without an answer.

    The columns are those of :data:`ANSWER_COLUMNS`.
    """
    if answer is None:
        return dict.fromkeys(ANSWER_COLUMNS)
    values = (
        *(answer.model, content.model(answer.model).name, answer.text or None),
        *(answer.status, answer.finish_reason),
        None if answer.choice is None else _option(case, answer.choice),
        *(answer.choice_correct, answer.explanation, answer.run, answer.prompt, answer.created),
        *(answer.final.get(name) for name in FINALS),
        answer.n_readers if answer.final else None,
    )
    return dict(zip(ANSWER_COLUMNS, values, strict=True))


def box_row(case: ExportCase, box: ExportBox) -> Row:
    """Return one box; x, y, width and height are pixels of the stored image."""
    numbers = (*box.box, None, None, None, None)[:4]
    return {
        "case": case.id,
        "model": box.model,
        "reference": box.model is None,
        "image": box.image,
        "label": box.label,
        **dict(zip(("x", "y", "width", "height"), numbers, strict=True)),
        "side": box.side,
        "score": box.score,
        "unsure": box.unsure,
        "problem": box.problem,
    }


def boxes_of(case: ExportCase) -> Iterator[ExportBox]:
    """Yield all boxes of a case: the reference's, then each answer's."""
    yield from case.reference_boxes
    for answer in case.answers:
        yield from answer.boxes


def plain_rows(case: ExportCase, records: Any) -> Iterator[Row]:
    """Yield records of a case (scores, flags, comments, decisions) as rows with its id."""
    for record in records:
        yield {"case": case.id, **asdict(record)}


def flag_line(flag: ExportFlag) -> str:
    """Return a flag as one line: failure, source and verdict."""
    who = [flag.reader or _WHO.get(flag.source, flag.source)]
    if flag.verdict:
        who.append(flag.verdict)
    return f"{flag.name} ({', '.join(who)}): {flag.message}"


def mark_line(mark: ExportMark) -> str:
    """Return a mark as one line: the failure in words, and its reader."""
    reason = f": {mark.comment}" if mark.comment else ""
    return f"{mark.name} ({mark.reader}){reason}"


def decision_line(decision: ExportDecision) -> str:
    """Return a decision as one line."""
    harm = "" if decision.severity is None else f"harm {decision.severity}"
    due = f"due {decision.due}" if decision.due else ""
    state = "done" if decision.done else "open" if decision.is_open else ""
    stale = "of an earlier answer" if decision.stale else ""
    parts = (
        *(decision.decision_name, decision.failure_name, harm),
        *(decision.owner, due, state, stale, decision.comment),
    )
    return f"{decision.meeting_name}: {', '.join(part for part in parts if part)}"


def _option(case: ExportCase, number: int) -> str:
    known = 0 <= number < len(case.options)
    return option_with_letter(case.options[number], number) if known else str(number + 1)


def _counts(votes: Any) -> str:
    return ", ".join(f"{name}: {count}" for name, count in votes.items())
