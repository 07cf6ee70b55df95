"""Open the reviews of a review set where they are kept, or where they would best be."""

from __future__ import annotations

from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.store.database.connection import database_at
from rexview.store.location import Location, best_location, location_of
from rexview.store.reviews import Reviews


def open_reviews(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a review set. Nothing is made on the disk before the first entry.

    Raises
    ------
    StoreUnreachable
        The database of the set may not be written to, or its address cannot be understood.
    """
    return _at(location_of(review_set, settings), review_set)


def open_best(review_set: ReviewSet, settings: Settings) -> Reviews:
    """Return the reviews of a set where they would best be kept, which others are joined into.

    Raises
    ------
    StoreUnreachable
        As for :func:`open_reviews`.
    """
    return _at(best_location(review_set, settings), review_set)


def _at(place: Location, review_set: ReviewSet) -> Reviews:
    return Reviews(database_at(place.url), review_set, place.key, own=place.own)
