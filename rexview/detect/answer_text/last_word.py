"""The last word of a text without a full stop: half a word, or no end of a sentence."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from rexview.detect.phrases import either, whole_words


def _just_before(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{either('text_end', name)})\s+$", re.IGNORECASE)


_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_VERB: Final = whole_words("text_end", "verb")
_ARTICLE_BEFORE: Final = re.compile(
    rf"\b(?:{either('text_end', 'article_before')})\s+(?:[\w-]+ly\s+)?$", re.IGNORECASE
)
_NEEDS_MORE: Final = _just_before("needs_more")
_CONTRACTED: Final = re.compile(
    r"(?:\b(?:it|there|he|she|what|who|here)['’]s|['’](?:re|ve|ll)|n['’]t)$", re.IGNORECASE
)
_HALF_CLAUSE: Final = re.compile(
    r"\b(?:whereas|while|that|because|although|but|where)\s+the\s+(?:left|right)$", re.IGNORECASE
)
_OPEN_CLAUSE: Final = re.compile(
    r"^(?:if|when|although|because|unless|once)\s+(?:[\w'’-]+\s+){3,}$", re.I
)
"""A clause that waits for its main one: no comma, no other mark."""
_LEADING: Final = re.compile(r"\b(?:the|an?|for|of|with|in|by|to)\s+$", re.IGNORECASE)
"""What leads a word of degree on to something: "the most", "for nearly"."""
_AT_MOST: Final = frozenset(("most", "about"))
_NO: Final = re.compile(r"\b(?:no|without|any)\s+$", re.IGNORECASE)
_TO_WHAT: Final = _just_before("takes_to")
_PREDICATE: Final = _just_before("predicate")
_SENTENCE_START: Final = re.compile(r"(?<=[.!?;])\s+|\s\|\s|:\s")
_AFTER_STOP: Final = re.compile(r"[a-z)][.;]\s+$")
_SHORT: Final = 60
"""Characters; in a shorter text a last word on its own is not held against it."""
_INFLECTIONS: Final = frozenset(("s", "es", "ed", "d", "ing", "ly", "er", "r", "st"))
_LETTER_NAMED: Final = re.compile(
    r"(?:\d\s*|\b(?:option|type|grade|class|stage|vitamin|hepatitis|answer|choice|point|zone|figure)"
    r"\s+|[:(=/|-]\s*)$",
    re.IGNORECASE,
)
"""Before a single letter that is a name or a unit."""
_WHOLE: Final = ("known", "short_forms", "continuing", "adjectives", "transitive", "degree")
_ENGLISH: Final = 0.4
"""Share of known words from which a text is taken for English."""
_WORDS_FILE: Final = Path(__file__).with_name("ending_words.yaml")


def judge_last_word(tail: str, core: str, start: int, place: int) -> tuple[str, int] | None:
    """Judge the last word of a line that ends without a full stop. English texts only.

    ``tail`` is the end of the text, ``core`` its last line without closing marks; ``start`` and
    ``place`` are the offsets of the word in ``core`` and of ``core`` in the text.

    Returns
    -------
    tuple of str and int, or None
        Half a sentence that says why it looks cut, and the word's offset in the text.
    """
    words = ending_words()
    given = [word.lower() for word in _WORD.findall(tail)]
    if not _english(given, words):
        return None
    raw, before = core[start:].rstrip("."), core[:start]
    word = raw.lower()
    sentence = _SENTENCE_START.split(before)[-1]
    alone = not _WORD.search(sentence)
    begun = bool(_AFTER_STOP.search(before)) and len(tail) > _SHORT
    if len(raw) == 1 and raw.isupper():
        return ("it ends in the middle of a word", place + start) if begun else None
    if raw.isupper() and not core.isupper():
        return None
    middle = "it ends in the middle of a sentence", place + start
    if not alone and (_CONTRACTED.search(core[-20:]) or _HALF_CLAUSE.search(core[-40:])):
        return middle
    if word in words["continuing"] and (begun or not alone):
        value = word in words["value_or_idiom"] and not _NEEDS_MORE.search(sentence)
        value = value or (word == "to" and bool(_TO_WHAT.search(sentence)))
        return None if value and not begun else middle
    if alone and place and raw.istitle() and word in words["continuing"] - words["answering"]:
        return middle
    if _OPEN_CLAUSE.search(sentence.lstrip()) or _leads_on(word, sentence, words):
        return middle
    if alone and begun and raw.istitle() and word.endswith("ing") and _VERB.search(before):
        return middle
    if _NO.search(sentence) and word in words["attributive"] | words["adjectives"] | {"evidence"}:
        return middle
    if _VERB.search(sentence) and len(_WORD.findall(sentence)) >= 2:
        attributive = word in words["attributive"] and not _PREDICATE.search(sentence)
        noun = word in words["adjectives"] and _ARTICLE_BEFORE.search(sentence)
        if noun or attributive or word in words["degree"]:
            return middle
    if word in words["transitive"] and not alone:
        return middle
    named = len(raw) == 1 and _LETTER_NAMED.search(before)
    first = alone and not begun and not place and not before.strip()
    if not first and not named and _half_word(word, given, words):
        return "it ends in the middle of a word", place + start
    return None


def _leads_on(word: str, sentence: str, words: dict[str, frozenset[str]]) -> bool:
    """Whether a word of degree stands where something has to come: "first test for nearly"."""
    leading = _LEADING.search(sentence) if word in words["degree"] else None
    return leading is not None and (
        word not in _AT_MOST or leading[0].lower().split()[0] in ("the", "a", "an")
    )


def _half_word(word: str, given: list[str], words: dict[str, frozenset[str]]) -> bool:
    """Whether a word is only the start of a longer one that is known or used in the text."""
    piece = word.rsplit("-", 1)[-1] or word
    if "/" in word:
        return False
    if len(piece) > 1 and any(piece in words[name] for name in _WHOLE):
        return False
    others = given[:-1]
    if piece in others or word in others or "." in piece:
        return False
    if len(piece) == 1:
        return True
    longer = [known for known in _starts(piece) if known != piece]
    longer += [known for known in set(others) if known.startswith(piece)]
    if not longer:
        return False
    return min(longer, key=len)[len(piece) :] not in _INFLECTIONS


def _english(given: list[str], words: dict[str, frozenset[str]]) -> bool:
    if not given:
        return False
    recent = given[-200:]
    known = sum(word in words["known"] or word in words["continuing"] for word in recent)
    return known >= _ENGLISH * len(recent)


@cache
def ending_words() -> dict[str, frozenset[str]]:
    """Return the word lists of ``ending_words.yaml`` by name."""
    raw = yaml.safe_load(_WORDS_FILE.read_text(encoding="utf-8"))
    return {name: frozenset(text.split()) for name, text in raw.items()}


@cache
def _by_start() -> dict[str, tuple[str, ...]]:
    """Return the known words by their first two letters."""
    found: dict[str, list[str]] = {}
    words = ending_words()
    for word in sorted(words["known"] | words["attributive"] | words["continuing"]):
        found.setdefault(word[:2], []).append(word)
    return {start: tuple(group) for start, group in found.items()}


def _starts(piece: str) -> list[str]:
    return [word for word in _by_start().get(piece[:2], ()) if word.startswith(piece)]
