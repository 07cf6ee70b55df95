"""What the strip says of the search for failures."""

import pytest

from rexview.analysis import ScanProgress
from rexview.detect.scan.background_scan import BackgroundProgress
from rexview.ui.scan_progress.progress_strip import progress_text


def progress(looked=1_234, state="running", **more):
    given = {"failed": 0, "per_second": 0.0, "seconds_left": None, "message": ""}
    return BackgroundProgress(answers=40_000, looked=looked, state=state, **{**given, **more})


def test_while_it_runs_it_says_how_far_how_fast_and_how_long():
    running = progress(per_second=210.4, seconds_left=185.0)
    assert progress_text(running, ScanProgress(40_000, 1_234, 0)) == (
        "Looking for failures: 1,234 of 40,000 answers, 210 a second, 3 min left."
    )
    assert progress_text(progress(0), ScanProgress(40_000, 0, 0)) == (
        "Looking for failures: 0 of 40,000 answers."
    )


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (42, "42 s"), (90, "2 min"), (7_200, "2 h")]
)
def test_what_is_left_is_one_number(seconds, words):
    running = progress(per_second=1.0, seconds_left=seconds)
    assert f", {words} left." in progress_text(running, ScanProgress(40_000, 1_234, 0))


def test_it_says_what_the_page_counts_where_that_is_less():
    said = progress_text(progress(40_000, "finished"), ScanProgress(40_000, 900, 0))
    assert said == (
        "All 40,000 answers have been checked for failures. This page counts the first 900."
    )
    assert "This page" not in progress_text(progress(), ScanProgress(40_000, 1_234, 0))
    assert "counts none of them yet." in progress_text(progress(), ScanProgress(40_000, 0, 0))


def test_it_says_that_it_was_stopped_or_came_to_an_end_and_why():
    shown = ScanProgress(40_000, 1_234, 0)
    stopped = progress(state="stopped")
    assert progress_text(stopped, shown) == (
        "Looking for failures stopped at 1,234 of 40,000 answers."
    )
    broken = progress(state="broken", message="The disk is full.", failed=3)
    assert progress_text(broken, shown) == (
        "Looking for failures ended at 1,234 of 40,000 answers. The disk is full."
    )
