"""The viewer's files and how it is put on a page."""

from streamlit.testing.v1 import AppTest
from support.page_text import data_of

from rexview.ui.viewer import viewer_component
from rexview.ui.web.components import module_address


def page():
    import streamlit as st

    from rexview.ui.viewer import PixelLink, ViewerData, ViewerImage, radiograph_viewer

    data = ViewerData("c1", (ViewerImage("pa", "PA", "PA", PixelLink("rexview/pixels/t", "k")),))
    radiograph_viewer(data, key="viewer", on_navigate=st.write, height="400px")


def test_on_a_page_it_gets_the_case_and_a_loader_of_this_version():
    app = AppTest.from_function(page).run()
    assert not app.exception
    (element,) = app.get("bidi_component")
    assert element.proto.component_name == viewer_component.NAME
    sent = data_of(element.proto)
    assert sent["case"] == "c1"
    assert sent["height"] == "400px"
    assert module_address("viewer/assets/viewer.js") in element.proto.js_content
    assert "\n" in element.proto.js_content.strip()  # else Streamlit takes it for a path
