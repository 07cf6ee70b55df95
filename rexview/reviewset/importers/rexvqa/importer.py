"""ReXVQA's files: the metadata JSON by question, and predictions of any number of raters.

Predictions that are malformed are refused here. ``auto`` reads the metadata here, and predictions
as tables and texts by id. A rater is a model, or a reader: as told (``--reader FILE=NAME``), or
where the name says so. What was chosen stands in the texts and is
read when the set is opened (:mod:`rexview.choices`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rexview.bounded import printable
from rexview.reviewset.importers.core.recognise import Found, Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, model_told, name_of_model
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.importers.rexvqa.predictions import predictions_in, read_content
from rexview.reviewset.importers.rexvqa.question import (
    FIELDS,
    IDENTITY,
    TELLING,
    NotAQuestion,
    question_row,
)
from rexview.reviewset.tables.source import At

_READER: Final = re.compile(r"\b(?:reader|radiologist|resident|rater)s?\b", re.IGNORECASE)
"""Names of people who answered."""
_LOOKED_AT: Final = 50


def read_rexvqa(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read metadata and predictions, in any order; all problems of all files are reported."""
    contents = {file.label: read_content(file, rows.log) for file in files}
    metadata = [file for file in files if is_metadata(contents[file.label])]
    others = [file for file in files if file not in metadata]
    rows.name = rows.name or (metadata or files)[0].path.stem.replace("_", " ")
    rows.description = f"Imported from ReXVQA: {', '.join(file.label for file in files)}."
    if not metadata and not rows.cases:
        message = "No file holds the questions."
        rows.log.error(files[0].label, message, "Give ReXVQA's metadata JSON, too.")
        return
    for file in metadata:
        _read_questions(file, contents[file.label], rows)
    check_told(others, options, rows)
    for file in others:
        _read_predictions(file, contents[file.label], rows, options)
    place_images(rows, options["images"], [file.path.parent for file in files], files[0].label)


def recognises(probe: Probe) -> Found | None:
    """Say why a file is ReXVQA's metadata, with nothing beside that could be answers."""
    content = probe.json if probe.kind == "json" else None
    if not isinstance(content, dict) or not is_metadata(content):
        return None
    entries = [one for one in list(content.values())[:_LOOKED_AT] if isinstance(one, dict)]
    fields = {name for one in entries for name in one}
    telling = sorted(fields & TELLING)
    if len(telling) < 2 or "correct_answer" not in fields or fields - FIELDS:
        return None
    return Found(f"questions by id with {', '.join(telling)}")


def declare_readers(rows: SetRows, told: Collection[str]) -> None:
    """Declare those as readers who were told so, or are named so and answered choice questions."""
    answered: dict[str, set[str]] = {}
    for answer in rows.rows_of("answers"):
        if answer.get("model") in rows.models:
            case = rows.case(answer["case"]) or {}
            answered.setdefault(answer["model"], set()).add(case.get("question_type", ""))
    for model, types in answered.items():
        if model in told or (types == {"choice"} and _is_reader(model)):
            rows.declare_model(model, kind="reader")
            rows.log.note(f"{model}: taken for a reader.")


def _is_reader(name: str) -> bool:
    return bool(_READER.search(name.replace("_", " ")))


def is_metadata(content: Any) -> bool:
    """Whether a JSON file holds questions by their id."""
    if not isinstance(content, dict):
        return False
    first = next((one for one in content.values() if isinstance(one, dict)), {})
    return "options" in first and bool(TELLING & first.keys() or "correct_answer" in first)


def _read_questions(file: SourceFile, content: dict[str, Any], rows: SetRows) -> None:
    rows.receipt.rows(file.label, len(content))
    rows.receipt.file_read(file.label, "ReXVQA", f"{len(content):,} questions by id")
    identities: dict[str, None] = {}
    for number, (case_id, given) in enumerate(content.items(), start=1):
        at = At(file.label, number)
        try:
            if not isinstance(given, dict) or not case_id.strip():
                message = "The entry is not a question by its id."
                raise NotAQuestion(message, "Give an object with its fields.", "id")
            row = question_row(case_id.strip(), given)
        except NotAQuestion as error:
            rows.log.error(file.label, str(error), error.remedy, row=number, field=error.field)
            continue
        identities |= dict.fromkeys(name for name in IDENTITY if given.get(name))
        rows.add_case(row, at)
    for name in identities:
        rows.receipt.identity_column(file.label, name)


def check_told(files: Sequence[SourceFile], options: Mapping[str, Any], rows: SetRows) -> None:
    """Say where an option names a file that is not there."""
    labels = {name for file in files for name in (file.label, file.path.name)}
    for option in ("model", "reader"):
        for told in options.get(option) or ():
            label, mark, name = told.partition("=")
            if option == "reader" and not (mark and name.strip()):
                message = f"“{told[:60]}” is not FILE=NAME."
                rows.log.error("reader", message, "Write --reader reader_1.json=NAME.")
            elif mark and label not in labels:
                message = f"There is no file “{label[:60]}” with predictions."
                rows.log.error(option, message, f"Name one of {', '.join(sorted(labels)) or '-'}.")


def _read_predictions(
    file: SourceFile, content: Any, rows: SetRows, options: Mapping[str, Any]
) -> None:
    reader = model_told(file, {"model": of_files(options.get("reader"))})
    told = reader or model_told(file, options)
    usual, unknown = told or _named_after(file), 0
    found, known = Counter[str](), set[str]()
    seen: dict[tuple[str, str], str | None] = {}
    for one in predictions_in(file, content, rows.log):
        found[one.at.part] += 1
        model = one.model or usual
        place = rows.case(one.case)
        if place is None:
            unknown += 1
            rows.receipt.unused(one.at, "No question has this id.")
            continue
        before = seen.setdefault((model, one.case), one.text)
        if before != one.text:
            message = f"“{one.case}” has two different predictions of {model}."
            rows.log.error(file.label, message, "Leave one of them.", row=one.at.row)
            continue
        if model not in known:
            known.add(model)
            is_reader = reader or _is_reader(model)
            rows.declare_model(model, **({"kind": "reader"} if is_reader else {}))
        if one.text is None:
            rows.receipt.ran_not(one.at, model)
        else:
            rows.add_answer({"case": one.case, "model": model, "text": one.text}, one.at)
    for part, count in found.items():
        rows.receipt.rows(file.label, count, part)
    if unknown:
        message = f"{unknown:,} predictions are for questions that no metadata has: left out."
        remedy = "Give the metadata of these questions, too."
        rows.log.warning(file.label, message, remedy, field="id")
    if not found and not rows.log.has_errors:
        message = "The file holds no predictions by the id of their question."
        rows.log.error(file.label, message, "Give {id: text}, {model: {id: text}} or rows.")
    rows.receipt.file_read(file.label, "ReXVQA", f"{found.total():,} predictions")


def of_files(given: Sequence[str] | None) -> list[str]:
    """Return what of an option is FILE=NAME."""
    return [one for one in given or () if "=" in one]


def _named_after(file: SourceFile) -> str:
    """Name a rater after the file; of readers the number is kept, which tells them apart."""
    whole = printable(file.path.stem.replace("_", " ").strip())
    return whole.capitalize() if _READER.search(whole) else name_of_model(file)
