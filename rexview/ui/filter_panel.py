"""The filter panel of every page, saved filters, and the order of computing Content.

The filter is stored only in the link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Final, NamedTuple

import streamlit as st

from rexview.analysis import (
    FILTER_KEYS,
    MAX_SEARCH_CHARACTERS,
    RANGE_LIMITS,
    RANGES,
    CaseFilter,
    Engine,
    Facet,
    Facets,
    NumberRange,
    ScanProgress,
    describe_unknown_values,
    parse_search,
)
from rexview.analysis.failures import add_so_far, depends_on_flags, describe_so_far, so_far_caption
from rexview.schema import ReviewSet
from rexview.stats import CONTENT_ORDERS
from rexview.ui.export import show_filter_export
from rexview.ui.judge import judge_opinions as judge_widgets
from rexview.ui.safe_text import as_markdown
from rexview.ui.scan_progress.progress_strip import show_progress
from rexview.ui.web.app.shell import open_review_set, page_header
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link, change_link, requested_filter
from rexview.ui.web.server import query_cache, review_sets, server_state
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, save_text_input, typed_fields
from rexview.words import mid_sentence, tr

# Filters saved by name, for each review set, in a small file of the user.
#
# They belong to one user, so they are not in the reviews database; a filter is also in its link.

_FILE: Final = "saved-filters"
MAX_SAVED_FILTERS: Final = 50
LONGEST_NAME: Final = 60
_LOCK: Final = Lock()


def saved_filters(set_name: str) -> dict[str, CaseFilter]:
    """Return the saved filters of a review set by name, in the order they were saved."""
    entries = _read().get(set_name, {})
    return {name: CaseFilter.read(query)[0] for name, query in entries.items()}


def save_filter(set_name: str, name: str, case_filter: CaseFilter) -> None:
    """Save a filter under a name, replacing one of the same name.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    name = " ".join(name.split())[:LONGEST_NAME]
    with _LOCK:
        entries = _read()
        of_set = entries.setdefault(set_name, {})
        of_set[name] = case_filter.to_query()
        for surplus in list(of_set)[:-MAX_SAVED_FILTERS]:
            del of_set[surplus]
        server_state.write_user_file(_FILE, entries)


def delete_filter(set_name: str, name: str) -> None:
    """Delete a saved filter, if it exists.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    with _LOCK:
        entries = _read()
        if entries.get(set_name, {}).pop(name, None) is not None:
            server_state.write_user_file(_FILE, entries)


def _read() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Read the file; a missing or invalid one counts as empty."""
    content = server_state.read_user_file(_FILE)
    if not isinstance(content, dict):
        return {}
    return {
        set_name: {
            name: {
                key: [str(value) for value in values]
                for key, values in query.items()
                if isinstance(values, list)
            }
            for name, query in entries.items()
            if isinstance(query, dict)
        }
        for set_name, entries in content.items()
        if isinstance(entries, dict)
    }


# The filter panel of every page. The filter is stored only in the link.
#
# On every run the widgets take their values from the link, and a change is written to the link
# before the page runs. So a link, the browser's back button and a click on a chip have the same
# result. A change applies to the latest requested filter: another change may have come since the
# panel was drawn, for example when a click on a value ends the typing of a search.

_OPEN: Final = ("failures", "models")
"""Conditions that are unfolded initially."""
_OF_FLAGS: Final = ("failures", "sources")
"""Conditions whose counts depend on flags for every filter."""
_FEW: Final = 16
"""If there are more values, they are chosen from a list with a text field."""
_SCORES: Final = ("content", "process", "execution", "synthesis", "language")


def filter_panel(
    case_filter: CaseFilter, counts: Facets, *, set_name: str, so_far: bool = False
) -> None:
    """Show the panel in the sidebar; filters are saved under the name of the set.

    ``so_far`` is True if not every answer has been scanned for failures.
    """
    rest = so_far and depends_on_flags(case_filter)
    with st.sidebar, st.container(key="rx_panel", gap="small"):
        _search(case_filter, counts, so_far=so_far)
        if rest:
            st.caption(tr("All counts are so far."))
        st.caption(tr("Number of cases with at least one match."))
        for place, facet in enumerate(counts.facets):
            if _worth_showing(facet, counts.total):
                _facet(facet, place, so_far=so_far and facet.field in _OF_FLAGS)
        _scores(case_filter)
        _saved(case_filter, set_name)


def set_filter(case_filter: CaseFilter) -> None:
    """Replace the filter of the link; a list then returns to its first page."""
    changes: dict[str, str | list[str] | None] = dict.fromkeys(FILTER_KEYS)
    change_link({**changes, link_keys.QUERY_PAGE: None, **case_filter.to_query()})


def show_nothing_found(engine: Engine, counts: Facets, case_filter: CaseFilter) -> None:
    """Explain why no case is left, and offer ways back."""
    reasons = list(describe_unknown_values(counts, engine.facts, case_filter))
    so_far = so_far_caption(engine.scanned(case_filter)) if depends_on_flags(case_filter) else ""
    nothing = add_so_far(tr("No case matches all of these conditions"), so_far=bool(so_far))
    st.info(as_markdown(" ".join(filter(None, [f"{nothing}.", so_far, *reasons]))))
    with st.container(horizontal=True, gap="small"):
        if case_filter.words:
            rest = case_filter.without("search")
            st.button(tr("Clear the search"), on_click=set_filter, args=(rest,))
        st.button(tr("Clear the filter"), on_click=set_filter, args=(case_filter.cleared(),))


def _search(case_filter: CaseFilter, counts: Facets, *, so_far: bool) -> None:
    key = "filter_search"
    st.session_state[key] = case_filter.search

    def changed() -> None:
        typed = (st.session_state[key] or "")[:MAX_SEARCH_CHARACTERS]
        set_filter(replace(requested_filter(), search=typed, mention=parse_search(typed).usual))

    st.text_input(
        tr("Search"),
        key=key,
        on_change=changed,
        placeholder=tr("Search questions, reports, answers"),
        label_visibility="collapsed",
        icon=":material/search:",
    )
    if counts.mentions:
        _mention(case_filter, counts, so_far=so_far)


def _mention(case_filter: CaseFilter, counts: Facets, *, so_far: bool) -> None:
    """Show a choice of how the searched finding is mentioned."""
    key = "filter_mention"
    labels = {value.value: _label(value.name, value.count) for value in counts.mentions}
    st.session_state[key] = case_filter.mention

    def changed() -> None:
        set_filter(replace(requested_filter(), mention=st.session_state[key]))

    st.pills(
        as_markdown(
            add_so_far(
                tr("Search for {names}").format(names=parse_search(case_filter.search).names),
                so_far=so_far,
            )
        ),
        list(labels),
        format_func=labels.__getitem__,
        key=key,
        required=True,
        on_change=changed,
        help=tr(
            "Present, or reported as absent, in the answer or the report, by any of its "
            "names. Plain text finds the words as typed."
        ),
    )


def _worth_showing(facet: Facet, total: int) -> bool:
    """Return whether there is a choice to make: not if every case has the same single value."""
    chosen = any(value.chosen for value in facet.values)
    met = [value.count for value in facet.values if value.count]
    if chosen or len(met) > 1 or facet.field in _OPEN:
        return chosen or bool(met)
    return len(met) == 1 and met[0] < total


def _facet(facet: Facet, place: int, *, so_far: bool) -> None:
    chosen = [value.value for value in facet.values if value.chosen]
    known = {value.value for value in facet.values}
    shown = [value.value for value in facet.values if value.count or value.chosen]
    key = f"filter_{facet.field}_{place}"
    st.session_state[key] = chosen

    def changed() -> None:
        asked = requested_filter()
        others = (value for value in getattr(asked, facet.field) if value not in known)
        changes: dict[str, Any] = {facet.field: (*others, *st.session_state[key])}
        set_filter(replace(asked, **changes))

    unfolded = facet.field in _OPEN or bool(chosen)
    title = as_markdown(add_so_far(f"{facet.name},", so_far=True) if so_far else facet.name)
    title += f" :primary[**{len(chosen)}**]" if chosen else ""
    box = st.expander(title, expanded=unfolded, key=f"{key}_box", on_change="rerun")
    if not box.open:
        return  # widgets out of sight would slow down every run
    with box:
        more: dict[str, Any] = {
            "key": key,
            "on_change": changed,
            "label_visibility": "collapsed",
        }
        label = as_markdown(facet.name)
        if len(shown) <= _FEW:
            labels = {value.value: _label(value.name, value.count) for value in facet.values}
            st.pills(label, shown, format_func=labels.__getitem__, selection_mode="multi", **more)
        else:
            plain = {value.value: f"{value.name} ({value.count:,})" for value in facet.values}
            st.multiselect(label, shown, format_func=plain.__getitem__, **more)


def _scores(case_filter: CaseFilter) -> None:
    ranges = case_filter.ranges
    title = tr("Scores and gap") + (f" :primary[**{len(ranges)}**]" if ranges else "")
    box = st.expander(title, expanded=bool(ranges), key="filter_scores_box", on_change="rerun")
    if not box.open:
        return
    with box:
        for name in (*_SCORES, "gap", "disagreement", "image_content", "image_style"):
            _range(name, ranges)


def _range(name: str, ranges: Mapping[str, NumberRange]) -> None:
    key = f"filter_{name}"
    low, high = (float(end) for end in RANGE_LIMITS[name])
    limits = ranges.get(name, NumberRange())
    st.session_state[key] = (
        low if limits.low is None else min(max(limits.low, low), high),
        high if limits.high is None else min(max(limits.high, low), high),
    )

    def changed() -> None:
        start, end = st.session_state[key]
        refined = NumberRange(None if start <= low else start, None if end >= high else end)
        changes: dict[str, Any] = {name: refined if refined != NumberRange() else None}
        set_filter(replace(requested_filter(), **changes))

    st.slider(RANGES[name], low, high, step=0.5, key=key, on_change=changed, format="%g")


def _saved(case_filter: CaseFilter, set_name: str) -> None:
    saved = saved_filters(set_name)
    box = st.expander(tr("Saved filters"), key="filter_saved_box", on_change="rerun")
    if not box.open:
        return
    with box:
        for number, (name, kept) in enumerate(saved.items()):
            with st.container(horizontal=True, gap="small"):
                st.button(
                    as_markdown(name),
                    key=f"filter_saved_{number}",
                    on_click=set_filter,
                    args=(kept,),
                    type="primary" if kept == case_filter else "secondary",
                    width="stretch",
                )
                st.button(
                    "",
                    icon=":material/delete:",
                    key=f"filter_forget_{number}",
                    help=tr("Delete this saved filter: {name}").format(name=as_markdown(name)),
                    on_click=_forget,
                    args=(set_name, name),
                    type="tertiary",
                )
        if case_filter.active:
            key = "filter_save_name"
            with typed_fields(key, saves_on_leaving=True):
                save_text_input(
                    tr("Save this filter as"),
                    key=key,
                    max_chars=LONGEST_NAME,
                    on_change=_save,
                    args=(set_name, key),
                    placeholder=tr("Name, then Enter"),
                )
        elif not saved:
            st.caption(tr("Choose some conditions first; then save them here under a name."))
        st.caption(
            tr("Kept on the computer that runs rexview. The link always holds the filter too.")
        )


def _save(set_name: str, key: str) -> None:
    name = st.session_state[key].strip()
    if not name:
        return
    try:
        save_filter(set_name, name, requested_filter())
    except OSError:
        st.toast(tr("The filter could not be saved: its file cannot be written."))
        return
    st.session_state[key] = ""
    finish_draft(key)
    st.toast(tr("Saved as {name}.").format(name=as_markdown(name)))


def _forget(set_name: str, name: str) -> None:
    try:
        delete_filter(set_name, name)
    except OSError:
        st.toast(tr("The filter could not be deleted: its file cannot be written."))


def _label(name: str, count: int) -> str:
    return f"{as_markdown(name)} :gray[{count:,}]"


# The filter of the link, limited to what this server can query.


def supported_filter() -> CaseFilter:
    """Return the filter of the link; parts that cannot be used are left out, with a note."""
    found = link_keys.link_filter()
    if not found.written or not uses_clickhouse():
        return found
    st.warning(
        tr(
            "The link filters by a language model's results for failures in words. This "
            "server has the set on ClickHouse, where they are not available: the condition "
            "is ignored. Use a server without REXVIEW_ENGINE."
        ),
        icon=":material/link_off:",
    )
    return replace(found, written=())


class FilteredSet(NamedTuple):
    """The review set of the link with the link's filter, and the counts of the panel.

    ``scanned`` counts the filter's answers whose flags are known. ``of_flags`` is True if the
    page's numbers depend on flags.
    """

    review_set: ReviewSet
    engine: Engine
    case_filter: CaseFilter
    counts: Facets
    scanned: ScanProgress
    of_flags: bool

    @property
    def so_far(self) -> bool:
        """Whether flags of some of these answers are not known yet."""
        return not self.scanned.is_complete


def open_filtered_set(*, counts_failures: bool = False) -> FilteredSet:
    """Open the review set of the link with its filter; explain and stop if that is impossible.

    ``counts_failures`` is True if the page's numbers are of failures for every filter: files from
    the page then note that the numbers are preliminary.
    """
    review_set = open_review_set()
    case_filter = supported_filter()
    engine = review_sets.engine(review_set)
    scanned = engine.scanned(case_filter)
    of_flags = counts_failures or depends_on_flags(case_filter)
    st.session_state[link_keys.SESSION_SO_FAR] = so_far_caption(scanned) if of_flags else ""
    counts = query_cache.counts(engine, case_filter)
    return FilteredSet(review_set, engine, case_filter, counts, scanned, of_flags)


def show_panel(filtered: FilteredSet) -> None:
    """Show the filter panel of a page."""
    set_name = review_sets.set_id(filtered.review_set.folder)
    filter_panel(filtered.case_filter, filtered.counts, set_name=set_name, so_far=filtered.so_far)


def show_title(filtered: FilteredSet, title: str = "") -> None:
    """Show the title with the filter's name.

    Below it is the progress of the failure scan if the page's numbers depend on it.
    """
    name = describe_so_far(filtered.engine, filtered.case_filter)
    with st.container(horizontal=True, vertical_alignment="center", key="rx_title_row"):
        page_header(*(part for part in (title, name) if part))
        if filtered.counts.total:
            show_filter_export(filtered.review_set, filtered.case_filter, filtered.counts.total)
    judge_widgets.show_filter_agreement(filtered.engine, filtered.case_filter)
    if filtered.of_flags:
        show_progress(filtered.review_set, filtered.engine, filtered.case_filter)


def show_head(filtered: FilteredSet, title: str) -> None:
    """Show title and filter panel; if the filter leaves no case, explain and stop."""
    show_title(filtered, title)
    show_panel(filtered)
    if not filtered.counts.total:
        show_nothing_found(filtered.engine, filtered.counts, filtered.case_filter)
        st.stop()


# The order of computing Content: chosen with one switch, kept in every link.

_HELP: Final = tr(
    "Content is the weakest link of Process, Execution and Synthesis. Where "
    "several readers scored an answer, either their scores are averaged "
    "first and the smallest mean is taken, or each reader's smallest score "
    "is taken and these are averaged. With one reader both are the same. The "
    "choice holds on every page and is kept in the link."
)


def show_content_order_switch() -> None:
    """Show the switch; a change is written into the link before the page runs again."""
    kept = bind_option_to_link(
        "content_order_switch",
        link_keys.QUERY_CONTENT_ORDER,
        CONTENT_ORDERS,
        link_keys.USUAL_ORDER,
    )
    st.radio(
        tr("Content is the"),
        list(CONTENT_ORDERS),
        format_func=CONTENT_ORDERS.__getitem__,
        horizontal=True,
        help=_HELP,
        **kept,
    )


def content_order_label() -> str:
    """Return the order in use as part of a sentence: ``minimum of the readers' means``."""
    name = CONTENT_ORDERS[link_keys.content_order()]
    return mid_sentence(name[0]) + name[1:]


def show_content_order_note() -> None:
    """Show a note if Content is computed in the other order; nothing with the usual one."""
    if link_keys.content_order() != link_keys.USUAL_ORDER:
        st.caption(
            tr("Content is the {content_order_words} (chosen on the Scores page).").format(
                content_order_words=as_markdown(content_order_label())
            )
        )
