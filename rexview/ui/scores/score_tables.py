"""The Scores page: means, comparisons of models, charts and published figures."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

import pandas as pd
import streamlit as st

from rexview.analysis import (
    CaseFilter,
    CaseProperty,
    Engine,
    LinkedCount,
    SetFacts,
    assign_model_colours,
    scores,
)
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.charts.scores import (
    chain_chart,
    distribution_chart,
    gap_spread_chart,
    missing_answers_chart,
    split_chart,
)
from rexview.analysis.download_files import TableFile
from rexview.analysis.download_frames import SCORE_SHARES, score_frame
from rexview.analysis.published.rexecution import (
    ODDITIES,
    QUANTITIES,
    SOURCE,
    MeasuredRate,
    measured_rates,
    published_rates,
    published_scores,
)
from rexview.analysis.ranking import DisplayRanking, rank_for_display, rank_in_each_group
from rexview.analysis.scores import (
    MAIN_SCORES,
    PART_SCORES,
    GapCell,
    ScoreCell,
    ScoreSplit,
    ScoreTables,
    comparison_caption,
    count_pairs,
    is_pairs_count_exact,
    left_out_caption,
    summary_caption,
    unfinished_caption,
)
from rexview.stats import MISSING_STATUSES, STATUSES
from rexview.stats.paired_tests import FriedmanTest, PairTest
from rexview.ui.charts import show_chart, show_charts_beside
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_table, show_wide_table
from rexview.ui.tables.number_table import (
    MOST_PAIRS,
    NOTHING,
    MissingReasons,
    cells_html,
    format_p,
    format_signed,
    group_rows,
    label_cells,
    linked_number,
    model_head,
    pairs_title,
    short_name,
    table_html,
)
from rexview.ui.tables.ranked import ranked_item, ranked_tools
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.link_choices import bind_option_to_link, choose_published
from rexview.ui.web.server import query_cache
from rexview.ui.web.server.shared_work import cache_on_first_argument
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES, IMAGE_DIMENSIONS
from rexview.words import counted, join_words, noun, tr, trn

# Comparisons between models as HTML: next to the means for two models, a list for more.

_PAIRED: Final = tr("Cases scored for both")
_MORE_OPENED: Final = tr(
    "Cases scored for both where both answers match the filter. Browse also lists those "
    "where only one of the two answers matches it."
)


def comparison_heads() -> list[str]:
    """Return the column heads of :func:`comparison_cells`."""
    return [tr("Difference"), tr("Pairs"), tr("p adjusted"), tr("Effect")]


def comparison_cells(tables: ScoreTables, dimension: str, reasons: MissingReasons) -> str:
    """Return the cells that compare the only two models in one dimension, across both rows."""
    tests = [test for test in tables.comparison.tests if test.dimension == dimension]
    where = DIMENSION_NAMES[dimension]
    if not tests:
        dash = reasons.add(tr("Only one of the two models has scored pictures."), where)
        return f'<td rowspan="2" class="rx-both">{dash}</td>' * len(comparison_heads())
    found = _test_cells(tests[0], tables.cases.opens, reasons, where)
    return "".join(f'<td rowspan="2" class="rx-both">{cell}</td>' for cell in found)


def _test_cells(
    test: PairTest, base: CaseFilter, reasons: MissingReasons, where: str
) -> tuple[str, str, str, str]:
    if test.mean_difference is None:
        difference = reasons.add(test.why or tr("Undefined."), where)
    else:
        limits = reasons.interval(
            test.interval, tr("{where}, difference").format(where=where), with_sign=True
        )
        difference = (
            f'<b>{format_signed(test.mean_difference)}</b><small class="rx-ci">{limits}</small>'
        )
    title = _PAIRED if is_pairs_count_exact(base) else _MORE_OPENED
    pairs = linked_number(count_pairs(test, base), f"{test.n_pairs:,}", title=title)
    effect = reasons.number(test.effect, test.why, where, "+.2f").replace("-", "−")
    return difference, pairs, _p_value(test, reasons, where), effect


def _p_value(test: PairTest, reasons: MissingReasons, where: str) -> str:
    if test.p_adj is None or test.p is None:
        return reasons.add(test.why or tr("No test is possible."), where)
    title = tr(
        "W {statistic:g}, p {p:.4g}, adjusted {p_adj:.4g}, {method}, {zero:,} of {pairs:,} pairs "
        "without a difference"
    ).format(
        statistic=test.statistic,
        p=test.p,
        p_adj=test.p_adj,
        method=test.method,
        zero=test.n_zero,
        pairs=test.n_pairs,
    )
    return f'<abbr title="{html.escape(title)}">{format_p(test.p_adj)}</abbr>'


def friedman_html(tables: ScoreTables, caption: str) -> str:
    """Return the Friedman test of each dimension as HTML; empty for fewer than three models."""
    if not tables.comparison.friedman:
        return ""
    reasons = MissingReasons()
    heads = [tr("Dimension"), tr("Models"), tr("Cases with all"), tr("Friedman χ²"), "p"]
    body = [_friedman_row(test, reasons) for test in tables.comparison.friedman]
    return table_html(tr("All models at once"), heads, body, caption) + reasons.html()


def _friedman_row(test: FriedmanTest, reasons: MissingReasons) -> str:
    name = DIMENSION_NAMES[test.dimension]
    numbers = (
        f"{len(test.models):,}",
        f"{test.n:,}",
        reasons.number(test.statistic, test.why, name),
        reasons.add(test.why or tr("Undefined."), name) if test.p is None else format_p(test.p),
    )
    return cells_html(html.escape(name), *numbers)


def pairs_html(tables: ScoreTables, caption: str) -> str:
    """Return the comparisons of all pairs of models as HTML, the smallest adjusted p first."""
    tests = ordered_tests(tables)
    if not tests:
        return ""
    reasons = MissingReasons()
    body = []
    for test in tests[:MOST_PAIRS]:
        first, second = (tables.models[model] for model in (test.model_a, test.model_b))
        where = tr("{dimension_names}, {first} and {second}").format(
            dimension_names=DIMENSION_NAMES[test.dimension], first=first, second=second
        )
        names = [short_name(text) for text in (DIMENSION_NAMES[test.dimension], first, second)]
        row = [*names, *_test_cells(test, tables.cases.opens, reasons, where)]
        body.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>")
    heads = [tr("Dimension"), "A", "B", tr("A minus B"), *comparison_heads()[1:]]
    title = pairs_title(tr("Pairs of models, smallest adjusted p first"), len(tests))
    return table_html(title, heads, body, caption) + reasons.html()


def ordered_tests(tables: ScoreTables) -> list[PairTest]:
    """Return the comparisons by adjusted p, those without one last."""
    return sorted(
        tables.comparison.tests,
        key=lambda test: (test.p_adj is None, test.p_adj or 0.0, test.p or 0.0),
    )


def pairs_frame(tables: ScoreTables) -> pd.DataFrame:
    """Return all comparisons at full precision, in the order of :func:`pairs_html`."""
    return pd.DataFrame(
        {
            "Dimension": DIMENSION_NAMES[test.dimension],
            "A": tables.models[test.model_a],
            "B": tables.models[test.model_b],
            "Pairs": test.n_pairs,
            "A minus B": test.mean_difference,
            "CI low": test.interval.low,
            "CI high": test.interval.high,
            "W": test.statistic,
            "p": test.p,
            "p adjusted": test.p_adj,
            "Effect": test.effect,
            "Method": test.method,
            "Why not": test.why,
        }
        for test in ordered_tests(tables)
    )


MOST_ROWS: Final = 6
"""Most models with a row for each dimension."""


def headline_html(tables: ScoreTables) -> str:
    """Return a sentence on the amount of data, and on what is scored and what is not."""
    amounts = [tr("{linked} with a Content score").format(linked=_linked(tables.with_content))]
    if tables.unscored:
        amounts.append(tr("{unscored:,} answered without one").format(unscored=tables.unscored))
    amounts.append(tr("{linked} counted as no full answer").format(linked=_linked(tables.lost)))
    models = len(tables.models)
    head = trn(
        "{cases}, {answers} of {n:,} model: {amounts}.",
        "{cases}, {answers} of {n:,} models: {amounts}.",
        models,
    ).format(
        cases=f"{_linked(tables.cases)} {noun(tables.cases.value, 'case')}",
        answers=f"{_linked(tables.answers)} {noun(tables.answers.value, 'answer')}",
        n=models,
        amounts=join_words(amounts),
    )
    by = tables.readers
    scored = trn("Scored by {n:,} reader.", "Scored by {n:,} readers.", by).format(n=by)
    return f'<p class="rx-line">{head} {scored}{unfinished_caption(tables.unfinished)}</p>'


def scores_html(
    tables: ScoreTables, dimensions: Sequence[str], title: str, colours: Mapping[str, str]
) -> str:
    """Return a table of some dimensions with all numbers of each model; empty if none is scored.

    Up to :data:`MOST_ROWS` models have a row for each dimension, and two have their comparison next
    to them. More models have one row each and a column for each dimension; many are ranked by the
    first dimension.
    """
    shown = [name for name in dimensions if name in tables.dimensions]
    if not shown:
        return ""
    compared = len(tables.models) == 2
    reasons = MissingReasons()
    lay_out = _by_dimension if len(tables.models) <= MOST_ROWS else _by_model
    heads, body = lay_out(tables, shown, colours, reasons)
    tools = ranked_tools(_ranking(tables, shown), DIMENSION_NAMES[shown[0]])
    caption = [summary_caption(tables, shown), left_out_caption(tables, shown)]
    if compared:
        caption.append(comparison_caption(tables, shown))
    return table_html(title, heads, body, " ".join(caption), tools) + reasons.html()


def _ranking(tables: ScoreTables, dimensions: Sequence[str]) -> DisplayRanking[str]:
    """Rank the models of a table of scores: by the mean of its first dimension."""
    return rank_for_display(tables.models, partial(tables.mean, dimensions[0]))


def _by_dimension(
    tables: ScoreTables, shown: Sequence[str], colours: Mapping[str, str], reasons: MissingReasons
) -> tuple[list[str], list[str]]:
    compared = len(tables.models) == 2
    heads = ["", tr("Model"), tr("Mean ± SD"), tr("95% CI"), "n", tr("Score 5"), tr("Below 3")]
    heads += comparison_heads() if compared else []
    body = []
    for dimension in shown:
        for place, (model, name) in enumerate(tables.models.items()):
            row = model_head(name, colours.get(model, ""))
            row += _score_cells(tables.cell(dimension, model), name, reasons)
            if place:
                body.append(f"<tr>{row}</tr>")
                continue
            title = html.escape(DIMENSION_NAMES[dimension])
            head = f'<th scope="rowgroup" rowspan="{len(tables.models)}">{title}</th>'
            more = comparison_cells(tables, dimension, reasons) if compared else ""
            body.append(f'<tr class="rx-first">{head}{row}{more}</tr>')
    return heads, body


def _by_model(
    tables: ScoreTables, shown: Sequence[str], colours: Mapping[str, str], reasons: MissingReasons
) -> tuple[list[str], list[str]]:
    body, ranking = [], _ranking(tables, shown)
    for model in ranking.order:
        name = tables.models[model]
        row = model_head(name, colours.get(model, ""))
        for dimension in shown:
            row += f"<td>{_whole_cell(tables.cell(dimension, model), name, reasons)}</td>"
        body.append(ranked_item(f"<tr>{row}</tr>", name, model, ranking))
    return [tr("Model"), *(DIMENSION_NAMES[name] for name in shown)], body


def _whole_cell(cell: ScoreCell | None, model: str, reasons: MissingReasons) -> str:
    """Return all numbers of a dimension and model in one cell."""
    if cell is None or not cell.summary.n:
        where = f"{model}, {cell.name}" if cell else model
        return reasons.add((cell.summary.why if cell else None) or tr("No score."), where)
    summary, where = cell.summary, f"{model}, {cell.name}"
    spread = reasons.number(summary.sd, summary.why, where)
    mean = f"<b>{summary.mean:.2f}</b> ± {spread}<small>n {summary.n:,}</small>"
    rates = [
        f"{linked_number(count, f'{count.share or 0:.0%}', cell.exact)} {name}"
        for name, count in ((tr("score 5"), cell.perfect), (tr("below 3"), cell.low))
    ]
    limits = reasons.interval(summary.interval, where)
    return (
        f"{linked_number(cell.scored, mean, cell.exact, _n_title(cell))}"
        f'<small class="rx-ci">{limits}</small><small class="rx-ci">{" · ".join(rates)}</small>'
    )


def _score_cells(cell: ScoreCell | None, model: str, reasons: MissingReasons) -> str:
    if cell is None or not cell.summary.n:
        why = cell.summary.why if cell else None
        dash = reasons.add(
            why or tr("No score."), f"{model}, {cell.name if cell else ''}".strip(", ")
        )
        return f"<td>{dash}</td><td>{NOTHING}</td><td>0</td><td>{NOTHING}</td><td>{NOTHING}</td>"
    summary, name = cell.summary, f"{model}, {cell.name}"
    spread = reasons.number(summary.sd, summary.why, name)
    mean = linked_number(cell.scored, f"<b>{summary.mean:.2f}</b> ± {spread}", cell.exact)
    pictures = summary.dimension in IMAGE_DIMENSIONS
    n = f"{summary.n:,}" + (f" <small>{noun(summary.n, 'picture')}</small>" if pictures else "")
    return (
        f"<td>{mean}</td><td>{reasons.interval(summary.interval, name)}</td>"
        f"<td>{linked_number(cell.scored, n, cell.exact, _n_title(cell))}</td>"
        f"<td>{_share(cell.perfect, cell.exact)}</td><td>{_share(cell.low, cell.exact)}</td>"
    )


def _n_title(cell: ScoreCell) -> str:
    if cell.dimension in IMAGE_DIMENSIONS:
        return tr("Scored pictures")
    return trn(
        "{n:,} returned answer without a {name} score",
        "{n:,} returned answers without a {name} score",
        cell.unscored,
    ).format(n=cell.unscored, name=cell.name)


def gaps_html(tables: ScoreTables, colours: Mapping[str, str], caption: str) -> str:
    """Return the mean gap and the share flagged of each model; empty without any gap."""
    if not any(gap.summary.n for gap in tables.gaps):
        return ""
    reasons = MissingReasons()
    heads = [
        tr("Model"),
        tr("Mean gap ± SD"),
        tr("95% CI"),
        "n",
        tr("Gap {gap_threshold:g} or more").format(gap_threshold=tables.gap_threshold),
    ]
    ranking = rank_for_display(tables.gaps, lambda gap: gap.summary.mean)
    body = []
    for gap in ranking.order:
        name = tables.models[gap.model]
        body.append(ranked_item(_gap_row(gap, name, colours, reasons), name, gap, ranking))
    tools = ranked_tools(ranking, tr("mean gap, widest first"))
    return table_html(tr("Execution-vs-process gap"), heads, body, caption, tools) + reasons.html()


def _gap_row(gap: GapCell, name: str, colours: Mapping[str, str], reasons: MissingReasons) -> str:
    summary = gap.summary
    head = model_head(name, colours.get(summary.model, ""))
    if summary.mean is None:
        dash = reasons.add(summary.why or tr("No gap."), name)
        return f"<tr>{head}<td>{dash}</td><td>{NOTHING}</td><td>0</td><td>{NOTHING}</td></tr>"
    spread = reasons.number(summary.sd, summary.why, name)
    mean = linked_number(gap.known, f"<b>{format_signed(summary.mean)}</b> ± {spread}")
    interval = reasons.interval(summary.interval, name, with_sign=True)
    return (
        f"<tr>{head}<td>{mean}</td><td>{interval}</td>"
        f"<td>{linked_number(gap.known, f'{summary.n:,}')}</td><td>{_share(gap.flagged)}</td></tr>"
    )


def incomplete_answers_html(tables: ScoreTables, colours: Mapping[str, str]) -> str:
    """Return the incomplete answers of each model, by reason."""
    heads = [
        tr("Model"),
        tr("Asked"),
        tr("No full answer"),
        *(STATUSES[reason] for reason in MISSING_STATUSES),
    ]
    body = []
    ranking = rank_for_display(tables.no_answers, lambda lost: lost.lost.share)
    for lost in ranking.order:
        name = tables.models[lost.model]
        reasons = (_linked(lost.by_reason[reason]) for reason in MISSING_STATUSES)
        numbers = (f"{lost.lost.of or 0:,}", _share(lost.lost), *reasons)
        columns = "".join(f"<td>{number}</td>" for number in numbers)
        head = model_head(name, colours.get(lost.model, ""))
        body.append(ranked_item(f"<tr>{head}{columns}</tr>", name, lost, ranking))
    caption = tr(
        "Answers that were cut off, refused, empty or ended by an error. They are listed "
        "beside n as failures; their scores are not part of any mean, and none counts as "
        "zero."
    )
    tools = ranked_tools(ranking, tr("share of answers lost, highest first"))
    return table_html(tr("No full answer"), heads, body, caption, tools)


def split_html(split: ScoreSplit, colours: Mapping[str, str], caption: str) -> str:
    """Return the means for each value of a property, with n and interval, models by dimensions."""
    met = {cell.dimension for group in split.groups for cell in group.cells if cell.summary.n}
    shown = [name for name in DIMENSION_NAMES if name in met]
    if not shown:
        return ""
    heads = [tr("Model"), *(DIMENSION_NAMES[name] for name in shown)]
    of_models = rank_in_each_group(split.models)
    heads = heads if of_models.is_cut else [split.by.name, *heads]
    body: list[str] = []
    reasons = MissingReasons()
    for group in split.groups:
        if not any(cell.summary.n for cell in group.cells):
            continue  # the caption names it
        cells = {(cell.dimension, cell.model): cell for cell in group.cells}
        size = counted(group.count.value, "case")
        about = f"{short_name(group.name)}<small>{linked_number(group.count, size)}</small>"
        ranking = rank_for_display(split.models, partial(_mean_of, cells, shown[0]))

        def line(
            model: str,
            cells: Mapping[tuple[str, str], ScoreCell] = cells,
            group: str = group.name,
        ) -> tuple[str, str]:
            name = split.models[model]
            row = model_head(name, colours.get(model, ""))
            for dimension in shown:
                where = f"{group}, {name}, {DIMENSION_NAMES[dimension]}"
                row += f"<td>{_split_cell(cells.get((dimension, model)), where, reasons)}</td>"
            return name, row

        body += group_rows(about, ranking, line, 1 + len(shown), apart=of_models.is_cut)
    title = tr("Means by {name}").format(name=split.by.name)
    tools = ranked_tools(of_models, DIMENSION_NAMES[shown[0]])
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _mean_of(
    cells: Mapping[tuple[str, str], ScoreCell], dimension: str, model: str
) -> float | None:
    cell = cells.get((dimension, model))
    return cell.summary.mean if cell else None


def _split_cell(cell: ScoreCell | None, where: str, reasons: MissingReasons) -> str:
    if cell is None or cell.summary.mean is None:
        return NOTHING
    summary = cell.summary
    mean = f"<b>{summary.mean:.2f}</b><small>n {summary.n:,}</small>"
    limits = reasons.interval(summary.interval, where)
    return f'{linked_number(cell.scored, mean, cell.exact)}<small class="rx-ci">{limits}</small>'


def _linked(count: LinkedCount) -> str:
    return linked_number(count, f"<b>{count.value:,}</b>")


def _share(count: LinkedCount, exact: bool = True) -> str:
    if not count.of:
        return NOTHING
    label = (
        f"<b>{count.share:.0%}</b><small>"
        f"{tr('{value:,} of {of:,}').format(value=count.value, of=count.of)}</small>"
    )
    return linked_number(count, label, exact)


# Figures published in the paper next to those of the open set, clearly separated.

MOST_MODELS: Final = 4
"""Most models of the open set next to the published ones."""


def published_html(tables: ScoreTables) -> str:
    """Return means and rates: the set's own figures left, the paper's apart on the right."""
    ours = list(tables.models)[:MOST_MODELS]
    notes = [
        tr(
            "Published figures: {source}. Other cases, models and readers; not computed here."
        ).format(source=SOURCE)
    ]
    if len(tables.models) > MOST_MODELS:
        few = tr(
            "Only the first {most} of your models are shown here: narrow the filter for others."
        )
        notes.append(few.format(most=MOST_MODELS))
    notes.append(tr("The share of answers with an image is not computed for your models."))
    note = " ".join(notes)
    items = "".join(f"<li>{html.escape(text)}</li>" for text in ODDITIES)
    return (
        '<section class="rx-published"><h2>'
        f"{tr('Published: other cases and models, not computed here')}</h2>{_means(tables, ours)}"
        f'{_rates(tables, ours)}<p class="rx-quiet rx-note">'
        f"{html.escape(note)} {tr('Kept as printed:')}</p>"
        f'<ul class="rx-reasons">{items}</ul></section>'
    )


def _means(tables: ScoreTables, ours: Sequence[str]) -> str:
    printed = {(score.dimension, score.model): score for score in published_scores()}
    papers = list(dict.fromkeys(score.model for score in published_scores()))
    body = []
    for dimension in dict.fromkeys(score.dimension for score in published_scores()):
        cells = []
        for model in ours:
            cell = tables.cell(dimension, model)
            if cell is None or cell.summary.mean is None:
                cells.append(f"<td>{NOTHING}</td>")
                continue
            spread = NOTHING if cell.summary.sd is None else f"{cell.summary.sd:.2f}"
            label = f"<b>{cell.summary.mean:.2f}</b> ± {spread}<small>n {cell.summary.n:,}</small>"
            cells.append(f"<td>{linked_number(cell.scored, label, cell.exact)}</td>")
        adjusted = NOTHING
        for paper in papers:
            score = printed.get((dimension, paper))
            if score is None:
                cells.append(_outside(NOTHING))
                continue
            adjusted = NOTHING if score.p_adj is None else f"{score.p_adj:g}"
            cells.append(_outside(f"{score.mean:.2f} ± {score.sd:.2f}<small>n {score.n}</small>"))
        middle = [f"<td>{_p_of_set(tables, dimension)}</td>"] if len(tables.models) == 2 else []
        row = [*cells[: len(ours)], *middle, *cells[len(ours) :], _outside(adjusted)]
        name = html.escape(DIMENSION_NAMES[dimension])
        body.append(f'<tr><th scope="row">{name}</th>{"".join(row)}</tr>')
    heads = [tables.models[model] for model in ours]
    heads += [tr("p adjusted")] if len(tables.models) == 2 else []
    return _table(tr("Mean ± SD"), heads, [*papers, tr("p adjusted")], body)


def _p_of_set(tables: ScoreTables, dimension: str) -> str:
    tests = [test for test in tables.comparison.tests if test.dimension == dimension]
    return format_p(tests[0].p_adj) if tests and tests[0].p_adj is not None else NOTHING


def _rates(tables: ScoreTables, ours: Sequence[str]) -> str:
    of_set = {(rate.quantity, rate.model): rate for rate in measured_rates(tables)}
    printed = {(rate.quantity, rate.model): rate for rate in published_rates()}
    papers = list(dict.fromkeys(rate.model for rate in published_rates()))
    body = []
    for quantity, name in QUANTITIES.items():
        cells = [f"<td>{_rate_of_set(of_set.get((quantity, model)))}</td>" for model in ours]
        for paper in papers:
            rate = printed.get((quantity, paper))
            text = NOTHING
            if rate is not None and rate.percent is not None:
                text = f"{rate.percent:g}%"
            elif rate is not None and rate.points is not None:
                text = format_signed(rate.points)
            cells.append(_outside(text))
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>')
    return _table(tr("Shares"), [tables.models[model] for model in ours], papers, body)


def _rate_of_set(rate: MeasuredRate | None) -> str:
    if rate is None:
        return NOTHING
    if rate.points is not None:
        label = f"<b>{format_signed(rate.points)}</b><small>n {rate.count.value:,}</small>"
        return linked_number(rate.count, label)
    shares = tr("{n:,} of {all:,}").format(n=rate.count.value, all=rate.count.of or 0)
    label = f"<b>{100 * (rate.count.share or 0):.1f}%</b>"
    label += f"<small>{shares}</small>"
    return linked_number(rate.count, label)


def _outside(text: str) -> str:
    return f'<td class="rx-outside">{text}</td>'


def _table(title: str, ours: Sequence[str], papers: Sequence[str], body: Iterable[str]) -> str:
    groups = (
        (f'<th></th><th scope="colgroup" colspan="{len(ours)}">{tr("This review set")}</th>')
        if ours
        else ""
    )
    published = tr("Published")
    groups += f'<th scope="colgroup" colspan="{len(papers)}" class="rx-outside">{published}</th>'
    names = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in ours)
    names += "".join(
        f'<th scope="col" class="rx-outside">{html.escape(name)}</th>' for name in papers
    )
    return label_cells(
        f'<div class="rx-scroll"><table class="rx-scores rx-means rx-table">'
        f"<caption>{html.escape(title)}</caption>"
        f"<thead><tr>{groups}</tr><tr><th></th>{names}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


# The widgets of the Scores page: comparisons, charts, split, published figures.

_NO_SPLIT = ""


@cache_on_first_argument(16)
def _charts(tables: ScoreTables, facts: SetFacts) -> dict[str, LinkedChart | None]:
    colours = assign_model_colours(facts.models)
    chain = f"{scores.n_caption(tables, CONTENT_PARTS)} {scores.interval_caption()}"
    left_out = scores.left_out_caption(tables, tables.dimensions)
    return {
        "chain": chain_chart(tables, colours, caption=chain),
        "gap": gap_spread_chart(tables, colours, caption=scores.gap_caption(tables)),
        "spread": distribution_chart(tables, caption=left_out),
        "lost": missing_answers_chart(tables),
    }


@lru_cache(maxsize=16)
def _split_chart(split: ScoreSplit, facts: SetFacts, dimension: str) -> LinkedChart | None:
    caption = scores.split_caption(split)
    return split_chart(split, dimension, assign_model_colours(facts.models), caption=caption)


def show_tables(tables: ScoreTables, facts: SetFacts) -> None:
    """Show the two tables of scores and, for more than two models, their comparison."""
    colours = assign_model_colours(facts.models)
    for number, dimensions in enumerate((MAIN_SCORES, PART_SCORES), start=1):
        title = f"Table {number}. " + join_words(
            [DIMENSION_NAMES[name] for name in dimensions if name in tables.dimensions]
        )
        with st.spinner(tr("Comparing the models…")):  # two models are compared in the table
            drawn = scores_html(tables, dimensions, title, colours)
        if drawn:
            shown = [name for name in dimensions if name in tables.dimensions]
            caption = scores.summary_caption(tables, shown)
            caption += f" {scores.left_out_caption(tables, shown)}"
            if len(tables.models) > 1:
                caption += f" {scores.comparison_caption(tables, shown)}"
            file = TableFile(title, partial(score_frame, tables, shown), caption, SCORE_SHARES)
            show_table(drawn, file, key=f"scores_table_{number}")
    if len(tables.models) > 2:
        _comparisons(tables)


def _comparisons(tables: ScoreTables) -> None:
    label = tr("Comparisons between the {models:,} models").format(models=len(tables.models))
    box = st.expander(label, key="scores_comparisons", on_change="rerun")
    if not box.open:
        return  # not visible: hundreds of rows would be sent for nothing
    with box:
        with st.spinner(tr("Comparing all pairs of models…")):
            first = tr("Friedman's test over the cases where every model has a score.")
            together = friedman_html(tables, first)
            caption = scores.comparison_caption(tables, DIMENSION_NAMES)
            pairs = pairs_html(tables, caption)
        linked_html(together, key="scores_friedman")
        linked_html(pairs, key="scores_pairs")
        with st.expander(tr("All pairs as a table")):
            show_wide_table(pairs_frame(tables), key="scores_all_pairs")


def show_charts(tables: ScoreTables, facts: SetFacts) -> None:
    """Show the chain, the gaps and the distribution of the scores, each with its table."""
    charts = _charts(tables, facts)
    beside = [chart for name in ("chain", "gap") if (chart := charts[name]) is not None]
    show_charts_beside(beside, key="scores_chart")
    colours = assign_model_colours(facts.models)
    if drawn := gaps_html(tables, colours, scores.gap_caption(tables)):
        linked_html(drawn, key="scores_gaps")
    if (spread := charts["spread"]) is not None:
        show_chart(spread, key="scores_spread")


def show_incomplete_answers(tables: ScoreTables, facts: SetFacts) -> None:
    """Show how many answers are incomplete, by reason."""
    if not tables.lost.value:
        st.caption(tr("No full answer: none of {value:,}.").format(value=tables.answers.value))
        return
    linked_html(
        incomplete_answers_html(tables, assign_model_colours(facts.models)), key="scores_lost"
    )
    if (chart := _charts(tables, facts)["lost"]) is not None:
        show_chart(chart, key="scores_lost_chart")


def show_split(engine: Engine, case_filter: CaseFilter, tables: ScoreTables) -> None:
    """Show the scores by a property of the cases that the user chooses."""
    choices = {choice.key: choice for choice in engine.facts.properties}
    if not choices:
        return
    by = _chosen_split(choices)
    if by is None:
        return
    with st.spinner(tr("Computing the scores of each part…")):
        split = query_cache.split(engine, case_filter, by)
    dimension = _chosen_score(tables)
    chart = _split_chart(split, engine.facts, dimension)
    if chart is None:
        st.info(
            tr("No case here has a value for {name} and a score.").format(name=as_markdown(by.name))
        )
        return
    show_chart(chart, key="scores_split_chart")
    colours = assign_model_colours(engine.facts.models)
    drawn = split_html(split, colours, scores.split_caption(split))
    linked_html(drawn, key="scores_split_table")


def _chosen_split(choices: dict[str, CaseProperty]) -> CaseProperty | None:
    asked = link_keys.query_value(link_keys.QUERY_SPLIT) or _NO_SPLIT
    chosen = st.selectbox(
        tr("Split by"),
        [_NO_SPLIT, *choices],
        format_func=lambda key: choices[key].name if key in choices else tr("Nothing"),
        width=320,
        **bind_option_to_link("scores_split", link_keys.QUERY_SPLIT, choices, _NO_SPLIT),
    )
    if asked != _NO_SPLIT and asked not in choices:
        st.caption(tr("The link asks for a split that this set does not have."))
    return choices.get(chosen)


def _chosen_score(tables: ScoreTables) -> str:
    kept = bind_option_to_link(
        "scores_split_score",
        link_keys.QUERY_SPLIT_SCORE,
        tables.dimensions,
        tables.dimensions[0],
    )
    return str(
        st.segmented_control(
            tr("Score in the chart"),
            list(tables.dimensions),
            format_func=DIMENSION_NAMES.__getitem__,
            required=True,
            **kept,
        )
    )


def show_published(tables: ScoreTables) -> None:
    """Show the paper's figures next to the set's own, on request."""
    if choose_published(tr("Published figures of the ReXecution paper beside these"), "scores"):
        linked_html(published_html(tables), key="scores_published_tables")
