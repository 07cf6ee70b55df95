"""The harm of a case's failures, and its headline: "Harm 4: pneumothorax missed, Medical 4B"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rexview.analysis.case.case_cards import describe_harm
from rexview.analysis.case.case_page import CasePage
from rexview.detect.scan.batch import flag_finding
from rexview.harm import NO_ANSWER_HARM, HarmTable, severity_sort_value
from rexview.schema import (
    Answer,
    Flag,
)
from rexview.stats import (
    MISSING_STATUSES,
    find_status,
)
from rexview.vocab import FAILURES, SCORE_MAX, SCORE_MIN

MAX_SIDE_BY_SIDE: Final = 2
"""Most answers that fit beside the image."""
_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}


class AnswerFailure(NamedTuple):
    """A failure of one answer that no reader rejected.

    ``harm`` is 0 to 4: that of its finding, of several findings the greatest. ``finding`` is None
    if unknown. ``confirmed`` means by a reader; ``suggested`` means by a rule's hint only.
    """

    harm: int
    finding: str | None
    confirmed: bool
    suggested: bool


@dataclass(frozen=True)
class CaseHeadline:
    """The headline of a case or answer: its worst failure.

    ``words`` name the failure and its source; ``model`` is the answer's. ``harm`` is 0 to 4.
    ``failure`` is a key of :data:`rexview.vocab.FAILURES`, None for a missing answer.
    ``suggested`` is true for a rule's hint.
    """

    words: str
    model: str
    harm: int
    failure: str | None
    suggested: bool


@dataclass(frozen=True)
class FailingModels:
    """The models of a case whose answers fail, worst first.

    ``suggested`` are the models whose answers have only a rule's hint.
    """

    failing: tuple[str, ...]
    suggested: tuple[str, ...]


def find_answer_failures(flags: Iterable[Flag], table: HarmTable) -> dict[str, AnswerFailure]:
    """Return the failures of one answer by name; rejected flags are left out."""
    by: dict[str, list[Flag]] = {}
    for one in flags:
        if one.failure in FAILURES and one.verdict != "rejected":
            by.setdefault(one.failure, []).append(one)
    return {failure: _combine_flags(failure, same, table) for failure, same in by.items()}


def _combine_flags(failure: str, flags: Sequence[Flag], table: HarmTable) -> AnswerFailure:
    by_rule = [one for one in flags if one.source == "detector"]
    firm = [one for one in by_rule if not one.is_hint]
    about = sorted({name for one in firm or by_rule if (name := flag_finding(one))})
    finding = max(about, key=lambda one: table.of(failure, one), default=None)
    confirmed = len(by_rule) < len(flags)
    return AnswerFailure(table.of(failure, finding), finding, confirmed, not (firm or confirmed))


def build_case_headline(page: CasePage, table: HarmTable) -> CaseHeadline | None:
    """Return the worst failure of the case's answers, as on its card; None without any.

    A rule's hint is named if no failure harms.
    """
    rows = _sort_worst_first(page, table)
    return _headline(*rows[0], table) if rows else None


def build_answer_headlines(page: CasePage, table: HarmTable) -> dict[str, CaseHeadline]:
    """Return the worst failure of each answer that has any, by its model."""
    rows = _sort_worst_first(page, table)
    return {answer.model: _headline(row, answer, table) for row, answer in rows}


def _headline(row: Mapping[str, Any], answer: Answer, table: HarmTable) -> CaseHeadline:
    """Return the headline of an answer that fails, from its row of :func:`_sort_worst_first`."""
    failure, harm = row["harm_failure"], row["harm"]
    suggested = not harm and bool(row["harm_hinted"])
    if suggested:
        failure = row["hinted_failure"]
        harm = table.of(failure, row["hinted_finding"])
    known = failure if failure in FAILURES else None
    return CaseHeadline(describe_harm(row, table), answer.model, harm, known, suggested)


def find_failing_models(page: CasePage, table: HarmTable) -> FailingModels:
    """Return the models whose answers fail, and those with only a rule's hint."""
    rows = _sort_worst_first(page, table)
    firm = tuple(answer.model for row, answer in rows if row["harm_failure"])
    return FailingModels(
        firm, tuple(answer.model for row, answer in rows if not row["harm_failure"])
    )


def sort_failing_first(page: CasePage, table: HarmTable) -> CasePage:
    """Return the page with the failing answers first, from the worst on.

    Up to :data:`MAX_SIDE_BY_SIDE` answers, which all fit beside the image, keep their order.
    """
    if len(page.answers) <= MAX_SIDE_BY_SIDE:
        return page
    first = tuple(answer.model for _, answer in _sort_worst_first(page, table))
    rest = (one.model for one in page.answers if one.model not in first)
    return page.of_models((*first, *rest))


def _sort_worst_first(page: CasePage, table: HarmTable) -> list[tuple[dict[str, Any], Answer]]:
    """Return the answers that fail with their harm, the worst first."""
    rows = [(_harm_row(page, answer, table), answer) for answer in page.answers]
    rows = [one for one in rows if one[0]["harm_failure"] or one[0]["harm_hinted"]]
    return sorted(rows, key=lambda one: -_severity(*one))


def _severity(row: dict[str, Any], answer: Answer) -> float:
    """Return an answer's severity, like :func:`.rank_severity`."""
    content = row["content"] or SCORE_MAX
    points = SCORE_MIN if find_status(answer) in MISSING_STATUSES else content
    by_harm = severity_sort_value(row["harm"], row["harm_confirmed"], row["harm_hinted"])
    return float(by_harm + SCORE_MAX - points)


def _harm_row(page: CasePage, answer: Answer, table: HarmTable) -> dict[str, Any]:
    """Return the harm of an answer as columns of an answer table, for :func:`describe_harm`."""
    flags = (one for one in page.flags if one.model == answer.model)
    failures = find_answer_failures(flags, table)

    def worst(*, suggested: bool) -> str | None:
        some = [name for name, one in failures.items() if one.suggested == suggested]
        rank = {name: (failures[name].harm, failures[name].confirmed) for name in some}
        return max(some, key=lambda name: (*rank[name], -_ORDER[name]), default=None)

    failure, hint = worst(suggested=False), worst(suggested=True)
    found = failures[failure] if failure else AnswerFailure(0, None, False, False)
    never_came = table.failures[NO_ANSWER_HARM].harm
    if find_status(answer) in MISSING_STATUSES and found.harm < never_came:
        failure, found = NO_ANSWER_HARM, AnswerFailure(never_came, None, False, False)
    finals = page.finals.get(answer.model)
    return {
        "harm": found.harm,
        "harm_failure": failure,
        "harm_finding": found.finding,
        "harm_confirmed": found.confirmed,
        "harm_hinted": max(1, failures[hint].harm) if hint else 0,
        "hinted_failure": hint,
        "hinted_finding": failures[hint].finding if hint else None,
        "content": finals.content if finals else None,
    }
