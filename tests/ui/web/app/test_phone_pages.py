"""The pages at the foot of a phone's screen, as HTML."""

import re

import pytest

from rexview.ui.web.app.shell import _bar
from rexview.ui.web.link.pages import PAGE_ACCOUNT, PAGES


def pages_of(role):
    return [(page, page.title) for page in PAGES if role in page.seen_by]


def links(drawn):
    return re.findall(r"<a[^>]*>(.*?)</a>", drawn)


@pytest.mark.parametrize("role", ["lead", "adjudicator", "viewer", "reader"])
def test_every_page_that_somebody_may_see_is_there_once(role):
    drawn = _bar(pages_of(role), "guide")
    assert sorted(links(drawn)) == sorted(title for _, title in pages_of(role))
    assert drawn.count('aria-current="page"') == 1


def test_few_pages_stand_side_by_side():
    drawn = _bar(pages_of("reader"), "score")
    assert links(drawn) == ["Score cases", "Guide", "You"]
    assert "<details" not in drawn


def test_more_is_marked_where_its_page_is_shown():
    assert "<summary data-here>" in _bar(pages_of("lead"), "failures")
    assert "data-here" not in _bar(pages_of("lead"), "browse")


def test_a_hostile_name_stays_a_name():
    name = "<img src=x onerror=alert(1)>"
    (account,) = [page for page in PAGES if page.file == PAGE_ACCOUNT]
    drawn = _bar([(account, name)], "")
    assert "<img" not in drawn
    assert links(drawn) == ["&lt;img src=x onerror=alert(1)&gt;"]
