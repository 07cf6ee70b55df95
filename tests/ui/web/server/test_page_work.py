"""What gives way to pages: for a moment after each request, and never for good."""

from types import SimpleNamespace

import pytest

from rexview.ui.web.server import page_work
from rexview.ui.web.server.page_work import PageWork


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a test moves it on."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(page_work, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_others_wait_for_a_moment_after_each_request(clock):
    work = PageWork()
    assert work.seconds_left() <= 0
    work.note()
    assert work.seconds_left() == page_work._STANDS_S
    clock.seconds += 0.2
    before = work.seconds_left()
    work.note()
    assert work.seconds_left() > before


def test_requests_without_end_leave_others_a_part_of_the_time(clock):
    work, free = PageWork(), []
    for _ in range(3000):
        work.note()
        free.append(work.seconds_left() <= 0)
        clock.seconds += 0.01
    assert 0.25 < sum(free) / len(free) < 0.4  # 2 s after every 4 s
