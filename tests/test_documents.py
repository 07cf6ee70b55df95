"""The documents for developers name files that are there."""

import re

import pytest
from support import ROOT

ARCHITECTURE = "docs/architecture.md"
ROOMS = [path.relative_to(ROOT).as_posix() for path in (ROOT / "rexview").rglob("README.md")]


@pytest.mark.parametrize("name", [ARCHITECTURE, *ROOMS])
def test_every_path_that_is_named_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    places = (ROOT, ROOT / "rexview", (ROOT / name).parent)
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|js|css|yaml)|/))`", text))
    assert named
    lost = [
        path
        for path in sorted(named)
        if not any((place / path).exists() for place in places)
        if "/" in path.rstrip("/") or not list((ROOT / "rexview").rglob(path))
    ]
    assert not lost
