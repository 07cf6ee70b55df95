"""Read the option that a text implies if it states no answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rexview.schema import ChoiceReading
from rexview.text.choices import answer_cues
from rexview.text.choices.answer_cues import fold_words
from rexview.text.choices.option_words import (
    NUMBER_PREFIX,
    Options,
    OptionSearch,
    have_same_stem,
    match_reply,
)

_ASKS: Final = re.compile(r"\W*(?:is|are|was|were|does|do|has|have)\s+(?P<the>the\b)?", re.I)
_CLAUSE: Final = re.compile(r"(?:[^.,;:?\n]|[.,](?=\d)){1,400}\??")
_FRAME: Final = frozenset(
    (
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "does",
        "do",
        "did",
        "has",
        "have",
        "had",
        "there",
        "a",
        "an",
        "the",
        "any",
        "this",
        "that",
        "these",
        "it",
        "its",
        "of",
        "on",
        "in",
        "at",
        "to",
        "for",
        "by",
        "with",
        "from",
        "and",
        "evidence",
        "sign",
        "signs",
        "seen",
        "visible",
        "present",
        "shown",
        "noted",
        "image",
        "images",
        "radiograph",
        "film",
        "chest",
        "xray",
        "x",
        "ray",
        "cxr",
        "study",
        "patient",
        "show",
        "shows",
        "demonstrate",
    )
)
"""Words of a question that only introduce what it asks for."""
_NO: Final = re.compile(
    r"\b(?:no|not|without|absence of|absent|nothing|negative for)\b|n['’ ]t\b", re.I
)
_SIDES: Final = frozenset(("right", "left"))
"""A denial on one side may leave the other side open, if the question names no side."""
_DOUBT: Final = re.compile(
    r"\b(?:if|whether|may|might|could|would|can|cannot|possibl[ey]|probabl[ey]|perhaps|maybe"
    r"|unlikely|likely|suspect\w*|question\w*|exclude\w*|rule\w*|resolved|prior|previous\w*|only"
    r"|unless|longer|nor|neither|or|without doubt|other|but|except|history|mimic\w*|chances?|hardly"
    r"|fail\w*|gone|treated|drained|cleared)\b|\?",
    re.IGNORECASE,
)
_IS_SEEN: Final = re.compile(
    r"\bthere (?:is|are)\b|\b(?:is|are) (?:\w+ )?(?:present|seen|visible|noted|evident|identified)"
    r"\b|\b(?:shows?|demonstrates?|reveals?)\b",
    re.IGNORECASE,
)
_IS: Final = re.compile(r"\b(?:is|are|has|have|lies|appears)\b", re.IGNORECASE)


def read_affirmation(text: str, question: str) -> tuple[bool, int, int] | None:
    """Return whether a clause of the text affirms what the question asks for, with its offsets.

    None if no clause has all the words of the question, if one of them expresses doubt, or if two
    disagree.
    """
    asks = _ASKS.match(question)
    wanted = set(re.findall(r"\w+", question.casefold())) - _FRAME
    if not asks or not 1 <= len(wanted) <= 8:
        return None
    stated = _IS if asks["the"] else _IS_SEEN
    found = []
    for clause in _CLAUSE.finditer(text):
        words = set(re.findall(r"\w+", clause[0].casefold()))
        starts = {word[:4] for word in words}
        if not all(
            one[:4] in starts and any(have_same_stem(one, word) for word in words) for one in wanted
        ):
            continue
        denials = len(_NO.findall(clause[0]))
        elsewhere = denials and words & _SIDES - wanted
        if (
            elsewhere
            or _DOUBT.search(clause[0])
            or denials > 1
            or not (denials or stated.search(clause[0]))
        ):
            return None
        said = clause[0].strip()
        start = clause.start() + clause[0].index(said)
        found.append((not denials, start, start + len(said)))
    return found[0] if found and len({one[0] for one in found}) == 1 else None


def read_implied_choice(
    text: str, options: Options, question: str, words: OptionSearch
) -> ChoiceReading | None:
    """Return the option that a text without claims implies.

    If the question asks for absence, only the option's own words count. ``text`` is plain
    (:func:`rexview.text.choices.answer_cues.strip_markup`); ``words`` belong to it.
    """
    found = _near(text, options, question)
    if found or answer_cues.asks_for_absence(question):
        return found
    return (
        _mentioned(text, words)
        or read_yes_or_no(text, options, question)
        or _nothing_found(text, options, words)
        or _on_a_side(text, options, question)
        or _so_long(text, options)
    )


def _near(text: str, options: Options, question: str) -> ChoiceReading | None:
    """Read a text that is little more than one option, with a slip or incomplete."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    option = options.by_part(fold_words(text))
    if option is None:
        option = match_reply(text[start:end], options.folded, question)
    return None if option is None else ChoiceReading(option, "option", start, end)


def _mentioned(text: str, words: OptionSearch) -> ChoiceReading | None:
    """Read the only option that the text mentions, if it is nowhere denied or doubted."""
    named = words.between(0, len(text))
    meant = {one.option for one in named if not one.denied}
    if len(meant) > 1 or any(one.denied and one.option in meant for one in named):
        return None
    if meant and words.speaks_of_others(*meant):
        return None
    first = next((one for one in named if not one.denied), None)
    found = first or words.in_other_order()
    return ChoiceReading(found.option, "mentioned", found.start, found.end) if found else None


def read_yes_or_no(text: str, options: Options, question: str) -> ChoiceReading | None:
    """Read "there is no effusion" as "no" if the question asks for that.

    An affirmation chooses the plain "yes". A denial chooses "no" if there is a plain "yes", or if
    all other options start with "yes".
    """
    if answer_cues.asks_for_absence(question) or answer_cues.UNDECIDED.search(text):
        return None
    words = options.folded
    no = [place for place, own in enumerate(words) if own == "no"]
    yes = [place for place, own in enumerate(words) if own.startswith("yes")]
    if len(no) != 1 or not yes or not (found := read_affirmation(text, question)):
        return None
    if not found[0]:
        every = len(no) + len(yes) == len(words)
        return ChoiceReading(no[0], "mentioned", *found[1:]) if every or "yes" in words else None
    return ChoiceReading(words.index("yes"), "mentioned", *found[1:]) if "yes" in words else None


def _nothing_found(text: str, options: Options, words: OptionSearch) -> ChoiceReading | None:
    """Read one sentence that calls everything normal as the option with that meaning."""
    nothing = [
        place
        for place, own in enumerate(options.folded)
        if answer_cues.NOTHING_OPTION.fullmatch(own)
    ]
    match = answer_cues.NOTHING_FOUND.search(text)
    if (
        len(nothing) != 1
        or not match
        or answer_cues.NOT_NOTHING.search(text)
        or re.search(r"[.;\n]\s*\w", text.strip())
    ):
        return None
    named = {one.option for one in words.between(0, len(text)) if not one.denied}
    if named - {nothing[0]} or words.speaks_of_others(nothing[0]):
        return None
    return ChoiceReading(nothing[0], "mentioned", *match.span())


def _on_a_side(text: str, options: Options, question: str) -> ChoiceReading | None:
    """Read "entering on the right" if the options differ only by their side.

    None if the text names another side too.
    """
    split = [_by_side(words) for words in options.folded]
    beside = {rest for side, rest in split if side}
    reduced = tuple(side or words for (side, _), words in zip(split, options.folded, strict=True))
    named = [(_canonical(match[0]), *match.span()) for match in _SIDE.finditer(text)]
    alone = reduced.count("right") == reduced.count("left") == 1
    if len(beside) != 1 or len({side for side, *_ in named}) != 1 or not alone:
        return None
    if named[0][0] == "both" and reduced.count("both") == 1:
        denied = _NEGATED.search(text)
        return None if denied else ChoiceReading(reduced.index("both"), "mentioned", *named[0][1:])
    if reduced == options.folded:
        return None
    return _mentioned(text, OptionSearch(text, replace(options, folded=reduced), question))


def _by_side(words: str) -> tuple[str, frozenset[str]]:
    """Return the side of an option, if any, and the stems of its other words."""
    every = words.split()
    sides = [word for word in every if _SIDE.fullmatch(word)]
    rest = frozenset(word.rstrip("s")[:_STEM] for word in every if not _SIDE.fullmatch(word))
    return (_canonical(sides[0]), rest) if len(sides) == 1 else ("", rest)


def _canonical(side: str) -> str:
    return "both" if side.casefold().startswith("b") else side.casefold()


def _so_long(text: str, options: Options) -> ChoiceReading | None:
    """Read the one length in a text as the option with that length, in any unit."""
    lengths = [_millimetres(words) for words in options.plain]
    found = {(_millimetres(match[0]), *match.span()) for match in _LENGTH.finditer(text)}
    if len(found) != 1 or _NEGATED.search(text):
        return None
    length, start, end = found.pop()
    if length is None or NUMBER_PREFIX.search(text[:start]) or lengths.count(length) != 1:
        return None
    return ChoiceReading(lengths.index(length), "mentioned", start, end)


def _millimetres(text: str) -> float | None:
    """Return the length that a text consists of, None if it is anything else."""
    match = _LENGTH.fullmatch(text.strip())
    return None if match is None else round(float(match[1]) * (1 if match[2] == "mm" else 10), 3)


_SIDE = re.compile(r"\b(?:right|left|both|bilateral\w*)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:no|not|without|neither|never|cannot)\b|n['’ ]t\b", re.IGNORECASE)
_LENGTH = re.compile(
    r"(?<![\d.,–-])(?<![x×])(?<![x×]\s)(\d{1,4}(?:\.\d{1,3})?)\s?(mm|cm)\b(?!\s*[x×])"
)
_STEM = 6
"""Number of letters by which words are compared."""
