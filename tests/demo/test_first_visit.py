"""Every page of the demonstration shows something when it is opened for the first time."""

from hashlib import sha256

import pytest
from support.opened_app import run_page, server_for

from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGES

HINTS = {"Choose a model, or type its name as the server knows it."}
"""What a form says before it is filled in: such a page shows its runs beside it."""
VIEWS = {
    "score": [{"task": "answer"}, {"task": "correct"}, {"task": "compare"}],
    "meeting": [{link_keys.QUERY_VIEW: "decisions"}, {link_keys.QUERY_VIEW: "present"}],
}
OPENED = [
    (page.file.removeprefix("pages/").removesuffix(".py"), query)
    for page in PAGES
    for query in [{}, *VIEWS.get(page.address, [])]
]


@pytest.fixture(scope="module")
def fresh_demo(tmp_path_factory):
    """The embedded demonstration, of a user who never opened it."""
    folder = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch, server_for(DEMO_FOLDER, folder, patch):
        yield


@pytest.mark.parametrize(("page", "query"), OPENED)
def test_no_page_is_empty_on_the_first_visit(fresh_demo, page, query):
    app = run_page(page, name="Ann", **query)
    assert not app.exception
    assert [one.value for one in app.info if one.value not in HINTS] == []


@pytest.mark.parametrize("order", ["order", "severity"])
def test_no_picture_is_shown_twice_in_the_first_twelve_cases(order):
    demo = load_review_set(DEMO_FOLDER)
    first = build_memory_engine(demo).page(CaseFilter(sort=order), 0, 12)
    assert len(first) == 12
    shown = [(name, image.path) for name in first for image in demo.case(name).images]
    pictures = [
        sha256((DEMO_FOLDER / "images" / path).read_bytes()).hexdigest() for _, path in shown
    ]
    assert len(set(pictures)) == len(pictures), shown
