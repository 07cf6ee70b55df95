"""Settings in force, and where each comes from; what is private is never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rexview.addresses import Address, shown_set
from rexview.doctor.finding import Known, Said, ok
from rexview.settings import SPECS, given_by
from rexview.vocab import noun


def look_at_settings(known: Known) -> Iterator[Said]:
    """List the settings that are given, then the names of those that are not."""
    given = given_by(known.arguments)
    for spec in SPECS:
        if spec.name in given:
            value = getattr(known.settings, spec.name)
            shown = "set" if spec.private else _shown(value)
            yield ok(spec.name, f"{shown} ({_where(given[spec.name], spec.name)})")
    others = [spec.name for spec in SPECS if spec.name not in given]
    if others:
        yield ok(noun(len(others), "default"), ", ".join(others))


def _where(where: str, name: str) -> str:
    """Return a file with its folder, or the name of a variable."""
    if match := re.fullmatch(rf"(.*), {name}", where):
        return str(Path(match[1]).absolute())
    return where


def _shown(value: Any) -> str:
    if isinstance(value, Path):
        return shown_set(value)
    if isinstance(value, Address):
        return value.text
    if isinstance(value, tuple):
        return os.pathsep.join(str(_shown(one)) for one in value) or "empty"
    return "none" if value is None else f"{value}"
