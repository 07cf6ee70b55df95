"""The widgets of the Study page: who reads what, who is how far, what is to be adjudicated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import streamlit as st

from rexview.analysis.reader_assignment import NewAssignment, plan_assignments, withdrawable
from rexview.analysis.reader_exposure import Exposure, exposures_of
from rexview.analysis.study import (
    ReaderProgress,
    Task,
    WorklistProgress,
    begun_cases,
    readers_progress,
)
from rexview.errors import StoreError
from rexview.people import Person, person_alone
from rexview.schema import ReviewSet
from rexview.stats.final import unfinished_work
from rexview.store import Entry, Reviews, may
from rexview.ui.access import permissions
from rexview.ui.app.nothing_yet import show_nothing_yet
from rexview.ui.comments.panel import REFRESH_S
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link.pages import PAGE_SCORE, PAGE_STUDY
from rexview.ui.reviews.study_records import (
    add_reader,
    case_differences,
    link_to_adjudicate,
    reader_names,
)
from rexview.ui.saving.reader_tasks import tasks_progress
from rexview.ui.server import review_sets, server_state
from rexview.ui.streamlit_adapter.pressed import save_button
from rexview.ui.study.html import exposures_html, plan_html, progress_html, tasks_html
from rexview.words import counted, tr, trn

_VIA: Final = "study page"
_MOST_EXPOSURES: Final = 500
_MESSAGE: Final = "study_message"


@st.fragment(run_every=REFRESH_S)
def show_progress(review_set: ReviewSet) -> None:
    """Show how far each reader is; what others do shows within seconds."""
    permissions.guard(PAGE_STUDY)
    try:
        reviews = review_sets.reviews(review_set)
        rows = _progress(review_set, reviews, reviews.revision())
        tasks = _tasks_progress(review_set, reviews, reviews.revision())
    except StoreError as error:
        st.warning(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    if not rows and not tasks:
        show_nothing_yet(
            tr("Nobody has been assigned a case, and nobody has scored one here yet."),
            (PAGE_SCORE, tr("Score cases")),
        )
        return
    names = reader_names(review_set, [*(row.reader for row in rows), *tasks])
    if rows:
        st.html(progress_html(rows, names))
    if tasks:
        st.html(tasks_html(tasks, names))


@lru_cache(maxsize=8)
def _progress(review_set: ReviewSet, reviews: Reviews, revision: int) -> tuple[ReaderProgress, ...]:
    """Count, anew only when anything was written."""
    written, assignments = reviews.scores(), reviews.assignments()
    engine = review_sets.study_engine(review_set)
    return readers_progress(engine, assignments, written, _skipped(reviews))


@lru_cache(maxsize=8)
def _tasks_progress(
    review_set: ReviewSet, reviews: Reviews, revision: int
) -> dict[str, dict[Task, WorklistProgress]]:
    """As :func:`_progress`, of the tasks besides scoring."""
    return tasks_progress(review_set, reviews, review_sets.study_engine(review_set))


def _skipped(reviews: Reviews) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in reviews.current("skip"):
        if row.value and row.case:
            found.setdefault(row.person, set()).add(row.case)
    return found


def show_assigning(review_set: ReviewSet) -> None:
    """Let a lead deal cases to readers, with a preview before anything is written."""
    permissions.guard(PAGE_STUDY)
    rules = review_set.info.protocol
    assignments = review_sets.reviews(review_set).assignments()
    names = reader_names(review_set, (one.reader for one in assignments))
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.success(as_markdown(message))
    left, right = st.columns(2, gap="medium")
    with left:
        first = _choose_readers(tr("First readers"), "study_first", names)
        second = _choose_readers(tr("Second readers"), "study_second", names)
    with right:
        percent = st.number_input(
            tr("Cases with a second reader, %"),
            0,
            100,
            round(rules.second_reader_share * 100),
            step=5,
            key="study_share",
            help=tr(
                "Drawn at random from each kind of question, normal and abnormal studies apart."
            ),
        )
        seed = st.number_input(
            tr("Number of the draw"),
            0,
            10**9,
            max(rules.seed, 0),
            key="study_seed",
            help=tr("The same number draws the same cases again"),
        )
    strata = review_sets.study_engine(review_set).strata
    plan = plan_assignments(
        strata, assignments, first=first, second=second, share=percent / 100, seed=int(seed)
    )
    every = reader_names(review_set, [*first, *second, *names])
    st.html(plan_html(plan, assignments, strata, every))
    person = permissions.ask_name("study_name")
    save_button(
        tr("Assign {n:,}").format(n=len(plan.added)) if plan.added else tr("Assign"),
        key="study_assign",
        type="primary",
        disabled=person is None or not plan.added,
        on_click=_write,
        args=(review_set, plan.added, True),
    )


def _choose_readers(label: str, key: str, names: Mapping[str, str]) -> list[str]:
    alone = not server_state.team()
    chosen = st.multiselect(
        as_markdown(label),
        list(names),
        format_func=lambda one: names.get(one, one),
        key=key,
        accept_new_options=alone,
        placeholder=tr("Choose, or type a new name") if alone else tr("Choose"),
    )
    readers = []
    for one in chosen:
        if one in names:
            readers.append(one)
            continue
        try:
            person = person_alone(one)
        except ValueError as error:
            st.warning(as_markdown(f"{one}: {error}"))
            continue
        add_reader(person)
        readers.append(person.id)
    return list(dict.fromkeys(readers))


def show_withdrawing(review_set: ReviewSet) -> None:
    """Let a lead take cases back from a reader."""
    permissions.guard(PAGE_STUDY)
    reviews = review_sets.reviews(review_set)
    assignments = reviews.assignments()
    if not assignments:
        return
    names = reader_names(review_set, (one.reader for one in assignments))
    with st.expander(tr("Withdraw cases")):
        reader = st.selectbox(
            tr("Reader"),
            list(dict.fromkeys(one.reader for one in assignments)),
            format_func=lambda one: names.get(one, one),
            key="study_withdraw_reader",
        )
        every = st.checkbox(
            tr("Also those that are begun or done (the scores stay)"), key="study_withdraw_all"
        )
        begun = _begun(reviews, reader, reviews.revision())
        taken = withdrawable(assignments, reader, begun, also_begun=every)
        save_button(
            tr("Withdraw {cases}").format(cases=as_markdown(counted(len(taken), "case"))),
            key="study_withdraw",
            disabled=permissions.current() is None or not taken,
            on_click=_write,
            args=(review_set, taken, False),
        )


@lru_cache(maxsize=8)
def _begun(reviews: Reviews, reader: str, revision: int) -> Collection[str]:
    return begun_cases(reader, reviews.scores(), _skipped(reviews))


def _write(review_set: ReviewSet, given: Sequence[NewAssignment], active: bool) -> None:
    person = permissions.current()
    if person is None or not given:
        return
    names = reader_names(review_set, (one.reader for one in given))
    entries = [
        Entry(
            "assign",
            one.case,
            None,
            one.reader,
            value={"as": one.order, "active": active, "name": names[one.reader]},
            via=_VIA,
        )
        for one in given
    ]
    try:
        review_sets.reviews(review_set).record(entries, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    done = tr("{n:,} assigned.") if active else tr("{n:,} withdrawn.")
    st.session_state[_MESSAGE] = done.format(n=len(given))


def show_to_adjudicate(review_set: ReviewSet) -> None:
    """Say how many cases are to be adjudicated, with the way there."""
    threshold = review_set.info.protocol.disagreement
    cases = case_differences(review_set, threshold)
    agreed = sum(one.has_consensus for one in cases)
    if not cases:
        st.markdown(
            tr("No case has two readers {threshold:g} points or more apart.").format(
                threshold=threshold
            )
        )
        return
    said = trn(
        "{n:,} case has two readers {threshold:g} points or more apart; {settled:,} settled.",
        "{n:,} cases have two readers {threshold:g} points or more apart; {settled:,} settled.",
        len(cases),
    )
    st.markdown(said.format(n=len(cases), threshold=threshold, settled=agreed))
    link_to_adjudicate()


def may_assign() -> bool:
    """Whether whoever looks may assign cases."""
    role = permissions.role()
    return role is not None and may(Person("", "", role), "assign")


def show_exposures(review_set: ReviewSet) -> None:
    """Tell a lead which cases readers saw with the report or with the models named, and when."""
    permissions.guard(PAGE_STUDY)
    reviews = review_sets.reviews(review_set)
    every = _exposures(review_set, reviews, reviews.revision())
    if not every:
        st.caption(tr("No reader has seen a report, or a case with its models named."))
        return
    early = len({(one.reader, one.case) for one in every if one.timing != "after"})
    names = reader_names(review_set, (one.reader for one in every))
    with st.expander(
        tr("Seen before scoring was finished: {cases}").format(
            cases=as_markdown(counted(early, "case"))
        )
    ):
        st.html(exposures_html(every[-_MOST_EXPOSURES:], names))
        if len(every) > _MOST_EXPOSURES:
            st.caption(
                tr("The newest {n:,} of {total:,}; the export has all.").format(
                    n=_MOST_EXPOSURES, total=len(every)
                )
            )


@lru_cache(maxsize=8)
def _exposures(review_set: ReviewSet, reviews: Reviews, revision: int) -> tuple[Exposure, ...]:
    return exposures_of(reviews).all(unfinished_work(review_set))
