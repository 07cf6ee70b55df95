"""What gives way to pages: for a moment after each request, and never for good."""

import time

from rexview.ui.server import page_work
from rexview.ui.server.page_work import PageWork


def test_others_wait_for_a_moment_after_each_request():
    work = PageWork()
    assert work.seconds_left() <= 0
    work.note()
    assert 0 < work.seconds_left() <= page_work._STANDS_S
    time.sleep(0.2)
    before = work.seconds_left()
    work.note()
    assert work.seconds_left() > before


def test_requests_without_end_leave_others_a_part_of_the_time(monkeypatch):
    for name, seconds in (("_STANDS_S", 0.1), ("_MOST_S", 0.4), ("_THEN_S", 0.2)):
        monkeypatch.setattr(page_work, name, seconds)
    work, free, end = PageWork(), [], time.monotonic() + 3
    while time.monotonic() < end:
        work.note()
        free.append(work.seconds_left() <= 0)
        time.sleep(0.005)
    assert 0.15 < sum(free) / len(free) < 0.6
