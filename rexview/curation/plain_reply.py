"""Convert a model's reply to plain lines, without its reasoning, emphasis and varied dashes.

The words are kept. Only marks around them are removed, so that line parsers need not know them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from rexview.models.asking.reply_reader import DuplicateKeyError, possible_answers, unique_keys

LONGEST: Final = 200_000
"""Maximum characters of a reply with its reasoning."""
LONGEST_ANSWER: Final = 30_000
"""Maximum characters of a reply without reasoning; a step asks for a tenth of that."""
_MOST_THOUGHTS: Final = 40
NO_ANSWER: Final = "The answer is too long, its thinking has no end, or words in it are struck out."
"""Message for a reply for which :func:`strip_reasoning` returns None."""
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning|analysis|scratchpad)>.*?</\1>"
    r"|◁think▷.*?◁/think▷|\[THINK\].*?\[/THINK\]",
    re.DOTALL | re.IGNORECASE,
)
_OPEN_THOUGHT: Final = re.compile(
    r"</?(?:think|thinking|thought|reasoning|analysis|scratchpad)>|◁/?think▷|\[/?THINK\]",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`|(?<=[^\W\d_] )<[^<>\s]*>(?= [^\W\d_]|[.,;)](?:\s|$))"
)
"""Words in quotes or as code, and a tag in the middle of a sentence."""
_HIDDEN: Final = 0xF0000
"""First of the private characters that replace quoted marks; nobody writes with them."""
_FENCED: Final = re.compile(r"```[ \t]*[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_STRUCK: Final = re.compile(r"~~|<(?:s|del|strike)>", re.IGNORECASE)
_TAGS: Final = re.compile(
    r"</?(?:b|i|u|em|strong|p|li|ul|ol|h[1-6]|span|div|br|answer|output|final)\s*/?>", re.IGNORECASE
)
_DASHES: Final = str.maketrans(
    dict.fromkeys("‐‑‒–−﹘﹣－", "-")
    | dict.fromkeys("—―", " - ")  # a long dash does not join letters of one word
    | dict.fromkeys("\ufe0f\u20e3\u200b")
)
_EMPHASIS: Final = re.compile(r"\*+|__+|(?<!\w)_|_(?!\w)|`+")
_MARKS: Final = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+)?(?:[-•·▪◦‣●○➤→*+]\s+)?")
_NUMBER: Final = re.compile(r"^\(?(?:\d{1,2}|[A-Ha-h])[.)]\s+")
_RULE: Final = re.compile(r"\s*\|?[\s:|=-]*\|?\s*")


@dataclass(frozen=True)
class ReplyLine:
    """A line without its marks: ``text``, and whether it was an item of a list or a heading."""

    text: str
    item: bool = False
    heading: bool = False
    depth: int = 0


def strip_reasoning(text: str) -> str | None:
    """Return a reply without its reasoning; None if that has no end, or the reply is invalid.

    A quoted reasoning mark does not end the reasoning, because the model repeats its input.

    >>> strip_reasoning("<think>Perhaps 3.</think>Clarity: 4"), strip_reasoning("<think>Perhaps 3.")
    ('Clarity: 4', None)
    >>> strip_reasoning('Clarity: 4, though it says "</think>".')
    'Clarity: 4, though it says "</think>".'
    """
    if len(text) > LONGEST or len(_OPEN_THOUGHT.findall(text)) > _MOST_THOUGHTS:
        return None
    quoted: list[str] = []

    def hide(found: re.Match[str]) -> str:
        quoted.append(found[0])
        return chr(_HIDDEN + len(quoted) - 1)

    hidden = _QUOTED.sub(lambda found: _OPEN_THOUGHT.sub(hide, found[0]), text)
    said = _THOUGHT.sub("", hidden).strip()
    if _OPEN_THOUGHT.search(said) or _STRUCK.search(said) or len(said) > LONGEST_ANSWER:
        return None
    return said.translate({_HIDDEN + place: mark for place, mark in enumerate(quoted)})


def normalize_reply_text(text: str) -> str:
    """Return a text with standard letters and dashes, without its emphasis.

    >>> normalize_reply_text("**Clarity** — `4`")
    'Clarity - 4'
    """
    usual = unicodedata.normalize("NFKC", text).translate(_DASHES)
    return re.sub(r"[ \t]+", " ", _EMPHASIS.sub("", _TAGS.sub("", usual)))


def split_lines(text: str) -> list[ReplyLine]:
    """Split a text into its lines with words, without marks of lists and headings."""
    found = []
    for raw in text.splitlines():
        if _RULE.fullmatch(raw) or raw.strip().startswith("```"):
            continue
        marks = _MARKS.match(raw)
        assert marks is not None
        depth = len(raw) - len(raw.lstrip())
        rest = raw[marks.end() :]
        bold = re.fullmatch(r"\s*(\*\*|__)[^*_]+\1:?\s*", rest) is not None
        cleaned = normalize_reply_text(rest).strip()
        number = _NUMBER.match(cleaned)
        item = number is not None or bool(re.search(r"[-•·▪◦‣●○➤→*+]\s", marks[0]))
        words = cleaned[number.end() :].strip() if number else cleaned
        if words:
            found.append(ReplyLine(words, item, bold or "#" in marks[0], depth))
    return found


def split_cells(text: str) -> list[str] | None:
    """Return the cells of a table line; None for any other line."""
    if text.count("|") < 2 and not text.strip().startswith("|"):
        return None
    return [cell.strip() for cell in text.strip().strip("|").split("|")]


def find_json(text: str) -> tuple[Any, str] | None:
    """Return the one JSON value of a reply, and the words around it; None if there is none.

    It is the whole reply, or the content of its only fence. An object with a repeated name is
    invalid, and so is broken JSON: nothing is repaired.
    """
    try:
        return _parsed(text), ""
    except DuplicateKeyError:
        return None
    except (ValueError, RecursionError):
        pass
    fences = list(_FENCED.finditer(text))
    for first, last in (("{", "}"), ("[", "]")):
        start, end = text.find(first), text.rfind(last)
        if len(fences) == 1:
            break
        if 0 <= start < end:
            try:
                return _parsed(text[start : end + 1]), f"{text[:start]}\n{text[end + 1 :]}"
            except (ValueError, RecursionError):
                continue
    if len(fences) != 1:
        return None
    fence = fences[0]
    try:
        return _parsed(fence[1]), f"{text[: fence.start()]}\n{text[fence.end() :]}"
    except (ValueError, RecursionError):
        return None


def _parsed(text: str) -> Any:
    value = json.loads(text, object_pairs_hook=unique_keys)
    if not isinstance(value, dict | list):
        raise ValueError("no object and no list")
    json.dumps(value, ensure_ascii=False).encode()  # half of a letter (\ud800) is a ValueError, too
    return value


def text_or_json(text: str) -> tuple[str, tuple[Any, str] | None] | str:
    """Return the answer and its JSON (:func:`find_json`), or a sentence about what is missing."""
    for part in islice(possible_answers(text), _MOST_THOUGHTS):
        found = find_json(part) if len(part) <= LONGEST_ANSWER else None
        if (
            found is not None
            and not _OPEN_THOUGHT.search(found[1])
            and not _STRUCK.search(found[1])
        ):
            return part.strip(), found
    words = strip_reasoning(text)
    if words is None:
        return NO_ANSWER
    parsed = find_json(words)
    if parsed is None and looks_like_json(words):
        return "The answer is broken JSON."
    return words, parsed


def looks_like_json(text: str) -> bool:
    """True if a reply was meant as JSON, valid or broken."""
    return bool(re.match(r"\s*(?:```[ \t]*json\b|[{\[]\s*[\"{\[])", text))


def fold_name(word: str) -> str:
    """Return a name in lower case, with single spaces for everything but letters and digits.

    >>> fold_name("Clinical_Relevance (1-5)")
    'clinical relevance 1 5'
    """
    return " ".join(re.findall(r"[^\W_]+", normalize_reply_text(word).casefold()))
