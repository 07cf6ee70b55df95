"""A press that is the first that a session hears saves what was typed, once."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import rexview.ui

UI = Path(rexview.ui.__file__).parent


def form():
    import streamlit as st

    from rexview.ui.web.streamlit_adapter import script_run as pressed

    pressed.run_missed_callbacks()
    kept = st.session_state.setdefault("kept", [])

    def save(field):
        kept.append(f"{field} {st.session_state[field]}")
        st.session_state[field] = ""  # as only a callback may

    def name():
        kept.append(f"named {st.session_state['name']}")

    with st.form("form"):
        st.text_input("In the form", key="inside")
        pressed.form_save_button("Save", key="inside_save", on_click=save, args=("inside",))
    st.text_input("Beside it", key="beside")
    pressed.save_button("Save", key="beside_save", on_click=save, args=("beside",))
    pressed.save_text_input("Name", key="name", on_change=name)
    st.text("; ".join(kept))


@pytest.fixture
def page():
    return AppTest.from_function(form).run()


def in_new_session(page):
    return AppTest.from_function(form)._run(page._tree.get_widget_states())


@pytest.mark.parametrize("session", [AppTest.run, in_new_session], ids=["known", "new"])
@pytest.mark.parametrize("field", ["inside", "beside"])
def test_what_was_typed_is_saved_once(page, session, field):
    page.text_input(key=field).set_value("A line")
    page.button(key=f"{field}_save").click()
    after = session(page)
    assert not after.exception
    assert after.text[0].value == f"{field} A line"
    assert after.text_input(key=field).value == ""
    assert after.run().text[0].value == f"{field} A line"
    after.text_input(key=field).set_value("Another")
    after.button(key=f"{field}_save").click()
    assert after.run().text[0].value == f"{field} A line; {field} Another"


@pytest.mark.parametrize("session", [AppTest.run, in_new_session], ids=["known", "new"])
def test_a_name_is_heard_once(page, session):
    page.text_input(key="name").set_value("Mine")
    after = session(page)
    assert after.text[0].value == "named Mine"
    assert after.run().text[0].value == "named Mine"


def test_no_form_saves_in_a_callback_that_a_new_session_does_not_call():
    found = []
    for path in UI.rglob("*.py"):
        if path.name == "script_run.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = {one.arg for one in node.keywords}
                if node.func.attr == "form_submit_button" and "on_click" in given:
                    found.append(f"{path.relative_to(UI)}:{node.lineno}")
    assert not found, "streamlit_adapter/script_run.py has a button for it"
