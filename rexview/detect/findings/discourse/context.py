"""What earlier sentences leave for the next one."""

from __future__ import annotations

from dataclasses import dataclass, field

from rexview.detect.findings.clauses import Draft, SideSpan
from rexview.detect.findings.mention import Side, Status


@dataclass(slots=True)
class Context:
    """What headings and earlier sentences say of the next one.

    ``section`` and ``status`` come from a heading ("Indication:" makes what follows hypothetical),
    ``topic`` is the side that a heading or label set, ``topic_indent`` how far in a line stood that
    others stand below, ``last`` the findings of the last sentence that had any, ``pending`` a side
    that was given ahead of its finding, ``side`` the last one of a finding (``side_is_told``) or,
    as long as none has one, the last that was named, for "on the same side". ``correcting`` waits
    for what a correction puts right, ``tentative`` says that a correction was met, which may be
    corrected in turn.
    """

    section: str | None = None
    status: Status | None = None
    status_line: int | None = None
    topic: SideSpan | None = None
    topic_line: int | None = None
    topic_indent: int | None = None
    last: list[Draft] = field(default_factory=list)
    last_line: int = -1
    pending: SideSpan | None = None
    side: Side | None = None
    side_is_told: bool = False
    correcting: bool = False
    tentative: bool = False
    drafts: list[Draft] = field(default_factory=list)
