"""What a judge says of one answer, and tables of what it counts, as HTML.

Everything that a judge wrote, its name too, is escaped here. Its opinions stand in a card of their
own, and beside each kind of them how far it agrees with the readers.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from itertools import groupby

from rexview.analysis.case.judge_opinions import AnswerOpinion, CaseOpinions, SaidFailure, SaidScore
from rexview.analysis.judges import (
    OPINION,
    JudgedFailure,
    JudgedScore,
    JudgeTables,
    failure_words,
    failures_caption,
    score_words,
    scores_caption,
)
from rexview.analysis.ranking import in_each_group, ranked
from rexview.stats.failure_rates import Rate
from rexview.stats.judges import FailureAgreement, ScoreAgreement
from rexview.ui.answers.html import Added
from rexview.ui.judge.said import card_html, item_html, mark_of, reason_html
from rexview.ui.tables.number_table import (
    NOTHING,
    Reasons,
    cells,
    group_rows,
    linked_number,
    model_head,
    table_html,
)
from rexview.ui.tables.ranked import ranked_tools
from rexview.vocab import DIMENSION_NAMES, FAILURES
from rexview.words import counted, tr, trn


def added_by_judge(opinions: CaseOpinions, models: Sequence[str]) -> dict[str, Added]:
    """Return what a judge adds to the answers of a case: its card, and its quotes in the text."""
    return {model: _added(opinions, model) for model in models}


def _added(opinions: CaseOpinions, model: str) -> Added:
    one = opinions.of(model)
    seen = (said for said in one.failures if said.present)
    marks = [mark for said in seen for mark in mark_of(said, _key(model, said))]
    return Added(marks, below=_card_html(opinions, model, one))


def _key(model: str, said: SaidFailure) -> str:
    return f"j{hashlib.sha256(f'{model}/{said.failure}'.encode()).hexdigest()[:12]}"


def _card_html(opinions: CaseOpinions, model: str, one: AnswerOpinion) -> str:
    name = html.escape(opinions.judge.name)
    parts = []
    if one.failures:
        items = "".join(_failure_html(opinions, model, said) for said in one.failures)
        parts.append(f"<ul>{items}</ul>")
    if one.scores:
        items = "".join(_score_html(opinions, said) for said in one.scores)
        parts.append(f"<ul>{items}</ul>")
    if not parts:
        parts.append(f'<p class="rx-quiet">{tr("No opinion on this answer.")}</p>')
    if one.stale:
        stale = trn(
            "{n:,} opinion on an earlier text of this answer: not shown, and counted nowhere.",
            "{n:,} opinions on an earlier text of this answer: not shown, and counted nowhere.",
            one.stale,
        ).format(n=one.stale)
        parts.append(f'<p class="rx-quiet">{stale}</p>')
    title = tr("Judge: {name}").format(name=name)
    return card_html(title, title, html.escape(OPINION), "".join(parts))


def _failure_html(opinions: CaseOpinions, model: str, said: SaidFailure) -> str:
    name = html.escape(FAILURES[said.failure].name)
    agrees = html.escape(failure_words(opinions.agreement.failures.get(said.failure)))
    key = _key(model, said) if said.present and said.is_located else None
    word = "yes" if said.present else "no"
    head = f"<b>{name}: {word}</b> <small>{agrees}</small>"
    return item_html(head, said, seen=said.present, key=key)


def _score_html(opinions: CaseOpinions, said: SaidScore) -> str:
    agrees = html.escape(score_words(opinions.agreement.scores.get(said.dimension)))
    head = f"<p><b>{DIMENSION_NAMES[said.dimension]}: {said.score}</b> <small>{agrees}</small></p>"
    return f"<li>{head}{reason_html(said.reason)}</li>"


def failures_html(tables: JudgeTables, colours: dict[str, str], title: str) -> str:
    """Lay out in how many answers the judge sees each failure, beside how far it agrees."""
    heads = [
        "",
        tr("Model"),
        tr("Judge sees it in"),
        tr("95% CI"),
        tr("Kappa with readers"),
        tr("Precision"),
        tr("Recall"),
    ]
    of_models = in_each_group(tables.models)
    heads = heads[1:] if of_models.is_cut else heads
    reasons = Reasons()
    body: list[str] = []
    for failure, group in groupby(tables.failures, key=lambda row: row.failure):
        name = FAILURES[failure].plural
        agreement = tables.failure_agreement(failure)
        ranking = ranked(group, lambda row: row.rate.share)

        def line(row: JudgedFailure, name: str = name) -> tuple[str, str]:
            model = tables.models[row.model]
            head = model_head(model, colours.get(row.model, ""))
            return model, head + _seen_cells(row, f"{name}, {model}", reasons)

        more = _failure_cells(agreement, name, reasons)
        body += group_rows(html.escape(name), ranking, line, 3, more, apart=of_models.is_cut)
    caption = failures_caption(tables.agreement)
    tools = ranked_tools(of_models, tr("share, the highest first"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _seen_cells(row: JudgedFailure, where: str, reasons: Reasons) -> str:
    if row.rate.share is None:
        dash = reasons.add(tr("The judge spoke of none of these answers."), where)
        return f"<td>{dash}</td><td>{NOTHING}</td>"
    spoken = linked_number(row.spoken, f"{row.rate.n:,}")
    seen = linked_number(row.present, f"<b>{row.present.value:,}</b>")
    return (
        f"<td>{seen}<small>"
        f"{tr('of {spoken}, {share:.0%}').format(spoken=spoken, share=row.rate.share)}</small>"
        f"</td><td>{_percent_limits(row.rate, where, reasons)}</td>"
    )


def _percent_limits(rate: Rate, where: str, reasons: Reasons) -> str:
    low, high = rate.interval.low, rate.interval.high
    if low is None or high is None:
        return reasons.add(rate.interval.why or tr("Undefined."), where)
    return tr("{low:.0%} to {high:.0%}").format(low=low, high=high)


def _failure_cells(found: FailureAgreement | None, name: str, reasons: Reasons) -> list[str]:
    """Write kappa, precision and recall, each with its interval and n."""
    if found is None:
        return [html.escape(failure_words(None)), NOTHING, NOTHING]
    kappa = _kappa_cell(found.kappa, found, name, reasons)
    return [
        (
            f"{kappa}<small>"
            f"{tr('{n:,} of {opinions:,} answers').format(n=found.n, opinions=found.opinions)}"
            "</small>"
        ),
        _share_cell(found.precision, tr("{name}, precision").format(name=name), reasons),
        _share_cell(found.recall, tr("{name}, recall").format(name=name), reasons),
    ]


def _kappa_cell(value: float | None, found: FailureAgreement, where: str, reasons: Reasons) -> str:
    if value is None:
        return reasons.add(found.why or tr("Undefined."), tr("{where}, kappa").format(where=where))
    return f"<b>{value:.2f}</b> {reasons.interval(found.interval, f'{where}, kappa')}"


def _share_cell(rate: Rate, where: str, reasons: Reasons) -> str:
    if rate.share is None:
        return reasons.add(rate.interval.why or tr("Undefined."), where)
    limits = _percent_limits(rate, where, reasons)
    return (
        f"<b>{rate.share:.0%}</b> {limits}<small>"
        f"{tr('{flagged:,} of {n:,}').format(flagged=rate.flagged, n=rate.n)}</small>"
    )


def scores_html(tables: JudgeTables, colours: dict[str, str], title: str) -> str:
    """Lay out the judge's mean beside the readers', by dimension and model, with agreement."""
    heads = [
        "",
        tr("Model"),
        tr("Judge, mean"),
        tr("Readers, mean"),
        tr("Weighted kappa with readers"),
    ]
    of_models = in_each_group(tables.models)
    heads = heads[1:] if of_models.is_cut else heads
    reasons = Reasons()
    body: list[str] = []
    for dimension, group in groupby(tables.scores, key=lambda row: row.dimension):
        name = DIMENSION_NAMES[dimension]
        agreement = tables.score_agreement(dimension)
        ranking = ranked(group, lambda row: row.mean)

        def line(row: JudgedScore) -> tuple[str, str]:
            model = tables.models[row.model]
            return model, model_head(model, colours.get(row.model, "")) + _mean_cells(row)

        kappa = NOTHING if agreement is None else _weighted_cell(agreement, name, reasons)
        body += group_rows(html.escape(name), ranking, line, 3, [kappa], apart=of_models.is_cut)
    caption = scores_caption(tables.agreement)
    tools = ranked_tools(of_models, tr("the judge’s mean, the highest first"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _mean_cells(row: JudgedScore) -> str:
    return "".join(
        f"<td>{linked_number(count, f'<b>{mean:.2f}</b>')}<small>n {count.value:,}</small></td>"
        if mean is not None
        else f"<td>{NOTHING}</td>"
        for mean, count in ((row.mean, row.scored), (row.readers_mean, row.by_readers))
    )


def _weighted_cell(found: ScoreAgreement, name: str, reasons: Reasons) -> str:
    n = f"<small>{counted(found.n, 'answer')}</small>"
    where = tr("{name}, kappa").format(name=name)
    if found.qwk is None:
        return reasons.add(found.why or tr("Undefined."), where) + n
    return f"<b>{found.qwk:.2f}</b> {reasons.interval(found.qwk_interval, where)}{n}"


def agreement_html(tables: JudgeTables, title: str) -> str:
    """Lay out how far the judge agrees with the readers' scores: a row a dimension."""
    heads = [
        tr("Dimension"),
        "n",
        tr("Weighted kappa"),
        tr("95% CI"),
        "MAD",
        tr("95% CI"),
        tr("Same score"),
    ]
    heads += [tr("Judge, mean"), tr("Readers, mean"), tr("Readers among themselves")]
    reasons = Reasons()
    body = [
        _agreement_row(found, DIMENSION_NAMES[dimension], reasons)
        for dimension, found in tables.agreement.scores.items()
    ]
    caption = scores_caption(tables.agreement, more=True)
    return table_html(title, heads, body, caption) + reasons.html()


def _agreement_row(found: ScoreAgreement, name: str, reasons: Reasons) -> str:
    why = found.why
    own = NOTHING
    if found.readers_qwk is not None:
        own = f"{found.readers_qwk:.2f}<small>n {found.readers_n:,}</small>"
    return cells(
        html.escape(name),
        f"{found.n:,}<small>{tr('of {opinions:,}').format(opinions=found.opinions)}</small>",
        f"<b>{reasons.number(found.qwk, why, f'{name}, kappa')}</b>",
        reasons.interval(found.qwk_interval, tr("{name}, kappa").format(name=name)),
        reasons.number(found.mad, why, tr("{name}, MAD").format(name=name)),
        reasons.interval(found.mad_interval, tr("{name}, MAD").format(name=name)),
        reasons.number(found.exact, why, tr("{name}, same score").format(name=name), ".0%"),
        reasons.number(found.judge_mean, why, tr("{name}, mean").format(name=name)),
        reasons.number(found.readers_mean, why, tr("{name}, mean").format(name=name)),
        own,
    )
