"""People's entries in the open review set: their place, and how pages read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

import polars as pl
import streamlit as st

from rexview.analysis.adjudication import (
    CaseDifferences,
    find_differing_cases,
    list_consensus_scores,
)
from rexview.errors import BackupError, StoreError
from rexview.people import Person
from rexview.schema import ReviewSet, Score
from rexview.store import (
    Notice,
    Reviews,
    find_notices,
    foreign_set_id,
    may_write_kind,
    merge_databases,
    other_databases,
)
from rexview.store.database_location import data_folder_files, is_writable, set_folder_file
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.access.sign_in import roles
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_ADJUDICATE, PAGE_DATA
from rexview.ui.web.server import review_sets, server_state
from rexview.words import counted, tr

_DONE: Final = "reviews_panel_done"


@contextmanager
def showing_store_errors() -> Iterator[None]:
    """Show an error, and what to do, if the database cannot be read."""
    try:
        yield
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")


def show_notices(review_set: ReviewSet) -> None:
    """Show the problems of the reviews on any page; nothing if there are none.

    The text names no model and no person, so that the Score page can show it, too.
    """
    try:
        found = find_notices(review_sets.reviews(review_set))
    except StoreError:
        return  # shown where the reviews are read
    if found:
        lead = permissions.may_see(PAGE_DATA)
        what_to_do = tr("See the Data page.") if lead else tr("Tell the review lead.")
        text = " ".join(one.text for one in found)
        st.warning(f"{as_markdown(text)} {what_to_do}", icon=":material/report:")


def show_storage_place(review_set: ReviewSet) -> None:
    """Show in a line where entries are stored, once there are any; details are on the Data page."""
    try:
        reviews = review_sets.reviews(review_set)
        if not reviews.revision():
            return
    except StoreError:
        return  # shown where the reviews are read
    st.caption(tr("Reviews are kept in {where}.").format(where=_where(reviews)))


def _where(reviews: Reviews) -> str:
    file = reviews.database.file
    if file is None:
        return tr("a database server")
    beside = set_folder_file(reviews.review_set)
    return (
        tr("the review set's folder")
        if file == beside
        else tr("a file outside the review set's folder")
    )


def show_reviews(review_set: ReviewSet) -> None:
    """Show on the Data page where reviews are stored; a lead can repair problems."""
    permissions.guard(PAGE_DATA)
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(as_markdown(done))
    try:
        reviews = review_sets.reviews(review_set)
        found = find_notices(reviews)
        foreign = foreign_set_id(reviews)
        show_storage_place(review_set)
        if reviews.revision():
            with st.expander(tr("Exact location")):
                st.code(reviews.address, language=None)
    except StoreError as error:
        st.error(as_markdown(str(error)), icon=":material/error:")
        return
    if foreign is not None:
        st.warning(
            tr(
                "The entries here were written for a review set with the id “{foreign}”. "
                "If this is another set, move its reviews.sqlite elsewhere."
            ).format(foreign=as_markdown(foreign)),
            icon=":material/report:",
        )
    for one in found:
        _show_notice(review_set, reviews, one)
    if not any(one.kind == "elsewhere" for one in found) and _can_move(reviews):
        st.info(tr("When these entries were written, the set's folder was not writable."))
        if st.button(tr("Move them into the set's folder"), key="reviews_move"):
            _mend(lambda: _join(review_set))


def _show_notice(review_set: ReviewSet, reviews: Reviews, notice: Notice) -> None:
    with st.container(border=True):
        st.markdown(f":material/report: {as_markdown(notice.text)}")
        for line in notice.details:
            st.caption(as_markdown(line))
        if notice.kind == "elsewhere":
            st.caption(
                tr(
                    "Every entry of both is kept, without duplicates; the files stay as "
                    "dated copies."
                )
            )
            if st.button(tr("Merge them"), type="primary", key="reviews_join"):
                _mend(lambda: _join(review_set))
        elif notice.kind == "lost":
            st.caption(
                "Look for a newer copy of the file, or a backup, and join it: "
                "`python -m rexview merge-reviews FOLDER --from FILE`. Entries sent meanwhile "
                "are kept."
            )
            if st.button(tr("Continue without them"), key="reviews_accept"):
                _mend(lambda: _accept(reviews))
        elif notice.kind == "changed":
            st.caption(
                "Enter them again, or join a backup that has them: "
                "`python -m rexview merge-reviews FOLDER --from FILE`."
            )


def _can_move(reviews: Reviews) -> bool:
    """Return whether the reviews are stored with the user, and could be in the set's folder."""
    beside = set_folder_file(reviews.review_set)
    file = reviews.database.file
    if beside is None or file is None or file not in data_folder_files(reviews.review_set):
        return False
    return not beside.exists() and is_writable(beside.parent)


def _mend(work: Callable[[], str]) -> None:
    try:
        with st.spinner(tr("Merging…")):
            st.session_state[_DONE] = work()
    except (StoreError, BackupError) as error:
        st.error(as_markdown(str(error)), icon=":material/error:")
        return
    st.rerun()


def _join(review_set: ReviewSet) -> str:
    reviews = review_sets.best_reviews(review_set)
    report = merge_databases(reviews, [one.file for one in other_databases(reviews)])
    return tr("{counted} merged: {entries:,} now in {address}.").format(
        counted=counted(report.added, "entry"), entries=report.entries, address=reviews.address
    )


def _accept(reviews: Reviews) -> str:
    reviews.database.accept_loss()
    return tr("The missing entries are abandoned; the existing ones count.")


# People's entries in a study, as several pages read them.
#
# They are read again when ``revision``, a part of the cache's key, shows a new entry.

_NEW_READERS: Final = "study_new_readers"


@lru_cache(maxsize=4)
def _adjudications(reviews: Reviews, revision: int) -> pl.DataFrame:
    """Return each consensus, read again for each ``revision``."""
    return reviews.adjudications()


def link_to_adjudicate() -> None:
    """Show a link to the Adjudicate page, to users who may open it."""
    if permissions.may_see(PAGE_ADJUDICATE):
        st.page_link(
            PAGE_ADJUDICATE,
            label=tr("Adjudicate"),
            icon=":material/balance:",
            query_params=link_keys.link_query(),
        )


def case_consensus(review_set: ReviewSet, case_id: str) -> tuple[Score, ...]:
    """Return each consensus on a case, as scores of the person who recorded it.

    Empty if the database cannot be read.
    """
    try:
        reviews = review_sets.reviews(review_set)
        return list_consensus_scores(_adjudications(reviews, reviews.revision()), case_id)
    except StoreError:
        return ()


def agreed_scores(review_set: ReviewSet) -> Mapping[tuple[str, str, str], tuple[int, ...]]:
    """Return each consensus score by case, model and dimension; several if there are images."""
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
    """Return the cases on which readers differ, with the current consensus.

    Raises
    ------
    StoreBusy, StoreUnreachable
    """
    reviews = review_sets.reviews(review_set)
    return _differences(
        review_sets.with_current_reviews(review_set), reviews, reviews.revision(), threshold
    )


@lru_cache(maxsize=8)
def _differences(
    written: ReviewSet, reviews: Reviews, revision: int, threshold: float
) -> tuple[CaseDifferences, ...]:
    return find_differing_cases(written, reviews.adjudications(), threshold)


def reader_names(review_set: ReviewSet, readers: Iterable[str] = ()) -> dict[str, str]:
    """Return all possible readers by id: with a role for it, with entries, or in ``readers``."""
    reviews = review_sets.reviews(review_set)
    wrote = reviews.people()
    members = [member.person for member in roles().people]
    found = {one.id: one.name for one in members if may_write_kind(one, "score")}
    found |= {one.reader: one.name for one in reviews.assignments() if one.name}
    found |= {key: one.name for key, one in wrote.items() if may_write_kind(one, "score")}
    current = permissions.current_person()
    if current is not None and may_write_kind(current, "score"):
        found.setdefault(current.id, current.name)
    if not server_state.requires_sign_in():
        added: dict[str, str] = st.session_state.get(_NEW_READERS, {})
        found |= {key: name for key, name in added.items() if key not in found}
    for key in readers:
        found.setdefault(key, wrote[key].name if key in wrote else key)
    return found


def add_reader(person: Person) -> None:
    """Add a reader without entries, for this session."""
    st.session_state.setdefault(_NEW_READERS, {})[person.id] = person.name
