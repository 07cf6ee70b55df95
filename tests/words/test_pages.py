"""No page that is done shows English where the server speaks another language."""

import json
import os
import subprocess
import sys

import pytest
from support import ROOT
from support.words.bare import bare, outside, texts_in_html

DONE = (
    *("guide", "account", "", "browse", "failures", "scores", "scores?published=1", "readers"),
    *("readers?apart=1", "report_generation", "multiple_choice", "meeting"),
    *("score", "adjudicate", "curate", "study"),
)
"""Pages that are done; those that are not stand in docs/translating.md."""


@pytest.fixture(scope="module")
def found(tmp_path_factory, gathered_words):
    """What is bare by page: asked in a process of its own, where the language is another."""
    folder = tmp_path_factory.mktemp("pseudo")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
        "PYTHONIOENCODING": "utf-8",
        "REXVIEW_LANGUAGE": "x-pseudo",
        "REXVIEW_CACHE": str(folder / "cache"),
        "REXVIEW_DATABASE_URL": f"sqlite:///{folder / 'reviews.sqlite'}",
        "XDG_DATA_HOME": str(folder / "data"),
    }
    command = [sys.executable, "-m", "support.words.bare", *DONE]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout[done.stdout.index("{") :])


@pytest.mark.parametrize("page", DONE)
def test_a_page_that_is_done_shows_no_english(found, page):
    assert found[page] == []


def test_what_is_bare_is_found():
    html = '<p title="bare title">⟦in a {n} sentence⟧, more <b>⟦x⟧ 12</b> Model A</p>'
    assert bare(texts_in_html(html), "the text of model a says so") == [", more", "bare title"]
    assert outside("a ⟦b ⟦c⟧ d⟧ e") == ["a ", " e"]
