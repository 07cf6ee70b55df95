"""How much harm the failures of a case do, from the flags that its page or its export has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rexview.analysis.case.cards import harm_text
from rexview.analysis.case.record import CasePage
from rexview.detect.core.batch import flag_finding
from rexview.harm import NO_ANSWER_CAME, HarmTable, severity_of
from rexview.schema import Answer, Flag
from rexview.stats import NO_ANSWER, status_of
from rexview.vocab import FAILURES, SCORE_MAX, SCORE_MIN

MOST_BESIDE: Final = 2
"""So many answers fit beside the film."""
_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}


class FailureOfAnswer(NamedTuple):
    """A failure of one answer that no reader rejected.

    ``harm`` is 0 to 4: that of the finding that it is about, of several the greatest. ``finding``
    is None where it is not known. ``confirmed`` by a reader; ``suggested`` by a rule's hint only.
    """

    harm: int
    finding: str | None
    confirmed: bool
    suggested: bool


@dataclass(frozen=True)
class Headline:
    """``words`` say what failed and who says so; ``model`` gave the answer. ``harm`` is 0 to 4.

    ``failure`` is a key of :data:`rexview.vocab.FAILURES`, None where no answer came.
    ``suggested``: a rule only suggests it.
    """

    words: str
    model: str
    harm: int
    failure: str | None
    suggested: bool


@dataclass(frozen=True)
class FailingModels:
    """The models of a case whose answers fail, worst first.

    ``suggested`` are those of whose answers a rule only suggests a failure.
    """

    failing: tuple[str, ...]
    suggested: tuple[str, ...]


def failures_of_answer(flags: Iterable[Flag], table: HarmTable) -> dict[str, FailureOfAnswer]:
    """Return the failures of one answer that stand, by name; rejected flags are left out."""
    by: dict[str, list[Flag]] = {}
    for one in flags:
        if one.failure in FAILURES and one.verdict != "rejected":
            by.setdefault(one.failure, []).append(one)
    return {failure: _of_flags(failure, same, table) for failure, same in by.items()}


def _of_flags(failure: str, flags: Sequence[Flag], table: HarmTable) -> FailureOfAnswer:
    by_rule = [one for one in flags if one.source == "detector"]
    firm = [one for one in by_rule if not one.is_hint]
    about = sorted({name for one in firm or by_rule if (name := flag_finding(one))})
    finding = max(about, key=lambda one: table.of(failure, one), default=None)
    confirmed = len(by_rule) < len(flags)
    return FailureOfAnswer(table.of(failure, finding), finding, confirmed, not (firm or confirmed))


def case_headline(page: CasePage, table: HarmTable) -> Headline | None:
    """Return the worst failure of the case's answers, as its card names it; None without any.

    A failure that a rule only suggests is named where no failure harms.
    """
    found = [one for answer in page.answers if (one := _headline(page, answer, table))]
    return max(found, key=lambda one: one[0])[1] if found else None


def answer_headlines(page: CasePage, table: HarmTable) -> dict[str, Headline]:
    """Return the worst failure of each answer that has any, by its model."""
    found = {one.model: _headline(page, one, table) for one in page.answers}
    return {model: one[1] for model, one in found.items() if one}


def _headline(page: CasePage, answer: Answer, table: HarmTable) -> tuple[float, Headline] | None:
    """Return how severe an answer's worst failure is, and its headline; None without any."""
    row = _harm_of(page, answer, table)
    failure, harm = row["harm_failure"], row["harm"]
    suggested = not harm and bool(row["harm_hinted"])
    if suggested:
        failure = row["hinted_failure"]
        harm = table.of(failure, row["hinted_finding"])
    elif failure is None:
        return None
    known = failure if failure in FAILURES else None
    headline = Headline(harm_text(row, table), answer.model, harm, known, suggested)
    return _severity(row, answer), headline


def failing_models(page: CasePage, table: HarmTable) -> FailingModels:
    """Return whose answers fail, and of whose a rule only suggests it."""
    rows = _worst_first(page, table)
    firm = tuple(answer.model for row, answer in rows if row["harm_failure"])
    return FailingModels(
        firm, tuple(answer.model for row, answer in rows if not row["harm_failure"])
    )


def failing_first(page: CasePage, table: HarmTable) -> CasePage:
    """Put the answers that fail first, the worst of them foremost, where not all fit beside.

    Up to :data:`MOST_BESIDE` answers stay in their order.
    """
    if len(page.answers) <= MOST_BESIDE:
        return page
    first = tuple(answer.model for _, answer in _worst_first(page, table))
    rest = (one.model for one in page.answers if one.model not in first)
    return page.of_models((*first, *rest))


def _worst_first(page: CasePage, table: HarmTable) -> list[tuple[dict[str, Any], Answer]]:
    """Return the answers that fail with their harm, the worst first."""
    rows = [(_harm_of(page, answer, table), answer) for answer in page.answers]
    rows = [one for one in rows if one[0]["harm_failure"] or one[0]["harm_hinted"]]
    return sorted(rows, key=lambda one: -_severity(*one))


def _severity(row: dict[str, Any], answer: Answer) -> float:
    """Rank answers as :func:`rexview.analysis.memory.severity.severity` does."""
    content = row["content"] or SCORE_MAX
    points = SCORE_MIN if status_of(answer) in NO_ANSWER else content
    by_harm = severity_of(row["harm"], row["harm_confirmed"], row["harm_hinted"])
    return float(by_harm + SCORE_MAX - points)


def _harm_of(page: CasePage, answer: Answer, table: HarmTable) -> dict[str, Any]:
    """Return the harm of an answer as the columns of an answer table that ``harm_text`` reads."""
    flags = (one for one in page.flags if one.model == answer.model)
    failures = failures_of_answer(flags, table)

    def worst(*, suggested: bool) -> str | None:
        some = [name for name, one in failures.items() if one.suggested == suggested]
        rank = {name: (failures[name].harm, failures[name].confirmed) for name in some}
        return max(some, key=lambda name: (*rank[name], -_ORDER[name]), default=None)

    failure, hint = worst(suggested=False), worst(suggested=True)
    found = failures[failure] if failure else FailureOfAnswer(0, None, False, False)
    never_came = table.failures[NO_ANSWER_CAME].harm
    if status_of(answer) in NO_ANSWER and found.harm < never_came:
        failure, found = NO_ANSWER_CAME, FailureOfAnswer(never_came, None, False, False)
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
