"""The Study page: assignments, progress, and the cases to adjudicate."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import streamlit as st

from rexview.analysis.query.study_tasks import (
    TASKS,
    ReaderProgress,
    Task,
    WorklistProgress,
    count_readers_progress,
    find_started_cases,
)
from rexview.analysis.reader_assignment import (
    AssignmentPlan,
    NewAssignment,
    find_withdrawable,
    plan_assignments,
)
from rexview.analysis.reader_exposure import (
    REPORT_EXPOSURE,
    UNBLINDED_EXPOSURE,
    Exposure,
    read_exposures,
)
from rexview.errors import StoreError
from rexview.people import Person, single_user
from rexview.schema import ReviewSet
from rexview.stats.score_finals import list_unfinished_work
from rexview.store import Assignment, Entry, Reviews, may_write_kind
from rexview.ui.comments.case_comments import REFRESH_S
from rexview.ui.reviews import add_reader, case_differences, link_to_adjudicate, reader_names
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.number_table import cells_html, rows_table
from rexview.ui.web.access import permissions
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_READERS, PAGE_SCORE, PAGE_STUDY
from rexview.ui.web.saving.reader_tasks import tasks_progress
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.streamlit_adapter.script_run import save_button
from rexview.vocab import time_text
from rexview.words import counted, tr, trn

# The tables of the Study page as HTML: progress, a plan of assignments, readers' exposures.

_SEEN: Final = {REPORT_EXPOSURE: tr("Report"), UNBLINDED_EXPOSURE: tr("Models named")}
_TIMING: Final = {
    "before": tr("before scoring"),
    "during": tr("while scoring"),
    "after": tr("after scoring"),
}
_ACCEPTED: Final = {
    "before": tr("before scoring, scored all the same"),
    "during": tr("while scoring, scored all the same"),
    "after": tr("after scoring, scored all the same"),
}


def progress_html(rows: Sequence[ReaderProgress], names: Mapping[str, str]) -> str:
    """Return the progress of readers as a table."""
    heads = (
        tr("Reader"),
        tr("First"),
        tr("Second"),
        tr("Done"),
        tr("Started"),
        tr("Skipped"),
        tr("To do"),
        "",
    )
    body = [_progress_row(row, names.get(row.reader, row.reader)) for row in rows]
    return rows_table("rx-study", heads, body)


def _progress_row(row: ReaderProgress, name: str) -> str:
    progress = row.progress
    finished, left = progress.done + progress.skipped, progress.remaining - row.begun
    counts = (row.first, row.second, progress.done, row.begun, progress.skipped, left)
    bar = f'<progress value="{finished}" max="{max(progress.total, 1)}"></progress>'
    amount = tr("{n:,} of {total:,}").format(n=finished, total=progress.total)
    return cells_html(html.escape(name), *(f"{count:,}" for count in counts), f"{bar} {amount}")


def tasks_html(
    tasks: Mapping[str, Mapping[Task, WorklistProgress]], names: Mapping[str, str]
) -> str:
    """Return readers' progress with the tasks besides scoring as a table."""
    shown = [task for task in TASKS if any(task in begun for begun in tasks.values())]
    body = [
        cells_html(
            html.escape(names.get(reader, reader)),
            *(_task_words(begun[task]) if task in begun else "" for task in shown),
            "",
        )
        for reader, begun in tasks.items()
    ]
    return rows_table("rx-study", (tr("Reader"), *(TASKS[task] for task in shown), ""), body)


def _task_words(progress: WorklistProgress) -> str:
    if not progress.skipped:
        return tr("{n:,} of {total:,}").format(n=progress.done, total=progress.total)
    return tr("{n:,} of {total:,}, {skipped:,} left out").format(
        n=progress.done, total=progress.total, skipped=progress.skipped
    )


def plan_html(
    plan: AssignmentPlan,
    assignments: Sequence[Assignment],
    strata: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """Return the assignments that a plan would add, reader by reader."""
    now = Counter((one.reader, one.order) for one in assignments)
    added = Counter((one.reader, one.order) for one in plan.added)
    readers = dict.fromkeys(reader for reader, _ in (*now, *added))
    if not readers:
        return f'<p class="rx-quiet">{tr("Choose readers to see who would get which cases.")}</p>'
    rows = []
    for reader in readers:
        counts = [
            text
            for order in ("first", "second")
            for text in (f"{now[reader, order]:,}", _more(added[reader, order]))
        ]
        rows.append(cells_html(html.escape(names.get(reader, reader)), *counts))
    orders = {(one.case, one.order) for one in assignments}
    orders |= {(one.case, one.order) for one in plan.added}
    first, second = ({case for case, order in orders if order == o} for o in ("first", "second"))
    summary = tr(
        "{first:,} of {total:,} cases will have a first reader, {second:,} a second one."
    ).format(first=len(first), total=len(strata), second=len(second & set(strata)))
    if plan.uncovered:
        uncovered = trn(
            "{n:,} case drawn for a second reader gets none: the only reader chosen "
            "already reads it.",
            "{n:,} cases drawn for a second reader get none: the only reader chosen "
            "already reads them.",
            len(plan.uncovered),
        )
        summary += f" {uncovered.format(n=len(plan.uncovered))}"
    heads = (tr("Reader"), tr("First now"), tr("Added"), tr("Second now"), tr("Added"))
    return f'{rows_table("rx-study", heads, rows)}<p class="rx-quiet">{summary}</p>'


def _more(count: int) -> str:
    return f"<b>+{count:,}</b>" if count else "–"


def exposures_html(exposures: Sequence[Exposure], names: Mapping[str, str]) -> str:
    """Return what readers saw as a table, newest first."""
    rows = [
        cells_html(
            html.escape(names.get(one.reader, one.reader)),
            html.escape(one.case),
            _SEEN[one.seen],
            (_ACCEPTED if one.accepted else _TIMING)[one.timing],
            time_text(one.at),
        )
        for one in reversed(exposures)
    ]
    return rows_table(
        "rx-study rx-exposures",
        (tr("Reader"), tr("Case"), tr("Seen"), tr("When"), tr("Time")),
        rows,
    )


_VIA: Final = "study page"
_MOST_EXPOSURES: Final = 500
_MESSAGE: Final = "study_message"


@st.fragment(run_every=REFRESH_S)
def show_progress(review_set: ReviewSet) -> None:
    """Show each reader's progress; others' entries appear within seconds."""
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
            tr("No cases have been assigned, and no one has scored one here yet."),
            (PAGE_SCORE, tr("Score cases")),
        )
        return
    names = reader_names(review_set, [*(row.reader for row in rows), *tasks])
    if rows:
        st.html(progress_html(rows, names))
        if all(row.progress.total and not row.progress.remaining for row in rows):
            _show_finished()
    if tasks:
        st.html(tasks_html(tasks, names))


def _show_finished() -> None:
    """Say that nothing is left to score, with the way to what comes of it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(tr("Every reader has finished."), width="content")
        if permissions.may_see(PAGE_READERS):
            st.page_link(
                PAGE_READERS,
                label=tr("How far they agree"),
                icon=":material/groups:",
                query_params=link_keys.link_query(),
            )


@lru_cache(maxsize=8)
def _progress(review_set: ReviewSet, reviews: Reviews, revision: int) -> tuple[ReaderProgress, ...]:
    """Count the progress, again only after new entries."""
    written, assignments = reviews.scores(), reviews.assignments()
    engine = review_sets.study_engine(review_set)
    return count_readers_progress(engine, assignments, written, _skipped(reviews))


@lru_cache(maxsize=8)
def _tasks_progress(
    review_set: ReviewSet, reviews: Reviews, revision: int
) -> dict[str, dict[Task, WorklistProgress]]:
    """As :func:`_progress`, for the tasks besides scoring."""
    return tasks_progress(review_set, reviews, review_sets.study_engine(review_set))


def _skipped(reviews: Reviews) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in reviews.current("skip"):
        if row.value and row.case:
            found.setdefault(row.person, set()).add(row.case)
    return found


def show_assigning(review_set: ReviewSet) -> None:
    """Show a form to assign cases to readers, with a preview before anything is written."""
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
                "Drawn at random within each kind of question, normal and abnormal studies "
                "separately."
            ),
        )
        seed = st.number_input(
            tr("Random seed"),
            0,
            10**9,
            max(rules.seed, 0),
            key="study_seed",
            help=tr("The same seed draws the same cases again"),
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
    alone = not server_state.requires_sign_in()
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
            person = single_user(one)
        except ValueError as error:
            st.warning(as_markdown(f"{one}: {error}"))
            continue
        add_reader(person)
        readers.append(person.id)
    return list(dict.fromkeys(readers))


def show_withdrawing(review_set: ReviewSet) -> None:
    """Show a form to withdraw cases from a reader."""
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
            tr("Including those started or done (the scores stay)"), key="study_withdraw_all"
        )
        begun = _begun(reviews, reader, reviews.revision())
        taken = find_withdrawable(assignments, reader, begun, also_begun=every)
        save_button(
            tr("Withdraw {cases}").format(cases=as_markdown(counted(len(taken), "case"))),
            key="study_withdraw",
            disabled=permissions.current_person() is None or not taken,
            on_click=_write,
            args=(review_set, taken, False),
        )


@lru_cache(maxsize=8)
def _begun(reviews: Reviews, reader: str, revision: int) -> Collection[str]:
    return find_started_cases(reader, reviews.scores(), _skipped(reviews))


def _write(review_set: ReviewSet, given: Sequence[NewAssignment], active: bool) -> None:
    person = permissions.current_person()
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
    """Show how many cases are to be adjudicated, with a link."""
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
    """Return whether the user may assign cases."""
    role = permissions.current_role()
    return role is not None and may_write_kind(Person("", "", role), "assign")


def show_exposures(review_set: ReviewSet) -> None:
    """Show a lead which cases readers saw with the report or the models' names, and when."""
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
    return read_exposures(reviews).all(list_unfinished_work(review_set))
