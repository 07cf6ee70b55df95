"""A case as a blinded reader may see it: answers under letters, without what gives them away.

What is left out here cannot leak further on: pages and components that show a case to a reader are
given nothing else. Names of models inside what a model wrote are covered (see
:mod:`rexview.analysis.case.model_names`), and so are those of the well-known products and makers,
which models like to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import polars as pl

from rexview.analysis.case.model_names import NameFinder
from rexview.analysis.case.record import CasePage
from rexview.frames import TableIndex
from rexview.schema import Answer, Case, Report, ReviewSet
from rexview.stats import limit_reached
from rexview.words import tr

COVER: Final = "[model]"
"""What stands where a model's name stood."""
_FINDERS: Final[WeakKeyDictionary[ReviewSet, NameFinder]] = WeakKeyDictionary()
_PLAIN_WORDS: Final[WeakKeyDictionary[TableIndex, frozenset[str]]] = WeakKeyDictionary()
_PARTS: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Covered:
    """A text as a blinded reader sees it, and where its parts stand in the source.

    ``names`` holds the start and end of each covered name in the source, in order.
    """

    text: str
    names: tuple[tuple[int, int], ...] = ()

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text stands in the source; a name is never cut."""
        pairs = [(shown, source) for source, shown in self._spans()]
        return _moved(start, pairs, 0), _moved(end, pairs, 1)

    def shown(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the source stands in the text; a name is never cut."""
        pairs = self._spans()
        return _moved(start, pairs, 0), _moved(end, pairs, 1)

    def _spans(self) -> list[tuple[_Span, _Span]]:
        """Return each name's place in the source and in the text."""
        shorter, spans = 0, []
        for first, last in self.names:
            begin = first - shorter
            spans.append(((first, last), (begin, begin + len(COVER))))
            shorter = last - begin - len(COVER)
        return spans


_Span = tuple[int, int]


def _moved(at: int, pairs: Iterable[tuple[_Span, _Span]], side: int) -> int:
    """Return the place that ``at`` has on the other side; within a name, that side of the name."""
    further = 0
    for here, there in pairs:
        if at <= here[0]:
            break
        if at < here[1]:
            return there[side]
        further = there[1] - here[1]
    return at + further


def covered(review_set: ReviewSet, text: str) -> Covered:
    """Cover the names and ids of the set's models, and the well-known ones, in a text."""
    names = tuple(name_finder(review_set).spans(text))
    return Covered(cover_names(review_set, text), names)


def cover_names(review_set: ReviewSet, text: str) -> str:
    """Return only the text of :func:`covered`."""
    return name_finder(review_set).cover(text, COVER)


def cover_parts(review_set: ReviewSet, text: str, parts: Sequence[tuple[int, int]]) -> list[str]:
    """Return parts of a text (start and end) as :func:`covered` shows them.

    A name that begins in one part and ends in another is covered in both.
    """
    names = name_finder(review_set).spans(text)
    return [_cover_part(text, start, end, names) for start, end in parts]


def _cover_part(text: str, start: int, end: int, names: Iterable[_Span]) -> str:
    shown = []
    for first, last in names:
        if first < end and last > start:
            shown += [text[start : max(start, first)], COVER]
            start = min(end, last)
    return "".join([*shown, text[start:end]])


def name_finder(review_set: ReviewSet) -> NameFinder:
    """Return what finds names in the texts of a review set, made once."""
    if review_set not in _FINDERS:
        names = [name for model in review_set.models for name in (model.id, model.name)]
        more = review_set.info.protocol.cover_names
        _FINDERS[review_set] = NameFinder(names, plain_words(review_set), more)
    return _FINDERS[review_set]


def plain_words(review_set: ReviewSet) -> frozenset[str]:
    """Return which one-word names of models are also words of questions and reports.

    Those are written by people: such a word is an ordinary one. All cases are read, once for each
    state of the files.
    """
    if review_set.plain_words is not None:
        return review_set.plain_words
    if review_set.index not in _PLAIN_WORDS:
        _PLAIN_WORDS[review_set.index] = _plain_words(review_set)
    return _PLAIN_WORDS[review_set.index]


def _plain_words(review_set: ReviewSet) -> frozenset[str]:
    names = {
        part.lower()
        for model in review_set.models
        for name in (model.id, model.name)
        for part in _PARTS.findall(name)
    }
    texts = pl.concat_str(
        [
            pl.col("question"),
            pl.col("report").struct.field("findings"),
            pl.col("report").struct.field("impression"),
            pl.col("context").struct.field("indication"),
        ],
        separator=" ",
        ignore_nulls=True,
    ).str.to_lowercase()
    column = review_set.cases.select(texts.alias("text"))["text"]
    return frozenset(name for name in names if column.str.contains(rf"\b{re.escape(name)}\b").any())


def blinded_case(case: Case) -> Case:
    """Leave out of a case what a reader who scores must not know: report, truth, tags, origin."""
    return replace(
        case,
        report=Report(),
        reference_boxes=(),
        correct=None,
        explanation=None,
        tags={},
        normal=None,
        difficulty=None,
        extra={},
    )


def blinded_page(review_set: ReviewSet, case_id: str, slots: Mapping[str, str]) -> CasePage | None:
    """Return a case for a blinded reader: its answers under their letters, in that order.

    ``slots`` has the model of each letter (:func:`rexview.analysis.study.worklist.slots_of`).
    ``Answer.model`` is the letter; there are no scores and no flags. The paths of images are those
    of the files and must not reach the browser. None when there is no such case.
    """
    case = review_set.case(case_id)
    if case is None:
        return None
    answers = {answer.model: answer for answer in review_set.answers_of(case_id)}
    shown = tuple(
        _blinded_answer(review_set, answers[model], slot)
        for slot, model in slots.items()
        if model in answers
    )
    return CasePage(blinded_case(case), shown, (), {}, ())


def _blinded_answer(review_set: ReviewSet, answer: Answer, slot: str) -> Answer:
    def cover(text: str | None) -> str | None:
        return None if text is None else cover_names(review_set, text)

    boxes = tuple(replace(box, label=cover(box.label) or "") for box in answer.boxes)
    return Answer(
        case=answer.case,
        model=slot,
        text=cover(answer.text),
        finish_reason="length" if limit_reached(answer) else answer.finish_reason,
        boxes=boxes,
        images=answer.images,
        choice=answer.choice,
        choice_read=answer.choice_read,
        explanation=cover(answer.explanation),
        error=tr("The model's service reported an error.")
        if (answer.error or "").strip()
        else None,
    )
