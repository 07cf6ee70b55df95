"""Where what people write is kept, what is wrong with it, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st

from rexview.errors import BackupError, StoreError
from rexview.schema import ReviewSet
from rexview.store import Notice, Reviews, merge_databases, notices, other_databases, other_set
from rexview.store.location import beside_set, files_with_user, may_write
from rexview.ui.access import permissions
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link.pages import PAGE_DATA
from rexview.ui.server import review_sets
from rexview.words import counted, tr

_DONE: Final = "reviews_panel_done"


@contextmanager
def store_errors_shown() -> Iterator[None]:
    """Say so, and what to do, when the database cannot be read."""
    try:
        yield
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")


def show_notices(review_set: ReviewSet) -> None:
    """Say on any page what is wrong with the reviews; nothing where all is well.

    It names no model and nobody, so that it can stand on the Score page, too.
    """
    try:
        found = notices(review_sets.reviews(review_set))
    except StoreError:
        return  # shown where the reviews are read
    if found:
        lead = permissions.may_see(PAGE_DATA)
        what_to_do = tr("See the Data page.") if lead else tr("Tell whoever leads the review.")
        text = " ".join(one.text for one in found)
        st.warning(f"{as_markdown(text)} {what_to_do}", icon=":material/report:")


def show_place(review_set: ReviewSet) -> None:
    """Say in a line where entries are kept, from the first one on; where exactly, the Data page."""
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
    beside = beside_set(reviews.review_set)
    return (
        tr("the review set's folder")
        if file == beside
        else tr("a file outside the review set's folder")
    )


def show_reviews(review_set: ReviewSet) -> None:
    """Show on the Data page where reviews are kept, and let whoever leads mend what is wrong."""
    permissions.guard(PAGE_DATA)
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(as_markdown(done))
    try:
        reviews = review_sets.reviews(review_set)
        found = notices(reviews)
        foreign = other_set(reviews)
        show_place(review_set)
        if reviews.revision():
            with st.expander(tr("Where exactly")):
                st.code(reviews.address, language=None)
    except StoreError as error:
        st.error(as_markdown(str(error)), icon=":material/error:")
        return
    if foreign is not None:
        st.warning(
            tr(
                "The entries here were written for a review set with the id “{foreign}”. "
                "If this is another set, move its reviews.sqlite away."
            ).format(foreign=as_markdown(foreign)),
            icon=":material/report:",
        )
    for one in found:
        _show_notice(review_set, reviews, one)
    if not any(one.kind == "elsewhere" for one in found) and _can_move(reviews):
        st.info(
            tr("When these entries were written, nothing could be written to the set's folder.")
        )
        if st.button(tr("Move them into the set's folder"), key="reviews_move"):
            _mend(lambda: _join(review_set))


def _show_notice(review_set: ReviewSet, reviews: Reviews, notice: Notice) -> None:
    with st.container(border=True):
        st.markdown(f":material/report: {as_markdown(notice.text)}")
        for line in notice.details:
            st.caption(as_markdown(line))
        if notice.kind == "elsewhere":
            st.caption(
                tr("Every entry of both is kept, none twice; the files stay as dated copies.")
            )
            if st.button(tr("Join them"), type="primary", key="reviews_join"):
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
    """Whether the reviews lie with the user, and could lie in the set's folder."""
    beside = beside_set(reviews.review_set)
    file = reviews.database.file
    if beside is None or file is None or file not in files_with_user(reviews.review_set):
        return False
    return not beside.exists() and may_write(beside.parent)


def _mend(work: Callable[[], str]) -> None:
    try:
        with st.spinner(tr("Joining…")):
            st.session_state[_DONE] = work()
    except (StoreError, BackupError) as error:
        st.error(as_markdown(str(error)), icon=":material/error:")
        return
    st.rerun()


def _join(review_set: ReviewSet) -> str:
    reviews = review_sets.best_reviews(review_set)
    report = merge_databases(reviews, [one.file for one in other_databases(reviews)])
    return tr("{counted} joined: {entries:,} now in {address}.").format(
        counted=counted(report.added, "entry"), entries=report.entries, address=reviews.address
    )


def _accept(reviews: Reviews) -> str:
    reviews.database.accept_loss()
    return tr("The missing entries are given up; what is there counts.")
