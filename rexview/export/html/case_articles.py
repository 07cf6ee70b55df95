"""Make the texts next to the film in the HTML file: one article a case, and the minutes.

Everything written by people, models and files is escaped here. Each text is in its own element with
``dir="auto"``, which confines changes of the writing direction to it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt

from rexview.export.export_records import (
    ExportAnswer,
    ExportCase,
    ExportComment,
    ExportContent,
    ExportDecision,
    ExportFlag,
    ExportMark,
    ExportScore,
)
from rexview.export.sheets.case_wording import clock_time, vote_words
from rexview.stats import STATUSES, format_final_score
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS, date_text, english_count, option_with_letter

MINUTES: Final = "minutes"
"""The id of the article of the minutes; those of the cases are ``case-1`` and so on."""
_LONGEST_MARKDOWN: Final = 60_000
"""Longer text is shown without formatting."""


def case_html(case: ExportCase, content: ExportContent) -> str:
    """Return the article of one case."""
    facts = " · ".join(_bdi(one) for one in (case.category, case.section) if one)
    parts = [
        f"<header><h2><span>{case.number} of {len(content.case_ids)}</span> {_bdi(case.id)}</h2>"
        f"<p class='quiet'>{facts}</p></header>",
        f'<p class="question" dir="auto">{html.escape(case.question)}</p>',
        _options(case, content),
        _request(case),
        _decisions(case.decisions, content),
        _vote(case, content),
        *(_answer(case, answer, content) for answer in case.answers),
        _report(case),
        _scores(case, content),
        _comments(case.comments, content),
    ]
    title = html.escape(case.id)
    return (
        f'<article id="case-{case.number}" data-number="{case.number}" data-case="{title}" '
        f'data-section="{html.escape(case.section)}" data-told="{html.escape(_list_words(case))}" '
        f'aria-label="Case {case.number}" hidden>{"".join(parts)}</article>\n'
    )


def minutes_html(content: ExportContent, cases: Iterable[str]) -> str:
    """Return the article of the minutes; ``cases`` are rows of :func:`minutes_row`."""
    minutes = content.minutes
    if minutes is None:
        return ""
    held = minutes.meeting.held
    facts = [date_text(held)] if held else []
    facts.append(
        f"{len(minutes.discussed)} of {english_count(len(minutes.items), 'case')} discussed"
    )
    facts.append(f"{clock_time(minutes.seconds)} min in all")
    facts.append(f"{english_count(len(minutes.open), 'decision')} left to do")
    names = ("", "Case", "Minutes", "Opinions", "Decisions")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<article id="{MINUTES}" aria-label="Minutes" hidden><header><h2>Minutes</h2>'
        f'<p class="quiet">{" · ".join(facts)}</p></header><div class="scroll" tabindex="0"><table '
        f'class="minutes"><thead><tr>{head}</tr></thead><tbody>{"".join(cases)}</tbody></table>'
        "</div></article>\n"
    )


def minutes_row(case: ExportCase, content: ExportContent) -> str:
    """Return the row of the minutes for one case: its decisions in the exported meeting."""
    minutes = content.minutes
    item = next((one for one in minutes.items if one.case == case.id), None) if minutes else None
    decided = [one for one in case.decisions if minutes and one.meeting == minutes.meeting.id]
    section = f'<small class="quiet"> {_bdi(case.section)}</small>' if case.section else ""
    opened = f'<a href="#case-{case.number}" data-open="{case.number}">{_bdi(case.id)}</a>'
    asked = f'<div class="asked" dir="auto">{html.escape(case.question)}</div>'
    told = "".join(_decision(one, content, with_meeting=False) for one in decided)
    if not told:
        left = "no decision" if item and item.was_discussed else "not discussed"
        told = f'<span class="quiet">{left}</span>'
    return (
        f"<tr><td>{case.number}</td><td>{opened}{section}{asked}</td>"
        f"<td>{clock_time(case.seconds) or '–'}</td><td>{_vote_words(case, content) or '–'}</td>"
        f"<td>{told}</td></tr>"
    )


@cache
def _markdown() -> MarkdownIt:
    """Return a Markdown parser that makes no link, picture or tag from a model's text."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False})
    parser.enable(["table", "strikethrough"])
    parser.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])
    return parser


def _markdown_html(text: str) -> str:
    """Return a model's Markdown as HTML, in its own element."""
    if len(text) > _LONGEST_MARKDOWN:
        return _plain(text)
    return f'<div class="text" dir="auto">{_markdown().render(text)}</div>'


def _plain(text: str) -> str:
    return f'<p class="plain" dir="auto">{html.escape(text)}</p>'


def _bdi(text: str) -> str:
    return f"<bdi>{html.escape(text)}</bdi>"


def _person(reader: str, content: ExportContent) -> str:
    return _bdi(content.readers.get(reader, reader))


def _list_words(case: ExportCase) -> str:
    """Return a case's line in the list: its failures that nobody rejected, without hints."""
    names = (flag.name for flag in case.flags if flag.verdict != "rejected" and not flag.hint)
    return ", ".join(dict.fromkeys(names))


def _section(title: str, body: str, attributes: str = "") -> str:
    return f"<section{attributes}><h3>{title}</h3>{body}</section>" if body else ""


def _options(case: ExportCase, content: ExportContent) -> str:
    if not case.options:
        return ""
    rows = []
    for number, option in enumerate(case.options):
        chose = [one.model for one in case.answers if one.choice == number]
        who = " ".join(_model_name(model, content) for model in chose)
        right = ' class="right"' if number == case.correct else ""
        mark = " <b>right</b>" if right else ""
        rows.append(
            f"<li{right}><bdi>{html.escape(option_with_letter(option, number))}</bdi>{mark} "
            f"{who}</li>"
        )
    return f'<ol class="options">{"".join(rows)}</ol>' + (
        _section("Why", _plain(case.explanation)) if case.explanation else ""
    )


def _request(case: ExportCase) -> str:
    context = case.context
    age = context.age
    if age and age.isdecimal():
        age = f"{int(age)} years"
    who = ", ".join(part for part in (age, context.sex) if part)
    asked = (("", who), ("Indication: ", context.indication), ("Comparison: ", context.comparison))
    told = " ".join(f"<span><b>{name}</b>{_bdi(text)}</span>" for name, text in asked if text)
    return f'<p class="request">{told}</p>' if told else ""


def _decisions(decisions: Sequence[ExportDecision], content: ExportContent) -> str:
    return _section("Decisions", "".join(_decision(one, content) for one in decisions))


def _decision(one: ExportDecision, content: ExportContent, *, with_meeting: bool = True) -> str:
    about = f"{_model_name(one.model, content)}: " if one.model else ""
    words = [one.decision_name or "No decision", one.failure_name]
    words += [f"harm {one.severity}" if one.severity is not None else "", one.owner or ""]
    words += [f"until {date_text(one.due)}" if one.due else "", "done" if one.done else ""]
    words += ["of an earlier answer" if one.stale else ""]
    first, *others = (_bdi(word) for word in words if word)
    rest = "".join(f" · {word}" for word in others)
    held = f", {date_text(one.held)}" if one.held else ""
    meeting = f"{_bdi(one.meeting_name)}{held}, " if with_meeting else ""
    where = f'<p class="quiet">{meeting}{_person(one.reader, content)}</p>'
    note = _plain(one.comment) if one.comment else ""
    return f'<div class="decision">{about}<b>{first}</b>{rest}{where}{note}</div>'


def _vote(case: ExportCase, content: ExportContent) -> str:
    if case.vote is None:
        return ""
    return _section("Opinions before the models were named", f"<p>{_vote_words(case, content)}</p>")


def _vote_words(case: ExportCase, content: ExportContent) -> str:
    if case.vote is None:
        return ""
    right, harm = vote_words(content, case.vote)
    parts = [english_count(case.vote.count, "vote"), f"right: {right}", f"harm: {harm}"]
    return _bdi("; ".join(parts))


def colours_css(content: ExportContent) -> str:
    """Return the CSS of the models in an export: ``--c`` is a model's colour."""
    rules = (f".m{place} {{ --c: {one.colour}; }}" for place, one in enumerate(content.models))
    return "\n".join(rules)


def _colour_class(model_id: str, content: ExportContent) -> str:
    return f"m{[one.id for one in content.models].index(model_id)}"


def _model_name(model_id: str, content: ExportContent) -> str:
    name = _bdi(content.model(model_id).name)
    return f'<span class="by {_colour_class(model_id, content)}">{name}</span>'


def _answer(case: ExportCase, answer: ExportAnswer, content: ExportContent) -> str:
    flags = [flag for flag in case.flags if flag.model == answer.model]
    marks = [mark for mark in case.marks if mark.model == answer.model]
    text = _markdown_html(answer.text) if answer.text.strip() else ""
    status = STATUSES.get(answer.status, answer.status)
    ended = "" if answer.status == "answered" else f'<p class="ended">{html.escape(status)}</p>'
    why = _plain(answer.explanation) if answer.explanation else ""
    empty = "" if text or ended else '<p class="quiet">The model returned no text.</p>'
    return (
        f'<section class="answer {_colour_class(answer.model, content)}">'
        f"<h3>{_model_name(answer.model, content)}{_answer_content(answer)}</h3>{_finals(answer)}"
        f"{_flags(flags, content)}{_marks(marks, content)}{_quiet_html(answer.not_read)}"
        f"{text}{empty}{ended}{why}</section>"
    )


def _answer_content(answer: ExportAnswer) -> str:
    if "content" not in answer.final:
        return '<small class="quiet">not scored</small>' if not answer.final else ""
    return f'<small class="content">{format_final_score(answer.final["content"])} of 5</small>'


def _finals(answer: ExportAnswer) -> str:
    cells = [
        f"<span>{name} <b>{format_final_score(answer.final[key])}</b></span>"
        for key, name in DIMENSION_NAMES.items()
        if key in answer.final and key != "content"
    ]
    by = f'<span class="quiet">{english_count(answer.n_readers, "reader")}</span>' if cells else ""
    return f'<p class="finals">{"".join(cells)}{by}</p>' if cells else ""


def _flags(flags: Sequence[ExportFlag], content: ExportContent) -> str:
    rows = []
    for flag in flags:
        who = _person(flag.reader, content) if flag.reader else ""
        facts = [who, html.escape(flag.verdict or "")]
        facts += [f"harm {flag.severity}" if flag.severity is not None else ""]
        told = ", ".join(fact for fact in facts if fact)
        css = "rejected" if flag.verdict == "rejected" else "hint" if flag.hint else "flag"
        small = f" <small>({told})</small>" if told else ""
        rows.append(
            f'<li class="{css}"><b>{html.escape(flag.title)}</b>{small} '
            f'<span dir="auto">{html.escape(flag.message)}</span></li>'
        )
    return f'<ul class="flags">{"".join(rows)}</ul>' if rows else ""


def _marks(marks: Sequence[ExportMark], content: ExportContent) -> str:
    """Return the list of failures in words that readers marked."""
    rows = [
        f'<li class="flag"><b dir="auto">{html.escape(mark.name)}</b> '
        f"<small>(in own words, {_person(mark.reader, content)})</small> "
        f'<span dir="auto">{html.escape(mark.comment or "")}</span></li>'
        for mark in marks
    ]
    return f'<ul class="flags">{"".join(rows)}</ul>' if rows else ""


def _report(case: ExportCase) -> str:
    sections = (("Findings", case.report.findings), ("Impression", case.report.impression))
    body = "".join(f"<h4>{name}</h4>{_plain(text)}" for name, text in sections if text)
    told = _quiet_html(case.report_not_read)
    return _section("Radiologist’s report", told + body, ' class="report"')


def _quiet_html(told: str) -> str:
    return f'<p class="quiet">{html.escape(told)}</p>' if told else ""


def _scores(case: ExportCase, content: ExportContent) -> str:
    tables = []
    for answer in case.answers:
        given = [score for score in case.scores if score.model == answer.model]
        if given:
            tables.append(_score_table(answer.model, given, content))
    return _section("Readers’ scores", "".join(tables))


def _score_table(model: str, scores: Sequence[ExportScore], content: ExportContent) -> str:
    shown = [name for name in DIMENSIONS if any(one.dimension == name for one in scores)]
    head = "".join(f'<th scope="col">{DIMENSION_NAMES[name]}</th>' for name in shown)
    rows, said = [], []
    for reader in dict.fromkeys(one.reader for one in scores):
        who, cells = _person(reader, content), []
        for name in shown:
            given = [one for one in scores if (one.reader, one.dimension) == (reader, name)]
            cells.append(f"<td>{', '.join(str(one.score) for one in given) or '–'}</td>")
            said += [
                f"<li><b>{who}, {DIMENSION_NAMES[name]}:</b> {_bdi(one.comment)}</li>"
                for one in given
                if one.comment
            ]
        rows.append(f'<tr><th scope="row">{who}</th>{"".join(cells)}</tr>')
    comments = f'<ul class="said">{"".join(said)}</ul>' if said else ""
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{_model_name(model, content)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{comments}"
    )


def _comments(comments: Sequence[ExportComment], content: ExportContent) -> str:
    rows = []
    for one in comments:
        about = f"{_model_name(one.model, content)} " if one.model else ""
        at = f", {date_text(one.at)}" if one.at else ""
        settled = ", settled" if one.resolved else ""
        on = f" on {_bdi(one.on)}" if one.on else ""
        css = ' class="reply"' if one.reply_to else ""
        rows.append(
            f"<li{css}>{about}<b>{_person(one.person, content)}</b>"
            f'<small class="quiet">{on}{at}{settled}</small>{_plain(one.text)}</li>'
        )
    body = f'<ul class="comments">{"".join(rows)}</ul>' if rows else ""
    return _section("Comments", body)
