"""The order of Content is one choice for all pages, and stands in every link."""

import re

from page_text import drawn
from streamlit.testing.v1 import AppTest

from rexview.ui.link import keys as link_keys


def write_second_reader(folder):
    """Reader B scores Process and Execution the other way round than Reader A (5 and 2)."""
    with (folder / "scores.csv").open("a", encoding="utf-8") as file:
        for dimension, score in (("process", 2), ("execution", 5), ("synthesis", 3)):
            file.write(f"c1,m,rb,{dimension},{score}\n")


def content_of(app):
    found = r'<th scope="row">Model M</th><td><a [^>]*><b>([\d.]+)</b>'
    return re.search(found, drawn(app)).group(1)


def test_the_order_of_the_link_holds_for_numbers_and_links(open_app, review_folder):
    write_second_reader(review_folder)
    assert content_of(open_app()) == "3.00"
    app = open_app(content_order="minimum_first")
    assert content_of(app) == "2.00"
    assert any("mean of the readers' minimums" in caption.value for caption in app.caption)
    links = re.findall(r'href="(.*?)" data-rx-page', drawn(app))
    assert links
    assert all("content_order=minimum_first" in link for link in links)


def test_the_session_keeps_the_order_from_page_to_page():
    def visit():
        import streamlit as st

        from rexview.ui.link import keys as link_keys

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


def test_an_unknown_order_is_told(open_app):
    app = open_app(content_order="*best*")
    assert any("order of Content that is not known" in item.value for item in app.warning)
