"""What each column of a table is taken for, one choice a column: from a mapping, and back to one.

Each column gets one meaning. Where the meaning is a part of an answer and a model is named beside
it, the column holds that model's answers; otherwise it is the column for all models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rexview.reviewset.importers.table.cells import FIELDS
from rexview.reviewset.importers.table.column_mapping import (
    ANSWER_FIELDS,
    JUDGEMENTS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
    KeptColumn,
)
from rexview.vocab import DIMENSION_NAMES, FAILURES
from rexview.words import tr

KEEP: Final = "Keep as it is"
LEAVE_OUT: Final = "Leave out"


def _judgement_name(judges: str) -> str:
    if judges in DIMENSION_NAMES:
        return tr("Score: {name}").format(name=DIMENSION_NAMES[judges])
    return tr("Failure: {name}").format(name=FAILURES[judges].name)


_JUDGEMENT_NAMES: Final = {_judgement_name(judges): judges for judges in JUDGEMENTS}
_FIELD_NAMES: Final = {name: field for field, name in FIELDS.items()}
MEANINGS: Final = (KEEP, LEAVE_OUT, *_FIELD_NAMES, *_JUDGEMENT_NAMES)
"""What a column can mean."""
_SHOWN: Final = {KEEP: tr("Keep as it is"), LEAVE_OUT: tr("Leave out")}


def meaning_words(meaning: str) -> str:
    """Return a meaning as it is shown; names of fields are those of files."""
    return _SHOWN.get(meaning, meaning)


@dataclass(frozen=True)
class ColumnChoice:
    """A column of a file, what it is taken for, a few of its values, and what to know of it.

    ``meaning`` is one of :data:`MEANINGS`. ``model`` names whose answers or scores it holds,
    ``reader`` who gave the scores, ``scale`` which scale they are on; each empty where it says
    nothing. ``scales`` are those that it may be on if it holds scores. ``private`` columns look
    like a person's identity: they have no examples.
    """

    column: str
    meaning: str
    model: str = ""
    reader: str = ""
    scale: str = ""
    examples: tuple[str, ...] = ()
    note: str = ""
    scales: tuple[str, ...] = ()
    private: bool = False

    @property
    def is_of_model(self) -> bool:
        """Whether a model can be named for it."""
        return self.is_judgement or _FIELD_NAMES.get(self.meaning) in ANSWER_FIELDS

    @property
    def is_alone(self) -> bool:
        """Whether no other column can have its meaning."""
        return self.meaning in _FIELD_NAMES and not self.is_of_model

    @property
    def is_judgement(self) -> bool:
        """Whether it holds what a reader said."""
        return self.meaning in _JUDGEMENT_NAMES

    @property
    def is_score(self) -> bool:
        """Whether it holds scores on a dimension."""
        return _JUDGEMENT_NAMES.get(self.meaning) in DIMENSION_NAMES


def proposed_choices(mapping: ColumnMapping) -> list[ColumnChoice]:
    """Return a choice for each column of the file, in its order."""
    found = {column: ColumnChoice(column, KEEP) for column in mapping.columns}
    for kept in mapping.kept:
        found[kept.column] = ColumnChoice(
            kept.column, KEEP, examples=kept.samples, note=kept.note, scales=kept.scales
        )
    for column in mapping.identity:
        found[column] = ColumnChoice(column, LEAVE_OUT, private=True)
    for field in mapping.fields:
        if field.column is not None:
            name = FIELDS[field.field]
            found[field.column] = ColumnChoice(field.column, name, examples=field.samples)
    for answer in mapping.answers:
        name = FIELDS[answer.field]
        found[answer.column] = ColumnChoice(
            answer.column, name, answer.model, examples=answer.samples
        )
    for judgement in mapping.judgements:
        found[judgement.column] = ColumnChoice(
            judgement.column,
            _judgement_name(judgement.judges),
            judgement.model or "",
            judgement.reader or "",
            judgement.scale or "",
            judgement.samples,
        )
    return list(found.values())


def chosen_mapping(mapping: ColumnMapping, choices: Sequence[ColumnChoice]) -> ColumnMapping:
    """Return the mapping of the same file that these choices are.

    A field that two columns were given keeps the first; the second becomes an answer column named
    for itself where that is possible, so that the import can tell about it (see :func:`doubled`).
    """
    fields: dict[str, FieldColumn] = {}
    answers: list[AnswerColumn] = []
    judgements: list[JudgementColumn] = []
    kept: list[KeptColumn] = []
    known = {one.column: one for one in mapping.kept}
    left_out: list[str] = []
    for one in choices:
        model, reader = one.model.strip(), one.reader.strip()
        if one.meaning == LEAVE_OUT:
            left_out.append(one.column)
        elif one.meaning in _JUDGEMENT_NAMES:
            judges = _JUDGEMENT_NAMES[one.meaning]
            judgements.append(
                JudgementColumn(
                    one.column,
                    judges,
                    reader or None,
                    model or None,
                    samples=one.examples,
                    scale=(one.is_score and one.scale.strip()) or None,
                )
            )
        elif one.meaning in _FIELD_NAMES:
            field = _FIELD_NAMES[one.meaning]
            if field in ANSWER_FIELDS and (model or field in fields):
                named = AnswerColumn(one.column, model or one.column, field, samples=one.examples)
                answers.append(named)
            else:
                fields.setdefault(field, FieldColumn(field, one.column, samples=one.examples))
        else:
            kept.append(known.get(one.column) or KeptColumn(one.column, one.examples))
    return replace(
        mapping,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in FIELDS),
        answers=tuple(answers),
        judgements=tuple(judgements),
        identity=tuple(left_out),
        kept=tuple(kept),
    )


def doubled(choices: Sequence[ColumnChoice]) -> list[str]:
    """Name the meanings that two columns were given although only one can have them."""
    alone = (one.meaning for one in choices if one.meaning in _FIELD_NAMES and not one.model)
    counts = Counter(alone)
    return [meaning for meaning, count in counts.items() if count > 1]
