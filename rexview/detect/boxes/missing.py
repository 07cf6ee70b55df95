"""Boxes that were asked for and not drawn, although the answer reports something to mark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import polars as pl

from rexview.detect.core.detector import AnswerInCase, flag, mention_evidence
from rexview.detect.findings import Mention, finding_info
from rexview.detect.phrases import either, whole_words
from rexview.detect.report_comparison import mentions_of_answer
from rexview.schema import Evidence, Flag, Model, ReviewSet

_LONGEST: Final = 5_000
"""Characters of a question that are read."""
_MAYBE: Final = (
    r"(?i)box|mark|outlin|circl|highlight|annotat|draw|delineat|coordinat|region|roi|rectangle"
    r"|show|indicat|locali"
)
"""One of these is in every question that :func:`box_request` finds; tables are narrowed by it."""
_FILM: Final = rf"(?:{either('box_request', 'film')})s?"
_OBJECT: Final = rf"(?:{either('box_request', 'named')})"
_ASKED: Final = re.compile(
    r"\b(?:bounding[\s-]*)?(?:box|boxes|bbox|bboxes|rectangles?|rois?|regions? of interest)\b"
    rf"|\b(?:mark|annotate)\s+{_OBJECT}\b"
    rf"|\b(?:outline|circle|encircle|highlight|delineate|draw|localise|localize|indicate|show)\b"
    rf"[^.?!\n]{{0,80}}\b(?:on|in) (?:the|this|that|each|both|your)\s+(?:[\w-]+\s+)?{_FILM}\b"
    rf"|\b{_FILM}\s+with\b[^.?!\n]{{0,40}}\b(?:marked|annotated|outlined|drawn)\b"
    r"|\b(?:pixel|box|bounding) coordinates\b",
    re.IGNORECASE,
)
_OTHER_BOX: Final = re.compile(
    r"\b(?:tick|check|text|answer|combo|black|list|in)[\s-]+(?:the |a |this )?box(?:es)?$"
    r"|^mark\s+(?:the|your|an?|all|any|each)\s+(?:\w+\s+)?(?:options?|answers?|choices?|statements?)",
    re.IGNORECASE,
)
_UNWANTED: Final = re.compile(
    r"\b(?:no|not|n['’]t|dont|never|without|needn['’]?t|rather than|instead of)\b[^.?!;:\n]{0,40}$"
    r"|n['’]t\b[^.?!;:\n]{0,40}$",
    re.IGNORECASE,
)
_NOT_NEEDED: Final = re.compile(
    r"^[^.?!;\n]{0,20}\b(?:not (?:needed|required|necessary|wanted)|optional|unnecessary)\b",
    re.IGNORECASE,
)
_DEVICES: Final = whole_words("box_request", "device")


@lru_cache(maxsize=256)
def box_request(question: str) -> tuple[int, int] | None:
    """Find the words of a question that ask for boxes or other marks on the image.

    Returns
    -------
    tuple of int, or None
        Offsets into the question; None when nothing is asked to be marked, or it is said that no
        boxes are wanted.

    >>> box_request("Is there an effusion? Mark it with a box.")
    (22, 29)
    >>> box_request("Is there an effusion? Do not draw boxes.") is None
    True
    """
    text = question[:_LONGEST]
    for match in _ASKED.finditer(text):
        if _OTHER_BOX.search(text[max(0, match.start() - 20) : match.end()]):
            continue
        if _OTHER_BOX.match(text[match.start() : match.end() + 40]):
            continue
        before, after = text[max(0, match.start() - 60) : match.start()], text[match.end() :]
        if _UNWANTED.search(before) or _NOT_NEEDED.match(after[:60]):
            continue
        return match.span()
    return None


def cases_asking_for_boxes(review_set: ReviewSet) -> pl.DataFrame:
    """Return the cases whose question asks for boxes or other marks on the image.

    Returns
    -------
    polars.DataFrame
        Columns ``case`` and ``question``.
    """
    questions = review_set.cases.filter(pl.col("question").str.contains(_MAYBE)).select(
        pl.col("id").alias("case"), "question"
    )
    requests = [box_request(text) is not None for text in questions["question"]]
    return questions.filter(pl.Series(requests, dtype=pl.Boolean()))


def models_without_boxes(models: Iterable[Model]) -> frozenset[str]:
    """Return the ids of models that are declared not to draw (``draws_boxes: false``)."""
    return frozenset(model.id for model in models if model.draws_boxes is False)


def models_with_boxes(models: Iterable[Model]) -> frozenset[str]:
    """Return the ids of models that are declared to draw (``draws_boxes: true``).

    These are put a case's ``question_boxes`` in place of its question.
    """
    return frozenset(model.id for model in models if model.draws_boxes)


@dataclass(frozen=True)
class BoxesMissing:
    """Flags answers that report an abnormality without the box that was asked for.

    Kind: ``text``. A picture that the model returned counts as drawn. ``undrawing`` names models
    that cannot draw and are not judged; ``drawing`` those that are put the question with boxes,
    where a case has one.
    """

    undrawing: frozenset[str] = frozenset()
    drawing: frozenset[str] = frozenset()
    failure: str = "boxes_missing"

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether boxes are asked for, and there is an English answer of a model that draws."""
        draws = one.answer.model not in self.undrawing and one.language is None
        return draws and one.came and box_request(self._put(one)[1]) is not None

    def _put(self, one: AnswerInCase) -> tuple[str, str]:
        """Return which field of the case was put to the model, and its text."""
        with_boxes = one.case.question_boxes if one.answer.model in self.drawing else None
        return ("question_boxes", with_boxes) if with_boxes else ("question", one.case.question)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the question against what the answer draws and reports."""
        (where, question), answer = self._put(one), one.answer
        asked = box_request(question)
        if asked is None or answer.boxes or answer.images:
            return []
        devices = bool(_DEVICES.search(question[:_LONGEST]))
        mention = _expected_box(mentions_of_answer(one), devices=devices)
        if mention is None:
            return []
        name = finding_info(mention.finding).name
        if mention.side in ("right", "left"):
            name = f"{mention.side} {name}"
        message = f"Boxes were asked for and the answer reports {name}, but no box is drawn."
        evidence = (
            Evidence(where, question[slice(*asked)], None, *asked),
            mention_evidence("answer", one.text, mention),
        )
        return [flag(self, answer, "text", message, evidence)]


def _expected_box(mentions: Iterable[Mention], *, devices: bool) -> Mention | None:
    """Return the first thing in an answer that a box could be drawn around."""
    for mention in mentions:
        wanted = devices or finding_info(mention.finding).group == "finding"
        if wanted and mention.status == "positive" and not mention.superseded:
            return mention
    return None
