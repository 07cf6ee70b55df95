"""The fields that docs/statistics.md names for a part of what ``stats --json`` writes."""

import re

from support import ROOT


def documented(section: str) -> list[str]:
    """Return the names of a section's fields, in the order of its table."""
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    part = text.split(f"### `{section}`\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]
