"""Our styles and scripts reach only for ids that are listed, and Streamlit's page has them all."""

import re
from pathlib import Path

import pytest
from streamlit import file_util

from rexview import ui
from rexview.ui.web.streamlit_adapter.page_markup import CLASSES, STREAMLIT_THEME_KEY, TEST_IDS

OURS = Path(ui.__file__).parent


@pytest.fixture(scope="module")
def streamlits_scripts():
    folder = Path(file_util.get_static_dir()) / "static" / "js"
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js")))


def test_no_others_are_reached_for_and_none_is_listed_in_vain():
    files = [*OURS.rglob("*.css"), *OURS.rglob("*.js")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert set(re.findall(r'data-testid="([^"$]+)"', text)) == TEST_IDS
    assert set(re.findall(r"\.(st[A-Z]\w+)", text)) == CLASSES


@pytest.mark.parametrize("name", sorted(CLASSES | TEST_IDS))
def test_streamlit_still_writes(name, streamlits_scripts):
    assert re.search(rf"[`\"' ]{name}[`\"' ]", streamlits_scripts)


def test_streamlit_still_makes_a_class_of_a_containers_key(streamlits_scripts):
    assert "`st-key-" in streamlits_scripts


def test_streamlit_keeps_the_theme_where_ours_is_handed_over(streamlits_scripts):
    kept = re.search(
        r"=(\d+),\w+=`(\w+-)\$\{window\.location\.pathname\}`,\w+=\{CACHED_THEME_VERSION",
        streamlits_scripts,
    )
    assert kept is not None
    assert f"{kept[2]}${{location.pathname}}-v{kept[1]}" == STREAMLIT_THEME_KEY


def test_streamlit_follows_the_address_as_it_does_for_the_back_button(streamlits_scripts):
    assert re.search(r"addEventListener\([`\"']popstate[`\"']", streamlits_scripts)
