"""Detect the language of a text by its letters and its most common words.

The rules of the detectors read only English.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from rexview.package_data import read_package_table

# The language of a text, if it is clearly not English.
#
# The rules read English. Another language is recognized by its script or its most common words. If
# both languages fit, the text is English, so an English text with a foreign sentence or name is
# still read. Notes of a few words must not be taken for another language, so one word is not
# enough. Libraries were compared with this on English notes and on reports in 13 languages
# (docs/performance.md).

ENGLISH: Final = "English"
OTHER: Final = "another language"
"""Name of a language that is not known here."""
_READ: Final = 4_000
"""Characters at the start that are read."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTER: Final = re.compile(r"[\u0370-\u1fff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")
_SCRIPTS: Final = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff\ufe70-\ufeff]")),
    ("Ukrainian", re.compile(r"[іїєґІЇЄҐ]")),
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
)
"""In this order: Japanese also uses Chinese letters, Ukrainian Russian ones."""
_LEAST_LETTERS: Final = 4
"""Minimum letters of a script; a name or a unit has fewer."""
_OF_LETTERS: Final = 0.3
"""Minimum share of all letters; a Chinese letter carries as much as several others."""
_LEAST_WORDS: Final = 2
_FOR_ENGLISH: Final = 2
"""Minimum ratio of a language's words to English ones."""
_ACCENTED: Final = re.compile(r"[à-öø-ÿ\u0100-\u024f\u1e00-\u1eff]")
_LONG: Final = 4
"""Letters; one of two words has at least this many: "El Paso, La Crosse" is not Spanish."""
_MANY: Final = 8
_FEW_KNOWN: Final = 0.25
_ACCENTED_SHARE: Final = 0.2


@lru_cache(maxsize=4_096)
def detect_language(text: str) -> str | None:
    """Return the language of a text if the rules cannot read it.

    Returns
    -------
    str or None
        The English name of the language, or :data:`OTHER`; None for English, and if the text is too
        short or too mixed.

    Examples
    --------
    >>> detect_language("Herz normal groß, kein Erguss.")
    'German'
    >>> detect_language("No PTX. Small L eff.") is None
    True
    """
    start = text[:_READ]
    if not start.isascii():
        script = _script_of(start)
        if script:
            return script
    return _latin(start.lower())


def describe_language(language: str) -> str:
    """Describe what a text looks like: "looks German", or "is not in English" if unknown.

    >>> describe_language("German")
    'looks German'
    """
    return f"is not in {ENGLISH}" if language == OTHER else f"looks {language}"


def _script_of(text: str) -> str | None:
    letters = len(_FOREIGN_LETTER.findall(text))
    if letters < _LEAST_LETTERS:
        return None
    every = sum(map(str.isalpha, text))
    if letters < every * _OF_LETTERS:
        return None
    return next((name for name, pattern in _SCRIPTS if pattern.search(text)), OTHER)


def _latin(lowered: str) -> str | None:
    """Detect a language in Latin letters by its most common words."""
    languages, english = _words()
    kinds = set(_WORD.findall(lowered))
    own = len(kinds & english)
    foreign = kinds & languages.keys()
    if foreign and len(foreign) > own * _FOR_ENGLISH:  # otherwise no language has enough of them
        hits: dict[str, set[str]] = {}
        for word in foreign:
            for name in languages[word]:
                hits.setdefault(name, set()).add(word)
        # a word of several languages counts for the one with most of them
        name = max(hits, key=lambda one: (len(hits[one]), sum(map(len, hits[one])), one))
        count = len(hits[name])
        accented = any(map(_ACCENTED.search, hits[name]))
        enough = count > _LEAST_WORDS or (accented and len(kinds) <= _LEAST_WORDS + 1)
        enough = enough or (count == _LEAST_WORDS and max(map(len, hits[name])) >= _LONG)
        if enough and count > own * _FOR_ENGLISH and count * _MANY >= len(kinds):
            return name
    if len(kinds) >= _MANY and own < len(kinds) * _FEW_KNOWN and not lowered.isascii():
        strange = sum(_ACCENTED.search(word) is not None for word in kinds)
        if strange >= len(kinds) * _ACCENTED_SHARE:
            return OTHER
    return None


@cache
def _words() -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Return the non-English languages that have each word, and the words of English."""
    lists = read_package_table(Path(__file__).with_name("language_words.yaml"))
    english = frozenset(lists.pop(ENGLISH).split())
    languages: dict[str, tuple[str, ...]] = {}
    for name, text in lists.items():
        for word in dict.fromkeys(text.split()):
            if word not in english:
                languages[word] = (*languages.get(word, ()), name)
    return languages, english


__all__ = ["OTHER", "describe_language", "detect_language"]
