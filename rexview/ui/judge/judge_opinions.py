"""Opinions of a judge, a model that gives a second opinion: hidden unless the link names it.

Everything from models is escaped.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter, Engine, SetFacts, assign_model_colours
from rexview.analysis.case.judge_opinions import (
    AnswerOpinion,
    CaseOpinions,
    CaseWrittenOpinions,
    FailureOpinion,
    QuotedReason,
    ScoreOpinion,
    WrittenOpinion,
)
from rexview.analysis.download_files import TableFile
from rexview.analysis.judges import (
    OPINION_NOTE,
    JudgedFailure,
    JudgedScore,
    JudgeTables,
    describe_failure_agreement,
    describe_score_agreement,
    failures_caption,
    judge_filter_captions,
    scores_caption,
)
from rexview.analysis.query.filter.judge_conditions import format_judge
from rexview.analysis.ranking import rank_for_display, rank_in_each_group
from rexview.stats.failure_rates import Rate
from rexview.stats.judge_agreement import FailureAgreement, Judge, ScoreAgreement
from rexview.ui.answers.answer_card import AnswerAdditions
from rexview.ui.safe_text import MarkedSpan, as_markdown
from rexview.ui.tables.data_table import show_table
from rexview.ui.tables.number_table import (
    NOTHING,
    MissingReasons,
    cells_html,
    group_rows,
    linked_number,
    model_head,
    table_html,
)
from rexview.ui.tables.ranked import ranked_tools
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link
from rexview.ui.web.server import query_cache
from rexview.vocab import DIMENSION_NAMES, FAILURES
from rexview.words import counted, tr, trn

# A model's opinion on one answer, as HTML: its card, and the quoted words marked in the text.
#
# What a model wrote is escaped here; names and heads are passed as HTML.

_LONGEST: Final = 2_000
"""Most characters shown of a reason or a quote."""


def card_html(label: str, title: str, about: str, body: str) -> str:
    """Return a card as HTML; ``label`` is its accessible name."""
    return (
        f'<section class="rx-judge" aria-label="{label}">'
        f"<h4>{title} <small>{about}</small></h4>{body}</section>"
    )


def item_html(head: str, said: QuotedReason, *, seen: bool, key: str | None) -> str:
    """Return the opinion on one failure: ``seen`` or not, with the quote and the reason.

    The words are marked in the text by ``key`` (:func:`quote_marks`), or not at all if it is None.
    """
    flag = show = ""
    if key is not None:
        flag = f' data-rx-flag="{key}"'
        show = (
            ' <button type="button" class="rx-show" aria-pressed="false" title="'
            f'{tr("Highlight the quoted words until pressed again (Esc)")}">{tr("Show")}</button>'
        )
    word = "yes" if seen else "no"
    said_of_it = f"{_quote_html(said)}{reason_html(said.reason)}"
    return f'<li{flag}><p class="rx-judge-{word}">{head}{show}</p>{said_of_it}</li>'


def quote_marks(said: QuotedReason, key: str) -> list[MarkedSpan]:
    """Return the mark of the quoted words in the answer's text; empty if they are not in it."""
    if said.start is None or said.end is None:
        return []
    return [MarkedSpan(said.start, said.end, "rx-evidence rx-judged", {"rx-evidence": key})]


def reason_html(reason: str) -> str:
    """Return a reason as HTML; empty if none is given."""
    return f"<p>{html.escape(_cut(reason))}</p>" if reason else ""


def _quote_html(said: QuotedReason) -> str:
    if not said.quote:
        return ""
    lost = f" <small>{tr('These words are not in the answer.')}</small>" if said.is_lost else ""
    return f"<p>“{html.escape(_cut(said.quote))}”{lost}</p>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def judge_additions(opinions: CaseOpinions, models: Sequence[str]) -> dict[str, AnswerAdditions]:
    """Return a judge's additions to the answers of a case: its card, and its quotes in the text."""
    return {model: _added(opinions, model) for model in models}


def _added(opinions: CaseOpinions, model: str) -> AnswerAdditions:
    one = opinions.of(model)
    seen = (said for said in one.failures if said.present)
    marks = [mark for said in seen for mark in quote_marks(said, _key(model, said))]
    return AnswerAdditions(marks, below=_card_html(opinions, model, one))


def _key(model: str, said: FailureOpinion) -> str:
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
            "{n:,} opinion on an earlier text of this answer: not shown, and not counted.",
            "{n:,} opinions on an earlier text of this answer: not shown, and not counted.",
            one.stale,
        ).format(n=one.stale)
        parts.append(f'<p class="rx-quiet">{stale}</p>')
    title = tr("Judge: {name}").format(name=name)
    return card_html(title, title, html.escape(OPINION_NOTE), "".join(parts))


def _failure_html(opinions: CaseOpinions, model: str, said: FailureOpinion) -> str:
    name = html.escape(FAILURES[said.failure].name)
    agrees = html.escape(describe_failure_agreement(opinions.agreement.failures.get(said.failure)))
    key = _key(model, said) if said.present and said.is_located else None
    word = "yes" if said.present else "no"
    head = f"<b>{name}: {word}</b> <small>{agrees}</small>"
    return item_html(head, said, seen=said.present, key=key)


def _score_html(opinions: CaseOpinions, said: ScoreOpinion) -> str:
    agrees = html.escape(describe_score_agreement(opinions.agreement.scores.get(said.dimension)))
    head = f"<p><b>{DIMENSION_NAMES[said.dimension]}: {said.score}</b> <small>{agrees}</small></p>"
    return f"<li>{head}{reason_html(said.reason)}</li>"


def failures_html(tables: JudgeTables, colours: dict[str, str], title: str) -> str:
    """Return in how many answers the judge sees each failure, next to its agreement."""
    heads = [
        "",
        tr("Model"),
        tr("Judge sees it in"),
        tr("95% CI"),
        tr("Kappa with readers"),
        tr("Precision"),
        tr("Recall"),
    ]
    of_models = rank_in_each_group(tables.models)
    heads = heads[1:] if of_models.is_cut else heads
    reasons = MissingReasons()
    body: list[str] = []
    for failure, group in groupby(tables.failures, key=lambda row: row.failure):
        name = FAILURES[failure].plural
        agreement = tables.failure_agreement(failure)
        ranking = rank_for_display(group, lambda row: row.rate.share)

        def line(row: JudgedFailure, name: str = name) -> tuple[str, str]:
            model = tables.models[row.model]
            head = model_head(model, colours.get(row.model, ""))
            return model, head + _seen_cells(row, f"{name}, {model}", reasons)

        more = _failure_cells(agreement, name, reasons)
        body += group_rows(html.escape(name), ranking, line, 3, more, apart=of_models.is_cut)
    caption = failures_caption(tables.agreement)
    tools = ranked_tools(of_models, tr("share, highest first"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _seen_cells(row: JudgedFailure, where: str, reasons: MissingReasons) -> str:
    if row.rate.share is None:
        dash = reasons.add(tr("The judge has no opinion on any of these answers."), where)
        return f"<td>{dash}</td><td>{NOTHING}</td>"
    spoken = linked_number(row.spoken, f"{row.rate.n:,}")
    seen = linked_number(row.present, f"<b>{row.present.value:,}</b>")
    return (
        f"<td>{seen}<small>"
        f"{tr('of {spoken}, {share:.0%}').format(spoken=spoken, share=row.rate.share)}</small>"
        f"</td><td>{_percent_limits(row.rate, where, reasons)}</td>"
    )


def _percent_limits(rate: Rate, where: str, reasons: MissingReasons) -> str:
    low, high = rate.interval.low, rate.interval.high
    if low is None or high is None:
        return reasons.add(rate.interval.why or tr("Undefined."), where)
    return tr("{low:.0%} to {high:.0%}").format(low=low, high=high)


def _failure_cells(found: FailureAgreement | None, name: str, reasons: MissingReasons) -> list[str]:
    """Return kappa, precision and recall, each with its interval and n."""
    if found is None:
        return [html.escape(describe_failure_agreement(None)), NOTHING, NOTHING]
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


def _kappa_cell(
    value: float | None, found: FailureAgreement, where: str, reasons: MissingReasons
) -> str:
    if value is None:
        return reasons.add(found.why or tr("Undefined."), tr("{where}, kappa").format(where=where))
    return f"<b>{value:.2f}</b> {reasons.interval(found.interval, f'{where}, kappa')}"


def _share_cell(rate: Rate, where: str, reasons: MissingReasons) -> str:
    if rate.share is None:
        return reasons.add(rate.interval.why or tr("Undefined."), where)
    limits = _percent_limits(rate, where, reasons)
    return (
        f"<b>{rate.share:.0%}</b> {limits}<small>"
        f"{tr('{flagged:,} of {n:,}').format(flagged=rate.flagged, n=rate.n)}</small>"
    )


def scores_html(tables: JudgeTables, colours: dict[str, str], title: str) -> str:
    """Return the judge's mean next to the readers', by dimension and model, with agreement."""
    heads = [
        "",
        tr("Model"),
        tr("Judge, mean"),
        tr("Readers, mean"),
        tr("Weighted kappa with readers"),
    ]
    of_models = rank_in_each_group(tables.models)
    heads = heads[1:] if of_models.is_cut else heads
    reasons = MissingReasons()
    body: list[str] = []
    for dimension, group in groupby(tables.scores, key=lambda row: row.dimension):
        name = DIMENSION_NAMES[dimension]
        agreement = tables.score_agreement(dimension)
        ranking = rank_for_display(group, lambda row: row.mean)

        def line(row: JudgedScore) -> tuple[str, str]:
            model = tables.models[row.model]
            return model, model_head(model, colours.get(row.model, "")) + _mean_cells(row)

        kappa = NOTHING if agreement is None else _weighted_cell(agreement, name, reasons)
        body += group_rows(html.escape(name), ranking, line, 3, [kappa], apart=of_models.is_cut)
    caption = scores_caption(tables.agreement)
    tools = ranked_tools(of_models, tr("the judge’s mean, highest first"))
    return table_html(title, heads, body, caption, tools) + reasons.html()


def _mean_cells(row: JudgedScore) -> str:
    return "".join(
        f"<td>{linked_number(count, f'<b>{mean:.2f}</b>')}<small>n {count.value:,}</small></td>"
        if mean is not None
        else f"<td>{NOTHING}</td>"
        for mean, count in ((row.mean, row.scored), (row.readers_mean, row.by_readers))
    )


def _weighted_cell(found: ScoreAgreement, name: str, reasons: MissingReasons) -> str:
    n = f"<small>{counted(found.n, 'answer')}</small>"
    where = tr("{name}, kappa").format(name=name)
    if found.qwk is None:
        return reasons.add(found.why or tr("Undefined."), where) + n
    return f"<b>{found.qwk:.2f}</b> {reasons.interval(found.qwk_interval, where)}{n}"


def agreement_html(tables: JudgeTables, title: str) -> str:
    """Return the judge's agreement with the readers' scores: a row a dimension."""
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
    reasons = MissingReasons()
    body = [
        _agreement_row(found, DIMENSION_NAMES[dimension], reasons)
        for dimension, found in tables.agreement.scores.items()
    ]
    caption = scores_caption(tables.agreement, more=True)
    return table_html(title, heads, body, caption) + reasons.html()


def _agreement_row(found: ScoreAgreement, name: str, reasons: MissingReasons) -> str:
    why = found.why
    own = NOTHING
    if found.readers_qwk is not None:
        own = f"{found.readers_qwk:.2f}<small>n {found.readers_n:,}</small>"
    return cells_html(
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


# What pages show of a judge, once it is chosen or the filter asks for its opinion.

_TABLE: Final = "judge-failures"
"""The target on the page of the link to the table of failures."""


def show_filter_agreement(engine: Engine, case_filter: CaseFilter) -> None:
    """Show the agreement with readers of the filter's judges; nothing if there are none."""
    for caption in judge_filter_captions(engine, case_filter):
        st.caption(as_markdown(caption))


def show_failures_link(judge: Judge) -> None:
    """Show a link to the table of a judge's failures, further down on the page."""
    words = tr("To the failures that {name} sees, below Table 4")
    st.markdown(f"[{as_markdown(words.format(name=judge.name))}](#{_TABLE})")


def show_failures(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show which failures a judge sees; nothing without a judge, or without its opinions."""
    # imported here: it needs pandas, and the Case page needs this module without it
    from rexview.analysis.download_frames import JUDGE_SHARES, judge_failure_frame

    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.failures:
        return
    title = tr("Judge {name}: failures that it sees").format(name=judge.name)
    st.html(f'<span id="{_TABLE}" class="rx-anchor"></span>')
    drawn = failures_html(tables, dict(assign_model_colours(engine.facts.models)), title)
    caption = failures_caption(tables.agreement)
    show_table(
        drawn,
        TableFile(title, partial(judge_failure_frame, tables), caption, JUDGE_SHARES),
        key="judge_failures",
    )


def show_scores(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show a judge's mean scores next to the readers'."""
    from rexview.analysis.download_frames import JUDGE_SHARES, judge_score_frame

    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.scores:
        return
    title = tr("Judge {name}: its scores beside the readers’").format(name=judge.name)
    drawn = scores_html(tables, dict(assign_model_colours(engine.facts.models)), title)
    caption = scores_caption(tables.agreement)
    show_table(
        drawn,
        TableFile(title, partial(judge_score_frame, tables), caption, JUDGE_SHARES),
        key="judge_scores",
    )


def show_agreement(engine: Engine, case_filter: CaseFilter, judge: Judge | None) -> None:
    """Show a judge's agreement with the readers' scores, separate from readers."""
    from rexview.analysis.download_frames import JUDGE_SHARES, judge_agreement_frame

    if judge is None:
        return
    tables = query_cache.judged(engine, case_filter, judge)
    if not tables.agreement.scores:
        return
    title = tr("Judge {name} and the readers’ final scores").format(name=judge.name)
    caption = scores_caption(tables.agreement, more=True)
    drawn = agreement_html(tables, title)
    show_table(
        drawn,
        TableFile(title, partial(judge_agreement_frame, tables), caption, JUDGE_SHARES),
        key="judge_agreement",
    )


# The judge that is shown: none, unless the link names one. It is stored nowhere else.

_OFF = ""
_HELP = tr(
    "A language model’s second opinion on answers. It counts in no other "
    "number, and readers who score without seeing models never see it."
)


def find_judge(facts: SetFacts, word: str | None) -> Judge | None:
    """Return the judge named in a link; None for none, and for an unknown one."""
    return next((judge for judge in facts.judges if word and format_judge(judge) == word), None)


def choose_judge(facts: SetFacts) -> Judge | None:
    """Show a choice of the set's judges, newest first; return None if none is shown.

    A set without opinions shows nothing.
    """
    if not facts.judges:
        return None
    by_word = {format_judge(judge): judge for judge in facts.judges}
    chosen = st.selectbox(
        tr("Judge"),
        [_OFF, *by_word],
        format_func=lambda word: by_word[word].name if word else tr("Not shown"),
        help=_HELP,
        width=320,
        **bind_option_to_link("judge_shown", link_keys.QUERY_JUDGE, [_OFF, *by_word], _OFF),
    )
    return by_word.get(chosen or _OFF)


# A language model's findings of written failures, as HTML of the Case page.
#
# Everything that people and models wrote is escaped here.

REPLY_WORDS: Final = {
    "yes": tr("found"),
    "no": tr("not found"),
    "unsure": tr("unsure"),
    "unread": tr("not readable"),
}
FOUND_BY: Final = tr("found by a language model, counted with no other failure")


def written_failure_additions(
    every: Sequence[CaseWrittenOpinions], models: Sequence[str]
) -> dict[str, AnswerAdditions]:
    """Return the additions to the answers of a case: cards, and the quotes in the texts."""
    return {model: _case_card_added(every, model) for model in models}


def _case_card_added(every: Sequence[CaseWrittenOpinions], model: str) -> AnswerAdditions:
    marks, cards = [], []
    for one in every:
        said = one.by_model.get(model)
        if said is not None:
            marks += quote_marks(said, _case_card_key(one, model))
        cards.append(_card(one, model, said))
    return AnswerAdditions(marks, below="".join(cards))


def _case_card_key(one: CaseWrittenOpinions, model: str) -> str:
    text = f"{model}/{one.failure}/{one.version}/{one.judge}"
    return f"w{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _card(one: CaseWrittenOpinions, model: str, said: WrittenOpinion | None) -> str:
    title, judge = html.escape(one.title), html.escape(one.judge)
    words = f"{html.escape(FOUND_BY)} · {judge}"
    if said is None:
        asked = tr("It was not asked about this answer.")
        item = f'<p class="rx-judge-no"><b>{title}: {tr("not asked")}</b></p>'
        item = f'<li>{item}<p class="rx-quiet">{asked}</p></li>'
    else:
        key = _case_card_key(one, model) if said.is_located else None
        head = f"<b>{title}: {REPLY_WORDS[said.said]}</b>"
        item = item_html(head, said, seen=said.said == "yes", key=key)
    label = tr("In your own words: {title}").format(title=title)
    return card_html(label, tr("In your own words"), words, f"<ul>{item}</ul>")
