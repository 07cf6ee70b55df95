"""What models and readers answered: ``{id: text}``, ``{model: {id: text}}``, JSON Lines, CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rexview.bounded import printable
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.source_files import SourceFile, read_json, read_text
from rexview.reviewset.tables.source import At

_IDS: Final = ("id", "question_id", "qid", "case", "case_id")
_TEXTS: Final = (
    *("prediction", "model_prediction", "response", "answer", "model_answer", "output", "text"),
    *("generated_text", "predicted_answer", "choice"),
)
_MODELS: Final = ("model", "model_name", "reader", "rater")
_SHAPES: Final = "Give {id: text}, {model: {id: text}}, or rows with an id and a prediction."


@dataclass(frozen=True)
class Prediction:
    """One answer as it stands in a file; ``text`` is None where the model was not asked.

    ``model`` is None where the file does not say whose it is.
    """

    model: str | None
    case: str
    text: str | None
    at: At


def predictions_in(file: SourceFile, content: Any, log: ProblemLog) -> Iterator[Prediction]:
    """Yield the answers of a file; each entry that is none is an error that names its row.

    ``content`` is its JSON where it was read already.
    """
    suffix = file.path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        yield from _of_rows(file, _csv_rows(file, log), log)
    elif suffix in (".jsonl", ".ndjson"):
        yield from _of_rows(file, _lines(file, log), log)
    elif isinstance(content, list):
        yield from _of_rows(file, enumerate(content, start=1), log)
    elif isinstance(content, dict):
        yield from _of_dict(file, content, log)


def read_content(file: SourceFile, log: ProblemLog) -> Any:
    """Return the JSON of a file that is JSON, None for others and where it cannot be read."""
    return read_json(file.path, log, file.label) if file.path.suffix.lower() == ".json" else None


def _of_dict(file: SourceFile, content: dict[str, Any], log: ProblemLog) -> Iterator[Prediction]:
    for number, (name, value) in enumerate(content.items(), start=1):
        if isinstance(value, dict):
            for inner, (case, text) in enumerate(value.items(), start=1):
                at = At(file.label, inner, name)
                if _is_text(text, case, at, log):
                    yield Prediction(name.strip(), case.strip(), text, at)
        elif _is_text(value, name, at := At(file.label, number), log):
            yield Prediction(None, name.strip(), value, at)


def _of_rows(
    file: SourceFile, rows: Iterator[tuple[int, Any]] | Any, log: ProblemLog
) -> Iterator[Prediction]:
    for number, row in rows:
        at = At(file.label, number)
        if not isinstance(row, Mapping):
            log.error(file.label, "The row is no object.", _SHAPES, row=number)
            continue
        case, text, model = (_first(row, names) for names in (_IDS, _TEXTS, _MODELS))
        if case is None or case[1] is None or not str(case[1]).strip():
            log.error(file.label, "The row names no question.", _SHAPES, row=number, field="id")
        elif text is None:
            message = "The row has no prediction."
            log.error(file.label, message, _SHAPES, row=number, field="prediction")
        elif _is_text(text[1], str(case[1]), at, log, text[0]):
            whose = str(model[1]).strip() if model and model[1] else None
            yield Prediction(whose, str(case[1]).strip(), text[1], at)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any] | None:
    """Return the first of some columns that a row has, and its value."""
    return next(((name, row[name]) for name in names if name in row), None)


def _is_text(value: Any, case: str, at: At, log: ProblemLog, field: str | None = None) -> bool:
    """Whether a prediction is a text or missing; else an error, and never a guess."""
    if value is None or isinstance(value, str):
        return True
    of = f" of {printable(at.part)}" if at.part else ""
    to = f" to “{printable(case)[:60]}”" if case else ""
    message = f"The prediction{of}{to} is {type(value).__name__}, not a text."
    remedy = "Write what was answered: a letter, the option's words, or the whole reply."
    log.error(at.file, message, remedy, row=at.row, field=field or "prediction")
    return False


def _csv_rows(file: SourceFile, log: ProblemLog) -> Iterator[tuple[int, Any]]:
    text = read_text(file.path, log, save_as="UTF-8", label=file.label)
    if text is None:
        return
    head = text.lstrip("\ufeff\r\n").partition("\n")[0]
    separator = "\t" if file.path.suffix.lower() == ".tsv" else max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator)
    try:
        for number, row in enumerate(reader, start=2):
            if None in row or any(value is None for value in row.values()):
                message = "The row has more or fewer cells than the header."
                log.error(file.label, message, "Quote cells that hold commas.", row=number)
                continue
            yield number, {(name or "").strip().lower(): value for name, value in row.items()}
    except csv.Error as error:
        log.error(file.label, f"The table breaks off: {error}.", "Save it as CSV again.")


def _lines(file: SourceFile, log: ProblemLog) -> Iterator[tuple[int, Any]]:
    text = read_text(file.path, log, save_as="UTF-8", label=file.label)
    for number, line in enumerate((text or "").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            log.error(
                file.label, "The line is not valid JSON.", "Write one object a line.", row=number
            )
