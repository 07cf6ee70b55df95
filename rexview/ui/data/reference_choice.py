"""The question which of several files or columns has the reference, where nothing tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from rexview.ui.html.safe_text import as_markdown
from rexview.words import tr


def choose_references(groups: Sequence[Mapping[str, str]]) -> tuple[str, ...] | None:
    """Ask which one of each group has the reference; None until all are chosen.

    A group has files, or columns as ``FILE=COLUMN``, with a text of each.
    """
    chosen = []
    for group in groups:
        chosen.append(
            st.radio(
                tr("Which one has the reports or answers of the radiologist?"),
                list(group),
                index=None,
                format_func=lambda one: as_markdown(_in_words(one)),
                captions=[
                    as_markdown(tr("such as “{text}”").format(text=text)) for text in group.values()
                ],
                key=f"import_reference_{'|'.join(group)}",
                help=tr(
                    "Each has texts about the same cases, and neither names nor contents tell "
                    "whose they are. The others become answers of models."
                ),
                persist_state="session",
            )
        )
    if None in chosen:
        st.caption(tr("Choose one: the others become answers of models."))
        return None
    return tuple(map(str, chosen))


def _in_words(choice: str) -> str:
    file, mark, column = choice.rpartition("=")
    return tr("{column} in {file}").format(column=column, file=file) if mark else choice
