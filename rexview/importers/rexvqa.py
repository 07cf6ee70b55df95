"""Read ReXVQA's files: the metadata JSON by question, and predictions of any number of raters.

Predictions are ``{id: text}``, ``{model: {id: text}}``, JSON Lines or CSV; malformed ones are
refused. ``auto`` reads the metadata here, and predictions as tables or as texts by id. A rater is a
model or a reader: as given (``--reader FILE=NAME``), or by the name. The chosen option is read from
the texts when the set is opened (:mod:`rexview.text.choices`).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from rexview.importers.image_placement import place_images
from rexview.importers.joins import join_ids
from rexview.importers.predictions import entries_by_id
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import (
    Probe,
    Recognition,
    SourceFile,
    json_lines,
    model_from_options,
    model_name_of_file,
    read_source_json,
    read_text,
)
from rexview.importers.table.table_reader import find_option
from rexview.reviewset.json_text import JsonError
from rexview.reviewset.report_text import is_absent, read_age, read_sex
from rexview.reviewset.tables.source import RowOrigin
from rexview.untrusted_input import printable_text

IDENTITY_FIELDS: Final = ("StudyInstanceUid", "StudyDate")
"""Fields that identify the patient or the date: left out."""
REXVQA_ONLY_FIELDS: Final = frozenset(("correct_answer_explanation", "task_name", "ImagePath"))
"""Fields that only ReXVQA's questions have."""
_TAGS: Final = ("category", "subcategory", "class")
_READ: Final = frozenset(
    (
        *("question", "options", "correct_answer", "correct_answer_explanation", "task_name"),
        *("study_id", "PatientID", "PatientAge", "PatientSex", "Indication", "Findings"),
        *(
            "Impression",
            "ImagePath",
            "ImageViewPosition",
            "difficulty",
            "site",
            *_TAGS,
            *IDENTITY_FIELDS,
        ),
    )
)
REXVQA_FIELDS: Final = _READ | {"ImageModality"}
"""All fields of the metadata as published."""


class NotAQuestion(ValueError):
    """An entry that cannot be a question; the message gives the reason, ``remedy`` what to do."""

    def __init__(self, message: str, remedy: str, field: str) -> None:
        super().__init__(message)
        self.remedy, self.field = remedy, field


def question_row(case_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case row; unknown fields are kept, identities left out.

    Raises NotAQuestion without a question, without two options, or without a right one among them.
    """
    options = given.get("options")
    if not _text(given, "question"):
        raise NotAQuestion("The entry has no question.", "Give its text.", "question")
    if not isinstance(options, list) or not all(isinstance(one, str) for one in options):
        raise NotAQuestion("The options are no list of texts.", "Give a list.", "options")
    if len(options) < 2:
        raise NotAQuestion("The question has fewer than two options.", "Give them all.", "options")
    paths, views = (
        [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
        for value in (given.get("ImagePath"), given.get("ImageViewPosition"))
    )
    images = [{"path": path} for path in paths]
    if len(views) == len(paths):
        images = [one | {"view": view} for one, view in zip(images, views, strict=True)]
    told = _text(given, "correct_answer")
    correct = find_option(told, options, None) if told else None
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
        "report": {name.lower(): _text(given, name) for name in ("Findings", "Impression")},
        "images": images,
        "extra": {name: value for name, value in given.items() if name not in _READ},
    }
    return {name: value for name, value in row.items() if value not in (None, {}, [])}


def _text(given: Mapping[str, Any], name: str) -> str | None:
    """Return a field as a text; a missing value, "None" and "nan" become None."""
    value = given.get(name)
    if isinstance(value, bool | list | dict) or value is None:
        return None
    text = str(value).strip()
    return None if is_absent(text) or text.lower() == "nan" else text


_IDS: Final = ("id", "question_id", "qid", "case", "case_id")
_TEXTS: Final = (
    *("prediction", "model_prediction", "response", "answer", "model_answer", "output", "text"),
    *("generated_text", "predicted_answer", "choice"),
)
_MODELS: Final = ("model", "model_name", "reader", "rater")
_SHAPES: Final = "Give {id: text}, {model: {id: text}}, or rows with an id and a prediction."


def _predictions(
    file: SourceFile, content: Any, log: ProblemLog
) -> Iterator[tuple[str | None, str, str | None, RowOrigin]]:
    """Yield model, case and text of each answer; each invalid entry is an error.

    The model is None if the file does not name it; the text is None if the model was not run.
    ``content`` is the file's JSON if it was already read.
    """
    if isinstance(content, dict):
        for model, case, text, at in entries_by_id(content, None, file):
            if _is_text(text, case, at, log):
                yield model, case.strip(), text, at
        return
    for number, row in _rows(file, content, log):
        at = RowOrigin(file.label, number)
        if not isinstance(row, Mapping):
            log.error(file.label, "The row is no object.", _SHAPES, row=number)
            continue
        named, told, whose = (_first(row, names) for names in (_IDS, _TEXTS, _MODELS))
        if named is None or named[1] is None or not str(named[1]).strip():
            log.error(file.label, "The row names no question.", _SHAPES, row=number, field="id")
        elif told is None:
            message = "The row has no prediction."
            log.error(file.label, message, _SHAPES, row=number, field="prediction")
        elif _is_text(told[1], str(named[1]), at, log, told[0]):
            model = str(whose[1]).strip() if whose and whose[1] else None
            yield model, str(named[1]).strip(), told[1], at


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any] | None:
    """Return the first of some columns that a row has, and its value."""
    return next(((name, row[name]) for name in names if name in row), None)


def _is_text(
    value: Any, case: str, at: RowOrigin, log: ProblemLog, field: str | None = None
) -> bool:
    """True if a prediction is a text or missing; otherwise log an error, and never guess."""
    if value is None or isinstance(value, str):
        return True
    of = f" of {printable_text(at.part)}" if at.part else ""
    to = f" to “{printable_text(case)[:60]}”" if case else ""
    message = f"The prediction{of}{to} is {type(value).__name__}, not a text."
    remedy = "Write what was answered: a letter, the option's words, or the whole reply."
    log.error(at.file, message, remedy, row=at.row, field=field or "prediction")
    return False


def _rows(file: SourceFile, content: Any, log: ProblemLog) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a list, of a table, or of JSON Lines, with their numbers."""
    suffix = file.path.suffix.lower()
    if suffix == ".json":
        yield from enumerate(content if isinstance(content, list) else (), start=1)
        return
    text = (read_text(file.path, log, save_as="UTF-8", label=file.label) or "").lstrip("\ufeff")
    if suffix in (".jsonl", ".ndjson"):
        for number, entry in json_lines(text, file.label, log):
            if not isinstance(entry, JsonError):
                yield number, entry
                continue
            message = "The line is not valid JSON."
            log.error(file.label, message, "Write one object a line.", row=number)
        return
    head = text.lstrip("\r\n").partition("\n")[0]
    separator = "\t" if suffix == ".tsv" else max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for number, row in enumerate(reader, start=2):
            if None in row or any(value is None for value in row.values()):
                message = "The row has more or fewer cells than the header."
                log.error(file.label, message, "Quote cells that hold commas.", row=number)
                continue
            yield number, {(name or "").strip().lower(): value for name, value in row.items()}
    except csv.Error as error:
        log.error(file.label, f"The table breaks off: {error}.", "Save it as CSV again.")


_READER: Final = re.compile(r"\b(?:reader|radiologist|resident|rater)s?\b", re.IGNORECASE)
"""Names of people who answered."""
_LOOKED_AT: Final = 50


def read_rexvqa(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read metadata and predictions, in any order; all problems of all files are reported."""
    contents = {
        file.label: read_source_json(file.path, rows.log, file.label)
        for file in files
        if file.path.suffix.lower() == ".json"
    }
    metadata = [file for file in files if is_metadata(contents.get(file.label))]
    others = [file for file in files if file not in metadata]
    rows.name = rows.name or (metadata or files)[0].path.stem.replace("_", " ")
    rows.description = f"Imported from ReXVQA: {', '.join(file.label for file in files)}."
    if not metadata and not rows.cases:
        message = "No file holds the questions."
        rows.log.error(files[0].label, message, "Give ReXVQA's metadata JSON, too.")
        return
    for file in metadata:
        _read_questions(file, contents[file.label], rows)
    check_file_options(others, options, rows)
    for file in others:
        _read_predictions(file, contents.get(file.label), rows, options)
    place_images(rows, options["images"], [file.path.parent for file in files], files[0].label)


def recognises(probe: Probe) -> Recognition | None:
    """Return why a file is ReXVQA's metadata, without fields that could be answers, or None."""
    content = probe.json if probe.kind == "json" else None
    if not isinstance(content, dict) or not is_metadata(content):
        return None
    entries = [one for one in list(content.values())[:_LOOKED_AT] if isinstance(one, dict)]
    fields = {name for one in entries for name in one}
    telling = sorted(fields & REXVQA_ONLY_FIELDS)
    if len(telling) < 2 or "correct_answer" not in fields or fields - REXVQA_FIELDS:
        return None
    return Recognition(f"questions by id with {', '.join(telling)}")


def declare_readers(rows: SetRows, told: Collection[str]) -> None:
    """Declare as readers those in ``told``, and those with a reader's name who answered choices."""
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
    """True if a JSON file contains questions by their ids."""
    if not isinstance(content, dict):
        return False
    first = next((one for one in content.values() if isinstance(one, dict)), {})
    return "options" in first and bool(
        REXVQA_ONLY_FIELDS & first.keys() or "correct_answer" in first
    )


def _read_questions(file: SourceFile, content: dict[str, Any], rows: SetRows) -> None:
    rows.receipt.rows(file.label, len(content))
    rows.receipt.file_read(file.label, "ReXVQA", f"{len(content):,} questions by id")
    identities: dict[str, None] = {}
    for number, (case_id, given) in enumerate(content.items(), start=1):
        at = RowOrigin(file.label, number)
        try:
            if not isinstance(given, dict) or not case_id.strip():
                message = "The entry is not a question by its id."
                raise NotAQuestion(message, "Give an object with its fields.", "id")
            row = question_row(case_id.strip(), given)
        except NotAQuestion as error:
            rows.log.error(file.label, str(error), error.remedy, row=number, field=error.field)
            continue
        identities |= dict.fromkeys(name for name in IDENTITY_FIELDS if given.get(name))
        rows.add_case(row, at)
    for name in identities:
        rows.receipt.identity_column(file.label, name)


def check_file_options(
    files: Sequence[SourceFile], options: Mapping[str, Any], rows: SetRows
) -> None:
    """Log an error if an option names a file that is missing."""
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
    reader = model_from_options(file, {"model": file_assignments(options.get("reader"))})
    told = reader or model_from_options(file, options)
    usual, unknown = told, 0
    if usual is None:  # a reader's number is kept, since it distinguishes readers
        whole = printable_text(file.path.stem.replace("_", " ").strip())
        usual = whole.capitalize() if _READER.search(whole) else model_name_of_file(file)
    found, known = Counter[str](), set[str]()
    seen: dict[tuple[str, str], str | None] = {}
    predictions = list(_predictions(file, content, rows.log))
    ids, numbers = [case for _, case, *_ in predictions], [at.row or 0 for *_, at in predictions]
    names = join_ids(file.label, "id", ids, numbers, rows, needed=True)
    for told_model, given, text, at in predictions:
        found[at.part] += 1
        model, case = told_model or usual, names.get(given, given)
        if rows.case(case) is None:
            unknown += 1
            rows.receipt.unused(at, "No question has this id.")
            continue
        if seen.setdefault((model, case), text) != text:
            message = f"“{given}” has two different predictions of {model}."
            rows.log.error(file.label, message, "Leave one of them.", row=at.row)
            continue
        if model not in known:
            known.add(model)
            is_reader = reader or _is_reader(model)
            rows.declare_model(model, **({"kind": "reader"} if is_reader else {}))
        if text is None:
            rows.receipt.ran_not(at, model)
        else:
            rows.add_answer({"case": case, "model": model, "text": text}, at)
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


def file_assignments(given: Sequence[str] | None) -> list[str]:
    """Return the FILE=NAME entries of an option."""
    return [one for one in given or () if "=" in one]
