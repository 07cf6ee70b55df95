"""The widgets of the Readers page: choices, charts, the list to adjudicate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final

import streamlit as st

from rexview.analysis import SetFacts
from rexview.analysis.adjudication import Adjudication
from rexview.analysis.charts.linked import LinkedChart
from rexview.analysis.charts.readers import (
    bubble_chart,
    confusion_chart,
    drift_charts,
    stricter_chart,
)
from rexview.analysis.download_files import TableFile, table_csv
from rexview.analysis.download_frames import READER_SHARES, reader_frame
from rexview.analysis.readers import ReaderDrift, ReaderTables, agreement_caption, no_drift_captions
from rexview.schema import ReviewSet
from rexview.ui.app.nothing_yet import show_nothing_yet
from rexview.ui.charts.panel import show_chart, show_charts_beside
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.choices import choose_page, kept_in_link, published_shown
from rexview.ui.link.in_app import linked_html
from rexview.ui.link.pages import PAGE_SCORE, PAGE_STUDY
from rexview.ui.readers import html as readers_html
from rexview.ui.reviews import study_records
from rexview.ui.server import server_state
from rexview.ui.tables.table_download import show_downloads
from rexview.vocab import DIMENSION_NAMES
from rexview.words import tr

PAGE_SIZE: Final = 20
_STEP: Final = 0.5
_MOST_APART: Final = 4.0
_LEADS: Final = ((PAGE_SCORE, tr("Score cases")), (PAGE_STUDY, tr("Who reads what")))


@lru_cache(maxsize=16)
def _confusion_charts(tables: ReaderTables) -> tuple[LinkedChart, ...]:
    names = _names(tables)
    return tuple(confusion_chart(found, names) for found in tables.compared) if names else ()


@lru_cache(maxsize=16)
def _bubble_chart(tables: ReaderTables, dimension: str) -> LinkedChart | None:
    names, found = _names(tables), tables.dimension(dimension)
    return bubble_chart(found, names) if names and found else None


_stricter_chart = lru_cache(maxsize=16)(stricter_chart)
_drift_charts = lru_cache(maxsize=16)(drift_charts)


def _names(tables: ReaderTables) -> tuple[str, str] | None:
    if tables.pair is None:
        return None
    a, b = (tables.readers[reader] for reader in tables.pair)
    return a, b


def wanted_pair() -> tuple[str, ...]:
    """Return the readers that the link asks for."""
    return tuple(link_keys.query_lists().get(link_keys.QUERY_PAIR, ()))


def show_nothing_to_compare(tables: ReaderTables) -> None:
    """Say why no two readers can be compared, and what would change that."""
    names = [as_markdown(name) for name in tables.readers.values()]
    if not names:
        show_nothing_yet(
            tr(
                "None of these answers has a reader's score. Scores are read from "
                "scores.csv in the review set: one row for each case, model, reader and "
                "dimension. With a filter, widen it."
            ),
            *_LEADS,
        )
    elif len(names) == 1:
        show_nothing_yet(
            tr(
                "Only {names} has scored these answers, so there is nothing to compare "
                "yet. A second reader's scores of the same answers, even of some twenty, "
                "would show here: how far both agree (kappa, differences), who is "
                "stricter, and which cases need a third look."
            ).format(names=names[0]),
            *_LEADS,
        )
    else:
        show_nothing_yet(
            tr(
                "{names} readers have scored, but no two of them the same answer on the "
                "same dimension. Let two readers score some of the same answers, or "
                "widen the filter."
            ).format(names=len(names)),
            *_LEADS,
        )


def show_table_download(tables: ReaderTables) -> None:
    """Offer table 3 as a file."""
    if tables.pair is not None:
        title = tr("Table 3. Agreement of {pair_name}").format(
            pair_name=tables.pair_name(tables.pair)
        )
        file = TableFile(
            title, partial(reader_frame, tables), agreement_caption(tables), READER_SHARES
        )
        show_downloads(file, key="readers_table_file")


def choose_pair(tables: ReaderTables) -> None:
    """Offer the pairs of readers when there are several; the link keeps the choice."""
    if len(tables.pairs) < 2 or tables.pair is None:
        return
    kept = kept_in_link(
        "readers_pair",
        link_keys.QUERY_PAIR,
        tables.pairs.index(tables.pair),
        lambda place: list(tables.pairs[place]),
    )
    st.selectbox(
        tr("Pair of readers"),
        range(len(tables.pairs)),
        format_func=lambda place: tables.pair_name(tables.pairs[place]),
        width=420,
        **kept,
    )


def choose_dimension(tables: ReaderTables) -> str | None:
    """Offer the dimensions that the pair shares; the link keeps the choice."""
    found = tables.dimension(link_keys.query_value(link_keys.QUERY_DIMENSION))
    if found is None:
        return None
    shared = [one.numbers.dimension for one in tables.compared]
    if len(shared) > 1:
        kept = kept_in_link(
            "readers_dimension", link_keys.QUERY_DIMENSION, found.numbers.dimension, str
        )
        st.segmented_control(
            tr("Dimension"),
            shared,
            format_func=DIMENSION_NAMES.__getitem__,
            required=True,
            **kept,
        )
    return found.numbers.dimension


def show_published(tables: ReaderTables) -> None:
    """Show the paper's table 3 beside the own figures, when asked for."""
    label = tr("Published table 3 of the ReXecution paper beside these")
    if published_shown(label, "readers"):
        linked_html(readers_html.published_html(tables), key="readers_published_table")


def show_maps(tables: ReaderTables) -> None:
    """Show the confusion map of each dimension."""
    charts = _confusion_charts(tables)
    show_charts_beside(charts, key="readers_map", columns=4 if len(charts) == 4 else 3)


def show_pair_charts(tables: ReaderTables, dimension: str) -> None:
    """Show one reader against the other, and who is stricter."""
    left, right = st.columns(2, gap="small")
    bubbles, stricter = _bubble_chart(tables, dimension), _stricter_chart(tables)
    if bubbles is not None:
        with left:
            show_chart(bubbles, key="readers_bubbles")
    if stricter is not None:
        with right:
            show_chart(stricter, key="readers_stricter")
            linked_html(readers_html.stricter_html(tables), key="readers_stricter_words")


def show_drift(drifts: tuple[ReaderDrift, ReaderDrift], dimension: str) -> None:
    """Show how the scores of both readers move over time, or say why that cannot be seen."""
    charts = _drift_charts(drifts, DIMENSION_NAMES[dimension])
    show_charts_beside(charts, key="readers_drift")
    for reason in no_drift_captions(drifts):
        st.caption(
            as_markdown(
                tr("Over time, {dimension_names}. {reason}").format(
                    dimension_names=DIMENSION_NAMES[dimension], reason=reason
                )
            )
        )


def choose_threshold() -> float:
    """Offer from how many points on readers disagree; the link keeps the choice."""
    usual = server_state.settings().disagreement_threshold
    asked = link_keys.query_value(link_keys.QUERY_APART) or ""
    try:
        wanted = float(asked)
    except ValueError:
        wanted = usual
    if not _STEP <= wanted <= _MOST_APART:
        wanted = usual
    kept = kept_in_link(
        "readers_apart",
        link_keys.QUERY_APART,
        wanted,
        lambda chosen: None if chosen == usual else f"{chosen:g}",
        lists=True,
    )
    return float(
        st.number_input(
            tr("Points apart, at least"),
            min_value=min(_STEP, usual),
            max_value=_MOST_APART,
            step=_STEP,
            format="%g",
            width=200,
            help=tr("The largest difference between two readers on one dimension of an answer."),
            **kept,
        )
    )


def show_adjudication(review_set: ReviewSet, found: Adjudication, facts: SetFacts) -> None:
    """Show the answers to adjudicate, a page at a time, and offer them as a file."""
    total = found.answers.value
    if not total:
        st.info(
            tr("No answer has two readers {threshold:g} points or more apart.").format(
                threshold=found.threshold
            )
        )
        return
    head = readers_html.all_disputed_html(total, found.cases, found.answers.opens)
    linked_html(head, key="readers_disputed_head")
    first = link_keys.page_number(total, PAGE_SIZE) * PAGE_SIZE
    readers = facts.readers
    drawn = readers_html.disputes_html(
        found.part(first, PAGE_SIZE),
        found.answers.opens,
        models=facts.models,
        readers=readers,
        first=first,
        agreed=study_records.agreed_scores(review_set),
    )
    study_records.link_to_adjudicate()
    linked_html(drawn, key="readers_disputed")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        choose_page(total, PAGE_SIZE, key="readers_page")
        st.download_button(
            tr("CSV of the whole list"),
            partial(_csv, found, readers),
            "to-adjudicate.csv",
            "text/csv",
            key="readers_disputed_csv",
            on_click="ignore",
            icon=":material/download:",
        )


def _csv(found: Adjudication, readers: Mapping[str, str]) -> bytes:
    return table_csv(found.frame(readers))
