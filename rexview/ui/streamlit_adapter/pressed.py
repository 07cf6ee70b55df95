"""Buttons that save: a press is heard also where it is the first that a session hears.

After a restart of the server a page that is still open sends what was typed with the press that
comes next. The new session knows no button yet, so Streamlit calls no callback, and what was to be
saved would not be. A button that is made here notices that, and has its callback called before the
page runs once more: as Streamlit would have called it, with all that was typed in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

_HEARD: Final = "pressed_heard"
_UNHEARD: Final = "pressed_unheard"


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
