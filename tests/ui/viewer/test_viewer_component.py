"""The viewer's files and how it is put on a page."""

import json
import re

from streamlit.testing.v1 import AppTest

from rexview.ui.viewer import assets_version, component, viewer_assets


def test_every_module_that_is_imported_is_served():
    for name, content in viewer_assets().items():
        for imported in re.findall(r'from "\./([^"]+)"', content.decode()):
            assert imported in viewer_assets(), f"{name} imports {imported}"
    assert "viewer.js" in viewer_assets()
    assert "loader.js" not in viewer_assets()


def test_modules_never_turn_data_into_markup():
    for name, content in viewer_assets().items():
        assert not re.search(r"innerHTML|insertAdjacentHTML|eval\(", content.decode()), name


def test_version_is_fit_for_a_path():
    assert re.fullmatch(r"[0-9a-f]{16}", assets_version())


def page():
    import streamlit as st

    from rexview.ui.viewer import PixelLink, ViewerData, ViewMark, radiograph_viewer

    data = ViewerData("c1", (ViewMark("pa", "PA", "PA", PixelLink("rexview/pixels/t", "k")),))
    radiograph_viewer(data, key="viewer", on_navigate=st.write, height="400px")


def test_on_a_page_it_gets_the_case_and_a_loader_of_this_version():
    app = AppTest.from_function(page).run()
    assert not app.exception
    (element,) = app.get("bidi_component")
    assert element.proto.component_name == component.NAME
    sent = json.loads(element.proto.json)
    assert sent["case"] == "c1"
    assert sent["height"] == "400px"
    assert f"rexview/assets/{assets_version()}/viewer.js" in element.proto.js_content
    assert "\n" in element.proto.js_content.strip()  # else Streamlit takes it for a path
