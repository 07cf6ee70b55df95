"""The meaning of each column of a table: a plain record that is proposed, shown, edited, confirmed.

There are three kinds of columns:

- a **field** has one column in the whole table (``case``, ``question``, ``model``, ...);
- an **answer column** belongs to one model (wide tables: one column a model);
- a **judgement column** has a reader's score on one dimension, or a failure that a reader ticked.

Unmapped columns are kept as extra fields, except those that look like a patient's identity: they
are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from rexview.errors import FileRefused, ImportSourceError, Problem
from rexview.importers.table.cells import COLUMN_FIELDS, ScoreScale
from rexview.untrusted_input import read_file, read_typed_path
from rexview.vocab import DIMENSIONS, FAILURES

Made = TypeVar("Made")
_LONGEST_FILE: Final = 10_000_000
ANSWER_TEXTS: Final = ("answer", "answer_findings", "answer_impression")
"""Fields with the text of an answer, whole or by section."""
ANSWER_FIELDS: Final = (
    *(*ANSWER_TEXTS, "finish_reason", "input_tokens", "output_tokens", "max_output_tokens"),
    *("choice", "reasoning", "error", "latency_s"),
)
"""Fields that can be in a model's own column."""
JUDGEMENT_KINDS: Final = (*DIMENSIONS, *FAILURES)
"""What a judgement column can be about."""


@dataclass(frozen=True)
class FieldColumn:
    """The column proposed for a field: None if none fits; confidence 0 to 1; a few values."""

    field: str
    column: str | None
    confidence: float = 0.0
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerColumn:
    """A column with ``field`` (one of :data:`ANSWER_FIELDS`) of one model's answers.

    ``run`` distinguishes columns of several runs of the model.
    """

    column: str
    model: str
    field: str = "answer"
    confidence: float = 0.0
    samples: tuple[str, ...] = ()
    run: str | None = None


@dataclass(frozen=True)
class JudgementColumn:
    """A column of scores on one dimension, or of one failure ticked by a reader.

    ``judges`` is one of :data:`JUDGEMENT_KINDS`. ``reader`` None means the table's reader column,
    else ``reader1``; ``model`` None means the row's own model. ``scale`` is the column's scale if
    it is not 1 to 5, in the form of :meth:`ScoreScale.of`.
    """

    column: str
    judges: str
    reader: str | None = None
    model: str | None = None
    confidence: float = 0.0
    samples: tuple[str, ...] = ()
    scale: str | None = None


@dataclass(frozen=True)
class UnmappedColumn:
    """A column that is kept unchanged, with a few values; ``note`` is what else it could be.

    ``advice`` names the options for reading it so, ``scales`` the scales that its scores may be on.
    """

    column: str
    samples: tuple[str, ...] = ()
    note: str = ""
    advice: str = ""
    scales: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnMapping:
    """The meaning of each column of a table.

    ``fields`` has one entry for each of :data:`COLUMN_FIELDS`, mapped or not. ``model`` names the
    model of all answers if neither a model column nor answer columns do. ``identity`` are columns
    that look like a patient's identity; they are not imported unless mapped. ``kept`` has the other
    columns without a meaning. ``notes`` are what the user should know about the proposal.
    """

    file: str
    columns: tuple[str, ...]
    fields: tuple[FieldColumn, ...]
    answers: tuple[AnswerColumn, ...] = ()
    judgements: tuple[JudgementColumn, ...] = ()
    identity: tuple[str, ...] = ()
    model: str | None = None
    sheet: str | None = None
    kept: tuple[UnmappedColumn, ...] = ()
    notes: tuple[str, ...] = ()

    def column_of(self, field: str) -> str | None:
        """The column mapped to a field, or None."""
        return next((one.column for one in self.fields if one.field == field), None)

    @property
    def has_answers(self) -> bool:
        """True if a column has the texts of answers."""
        of_models = any(one.field in ANSWER_TEXTS for one in self.answers)
        return of_models or any(map(self.column_of, ANSWER_TEXTS))

    @property
    def used_columns(self) -> tuple[str, ...]:
        """Columns that have a meaning."""
        fields = [one.column for one in self.fields if one.column is not None]
        answers = [one.column for one in self.answers]
        return (*fields, *answers, *(one.column for one in self.judgements))

    @property
    def extra_columns(self) -> tuple[str, ...]:
        """Columns without a known meaning, kept as extra fields."""
        used = {*self.used_columns, *self.identity}
        return tuple(column for column in self.columns if column not in used)

    def to_json(self) -> str:
        """Return the mapping as JSON that a person can edit."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> ColumnMapping:
        """Read a mapping from its JSON form; missing fields stay unmapped.

        Raises ImportSourceError with every entry that names an unknown field, judgement or column,
        or one column twice.
        """
        problems: list[Problem] = []
        columns = tuple(str(column) for column in raw.get("columns") or ())
        given = {str(one.get("field")): one for one in _entries(raw, "fields", problems)}
        unknown = given.keys() - COLUMN_FIELDS.keys()
        problems += [_problem(field, "There is no such field.") for field in unknown]
        judgements = _entries(raw, "judgements", problems)
        judgements = judgements or _entries(raw, "marks", problems)  # the key in older mappings
        mapping = cls(
            file=str(raw.get("file") or ""),
            columns=columns,
            fields=tuple(
                _made(FieldColumn, {**given.get(field, {}), "field": field})
                for field in COLUMN_FIELDS
            ),
            answers=tuple(
                _made(AnswerColumn, {**one, "model": one.get("model") or one.get("column")})
                for one in _entries(raw, "answers", problems)
            ),
            judgements=tuple(
                _made(JudgementColumn, {"judges": one.get("mark"), **one}) for one in judgements
            ),
            identity=_words(raw.get("identity")),
            model=str(raw.get("model") or "") or None,
            sheet=str(raw.get("sheet") or "") or None,
            kept=tuple(_made(UnmappedColumn, one) for one in _entries(raw, "kept", problems)),
            notes=_words(raw.get("notes")),
        )
        problems += mapping.problems()
        if problems:
            raise ImportSourceError("The column mapping cannot be used.", problems)
        return mapping

    @classmethod
    def read(cls, value: ColumnMapping | Mapping[str, Any] | str | Path) -> ColumnMapping:
        """Read a mapping given as itself, as its dict form, or as a JSON file.

        Raises ImportSourceError if it cannot be read or used.
        """
        if isinstance(value, ColumnMapping):
            return value
        if isinstance(value, Mapping):
            return cls.from_dict(value)
        try:
            content = read_file(read_typed_path(str(value)), _LONGEST_FILE)
            return cls.from_json(content.decode("utf-8-sig"))
        except FileRefused as refusal:
            raise _unusable(f"The mapping file cannot be used. {refusal}") from None
        except (OSError, UnicodeDecodeError):
            raise _unusable("The mapping file is not there, or not UTF-8.") from None

    @classmethod
    def from_json(cls, text: str) -> ColumnMapping:
        """Read a mapping from JSON text; raises as :meth:`from_dict` if it is invalid."""
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            raise _unusable("The mapping is not a JSON object.")
        return cls.from_dict(raw)

    def problems(self) -> list[Problem]:
        """List the reasons why the mapping cannot be used."""
        found: list[Problem] = []
        mapped = [(one.field, one.column) for one in self.fields if one.column is not None]
        mapped += [(f"answer of {one.model}", one.column) for one in self.answers]
        mapped += [(one.judges, one.column) for one in self.judgements]
        seen: dict[str, str] = {}
        for what, column in mapped:
            if column not in self.columns:
                found.append(_problem(what, f"The table has no column “{column}”."))
            elif column in seen:
                message = f"The column “{column}” is already mapped to {seen[column]}."
                found.append(_problem(what, message))
            seen.setdefault(column, what)
        for answer in self.answers:
            if answer.field not in ANSWER_FIELDS:
                found.append(_problem(answer.field, "A model's column cannot hold this field."))
        for judgement in self.judgements:
            if judgement.judges not in JUDGEMENT_KINDS:
                found.append(_problem(judgement.judges, "There is no such dimension or failure."))
            if judgement.scale is not None:
                try:
                    ScoreScale.of(judgement.scale)
                except ValueError as error:
                    found.append(_problem(judgement.judges, f"The scale {error}"))
        return found


def _problem(field: str | None, message: str) -> Problem:
    remedy = "Ask for the proposal again, and change it there."
    return Problem("error", "mapping", None, field, message, remedy)


def _entries(raw: Mapping[str, Any], name: str, problems: list[Problem]) -> list[Mapping[str, Any]]:
    entries = raw.get(name) or []
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        problems.append(_problem(name, "This is not a list of entries."))
        return []
    return entries


def _made(kind: type[Made], raw: Mapping[str, Any]) -> Made:
    """Read one column from its JSON form; missing values get their defaults."""
    return kind(
        **{
            one.name: _READERS[str(one.type)](raw.get(one.name))
            for one in fields(kind)  # type: ignore[arg-type]
            if raw.get(one.name) not in (None, "") or one.default is MISSING
        }
    )


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "str": str,
    "str | None": lambda value: None if value in (None, "") else str(value),
    "float": lambda value: float(value) if isinstance(value, int | float) else 0.0,
    "tuple[str, ...]": _words,
}
"""Converters for given values, by the type of their field."""


def _unusable(message: str) -> ImportSourceError:
    return ImportSourceError("The column mapping cannot be used.", [_problem(None, message)])
