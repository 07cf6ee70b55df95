"""The form in which a failure is written in words: a clinician needs no file and no command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from rexview.analysis.written_failures import (
    FAILURE_KIND,
    FailureWords,
    form_value_of,
    words_of_row,
    written_failures,
)
from rexview.errors import SettingsError, StoreError, StoreOvertaken
from rexview.judge.written import (
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
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import kept_in_link
from rexview.ui.saving.entries import FAILURES_PAGE
from rexview.ui.server import review_sets
from rexview.ui.streamlit_adapter.pressed import typed_fields, words_taken
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
_EDITED: Final = link_keys.QUERY_WRITTEN["edit"]
_OPEN: Final = "written_open"
"""The version that is edited, for a run that a part of the page asks for with an older link."""
_SAVED: Final = "written_saved"
_PROBLEM: Final = "written_problem"
_LEFT: Final = "written_left"
_TYPED: Final = "written_typed"
"""What was typed over words that others changed meanwhile, with the version of theirs."""


def choose_edited(versions: Sequence[FailureWords]) -> FailureWords | None:
    """Offer to edit the newest words; return those that are edited.

    The link has their version. So the form is the one that was typed into also after others have
    changed the words, and after a restart of the server.
    """
    asked = link_keys.query_value(_EDITED) or st.session_state.get(_OPEN)
    edited = next((one for one in versions if one.version == asked), None)
    newest = versions[0].version
    kept = kept_in_link(
        "written_editing", _EDITED, edited is not None, lambda on: newest if on else None
    )

    def changed() -> None:
        kept["on_change"]()
        st.session_state[_OPEN] = link_keys.query_value(_EDITED)

    st.toggle(tr("Edit the words"), **{**kept, "on_change": changed})
    return edited


def show_form(
    review_set: ReviewSet, every: Sequence[FailureWords], now: FailureWords | None
) -> None:
    """Show the form for a new failure, or with the words that one has ``now``."""
    if permissions.ask_name("written_who") is None:
        return
    key, given = _shown(now)
    _ask_and_save(review_set, every, now, key, given)


def show_taken_away(review_set: ReviewSet) -> bool:
    """Show the form of a failure that was taken away while it was edited, if there is one.

    It is the form that was typed into, so that what was typed comes with the press of its button.
    That button is gone: another one says that it makes a failure of its own.
    """
    version = link_keys.query_value(_EDITED)
    reviews = review_sets.reviews(review_set)
    rows = reviews.history(kind=FAILURE_KIND) if version else ()
    found = ((row.subject, words_of_row(row)) for row in rows)
    gone = next((pair for pair in found if pair[1] and pair[1].version == version), None)
    every, _ = written_failures(review_set.folder, reviews.current(FAILURE_KIND) if gone else ())
    if gone is None or gone[1] is None or gone[0] in {one.failure for one in every}:
        return False
    st.warning(
        tr(
            "Somebody took this failure away while you edited it: nothing was saved. Your words "
            "stand in the form, and can be saved as a failure of its own."
        ),
        icon=":material/error:",
    )
    key, given = _shown(gone[1])
    fields = _fields(gone[0])
    button = tr("Save as a new failure")
    _ask_and_save(review_set, every, None, key, given, button=button, fields=fields)
    if st.button(tr("Discard"), key="written_discard"):
        words_taken(fields)
        open_part(WORDS, failure=None, version=None, edit=None)
        st.rerun()
    return True


def _ask_and_save(
    review_set: ReviewSet,
    every: Sequence[FailureWords],
    now: FailureWords | None,
    key: str,
    given: Mapping[str, str],
    *,
    button: str = tr("Save"),
    fields: str | None = None,
) -> None:
    """Show the form; ``fields`` names the failure whose words are typed, ``now``'s by default."""
    name = fields or _fields(now.failure if now else None)
    with typed_fields(name), st.form(f"{key}_form", border=True):
        typed = {part: _ask(part, given[part], f"{key}_{part}") for part in _TEXTS}
        st.caption(
            tr(
                "The language model is given these words with question, report, answer "
                "and, where it reads pictures, the images. Changed words are a new version: what "
                "was found and read before stays with the old one."
            )
        )
        if said := st.session_state.pop(_PROBLEM, None):
            st.error(lines_as_markdown(said), icon=":material/error:")
        told = st.container()
        pressed = st.form_submit_button(button, type="primary")
    if not pressed:
        return
    if problem := _save(review_set, every, now, typed):
        told.error(lines_as_markdown(problem), icon=":material/error:")
    else:
        if st.session_state.get(_SAVED):
            words_taken(name)
        st.rerun()


def _fields(failure: str | None) -> str:
    """Name the fields of a failure in the browser, the same for all its versions."""
    return f"words of the failure {failure or ''}"


def _shown(now: FailureWords | None) -> tuple[str, Mapping[str, str]]:
    """Return the key of the form, and its texts at first."""
    if now is None:
        return "written_new", dict.fromkeys(_TEXTS, "")
    version, typed = st.session_state.get(_TYPED, (None, {}))
    if version == now.version:
        return f"written_{now.failure}_{now.version}_again", typed
    value = form_value_of(now.prompt)
    texts = {part: value.get(part) or "" for part in _TEXTS}
    return f"written_{now.failure}_{now.version}", {
        part: "\n".join(text) if isinstance(text, list) else text for part, text in texts.items()
    }


def _ask(part: str, text: str, key: str) -> str:
    """Return what stands in a field.

    The field says it itself, and no callback asks the session: after a restart of the server the
    press of Save is the first that the new session hears, and what was typed comes with it.
    """
    _, longest, example = _TEXTS[part]
    common: dict[str, Any] = {
        "key": key,
        "max_chars": longest,
        "placeholder": tr("For example: {example}").format(example=example),
    }
    if part == "name":
        return st.text_input(_TEXTS[part][0], text, **common) or ""
    return st.text_area(_TEXTS[part][0], text, height=68, **common) or ""


def show_told() -> None:
    """Say, once, that words are in the database, or why they could not be taken away."""
    if st.session_state.pop(_SAVED, False):
        st.success(tr("Saved."), icon=":material/check:")
    if said := st.session_state.pop(_LEFT, None):
        st.error(lines_as_markdown(said), icon=":material/error:")


def _save(
    review_set: ReviewSet,
    every: Sequence[FailureWords],
    now: FailureWords | None,
    typed: Mapping[str, str],
) -> str | None:
    """Save words, and open them; return why they are not saved, None where the page says it."""
    person = permissions.current()
    if person is None:
        return None
    value = _value(typed)
    missing = [_TEXTS[part][0] for part in NEEDED if not value[part]]
    if missing:
        return " ".join(tr("“{field}” is missing.").format(field=label) for label in missing)
    name = now.failure if now else name_for(value["name"] or "", [one.failure for one in every])
    before = now.value if now else None
    try:
        wording_of(name, {part: said for part, said in value.items() if said}, "The form")
        reviews = review_sets.reviews(review_set)
        stands = reviews.current_state().of(FAILURE_KIND, person.id).get((None, None, name, None))
        if stands is not None and stands.value != before:
            raise StoreOvertaken("Another window was quicker.", "Nothing was written.")
        entry = Entry(FAILURE_KIND, subject=name, value=value, via=FAILURES_PAGE, over=(before,))
        reviews.record([entry], person)
    except StoreOvertaken:
        _keep_typed(review_set, name, typed)
    except (SettingsError, StoreError) as error:
        return tr("Not saved: {reason}").format(reason=error)
    else:
        st.session_state[_SAVED] = True
        st.session_state.pop(_TYPED, None)
        st.session_state.pop(_OPEN, None)
        open_part(WORDS, failure=name, version=None, edit=None)
    return None


def _keep_typed(review_set: ReviewSet, name: str, typed: Mapping[str, str]) -> None:
    """Say that others were quicker; what was typed stands in the form of their words."""
    st.session_state[_PROBLEM] = tr(
        "Somebody else changed this failure meanwhile, or another window did: nothing was saved. "
        "Their words stand above, yours in the form: saved again, yours take their place."
    )
    rows = review_sets.reviews(review_set).current_state().of(FAILURE_KIND, "")
    row = rows.get((None, None, name, None))
    words = words_of_row(row) if row is not None else None
    if words is not None:
        st.session_state[_TYPED] = words.version, dict(typed)
        st.session_state[_OPEN] = words.version
        open_part(WORDS, failure=name, version=None, edit=words.version)


def _value(typed: Mapping[str, str]) -> dict[str, Any]:
    texts = {part: text.strip() for part, text in typed.items()}
    value: dict[str, Any] = {
        part: texts[part] or None for part in ("name", "counts", "does_not_count")
    }
    if value["name"]:
        value["name"] = " ".join(value["name"].split())
    for part in ("examples", "counterexamples"):
        lines = [line.strip().removeprefix("- ").strip() for line in texts[part].splitlines()]
        value[part] = [line for line in lines if line] or None
    return value


def take_away(review_set: ReviewSet, now: FailureWords) -> None:
    """Take the words of a failure away: it is offered no more; the history keeps all."""
    person = permissions.current()
    if person is None:
        return
    entry = Entry(
        FAILURE_KIND, subject=now.failure, value=None, via=FAILURES_PAGE, over=(now.value,)
    )
    try:
        review_sets.reviews(review_set).record([entry], person)
    except StoreError as error:
        st.session_state[_LEFT] = str(error)
    else:
        open_part(WORDS, failure=None, version=None, edit=None)
