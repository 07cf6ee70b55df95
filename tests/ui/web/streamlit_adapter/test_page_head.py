from pathlib import Path

import pytest
from streamlit.file_util import get_static_dir

from rexview.ui.web.app import page_head as of_our_pages
from rexview.ui.web.streamlit_adapter.page_markup import lazy_parts

PARTS = {
    *of_our_pages._PARTS_EVERYWHERE,
    *(name for all_ in of_our_pages._PARTS.values() for name in all_),
}


@pytest.mark.parametrize("name", sorted(PARTS))
def test_streamlit_still_has_the_part_under_this_name(name):
    found = lazy_parts(name)
    assert any(path.startswith(f"static/js/{name}.") for path in found)


def test_what_the_page_names_itself_is_not_named_again():
    index = Path(get_static_dir(), "index.html").read_text(encoding="utf-8")
    assert not [path for path in lazy_parts(*PARTS) if path in index]


def test_a_part_that_streamlit_does_not_have_is_left_out():
    assert lazy_parts("NoSuchElement") == ()


def test_streamlit_asks_the_page_where_its_server_is():
    scripts = Path(get_static_dir(), "static", "js").glob("index.*.js")
    assert any(
        "window.__streamlit" in (text := file.read_text()) and "BACKEND_BASE_URL" in text
        for file in scripts
    )
