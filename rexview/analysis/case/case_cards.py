"""Cards of cases in lists: picture, boxes, answers with their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rexview.analysis.case.comments import CommentCount
from rexview.detect import finding_name
from rexview.harm import NO_ANSWER_HARM, HarmTable
from rexview.schema import Case, StudyImage
from rexview.words import tr

SCAN_STATES: Final = ("not_yet", "yes", "not_judged")
"""States of an answer's scan: no detector yet, detectors have run, a detector failed."""

CHOICE_OUTCOME_NAMES: Final = {
    "right": tr("Right"),
    "wrong": tr("Wrong"),
    "failed": tr("No usable choice"),
}
"""Names on screen of the outcomes of an answer to a choice question with a known right option."""


@dataclass(frozen=True)
class CardBox:
    """A box on the picture of a card; ``model`` is None for a reference box."""

    label: str
    box: tuple[float, ...]
    model: str | None


@dataclass(frozen=True)
class AnswerSummary:
    """One answer in a list of cases.

    ``finals`` has Content, the dimensions, the gap and the spread (None where missing).
    ``failures`` are pairs of failure id and source (a key of
    :data:`rexview.analysis.query.filter.case_filter.SOURCES`), hints last. ``chosen`` is true if
    the answer itself matches the filter, not only its case. ``harm`` describes the harm of its
    worst failure. ``looked_at`` is one of :data:`SCAN_STATES`. ``metric`` is the value by which
    cases are sorted. For a choice question, ``choice`` is the option from 0, None without a usable
    one. ``outcome`` is a key of :data:`CHOICE_OUTCOME_NAMES`, None if the right option is unknown.
    ``marked`` has the titles of the failures in words that people marked.
    """

    model: str
    status: str
    finals: Mapping[str, float | None]
    failures: tuple[tuple[str, str], ...]
    chosen: bool
    harm: str
    looked_at: str = "yes"
    metric: float | None = None
    choice: int | None = None
    outcome: str | None = None
    marked: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseCard:
    """One case on a page of the gallery, its answers in the order of the models.

    ``boxes`` are those on ``image``. ``harm`` describes the worst failure of the answers that match
    the filter, which decides the case's rank by severity. ``harm_model`` is the model of that
    answer. ``harm_meaning`` explains the level of harm; ``harm_level`` is 0 to 4, None without a
    failure.
    """

    case: Case
    image: StudyImage | None
    boxes: tuple[CardBox, ...]
    answers: tuple[AnswerSummary, ...]
    comments: CommentCount | None = None
    harm: str = ""
    harm_meaning: str = ""
    harm_model: str = ""
    harm_level: int | None = None


def describe_harm(row: Mapping[str, Any], table: HarmTable) -> str:
    """Return the text of a row's worst failure, such as ``Harm 4: pneumothorax missed``.

    It names the source if no reader confirmed the failure. A hint is named if no failure harms. The
    text is empty without failures and scores.
    """
    failure, finding = row["harm_failure"], row["harm_finding"]
    if row["harm_hinted"] and not row["harm"]:
        hinted, about = row["hinted_failure"], row["hinted_finding"]
        what = table.describe(hinted, finding_name(about) if about else None)
        words = tr("Suggested by rule, harm {row}: {what}")
        return words.format(row=table.of(hinted, about), what=what)
    if failure:
        what = table.describe(failure, finding_name(finding) if finding else None)
        words = tr("Harm {row}: {what}").format(row=row["harm"], what=what)
        if row["harm_confirmed"] or failure == NO_ANSWER_HARM:
            return words
        return tr("{words} (flagged by rule)").format(words=words)
    if row["content"] is None:
        return ""
    return f"No failure found; Content {row['content']:.1f}".removesuffix(".0")
