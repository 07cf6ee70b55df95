"""Turn the texts of cases into paragraphs and tables for slides and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final

from rexview.analysis.meetings import CaseVote, Decision, Minutes
from rexview.export.export_records import (
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportContent,
    ExportDecision,
    ExportFlag,
    ExportMark,
    ExportScore,
)
from rexview.export.sheets.sheet import (
    INK,
    QUIET,
    Paragraph,
    TextRun,
    make_paragraph,
    printable_sheet_text,
)
from rexview.export.sheets.text_flow import Cell
from rexview.stats import STATUSES
from rexview.stats.score_finals import format_final_score
from rexview.vocab import DIMENSION_NAMES, date_text, english_count, option_letter

_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"(\s*)[-*+]\s+(?=\S)")
_STRONG: Final = re.compile(
    r"\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])"
)
_MOST_MARKED: Final = 4_000
"""Characters of a line up to which stars are parsed."""
_CELLS: Final = re.compile(r"^\s*\|\s*(.+?)\s*\|\s*$")
_RULE: Final = re.compile(r"[\s|:-]+$")
_STEP: Final = 12.0
"""Indent of a list for every two spaces before its dash."""
_MOST_STEPS: Final = 4
REFERENCE: Final = "Reference"


def plain_sentence(text: str) -> str:
    """Return a Markdown sentence as one plain line, without marks of lists or emphasis."""
    line = one_line(text)
    if found := _BULLET.match(line):
        line = line[found.end() :]
    heading = _HEADING.match(line)
    words = "".join(run.text for run in _strong(heading[1] if heading and heading[1] else line))
    return words.rstrip("; ")


def markdown_paragraphs(text: str, size: float) -> list[Paragraph]:
    """Return a model's Markdown as paragraphs: headings, lists, bold, tables, the rest as is."""
    made: list[Paragraph] = []
    gap = 0.0
    for line in printable_sheet_text(text).split("\n"):
        if not line.strip():
            gap = size / 2
            continue
        if "|" in line and _RULE.match(line) and made:
            made[-1] = make_paragraph(made[-1].text, size=size, bold=True, before=made[-1].before)
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading and heading[1]:
            words = "".join(run.text for run in _strong(heading[1]))
            made.append(make_paragraph(words, size=size, bold=True, before=size / 2, keep=True))
        else:
            steps = min(len(bullet[1]) // 2 + 1, _MOST_STEPS) if bullet else 0
            words = f"• {line[bullet.end() :]}" if bullet else _CELLS.sub(r"\1", line)
            before = gap or (2.0 if bullet else 0.0)
            made.append(Paragraph((tuple(_strong(words)),), size, steps * _STEP, before))
        gap = 0.0
    return made


def _strong(line: str) -> Iterator[TextRun]:
    """Yield a line's runs, text between stars bold; a very long line stays plain."""
    done = 0
    for found in _STRONG.finditer(line[:_MOST_MARKED]):
        if found.start() > done:
            yield TextRun(line[done : found.start()])
        yield TextRun(found[1] or found[2], bold=True)
        done = found.end()
    if done < len(line):
        yield TextRun(line[done:])


def labelled_text(label: str, text: str | None, size: float = 14.0) -> list[Paragraph]:
    """Return a text after its label; nothing without a text."""
    first, *rest = [one for one in printable_sheet_text(text or "").split("\n") if one.strip()] or [
        ""
    ]
    if not first:
        return []
    head = make_paragraph(
        TextRun(f"{label}: ", True, QUIET), TextRun(first), size=size, before=size / 3
    )
    return [head, *(make_paragraph(line, size=size) for line in rest)]


def model_heading(content: ExportContent, model: str | None, size: float = 16.0) -> Paragraph:
    """Return a model's name in its colour; the reference for None."""
    if model is None:
        return make_paragraph(
            TextRun("□ ", True), TextRun(REFERENCE, True), size=size, before=6, keep=True
        )
    found = content.model(model)
    swatch, name = TextRun("■ ", True, found.colour), TextRun(one_line(found.name), True)
    return make_paragraph(swatch, name, size=size, before=size / 2, keep=True)


def one_line(text: str) -> str:
    """Return a text as one line."""
    return " ".join(printable_sheet_text(text).split())


def option_lines(case: ExportCase, size: float = 14.0) -> list[Paragraph]:
    """List the options of a choice question; the right one is shown with the report."""
    return [make_paragraph(_option(case, number), size=size) for number in range(len(case.options))]


def right_option_lines(case: ExportCase, size: float) -> list[Paragraph]:
    """Name the right option of a choice question; nothing without one."""
    if case.correct is None or case.correct >= len(case.options):
        return []
    words = f"Correct option: {_option(case, case.correct)}"
    return [make_paragraph(words, size=size, bold=True)]


def _option(case: ExportCase, number: int) -> str:
    return f"{option_letter(number)}. {one_line(case.options[number])}"


def answer_heading(
    content: ExportContent, case: ExportCase, answer: ExportAnswer, size: float = 16.0
) -> list[Paragraph]:
    """Name an answer's model, its status and its choice."""
    made = [model_heading(content, answer.model, size)]
    if answer.status != "answered":
        words = STATUSES[answer.status]
        made.append(make_paragraph(words, size=size * 0.8, bold=True, keep=True))
    if answer.choice is not None and answer.choice < len(case.options):
        verdict = {True: " – correct", False: " – wrong", None: ""}[answer.choice_correct]
        chosen = f"Chose {option_letter(answer.choice)}{verdict}"
        made.append(make_paragraph(chosen, size=size * 0.8, bold=True, keep=True))
    return made


def answer_text(answer: ExportAnswer, size: float) -> list[Paragraph]:
    """Return a model's answer, and its separate explanation if there is one."""
    if answer.text.strip():
        made = markdown_paragraphs(answer.text, size)
    else:
        made = [make_paragraph("The model returned no text.", size=size, colour=QUIET)]
    made = [*quiet_line(answer.not_read, size), *made]
    return made + labelled_text("Explanation", answer.explanation, size)


def quiet_line(told: str, size: float) -> list[Paragraph]:
    """Return a remark of ours in small print; nothing without one."""
    return [make_paragraph(told, size=size - 2, colour=QUIET)] if told else []


def box_lines(
    content: ExportContent, boxes: Iterable[tuple[int, ExportBox]], size: float
) -> list[Paragraph]:
    """List boxes by number, each with its model."""
    made: list[Paragraph] = []
    for number, box in boxes:
        model = content.model(box.model) if box.model is not None else None
        swatch = TextRun("■ ", True, model.colour) if model else TextRun("□ ", True)
        parts = [f"{one_line(model.name) if model else REFERENCE}: {one_line(box.label)}"]
        if box.side:
            parts.append("at the midline" if box.side == "midline" else f"patient's {box.side}")
        if box.score is not None:
            parts.append(f"confidence {box.score:.2f}")
        if box.unsure:
            parts.append("may lie elsewhere: how the model counts is not known")
        made.append(make_paragraph(swatch, TextRun(f"{number} {', '.join(parts)}"), size=size))
    return made


def undrawn_lines(content: ExportContent, case: ExportCase, size: float) -> list[Paragraph]:
    """List the boxes that cannot be drawn, with the reason."""
    every = [*case.reference_boxes, *(box for one in case.answers for box in one.boxes)]
    undrawn = [box for box in every if box.problem]
    if not undrawn:
        return []
    made = [
        make_paragraph("Boxes that cannot be drawn", size=size, bold=True, before=10, keep=True)
    ]
    for box in undrawn:
        name = content.model(box.model).name if box.model else REFERENCE
        words = f"{name}: {one_line(box.label)}. {box.problem}"
        made.append(make_paragraph(one_line(words), size=size, indent=14))
    return made


def failure_words(content: ExportContent, flags: Sequence[ExportFlag]) -> str:
    """Name the failure of one answer's flags, with its harm and sources."""
    firm = [one for one in flags if not one.hint or one.verdict == "confirmed"]
    facts = []
    harms = [one.severity for one in flags if one.severity is not None]
    if harms:
        facts.append(f"harm {max(harms)}")
    by = dict.fromkeys(one.reader for one in flags if one.reader)
    facts += [one_line(content.readers.get(reader, reader)) for reader in by]
    facts += dict.fromkeys(one.verdict for one in flags if one.verdict)
    told = f" ({', '.join(facts)})" if facts else ""
    return one_line(firm[0].name if firm else flags[0].title) + told


def failures(
    flags: Iterable[ExportFlag],
) -> dict[tuple[str, str], tuple[ExportFlag, ...]]:
    """Return the flags of each failure of each answer, by model and failure.

    Rejected ones are left out if the failure has other flags.
    """
    found: dict[tuple[str, str], list[ExportFlag]] = {}
    for one in flags:
        found.setdefault((one.model, one.failure), []).append(one)
    return {
        key: tuple(one for one in every if one.verdict != "rejected") or tuple(every)
        for key, every in found.items()
    }


def flag_lines(content: ExportContent, flags: Iterable[ExportFlag], size: float) -> list[Paragraph]:
    """List failures under their model, each once with all its messages."""
    made: list[Paragraph] = []
    every = failures(flags)
    for model in dict.fromkeys(model for model, _ in every):
        made.append(model_heading(content, model, size))
        for same in (same for (of, _), same in every.items() if of == model):
            colour = QUIET if same[0].verdict == "rejected" else INK
            words = "\n".join(dict.fromkeys(one.message for one in same if one.message))
            made += _headed(failure_words(content, same), words, size, colour)
    return made


def mark_lines(content: ExportContent, marks: Iterable[ExportMark], size: float) -> list[Paragraph]:
    """List the failures in words that readers marked, under their model."""
    made: list[Paragraph] = []
    for model, of_model in groupby(marks, key=lambda one: one.model):
        made.append(model_heading(content, model, size))
        for mark in of_model:
            who = one_line(content.readers.get(mark.reader, mark.reader))
            head = f"{one_line(mark.name)} (in own words, {who})"
            made += _headed(head, mark.comment or "", size)
    return made


def _headed(head: str, text: str, size: float, colour: str = INK) -> list[Paragraph]:
    """Return a text under a bold line that stays with it."""
    told = [line for line in printable_sheet_text(text).split("\n") if line.strip()]
    first = make_paragraph(TextRun(head, True, colour), size=size, before=size / 4, keep=bool(told))
    return [first, *(make_paragraph(line, size=size, colour=colour) for line in told)]


def vote_words(content: ExportContent, vote: CaseVote) -> tuple[str, str]:
    """Return vote counts in words: for each answer held right, and for each grade of harm."""
    names = {model.id: model.name for model in content.models}
    names |= {"none": "no model", "unsure": "not sure"}
    right = ", ".join(f"{names.get(one, one)} {n}" for one, n in vote.right.items() if n)
    harm = ", ".join(f"grade {grade}: {n}" for grade, n in sorted(vote.harm.items()) if n)
    return one_line(right) or "–", harm or "–"


def clock_time(seconds: float | None) -> str:
    """Return a time such as 3:05 minutes."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


# The tables of an export.

Cells = tuple[str, Sequence[str], list[Sequence[Cell]]]
"""A table's heading, the names of its columns, its rows."""
SIZE: Final = 12.0
_NONE: Final = "–"
_GAP: Final = "Process minus Execution"


def model_cell(content: ExportContent, model: str | None) -> Cell:
    """Return a model's name in its colour."""
    if model is None:
        return "The case"
    found = content.model(model)
    return make_paragraph(
        TextRun("■ ", True, found.colour), TextRun(one_line(found.name)), size=SIZE
    )


def scores(content: ExportContent, case: ExportCase) -> Cells:
    """Return the final scores of each answer, then those of each reader."""
    numbers = [*DIMENSION_NAMES, "gap"]
    final = {answer.model: answer.final for answer in case.answers if answer.final}
    given = {one.dimension for one in case.scores}
    shown = [
        name for name in numbers if name in given or any(name in one for one in final.values())
    ]
    rows: list[Sequence[Cell]] = []
    pairs = dict.fromkeys((one.model, one.reader) for one in case.scores)
    for answer in case.answers:
        model = model_cell(content, answer.model)
        if answer.final:
            who = f"Final, {english_count(answer.n_readers, 'reader')}"
            rows.append([model, who, *(_score(answer.final.get(name)) for name in shown)])
        for reader in (reader for of, reader in pairs if of == answer.model):
            own = [one for one in case.scores if (one.model, one.reader) == (answer.model, reader)]
            who = one_line(content.readers.get(reader, reader))
            rows.append([model, who, *(_of_reader(own, name) for name in shown)])
    return (
        "Scores",
        ["Model", "Scored by", *(DIMENSION_NAMES.get(one, _GAP) for one in shown)],
        rows,
    )


def _of_reader(scores: Sequence[ExportScore], dimension: str) -> str:
    """Return a reader's scores in a dimension, separated by picture."""
    return ", ".join(str(one.score) for one in scores if one.dimension == dimension) or _NONE


def case_decisions(content: ExportContent, case: ExportCase) -> Cells:
    """Return a case's decisions in meetings."""
    told = [_DecisionWords.of_export(case.id, one) for one in case.decisions]
    meetings = {one.meeting for one in case.decisions} - {content.meeting and content.meeting.id}
    lead = "Meeting" if meetings else ""
    return "Decisions", *_decision_rows(content, told, lead)


def minutes_tables(content: ExportContent, minutes: Minutes) -> list[Cells]:
    """Return a meeting's decisions, open ones, votes, and cases left over."""
    decided = [_DecisionWords.of_minutes(one) for one in minutes.decisions]
    still_open: list[Sequence[Cell]] = [
        [
            one_line(one.case),
            model_cell(content, one.model),
            one_line(one.decision_words or one.failure_words) or _NONE,
            one_line(one.owner or "") or _NONE,
            date_text(one.due) if one.due else _NONE,
        ]
        for one in minutes.open
    ]
    votes: list[Sequence[Cell]] = [
        [one_line(item.case), str(item.vote.count), *vote_words(content, item.vote)]
        for item in minutes.items
        if item.vote
    ]
    postponed: list[Sequence[Cell]] = [
        [f"{item.number:,}", one_line(item.case), one_line(item.question)]
        for item in minutes.postponed
    ]
    return [
        ("Decisions", *_decision_rows(content, decided, "Case")),
        ("Still open", ["Case", "About", "What", "Who", "Until"], still_open),
        ("Votes", ["Case", "Votes", "Held right", "Harm"], votes),
        ("Not reached", ["No.", "Case", "Question"], postponed),
    ]


def agenda_table(minutes: Minutes) -> Cells:
    """Return the cases of a meeting, with planned and actual times."""
    planned = {item.case: item.minutes for item in minutes.meeting.agenda}
    rows = [
        {
            "No.": f"{item.number:,}",
            "Case": one_line(item.case),
            "Section": one_line(item.section) if item.on_agenda else "Besides the agenda",
            "Question": one_line(item.question),
            "Minutes planned": f"{planned.get(item.case) or 0:g}".removeprefix("0"),
            "Shown, min:s": clock_time(item.seconds),
        }
        for item in minutes.items
    ]
    return "Agenda", *_without_empty(rows)


def case_table(cases: Iterable[ExportCase]) -> Cells:
    """Return the cases of an export."""
    rows = [
        {"No.": f"{case.number:,}", "Case": one_line(case.id), "Question": one_line(case.question)}
        for case in cases
    ]
    return "Cases", *_without_empty(rows)


@dataclass(frozen=True)
class _DecisionWords:
    """A decision in words."""

    case: str
    meeting: str
    model: str | None
    failure: str
    severity: int | None
    decision: str
    owner: str | None
    due: date | None
    state: str
    comment: str | None

    @classmethod
    def of_export(cls, case: str, one: ExportDecision) -> _DecisionWords:
        state = _state(one.done, one.is_open, one.stale)
        met = f"{one.meeting_name} {date_text(one.held) if one.held else ''}"
        words = (one.failure_name, one.severity, one.decision_name, one.owner, one.due)
        return cls(case, met, one.model, *words, state, one.comment)

    @classmethod
    def of_minutes(cls, one: Decision) -> _DecisionWords:
        state = _state(one.done, one.is_open, one.replaced)
        words = (one.failure_words, one.severity, one.decision_words, one.owner, one.due)
        return cls(one.case, one.meeting_name, one.model, *words, state, one.comment)


def _decision_rows(
    content: ExportContent, decided: Sequence[_DecisionWords], lead: str
) -> tuple[list[str], list[Sequence[Cell]]]:
    rows: list[dict[str, Cell]] = [
        {
            lead: one_line({"Case": one.case, "Meeting": one.meeting}.get(lead, "")),
            "About": model_cell(content, one.model),
            "Failure": one_line(one.failure),
            "Harm": "" if one.severity is None else str(one.severity),
            "Decision": one_line(one.decision),
            "Who": one_line(one.owner or ""),
            "Until": date_text(one.due) if one.due else "",
            "State": one.state,
            "Notes": one.comment or "",
        }
        for one in decided
    ]
    return _without_empty(rows)


def _without_empty(
    rows: Sequence[Mapping[str, Cell]],
) -> tuple[list[str], list[Sequence[Cell]]]:
    """Return heads and rows, without empty columns."""
    heads = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    return heads, [[row[name] for name in heads] for row in rows]


def _state(done: bool, is_open: bool, stale: bool) -> str:
    state = "Done" if done else "Open" if is_open else ""
    return "; ".join(part for part in (state, "the answer was replaced since" * stale) if part)


def _score(value: float | None) -> str:
    return _NONE if value is None else format_final_score(value)
