"""The meaning of each column of a table: proposed, changed by a person, and read back."""

from __future__ import annotations

import hashlib
import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from rexview.importers.table.cells import COLUMN_FIELDS, ScoreScale
from rexview.importers.table.column_mapping import (
    ANSWER_FIELDS,
    JUDGEMENT_KINDS,
    AnswerColumn,
    ColumnMapping,
    FieldColumn,
    JudgementColumn,
    UnmappedColumn,
)
from rexview.ui.safe_text import as_markdown
from rexview.vocab import DIMENSION_NAMES, FAILURES
from rexview.words import tr

# The meaning of each column of a table, one choice a column, made from a mapping and back to one.
#
# If the meaning is a part of an answer and a model is named, the column has that model's answers;
# otherwise it is the column for all models.

KEEP: Final = "Keep as it is"
LEAVE_OUT: Final = "Leave out"


def _judgement_name(judges: str) -> str:
    if judges in DIMENSION_NAMES:
        return tr("Score: {name}").format(name=DIMENSION_NAMES[judges])
    return tr("Failure: {name}").format(name=FAILURES[judges].name)


_JUDGEMENT_NAMES: Final = {_judgement_name(judges): judges for judges in JUDGEMENT_KINDS}
_FIELD_NAMES: Final = {name: field for field, name in COLUMN_FIELDS.items()}
MEANINGS: Final = (KEEP, LEAVE_OUT, *_FIELD_NAMES, *_JUDGEMENT_NAMES)
"""All possible meanings of a column."""
_SHOWN: Final = {KEEP: tr("Keep as it is"), LEAVE_OUT: tr("Leave out")}


def meaning_label(meaning: str) -> str:
    """Return a meaning as it is shown; fields have their names in files."""
    return _SHOWN.get(meaning, meaning)


@dataclass(frozen=True)
class ColumnChoice:
    """A column of a file with its chosen meaning, example values, and notes.

    ``meaning`` is one of :data:`MEANINGS`. ``model`` names the model of its answers or scores,
    ``reader`` the reader of its scores, ``scale`` their scale; each is empty if it does not apply.
    ``scales`` are the possible scales if it has scores. ``private`` columns look like a person's
    identity: they have no examples.
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
        """Whether it has a reader's judgments."""
        return self.meaning in _JUDGEMENT_NAMES

    @property
    def is_score(self) -> bool:
        """Whether it has scores on a dimension."""
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
            name = COLUMN_FIELDS[field.field]
            found[field.column] = ColumnChoice(field.column, name, examples=field.samples)
    for answer in mapping.answers:
        name = COLUMN_FIELDS[answer.field]
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


def mapping_from_choices(mapping: ColumnMapping, choices: Sequence[ColumnChoice]) -> ColumnMapping:
    """Return the mapping of the same file that results from these choices.

    If two columns have the same field, the first keeps it. The second becomes an answer column
    named after itself if possible, so that the import can report it (see
    :func:`duplicate_meanings`).
    """
    fields: dict[str, FieldColumn] = {}
    answers: list[AnswerColumn] = []
    judgements: list[JudgementColumn] = []
    kept: list[UnmappedColumn] = []
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
            kept.append(known.get(one.column) or UnmappedColumn(one.column, one.examples))
    return replace(
        mapping,
        fields=tuple(fields.get(field, FieldColumn(field, None)) for field in COLUMN_FIELDS),
        answers=tuple(answers),
        judgements=tuple(judgements),
        identity=tuple(left_out),
        kept=tuple(kept),
    )


def duplicate_meanings(choices: Sequence[ColumnChoice]) -> list[str]:
    """Return the meanings of several columns that only one may have."""
    alone = (one.meaning for one in choices if one.meaning in _FIELD_NAMES and not one.model)
    counts = Counter(alone)
    return [meaning for meaning, count in counts.items() if count > 1]


_EMPTY: Final = tr("Empty in the rows that were checked.")
_PAGE: Final = 30
_USUAL_SCALE: Final = "1-5"


def confirm_columns(proposal: ColumnMapping) -> ColumnMapping | None:
    """Show the meaning of each column, let a person change it, and return the mapping.

    Return None, and show why, if the choices are invalid. Choices are kept for the session, as long
    as the file has the same columns.
    """
    key = f"import_columns_{_fingerprint(proposal)}"
    for note in proposal.notes:
        st.caption(as_markdown(note))
    proposed = proposed_choices(proposal)
    chosen = [_as_chosen(one, f"{key}_{place}") for place, one in enumerate(proposed)]
    first = _first_shown(len(proposed), key)
    for place in range(first, min(first + _PAGE, len(proposed))):
        chosen[place] = _row(proposed[place], chosen[place], chosen, key, place)
    mapping = mapping_from_choices(proposal, chosen)
    if not mapping.answers and mapping.column_of("model") is None and mapping.column_of("answer"):
        model = st.text_input(
            tr("Model that gave these answers"),
            proposal.model or "",
            key=f"{key}_model",
            persist_state="session",
        )
        mapping = replace(mapping, model=model.strip() or proposal.model)
    wrong = [
        f"Only one column can be: {', '.join(twice)}."
        for twice in [duplicate_meanings(chosen)]
        if twice
    ]
    wrong += [problem.message for problem in mapping.problems()] if not wrong else []
    for message in wrong:
        st.error(as_markdown(message), icon=":material/error:")
    return None if wrong else mapping


def _fingerprint(proposal: ColumnMapping) -> str:
    names = "\0".join((proposal.file, proposal.sheet or "", *proposal.columns))
    return hashlib.sha256(names.encode("utf-8", "replace")).hexdigest()[:16]


def _first_shown(columns: int, key: str) -> int:
    if columns <= _PAGE:
        return 0
    pages = -(-columns // _PAGE)
    st.caption(tr("{n:,} columns, {page} at a time.").format(n=columns, page=_PAGE))
    return (st.pagination(pages, key=f"{key}_page", persist_state="session") - 1) * _PAGE


def _as_chosen(one: ColumnChoice, key: str) -> ColumnChoice:
    """Return a choice with earlier changes, also for a column on another page of columns."""
    kept = st.session_state
    return replace(
        one,
        meaning=kept.get(f"{key}_meaning", one.meaning),
        model=kept.get(f"{key}_model", one.model),
        reader=kept.get(f"{key}_reader", one.reader),
        scale=kept.get(f"{key}_scale", one.scale) or "",
    )


def _release_others(key: str, place: int, choices: Sequence[ColumnChoice]) -> None:
    """Set other columns with this exclusive meaning to "keep" when this column gets it."""
    chosen = replace(choices[place], meaning=st.session_state[f"{key}_{place}_meaning"])
    for other, one in enumerate(choices):
        if other != place and chosen.is_alone and one.meaning == chosen.meaning:
            st.session_state[f"{key}_{other}_meaning"] = KEEP


def _row(
    proposed: ColumnChoice,
    one: ColumnChoice,
    all_choices: Sequence[ColumnChoice],
    form_key: str,
    place: int,
) -> ColumnChoice:
    key = f"{form_key}_{place}"
    name, meaning, whose = st.columns([5, 4, 4], vertical_alignment="center")
    name.html(_column_html(proposed))
    with meaning:
        meant = st.selectbox(
            tr("Meaning of {column}").format(column=as_markdown(proposed.column)),
            MEANINGS,
            MEANINGS.index(proposed.meaning),
            format_func=meaning_label,
            key=f"{key}_meaning",
            on_change=_release_others,
            args=(form_key, place, tuple(all_choices)),
            label_visibility="collapsed",
            persist_state="session",
        )
        one = replace(one, meaning=meant)
        if proposed.note and one.meaning == KEEP:
            offer = tr("Choose the score, then its scale.") if proposed.scales else ""
            st.caption(f":material/help: {as_markdown(f'{proposed.note} {offer}'.rstrip())}")
    with whose:
        return _whose(proposed, one, key)


def _column_html(one: ColumnChoice) -> str:
    """Return the name of a column and some of its values as HTML."""
    examples = " · ".join(f"“{example}”" for example in one.examples)
    if one.private:
        examples = tr("Could identify a person: left out, no value is shown.")
    return (
        f'<div class="rx-column"><b>{html.escape(one.column) or tr("(no name)")}</b>'
        f"<small>{html.escape(examples or _EMPTY)}</small></div>"
    )


def _whose(proposed: ColumnChoice, one: ColumnChoice, key: str) -> ColumnChoice:
    """Show fields for the model, the reader and the scale, if the meaning has them."""
    column = as_markdown(proposed.column)
    if one.is_of_model:
        placeholder = tr("Model: from the row")
        model = st.text_input(
            tr("Model of {column}").format(column=column),
            proposed.model,
            placeholder=placeholder,
            key=f"{key}_model",
            label_visibility="collapsed",
            persist_state="session",
        )
        one = replace(one, model=model)
    if one.is_judgement:
        reader = st.text_input(
            tr("Reader of {column}").format(column=column),
            proposed.reader,
            placeholder=tr("Reader: from the row"),
            key=f"{key}_reader",
            label_visibility="collapsed",
            persist_state="session",
        )
        one = replace(one, reader=reader)
    if one.is_score:
        likely = proposed.scale or next(iter(proposed.scales), _USUAL_SCALE)
        scales = tuple(dict.fromkeys((_USUAL_SCALE, *ScoreScale.USUAL, likely)))
        scale = st.selectbox(
            tr("Scale of {column}").format(column=column),
            scales,
            scales.index(likely),
            format_func=lambda scale: tr("Scale {scale}, worst first").format(scale=scale),
            accept_new_options=True,
            help=tr(
                "Another scale is converted to 1 to 5. For words: list them, worst first, "
                "separated by commas."
            ),
            key=f"{key}_scale",
            label_visibility="collapsed",
            persist_state="session",
        )
        one = replace(one, scale="" if scale in (None, _USUAL_SCALE) else scale)
    return one
