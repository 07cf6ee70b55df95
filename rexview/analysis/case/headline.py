"""The worst failure of a case in one line, from what its page has at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rexview.analysis.case.cards import harm_text
from rexview.analysis.case.record import CasePage
from rexview.detect.core.looking import flag_finding
from rexview.harm import NO_ANSWER_CAME, HarmTable
from rexview.schema import Answer, Flag
from rexview.stats import NO_ANSWER, status_of
from rexview.vocab import FAILURES

_ORDER = list(FAILURES)


@dataclass(frozen=True)
class Headline:
    """``words`` say what failed and who says so; ``model`` gave the answer. ``harm`` is 0 to 4."""

    words: str
    model: str
    harm: int


def case_headline(page: CasePage, table: HarmTable) -> Headline | None:
    """Return the worst failure of the case's answers, as its card names it; None without any.

    A failure that a rule only suggests is named where none is confirmed or found.
    """
    rows = [(_harm_of(page, answer, table), answer.model) for answer in page.answers]
    rows = [one for one in rows if one[0]["harm_failure"] or one[0]["harm_hinted"]]
    if not rows:
        return None
    row, model = max(rows, key=lambda one: _severity(one[0]))
    harm = row["harm"]
    if not harm and row["harm_hinted"]:
        harm = table.of(row["hinted_failure"], row["hinted_finding"])
    return Headline(harm_text(row, table), model, harm)


def _severity(row: dict[str, Any]) -> tuple[float, ...]:
    """Rank answers as :mod:`rexview.analysis.memory.severity` does."""
    content = 1.0 if row["lost"] else row["content"] or 5.0
    alone = 0 if row["harm"] else row["harm_hinted"]
    return row["harm"], row["harm_confirmed"], alone, -content, row["harm_hinted"]


def _harm_of(page: CasePage, answer: Answer, table: HarmTable) -> dict[str, Any]:
    """Return the harm of an answer in the columns of ``severity.HARM_COLUMNS``, and its Content."""
    flags = [one for one in page.flags if one.model == answer.model and one.verdict != "rejected"]
    flags = [one for one in flags if one.failure in FAILURES]
    firm = [one for one in flags if one.source == "reader" or not one.is_hint]
    named = {one.failure for one in firm}
    worst = max(firm, key=lambda one: _rank(one, flags, table), default=None)
    hints = [one for one in flags if one.failure not in named]
    hint = max(hints, key=lambda one: _rank(one, flags, table), default=None)
    harm = _harm(worst, flags, table) if worst else 0
    lost = status_of(answer) in NO_ANSWER
    failure = worst.failure if worst else None
    if lost and harm < table.failures[NO_ANSWER_CAME].harm:
        harm, failure, worst = table.failures[NO_ANSWER_CAME].harm, NO_ANSWER_CAME, None
    finals = page.finals.get(answer.model)
    return {
        "harm": harm,
        "harm_failure": failure,
        "harm_finding": _finding(worst, flags, table) if worst else None,
        "harm_confirmed": bool(worst and _confirmed(worst, flags)),
        "harm_hinted": max(1, _harm(hint, flags, table)) if hint else 0,
        "hinted_failure": hint.failure if hint else None,
        "hinted_finding": _finding(hint, flags, table) if hint else None,
        "content": finals.content if finals else None,
        "lost": lost,
    }


def _rank(flag: Flag, flags: list[Flag], table: HarmTable) -> tuple[int, bool, int]:
    harm = _harm(flag, flags, table)
    return harm, _confirmed(flag, flags), -_ORDER.index(flag.failure)


def _confirmed(flag: Flag, flags: list[Flag]) -> bool:
    return any(one.failure == flag.failure and one.source == "reader" for one in flags)


def _harm(flag: Flag, flags: list[Flag], table: HarmTable) -> int:
    return table.of(flag.failure, _finding(flag, flags, table))


def _finding(flag: Flag, flags: list[Flag], table: HarmTable) -> str | None:
    """Return the finding of a failure that does most harm: hints name one only without others."""
    same = [one for one in flags if one.failure == flag.failure and one.source == "detector"]
    firm = [one for one in same if not one.is_hint] or same
    found = sorted({name for one in firm if (name := flag_finding(one))})
    return max(found, key=lambda one: table.of(flag.failure, one), default=None)
