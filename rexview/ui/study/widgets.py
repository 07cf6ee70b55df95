"""The parts of the Study page: who reads what, how far everybody is, what is to be adjudicated."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

import streamlit as st

from rexview.analysis.readers.consensus import CaseDifferences, differing_cases
from rexview.analysis.study.assignment import NewAssignment, Plan, plan_assignments, withdrawable
from rexview.analysis.study.progress import ReaderProgress, begun_cases, readers_progress
from rexview.analysis.study.worklist import required_scores, strata_of
from rexview.errors import StoreError
from rexview.people import Person, person_alone
from rexview.schema import ReviewSet
from rexview.store import Assignment, Entry, Reviews, may
from rexview.ui.access import permissions
from rexview.ui.comments.panel import REFRESH_S
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.server import resources

_VIA: Final = "study page"
_NEW: Final = "study_new_readers"
_TOLD: Final = "study_told"


@st.fragment(run_every=REFRESH_S)
def show_progress(review_set: ReviewSet) -> None:
    """Show how far each reader is; what others do shows within seconds."""
    permissions.guard(link_keys.PAGE_STUDY)
    try:
        reviews = resources.reviews(review_set)
        rows = _progress(review_set, reviews, reviews.revision())
    except StoreError as error:
        st.warning(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    if not rows:
        st.info("Nobody has been assigned a case, and nobody has scored one here yet.")
        return
    names = reader_names(review_set, (row.reader for row in rows))
    st.html(progress_html(rows, names))


@lru_cache(maxsize=8)
def _progress(review_set: ReviewSet, reviews: Reviews, revision: int) -> tuple[ReaderProgress, ...]:
    """Count, anew only when anything was written."""
    written, assignments = reviews.scores(), reviews.assignments()
    return readers_progress(review_set, assignments, written, _skipped(reviews))


def _skipped(reviews: Reviews) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in reviews.current("skip"):
        if row.value and row.case:
            found.setdefault(row.person, set()).add(row.case)
    return found


def progress_html(rows: Sequence[ReaderProgress], names: Mapping[str, str]) -> str:
    """Lay out the progress of readers as a table."""
    heads = ("Reader", "First", "Second", "Done", "Begun", "Skipped", "Left", "")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(_progress_row(row, names.get(row.reader, row.reader)) for row in rows)
    return (
        '<div class="rx-scroll"><table class="rx-study"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _progress_row(row: ReaderProgress, name: str) -> str:
    all_of_it = row.progress
    left = all_of_it.left - row.begun
    counts = (row.first, row.second, all_of_it.done, row.begun, all_of_it.skipped, left)
    cells = "".join(f"<td>{count:,}</td>" for count in counts)
    settled = all_of_it.done + all_of_it.skipped
    bar = f'<progress value="{settled}" max="{max(all_of_it.total, 1)}"></progress>'
    words = f"{settled:,} of {all_of_it.total:,}"
    return f'<tr><th scope="row">{html.escape(name)}</th>{cells}<td>{bar} {words}</td></tr>'


def reader_names(review_set: ReviewSet, readers: Iterable[str] = ()) -> dict[str, str]:
    """Return whoever can read, by id: those with a role for it, those who wrote, those named."""
    members = [member.person for member in resources.settings().people]
    found = {one.id: one.name for one in members if may(one, "score")}
    wrote = resources.reviews(review_set).people()
    assigned = resources.reviews(review_set).assignments()
    found |= {one.reader: one.name for one in assigned if one.name}
    found |= {key: one.name for key, one in wrote.items() if may(one, "score")}
    current = permissions.current()
    if current is not None and may(current, "score"):
        found.setdefault(current.id, current.name)
    if not resources.team():
        added: dict[str, str] = st.session_state.get(_NEW, {})
        found |= {key: name for key, name in added.items() if key not in found}
    for key in readers:
        found.setdefault(key, wrote[key].name if key in wrote else key)
    return found


def show_assigning(review_set: ReviewSet) -> None:
    """Let a lead deal cases to readers, with a preview before anything is written."""
    permissions.guard(link_keys.PAGE_STUDY)
    rules = review_set.info.protocol
    standing = resources.reviews(review_set).assignments()
    names = reader_names(review_set, (one.reader for one in standing))
    told = st.session_state.pop(_TOLD, None)
    if told:
        st.success(as_markdown(told))
    left, right = st.columns(2, gap="medium")
    with left:
        first = _choose_readers("First readers", "study_first", names)
        second = _choose_readers("Second readers", "study_second", names)
    with right:
        percent = st.number_input(
            "Cases with a second reader, %",
            0,
            100,
            round(rules.second_reader_share * 100),
            step=5,
            key="study_share",
            help="Drawn at random from each kind of question, normal and abnormal studies apart.",
        )
        seed = st.number_input(
            "Seed", 0, 10**9, max(rules.seed, 0), key="study_seed", help="Fixes what chance decides"
        )
    strata = _strata(review_set)
    plan = plan_assignments(
        strata, standing, first=first, second=second, share=percent / 100, seed=int(seed)
    )
    st.html(plan_html(plan, standing, strata, reader_names(review_set, [*first, *second, *names])))
    person = permissions.ask_name("study_name")
    st.button(
        f"Assign {len(plan.added):,}" if plan.added else "Assign",
        key="study_assign",
        type="primary",
        disabled=person is None or not plan.added,
        on_click=_write,
        args=(review_set, plan.added, True),
    )


@lru_cache(maxsize=8)
def _strata(review_set: ReviewSet) -> Mapping[str, str]:
    scorable = required_scores(review_set)["case"].unique(maintain_order=True)
    return strata_of(review_set, scorable.to_list())


def _choose_readers(label: str, key: str, names: Mapping[str, str]) -> list[str]:
    alone = not resources.team()
    chosen = st.multiselect(
        as_markdown(label),
        list(names),
        format_func=lambda one: names.get(one, one),
        key=key,
        accept_new_options=alone,
        placeholder="Choose, or type a new name" if alone else "Choose",
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
        st.session_state.setdefault(_NEW, {})[person.id] = person.name
        readers.append(person.id)
    return list(dict.fromkeys(readers))


def plan_html(
    plan: Plan,
    standing: Sequence[Assignment],
    strata: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """Say what a plan would add, reader by reader."""
    stands = Counter((one.reader, one.order) for one in standing)
    added = Counter((one.reader, one.order) for one in plan.added)
    readers = dict.fromkeys(reader for reader, _ in (*stands, *added))
    if not readers:
        return '<p class="rx-quiet">Choose readers to see who would get which cases.</p>'
    rows = ""
    for reader in readers:
        cells = "".join(
            f"<td>{stands[reader, order]:,}</td><td>{_more(added[reader, order])}</td>"
            for order in ("first", "second")
        )
        name = html.escape(names.get(reader, reader))
        rows += f'<tr><th scope="row">{name}</th>{cells}</tr>'
    heads = ("Reader", "First now", "Added", "Second now", "Added")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    orders = [(one.case, one.order) for one in standing]
    orders += [(one.case, one.order) for one in plan.added]
    twice = {case for case, order in orders if order == "second"}
    read = {case for case, order in orders if order == "first"}
    words = f"{len(read):,} of {len(strata):,} cases have a first reader then, "
    words += f"{len(twice & set(strata)):,} a second one."
    if plan.uncovered:
        count = len(plan.uncovered)
        words += f" {count:,} drawn for a second reader {'gets' if count == 1 else 'get'} none: "
        words += "the only one chosen reads them already."
    return (
        f'<div class="rx-scroll"><table class="rx-study"><thead><tr>{head}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="rx-quiet">{words}</p>'
    )


def _more(count: int) -> str:
    return f"<b>+{count:,}</b>" if count else "–"


def show_withdrawing(review_set: ReviewSet) -> None:
    """Let a lead take cases back from a reader."""
    permissions.guard(link_keys.PAGE_STUDY)
    reviews = resources.reviews(review_set)
    standing = reviews.assignments()
    if not standing:
        return
    names = reader_names(review_set, (one.reader for one in standing))
    with st.expander("Withdraw cases"):
        reader = st.selectbox(
            "Reader",
            list(dict.fromkeys(one.reader for one in standing)),
            format_func=lambda one: names.get(one, one),
            key="study_withdraw_reader",
        )
        every = st.checkbox(
            "Also those that are begun or done (the scores stay)", key="study_withdraw_all"
        )
        begun = _begun(reviews, reader, reviews.revision())
        taken = withdrawable(standing, reader, begun, also_begun=every)
        st.button(
            f"Withdraw {len(taken):,} {'case' if len(taken) == 1 else 'cases'}",
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
        resources.reviews(review_set).record(entries, person)
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return
    words = "assigned" if active else "withdrawn"
    st.session_state[_TOLD] = f"{len(given):,} {words}."


def differences_now(review_set: ReviewSet, threshold: float) -> tuple[CaseDifferences, ...]:
    """Return the cases on which readers differ, with what has been agreed, as of now.

    Raises
    ------
    StoreBusy, StoreUnreachable
    """
    reviews = resources.reviews(review_set)
    return _differences(resources.newest(review_set), reviews, reviews.revision(), threshold)


@lru_cache(maxsize=8)
def _differences(
    written: ReviewSet, reviews: Reviews, revision: int, threshold: float
) -> tuple[CaseDifferences, ...]:
    return differing_cases(written, reviews.adjudications(), threshold)


def show_to_adjudicate(review_set: ReviewSet) -> None:
    """Say how many cases are to be adjudicated, with the way there."""
    threshold = review_set.info.protocol.disagreement
    cases = differences_now(review_set, threshold)
    settled = sum(one.is_settled for one in cases)
    if not cases:
        st.markdown(f"No case has two readers {threshold:g} points or more apart.")
        return
    count = "1 case has" if len(cases) == 1 else f"{len(cases):,} cases have"
    st.markdown(f"{count} two readers {threshold:g} points or more apart; {settled:,} settled.")
    if permissions.may_see(link_keys.PAGE_ADJUDICATE):
        st.page_link(
            link_keys.PAGE_ADJUDICATE,
            label="Adjudicate",
            icon=":material/balance:",
            query_params=link_keys.link_query(),
        )


def may_assign() -> bool:
    """Whether whoever looks may assign cases."""
    role = permissions.role()
    return role is not None and may(Person("", "", role), "assign")


@contextmanager
def trouble_told() -> Iterator[None]:
    """Say so, and what to do, when the database cannot be read."""
    try:
        yield
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
