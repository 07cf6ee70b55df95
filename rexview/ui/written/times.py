"""Who wrote a version of a failure's words, and when."""

from __future__ import annotations

from rexview.analysis.written.failures import Words
from rexview.words import tr


def written_at(words: Words) -> str:
    """Return it in words: ``Ann, 2026-11-26 21:40 UTC, version 3fa9c1d2``."""
    version = tr("version {version}").format(version=words.version[:8])
    if words.at is None:
        return f"{words.by or tr('from a file or a run of the set')}, {version}"
    return f"{words.by}, {words.at:%Y-%m-%d %H:%M} UTC, {version}"
