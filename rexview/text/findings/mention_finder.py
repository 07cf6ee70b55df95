"""Read a text from end to end, and select the mentions that are its own."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from operator import attrgetter
from typing import Final

from rexview.geometry import OTHER_SIDE, image_orientation
from rexview.schema import Answer, Case
from rexview.text.findings.clauses import (
    Clause,
    MentionDraft,
    SideSpan,
    forget_sentences,
    read_alone,
)
from rexview.text.findings.discourse import ReadingContext, read_sentence
from rexview.text.findings.lexicon import finding_info
from rexview.text.findings.mention import Mention
from rexview.text.findings.sentences import Tokens, split_sentences
from rexview.text.findings.structured_parts import find_structured_parts
from rexview.text.findings.structured_records import read_record
from rexview.text.language import detect_language

LONGEST: Final = 100_000
"""Maximum characters of a text that are read; far more than a report or an answer has."""
_REMEMBERED: Final = 20_000
"""Maximum characters of a text whose reading is cached: a report is read for each model."""
_LAST_SENTENCE: Final = 1_000
"""Characters before the limit in which the end of a sentence is searched for."""
_START: Final = attrgetter("start")
_ORIGINAL: Final = re.compile(
    r"\b(?:original|initial|first|preliminary|uncorrected)(?:ly)?"
    r"(?: (?:report|findings|impression|dictat\w+|text|reading)\b[^.\n]{0,20})?:",
    re.IGNORECASE,
)
_SHOULD_READ: Final = re.compile(
    r"\b(?:should (?:read|say|be|have)|correct(?:ed|ion|s)|erratum|error of side|wrong side"
    r"|instead of)\b",
    re.IGNORECASE,
)
_NOT_TICKED: Final = re.compile(
    r"(?<=[^\s\]☒☑✓✔*-])[^\S\n]+(?:[☐□]|\[ \])[^\S\n]*[^\s☐□☒☑✓✔\[][^\n☐□☒☑✓✔\[]{0,30}?"
    r"(?=[^\S\n]+[☐□☒☑✓✔\[]|[^\S\n]{2,}|[^\S\n]*(?:\n|$))"
)
"""An unticked box within a line, with the text next to it: "☐ R ☒ L"."""
_ROUND_TICK: Final = re.compile(r"\([xX*•✓✔]\)[^\S\n]*\w")
_ROUND_NOT_TICKED: Final = re.compile(
    r"(?<=\S)[^\S\n]+\([ ]\)[^\S\n]*[^\s()][^\n()]{0,30}?(?=[^\S\n]*(?:\(|\n|$)|[^\S\n]{2,})"
)
"""The same with round boxes, in a text that ticks some of them: "( ) right (x) left"."""
_PLUS: Final = re.compile(r"\b(?:[RL]t?|[Rr]ight|[Ll]eft)[^\S\n]?:?[^\S\n]?(?:\+|yes\b)")
_MINUS: Final = re.compile(
    r"(?:[,;/][^\S\n]*|\b)(?:[RL]t?|[Rr]ight|[Ll]eft)[^\S\n]?:?[^\S\n]?"
    r"(?:-(?![\w-])|[–—](?=[^\S\n]*(?:[,;.\n]|$))|no(?=[^\S\n]*(?:[,;.)\n]|$)))"
)
"""A side with a finding, and one without: "effusion R+, L-"."""
_STRUCK: Final = re.compile(r"~~[^~\n]{1,200}~~")
"""Text that is struck through."""
_DRAFT: Final = re.compile(
    r"\b(?:draft|first (?:pass|read|look|version)|initial (?:read|impression|version)"
    r"|preliminary(?: read)?|version 1|v1)[^\S\n]*[:=]",
    re.IGNORECASE,
)
_FINAL: Final = re.compile(
    r"\b(?:final|second (?:pass|read|look|version)|revised|corrected|version 2|v2|result|answer)\b"
    r"[^:=\n]{0,20}[:=]",
    re.IGNORECASE,
)
_DICTATED_STOP: Final = re.compile(r"(?<=[^\W\d_] )(?:full stop|period)\b(?! of\b)", re.IGNORECASE)
"""A full stop dictated as a word."""
_FEWEST_SIDES: Final = 2
_THOUGHTS: Final = re.compile(r"</(?:think|thinking|reasoning|scratchpad)>", re.IGNORECASE)


def find_mentions(text: str | None) -> tuple[Mention, ...]:
    """Find every mention of a finding or device.

    Parameters
    ----------
    text : str or None
        A report or an answer in English: prose, markdown, tables, JSON. Any other text is read
        without harm and yields the English words in it. Only the first :data:`LONGEST` characters
        are read; if a model's thoughts end within them, the reading starts after the thoughts.

    Returns
    -------
    tuple of Mention
        In order of position. A finding to which one phrase gives two sides ("left lower and right
        upper lobe opacity") has one mention for each.

    Examples
    --------
    >>> mention, = find_mentions("Opacity. It lies in the left base.")
    >>> mention.finding, mention.side
    ('opacity', 'left')
    """
    if not text or not isinstance(text, str):
        return ()
    if len(text) > LONGEST:
        text = _bounded(text)
    return _remembered(text) if len(text) <= _REMEMBERED else _read(text)


def _bounded(text: str) -> str:
    """Return the part of a text that is read, with the same offsets."""
    start = max((match.end() for match in _THOUGHTS.finditer(text)), default=0)
    if not text[start : start + LONGEST].strip():
        start = 0
    stop = start + LONGEST
    if stop < len(text):
        near = stop - _LAST_SENTENCE
        last = max(text.rfind("\n", near, stop), text.rfind(". ", near, stop))
        stop = last + 1 if last >= 0 else stop
    return " " * start + text[start:stop]


def find_sides(text: str) -> list[SideSpan]:
    """Return the sides of the patient that a short text names, except those it calls normal.

    >>> [side for side, _, _ in find_sides("Over the right fifth rib; the left lung is clear.")]
    ['right']
    """
    tokens = Tokens(text)
    places: list[SideSpan] = []
    for sentence in split_sentences(tokens, 0, len(tokens.words)):
        said, first = read_alone(tokens, sentence.i, sentence.j, begin=sentence.i)
        places += Clause(said.terms).side_spans(tokens, first)
    return places


@lru_cache(maxsize=256)
def _remembered(text: str) -> tuple[Mention, ...]:
    return _read(text)


def clear_caches() -> None:
    """Clear the caches of texts and sentences, so that reading can be measured."""
    _remembered.cache_clear()
    forget_sentences()


def _read(text: str) -> tuple[Mention, ...]:
    if "( )" in text and _ROUND_TICK.search(text):
        text = _ROUND_NOT_TICKED.sub(lambda match: " " * len(match[0]), text)
    if "[ ]" in text or "☐" in text or "□" in text:
        text = _NOT_TICKED.sub(lambda match: " " * len(match[0]), text)
    if "~~" in text:
        text = _STRUCK.sub(lambda match: " " * len(match[0]), text)
    if "stop" in text or "period" in text:
        text = _DICTATED_STOP.sub(lambda match: "." + " " * (len(match[0]) - 1), text)
    if ("+" in text or "yes" in text) and _PLUS.search(text):
        text = _MINUS.sub(lambda match: " " * len(match[0]), text)
    tokens = Tokens(text)
    context = ReadingContext()
    place = 0
    for part in find_structured_parts(text):
        start, end = (bisect_left(tokens.starts, at) for at in part.span)
        _read_prose(tokens, place, start, context)
        for record in part.records:
            read = read_record(tokens, record)
            for draft in read:
                draft.structured = True
            context.drafts += read
        place = end
    _read_prose(tokens, place, len(tokens.words), context)
    _set_thoughts_aside(text, context.drafts)
    _set_original_aside(text, context.drafts)
    _set_draft_aside(text, context.drafts)
    mentions = [mention for draft in context.drafts for mention in draft.mentions()]
    return tuple(sorted(mentions, key=_START))


def _read_prose(tokens: Tokens, start: int, end: int, context: ReadingContext) -> None:
    for sentence in split_sentences(tokens, start, end):
        context.drafts += read_sentence(tokens, sentence, context)


def _set_original_aside(text: str, drafts: list[MentionDraft]) -> None:
    """Let an addendum that corrects a side retract it in the report below, too."""
    original = _ORIGINAL.search(text)
    if original is None or not _SHOULD_READ.search(text, 0, original.start()):
        return
    latest: dict[str, MentionDraft] = {}
    for draft in drafts:
        if draft.sides and draft.end <= original.start():
            draft.superseded = True
            latest[finding_info(draft.finding).family] = draft
    for family, draft in latest.items():
        draft.superseded = False
        sides = {side for side, _, _ in draft.sides}
        for other in drafts:
            if other.start >= original.start() and finding_info(other.finding).family == family:
                other.superseded = bool(other.sides) and sides != {one[0] for one in other.sides}


def _set_draft_aside(text: str, drafts: list[MentionDraft]) -> None:
    """Retract findings with a side in a draft if the final version below gives them a side too."""
    if len({side for one in drafts for side, _, _ in one.sides}) < _FEWEST_SIDES:
        return
    draft = _DRAFT.search(text)
    final = _FINAL.search(text, draft.end()) if draft else None
    if draft is None or final is None:
        return
    sides: dict[str, set[str]] = {}
    for one in drafts:
        if one.start >= final.end():
            sides.setdefault(finding_info(one.finding).family, set()).update(
                s for s, _, _ in one.sides
            )
    for one in drafts:
        if draft.end() <= one.start < final.start():
            later = sides.get(finding_info(one.finding).family)
            one.superseded = one.superseded or (bool(later) and bool(one.sides))


def _set_thoughts_aside(text: str, drafts: list[MentionDraft]) -> None:
    """Retract findings in a model's thoughts in favour of the answer that follows."""
    end = max((match.end() for match in _THOUGHTS.finditer(text)), default=0)
    if end and text[end:].strip():
        for draft in drafts:
            draft.superseded = draft.superseded or draft.end <= end


# The own mentions of answers and reports, which count in a comparison.
#
# An answer repeats its question, lists the options, and may use the sides of the picture. None of
# that is a finding of its own on that side of the patient.

REPORT_SECTIONS: Final = ("findings", "impression")
_WORD: Final = re.compile(r"[^\W_]+")
_FEW: Final = 4
"""Words; a shorter sentence is never taken for a repetition of the question."""
_LONGEST: Final = 20_000
"""Characters; a longer question is not searched for."""


def report_mentions(case: Case) -> list[tuple[str, Mention]]:
    """Return the mentions of a case's report, if English, each with its section."""
    if detect_language(report_text(case)):
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
    """Return the mentions in an answer's own words, with sides of the patient.

    Of a very long text only the part that :func:`find_mentions` reads counts. A text in another
    language than English has none: "kein Pneumothorax" would count as one.
    """
    if not answer.text or detect_language(answer.text):
        return ()
    return convert_to_patient_sides(case, _without_repetition(answer.text, case))


def convert_to_patient_sides(case: Case, mentions: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Convert the picture's sides in some mentions of a case to sides of the patient."""
    if not any(mention.image_side for mention in mentions):
        return mentions
    return tuple(
        _of_patient(case, mention) if mention.image_side else mention for mention in mentions
    )


def _sided(mention: Mention) -> bool:
    return mention.side is not None and mention.status in ("positive", "uncertain")


def _without_repetition(text: str, case: Case) -> tuple[Mention, ...]:
    """Return the mentions of a text, except those that only repeat the question or the options."""
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
    """Convert a side of the picture to the patient's, by the orientation of the frontal images.

    The reading assumed the standard display. Images seen from behind reverse it. Images of unknown
    orientation, or that disagree, leave no side.
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
"""Cached because all answers to a case share its question and options."""


def _may_repeat(text: str, span: tuple[int, int], question: str) -> bool:
    """True if the first word of a sentence occurs in a question at all."""
    first = _WORD.search(text[slice(*span)].lower())
    return first is not None and f" {first[0]} " in question


def _repeats(sentence: str, question: str) -> bool:
    return bool(question) and sentence.count(" ") > _FEW and sentence in question


def _same(sentence: str, option: str) -> bool:
    return bool(option.strip()) and option in sentence and len(sentence) - len(option) <= 4
