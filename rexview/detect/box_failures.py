"""Find failures shown by boxes: misplaced, missing, or not mentioned in the text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import polars as pl

from rexview.detect.box_labels import (
    box_evidence,
    find_box_image,
    label_findings,
    label_topics,
    names_tip,
    read_label_side,
    reference_evidence,
    short_label,
)
from rexview.detect.detector import AnswerInCase, ScoreRule, make_flag, mention_evidence
from rexview.detect.report_comparison import MOST_READ, read_answer_mentions
from rexview.detect.score_failures import has_boxes_or_score, low_image_score, low_image_score_rule
from rexview.geometry import OTHER_SIDE, box_problem, iou
from rexview.schema import AnswerBox, Case, Evidence, Flag, Model, ReferenceBox, ReviewSet
from rexview.text.findings import Mention, find_mentions, finding_info, may_be_same_fracture
from rexview.text.phrases import list_alternatives, whole_words, word_set

LEAST_IOU: Final = 0.3
"""Intersection over union with the reference box below which a box is misplaced."""
_LEAST_INSIDE: Final = 0.5
"""Minimum share of a box inside the image, or inside the region that several boxes share."""
Rectangle = tuple[float, ...]


@dataclass(frozen=True)
class BoxMisplaced:
    """Flags boxes that are not on the finding that their label names.

    Kinds: ``reference_boxes`` (overlap with the reference box of the same finding on the same image
    below :data:`LEAST_IOU`), ``outside`` (most of the box is outside the image), ``scores`` (final
    Image Content of at most 2). Several boxes of one finding may share a reference box, and one box
    may cover several. Labels of tips are not compared with boxes of whole devices. A box without a
    label, or without a reference box of its finding on its image, is compared with the image's
    edges only.
    """

    failure: str = "box_misplaced"

    def score_rule(self) -> ScoreRule:
        """Flag low scores for the boxes of all answers."""
        return low_image_score_rule("image_content")

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if there are boxes, or a final Image Content."""
        return has_boxes_or_score(one, "image_content")

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the boxes with the case's images and reference boxes."""
        case, answer = one.case, one.answer
        flags = []
        for box in one.sure_boxes:
            if _outside(case, box):
                message = f"The box “{short_label(box.label)}” lies outside the image."
                flags.append(make_flag(self, answer, "outside", message, (box_evidence(box),)))
                continue
            missed = self._missed(case, box, one.sure_boxes)
            if missed is not None:
                reference, overlap = missed
                message = (
                    f"The box “{short_label(box.label)}” hardly overlaps the reference box "
                    f"“{short_label(reference.label)}”: {overlap:.0%} of their joint area (IoU), "
                    f"{LEAST_IOU:.0%} expected."
                )
                evidence = (box_evidence(box), reference_evidence(reference, reference.side))
                flags.append(make_flag(self, answer, "reference_boxes", message, evidence))
        return flags + low_image_score(self, one, "image_content")

    def _missed(
        self, case: Case, box: AnswerBox, boxes: Sequence[AnswerBox]
    ) -> tuple[ReferenceBox, float] | None:
        """Return the nearest reference box if a box matches none, and their overlap; else None."""
        image, topics, tip = (
            find_box_image(case, box),
            label_topics(box.label),
            names_tip(box.label),
        )
        if image is None or not topics or box_problem(box.box, image.width, image.height):
            return None
        references = [
            reference
            for reference in case.reference_boxes
            if topics & label_topics(reference.label)
            and names_tip(reference.label) == tip
            and find_box_image(case, reference) == image
            and not box_problem(reference.box)
        ]
        if not references:
            return None
        overlaps = [iou(box.box, reference.box) for reference in references]
        best = max(range(len(references)), key=overlaps.__getitem__)
        if overlaps[best] >= LEAST_IOU:
            return None
        if tip and any(_centre_in(reference.box, box.box) for reference in references):
            return None
        drawn = [
            other.box
            for other in boxes
            if topics & label_topics(other.label)
            and find_box_image(case, other) == image
            and not box_problem(other.box, image.width, image.height)
        ]
        reference_boxes = [reference.box for reference in references]
        around = hull(reference_boxes)
        pairs = [(box.box, around)]
        if _share_inside(box.box, around) >= _LEAST_INSIDE:
            pairs += [(hull(drawn), one) for one in (*reference_boxes, around)]
        if any(iou(first, second) >= LEAST_IOU for first, second in pairs):
            return None
        return references[best], overlaps[best]


def hull(boxes: Sequence[Rectangle]) -> Rectangle:
    """Return the smallest box around some boxes."""
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right = max(box[0] + box[2] for box in boxes)
    bottom = max(box[1] + box[3] for box in boxes)
    return (left, top, right - left, bottom - top)


def _outside(case: Case, box: AnswerBox) -> bool:
    image = find_box_image(case, box)
    if image is None or not image.width or not image.height:
        return False
    if len(box.box) != 4 or not all(map(math.isfinite, box.box)) or min(box.box[2:]) <= 0:
        return False
    return _share_inside(box.box, (0.0, 0.0, image.width, image.height)) < _LEAST_INSIDE


def _share_inside(box: Rectangle, frame: Rectangle) -> float:
    """Return the share of a box that is inside another."""
    x, y, width, height = box
    across = min(x + width, frame[0] + frame[2]) - max(x, frame[0])
    down = min(y + height, frame[1] + frame[3]) - max(y, frame[1])
    return max(0.0, across) * max(0.0, down) / (width * height)


def _centre_in(small: Rectangle, box: Rectangle) -> bool:
    x, y = small[0] + small[2] / 2, small[1] + small[3] / 2
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]


# Boxes that were requested but not drawn, although the answer reports something to mark.

_LONGEST: Final = 5_000
"""Maximum number of characters of a question that are read."""
_MAYBE: Final = (
    r"(?i)box|mark|outlin|circl|highlight|annotat|draw|delineat|coordinat|region|roi|rectangle"
    r"|show|indicat|locali"
)
"""Every question that :func:`box_request` accepts contains one of these, to filter tables fast."""
_FILM: Final = rf"(?:{list_alternatives('box_request', 'film')})s?"
_OBJECT: Final = rf"(?:{list_alternatives('box_request', 'named')})"
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
    """Find the words of a question that request boxes or other marks on the image.

    Returns
    -------
    tuple of int, or None
        Offsets into the question; None if it requests no marks, or wants no boxes.

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
    """Return the cases whose question requests boxes or other marks on the image.

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

    These models receive a case's ``question_boxes`` instead of its question.
    """
    return frozenset(model.id for model in models if model.draws_boxes)


@dataclass(frozen=True)
class BoxesMissing:
    """Flags answers that report an abnormality without the requested box.

    Kind: ``text``. A picture that the model returned counts as drawn. ``undrawing`` are models that
    cannot draw; they are not judged. ``drawing`` are models that receive the question with boxes,
    if a case has one.
    """

    undrawing: frozenset[str] = frozenset()
    drawing: frozenset[str] = frozenset()
    failure: str = "boxes_missing"

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if boxes are requested, and a model that draws answered in English."""
        draws = one.answer.model not in self.undrawing and one.language is None
        return draws and one.came and box_request(self._put(one)[1]) is not None

    def _put(self, one: AnswerInCase) -> tuple[str, str]:
        """Return the name and text of the case's field that the model received as its question."""
        with_boxes = one.case.question_boxes if one.answer.model in self.drawing else None
        return ("question_boxes", with_boxes) if with_boxes else ("question", one.case.question)

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the request with what the answer draws and reports."""
        (where, question), answer = self._put(one), one.answer
        asked = box_request(question)
        if asked is None or answer.boxes or answer.images:
            return []
        devices = bool(_DEVICES.search(question[:_LONGEST]))
        mention = _expected_box(read_answer_mentions(one), devices=devices)
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
        return [make_flag(self, answer, "text", message, evidence)]


def _expected_box(mentions: Iterable[Mention], *, devices: bool) -> Mention | None:
    """Return the first finding or device in an answer that a box could be drawn around."""
    for mention in mentions:
        wanted = devices or finding_info(mention.finding).group == "finding"
        if wanted and mention.status == "positive" and not mention.superseded:
            return mention
    return None


# Boxes that the text does not mention.

_ANY_OPACITY: Final = "opacity"
"""Matches any finding of the lung, because its name is so general."""
_ANY_FRACTURE: Final = "fracture"
"""A fracture of no named bone: "no fracture" denies a fracture of any bone."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STEM: Final = 5
_PLACES: Final = word_set("box_label", "place")


@dataclass(frozen=True)
class BoxUnrelated:
    """Flags boxes whose label names a finding or device that the answer does not report.

    Kinds: ``text`` (the answer does not mention the label's finding, or only as absent) and
    ``scores`` (final Image Style of at most 2, with boxes or pictures). A label matches any finding
    of its family, the question and the chosen option. There is no verdict on a label that names no
    finding in the lexicon, or on an answer without text.
    """

    failure: str = "box_unrelated"

    def score_rule(self) -> ScoreRule:
        """Flag low scores for the boxes of all answers."""
        return low_image_score_rule("image_style")

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if there are boxes, or a final Image Style."""
        by_text = bool(one.sure_boxes) and one.language is None
        return by_text or "image_style" in one.final.by_dimension

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the labels of the boxes with the text."""
        flags = []
        readable = bool(one.text.strip()) and len(one.text) <= MOST_READ and one.language is None
        if one.sure_boxes and readable:
            mentions = find_mentions(one.text)
            elsewhere = _mentions_elsewhere(one)
            for box in one.sure_boxes:
                unmet = _unmet(box, one.text, mentions, elsewhere)
                if unmet is not None:
                    flags.append(make_flag(self, one.answer, "text", *unmet))
        return flags + low_image_score(self, one, "image_style")


def _unmet(
    box: AnswerBox, text: str, mentions: Sequence[Mention], elsewhere: Sequence[Mention]
) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return message and evidence if the text does not report what a label names, else None."""
    named = label_findings(box.label)
    if not named:
        return None
    named_mentions = [mention for mention in mentions if _meets(mention.finding, named)]
    if any(mention.status != "negated" for mention in named_mentions):
        return None
    label = short_label(box.label)
    denials = [mention for mention in named_mentions if _denies(mention, named, box.label)]
    if denials:
        message = f"The box “{label}” marks what the answer says is not there."
        return message, (box_evidence(box), mention_evidence("answer", text, denials[-1]))
    if any(_meets(mention.finding, named) for mention in elsewhere) or _worded(box.label, text):
        return None
    return f"The box “{label}” marks what the answer does not mention.", (box_evidence(box),)


def _mentions_elsewhere(one: AnswerInCase) -> list[Mention]:
    """Return the mentions in the question, the chosen option and the explanation."""
    chosen, options = one.answer.choice, one.case.options
    option = options[chosen] if chosen is not None and 0 <= chosen < len(options) else ""
    texts = (one.case.question, option, one.answer.explanation or "")
    return [mention for text in texts for mention in find_mentions(text[:MOST_READ])]


def _meets(finding: str, named: frozenset[str]) -> bool:
    return any(_same(finding, other) for other in named)


def _same(mentioned: str, named: str) -> bool:
    one, other = finding_info(mentioned), finding_info(named)
    if one.family == other.family:
        return True
    if named == _ANY_OPACITY:
        return one.region == "lung" and one.group == "finding"
    return may_be_same_fracture(mentioned, named)


def _denies(mention: Mention, named: frozenset[str], label: str | None) -> bool:
    """True if a negated mention denies what a label names, not another bone or the other side."""
    families = {finding_info(other).family for other in named}
    denied = finding_info(mention.finding)
    if denied.family not in families and denied.id != _ANY_FRACTURE:
        return False
    claim = read_label_side(label)
    return claim is None or mention.side != OTHER_SIDE[claim.side]


def _worded(label: str, text: str) -> bool:
    """True if the text contains all words of a label, except for place and size."""
    stems = {word.lower()[:_STEM] for word in _WORD.findall(label) if word.lower() not in _PLACES}
    given = {word.lower()[:_STEM] for word in _WORD.findall(text)}
    return bool(stems) and stems <= given
