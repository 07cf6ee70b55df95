"""What a page's HTML tells the browser to fetch is there to be fetched."""

import re
from pathlib import Path

from streamlit.file_util import get_static_dir
from support.rows import each_row

from rexview.ui.web.app import page_head
from rexview.ui.web.components import modules, modules_version
from rexview.ui.web.link.pages import PAGES


@each_row("page", PAGES, ids=lambda page: page.file)
def test_every_script_that_a_page_names_is_served(page):
    head = page_head.page_head(f"/{page.address}").decode()
    links = re.findall(r'<link rel="modulepreload" href="./([^"]+)">', head)
    ours = [link for link in links if link.startswith("rexview/")]
    prefix = f"rexview/assets/{modules_version()}/"
    assert all(link.removeprefix(prefix) in modules() for link in ours)
    static = get_static_dir()
    for link in set(links) - set(ours):
        with Path(static, link).open(encoding="utf-8") as file:
            assert file.read(1)
    assert f"{prefix}web/saving/assets/waiting.js" in ours
    assert len(links) == len(set(links))


def test_an_address_without_a_page_names_none():
    assert page_head.page_head("/static/js/x.js") == b""


def test_a_module_comes_with_all_that_it_imports():
    found = page_head.collect_imports("viewer/assets/viewer.js")
    assert {"viewer/assets/viewer.js", "viewer/assets/image/pyramid.js"} <= found
    assert "web/components/dom.js" in found
    assert found <= modules().keys()
