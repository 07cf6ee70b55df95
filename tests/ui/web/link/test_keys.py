"""What a link holds, and what the session keeps from page to page."""

from streamlit.testing.v1 import AppTest

from rexview.ui.web.link import keys as link_keys


def test_the_session_keeps_the_order_from_page_to_page():
    def visit():
        import streamlit as st

        from rexview.ui.web.link import keys as link_keys

        link_keys.keep_choices(st.session_state["visited"])

    app = AppTest.from_function(visit)
    app.session_state["visited"] = "scores"
    app.query_params[link_keys.QUERY_CONTENT_ORDER] = "minimum_first"
    app.run()
    del app.query_params[link_keys.QUERY_CONTENT_ORDER]
    app.session_state["visited"] = "browse"
    app.run()
    assert app.query_params[link_keys.QUERY_CONTENT_ORDER] == "minimum_first"
    del app.query_params[link_keys.QUERY_CONTENT_ORDER]
    app.run()  # the same page by the back button: as it was before the switch
    assert link_keys.QUERY_CONTENT_ORDER not in app.query_params
    app.session_state["visited"] = "case"
    app.run()
    assert link_keys.QUERY_CONTENT_ORDER not in app.query_params
    assert not app.exception
