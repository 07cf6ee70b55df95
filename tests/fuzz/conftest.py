"""The app's own parts on the small set, for hostile input."""

import pytest
from support.opened_app import opened_set
from support.small_set import write_set


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set
