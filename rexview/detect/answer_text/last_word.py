"""The last word of a text without a full stop: half a word, or no end of a sentence."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from rexview.detect.phrases import either, whole_words
from rexview.language import language_of
from rexview.own_tables import read_table


def _just_before(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{either('text_end', name)})\s+$", re.IGNORECASE)


_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_VERB: Final = whole_words("text_end", "verb")
_ARTICLE_BEFORE: Final = re.compile(
    rf"\b(?:{either('text_end', 'article_before')})\s+(?:[\w-]+ly\s+)?$", re.IGNORECASE
)
_NEEDS_MORE: Final = _just_before("needs_more")
_CONTRACTED: Final = re.compile(r"(?:[a-z]['’](?:s|re|ve|ll|d|m)|n['’]t)$")
"""Of a verb or an owner."""
_HALF_CLAUSE: Final = re.compile(
    r"\b(?:whereas|while|that|because|although|but|where)\s+the\s+(?:left|right)$", re.IGNORECASE
)
_OPEN_CLAUSE: Final = re.compile(
    r"^(?:if|when|although|because|unless|once)\s+(?:[\w'’-]+\s+){3,}$", re.I
)
"""A clause that waits for its main one: no comma, no other mark."""
_ADJECTIVE: Final = re.compile(
    r"\b(?:an?|another|several|with|of|no|any)\s+(?:[\w-]+ly\s+)?(?:[\w-]+\s+)?"
    r"[\w-]*(?:ular|inear|obar|ilar|ous|ive|ible|ish|oid|ical|eral|oral|ural|onal|inal|etic|atic|shaped|walled|like)$",
    re.IGNORECASE,
)
"""An article and a word with the ending of an adjective, whose noun has not come."""
_OPEN_END: Final = re.compile(
    rf"(?:,|\b(?:and|or|but))\s+(?:{either('text_end', 'then')})$"
    rf"|\bto\s+(?:{either('text_end', 'to_do')})$"
    r"|(?:,|\b(?:its|whose|their))\s+(?:tip|tips|side|level|ends?|size|position)$"
    r"|\b(?:the|its|an?|with|any)\s+(?:presence|absence|lack|amount|degree|evidence|possibility|number|risk|setting|context)$"
    r"|\b(?:over|within|after|every|past|last|next)\s+(?:the\s+)?(?:two|three|four|five|six|seven|eight|nine|ten|twelve|few|several)$"
    r"|\d\s*[x×]$"
    r"|\b(?:measur\w+|approximately|about)\s+\d[\d.]*\s*[cm]$",
    re.IGNORECASE,
)
"""Ends that lead on: "recommended, then", "to document", "its tip", "approximately 9 m"."""
_SUBCLAUSE: Final = re.compile(
    r"\b(?:that|which|who|because|although|while|whereas|unless|whether|if)\s+"
    r"(?P<subject>(?:the|its|their|his|her|this|these|those|our|your|an?)\s+(?:[\w'’-]+\s*){1,4})$",
    re.IGNORECASE,
)
"""A clause of which only the subject has come: "and that its side"."""
_CLOSED_SENTENCE: Final = re.compile(r"[A-Z][^.!?\n]*[.!?](?=\s)")
_NOTHING: Final = re.compile(r"\b(?:no|any|some)thing\s+(?:\w+ly\s+)?$", re.IGNORECASE)
"""Before an adjective that needs no noun: "nothing acute"."""
_DONE: Final = re.compile(r"\w(?:ed|en|own)$")
_LEADING: Final = re.compile(r"\b(?:the|an?|for|of|with|in|by|to)\s+$", re.IGNORECASE)
"""What leads a word of degree on to something: "the most", "for nearly"."""
_AT_MOST: Final = frozenset(("most", "about"))
_NO: Final = re.compile(r"\b(?:no|without|any)\s+$", re.IGNORECASE)
_TO_WHAT: Final = _just_before("takes_to")
_PREDICATE: Final = _just_before("predicate")
_SENTENCE_START: Final = re.compile(r"(?<=[.!?;])\s+|\s\|\s|:\s")
_AFTER_STOP: Final = re.compile(r"[a-z)][.;]\s+$")
_PARTICLE: Final = _just_before("closing_particle")
_NO_NOUN: Final = frozenset(
    ("up", "me", "he", "we", "us", "so", "do", "go", "if", "be", "my", "am", "https", "http", "www")
)
_BEFORE_NOUN: Final = re.compile(
    r"\b(?:left|right|the|an?|upper|lower|see|at|no)\s+$", re.IGNORECASE
)
_SIDES: Final = frozenset(("right", "left"))
_THE: Final = re.compile(r"\bthe\s+$", re.IGNORECASE)
_PLACES: Final = frozenset(
    ("behind", "above", "below", "beyond", "over", "around", "across", "between", "beside", "just")
)
_LIES: Final = re.compile(
    r"\b(?:lies|lie|lying|located|seen|projected|projects?|ends?|situated|tip|cm|mm)\s+(?:just\s+)?$",
    re.IGNORECASE,
)
_PARTICLES: Final = frozenset(("in", "on", "to", "under", "near"))
_OF_SIDE: Final = re.compile(r"\b(?:in|of|at|within|involving) the$", re.IGNORECASE)
_JOINED: Final = re.compile(r"(?:[,/:;(&+=>–—|-]\s*|\t|\s{2,})$")
"""Before a word that goes on with a list or is a value."""
_ASKED_IT: Final = re.compile(
    r"\b(?:can|could|does|did|do|is|was|would|will|might|may|should|and|but|that|because|when|if|where|how|why"
    r"|since|although|unless)\s+$|^$",
    re.IGNORECASE,
)
"""Before an "it" that something has to follow."""
_HEADED: Final = re.compile(
    rf"(?:^|\n|[.:]\s)\W*(?:{either('text_end', 'heading')})\W*:\W*(?:\d[.)]\s*)?$", re.IGNORECASE
)
_SHORT: Final = 30
"""Characters; in a shorter text a last word on its own is not held against it."""
_INFLECTED: Final = re.compile(r"[^iusx]s|[^i](?:es|ed|ing|ly)")
"""The last letter of a word and what makes another form of it: "node", "nodes"."""
_SHORTEST_STEM: Final = 4
_TWO_LETTERS: Final = 2
_JOINING: Final = frozenset(("of", "and", "the", "to", "a", "in"))
"""Words that a hyphen joins to one that follows: "finger-in-glove"."""
_BEFORE_IN: Final = frozenset(
    (
        *("built", "check", "drive", "fill", "log", "opt", "plug", "put", "run", "sign", "stand"),
        *("walk", "lead", "add", "how"),
    )
)
"""Makes a word with one of these: "check-in", "how-to"."""
_VALUES: Final = frozenset(("yes", "no", "none", "left", "right", "both"))
"""In the last cell of a row."""
_ORDINALS: Final = frozenset(("st", "nd", "rd", "th"))
_SHORT_WORDS: Final = frozenset(
    (
        *("a", "i", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me"),
        *("my", "no", "of", "ok", "on", "or", "so", "to", "up", "us", "we", "am", "oh"),
    )
)
_LETTER_NAMED: Final = re.compile(
    r"(?:\d\s*|\b(?:option|type|grade|class|stage|vitamin|hepatitis|answer|choice|point|zone|figure)"
    r"\s+|[:(=/|-]\s*)$",
    re.IGNORECASE,
)
"""Before a single letter that is a name or a unit."""
_WHOLE: Final = (
    *("known", "short_forms", "continuing", "adjectives", "transitive", "degree", "before_noun"),
    *("attributive", "subjects"),
)
_WORDS_FILES: Final = ("ending_words.yaml", "known_words.yaml")


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
    if not given or language_of(tail):
        return None
    raw, before = core[start:].rstrip("."), core[:start]
    if before.endswith("\t") and raw.lower() in _VALUES:
        return None
    word = raw.lower()
    sentence = _SENTENCE_START.split(before)[-1]
    alone = not _WORD.search(sentence)
    begun = bool(_AFTER_STOP.search(before)) and len(tail) > _SHORT
    if len(raw) == 1 and raw.isupper():
        return ("it ends in the middle of a word", place + start) if begun else None
    if raw.isupper() and not core.isupper():
        return None
    middle = "it ends in the middle of a sentence", place + start
    headed = alone and bool(_HEADED.search(before))
    if not alone and (_CONTRACTED.search(core[-20:]) or _HALF_CLAUSE.search(core[-40:])):
        return middle
    if begun and alone and raw.istitle() and _is_prose(tail) and word not in words["closing"]:
        return middle  # "... is normal. Calcified"
    if not alone and _ADJECTIVE.search(core[-60:]) and word not in words["nouns"]:
        return middle
    if not alone and (_OPEN_END.search(core[-60:]) or _open_subclause(sentence + raw)):
        return middle
    if word in words["continuing"] and (begun or headed or not alone):
        value = _may_close(word, sentence, words)
        return None if value and not begun and not (headed and raw.istitle()) else middle
    if alone and word == "nor" and "normal" in given[:-1]:
        return "it ends in the middle of a word", place + start
    opening = alone and (place or raw == core == tail) and raw.istitle()
    if opening and word in words["continuing"] - words["answering"]:
        return middle
    if _unfinished(word, raw, sentence, words) or _leads_on(word, sentence, words):
        return middle
    if alone and begun and raw.istitle() and word.endswith("ing") and _VERB.search(before):
        return middle
    if (begun or headed) and alone and word in words["before_noun"] | words["subjects"]:
        return middle
    if _NOTHING.search(sentence):
        return None
    noted = tail.islower() and not _VERB.search(sentence) and word in words["adjectives"]
    if not noted and _half_noun(word, sentence, words, alone=alone):
        return middle  # dictation in lower case has "heart small", "nothing acute"
    if word in words["transitive"] and not alone:
        return middle
    if word in _ORDINALS and before[-1:].isdigit():
        return None
    named = len(raw) == 1 and (_LETTER_NAMED.search(before) or (word in "lr" and tail.islower()))
    first = alone and not begun and not place and not before.strip()
    first = first and len(raw) < _SHORTEST_STEM
    if not first and not named and _half_word(word, tail, given, words):
        return "it ends in the middle of a word", place + start
    return None


def _may_close(word: str, sentence: str, words: dict[str, frozenset[str]]) -> bool:
    """Whether a word that leads on may end a sentence here: "Pneumothorax: no", "later on"."""
    if word in _PARTICLES:
        return bool(_PARTICLE.search(sentence)) or (
            word == "to" and bool(_TO_WHAT.search(sentence))
        )
    return word in words["value_or_idiom"] and not _NEEDS_MORE.search(sentence)


def _unfinished(word: str, raw: str, sentence: str, words: dict[str, frozenset[str]]) -> bool:
    """Whether a clause was opened that its last word does not close."""
    if word == "it" and _ASKED_IT.search(sentence) and (sentence or raw == "It"):
        return True
    if word in _SIDES and _OF_SIDE.search(sentence.rstrip()):
        return True
    if word in _PLACES and _LIES.search(sentence):
        return True
    if word in _NO_NOUN and _BEFORE_NOUN.search(sentence):
        return True
    subject = word in words["subjects"] and sentence.strip().lower() in ("the", "both", "bony")
    return subject or _OPEN_CLAUSE.search(sentence.lstrip()) is not None


def _is_prose(tail: str) -> bool:
    """Whether a text is of sentences with verbs, most of which end."""
    closed = [
        one for one in _CLOSED_SENTENCE.findall(tail) if len(one.split()) > _SHORTEST_STEM - 2
    ]
    return len(closed) > 1 and sum(bool(_VERB.search(one)) for one in closed) * 4 >= 3 * len(closed)


def _open_subclause(sentence: str) -> bool:
    """Whether a text ends with a subordinate clause of which only the subject has come."""
    clause = _SUBCLAUSE.search(sentence)
    if clause is None or _VERB.search(clause["subject"]):
        return False
    return not any(
        _DONE.search(word) or (word.endswith("s") and not word.endswith("ss") and at > 1)
        for at, word in enumerate(clause["subject"].lower().split())
    )


def _half_noun(word: str, sentence: str, words: dict[str, frozenset[str]], *, alone: bool) -> bool:
    """Whether an adjective stands at the end that needs its noun."""
    if _NO.search(sentence) and word in (
        words["attributive"] | words["adjectives"] | words["before_noun"] | {"evidence"}
    ):
        return True
    predicate = _PREDICATE.search(sentence)
    if word in words["before_noun"] and not (alone or predicate or _JOINED.search(sentence)):
        return True
    if not (_VERB.search(sentence) and len(_WORD.findall(sentence)) >= 2):
        return False
    attributive = word in words["attributive"] and not predicate
    of_two = word in _SIDES and _THE.search(sentence)  # "than the left"
    noun = word in words["adjectives"] and _ARTICLE_BEFORE.search(sentence) and not of_two
    return bool(noun or attributive or word in words["degree"])


def _leads_on(word: str, sentence: str, words: dict[str, frozenset[str]]) -> bool:
    """Whether a word of degree stands where something has to come: "first test for nearly"."""
    leading = _LEADING.search(sentence) if word in words["degree"] else None
    return leading is not None and (
        word not in _AT_MOST or leading[0].lower().split()[0] in ("the", "a", "an")
    )


def _half_word(word: str, tail: str, given: list[str], words: dict[str, frozenset[str]]) -> bool:
    """Whether a word is only the start of a longer one that is known or used in the text."""
    piece = word.rsplit("-", 1)[-1] or word
    if piece != word and piece in _JOINING and word.split("-")[-2] not in _BEFORE_IN:
        return True
    if "/" in word:
        return False
    if piece in _SHORT_WORDS:
        return False
    if len(piece) == _TWO_LETTERS and piece not in words["short_forms"]:
        return piece not in given[:-1]
    if len(piece) > 1 and any(piece in words[name] for name in _WHOLE):
        return False
    if piece in words["clipped"] and not _VERB.search(tail):
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
    return not (
        len(piece) >= _SHORTEST_STEM
        and _INFLECTED.fullmatch(min(longer, key=len)[len(piece) - 1 :])
    )


@cache
def ending_words() -> dict[str, frozenset[str]]:
    """Return the word lists of ``ending_words.yaml`` and ``known_words.yaml`` by name."""
    tables = [read_table(Path(__file__).with_name(name)) for name in _WORDS_FILES]
    lists = [item for table in tables for item in table.items()]
    return {name: frozenset(text.split()) for name, text in lists}


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
