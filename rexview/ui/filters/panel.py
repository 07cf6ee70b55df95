"""The filter panel: one for every page. The link is the only place where the filter is kept.

On every run the widgets take their values from the link; a change is written to the link before the
page runs. So a link, the browser's back button and a click on a chip all come out the same. What is
changed is the filter as it is asked for by then: another change may have come since the panel was
drawn, as when a click on a value ends the typing of a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from rexview.analysis import (
    FILTER_KEYS,
    LONGEST_SEARCH,
    RANGE_LIMITS,
    RANGES,
    CaseFilter,
    Engine,
    Facet,
    Facets,
    Range,
    search_terms,
    unknown_values,
)
from rexview.analysis.failures import rests_on_flags, so_far_after, so_far_caption
from rexview.ui.filters.saved import LONGEST_NAME, forget_filter, save_filter, saved_filters
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.newest import change_link, filter_asked
from rexview.ui.streamlit_adapter.pressed import save_text_input, typed_fields, words_taken
from rexview.words import tr

_OPEN: Final = ("failures", "models")
"""Conditions that are unfolded from the start."""
_OF_FLAGS: Final = ("failures", "sources")
"""Conditions whose counts rest on flags, whatever else the filter asks for."""
_FEW: Final = 16
"""More values than this are chosen from a list that can be typed into."""
_SCORES: Final = ("content", "process", "execution", "synthesis", "language")


def filter_panel(
    case_filter: CaseFilter, counts: Facets, *, set_name: str, so_far: bool = False
) -> None:
    """Show the panel in the sidebar; filters are saved under the name of the set.

    ``so_far`` says that not every answer has been looked at for failures.
    """
    rest = so_far and rests_on_flags(case_filter)
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
    """Put a filter into the link in place of the one there; the page of a list begins anew."""
    changes: dict[str, str | list[str] | None] = dict.fromkeys(FILTER_KEYS)
    change_link({**changes, link_keys.QUERY_PAGE: None, **case_filter.to_query()})


def show_nothing_found(engine: Engine, counts: Facets, case_filter: CaseFilter) -> None:
    """Say why no case is left, and offer ways back."""
    reasons = list(unknown_values(counts, engine.facts, case_filter))
    so_far = so_far_caption(engine.scanned(case_filter)) if rests_on_flags(case_filter) else ""
    nothing = so_far_after(tr("No case fits all of these conditions"), so_far=bool(so_far))
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
        typed = (st.session_state[key] or "")[:LONGEST_SEARCH]
        set_filter(replace(filter_asked(), search=typed, mention=search_terms(typed).usual))

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
    """Let one choose how a finding that is searched for is spoken of."""
    key = "filter_mention"
    labels = {value.value: _label(value.name, value.count) for value in counts.mentions}
    st.session_state[key] = case_filter.mention

    def changed() -> None:
        set_filter(replace(filter_asked(), mention=st.session_state[key]))

    st.pills(
        as_markdown(
            so_far_after(
                tr("Search for {names}").format(names=search_terms(case_filter.search).names),
                so_far=so_far,
            )
        ),
        list(labels),
        format_func=labels.__getitem__,
        key=key,
        required=True,
        on_change=changed,
        help=tr(
            "Present, or said to be absent, in the answer or the report, by any of "
            "its names. Plain text finds the words as typed."
        ),
    )


def _worth_showing(facet: Facet, total: int) -> bool:
    """Whether there is a choice to make: not when every case has the one value that there is."""
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
        asked = filter_asked()
        others = (value for value in getattr(asked, facet.field) if value not in known)
        changes: dict[str, Any] = {facet.field: (*others, *st.session_state[key])}
        set_filter(replace(asked, **changes))

    unfolded = facet.field in _OPEN or bool(chosen)
    title = as_markdown(so_far_after(f"{facet.name},", so_far=True) if so_far else facet.name)
    title += f" :primary[**{len(chosen)}**]" if chosen else ""
    box = st.expander(title, expanded=unfolded, key=f"{key}_box", on_change="rerun")
    if not box.open:
        return  # widgets that nobody sees would slow down every run
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


def _range(name: str, ranges: Mapping[str, Range]) -> None:
    key = f"filter_{name}"
    low, high = (float(end) for end in RANGE_LIMITS[name])
    limits = ranges.get(name, Range())
    st.session_state[key] = (
        low if limits.low is None else min(max(limits.low, low), high),
        high if limits.high is None else min(max(limits.high, low), high),
    )

    def changed() -> None:
        start, end = st.session_state[key]
        refined = Range(None if start <= low else start, None if end >= high else end)
        changes: dict[str, Any] = {name: refined if refined != Range() else None}
        set_filter(replace(filter_asked(), **changes))

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
                    help=tr("Forget this saved filter: {name}").format(name=as_markdown(name)),
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
        save_filter(set_name, name, filter_asked())
    except OSError:
        st.toast(tr("The filter could not be saved: its file cannot be written."))
        return
    st.session_state[key] = ""
    words_taken(key)
    st.toast(tr("Saved as {name}.").format(name=as_markdown(name)))


def _forget(set_name: str, name: str) -> None:
    try:
        forget_filter(set_name, name)
    except OSError:
        st.toast(tr("The filter could not be taken away: its file cannot be written."))


def _label(name: str, count: int) -> str:
    return f"{as_markdown(name)} :gray[{count:,}]"
