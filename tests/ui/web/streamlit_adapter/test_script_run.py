import streamlit as st
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from rexview.ui.web.streamlit_adapter.script_run import RerunException, StreamlitPage


def test_a_run_that_is_begun_anew_raises_what_we_wait_for():
    def script():
        import streamlit as st

        from rexview.ui.web.streamlit_adapter.script_run import RerunException

        if "met" not in st.session_state:
            st.session_state["met"] = "nothing"
            try:
                st.rerun()
            except RerunException:
                st.session_state["met"] = "begun anew"
        st.text(st.session_state["met"])

    assert AppTest.from_function(script).run().text[0].value == "begun anew"
    assert not issubclass(StopException, RerunException)


def test_pages_are_of_the_kind_that_we_say():
    assert isinstance(st.Page(lambda: None, title="A", url_path="a"), StreamlitPage)
