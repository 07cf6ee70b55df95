"""Panels next to the radiograph, as HTML: question, answers, report, scores, flags.

Everything from models and files is escaped here or in :mod:`rexview.ui.safe_text`. Words that name
a finding have ``data-rx-finding``: pointing at them highlights the same finding wherever it is
named, and its boxes in the viewer.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.headline import MAX_SIDE_BY_SIDE, CaseHeadline, FailingModels
from rexview.analysis.query.engine import Position
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.written_failures import MarkedAnswer
from rexview.detect.self_contradiction import RepeatDifferences, find_repeat_differences, is_usable
from rexview.rubric import load_rubric
from rexview.schema import Answer, Case, Flag, ReaderFlag, Report, ReviewSet, Score
from rexview.stats import FinalScores, find_status, format_final_score, has_reached_limit
from rexview.text.findings import finding_info
from rexview.text.language import OTHER, detect_language
from rexview.ui.answers.choice_question import (
    OptionVote,
    choice_html,
    choice_spans,
    explanation_html,
    options_html,
)
from rexview.ui.answers.flags import (
    ANY_CASE,
    ANYBODY,
    VERDICT_WORDS,
    Visitor,
    evidence_spans,
    flags_html,
    in_app_note,
    link_spans,
    marks_html,
)
from rexview.ui.safe_text import MarkedSpan, inline_html, markdown_html, plain_html
from rexview.ui.tables.number_table import label_cells
from rexview.vocab import (
    CONTENT_PARTS,
    DIMENSION_NAMES,
    DIMENSIONS,
    FAILURES,
    FINISH_REASONS,
    option_letter,
)
from rexview.words import counted, join_words, tr, trn

# Notes on the text of one answer, as HTML: how it ended, counts, unsupported language.


def number_html(number: int, total: int) -> str:
    """Return the number of the answer, for a phone, where the others are out of sight."""
    if total < 2:
        return ""
    place = tr("{n:,} of {total:,}").format(n=number, total=total)
    return f'<small class="rx-nth rx-quiet">{place}</small>'


def ending_html(answer: Answer) -> str:
    """Return why an answer is incomplete; empty for a complete one."""
    if answer.error:
        said = tr("Error: {error}").format(error=html.escape(answer.error))
        return f'<p class="rx-cut">{said}</p>'
    if has_reached_limit(answer):
        return f'<p class="rx-cut">{_cut(answer)}</p>'
    if answer.finish_reason == "content_filter":
        return f'<p class="rx-cut">{tr("Blocked by a content filter")}</p>'
    return ""


def _cut(answer: Answer) -> str:
    is_there = (answer.text or "").strip()
    if answer.output_tokens is None or answer.max_output_tokens is None:
        if is_there:
            return tr("Cut here: token limit reached")
        return tr("No answer returned: token limit reached")
    said = (
        tr("Cut here: token limit reached ({n:,} of {most:,} tokens)")
        if is_there
        else tr("No answer returned: token limit reached ({n:,} of {most:,} tokens)")
    )
    return said.format(n=answer.output_tokens, most=answer.max_output_tokens)


def metric_text(value: float | None) -> str:
    """Format the value of a metric, or a dash for none."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def facts_html(answer: Answer) -> str:
    """List words, tokens, seconds and the finish reason."""
    facts = []
    if answer.text:
        facts.append(counted(len(answer.text.split()), "word"))
    if answer.output_tokens is not None:
        facts.append(_tokens(answer.output_tokens, answer.max_output_tokens))
    if answer.latency_s is not None:
        facts.append(f"{answer.latency_s:.1f} s")
    reason = FINISH_REASONS[answer.finish_reason]
    raw = answer.finish_reason_raw
    facts.append(f"{reason} ({raw})" if raw and raw != answer.finish_reason else reason)
    return " · ".join(html.escape(fact) for fact in facts)


def _tokens(n: int, most: int | None) -> str:
    """Return the tokens that a model wrote, with its limit, which puts the number in context."""
    if most is None:
        return counted(n, "token")
    said = trn("{n:,} of at most {most:,} token", "{n:,} of at most {most:,} tokens", most)
    return said.format(n=n, most=most)


def unjudged_answer_html(answer: Answer) -> str:
    """Return a note that an answer in another language than English is not judged by its words."""
    told = tr(
        "Not read by the rules (seems to be {language}): failures in its words are not judged."
    )
    other = tr("Not read by the rules (not in English): failures in its words are not judged.")
    return _unread_html(answer.text or "", told, other)


def unjudged_report_html(report: Report) -> str:
    """Return a note that a report in another language than English is compared with no answer."""
    told = tr("Not read by the rules (seems to be {language}): no answer is compared with it.")
    other = tr("Not read by the rules (not in English): no answer is compared with it.")
    whole = "\n".join(text or "" for text in (report.findings, report.impression))
    return _unread_html(whole, told, other)


def _unread_html(text: str, told: str, other: str) -> str:
    language = detect_language(text)
    if language is None:
        return ""
    words = other if language == OTHER else told.format(language=language)
    return f'<p class="rx-unjudged">{html.escape(words)}</p>'


# Further answers of a run that repeated the same request, folded below the shown one.


def repeats_html(case: Case, answer: Answer, repeats: Sequence[Answer]) -> str:
    """List the repeats of an answer and how they differ in side or choice; empty without any.

    Their boxes and images are counted, not shown: those in the viewer belong to the answer itself.
    """
    if not repeats:
        return ""
    every = (answer, *repeats)
    found = find_repeat_differences(case, every)
    differs = "".join(f" <b>{html.escape(words)}</b>" for words in _summary(found))
    items = "".join(_repeat_html(case, one, found, place) for place, one in enumerate(every))
    kept = html.escape(f"{case.id}/{answer.model}/repeats")
    times = len(every)
    asked = trn("Asked {n:d} time", "Asked {n:d} times", times).format(n=times)
    return (
        f'<details class="rx-repeats" data-rx-keep="{kept}"><summary>{asked}'
        f"{differs}</summary><ul>{items}</ul></details>"
    )


def _summary(found: RepeatDifferences) -> list[str]:
    """Return the differences, in a few words each."""
    words = []
    if found.sides:
        names = dict.fromkeys(
            finding_info(mention.finding).name
            for mentions in found.sides.values()
            for mention in mentions
            if mention
        )
        words.append(tr("opposite sides: {findings}").format(findings=", ".join(list(names)[:3])))
    if found.choices:
        letters = f" {tr('and')} ".join(option_letter(choice) for choice in found.choices)
        words.append(tr("different choices: {letters}").format(letters=letters))
    return words


def _repeat_html(case: Case, answer: Answer, found: RepeatDifferences, place: int) -> str:
    """Return one repeat as HTML, with only what differs from the answer above."""
    marks = [
        f"{mention.side} {finding_info(mention.finding).name}"
        for mentions in found.sides.values()
        if (mention := mentions[place])
    ]
    if found.choices:
        usable = is_usable(case, answer)
        marks.append(
            tr("chose {letter}").format(letter=option_letter(answer.choice or 0))
            if usable
            else tr("no usable choice")
        )
    said = " ".join(f"<mark>{html.escape(mark)}</mark>" for mark in marks)
    number = tr("Answer {n:d}").format(n=answer.repeat)
    if place == 0:
        return f"<li><p><b>{number}</b>, {tr('shown above')} {said}</p></li>"
    text = answer.text or ""
    body = (
        markdown_html(text)
        if text.strip()
        else f'<p class="rx-quiet">{tr("The model returned no text.")}</p>'
    )
    marked = [counted(len(answer.boxes), "box")] if answer.boxes else []
    marked += [counted(len(answer.images), "picture")] if answer.images else []
    not_shown = f" · {tr('{what}, not shown').format(what=join_words(marked))}" if marked else ""
    return (
        f"<li><p><b>{number}</b> {said}</p>"
        f'{choice_html(case, answer)}<div class="rx-body" tabindex="0">'
        f'<div class="rx-again">{body}</div>{ending_html(answer)}</div>'
        f"<footer>{facts_html(answer)}{not_shown}</footer></li>"
    )


# The chain Process -> Execution -> Synthesis, drawn so that the weakest link and the gap are
# visible.
#
# Plain HTML for ``st.html``; its styles are in ``style.css`` under ``rx-chain``.

_LETTERS: Final = {"process": "P", "execution": "E", "synthesis": "S", "language": "L"}
_IMAGE_LETTERS: Final = {"image_content": "IC", "image_style": "IS"}


_TOLERANCE: Final = 1e-9
_GOOD: Final = 4.0
"""From this score on, the weakest link is not highlighted."""


def format_score(score: float | None) -> str:
    """Format a final score: ``4``, ``3.5``, or a dash for none."""
    return "–" if score is None else format_final_score(score)


def score_chain_html(
    final: Mapping[str, float | None], *, gap_threshold: float, images: bool = True
) -> str:
    """Return one answer's final scores (1 to 5, or None, by dimension) as HTML; empty if none.

    A gap (process minus execution) of at least ``gap_threshold`` is marked. ``images`` adds the
    image dimensions where they are scored.
    """
    if all(final.get(dimension) is None for dimension in (*_LETTERS, *_IMAGE_LETTERS)):
        return ""
    scores = [final.get(dimension) for dimension in CONTENT_PARTS]
    known = [score for score in scores if score is not None]
    weakest = min(known) if len(known) == len(CONTENT_PARTS) else None
    marked = weakest is not None and max(known) - weakest > _TOLERANCE
    process, execution = final.get("process"), final.get("execution")
    wide = process is not None and execution is not None and process - execution >= gap_threshold
    cells = []
    for dimension in CONTENT_PARTS:
        score = final.get(dimension)
        weak = marked and score == weakest
        cells.append(_score_html(dimension, _LETTERS[dimension], score, weak=weak))
        if dimension == "process":
            gap = format_score(process - execution) if wide else ""  # type: ignore[operator]
            title = tr("Gap {score}").format(score=gap) if wide else ""
            css = "rx-link rx-gap" if wide else "rx-link"
            cells.append(f'<span class="{css}" title="{title}">{title}</span>')
        elif dimension == "execution":
            cells.append('<span class="rx-link"></span>')
    rest = {"language": "L", **(_IMAGE_LETTERS if images else {})}
    others = [
        _score_html(dimension, letter, final.get(dimension), weak=False)
        for dimension, letter in rest.items()
        if final.get(dimension) is not None
    ]
    return (
        f'<div class="rx-chain" role="group" aria-label="{tr("Scores")}">{"".join(cells)}'
        f'<span class="rx-chain-rest">{"".join(others)}</span></div>'
    )


def _score_html(dimension: str, letter: str, score: float | None, *, weak: bool) -> str:
    name = DIMENSION_NAMES[dimension]
    title = f"{name} {format_score(score)}"
    if score is not None and float(score).is_integer():
        title += f": {load_rubric()[dimension].anchors[int(score)]}"
    if weak:
        title += f" {tr('(weakest link)')}"
    css = "rx-score rx-weak" if weak and score is not None and score < _GOOD else "rx-score"
    level = "" if score is None else f' data-level="{round(score)}"'
    return (
        f'<span class="{css}"{level} title="{html.escape(title)}">'
        f"<abbr>{letter}</abbr><b>{format_score(score)}</b></span>"
    )


_MOST_NAMED = 5
"""Most failing models named."""


def question_html(
    case: Case, flags: Sequence[tuple[str, Flag]] = (), votes: Sequence[OptionVote] = ()
) -> str:
    """Return the question as HTML; a choice question with options, the right one, and the votes.

    The wording for models that draw boxes follows below if it differs.
    """

    def option_html(option: str, number: int) -> str:
        places = ("option", "correct_option")
        spans = [span for where in places for span in evidence_spans(flags, where, str(number))]
        return inline_html(option, spans)

    question = inline_html(case.question, evidence_spans(flags, "question"))
    boxes = case.question_boxes
    with_boxes = inline_html(boxes or "", evidence_spans(flags, "question_boxes"))
    told = f"<span><b>{tr('If boxes are requested:')} </b>{with_boxes}</span>"
    asked = f'<p class="rx-request">{told}</p>' if boxes else ""
    return f'<p class="rx-question">{question}</p>{asked}{options_html(case, option_html, votes)}'


_NOT_JUDGED = (
    '<p class="rx-unjudged">'
    f"{tr('Could not be judged by every rule: there may be more failures.')}</p>"
)
_NOT_YET = f'<p class="rx-unjudged">{tr("Not checked for failures yet.")}</p>'
_UNCOUNTED = (
    '<p class="rx-uncounted">'
    f"{tr('No full answer: its scores are not part of any table or mean.')}</p>"
)


def place_html(case: Case, place: Position, filter_name: str, kind: str) -> str:
    """Return the position of the case in the filter, and its kind."""
    where = (
        tr("{n:,} of {total:,}").format(n=place.number, total=place.total)
        if place.number
        else tr("not among the {total:,}").format(total=place.total)
    )
    among = tr("in “{filter}”").format(filter=html.escape(filter_name))
    return (
        f'<div class="rx-place"><span><b>{where}</b> {among}</span>'
        f"<span><b>{html.escape(case.id)}</b> {html.escape(kind)}</span></div>"
    )


def case_headline_html(found: CaseHeadline, meaning: str, whose: tuple[str, str] | None) -> str:
    """Return a case's worst failure; ``whose`` is the model's name and colour, if several."""
    name = ""
    if whose:
        name = f' <span style="--rx-colour:{html.escape(whose[1])}">{html.escape(whose[0])}</span>'
    return (
        f'<p class="rx-headline" data-harm="{found.harm}" title="{html.escape(meaning)}">'
        f"<b>{html.escape(found.words)}</b>{name}</p>"
    )


@dataclass(frozen=True)
class AnswerAdditions:
    """A page's additions to one answer: marked words, HTML above its text and below it."""

    marks: Sequence[MarkedSpan] = ()
    above: str = ""
    below: str = ""

    def __add__(self, other: AnswerAdditions) -> AnswerAdditions:
        return AnswerAdditions(
            (*self.marks, *other.marks), self.above + other.above, self.below + other.below
        )


def answers_html(
    page: CasePage,
    review_set: ReviewSet,
    *,
    colours: Mapping[str, str],
    gap_threshold: float,
    visitor: Visitor = ANYBODY,
    added: Mapping[str, AnswerAdditions] = MappingProxyType({}),
    case_filter: CaseFilter = ANY_CASE,
    worst: CaseHeadline | None = None,
    failing: FailingModels | None = None,
) -> str:
    """Return the answers side by side, one column a model, with the failures found in each.

    ``added`` are a page's additions to the answers of some models. The subject of ``case_filter``
    is unfolded, and so is the ``worst`` failure. For many answers ``failing`` lists those that
    fail.
    """
    strip = _failing_html(failing, len(page.answers), review_set.model_names) if failing else ""
    columns = "".join(
        _answer_html(
            page,
            answer,
            review_set,
            colours[answer.model],
            gap_threshold,
            visitor,
            added.get(answer.model, AnswerAdditions()),
            case_filter,
            number_html(number, len(page.answers)),
            (worst.failure or "") if worst and worst.model == answer.model else "",
        )
        for number, answer in enumerate(page.answers, 1)
    )
    return f'{strip}<div class="rx-answers">{columns}</div>'


def _failing_html(found: FailingModels, n: int, names: Mapping[str, str]) -> str:
    """Return how many answers there are, and which fail; empty if all fit next to the image."""
    if n <= MAX_SIDE_BY_SIDE:
        return ""
    parts = []
    if found.failing:
        words = tr("{n:,} with a failure: {who}")
        parts.append(words.format(n=len(found.failing), who=_some(found.failing, names)))
    if found.suggested:
        words = tr("{n:,} with a suggested failure: {who}")
        parts.append(words.format(n=len(found.suggested), who=_some(found.suggested, names)))
    said = "; ".join(parts) or tr("no failure found")
    return f'<p class="rx-quiet rx-failing"><b>{counted(n, "model")}:</b> {html.escape(said)}</p>'


def _some(models: Sequence[str], names: Mapping[str, str]) -> str:
    """Name models; of many, the first few."""
    named = ", ".join(names[model] for model in models[:_MOST_NAMED])
    more = len(models) - _MOST_NAMED
    return tr("{named} and {more:,} more").format(named=named, more=more) if more > 0 else named


def _answer_html(
    page: CasePage,
    answer: Answer,
    review_set: ReviewSet,
    colour: str,
    gap_threshold: float,
    visitor: Visitor,
    added: AnswerAdditions,
    case_filter: CaseFilter,
    place: str,
    worst: str,
) -> str:
    name = html.escape(review_set.model_names[answer.model])
    final = page.finals.get(answer.model)
    flags = page.keyed_flags(answer.model)
    text = answer.text or ""
    marks = [*added.marks, *evidence_spans(flags, "answer"), *choice_spans(answer)]
    spans = [*marks, *link_spans(text, page)]
    body = (
        markdown_html(text, spans)
        if text.strip()
        else f'<p class="rx-quiet">{tr("The model returned no text.")}</p>'
    )
    uncounted = page.uncounted.get(answer.model)
    shown = final or uncounted
    chain = score_chain_html(shown.by_dimension, gap_threshold=gap_threshold) if shown else ""
    if uncounted and chain:
        chain += _UNCOUNTED
    return (
        f'<article class="rx-answer" data-rx-answer="{html.escape(answer.model)}" '
        f'style="--rx-colour:{html.escape(colour)}" '
        f'aria-label="{tr("Answer of {name}").format(name=name)}">'
        f"<header><h3>{name}</h3>{place}{_headline_html(answer, final)}</header>"
        f"{chain}{_NOT_JUDGED if answer.model in page.not_judged else ''}"
        f"{_NOT_YET if answer.model in page.not_yet else ''}{unjudged_answer_html(answer)}"
        f"{flags_html(page, answer, review_set.reader_names, visitor, case_filter, worst)}"
        f"{marks_html(page, answer, review_set.reader_names, visitor, case_filter)}"
        f"{_add_html(answer) if visitor.may_judge else ''}"
        f"{added.above}{choice_html(page.case, answer)}"
        f'<div class="rx-body" tabindex="0"><div class="rx-text">{body}</div>'
        f"{ending_html(answer)}</div>"
        f"{explanation_html(page, answer)}{added.below}"
        f"<footer>{facts_html(answer)}</footer>"
        f"{repeats_html(page.case, answer, page.repeats.get(answer.model, ()))}</article>"
    )


def _add_html(answer: Answer) -> str:
    title = tr("Add a failure that no rule flagged (Shift+A)")
    return (
        f'<p class="rx-add"><button type="button" data-rx-add="{html.escape(answer.model)}" '
        f'title="{title}">{tr("Add a failure")}</button></p>'
    )


def _headline_html(answer: Answer, final: FinalScores | None) -> str:
    if final is not None and final.content is not None:
        title = tr("Content: the weakest of Process, Execution and Synthesis")
        score = format_score(final.content)
        return (
            f'<span class="rx-content" title="{title}">{score}<small> {tr("of 5")}</small></span>'
        )
    status = find_status(answer)
    if status == "answered":
        return f'<span class="rx-content rx-quiet">{tr("not scored")}</span>'
    word = tr("cut off") if (answer.text or "").strip() else tr("no answer")
    title = tr("Counted as no full answer: its scores are not part of any mean")
    return f'<span class="rx-content rx-quiet" title="{title}">{word}</span>'


def report_html(
    page: CasePage,
    marks: Mapping[str, Sequence[MarkedSpan]] = MappingProxyType({}),
    beside: str = "",
    head: str = "",
) -> str:
    """Return the request and the radiologist's report as HTML.

    ``marks`` are marked in its sections, by name. ``beside`` is HTML of its other versions,
    ``head`` HTML after the title.
    """
    report = page.case.report
    flags = page.keyed_flags()

    def spans(field: str, text: str) -> list[MarkedSpan]:
        found = evidence_spans(flags, "report", field)
        return [*marks.get(field, ()), *found, *link_spans(text, page)]

    sections = report_sections_html(report, spans)
    if not sections:
        sections = f'<p class="rx-quiet">{tr("This case has no reference report.")}</p>'
    return (
        '<section class="rx-report" id="report" tabindex="0">'
        f"<h3>{tr('Radiologist’s report')}{head}</h3>"
        f"{request_html(page.case)}{unjudged_report_html(report)}"
        f'<div class="rx-versions"><div>{sections}</div>{beside}</div>'
        "</section>"
    )


def report_sections_html(
    report: Report, spans: Callable[[str, str], Iterable[MarkedSpan]] = lambda field, text: ()
) -> str:
    """Return a report section by section; ``spans`` marks words of a field's text."""
    return "".join(
        f"<h4>{title}</h4>{plain_html(text, spans(field, text))}"
        for field, title, text in (
            ("findings", tr("Findings"), report.findings),
            ("impression", tr("Impression"), report.impression),
        )
        if text
    )


def request_html(case: Case) -> str:
    """Return the request for the study: patient, indication, comparison; empty without any."""
    context = case.context
    who = ", ".join(part for part in (_age(context.age), context.sex) if part)
    asked = (
        ("", who),
        (f"{tr('Indication:')} ", context.indication),
        (f"{tr('Comparison:')} ", context.comparison),
    )
    request = " ".join(
        f"<span><b>{title}</b>{html.escape(text)}</span>" for title, text in asked if text
    )
    return f'<p class="rx-request">{request}</p>' if request else ""


def _age(age: str | None) -> str | None:
    if not age or not age.isdecimal():
        return age
    years = int(age)
    return trn("{n:d} year", "{n:d} years", years).format(n=years)


def scores_html(
    scores: Sequence[Score],
    *,
    names: Mapping[str, str],
    readers: Mapping[str, str],
    agreed: Sequence[Score] = (),
    uncounted: Collection[str] = (),
    unfinished: Collection[str] = (),
    stale_scores: Sequence[Score] = (),
    stale_flags: Sequence[ReaderFlag] = (),
    stale_marks: Sequence[MarkedAnswer] = (),
) -> str:
    """Return readers' scores, one table a model: readers by dimensions, comments below.

    ``agreed`` is each consensus of the adjudication, in its own row below the readers'. A note
    excludes the scores of ``uncounted`` models from all counts. ``unfinished`` names the readers
    whose scores do not count yet. ``stale_scores``, ``stale_flags`` and ``stale_marks`` belong to
    earlier answers and are listed separately.
    """
    tables = []
    for model, name in names.items():
        of_model = [score for score in scores if score.model == model]
        if of_model:
            consensus = [score for score in agreed if score.model == model]
            tables.append(_score_table_html(name, of_model, readers, consensus, unfinished))
            if model in uncounted:
                tables.append(_UNCOUNTED)
    if not tables and not stale_scores:
        tables.append(f'<p class="rx-quiet">{tr("No one has scored this case.")}</p>')
    return "".join(tables) + _stale_html(stale_scores, stale_flags, stale_marks, names, readers)


def _stale_html(
    scores: Sequence[Score],
    flags: Sequence[ReaderFlag],
    marks: Sequence[MarkedAnswer],
    names: Mapping[str, str],
    readers: Mapping[str, str],
) -> str:
    """List readers' entries about earlier answers; empty if there are none."""
    lines = []
    for model, name in names.items():
        given_by = [one.reader for one in scores if one.model == model]
        given_by += [one.reader for one in flags if one.model == model]
        given_by += [one.mark.reader for one in marks if one.mark.model == model]
        for reader in dict.fromkeys(given_by):
            given = [
                _stale_score(one)
                for one in scores
                if (one.model, one.reader) == (model, reader)
                and (one.score is not None or one.comment)
            ]
            given += [
                f"{html.escape(FAILURES[one.failure].name)} {VERDICT_WORDS[one.verdict]}"
                for one in flags
                if (one.model, one.reader) == (model, reader)
            ]
            given += [
                f"{html.escape(one.words.prompt.name)} {tr('marked')}"
                for one in marks
                if (one.mark.model, one.mark.reader) == (model, reader)
            ]
            who = html.escape(readers.get(reader, reader))
            if given:
                lines.append(f"<li><b>{html.escape(name)}, {who}</b> {', '.join(given)}</li>")
    if not lines:
        return ""
    why = tr(
        "the answer was changed after this was given. It is not counted until its reader "
        "confirms it: scores on the Score page, failures here."
    )
    return (
        f'<section class="rx-stale"><p><b>{tr("On an earlier answer:")}</b> {why}</p>'
        f'<ul class="rx-comments">{"".join(lines)}</ul></section>'
    )


def _stale_score(score: Score) -> str:
    given = DIMENSION_NAMES[score.dimension]
    if score.image is not None:
        given += f", {tr('picture {n:d}').format(n=score.image + 1)}"
    given += f" {score.score or '–'}"
    return f"{given} ({html.escape(score.comment)})" if score.comment else given


def _score_table_html(
    name: str,
    scores: Sequence[Score],
    readers: Mapping[str, str],
    agreed: Sequence[Score],
    unfinished: Collection[str],
) -> str:
    given = {score.dimension for score in (*scores, *agreed)}
    dimensions = [d for d in DIMENSIONS if d in given]
    head = "".join(
        f'<th scope="col" title="{html.escape(load_rubric()[d].question)}">'
        f"{DIMENSION_NAMES[d]}</th>"
        for d in dimensions
    )
    rows: list[str] = []
    comments: list[str] = []

    def add(who: str, given: Sequence[Score], attributes: str = "", note: str = "") -> None:
        cells = "".join(
            _score_cell_html([s for s in given if s.dimension == d]) for d in dimensions
        )
        rows.append(f'<tr{attributes}><th scope="row">{who}{note}</th>{cells}</tr>')
        comments.extend(
            f"<li><b>{who}, {DIMENSION_NAMES[score.dimension]}</b> "
            f"{html.escape(score.comment)}</li>"
            for score in given
            if score.comment
        )

    unfinished_note = tr("case not finished: not counted yet")
    for reader in dict.fromkeys(score.reader for score in scores):
        of_reader = [score for score in scores if score.reader == reader]
        note = in_app_note("app" if any(one.origin == "app" for one in of_reader) else None)
        if reader in unfinished:
            note += f' <small class="rx-quiet">{unfinished_note}</small>'
        add(html.escape(readers.get(reader, reader)), of_reader, note=note)
    if agreed:
        who = {readers.get(score.reader, score.reader) for score in agreed}
        title = tr("Settled by {who}; the readers' scores are unchanged")
        title = html.escape(title.format(who=", ".join(sorted(who))))
        add(tr("Consensus"), agreed, f' class="rx-agreed" title="{title}"')
    listed = f'<ul class="rx-comments">{"".join(comments)}</ul>' if comments else ""
    drawn = label_cells(
        f'<div class="rx-scroll"><table class="rx-scores"><caption>{html.escape(name)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    return drawn + listed


def _score_cell_html(scores: Sequence[Score]) -> str:
    given = [score for score in scores if score.score is not None]
    if not given:
        return '<td class="rx-quiet">–</td>'
    anchors = load_rubric()[given[0].dimension].anchors
    title = " / ".join(anchors[score.score] for score in given if score.score)
    value = ", ".join(str(score.score) for score in given)
    return f'<td data-level="{given[0].score}" title="{html.escape(title)}">{value}</td>'
