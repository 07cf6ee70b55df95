"""What an answer and a report say themselves: the mentions that count when they are compared.

An answer repeats its question, lists the options, and may speak of the sides of the picture; none
of that is a finding of its own on that side of the patient.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rexview.detect.findings.mention import Mention
from rexview.detect.findings.reading import find_mentions
from rexview.geometry import OTHER_SIDE, image_orientation
from rexview.language import language_of
from rexview.schema import Answer, Case

REPORT_SECTIONS: Final = ("findings", "impression")
_WORD: Final = re.compile(r"[^\W_]+")
_FEW: Final = 4
"""Words; a shorter sentence is not taken for a repetition of the question."""
_LONGEST: Final = 20_000
"""Characters; a longer question is not searched for."""


def report_mentions(case: Case) -> list[tuple[str, Mention]]:
    """Return the mentions of a case's report, each with the section it stands in; English ones."""
    if language_of(report_text(case)):
        return []
    return [
        (section, mention)
        for section in REPORT_SECTIONS
        for mention in find_mentions(getattr(case.report, section))
    ]


def report_text(case: Case) -> str:
    """Return both sections of a case's report as one text."""
    return "\n".join(getattr(case.report, section) or "" for section in REPORT_SECTIONS)


def asserted_mentions(case: Case, answer: Answer) -> tuple[Mention, ...]:
    """Return the mentions of an answer that are its own words, with sides of the patient.

    Of a very long text only the part that :func:`find_mentions` reads; of one in another language
    than English none: "kein Pneumothorax" would be one.
    """
    if not answer.text or language_of(answer.text):
        return ()
    return as_displayed(case, _without_repetition(answer.text, case))


def as_displayed(case: Case, mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Turn the sides of the picture that some mentions of a case have into sides of the patient."""
    if not any(mention.image_side for mention in mentions):
        return mentions
    return tuple(
        _of_patient(case, mention) if mention.image_side else mention for mention in mentions
    )


def _sided(mention: Mention) -> bool:
    return mention.side is not None and mention.status in ("positive", "uncertain")


def _without_repetition(text: str, case: Case) -> tuple[Mention, ...]:
    """Leave out what only repeats the question or the options."""
    mentions = find_mentions(text)
    if not any(_sided(mention) for mention in mentions):
        return mentions
    asked = _folded_question(case.question)
    choices = [_folded_question(option) for option in case.options]
    listed = _folded(text) if len(choices) > 1 else ""
    restated = sum(1 for option in choices if option.strip() and option in listed) > 1
    if not asked.strip() and not restated:
        return mentions
    given: dict[tuple[int, int], bool] = {}
    kept: list[Mention] = []
    for mention in mentions:
        if _sided(mention):
            span = mention.sentence
            if span not in given:
                given[span] = False
                if restated or _may_repeat(text, span, asked):
                    sentence = _folded(text[slice(*span)])
                    chosen = restated and any(_same(sentence, option) for option in choices)
                    given[span] = chosen or _repeats(sentence, asked)
            if given[span]:
                continue
        kept.append(mention)
    return tuple(kept)


def _of_patient(case: Case, mention: Mention) -> Mention:
    """Turn a side of the picture into the patient's by how the case's frontal images are stored.

    The reading took the standard display for granted; images seen from behind turn it round, and
    images of which nothing is known, or that disagree, leave no side.
    """
    if not case.images:
        return mention
    ends = {image_orientation(image).left for image in case.images} & {"R", "L"}
    if ends == {"R"}:
        return mention
    if ends == {"L"} and mention.side in ("right", "left"):
        return mention._replace(side=OTHER_SIDE[mention.side])
    return mention._replace(side=None, side_start=None, side_end=None)


def _folded(text: str | None) -> str:
    if not text or len(text) > _LONGEST:
        return ""
    return f" {' '.join(_WORD.findall(text.lower()))} "


_folded_question: Final = lru_cache(maxsize=256)(_folded)
"""All answers to a case share its question and options."""


def _may_repeat(text: str, span: tuple[int, int], question: str) -> bool:
    """Whether the first word of a sentence stands in a question at all."""
    first = _WORD.search(text[slice(*span)].lower())
    return first is not None and f" {first[0]} " in question


def _repeats(sentence: str, question: str) -> bool:
    return bool(question) and sentence.count(" ") > _FEW and sentence in question


def _same(sentence: str, option: str) -> bool:
    return bool(option.strip()) and option in sentence and len(sentence) - len(option) <= 4
