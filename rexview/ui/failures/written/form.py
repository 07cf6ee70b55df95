"""The form in which a failure is written in words: a clinician needs no file and no command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from rexview.analysis.written.failures import KIND, Words, value_of, words_of_row
from rexview.errors import SettingsError, StoreError, StoreOvertaken
from rexview.judge.written.words import (
    EXAMPLES,
    LONGEST,
    LONGEST_EXAMPLE,
    LONGEST_NAME,
    NEEDED,
    name_for,
    wording_of,
)
from rexview.schema import ReviewSet
from rexview.store import Entry
from rexview.ui.access import permissions
from rexview.ui.failures.written.views import WORDS, open_part
from rexview.ui.html.safe_text import lines_as_markdown
from rexview.ui.saving.entries import FAILURES_PAGE
from rexview.ui.server import review_sets
from rexview.words import tr

_LISTED: Final = EXAMPLES * (LONGEST_EXAMPLE + 1)
_TEXTS: Final = {
    "name": (tr("Name"), LONGEST_NAME, tr("Comparison that does not exist")),
    "counts": (
        tr("What counts"),
        LONGEST,
        tr("The answer compares with an earlier study, and none is mentioned or shown."),
    ),
    "does_not_count": (
        tr("What does not count"),
        LONGEST,
        tr("The question itself asks for a comparison."),
    ),
    "examples": (
        tr("Examples that count, a line each"),
        _LISTED,
        tr("Unchanged from the prior study."),
    ),
    "counterexamples": (
        tr("Examples that do not count, a line each"),
        _LISTED,
        tr("No earlier study is available for comparison."),
    ),
}
_SAVED: Final = "written_saved"
_PROBLEM: Final = "written_problem"


def show_form(review_set: ReviewSet, every: Sequence[Words], now: Words | None) -> None:
    """Show the form for a new failure, or with the words that one has ``now``."""
    if permissions.ask_name("written_who") is None:
        return
    key = _key(now)
    given = value_of(now.prompt) if now else {}
    with st.form(f"{key}_form", border=True):
        for part, (label, longest, example) in _TEXTS.items():
            value = given.get(part)
            text = "\n".join(value) if isinstance(value, list) else value or ""
            common: dict[str, Any] = {
                "key": f"{key}_{part}",
                "max_chars": longest,
                "placeholder": tr("For example: {example}").format(example=example),
            }
            st.session_state.setdefault(f"{key}_{part}", text)
            if part == "name":
                st.text_input(label, **common)
            else:
                st.text_area(label, height=68, **common)
        st.caption(
            tr(
                "The language model is given these words with question, report and "
                "answer. Changed words are a new version: what was found and read before "
                "stays with the old one."
            )
        )
        if said := st.session_state.pop(_PROBLEM, None):
            st.error(lines_as_markdown(said), icon=":material/error:")
        st.form_submit_button(
            tr("Save"), type="primary", on_click=_save, args=(review_set, every, now, key)
        )


def _key(now: Words | None) -> str:
    return f"written_{now.failure}_{now.version}" if now else "written_new"


def show_saved() -> None:
    """Say, once, that words are in the database."""
    if st.session_state.pop(_SAVED, False):
        st.success(tr("Saved."), icon=":material/check:")


def _save(review_set: ReviewSet, every: Sequence[Words], now: Words | None, key: str) -> None:
    person = permissions.current()
    if person is None:
        return
    value = _typed(key)
    missing = [_TEXTS[part][0] for part in NEEDED if not value[part]]
    if missing:
        said = [tr("“{field}” is missing.").format(field=label) for label in missing]
        st.session_state[_PROBLEM] = " ".join(said)
        return
    name = now.failure if now else name_for(value["name"] or "", [one.failure for one in every])
    before = now.value if now else None
    try:
        wording_of(name, {part: said for part, said in value.items() if said}, "The form")
        reviews = review_sets.reviews(review_set)
        stands = reviews.current_state().of(KIND, person.id).get((None, None, name, None))
        if stands is not None and stands.value != before:
            raise StoreOvertaken("Another window was quicker.", "Nothing was written.")
        entry = Entry(KIND, subject=name, value=value, via=FAILURES_PAGE, over=(before,))
        reviews.record([entry], person)
    except StoreOvertaken:
        _keep_typed(review_set, name, key)
    except (SettingsError, StoreError) as error:
        st.session_state[_PROBLEM] = str(error)
    else:
        st.session_state[_SAVED] = True
        for part in _TEXTS:
            st.session_state.pop(f"{key}_{part}", None)
        st.session_state.pop("written_editing", None)
        open_part(WORDS, failure=name, version=None)


def _keep_typed(review_set: ReviewSet, name: str, key: str) -> None:
    """Say that others were quicker; what was typed stands in the form of their words."""
    st.session_state[_PROBLEM] = tr(
        "Somebody else changed this failure meanwhile, or another window did: nothing was saved. "
        "Their words stand above, yours in the form: saved again, yours take their place."
    )
    rows = review_sets.reviews(review_set).current_state().of(KIND, "")
    row = rows.get((None, None, name, None))
    words = words_of_row(row) if row is not None else None
    if words is not None:
        for part in _TEXTS:
            st.session_state[f"{_key(words)}_{part}"] = st.session_state.get(f"{key}_{part}", "")


def _typed(key: str) -> dict[str, Any]:
    def typed(part: str) -> str:
        return str(st.session_state.get(f"{key}_{part}") or "").strip()

    value: dict[str, Any] = {
        part: typed(part) or None for part in ("name", "counts", "does_not_count")
    }
    if value["name"]:
        value["name"] = " ".join(value["name"].split())
    for part in ("examples", "counterexamples"):
        lines = [line.strip().removeprefix("- ").strip() for line in typed(part).splitlines()]
        value[part] = [line for line in lines if line] or None
    return value


def take_away(review_set: ReviewSet, now: Words) -> None:
    """Take the words of a failure away: it is offered no more; the history keeps all."""
    person = permissions.current()
    if person is None:
        return
    entry = Entry(KIND, subject=now.failure, value=None, via=FAILURES_PAGE, over=(now.value,))
    try:
        review_sets.reviews(review_set).record([entry], person)
    except StoreError as error:
        st.session_state[_PROBLEM] = str(error)
    else:
        open_part(WORDS, failure=None, version=None)
