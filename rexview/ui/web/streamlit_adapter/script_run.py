"""How Streamlit runs a page, and buttons that save whichever press a session hears first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator as Container
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

__all__ = ["Container", "RerunException", "StreamlitPage", "is_page_run", "within_page"]


def is_page_run() -> bool:
    """Return whether this thread runs the whole script of a page, not a fragment of it."""
    run = get_script_run_ctx(suppress_warning=True)
    return run is not None and not run.fragment_ids_this_run


@contextmanager
def within_page(page: StreamlitPage) -> Iterator[None]:
    """Make elements that belong to a page, without running its script.

    A component of the page and one that is made here with the same key are one to the browser.
    """
    run = get_script_run_ctx()
    if run is None:
        yield
        return
    with run.run_with_active_hash(page._script_hash):
        yield


# Buttons that save: a press is heard also where it is the first that a session hears.
#
# After a restart of the server a page that is still open sends what was typed with the press that
# comes next. The new session knows no button yet, so Streamlit calls no callback, and what was to
# be saved would not be. A button that is made here notices that, and has its callback called
# before the page runs once more: as Streamlit would have called it, with all that was typed in
# its place.
#
# Until such a press only the browser has what was typed: :func:`typed_fields` keeps it there.

_HEARD: Final = "pressed_heard"
_UNHEARD: Final = "pressed_unheard"
_TAKEN: Final = "pressed_taken"


def save_button(
    label: str, *, key: str, on_click: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show a button (:func:`streamlit.button`) whose press is always heard."""
    if st.button(label, key=key, on_click=_hear, args=(key, on_click, *args), **more):
        _rerun_unheard(key, on_click, args)


def form_save_button(
    label: str, *, key: str, on_click: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show the button of a form (:func:`streamlit.form_submit_button`): its press is heard."""
    told = (key, on_click, *args)
    if st.form_submit_button(label, key=key, on_click=_hear, args=told, **more):
        _rerun_unheard(key, on_click, args)


def save_text_input(
    label: str, *, key: str, on_change: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show a field (:func:`streamlit.text_input`), empty at first, whose text is always heard."""
    told = (key, on_change, *args)
    typed = st.text_input(label, key=key, on_change=_hear_text, args=told, **more)
    if typed and st.session_state.get(f"{key}_heard") != typed:
        st.session_state[f"{key}_heard"] = typed
        _call_before_next_run(on_change, args)


def typed_fields(name: str, *, saves_on_leaving: bool = False, **more: Any) -> Container:
    """Return a container whose text fields keep in the browser what is typed into them.

    The words outlive the tab, and a line below the fields reports that they are not saved. They are
    put back into the fields until :func:`words_taken` is called with the same ``name``. See
    :file:`typed_fields.js`.

    Parameters
    ----------
    name : str
        Names what the fields are about, in the whole app.
    saves_on_leaving : bool
        True if leaving a field saves it: words that are put back wait for their writer to do so.
    **more
        For :func:`streamlit.container`.
    """
    at_once = "at_once_" if saves_on_leaving else ""
    return st.container(key=f"rx_typed_{at_once}{_draft(name)}", **more)


def words_taken(name: str) -> None:
    """Report that the words in the fields of this name are saved, or discarded."""
    st.session_state.setdefault(_TAKEN, {})[_draft(name)] = uuid4().hex


def taken_words() -> list[tuple[str, str]]:
    """Return which drafts the browser can forget, each with an id of the press that took it."""
    taken: dict[str, str] = st.session_state.get(_TAKEN, {})
    return list(taken.items())


def _draft(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def hear_the_unheard() -> None:
    """Call what a new session was not heard to call, before anything of the page is shown."""
    waiting = st.session_state.pop(_UNHEARD, None)
    if waiting is not None:
        on_click, args = waiting
        on_click(*args)


def _hear(key: str, on_click: Callable[..., object], *args: Any) -> None:
    st.session_state[_HEARD] = key
    on_click(*args)


def _rerun_unheard(key: str, on_click: Callable[..., object], args: Sequence[Any]) -> None:
    if st.session_state.pop(_HEARD, None) == key:
        return
    _call_before_next_run(on_click, args)


def _hear_text(key: str, on_change: Callable[..., object], *args: Any) -> None:
    st.session_state[f"{key}_heard"] = st.session_state[key]
    on_change(*args)


def _call_before_next_run(call: Callable[..., object], args: Sequence[Any]) -> None:
    st.session_state[_UNHEARD] = call, tuple(args)
    st.rerun()
