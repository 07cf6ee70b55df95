"""What people wrote in a study, as several pages read it.

It is read anew when ``revision``, a part of the cache's key, shows that something was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

import polars as pl
import streamlit as st

from rexview.analysis.adjudication import CaseDifferences, consensus_scores, differing_cases
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet, Score
from rexview.store import Reviews, may
from rexview.ui.access import permissions
from rexview.ui.access.roles import roles
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_ADJUDICATE
from rexview.ui.server import review_sets, server_state
from rexview.words import tr

_NEW_READERS: Final = "study_new_readers"


@lru_cache(maxsize=4)
def _adjudications(reviews: Reviews, revision: int) -> pl.DataFrame:
    """Return each consensus, read anew for each ``revision``."""
    return reviews.adjudications()


def link_to_adjudicate() -> None:
    """Show the way to where readers' differences are settled, to those who may go there."""
    if permissions.may_see(PAGE_ADJUDICATE):
        st.page_link(
            PAGE_ADJUDICATE,
            label=tr("Adjudicate"),
            icon=":material/balance:",
            query_params=link_keys.link_query(),
        )


def consensus_on(review_set: ReviewSet, case_id: str) -> tuple[Score, ...]:
    """Return each consensus on a case, as scores of whoever recorded it.

    There is none where the database cannot be read.
    """
    try:
        reviews = review_sets.reviews(review_set)
        return consensus_scores(_adjudications(reviews, reviews.revision()), case_id)
    except StoreError:
        return ()


def agreed_scores(review_set: ReviewSet) -> Mapping[tuple[str, str, str], tuple[int, ...]]:
    """Return each consensus score by case, model and dimension; several where pictures are."""
    try:
        reviews = review_sets.reviews(review_set)
        rows = _adjudications(reviews, reviews.revision())
    except StoreError:
        return {}
    found: dict[tuple[str, str, str], tuple[int, ...]] = {}
    for row in rows.filter(pl.col("score").is_not_null()).sort("image").iter_rows(named=True):
        key = (row["case"], row["model"], row["dimension"])
        found[key] = (*found.get(key, ()), row["score"])
    return found


def case_differences(review_set: ReviewSet, threshold: float) -> tuple[CaseDifferences, ...]:
    """Return the cases on which readers differ, with what has been agreed, as of now.

    Raises
    ------
    StoreBusy, StoreUnreachable
    """
    reviews = review_sets.reviews(review_set)
    return _differences(review_sets.newest(review_set), reviews, reviews.revision(), threshold)


@lru_cache(maxsize=8)
def _differences(
    written: ReviewSet, reviews: Reviews, revision: int, threshold: float
) -> tuple[CaseDifferences, ...]:
    return differing_cases(written, reviews.adjudications(), threshold)


def reader_names(review_set: ReviewSet, readers: Iterable[str] = ()) -> dict[str, str]:
    """Return whoever can read, by id: those with a role for it, those who wrote, those named."""
    reviews = review_sets.reviews(review_set)
    wrote = reviews.people()
    members = [member.person for member in roles().people]
    found = {one.id: one.name for one in members if may(one, "score")}
    found |= {one.reader: one.name for one in reviews.assignments() if one.name}
    found |= {key: one.name for key, one in wrote.items() if may(one, "score")}
    current = permissions.current()
    if current is not None and may(current, "score"):
        found.setdefault(current.id, current.name)
    if not server_state.team():
        added: dict[str, str] = st.session_state.get(_NEW_READERS, {})
        found |= {key: name for key, name in added.items() if key not in found}
    for key in readers:
        found.setdefault(key, wrote[key].name if key in wrote else key)
    return found


def add_reader(person: Person) -> None:
    """Name somebody who has not written anything yet; for this session."""
    st.session_state.setdefault(_NEW_READERS, {})[person.id] = person.name
