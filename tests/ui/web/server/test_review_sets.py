"""The review sets that a server has open."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from support.small_set import write_set

from rexview.ui.web.server.review_sets import open_set


def test_visitors_who_come_together_wait_for_one_reading(tmp_path):
    folder = write_set(tmp_path / "set")
    together = Barrier(4)

    def visit(_):
        together.wait()
        return open_set(folder)

    with ThreadPoolExecutor(4) as visitors:
        first, *others = visitors.map(visit, range(4))
    assert all(one is first for one in others)
