"""The part of the Failures page about failures in one's own words."""

from __future__ import annotations

import streamlit as st

from rexview.analysis.written_failures import FailureWords, counted_marks, marked
from rexview.analysis.written_results import (
    VALIDATION_KIND,
    FoundIn,
    found_in,
    found_rows,
    judged_versions,
    validated,
)
from rexview.errors import StoreError
from rexview.models.running.folder import JUDGING
from rexview.schema import ReviewSet
from rexview.store import may
from rexview.ui.access import permissions
from rexview.ui.asking.jobs import any_at_work
from rexview.ui.failures.written import html as written_html
from rexview.ui.failures.written.chosen import Chosen, choose_failure
from rexview.ui.failures.written.find import show_find
from rexview.ui.failures.written.form import (
    choose_edited,
    show_form,
    show_taken_away,
    show_told,
    take_away,
)
from rexview.ui.failures.written.views import VALIDATE, open_part, served
from rexview.ui.filters.page import FilteredSet
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link.in_app import linked_html
from rexview.ui.server import review_sets
from rexview.ui.streamlit_adapter.pressed import save_button
from rexview.words import tr


def show_own_words(filtered: FilteredSet) -> None:
    """Show the failures in words: write one, find it, see what was found and what was read."""
    if not served():
        return
    review_set = filtered.review_set
    writes = may_write()
    show_told()
    if writes and show_taken_away(review_set):
        return
    chosen = choose_failure(review_set, may_write=writes)
    if chosen.now is None or chosen.shown is None:
        _show_new(review_set, chosen, writes=writes)
        return
    stale = chosen.shown is not chosen.versions[0]
    st.html(written_html.words_html(chosen.shown, stale=stale))
    if writes:
        _show_changes(review_set, chosen, chosen.now)
    _show_found(review_set, chosen.shown, stale=stale, writes=writes)
    show_find(filtered, chosen.shown)


def may_write() -> bool:
    """Whether whoever looks may write failures and validate them; alone everybody may."""
    role, person = permissions.role(), permissions.current()
    return may(person, VALIDATION_KIND) if person is not None else role in ("lead", "adjudicator")


def _show_new(review_set: ReviewSet, chosen: Chosen, *, writes: bool) -> None:
    st.caption(
        tr(
            "Say in words what goes wrong, such as a comparison with a study that "
            "does not exist. A language model looks for it in the answers, you read "
            "a random sample of what it found, and its precision stands beside the "
            "count. Without a language model, Add a failure on the Case page offers it, and a "
            "meeting can agree on it."
        )
    )
    if writes:
        show_form(review_set, chosen.every, None)
    elif not chosen.every:
        st.info(tr("No failure was written in words yet."))


def _show_changes(review_set: ReviewSet, chosen: Chosen, now: FailureWords) -> None:
    with st.container(horizontal=True, gap="small"):
        edited = choose_edited(chosen.versions)
        if now.value is not None:
            with st.popover(tr("Remove")):
                st.markdown(
                    tr(
                        "It leaves the lists, and what people marked with it is no longer shown. "
                        "Its words, what was read and what was marked stay in the history."
                    )
                )
                save_button(
                    tr("Remove it"),
                    key="written_take_away",
                    on_click=take_away,
                    args=(review_set, now),
                )
    if edited is not None:
        show_form(review_set, chosen.every, edited)


def _show_found(review_set: ReviewSet, words: FailureWords, *, stale: bool, writes: bool) -> None:
    """Show what each judge found in these words, and what clinicians say of a sample."""
    judges = [
        judge for prompt, judge in judged_versions(review_set) if prompt.hash == words.prompt.hash
    ]
    if not judges and any_at_work(review_set, (JUDGING,)):
        st.info(tr("A search begins: see below. What it finds stands here afterwards."))
    elif not judges:
        st.info(
            tr(
                "Not searched for yet in these words: choose a language model below. Without one, "
                "a meeting can agree on it: its form offers it, and Browse finds those cases "
                "under Meetings."
            )
        )
    for judge in judges:
        with st.spinner(tr("Reading what was found…")):
            found = found_in(review_set, words.prompt, judge)
        _show_judge(review_set, found, writes=writes)
    _show_marked(review_set, words, stale=stale)


def _show_marked(review_set: ReviewSet, words: FailureWords, *, stale: bool) -> None:
    """Show which answers people say have it, in these words; ``stale`` ones no page offers."""
    written, names = review_sets.newest(review_set), review_set.model_names
    found = marked(counted_marks(written), names, words.failure, words.version)
    if not found.rows:
        nobody = (
            tr("Nobody marked an answer with these words.")
            if stale
            else tr(
                "Nobody has marked an answer with these words yet: Add a failure, on the Case "
                "page, offers them."
            )
        )
        st.caption(as_markdown(f"{nobody} {written_html.elsewhere_words(found)}".strip()))
        return
    drawn = written_html.marked_html(found, names, review_sets.colours(review_set))
    linked_html(drawn, key="written_marked")


def _show_judge(review_set: ReviewSet, found: FoundIn, *, writes: bool) -> None:
    rows = found_rows(found, review_set.model_names)
    if not rows:
        return
    names, colours = review_set.model_names, review_sets.colours(review_set)
    key = f"{found.version}_{found.judge}"
    try:
        read = validated(found, review_sets.reviews(review_set).current(VALIDATION_KIND))
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    drawn = written_html.found_html(found, rows, names, colours, read)
    linked_html(drawn, key=f"written_{key}")
    if read:
        linked_html(written_html.validated_html(read), key=f"written_read_{key}")
    elif found.results.said:
        st.caption(tr("Not validated yet: how many of those found are right is not known."))
    if writes and found.results.said:
        st.button(
            tr("Read a sample"),
            key=f"written_read_{key}_button",
            icon=":material/fact_check:",
            on_click=open_part,
            args=(VALIDATE,),
            kwargs={
                "failure": found.prompt.id.partition(":")[2],
                "version": found.version,
                "judge": found.judge,
            },
        )
