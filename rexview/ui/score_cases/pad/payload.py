"""What the score pad is given: frozen records, and their JSON for the browser.

Nothing here can name a model: answers have letters. Texts are shown as text but for the fields
that end in ``html``, which the server has made and escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rexview.analysis.study.worklist import CaseState, Item
from rexview.rubric import RubricDimension

ReportState = Literal["never", "hidden", "shown"]


@dataclass(frozen=True)
class PadAnswer:
    """One answer under its letter. ``shown`` names it for the server.

    ``needed`` says whether it has to be scored at all, ``note`` tells what became of an answer that
    did not come in full; ``failures`` are those that a reader can confirm of it.
    """

    slot: str
    shown: str
    colour: str
    html: str
    items: tuple[Item, ...]
    needed: bool
    note: str | None
    failures: tuple[str, ...]


@dataclass(frozen=True)
class PadReport:
    """The report, if the reader may see it; ``html`` is there only when it is shown."""

    state: ReportState
    html: str | None = None
    always: bool = False


@dataclass(frozen=True)
class PadCase:
    """One case on the pad.

    ``place`` counts from 1; ``pictures`` says whether there is anything to look at. ``own`` is what
    the reader has said, as :func:`rexview.ui.score_cases.pad_data.own_json` makes it. ``names``
    holds the models' names by letter, only after they were revealed to this reader.
    """

    case: str
    place: int
    previous: str | None
    next: str | None
    question_html: str
    report: PadReport
    answers: tuple[PadAnswer, ...]
    pictures: bool
    own: Mapping[str, Any]
    names: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the browser gets."""
        return {
            "case": self.case,
            "place": self.place,
            "previous": self.previous,
            "next": self.next,
            "question": self.question_html,
            "report": asdict(self.report),
            "answers": [
                {**asdict(answer), "name": f"Answer {answer.slot}"} for answer in self.answers
            ],
            "pictures": self.pictures,
            "own": dict(self.own),
            "names": dict(self.names) if self.names is not None else None,
        }


@dataclass(frozen=True)
class PadWorklist:
    """Where the reader is: counts, and the cases around the one shown; ``first`` counts from 1."""

    total: int
    done: int
    skipped: int
    first: int
    entries: tuple[tuple[str, CaseState], ...]


@dataclass(frozen=True)
class PadData:
    """All that the pad gets.

    ``outbox`` is what :func:`rexview.ui.saving.outbox.outbox_json` makes; ``failures`` gives name
    and meaning by id. ``ahead`` holds the neighbouring cases.
    """

    outbox: Mapping[str, Any]
    case: PadCase
    worklist: PadWorklist
    rubric: Sequence[RubricDimension]
    failures: Mapping[str, tuple[str, str]]
    report_rule: str
    reveal_rule: str
    ahead: tuple[PadCase, ...] = field(default=())

    def to_json(self, height: str) -> dict[str, Any]:
        """Return what the browser gets; ``height`` is a CSS length."""
        return {
            "height": height,
            "outbox": dict(self.outbox),
            "case": self.case.to_json(),
            "ahead": {one.case: one.to_json() for one in self.ahead},
            "worklist": asdict(self.worklist),
            "rubric": [
                {
                    "id": one.id,
                    "name": one.name,
                    "question": one.question,
                    "anchors": {str(level): text for level, text in one.anchors.items()},
                }
                for one in self.rubric
            ],
            "failures": {
                key: {"name": name, "meaning": meaning}
                for key, (name, meaning) in self.failures.items()
            },
            "protocol": {"report": self.report_rule, "reveal": self.reveal_rule},
        }
