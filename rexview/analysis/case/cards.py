"""What lists of cases show of a case: picture, boxes, answers with their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rexview.analysis.case.comments import CommentCount
from rexview.detect import finding_name
from rexview.harm import NO_ANSWER_CAME, HarmTable
from rexview.schema import Case, StudyImage
from rexview.words import tr

LOOKED_AT: Final = ("not_yet", "yes", "not_judged")
"""Whether detectors have looked at an answer; the last: one of them failed on it."""

OUTCOMES: Final = {"right": tr("Right"), "wrong": tr("Wrong"), "failed": tr("No usable choice")}
"""What became of an answer to a choice question whose right option is known."""


@dataclass(frozen=True)
class CardBox:
    """A box on the picture of a card; ``model`` is None for a reference box."""

    label: str
    box: tuple[float, ...]
    model: str | None


@dataclass(frozen=True)
class AnswerSummary:
    """One answer as lists of cases show it.

    ``finals`` holds Content, the dimensions, the gap and the spread (None where missing).
    ``failures`` are pairs of failure id and who says so (a word of
    :data:`rexview.analysis.query.filter.case_filter.SOURCES`), hints last. ``chosen`` says that the
    answer meets the filter, not only its case. ``harm`` says in words how much harm its worst
    failure can do. ``looked_at`` is a word of :data:`LOOKED_AT`. ``metric`` is the value that cases
    stand in the order of. Of a choice question ``choice`` is the option from 0, None without a
    usable one, and ``outcome`` a word of :data:`OUTCOMES`; None where the right option is not
    known. ``marked`` are the titles of the failures in words that people say it has.
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
    """One case of a page of the gallery, its answers in the order of the models.

    ``boxes`` are those on ``image``. ``harm`` says in words what puts the case where it stands
    among the most severe: the worst failure of the answers that meet the filter; ``harm_model`` is
    the model whose answer has it, ``harm_meaning`` says what that level of harm means;
    ``harm_level`` is 0 to 4, None where nothing failed.
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


def harm_text(row: Mapping[str, Any], table: HarmTable) -> str:
    """Return why a row of an answer table has its place, such as ``Harm 4: pneumothorax missed``.

    It names the source where no reader confirmed the failure. What a rule only suggests is named
    where no failure harms. Empty where nothing was found and nothing is scored.
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
        if row["harm_confirmed"] or failure == NO_ANSWER_CAME:
            return words
        return tr("{words} (flagged by rule)").format(words=words)
    if row["content"] is None:
        return ""
    return f"No failure found; Content {row['content']:.1f}".removesuffix(".0")
