"""What the page says of a run, from a file that anybody may have edited."""

import pytest

from rexview.ui.asking.run_figures import start_note


@pytest.mark.parametrize(
    ("created", "words"),
    [
        ("2026-03-08T14:05:59+00:00", "started 8 Mar 2026, 14:05 UTC by Ann"),
        ("2026-03-08T14:05:59", "started 8 Mar 2026, 14:05 UTC by Ann"),
        ("2026-03-08T00:05:00+02:00", "started 7 Mar 2026, 22:05 UTC by Ann"),
        ("0001-01-01T00:00:00+14:00", "started 0001-01-01T00:00:00+14:00 by Ann"),
        ("some day", "started some day by Ann"),
        ("", "started  by Ann"),
    ],
)
def test_when_a_run_was_begun(created, words):
    assert start_note(created, "Ann") == words
