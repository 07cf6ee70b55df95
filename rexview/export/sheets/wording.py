"""Words of cases for slides and pages, as paragraphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, TypeVar

from rexview.analysis.meeting.records import Vote
from rexview.export.records import (
    Content,
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportFlag,
    ExportMark,
)
from rexview.export.sheets.measure import printable
from rexview.export.sheets.sheet import INK, QUIET, Paragraph, Run, paragraph
from rexview.stats import STATUSES
from rexview.vocab import option_letter

_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"(\s*)[-*+]\s+(?=\S)")
_STRONG: Final = re.compile(
    r"\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])"
)
_MOST_MARKED: Final = 4_000
"""Characters of a line in which stars are looked for."""
_CELLS: Final = re.compile(r"^\s*\|\s*(.+?)\s*\|\s*$")
_RULE: Final = re.compile(r"[\s|:-]+$")
_STEP: Final = 12.0
"""How far a list is set in for each two blanks before its dash."""
_MOST_STEPS: Final = 4
REFERENCE: Final = "Reference"
_Said = TypeVar("_Said", ExportFlag, ExportMark)


def marked_down(text: str, size: float) -> list[Paragraph]:
    """Show a model's text: headings, lists, strong words and tables of Markdown, the rest as is."""
    made: list[Paragraph] = []
    gap = 0.0
    for line in printable(text).split("\n"):
        if not line.strip():
            gap = size / 2
            continue
        if "|" in line and _RULE.match(line) and made:
            made[-1] = paragraph(made[-1].text, size=size, bold=True, before=made[-1].before)
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading and heading[1]:
            words = "".join(run.text for run in _strong(heading[1]))
            made.append(paragraph(words, size=size, bold=True, before=size / 2, keep=True))
        else:
            steps = min(len(bullet[1]) // 2 + 1, _MOST_STEPS) if bullet else 0
            words = f"• {line[bullet.end() :]}" if bullet else _CELLS.sub(r"\1", line)
            before = gap or (2.0 if bullet else 0.0)
            made.append(Paragraph((tuple(_strong(words)),), size, steps * _STEP, before))
        gap = 0.0
    return made


def _strong(line: str) -> Iterator[Run]:
    """Yield the words of a line, those between stars bold; a very long line stays as it is."""
    done = 0
    for found in _STRONG.finditer(line[:_MOST_MARKED]):
        if found.start() > done:
            yield Run(line[done : found.start()])
        yield Run(found[1] or found[2], bold=True)
        done = found.end()
    if done < len(line):
        yield Run(line[done:])


def labelled(label: str, text: str | None, size: float = 14.0) -> list[Paragraph]:
    """Show a text under its name; nothing where there is none."""
    lines = printable(text or "").strip().split("\n")
    if not any(lines):
        return []
    head = paragraph(label, size=size - 2, bold=True, colour=QUIET, before=10, keep=True)
    return [head, *(paragraph(line, size=size) for line in lines if line.strip())]


def model_heading(content: Content, model: str | None, size: float = 16.0) -> Paragraph:
    """Name a model, with its colour; the reference for None."""
    if model is None:
        return paragraph(Run("□ ", True), Run(REFERENCE, True), size=size, before=10, keep=True)
    found = content.model(model)
    swatch, name = Run("■ ", True, found.colour), Run(one_line(found.name), True)
    return paragraph(swatch, name, size=size, before=10, keep=True)


def one_line(text: str) -> str:
    """Return a text as one line."""
    return " ".join(printable(text).split())


def options(case: ExportCase, size: float = 14.0) -> list[Paragraph]:
    """List the options of a choice question, the right one marked."""
    made = []
    for number, option in enumerate(case.options):
        right = number == case.correct
        words = f"{option_letter(number)}. {one_line(option)}"
        made.append(paragraph(words + (" (correct)" if right else ""), size=size, bold=right))
    return made


def answer_heading(content: Content, case: ExportCase, answer: ExportAnswer) -> list[Paragraph]:
    """Name the model of an answer, what became of it and what it chose."""
    made = [model_heading(content, answer.model)]
    if answer.status != "answered":
        made.append(paragraph(STATUSES[answer.status], size=12, bold=True, keep=True))
    if answer.choice is not None and answer.choice < len(case.options):
        verdict = {True: " – correct", False: " – wrong", None: ""}[answer.choice_correct]
        chosen = f"Chose {option_letter(answer.choice)}{verdict}"
        made.append(paragraph(chosen, size=12, bold=True, keep=True))
    return made


def answer_text(answer: ExportAnswer, size: float) -> list[Paragraph]:
    """Show what a model said, and why where it says that apart."""
    if answer.text.strip():
        made = marked_down(answer.text, size)
    else:
        made = [paragraph("The model returned no text.", size=size, colour=QUIET)]
    made = [*quiet_line(answer.not_read, size), *made]
    return made + labelled("Explanation", answer.explanation, size)


def quiet_line(told: str, size: float) -> list[Paragraph]:
    """Show a remark of ours, smaller than what others wrote; nothing where there is none."""
    return [paragraph(told, size=size - 2, colour=QUIET)] if told else []


def box_lines(content: Content, boxes: Iterable[tuple[int, ExportBox]]) -> list[Paragraph]:
    """List boxes by number, under the model that gave them."""
    made: list[Paragraph] = []
    last: str | None = ""
    for number, box in boxes:
        if box.model != last:
            made.append(model_heading(content, box.model, 13))
            last = box.model
        parts = [f"{number} {one_line(box.label)}".rstrip()]
        if box.side:
            parts.append("at the midline" if box.side == "midline" else f"patient's {box.side}")
        if box.score is not None:
            parts.append(f"confidence {box.score:.2f}")
        if box.unsure:
            parts.append("may lie elsewhere: how the model counts is not known")
        made.append(paragraph(", ".join(parts), size=12, indent=14))
    return made


def undrawn_lines(content: Content, case: ExportCase) -> list[Paragraph]:
    """List the boxes that cannot be drawn, with the reason."""
    every = [*case.reference_boxes, *(box for one in case.answers for box in one.boxes)]
    undrawn = [box for box in every if box.problem]
    if not undrawn:
        return []
    made = [paragraph("Boxes that cannot be drawn", size=14, bold=True, before=10, keep=True)]
    for box in undrawn:
        name = content.model(box.model).name if box.model else REFERENCE
        words = f"{name}: {one_line(box.label)}. {box.problem}"
        made.append(paragraph(one_line(words), size=12, indent=14))
    return made


def flag_lines(content: Content, flags: Iterable[ExportFlag], size: float) -> list[Paragraph]:
    """List failures under the model that they are of."""

    def lines(flag: ExportFlag) -> list[Paragraph]:
        facts = []
        if flag.severity is not None:
            facts.append(f"harm {flag.severity}")
        if flag.reader:
            facts.append(one_line(content.readers.get(flag.reader, flag.reader)))
        if flag.verdict:
            facts.append(flag.verdict)
        told = f" ({', '.join(facts)})" if facts else ""
        colour = QUIET if flag.verdict == "rejected" else INK
        return _headed(one_line(flag.title) + told, flag.message, size, colour)

    return _by_model(content, flags, lines, size)


def mark_lines(content: Content, marks: Iterable[ExportMark], size: float) -> list[Paragraph]:
    """List the failures in words that people marked, under the model that they are of."""

    def lines(mark: ExportMark) -> list[Paragraph]:
        who = one_line(content.readers.get(mark.reader, mark.reader))
        return _headed(f"{one_line(mark.name)} (in own words, {who})", mark.comment or "", size)

    return _by_model(content, marks, lines, size)


def _by_model(
    content: Content, every: Iterable[_Said], lines: Callable[[_Said], list[Paragraph]], size: float
) -> list[Paragraph]:
    """List what is said of answers, under a heading for each model that follows another."""
    made: list[Paragraph] = []
    for model, of_model in groupby(every, key=lambda one: one.model):
        made.append(model_heading(content, model, size))
        made += (line for one in of_model for line in lines(one))
    return made


def _headed(head: str, text: str, size: float, colour: str = INK) -> list[Paragraph]:
    """Show a text under a bold line, which stays with it."""
    told = [line for line in printable(text).split("\n") if line.strip()]
    first = paragraph(Run(head, True, colour), size=size, before=6, keep=bool(told))
    return [first, *(paragraph(line, size=size, colour=colour) for line in told)]


def vote_words(content: Content, vote: Vote) -> tuple[str, str]:
    """Say whom how many held right, and which harm how many gave."""
    names = {model.id: model.name for model in content.models}
    names |= {"none": "no model", "unsure": "not sure"}
    right = ", ".join(f"{names.get(one, one)} {n}" for one, n in vote.right.items() if n)
    harm = ", ".join(f"grade {grade}: {n}" for grade, n in sorted(vote.harm.items()) if n)
    return one_line(right) or "–", harm or "–"


def clock(seconds: float | None) -> str:
    """Write a time: 3:05 minutes."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
