"""The tables of the Readers page as HTML: every number is a link to the answers behind it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Final

from rexview.analysis import CaseFilter
from rexview.analysis import readers as captions
from rexview.analysis.adjudication import Dispute, ToAdjudicate
from rexview.analysis.published.rexecution import AGREEMENT_SOURCE, published_agreement
from rexview.analysis.readers import (
    DimensionAgreement,
    DistanceShare,
    Pair,
    ReaderTables,
    shared_count,
)
from rexview.analysis.scores import interval_caption, unfinished_caption
from rexview.stats import write_score
from rexview.stats.agreement import PairAgreement, unit_name
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import browse_link, href
from rexview.ui.link.pages import PAGE_CASE, PAGE_READERS
from rexview.ui.tables.number_table import NOTHING, Reasons, cells, linked_number, table_html
from rexview.vocab import DIMENSION_NAMES
from rexview.words import counted, tr, trn

MOST_PAIRS: Final = 45
"""So many pairs are laid out; those that share most."""
_LONGEST_QUESTION: Final = 180
"""Characters of a question in the list; the Case page has all of it."""
_APART: Final = tr("different scores")
"""What the mean absolute difference is made of, and opens."""


def headline_html(tables: ReaderTables) -> str:
    """Say in one sentence who scored how much."""
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
    """Lay out table 3: how far the two readers of the chosen pair agree, per dimension."""
    if tables.pair is None:
        return ""
    names = [captions.short(tables.readers[reader]) for reader in tables.pair]
    heads = [tr("Dimension"), "n", tr("Kappa"), tr("95% CI"), "MAD", tr("95% CI")]
    heads += [tr("{name}, mean ± SD").format(name=name) for name in names]
    heads += [tr("Same score"), tr("Within one")]
    reasons = Reasons()
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


def _row(found: DimensionAgreement, reasons: Reasons) -> str:
    numbers, name = found.numbers, found.name
    unit = unit_name(numbers.dimension, numbers.n)
    behind = _behind(found, numbers.n, found.cases)

    def opened(label: str) -> str:
        return linked_number(found.shared, label, title=behind)

    def part(some: DistanceShare, label: str, what: str) -> str:
        title = f"{_behind(found, some.count.value, some.cases)}: {what}"
        return linked_number(some.count, label, title=title)

    n = opened(f"{numbers.n:,}" + (f" <small>{unit}</small>" if found.unit != "answers" else ""))
    if not numbers.n:
        dash = reasons.add(numbers.why or tr("Nothing is shared."), name)
        return cells(html.escape(name), n, dash, *[NOTHING] * 7)
    sign = "<sup>†</sup>" if numbers.lowered_by_variance else ""
    kappa = reasons.number(numbers.qwk, numbers.why, tr("{name}, kappa").format(name=name))
    means = []
    for mean, sd in ((numbers.mean_a, numbers.sd_a), (numbers.mean_b, numbers.sd_b)):
        spread = reasons.number(sd, numbers.why, tr("{name}, SD").format(name=name))
        means.append(opened(f"{mean:.2f} ± {spread}"))
    return cells(
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
    """Write ``12 pictures in 9 cases``."""
    behind = f"{n:,} {unit_name(found.numbers.dimension, n)}"
    return trn("{behind} in {n:,} case", "{behind} in {n:,} cases", cases).format(
        behind=behind, n=cases
    )


def pairs_html(tables: ReaderTables, case_filter: CaseFilter) -> str:
    """Lay out kappa of all pairs by dimension; a pair's name shows it on the page."""
    if len(tables.pairs) < 2:
        return ""
    found = {(row.reader_a, row.reader_b, row.dimension): row for row in tables.overview}
    shown = [
        name
        for name in DIMENSION_NAMES
        if any(row.dimension == name and row.n for row in tables.overview)
    ]

    def share(pair: Pair) -> int:
        return sum(found[*pair, name].n for name in shown if (*pair, name) in found)

    ordered = sorted(tables.pairs, key=share, reverse=True)
    reasons = Reasons()
    body = []
    for pair in ordered[:MOST_PAIRS]:
        name = tables.pair_name(pair)
        query = {**link_keys.link_query(case_filter), link_keys.QUERY_PAIR: list(pair)}
        address = html.escape(href(PAGE_READERS, query))
        current = ' aria-current="true"' if pair == tables.pair else ""
        head = f'<a href="{address}" data-rx-page{current}>{html.escape(name)}</a>'
        rows = (found.get((*pair, word)) for word in shown)
        body.append(cells(head, *(_pair_cell(row, name, case_filter, reasons) for row in rows)))
    caption = tr("Quadratic-weighted kappa and n of every two readers who share anything.")
    if len(ordered) > MOST_PAIRS:
        words = tr("The {n} pairs that share most of {total:,}.")
        caption += f" {words.format(n=MOST_PAIRS, total=len(ordered))}"
    heads = [tr("Pair (choose)"), *(DIMENSION_NAMES[word] for word in shown)]
    return table_html(tr("All pairs of readers"), heads, body, caption) + reasons.html()


def _pair_cell(
    row: PairAgreement | None, pair: str, case_filter: CaseFilter, reasons: Reasons
) -> str:
    if row is None or not row.n:
        return NOTHING
    name = f"{pair}, {DIMENSION_NAMES[row.dimension]}"
    kappa = reasons.number(row.qwk, row.why, name)
    shown = linked_number(shared_count(row, case_filter), f"<b>{kappa}</b>")
    return f"{shown}<small>n {row.n:,}</small>"


def alphas_html(tables: ReaderTables) -> str:
    """Lay out Krippendorff's alpha of all readers; empty with two readers or fewer."""
    if not tables.alphas:
        return ""
    reasons = Reasons()
    body = []
    for found in tables.alphas:
        name = DIMENSION_NAMES[found.dimension]
        n = f"{found.n_units:,} <small>{unit_name(found.dimension, found.n_units)}</small>"
        alpha = reasons.number(found.alpha, found.why, name)
        around = reasons.interval(found.interval, name)
        body.append(cells(name, f"<b>{alpha}</b>", around, n, f"{found.n_readers:,}"))
    caption = tr(
        "Krippendorff's alpha for ordinal scores, over what at least two readers "
        "scored; 1 is full agreement, 0 is chance. {interval_caption}"
    ).format(interval_caption=interval_caption())
    heads = [tr("Dimension"), tr("Alpha"), tr("95% CI"), "n", tr("Readers")]
    return table_html(tr("All readers together"), heads, body, caption) + reasons.html()


def stricter_html(tables: ReaderTables) -> str:
    """Say in words who is stricter."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in captions.stricter_captions(tables))
    return f'<ul class="rx-stricter">{items}</ul>' if items else ""


def published_html(tables: ReaderTables) -> str:
    """Lay out the paper's table 3 with the own kappa and MAD beside it, clearly apart."""
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
    table = table_html(tr("Beside the own figures of the chosen pair"), heads, body, note)
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other cases, models and readers, not computed here')}</h2>{table}"
        "</section>"
    )


def all_disputed_html(count: int, cases: int, opens: CaseFilter) -> str:
    """Say how many answers are to be adjudicated, and open them in Browse."""
    label = (
        f"<b>{counted(count, 'answer')}</b> "
        f"{trn('in {n:,} case', 'in {n:,} cases', cases).format(n=cases)}"
    )
    note = tr(
        "All readers count, not only the chosen pair; a reader's image scores "
        "are averaged over the pictures of an answer. Previous and next on the "
        "Case page walk this list."
    )
    return (
        f'<p class="rx-line">{browse_link(opens, label)}</p><p class="rx-quiet rx-note">{note}</p>'
    )


def disputes_html(
    answers: Sequence[ToAdjudicate],
    opens: CaseFilter,
    *,
    models: Mapping[str, str],
    readers: Mapping[str, str],
    first: int = 0,
    agreed: Mapping[tuple[str, str, str], tuple[int, ...]] | None = None,
) -> str:
    """Draw a part of the list, whose first item has the place ``first``, counted from 0.

    ``opens`` is the filter within which the Case page walks the list; ``agreed`` has each consensus
    by case, model and dimension, shown beside the readers' scores.
    """
    items = "".join(
        _dispute_html(answer, opens, models, readers, agreed or {}) for answer in answers
    )
    return f'<ol class="rx-disputes" start="{first + 1}">{items}</ol>'


def _dispute_html(
    answer: ToAdjudicate,
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
        f"{apart.format(points=write_score(answer.apart))}</small>"
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
        f"{html.escape(readers.get(reader, reader))} <b>{write_score(score)}</b>"
        for reader, score in dispute.scores.items()
    )
    values = ", ".join(map(str, agreed))
    consensus = f" {tr('· adjudicated:')} <b>{values}</b>" if agreed else ""
    return f"<li>{html.escape(dispute.name)}: {scores}{consensus}</li>"


def _comments_html(disputes: Sequence[Dispute], readers: Mapping[str, str]) -> str:
    """Fold the comments of all readers on the disputed dimensions; empty without any."""
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
