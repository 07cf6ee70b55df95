"""A consensus as the Adjudicate page shows it, on which models stand under letters.

Names of models in it are covered, unless whoever looks wrote them. Browsers get and send back only
what is shown; the words themselves stay on the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rexview.analysis.case.blinding import COVER, cover_names
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, Stored


def shown_consensus(
    review_set: ReviewSet, reviews: Reviews, person: Person, row: Stored | None
) -> dict[str, Any]:
    """Return ``score`` and ``comment`` of a consensus as a person sees them, None where absent.

    One's own words are covered, too, where somebody else's before read the same: they may be
    theirs, kept with another score, and words that were guessed must not look different.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    value: Mapping[str, Any] = (row.value if row is not None else None) or {}
    score, comment = value.get("score"), value.get("comment") or None
    if row is None or comment is None:
        return {"score": score, "comment": comment}
    covered = cover_names(review_set, comment)
    own = row.person == person.id and all(
        one.person == person.id
        for one in _history(reviews, row)
        if not one.intact or cover_names(review_set, _words(one)) == covered
    )
    return {"score": score, "comment": comment if own else covered}


def words_meant(review_set: ReviewSet, reviews: Reviews, entry: Entry) -> Any:
    """Return the comment that an entry means: of words that were shown covered, the words.

    A comment that is none of those on the same thing is returned as it is.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    comment = (entry.value or {}).get("comment")
    if not isinstance(comment, str) or COVER not in comment:
        return comment
    before = map(_words, _history(reviews, entry))
    return next((one for one in before if cover_names(review_set, one) == comment), comment)


def _words(row: Stored) -> str:
    return (row.value or {}).get("comment") or ""


def _history(reviews: Reviews, on: Entry | Stored) -> list[Stored]:
    """Return all that was recorded on the same thing, newest first."""
    rows = reviews.history(case=on.case, kind="adjudicate")
    about = (on.model, on.subject, on.picture)
    return [row for row in rows if (row.model, row.subject, row.picture) == about]
