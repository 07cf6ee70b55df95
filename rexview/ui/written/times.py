"""Who wrote a version of a failure's words, and when."""

from __future__ import annotations

from rexview.analysis.written_failures import FailureWords
from rexview.vocab import day
from rexview.words import tr


def written_at(words: FailureWords) -> str:
    """Return ``Ann, 26 Nov 2026, 21:40:07 UTC``; the digest where nobody is named."""
    if words.at is None:
        who = words.by or tr("from a file or a run of the set")
        return f"{who}, {words.version[:8]}"
    return f"{words.by}, {day(words.at)}, {words.at:%H:%M:%S} UTC"
