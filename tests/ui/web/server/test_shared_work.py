"""Work that pages wait for is done once, beside them, and the page says what it waits for."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from rexview.errors import ReviewSetError
from rexview.ui.web.server.shared_work import SharedWork

LONG_S = 60


def test_who_ask_at_the_same_time_share_one_result() -> None:
    work, made, go_on = SharedWork[list[int]]("test"), [], threading.Event()

    def make() -> list[int]:
        made.append(threading.current_thread())
        go_on.wait(LONG_S)
        return [1]

    found: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: found.append(work.result("key", make, lambda: "")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    while len(work._running) == 0:
        threading.Event().wait(0.01)
    threading.Event().wait(0.1)
    go_on.set()
    for thread in threads:
        thread.join(LONG_S)
    assert found == [[1]] * 3
    assert all(one is found[0] for one in found)
    assert len(made) == 1
    assert made[0] not in threads
    assert not work._running


def test_it_is_made_again_for_who_asks_later() -> None:
    work, made = SharedWork[int]("test"), []
    for number in range(2):
        assert work.result("key", lambda n=number: made.append(n) or n, str) == number
    assert made == [0, 1]


def test_what_goes_wrong_is_raised_where_it_was_asked_for() -> None:
    def fail() -> None:
        raise ReviewSetError("It cannot be read.")

    work = SharedWork[None]("test")
    with pytest.raises(ReviewSetError, match="It cannot be read"):
        work.result("key", fail, str)
    assert not work._running


def slow_page() -> None:
    import threading

    import streamlit as st

    from rexview.ui.web.server.shared_work import SharedWork, reserve_place

    reserve_place()
    seen = st.session_state.setdefault("seen", [])
    go_on = threading.Event()

    def words() -> str:
        seen.append(len(seen))
        if len(seen) == 3:
            go_on.set()
        return f"Read *{len(seen)}* of 3"

    if "made" not in st.session_state:
        work = SharedWork[int]("test")
        st.session_state["made"] = work.result("key", lambda: go_on.wait(60) and 5, words)
    st.write(f"Made: {st.session_state['made']}")


def test_a_page_that_waits_says_how_far_it_is() -> None:
    app = AppTest.from_function(slow_page, default_timeout=LONG_S).run()
    assert not app.exception
    assert app.session_state["seen"] == [0, 1, 2]
    assert [one.value for one in app.markdown] == ["Made: 5"], "the words are gone in the end"
