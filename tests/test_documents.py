"""The documents for developers name files that are there."""

import re

import pytest
from support import ROOT

PLACES = (ROOT, ROOT / "rexview", ROOT / "rexview/text/findings", ROOT / "rexview/reviewset")


@pytest.mark.parametrize("name", ["architecture.md", "how-it-works.md"])
def test_every_path_that_is_named_is_there(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|js|css|yaml)|/))`", text))
    assert named
    lost = [
        path
        for path in sorted(named)
        if not any((place / path).exists() for place in PLACES)
        if "/" in path.rstrip("/") or not list((ROOT / "rexview").rglob(path))
    ]
    assert not lost
