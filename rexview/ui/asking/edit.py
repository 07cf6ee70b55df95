"""What a person edits: what a model can do, and a copy of the wording."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import streamlit as st

from rexview.addresses import address_of_set
from rexview.errors import SettingsError
from rexview.models.asking.own_files import models_text, save_models, save_prompt
from rexview.models.asking.prompts import built_in_prompts, prompt_text
from rexview.models.backend import Card, Prompt
from rexview.schema import ReviewSet
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.newest import change_link
from rexview.ui.streamlit_adapter.pressed import save_button, typed_fields, words_taken
from rexview.words import tr

_HEIGHT: Final = 320
_LONGEST: Final = 200_000
_LONGEST_NAME: Final = 80


def can_write(review_set: ReviewSet) -> bool:
    """Whether files can be put into the folder of a set."""
    return address_of_set(review_set.folder) is None and os.access(review_set.folder, os.W_OK)


def edit_card(model: str, card: Card, review_set: ReviewSet) -> None:
    """Offer the set's ``models.yaml`` to be edited."""
    box = st.expander(tr("Edit what it can do"), key="run_card_box", on_change="rerun")
    if not box.open:
        return
    with box:
        try:
            text = models_text(model, card, review_set.folder)
        except SettingsError as error:
            st.error(lines_as_markdown(error))
            return
        st.caption(
            tr("models.yaml of this review set. docs/running-models.md says what can stand in it.")
        )
        key = f"run_card_{model}"

        def save() -> None:
            save_models(st.session_state[key], review_set.folder)

        with typed_fields(key):
            _field(text, key, save, review_set)


def edit_prompt(prompt: Prompt, review_set: ReviewSet) -> None:
    """Offer a copy of a wording to be edited."""
    box = st.expander(tr("Edit a copy"), key="run_prompt_box", on_change="rerun")
    if not box.open:
        return
    key = f"run_wording_{prompt.id}"
    with box, typed_fields(key):
        own = prompt.id not in built_in_prompts()
        st.text_input(
            tr("Name of the copy"),
            value=prompt.id if own else f"{prompt.id}-mine",
            key=f"{key}_name",
            max_chars=_LONGEST_NAME,
            help=tr(
                "Letters, digits, dots and hyphens. A new name for each wording that was asked."
            ),
        )

        def save() -> None:
            name = st.session_state[f"{key}_name"].strip()
            save_prompt(name, st.session_state[key], review_set.folder)
            change_link({link_keys.QUERY_RUN_PROMPT: name})

        _field(prompt_text(prompt), key, save, review_set)


def _field(text: str, key: str, save: Callable[[], None], review_set: ReviewSet) -> None:
    """Show a text and a button that saves it; what is wrong with it stands below."""
    problem = f"{key}_problem"

    def saved() -> None:
        st.session_state.pop(problem, None)
        try:
            save()
        except SettingsError as error:
            st.session_state[problem] = str(error)
        else:
            words_taken(key)
            st.toast(tr("Saved in the review set's folder."))

    st.text_area(
        "YAML", text, height=_HEIGHT, key=key, max_chars=_LONGEST, label_visibility="collapsed"
    )
    save_button(tr("Save"), key=f"{key}_save", on_click=saved, disabled=not can_write(review_set))
    if said := st.session_state.get(problem):
        st.error(as_markdown(said), icon=":material/error:")
