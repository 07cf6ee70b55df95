"""What the columns of a table mean: one row a column, with examples, which a person may change."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from rexview.reviewset.importers.table.cells import ScoreScale
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.ui.data.column_choices import (
    KEEP,
    MEANINGS,
    ColumnChoice,
    chosen_mapping,
    doubled,
    meaning_words,
    proposed_choices,
)
from rexview.ui.html.safe_text import as_markdown
from rexview.words import tr

_EMPTY: Final = tr("Empty in the rows that were looked at.")
_PAGE: Final = 30
_USUAL_SCALE: Final = "1-5"


def confirm_columns(proposal: ColumnMapping) -> ColumnMapping | None:
    """Show what each column is taken for, let a person change it, and return it.

    None, with a word on why, where the choices cannot be used as they are. What was chosen stays
    for the session, as long as the file has the same columns.
    """
    key = f"import_columns_{_fingerprint(proposal)}"
    for note in proposal.notes:
        st.caption(as_markdown(note))
    proposed = proposed_choices(proposal)
    chosen = [_as_chosen(one, f"{key}_{place}") for place, one in enumerate(proposed)]
    first = _first_shown(len(proposed), key)
    for place in range(first, min(first + _PAGE, len(proposed))):
        chosen[place] = _row(proposed[place], chosen[place], chosen, key, place)
    mapping = chosen_mapping(proposal, chosen)
    if not mapping.answers and mapping.column_of("model") is None and mapping.column_of("answer"):
        model = st.text_input(
            tr("Model that gave these answers"),
            proposal.model or "",
            key=f"{key}_model",
            persist_state="session",
        )
        mapping = replace(mapping, model=model.strip() or proposal.model)
    wrong = [f"Only one column can be: {', '.join(twice)}." for twice in [doubled(chosen)] if twice]
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
    """Return a choice as it was changed before, also on a page of columns that is not shown."""
    kept = st.session_state
    return replace(
        one,
        meaning=kept.get(f"{key}_meaning", one.meaning),
        model=kept.get(f"{key}_model", one.model),
        reader=kept.get(f"{key}_reader", one.reader),
        scale=kept.get(f"{key}_scale", one.scale) or "",
    )


def _release_others(key: str, place: int, choices: Sequence[ColumnChoice]) -> None:
    """Keep another column as it is when its meaning, which one column has, is given to this one."""
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
            format_func=meaning_words,
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
    """Write the name of a column and some of its values."""
    examples = " · ".join(f"“{example}”" for example in one.examples)
    if one.private:
        examples = tr("Looks like a person's identity: left out, no value is shown.")
    return (
        f'<div class="rx-column"><b>{html.escape(one.column) or tr("(no name)")}</b>'
        f"<small>{html.escape(examples or _EMPTY)}</small></div>"
    )


def _whose(proposed: ColumnChoice, one: ColumnChoice, key: str) -> ColumnChoice:
    """Ask for the model, the reader and the scale, where the meaning has one."""
    column = as_markdown(proposed.column)
    if one.is_of_model:
        placeholder = tr("Model: that of the row")
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
            placeholder=tr("Reader: that of the row"),
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
                "Another scale is converted to 1 to 5. Words: type them, worst first, "
                "apart by commas."
            ),
            key=f"{key}_scale",
            label_visibility="collapsed",
            persist_state="session",
        )
        one = replace(one, scale="" if scale in (None, _USUAL_SCALE) else scale)
    return one
