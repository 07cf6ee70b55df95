"""Page runs of Streamlit, and save buttons that work as the first press of a session."""

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
    """Create elements that belong to a page, without running its script.

    The browser treats a component of the page and one created here with the same key as one.
    """
    run = get_script_run_ctx()
    if run is None:
        yield
        return
    with run.run_with_active_hash(page._script_hash):
        yield


# Save buttons whose press works even as the first event of a session.
#
# After a restart of the server, a page that is still open sends its typed text with the next press.
# The new session does not know the button yet, so Streamlit calls no callback, and the text would
# not be saved. A button made here detects that, and its callback is called before the page runs
# again, with all the typed text, as Streamlit would have called it.
#
# Until such a press only the browser has the typed text: :func:`typed_fields` keeps it there.

_HEARD: Final = "pressed_heard"
_UNHEARD: Final = "pressed_unheard"
_TAKEN: Final = "pressed_taken"


def save_button(
    label: str, *, key: str, on_click: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show a button (:func:`streamlit.button`) whose press is never lost."""
    if st.button(label, key=key, on_click=_hear, args=(key, on_click, *args), **more):
        _rerun_unheard(key, on_click, args)


def form_save_button(
    label: str, *, key: str, on_click: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show a form's button (:func:`streamlit.form_submit_button`) whose press is never lost."""
    told = (key, on_click, *args)
    if st.form_submit_button(label, key=key, on_click=_hear, args=told, **more):
        _rerun_unheard(key, on_click, args)


def save_text_input(
    label: str, *, key: str, on_change: Callable[..., object], args: Sequence[Any] = (), **more: Any
) -> None:
    """Show an initially empty field (:func:`streamlit.text_input`) whose text is never lost."""
    told = (key, on_change, *args)
    typed = st.text_input(label, key=key, on_change=_hear_text, args=told, **more)
    if typed and st.session_state.get(f"{key}_heard") != typed:
        st.session_state[f"{key}_heard"] = typed
        _call_before_next_run(on_change, args)


def typed_fields(name: str, *, saves_on_leaving: bool = False, **more: Any) -> Container:
    """Return a container whose text fields keep their typed text in the browser.

    The text outlives the tab, and a line below the fields reports that it is not saved. It is put
    back into the fields until :func:`finish_draft` is called with the same ``name``. See
    :file:`typed_fields.js`.

    Parameters
    ----------
    name : str
        Identifies the subject of the fields, in the whole app.
    saves_on_leaving : bool
        True if leaving a field saves it: text that is put back is saved when its writer leaves it.
    **more
        For :func:`streamlit.container`.
    """
    at_once = "at_once_" if saves_on_leaving else ""
    return st.container(key=f"rx_typed_{at_once}{_draft(name)}", **more)


def finish_draft(name: str) -> None:
    """Report that the text in the fields of this name is saved or discarded."""
    st.session_state.setdefault(_TAKEN, {})[_draft(name)] = uuid4().hex


def finished_drafts() -> list[tuple[str, str]]:
    """Return the drafts that the browser can delete, each with an id of the press that saved it."""
    taken: dict[str, str] = st.session_state.get(_TAKEN, {})
    return list(taken.items())


def _draft(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def run_missed_callbacks() -> None:
    """Run the callbacks that a new session missed, before the page shows anything."""
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
