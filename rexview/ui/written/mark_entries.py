"""A person's word that an answer has a failure in words, made into an entry."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rexview.analysis.written_failures import FAILURE_KIND as WORDS
from rexview.analysis.written_failures import MARK_KIND, versions_of, written_failures
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, Stored
from rexview.ui.saving.entries import Refused, SentEntry, value_of
from rexview.words import tr

_GONE: Final = tr("This failure was removed, or never written. Reload the page.")


def mark_entry(
    review_set: ReviewSet, reviews: Reviews, sent: SentEntry, row: Stored | None
) -> Entry:
    """Make the entry of one mark, on the answer that was read, also if it was changed.

    ``row`` is the person's newest one on the same thing. Null takes a mark back, also one of a
    failure that is no more.

    Raises
    ------
    Refused
        There is no such failure, or it never had these words.
    Overtaken
        Another window saved something else that the writer has not seen.
    """
    was, value = value_of(MARK_KIND, sent.was), value_of(MARK_KIND, sent.value)
    if value is not None:
        _check_words(review_set, reviews, sent.subject or "", value["version"])
    is_of_answer = row is not None and row.answer_digest in (None, sent.shown)
    stands = row.value if row is not None and is_of_answer else None
    replace(sent, was=was, value=value).check_unseen(row, stands, {})
    return sent.on_shown(value)


def _check_words(review_set: ReviewSet, reviews: Reviews, failure: str, version: object) -> None:
    standing, _ = written_failures(review_set.folder, reviews.current(WORDS))
    known = {one.failure for one in standing}
    versions = versions_of(review_set.folder, reviews.history(kind=WORDS), failure)
    if failure not in known or version not in {one.prompt.hash for one in versions}:
        raise Refused(_GONE)
