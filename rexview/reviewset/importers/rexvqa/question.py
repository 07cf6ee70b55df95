"""One question of ReXVQA's metadata as the row of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rexview.reviewset.importers.core.report_text import absent, read_age, read_sex
from rexview.reviewset.importers.table.case import right_option

IDENTITY: Final = ("StudyInstanceUid", "StudyDate")
"""Fields that say who the patient was, and when: left out."""
TELLING: Final = frozenset(("correct_answer_explanation", "task_name", "ImagePath"))
"""Fields that nobody else's questions have."""
_TAGS: Final = ("category", "subcategory", "class")
_READ: Final = frozenset(
    (
        *("question", "options", "correct_answer", "correct_answer_explanation", "task_name"),
        *("study_id", "PatientID", "PatientAge", "PatientSex", "Indication", "Findings"),
        *("Impression", "ImagePath", "ImageViewPosition", "difficulty", "site", *_TAGS, *IDENTITY),
    )
)
FIELDS: Final = _READ | {"ImageModality"}
"""All fields of the metadata as it is published."""


class NotAQuestion(ValueError):
    """An entry that cannot be a question; the message says why, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str, field: str) -> None:
        super().__init__(message)
        self.remedy, self.field = remedy, field


def question_row(case_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the row of a case; unknown fields are kept, identities left out.

    Raises
    ------
    NotAQuestion
        Without a question, two options at least, or a right one among them.
    """
    options = given.get("options")
    if not _text(given, "question"):
        raise NotAQuestion("The entry has no question.", "Give its text.", "question")
    if not isinstance(options, list) or not all(isinstance(one, str) for one in options):
        raise NotAQuestion("The options are no list of texts.", "Give a list.", "options")
    if len(options) < 2:
        raise NotAQuestion("The question has fewer than two options.", "Give them all.", "options")
    told = _text(given, "correct_answer")
    correct = right_option(told, options, None) if told else None
    if told and correct is None:
        message = f"“{told[:40]}” is none of the options."
        raise NotAQuestion(message, "Give its letter, or its words.", "correct_answer")
    row = {
        "id": case_id,
        "question": given["question"],
        "question_type": "choice",
        "options": options,
        "correct": correct,
        "explanation": _text(given, "correct_answer_explanation"),
        "category": _text(given, "task_name"),
        "tags": {name: [text] for name in _TAGS if (text := _text(given, name))},
        "difficulty": _text(given, "difficulty"),
        "site": _text(given, "site"),
        "study_id": _text(given, "study_id"),
        "patient_id": _text(given, "PatientID"),
        "context": {
            "age": read_age(_text(given, "PatientAge")),
            "sex": read_sex(_text(given, "PatientSex")),
            "indication": _text(given, "Indication"),
        },
        "report": {
            "findings": _text(given, "Findings"),
            "impression": _text(given, "Impression"),
        },
        "images": _images(given),
        "extra": {name: value for name, value in given.items() if name not in _READ},
    }
    return {name: value for name, value in row.items() if value not in (None, {}, [])}


def _text(given: Mapping[str, Any], name: str) -> str | None:
    """Return a field as a text; what is missing, "None" and "nan" are None."""
    value = given.get(name)
    if isinstance(value, bool | list | dict) or value is None:
        return None
    text = str(value).strip()
    return None if absent(text) or text.lower() == "nan" else text


def _images(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the images with their views, where there is a view for each."""
    paths, views = (_listed(given.get(name)) for name in ("ImagePath", "ImageViewPosition"))
    if len(views) != len(paths):
        return [{"path": path} for path in paths]
    return [{"path": path, "view": view} for path, view in zip(paths, views, strict=True)]


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]
