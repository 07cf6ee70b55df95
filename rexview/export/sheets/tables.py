"""The tables of an export: what stands in their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from rexview.analysis.meeting.decisions import Decision
from rexview.analysis.meeting.minutes import Minutes
from rexview.export.records import Content, ExportCase, ExportDecision, ExportScore
from rexview.export.sheets.flow import Cell
from rexview.export.sheets.sheet import Run, paragraph
from rexview.export.sheets.wording import clock, one_line, vote_words
from rexview.stats.final import write_score
from rexview.vocab import DIMENSION_NAMES, counted, day

Cells = tuple[str, Sequence[str], list[Sequence[Cell]]]
"""A table's heading, the names of its columns, its rows."""
SIZE: Final = 12.0
_NONE: Final = "–"
_GAP: Final = "Process minus Execution"


def model_cell(content: Content, model: str | None) -> Cell:
    """Name a model with its colour."""
    if model is None:
        return "The case"
    found = content.model(model)
    return paragraph(Run("■ ", True, found.colour), Run(one_line(found.name)), size=SIZE)


def scores(content: Content, case: ExportCase) -> Cells:
    """Give the final scores of each answer, then those of each reader."""
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
            who = f"Final, {counted(answer.n_readers, 'reader')}"
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
    """Return a reader's scores in a dimension, of several pictures one after another."""
    return ", ".join(str(one.score) for one in scores if one.dimension == dimension) or _NONE


def case_decisions(content: Content, case: ExportCase) -> Cells:
    """Give what meetings decided about a case."""
    told = [_Told.of_export(case.id, one) for one in case.decisions]
    meetings = {one.meeting for one in case.decisions} - {content.meeting and content.meeting.id}
    lead = "Meeting" if meetings else ""
    return "Decisions", *_decided(content, told, lead)


def minutes_tables(content: Content, minutes: Minutes) -> list[Cells]:
    """Give what a meeting decided, what of it is open, how people voted, what is left over."""
    decided = [_Told.of_minutes(one) for one in minutes.decisions]
    still_open: list[Sequence[Cell]] = [
        [
            one_line(one.case),
            model_cell(content, one.model),
            one_line(one.decision_words or one.failure_words) or _NONE,
            one_line(one.owner or "") or _NONE,
            day(one.due) if one.due else _NONE,
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
        ("Decisions", *_decided(content, decided, "Case")),
        ("Still open", ["Case", "About", "What", "Who", "Until"], still_open),
        ("Votes", ["Case", "Votes", "Held right", "Harm"], votes),
        ("Not reached", ["No.", "Case", "Question"], postponed),
    ]


def agenda(minutes: Minutes) -> Cells:
    """Give the cases of a meeting, with the time that each should have and did take."""
    planned = {item.case: item.minutes for item in minutes.meeting.agenda}
    rows = [
        {
            "No.": f"{item.number:,}",
            "Case": one_line(item.case),
            "Section": one_line(item.section) if item.on_agenda else "Besides the agenda",
            "Question": one_line(item.question),
            "Minutes planned": f"{planned.get(item.case) or 0:g}".removeprefix("0"),
            "Shown, min:s": clock(item.seconds),
        }
        for item in minutes.items
    ]
    return "Agenda", *_without_empty(rows)


def case_list(cases: Iterable[ExportCase]) -> Cells:
    """Give the cases of an export."""
    rows = [
        {"No.": f"{case.number:,}", "Case": one_line(case.id), "Question": one_line(case.question)}
        for case in cases
    ]
    return "Cases", *_without_empty(rows)


@dataclass(frozen=True)
class _Told:
    """What was decided, in words."""

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
    def of_export(cls, case: str, one: ExportDecision) -> _Told:
        state = _state(one.done, one.is_open, one.stale)
        met = f"{one.meeting_name} {day(one.held) if one.held else ''}"
        words = (one.failure_name, one.severity, one.decision_name, one.owner, one.due)
        return cls(case, met, one.model, *words, state, one.comment)

    @classmethod
    def of_minutes(cls, one: Decision) -> _Told:
        state = _state(one.done, one.is_open, one.replaced)
        words = (one.failure_words, one.severity, one.decision_words, one.owner, one.due)
        return cls(one.case, one.meeting_name, one.model, *words, state, one.comment)


def _decided(
    content: Content, decided: Sequence[_Told], lead: str
) -> tuple[list[str], list[Sequence[Cell]]]:
    rows: list[dict[str, Cell]] = [
        {
            lead: one_line({"Case": one.case, "Meeting": one.meeting}.get(lead, "")),
            "About": model_cell(content, one.model),
            "Failure": one_line(one.failure),
            "Harm": "" if one.severity is None else str(one.severity),
            "Decision": one_line(one.decision),
            "Who": one_line(one.owner or ""),
            "Until": day(one.due) if one.due else "",
            "State": one.state,
            "Notes": one.comment or "",
        }
        for one in decided
    ]
    return _without_empty(rows)


def _without_empty(
    rows: Sequence[Mapping[str, Cell]],
) -> tuple[list[str], list[Sequence[Cell]]]:
    """Return heads and rows, without the columns that have nothing."""
    heads = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    return heads, [[row[name] for name in heads] for row in rows]


def _state(done: bool, is_open: bool, stale: bool) -> str:
    state = "Done" if done else "Open" if is_open else ""
    return "; ".join(part for part in (state, "the answer was replaced since" * stale) if part)


def _score(value: float | None) -> str:
    return _NONE if value is None else write_score(value)
