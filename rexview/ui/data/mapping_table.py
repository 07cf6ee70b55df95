"""A column mapping as a table that a person can edit: one row a column of the file, and back.

Each column gets one meaning. Where the meaning is a part of an answer and a model is named beside
it, the column holds that model's answers; otherwise it is the column for all models.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pandas as pd

from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    JUDGEMENTS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
)
from rexview.reviewset.importers.table.column_names import FIELDS
from rexview.vocab import DIMENSION_NAMES, FAILURES

KEEP: Final = "Keep as it is"
LEAVE_OUT: Final = "Leave out"
COLUMNS: Final = ("Column", "Examples", "Meaning", "Model", "Reader")


def _judgement_name(judges: str) -> str:
    if judges in DIMENSION_NAMES:
        return f"Score: {DIMENSION_NAMES[judges]}"
    return f"Failure: {FAILURES[judges].name}"


_JUDGEMENT_NAMES: Final = {_judgement_name(judges): judges for judges in JUDGEMENTS}
_FIELD_NAMES: Final = {name: field for field, name in FIELDS.items()}
MEANINGS: Final = (KEEP, LEAVE_OUT, *_FIELD_NAMES, *_JUDGEMENT_NAMES)
"""What a column can mean, as shown."""


def to_table(mapping: ColumnMapping) -> pd.DataFrame:
    """Show a mapping: one row a column, columns :data:`COLUMNS`, all text."""
    rows: dict[str, tuple[str, tuple[str, ...], str, str]] = dict.fromkeys(
        mapping.columns, (KEEP, (), "", "")
    )
    rows |= dict.fromkeys(mapping.identity, (LEAVE_OUT, (), "", ""))
    for field in mapping.fields:
        if field.column is not None:
            rows[field.column] = (FIELDS[field.field], field.samples, "", "")
    for answer in mapping.answers:
        rows[answer.column] = (FIELDS[answer.field], answer.samples, answer.model, "")
    for judgement in mapping.judgements:
        name = _judgement_name(judgement.judges)
        rows[judgement.column] = (
            name,
            judgement.samples,
            judgement.model or "",
            judgement.reader or "",
        )
    return pd.DataFrame(
        [
            (column, " | ".join(samples), meaning, model, reader)
            for column, (meaning, samples, model, reader) in rows.items()
        ],
        columns=list(COLUMNS),
    )


def from_table(mapping: ColumnMapping, table: pd.DataFrame) -> ColumnMapping:
    """Read an edited table back.

    Returns
    -------
    ColumnMapping
        Of the same file. A field that two columns were given keeps the first; the second becomes
        an answer column named for itself where that is possible, so that :meth:`problems` or the
        import can tell about it.
    """
    fields: dict[str, FieldColumn] = {}
    answers: list[AnswerColumn] = []
    judgements: list[JudgementColumn] = []
    left_out: list[str] = []
    for row in table.fillna("").itertuples(index=False):
        column, _, meaning, model, reader = (str(value).strip() for value in row)
        column = str(row[0])
        if meaning == LEAVE_OUT:
            left_out.append(column)
        elif meaning in _JUDGEMENT_NAMES:
            judgements.append(
                JudgementColumn(column, _JUDGEMENT_NAMES[meaning], reader or None, model or None)
            )
        elif meaning in _FIELD_NAMES:
            field = _FIELD_NAMES[meaning]
            if field in ANSWER_FIELDS and (model or field in fields):
                answers.append(AnswerColumn(column, model or column, field))
            else:
                fields.setdefault(field, FieldColumn(field, column))
    return replace(
        mapping,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in FIELDS),
        answers=tuple(answers),
        judgements=tuple(judgements),
        identity=tuple(left_out),
    )


def doubled(table: pd.DataFrame) -> list[str]:
    """Name the meanings that two columns were given although only one can have them."""
    single = table[table["Meaning"].isin(_FIELD_NAMES) & (table["Model"].fillna("") == "")]
    counts = single["Meaning"].value_counts()
    return [str(meaning) for meaning, count in counts.items() if count > 1]
