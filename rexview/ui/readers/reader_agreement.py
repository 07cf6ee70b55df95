"""The Readers page: agreement of readers as tables and charts, and the list to adjudicate."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter, SetFacts
from rexview.analysis import readers as captions
from rexview.analysis.adjudication import Adjudication, AdjudicationItem, Dispute
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.charts.readers import (
    bubble_chart,
    confusion_chart,
    drift_charts,
    stricter_chart,
)
from rexview.analysis.download_files import TableFile, encode_csv
from rexview.analysis.download_frames import READER_SHARES, reader_frame
from rexview.analysis.published.rexecution import AGREEMENT_SOURCE, published_agreement
from rexview.analysis.readers import (
    DimensionAgreement,
    DistanceShare,
    ReaderDrift,
    ReaderIds,
    ReaderTables,
    agreement_caption,
    count_shared,
    no_drift_captions,
)
from rexview.analysis.scores import interval_caption, unfinished_caption
from rexview.schema import ReviewSet
from rexview.stats import format_final_score
from rexview.stats.reader_agreement import PairAgreement, unit_label
from rexview.ui import reviews
from rexview.ui.charts import show_chart, show_charts_beside
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_downloads
from rexview.ui.tables.number_table import (
    NOTHING,
    MissingReasons,
    cells_html,
    linked_number,
    table_html,
)
from rexview.ui.web.app.shell import show_nothing_yet
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import browse_link, href, linked_html
from rexview.ui.web.link.link_choices import bind_to_link, choose_page, choose_published
from rexview.ui.web.link.pages import PAGE_CASE, PAGE_READERS, PAGE_SCORE, PAGE_STUDY
from rexview.ui.web.server import server_state
from rexview.vocab import DIMENSION_NAMES
from rexview.words import counted, tr, trn

MOST_PAIRS: Final = 45
"""Most pairs in the table; those with most shared scores."""
_LONGEST_QUESTION: Final = 180
"""Most characters of a question in the list; the Case page has all of it."""
_APART: Final = tr("different scores")
"""What the mean absolute difference is made of; its link opens these answers."""


def headline_html(tables: ReaderTables) -> str:
    """Return a sentence on who scored how much."""
    scored = linked_number(tables.scored, f"<b>{tables.scored.value:,}</b>")
    answers = tables.scored.of or 0
    sentence = trn(
        "{readers} scored {scored} of {n:,} answer.",
        "{readers} scored {scored} of {n:,} answers.",
        answers,
    )
    doubled = ""
    if tables.doubled.value:
        doubled = linked_number(tables.doubled, f"<b>{tables.doubled.value:,}</b>")
        sentence = trn(
            "{readers} scored {scored} of {n:,} answer; {doubled} of them have two readers or more "
            "on the same dimension.",
            "{readers} scored {scored} of {n:,} answers; {doubled} of them have two readers or "
            "more on the same dimension.",
            answers,
        )
    words = sentence.format(
        readers=counted(len(tables.readers), "reader"),
        scored=scored,
        n=answers,
        doubled=doubled,
    )
    return f'<p class="rx-line">{words}{unfinished_caption(tables.unfinished)}</p>'


def agreement_html(tables: ReaderTables) -> str:
    """Return table 3: the agreement of the chosen pair of readers, per dimension."""
    if tables.pair is None:
        return ""
    names = [captions.shorten_name(tables.readers[reader]) for reader in tables.pair]
    heads = [tr("Dimension"), "n", tr("Kappa"), tr("95% CI"), "MAD", tr("95% CI")]
    heads += [tr("{name}, mean ± SD").format(name=name) for name in names]
    heads += [tr("Same score"), tr("Within one")]
    reasons = MissingReasons()
    body = [_row(found, reasons) for found in tables.dimensions]
    title = tr("Table 3. Agreement of {pair_name}").format(pair_name=tables.pair_name(tables.pair))
    notes = captions.variance_captions(tables)
    listed = ""
    if notes:
        items = "".join(f"<li>† {html.escape(note)}</li>" for note in notes)
        listed = (
            f'<ul class="rx-reasons rx-variance">{items}'
            f"<li>{html.escape(captions.variance_rule())}</li></ul>"
        )
    return (
        table_html(title, heads, body, captions.agreement_caption(tables)) + listed + reasons.html()
    )


def _row(found: DimensionAgreement, reasons: MissingReasons) -> str:
    numbers, name = found.numbers, found.name
    unit = unit_label(numbers.dimension, numbers.n)
    behind = _behind(found, numbers.n, found.cases)

    def opened(label: str) -> str:
        return linked_number(found.shared, label, title=behind)

    def part(some: DistanceShare, label: str, what: str) -> str:
        title = f"{_behind(found, some.count.value, some.cases)}: {what}"
        return linked_number(some.count, label, title=title)

    n = opened(f"{numbers.n:,}" + (f" <small>{unit}</small>" if found.unit != "answers" else ""))
    if not numbers.n:
        dash = reasons.add(numbers.why or tr("No scores in common."), name)
        return cells_html(html.escape(name), n, dash, *[NOTHING] * 7)
    sign = "<sup>†</sup>" if numbers.lowered_by_variance else ""
    kappa = reasons.number(numbers.qwk, numbers.why, tr("{name}, kappa").format(name=name))
    means = []
    for mean, sd in ((numbers.mean_a, numbers.sd_a), (numbers.mean_b, numbers.sd_b)):
        spread = reasons.number(sd, numbers.why, tr("{name}, SD").format(name=name))
        means.append(opened(f"{mean:.2f} ± {spread}"))
    return cells_html(
        html.escape(name),
        n,
        opened(f"<b>{kappa}</b>") + sign if numbers.qwk is not None else kappa,
        reasons.interval(numbers.qwk_interval, tr("{name}, kappa").format(name=name)),
        part(found.apart, f"<b>{numbers.mad:.2f}</b>", _APART),
        reasons.interval(numbers.mad_interval, tr("{name}, MAD").format(name=name)),
        *means,
        part(found.same, f"{numbers.exact:.0%}", tr("the same score")),
        part(found.close, f"{numbers.within_one:.0%}", tr("at most one point apart")),
    )


def _behind(found: DimensionAgreement, n: int, cases: int) -> str:
    """Return ``12 pictures in 9 cases``."""
    behind = f"{n:,} {unit_label(found.numbers.dimension, n)}"
    return trn("{behind} in {n:,} case", "{behind} in {n:,} cases", cases).format(
        behind=behind, n=cases
    )


def pairs_html(tables: ReaderTables, case_filter: CaseFilter) -> str:
    """Return kappa of all pairs by dimension; a pair's name shows it on the page."""
    if len(tables.pairs) < 2:
        return ""
    found = {(row.reader_a, row.reader_b, row.dimension): row for row in tables.overview}
    shown = [
        name
        for name in DIMENSION_NAMES
        if any(row.dimension == name and row.n for row in tables.overview)
    ]

    def share(pair: ReaderIds) -> int:
        return sum(found[*pair, name].n for name in shown if (*pair, name) in found)

    ordered = sorted(tables.pairs, key=share, reverse=True)
    reasons = MissingReasons()
    body = []
    for pair in ordered[:MOST_PAIRS]:
        name = tables.pair_name(pair)
        query = {**link_keys.link_query(case_filter), link_keys.QUERY_PAIR: list(pair)}
        address = html.escape(href(PAGE_READERS, query))
        current = ' aria-current="true"' if pair == tables.pair else ""
        head = f'<a href="{address}" data-rx-page{current}>{html.escape(name)}</a>'
        rows = (found.get((*pair, word)) for word in shown)
        body.append(
            cells_html(head, *(_pair_cell(row, name, case_filter, reasons) for row in rows))
        )
    caption = tr("Quadratic-weighted kappa and n of every two readers with scores in common.")
    if len(ordered) > MOST_PAIRS:
        words = tr("The {n} pairs with most in common, of {total:,}.")
        caption += f" {words.format(n=MOST_PAIRS, total=len(ordered))}"
    heads = [tr("Pair (choose)"), *(DIMENSION_NAMES[word] for word in shown)]
    return table_html(tr("All pairs of readers"), heads, body, caption) + reasons.html()


def _pair_cell(
    row: PairAgreement | None, pair: str, case_filter: CaseFilter, reasons: MissingReasons
) -> str:
    if row is None or not row.n:
        return NOTHING
    name = f"{pair}, {DIMENSION_NAMES[row.dimension]}"
    kappa = reasons.number(row.qwk, row.why, name)
    shown = linked_number(count_shared(row, case_filter), f"<b>{kappa}</b>")
    return f"{shown}<small>n {row.n:,}</small>"


def alphas_html(tables: ReaderTables) -> str:
    """Return Krippendorff's alpha of all readers; empty with two readers or fewer."""
    if not tables.alphas:
        return ""
    reasons = MissingReasons()
    body = []
    for found in tables.alphas:
        name = DIMENSION_NAMES[found.dimension]
        n = f"{found.n_units:,} <small>{unit_label(found.dimension, found.n_units)}</small>"
        alpha = reasons.number(found.alpha, found.why, name)
        around = reasons.interval(found.interval, name)
        body.append(cells_html(name, f"<b>{alpha}</b>", around, n, f"{found.n_readers:,}"))
    caption = tr(
        "Krippendorff's alpha for ordinal scores, over what at least two readers "
        "scored; 1 is full agreement, 0 is chance. {interval_caption}"
    ).format(interval_caption=interval_caption())
    heads = [tr("Dimension"), tr("Alpha"), tr("95% CI"), "n", tr("Readers")]
    return table_html(tr("All readers together"), heads, body, caption) + reasons.html()


def stricter_html(tables: ReaderTables) -> str:
    """Return in words who is stricter."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in captions.stricter_captions(tables))
    return f'<ul class="rx-stricter">{items}</ul>' if items else ""


def published_html(tables: ReaderTables) -> str:
    """Return the paper's table 3 next to the set's own kappa and MAD, clearly separated."""
    of_set = {found.numbers.dimension: found for found in tables.compared}
    body = []
    for row in published_agreement():
        found = of_set.get(row.dimension)
        ours = [NOTHING] * 3
        if found is not None:
            numbers = found.numbers
            kappa = NOTHING if numbers.qwk is None else f"{numbers.qwk:.2f}"
            ours = [
                linked_number(found.shared, f"{numbers.n:,}"),
                linked_number(found.shared, f"<b>{kappa}</b>"),
                linked_number(found.apart.count, f"{numbers.mad:.2f}", title=_APART),
            ]
        printed = [
            f"{row.n:,}",
            f"{row.qwk:.3f}",
            f"{row.mad:.3f}",
            f"{row.reader1_mean:.2f} ± {row.reader1_sd:.2f}",
            f"{row.reader2_mean:.2f} ± {row.reader2_sd:.2f}",
        ]
        body.append(
            f'<tr><th scope="row">{DIMENSION_NAMES[row.dimension]}</th>'
            + "".join(f"<td>{cell}</td>" for cell in ours)
            + "".join(f'<td class="rx-outside">{text}</td>' for text in printed)
            + "</tr>"
        )
    heads = [tr("Dimension"), tr("Own n"), tr("Own kappa"), tr("Own MAD")]
    heads += [f"Published {text}" for text in ("n", "kappa", "MAD", tr("reader 1"), tr("reader 2"))]
    note = tr(
        "Published figures: {agreement_source}. Other cases, models and readers; "
        "not computed here. Its Process kappa is low although the readers are "
        "close: the scores hardly vary."
    ).format(agreement_source=AGREEMENT_SOURCE)
    table = table_html(tr("Next to the figures of the chosen pair"), heads, body, note)
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other cases, models and readers, not computed here')}</h2>{table}"
        "</section>"
    )


def all_disputed_html(count: int, cases: int, opens: CaseFilter) -> str:
    """Return how many answers are to be adjudicated, with a link to Browse."""
    label = (
        f"<b>{counted(count, 'answer')}</b> "
        f"{trn('in {n:,} case', 'in {n:,} cases', cases).format(n=cases)}"
    )
    note = tr(
        "All readers count, not only the chosen pair; a reader's image scores are averaged "
        "over the pictures of an answer. Previous and next on the Case page step through "
        "this list."
    )
    return (
        f'<p class="rx-line">{browse_link(opens, label)}</p><p class="rx-quiet rx-note">{note}</p>'
    )


def disputes_html(
    answers: Sequence[AdjudicationItem],
    opens: CaseFilter,
    *,
    models: Mapping[str, str],
    readers: Mapping[str, str],
    first: int = 0,
    agreed: Mapping[tuple[str, str, str], tuple[int, ...]] | None = None,
) -> str:
    """Return a part of the list, whose first item has the index ``first``, from 0.

    ``opens`` is the filter in which the Case page turns through the list. ``agreed`` has each
    consensus by case, model and dimension, shown next to the readers' scores.
    """
    items = "".join(
        _dispute_html(answer, opens, models, readers, agreed or {}) for answer in answers
    )
    return f'<ol class="rx-disputes" start="{first + 1}">{items}</ol>'


def _dispute_html(
    answer: AdjudicationItem,
    opens: CaseFilter,
    models: Mapping[str, str],
    readers: Mapping[str, str],
    agreed: Mapping[tuple[str, str, str], tuple[int, ...]],
) -> str:
    address = html.escape(href(PAGE_CASE, link_keys.link_query(opens, case=answer.case)))
    question = answer.question
    if len(question) > _LONGEST_QUESTION:
        question = f"{question[: _LONGEST_QUESTION - 1]}…"
    model = models.get(answer.model, answer.model)
    apart = trn("{points} point apart", "{points} points apart", answer.apart)
    head = (
        f'<a href="{address}" data-rx-page><b>{html.escape(answer.case)}</b></a> <span>'
        f"{html.escape(model)}</span> <small>"
        f"{apart.format(points=format_final_score(answer.apart))}</small>"
    )
    scores = "".join(
        _disputed_scores(
            dispute, readers, agreed.get((answer.case, answer.model, dispute.dimension), ())
        )
        for dispute in answer.disputes
    )
    return (
        f'<li class="rx-dispute"><div class="rx-dispute-head">{head}</div>'
        f'<p class="rx-quiet">{html.escape(question)}</p><ul>{scores}</ul>'
        f"{_comments_html(answer.disputes, readers)}</li>"
    )


def _disputed_scores(dispute: Dispute, readers: Mapping[str, str], agreed: Sequence[int]) -> str:
    scores = " · ".join(
        f"{html.escape(readers.get(reader, reader))} <b>{format_final_score(score)}</b>"
        for reader, score in dispute.scores.items()
    )
    values = ", ".join(map(str, agreed))
    consensus = f" {tr('· adjudicated:')} <b>{values}</b>" if agreed else ""
    return f"<li>{html.escape(dispute.name)}: {scores}{consensus}</li>"


def _comments_html(disputes: Sequence[Dispute], readers: Mapping[str, str]) -> str:
    """Return the folded comments of all readers on the disputed dimensions; empty without any."""
    comments = [
        f"<li><b>{html.escape(dispute.name)}, {html.escape(readers.get(reader, reader))}:</b> "
        f"{html.escape(text)}</li>"
        for dispute in disputes
        for reader, text in dispute.comments
    ]
    if not comments:
        return ""
    return (
        f"<details><summary>{counted(len(comments), 'comment')}</summary>"
        f'<ul class="rx-comments">{"".join(comments)}</ul></details>'
    )


# The widgets of the Readers page: choices, charts, the list to adjudicate.

PAGE_SIZE: Final = 20
_STEP: Final = 0.5
_MOST_APART: Final = 4.0
_LEADS: Final = ((PAGE_SCORE, tr("Score cases")), (PAGE_STUDY, tr("Case assignments")))


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


def link_pair() -> tuple[str, ...]:
    """Return the readers that the link names."""
    return tuple(link_keys.query_lists().get(link_keys.QUERY_PAIR, ()))


def show_nothing_to_compare(tables: ReaderTables) -> None:
    """Show why no two readers can be compared, and what would change that."""
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
                "yet. A second reader's scores of the same answers, even of only twenty, "
                "would show here how far both agree (kappa, differences), who is stricter, "
                "and which cases need a third look."
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
    """Show a download of table 3."""
    if tables.pair is not None:
        title = tr("Table 3. Agreement of {pair_name}").format(
            pair_name=tables.pair_name(tables.pair)
        )
        file = TableFile(
            title, partial(reader_frame, tables), agreement_caption(tables), READER_SHARES
        )
        show_downloads(file, key="readers_table_file")


def choose_pair(tables: ReaderTables) -> None:
    """Show a choice of the pairs of readers if there are several; the link keeps it."""
    if len(tables.pairs) < 2 or tables.pair is None:
        return
    kept = bind_to_link(
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
    """Show a choice of the dimensions that the pair shares; the link keeps it."""
    found = tables.dimension(link_keys.query_value(link_keys.QUERY_DIMENSION))
    if found is None:
        return None
    shared = [one.numbers.dimension for one in tables.compared]
    if len(shared) > 1:
        kept = bind_to_link(
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
    """Show the paper's table 3 next to the set's own figures, on request."""
    label = tr("Published table 3 of the ReXecution paper beside these")
    if choose_published(label, "readers"):
        linked_html(published_html(tables), key="readers_published_table")


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
            linked_html(stricter_html(tables), key="readers_stricter_words")


def show_drift(drifts: tuple[ReaderDrift, ReaderDrift], dimension: str) -> None:
    """Show the scores of both readers over time, or why that is impossible."""
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
    """Show a choice of the difference that counts as disagreement; the link keeps it."""
    usual = server_state.settings().disagreement_threshold
    asked = link_keys.query_value(link_keys.QUERY_APART) or ""
    try:
        wanted = float(asked)
    except ValueError:
        wanted = usual
    if not _STEP <= wanted <= _MOST_APART:
        wanted = usual
    kept = bind_to_link(
        "readers_apart",
        link_keys.QUERY_APART,
        wanted,
        lambda chosen: None if chosen == usual else f"{chosen:g}",
        lists=True,
    )
    return float(
        st.number_input(
            tr("Minimum difference in points"),
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
    """Show the answers to adjudicate, a page at a time, with a download."""
    total = found.answers.value
    if not total:
        st.info(
            tr("No answer has two readers {threshold:g} points or more apart.").format(
                threshold=found.threshold
            )
        )
        return
    head = all_disputed_html(total, found.cases, found.answers.opens)
    linked_html(head, key="readers_disputed_head")
    first = link_keys.page_number(total, PAGE_SIZE) * PAGE_SIZE
    readers = facts.readers
    drawn = disputes_html(
        found.part(first, PAGE_SIZE),
        found.answers.opens,
        models=facts.models,
        readers=readers,
        first=first,
        agreed=reviews.agreed_scores(review_set),
    )
    reviews.link_to_adjudicate()
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
    return encode_csv(found.frame(readers))
