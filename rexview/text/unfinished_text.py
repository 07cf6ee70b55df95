"""Judge the end of a text without a full stop: half a word, sentence, list or clause."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from rexview.package_data import read_package_table
from rexview.text.language import detect_language
from rexview.text.phrases import list_alternatives, whole_words


def _just_before(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{list_alternatives('text_end', name)})\s+$", re.IGNORECASE)


_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_VERB: Final = whole_words("text_end", "verb")
_ARTICLE_BEFORE: Final = re.compile(
    rf"\b(?:{list_alternatives('text_end', 'article_before')})\s+(?:[\w-]+ly\s+)?$", re.IGNORECASE
)
_NEEDS_MORE: Final = _just_before("needs_more")
_CONTRACTED: Final = re.compile(r"(?:[a-z]['’](?:s|re|ve|ll|d|m)|n['’]t)$")
"""Contraction of a verb, or a possessive."""
_HALF_CLAUSE: Final = re.compile(
    r"\b(?:whereas|while|that|because|although|but|where)\s+the\s+(?:left|right)$", re.IGNORECASE
)
_OPEN_CLAUSE: Final = re.compile(
    r"^(?:if|when|although|because|unless|once)\s+(?:[\w'’-]+\s+){3,}$", re.I
)
"""A clause that lacks its main clause: no comma, no other mark."""
_ADJECTIVE: Final = re.compile(
    r"\b(?:an?|another|several|with|of|no|any)\s+(?:[\w-]+ly\s+)?(?:[\w-]+\s+)?"
    r"[\w-]*(?:ular|inear|obar|ilar|ous|ive|ible|ish|oid|ical|eral|oral|ural|onal|inal|etic|atic|shaped|walled|like)$",
    re.IGNORECASE,
)
"""An article and a word with the ending of an adjective, without a noun."""
_OPEN_END: Final = re.compile(
    rf"(?:,|\b(?:and|or|but))\s+(?:{list_alternatives('text_end', 'then')})$"
    rf"|\bto\s+(?:{list_alternatives('text_end', 'to_do')})$"
    r"|(?:,|\b(?:its|whose|their))\s+(?:tip|tips|side|level|ends?|size|position)$"
    r"|\b(?:the|its|an?|with|any)\s+(?:presence|absence|lack|amount|degree|evidence|possibility|number|risk|setting|context)$"
    r"|\b(?:over|within|after|every|past|last|next)\s+(?:the\s+)?(?:two|three|four|five|six|seven|eight|nine|ten|twelve|few|several)$"
    r"|\d\s*[x×]$"
    r"|\b(?:measur\w+|approximately|about)\s+\d[\d.]*\s*[cm]$",
    re.IGNORECASE,
)
"""Ends without their continuation: "recommended, then", "to document", "its tip", "about 9 m"."""
_SUBCLAUSE: Final = re.compile(
    r"\b(?:that|which|who|because|although|while|whereas|unless|whether|if)\s+"
    r"(?P<subject>(?:the|its|their|his|her|this|these|those|our|your|an?)\s+(?:[\w'’-]+\s*){1,4})$",
    re.IGNORECASE,
)
"""A clause with only its subject: "and that its side"."""
_CLOSED_SENTENCE: Final = re.compile(r"[A-Z][^.!?\n]*[.!?](?=\s)")
_NOTHING: Final = re.compile(r"\b(?:no|any|some)thing\s+(?:\w+ly\s+)?$", re.IGNORECASE)
"""Before an adjective that needs no noun: "nothing acute"."""
_DONE: Final = re.compile(r"\w(?:ed|en|own)$")
_LEADING: Final = re.compile(r"\b(?:the|an?|for|of|with|in|by|to)\s+$", re.IGNORECASE)
"""Words before a word of degree that needs a continuation: "the most", "for nearly"."""
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
"""Before a word that continues a list or is a value."""
_ASKED_IT: Final = re.compile(
    r"\b(?:can|could|does|did|do|is|was|would|will|might|may|should|and|but|that|because|when|if|where|how|why"
    r"|since|although|unless)\s+$|^$",
    re.IGNORECASE,
)
"""Before an "it" that needs a continuation."""
_HEADED: Final = re.compile(
    rf"(?:^|\n|[.:]\s)\W*(?:{list_alternatives('text_end', 'heading')})\W*:\W*(?:\d[.)]\s*)?$",
    re.IGNORECASE,
)
_SHORT: Final = 30
"""Characters; in a shorter text a last word on its own is not suspicious."""
_INFLECTED: Final = re.compile(r"[^iusx]s|[^i](?:es|ed|ing|ly)")
"""The last letter of a word and the ending of its other form: "node", "nodes"."""
_SHORTEST_STEM: Final = 4
_TWO_LETTERS: Final = 2
_JOINING: Final = frozenset(("of", "and", "the", "to", "a", "in"))
"""Words that a hyphen joins to the next one: "finger-in-glove"."""
_BEFORE_IN: Final = frozenset(
    (
        *("built", "check", "drive", "fill", "log", "opt", "plug", "put", "run", "sign", "stand"),
        *("walk", "lead", "add", "how"),
    )
)
"""Form a word with one of these: "check-in", "how-to"."""
_VALUES: Final = frozenset(("yes", "no", "none", "left", "right", "both"))
"""Possible values in the last cell of a row."""
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
        Half a sentence on why the text looks cut, and the word's offset in the text.
    """
    words = ending_words()
    given = [word.lower() for word in _WORD.findall(tail)]
    if not given or detect_language(tail):
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
    """True if a word that needs more may end a sentence here: "Pneumothorax: no", "later on"."""
    if word in _PARTICLES:
        return bool(_PARTICLE.search(sentence)) or (
            word == "to" and bool(_TO_WHAT.search(sentence))
        )
    return word in words["value_or_idiom"] and not _NEEDS_MORE.search(sentence)


def _unfinished(word: str, raw: str, sentence: str, words: dict[str, frozenset[str]]) -> bool:
    """True if the last word leaves a clause open."""
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
    """True if a text consists of sentences with verbs, most of which end."""
    closed = [
        one for one in _CLOSED_SENTENCE.findall(tail) if len(one.split()) > _SHORTEST_STEM - 2
    ]
    return len(closed) > 1 and sum(bool(_VERB.search(one)) for one in closed) * 4 >= 3 * len(closed)


def _open_subclause(sentence: str) -> bool:
    """True if a text ends with a subordinate clause that has only its subject."""
    clause = _SUBCLAUSE.search(sentence)
    if clause is None or _VERB.search(clause["subject"]):
        return False
    return not any(
        _DONE.search(word) or (word.endswith("s") and not word.endswith("ss") and at > 1)
        for at, word in enumerate(clause["subject"].lower().split())
    )


def _half_noun(word: str, sentence: str, words: dict[str, frozenset[str]], *, alone: bool) -> bool:
    """True if an adjective at the end needs its noun."""
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
    """True if a word of degree needs a continuation: "first test for nearly"."""
    leading = _LEADING.search(sentence) if word in words["degree"] else None
    return leading is not None and (
        word not in _AT_MOST or leading[0].lower().split()[0] in ("the", "a", "an")
    )


def _half_word(word: str, tail: str, given: list[str], words: dict[str, frozenset[str]]) -> bool:
    """True if a word is only the start of a longer one that is known or used in the text."""
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
    tables = [read_package_table(Path(__file__).with_name(name)) for name in _WORDS_FILES]
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


# Unfinished lists: fewer items than announced, half a line, a heading alone.

_ITEM: Final = re.compile(
    r"^\s*(?P<mark>[-*+•–‣◦]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]|[QA]?\d{1,3}:)\s+(?P<words>\S.*)$"
)
_KEYED: Final = re.compile(r"^\s*(?:[-*+•–‣◦]\s+)?[*_]{0,2}[^:|\s*_][^:|]{0,50}:(?=\s|\*|$)")
_KEY: Final = re.compile(r"^\s*(?:[-*+•–‣◦]\s+)?[*_]{0,2}[A-Za-z][\w /&'’()-]{0,40}$")
_MOST_KEY_WORDS: Final = 3
_STATEMENT: Final = re.compile(
    r"^(?:no|not|none|without|otherwise|all|old|new|mild|small|large|acute|chronic|left|right|possible|probable"
    r"|likely|suspected|see|end)\b|\b(?:normal|clear|absent|present|unremarkable|intact|unchanged|stable|disease)$"
)
"""Complete statements by themselves."""
_HASHED: Final = re.compile(r"^\s{0,3}(#{1,6})\s+\S")
_THE_END: Final = re.compile(r"\b(?:end|fin|thank|signed|done)\b|[.!?]\s*$", re.IGNORECASE)
_TITLED: Final = re.compile(r":[*_]*\s+\S")
"""A heading with its text on the same line."""
_BOLD_LINE: Final = re.compile(r"^\s{0,3}(\*\*|__)[^*_]+\1:?\s*$")
_HEADING: Final = re.compile(
    rf"^\s*[*_]{{0,2}}(?:\d{{1,2}}[.)]\s*)?"
    rf"(?:{list_alternatives('text_end', 'heading')})[*_]{{0,2}}$",
    re.IGNORECASE,
)
_NUMBERS: Final = {
    **{str(value): value for value in range(2, 11)},
    **{
        word: value
        for value, word in enumerate(
            ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2
        )
    },
}
_ANNOUNCED: Final = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)})\s+(?:[\w-]+\s+){{0,3}}?"
    rf"(?:{list_alternatives('text_end', 'counted')})\b[^.:\n]{{0,80}}:"
    r"[*_]{0,2}[ \t]*(?=\n|\(?[1ai][.)])",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    rf"\b(?P<number>{'|'.join(_NUMBERS)})\s+(?:[\w-]+\s+){{0,3}}?"
    rf"(?:{list_alternatives('text_end', 'counted')})\b[^.:\n]{{0,60}}[.:]",
    re.IGNORECASE,
)
_LISTS_ORDINALS: Final = (
    "first(?:ly)?",
    "second(?:ly)?",
    "third(?:ly)?",
    "fourth(?:ly)?",
    "fifth(?:ly)?",
)
_ONE: Final = (
    r"(?:[*_]*[,:]|[*_]* (?:is|was|would|may|one|possibility|option|reason|cause|thing|finding)\b)"
)
_OTHERS: Final = re.compile(
    r"\b(?:other|others|another|next|last(?:ly)?|final(?:ly)?|then|also|remaining|rest|latter)\b",
    re.IGNORECASE,
)
"""Refer to further items without counting them."""
_INLINE_ITEM: Final = re.compile(r"(?:^|[\s,;])\(?(?:\d|[a-j]|[ivx]{1,3})\)\s")
_CLOSED: Final = re.compile(r"[.!?][\"”’)\]*_`]*$")
_ASKING: Final = re.compile(
    r"^(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|should|will)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = whole_words("text_end", "finite")
_STEP: Final = re.compile(
    r"^\W*(?:step|part|question|point|section|zone|stage)\s+\d{1,2}\b", re.IGNORECASE
)
_AT_DASH: Final = re.compile(r"[\w).][*_]{0,3}\s[–—-]\s*[*_]*$")
_PAST_DASH: Final = re.compile(r"[\w).][*_]{0,3}\s[–—-]\s+[*_]*\w")
_ENOUGH: Final = 3
"""Minimum number of similar lines, or closed items, from which another one differs."""
_WINDOW: Final = 3_000
_LINES: Final = 60


def open_list(text: str) -> tuple[str, int] | None:
    r"""Return why a list at the end of a text without a full stop looks unfinished.

    Returns
    -------
    tuple of str and int, or None
        Half a sentence on why the text looks cut, and the offset of the evidence.

    >>> open_list("Three findings:\n1. Effusion\n2. Scar")
    ('it ends before all that was announced has come', 0)
    """
    base = max(0, len(text) - _WINDOW)
    window = text[base:]
    *above, line = window.splitlines()[-_LINES:] or [""]
    place = len(text) - len(line)
    if _CLOSED.search(line.rstrip()):
        return _too_few(window, base)
    if _lone_heading(above, line):
        return "it ends with a heading and nothing below it", place
    if _half_line(above, line):
        return "it ends in the middle of a line of a list", place
    if _open_step(above, line):
        return "it ends with a step that is not closed, unlike those before", place
    if _ends_at_dash(above, line):
        return "it ends with a dash and nothing after it, unlike the items before", place
    if _open_item(above, line):
        return "it ends with an item that is not closed, unlike those before", place
    return _too_few(window, base)


def _lone_heading(above: list[str], line: str) -> bool:
    """True if the last line is a heading: a known one, or like another one with text below."""
    filled = [one for one in above if one.strip()]
    if not filled:
        return False
    if _HEADING.match(line) and not _KEYED.match(filled[-1]):
        return True
    if _HASHED.match(filled[-1]) or _BOLD_LINE.match(filled[-1]):
        return False
    if _HASHED.match(line):
        states = _STATEMENT.search(line.strip(" #*_").lower())
        return not (_THE_END.search(line) or _TITLED.search(line) or states)
    return bool(_BOLD_LINE.match(line)) and any(map(_BOLD_LINE.match, filled[:-1]))


def _half_line(above: list[str], line: str) -> bool:
    """True if a list of names with values ("Heart: normal") ends with a name alone."""
    parts = [part.strip() for part in line.split(";")]
    if len(parts) > _ENOUGH - 1 and all(":" in part for part in parts[:-1]) and parts[-1]:
        return _is_key(parts[-1])
    item = _ITEM.match(line)
    least = _ENOUGH if item else _ENOUGH + 1
    before = above[-least:]
    if len(before) < least or not all(map(_KEYED.match, before)) or not _KEY.match(line):
        return False
    if bool(item) != bool(_ITEM.match(before[-1])):
        return False
    return _is_key(item["words"] if item else line)


def _is_key(words: str) -> bool:
    return (
        ":" not in words
        and len(words.split()) <= _MOST_KEY_WORDS
        and not _STATEMENT.search(words.lower())
    )


def _open_item(above: list[str], line: str) -> bool:
    """True if the items before are sentences or questions that end, and the last one does not."""
    item = _ITEM.match(line)
    if item is None:
        return False
    before: list[str] = []
    for one in reversed(above):
        found = _ITEM.match(one)
        if found is None or found["mark"][-1] != item["mark"][-1]:
            break
        before.append(found["words"].rstrip())
    words = item["words"]
    if before and _ASKING.match(words) and before[0].endswith("?"):
        return True
    if ":" in words or "http" in words or not all(map(_CLOSED.search, before)):
        return False
    if _SENTENCE.search(words) or words.split()[0] in ("The", "A", "This"):
        return len(before) >= _ENOUGH - 1
    sentences = sum(_SENTENCE.search(one) is not None for one in before)
    return len(before) >= _ENOUGH and sentences * 2 >= len(before)


def _open_step(above: list[str], line: str) -> bool:
    """True if numbered steps are closed sentences, and the last is not: "Step 5 - Putting"."""
    if not _STEP.match(line):
        return False
    steps = [one.rstrip() for one in above if _STEP.match(one)]
    return len(steps) >= _ENOUGH - 1 and all(map(_CLOSED.search, steps))


def _ends_at_dash(above: list[str], line: str) -> bool:
    """True if a line ends with a dash after which similar lines continue."""
    if not _AT_DASH.search(line):
        return False
    filled = [one for one in above if one.strip()]
    return bool(filled) and _PAST_DASH.search(filled[-1]) is not None


def _too_few_ordinals(window: str, base: int) -> tuple[str, int] | None:
    """Find an announced number of things with "the first" but not all the others."""
    announced = next(reversed([*_COUNTED.finditer(window)]), None)
    if announced is None:
        return None
    rest = window[announced.end() :]
    come = [
        n
        for n, word in enumerate(_LISTS_ORDINALS, 1)
        if re.search(rf"\b(?:the )?{word}\b{_ONE}", rest, re.I)
    ]
    wanted = _NUMBERS[announced["number"].lower()]
    if not come or come[0] != 1 or len(come) >= wanted or len(come) != come[-1]:
        return None
    if _OTHERS.search(rest):
        return None
    return "it ends before all that was announced has come", base + announced.start()


def _too_few(window: str, base: int) -> tuple[str, int] | None:
    """Find a list announced with a number that has fewer items at the end of the text."""
    announced = next(reversed([*_ANNOUNCED.finditer(window)]), None)
    if announced is None:
        return _too_few_ordinals(window, base)
    rest = window[announced.end() :]
    lines = [one for one in rest.splitlines() if one.strip()]
    if rest.startswith("\n"):
        items = [found for found in map(_ITEM.match, lines) if found]
        top = [one for one in items if one.start("mark") == items[0].start("mark")]
        whole = lines and all(_ITEM.match(one) or one[:1].isspace() for one in lines)
        count = len(top) if whole else 0
    else:
        count = len(_INLINE_ITEM.findall(" " + rest)) if len(lines) == 1 else 0
    if not 0 < count < _NUMBERS[announced["number"].lower()]:
        return None
    return "it ends before all that was announced has come", base + announced.start()


# A last sentence with a subject but no verb, after sentences that all have a verb and end.
#
# A text without a full stop may be complete: notes, lists, references and signatures are. Prose
# that stops before its verb is not.

_STOP: Final = re.compile(r"(?<=[a-z0-9)\]%\"”’*A-Z][.!?])[\"”’)*_]*\s+(?=[\"“‘(*_]*[A-Z0-9])")
_NO_STOP: Final = re.compile(
    r"\b(?:vs|dr|mr|mrs|prof|e\.g|i\.e|cf|fig|figs|no|nos|ref|refs|vol|al|ed|eds|pp?|approx|ca|st|resp"
    r"|incl|[A-Z]|\d+)\.$",
    re.IGNORECASE,
)
_FEW: Final = 1
"""Minimum number of closed sentences with a verb before one without."""
_AUXILIARY: Final = re.compile(
    r"\s(?:do|does|did|can|could|may|might|will|would|should|must|cannot)$"
)
_SAYS: Final = re.compile(r"(?:I|you|he|she|we|they|it|who)\s+(?:\S+\s+){2,}", re.IGNORECASE)
"""A pronoun and enough words for a verb, even if it is not a known one."""
_OPENING: Final = re.compile(
    r"(?:finally|then|next|therefore|thus|however|moreover|furthermore|also|overall|second(?:ly)?"
    r"|third(?:ly)?|first(?:ly)?|similarly|conversely|instead|consequently|hence|additionally|meanwhile|nevertheless"
    r"|alternatively|together|option|neither|either|none|all|most|many)$",
    re.IGNORECASE,
)
_SHARE: Final = 0.75
"""Minimum share of closed sentences with a verb; the others are notes."""
_FINITE: Final = whole_words("text_end", "finite")
_SUBJECT: Final = re.compile(
    r"[\"“‘(*_]*(?:the|an?|this|these|that|those|it|its|there|they|he|she|we|i|you|your|his|her|our|their|both"
    r"|each|another|some|such|one|if|when|although|while|because|since|as|in|on|at|to|for|with|from)\b",
    re.IGNORECASE,
)
_PROSE: Final = 40
"""Minimum characters of a line of prose."""
_SENTENCE_STOPS_LINES: Final = 40
_NO_SENTENCE: Final = re.compile(
    r"https?:|www\.|doi\b|@|\b(?:et al|vol|pp|pmid|isbn|ed)\b|[=→➜•|\\]|(?:19|20)\d\d\s*[;:]"
    r"|\d+\s*[–-]\s*\d+$",
    re.IGNORECASE,
)
"""Part of references, addresses, formulas and signatures."""
_SIGNED: Final = re.compile(
    r"\b(?:dr|prof|mr|mrs|ms|md|frcr|consultant|radiologist|resident|registrar|signed|dictated"
    r"|reported by|read by|reviewed by|attending|electronically|regards|sincerely|thank)\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"^[^:]{1,60}:\s")
_SENTENCE_STOPS_ITEM: Final = re.compile(
    r"^\s*(?:[-*+•–‣◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+|^\s*#|^\s*\||^\s*>"
)


def open_sentence(tail: str, line: str) -> int | None:
    """Return where an unfinished sentence starts on a last line without a full stop.

    Returns
    -------
    int or None
        Offset into ``line``; None if the text needs no full stop.
    """
    starts = _sentence_starts(line)
    start = starts[-1] if starts else 0
    sentence = line[start:].strip()
    if _NO_SENTENCE.search(sentence) or _SIGNED.search(sentence) or _NAMED.match(sentence):
        return None
    if not starts and (
        _SENTENCE_STOPS_ITEM.match(line) or _is_signed(tail[: len(tail) - len(line)])
    ):
        return None
    before = [line[one:two] for one, two in pairwise((0, *starts))]
    closed = _closed_above(tail[: len(tail) - len(line)])
    if not before and closed is None:
        return None
    given = [*(closed or ()), *before]
    prose = sum(_FINITE.search(one) is not None for one in given)
    if prose < len(given) * _SHARE:
        return None
    if prose < _FEW or _SAYS.match(sentence):
        return None
    if _OPENING.match(sentence):
        return start
    if not _SUBJECT.match(sentence):
        return None
    return None if _FINITE.search(_AUXILIARY.sub("", sentence)) else start


def _is_signed(above: str) -> bool:
    """True if the line above is a greeting, so that a name follows: "Kind regards,"."""
    lines = [line for line in above.splitlines() if line.strip()]
    return bool(lines) and len(lines[-1]) < _PROSE and _SIGNED.search(lines[-1]) is not None


def _sentence_starts(line: str) -> list[int]:
    """Return the starts of the sentences that follow a closed one."""
    return [
        match.end()
        for match in _STOP.finditer(line)
        if not _NO_STOP.search(line[max(0, match.start() - 12) : match.start()])
    ]


def _closed_above(above: str) -> list[str] | None:
    """Return the closed sentences in the prose of some lines; None if one is not closed."""
    found: list[str] = []
    for line in above.splitlines()[-_SENTENCE_STOPS_LINES:]:
        text = line.strip()
        if len(text) < _PROSE or _SENTENCE_STOPS_ITEM.match(text):
            continue
        if not _CLOSED.search(text) and not text.endswith(":"):
            return None
        found += [text[one:two] for one, two in pairwise((0, *_sentence_starts(text), len(text)))]
    return found
