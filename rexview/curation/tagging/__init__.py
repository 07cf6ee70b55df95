"""Let a model tag a question with eight tags: wording, strict parsing, rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rexview.curation.plain_reply import (
    fold_name,
    normalize_reply_text,
    split_cells,
    split_lines,
    text_or_json,
)
from rexview.curation.step import CurationStep, Row
from rexview.models.asking.prompts import read_fixed_prompt
from rexview.models.backend import closed_object_schema
from rexview.vocab import QUESTION_TAGS

# Tags of a model on the eight dimensions, or the reason why they are unknown.
#
# Several values are joined by a dash of any kind, a comma or a semicolon. A dash within a word
# joins no values ("air-fluid level", "follow-up"), unless each of its words is a value
# ("right-left"). A value is a few words; an explanation in its place makes the reply invalid.

MULTIPLE: Final = "Multiple"
NONE: Final = "None"
_MOST: Final = 4
_MOST_WORDS: Final = 6
_LONGEST: Final = 60
_NAMES: Final = {
    "anatomical_region": (
        r"anatom(?:ical|ic|y)(?: (?:region|location|area|site)s?)?|(?:body )?region"
    ),
    "pathology_type": r"patholog(?:y|ical|ic)(?: (?:type|category|class))?s?",
    "imaging_finding": r"(?:(?:imaging|radiographic|radiologic) )?(?:finding|sign|feature)s?",
    "laterality": r"laterality|side",
    "diagnostic_intent": r"diagnostic (?:intent(?:ion)?|purpose|goal|task)|intent",
    "temporal_context": r"temporal (?:context|aspect|relation)|temporality|tim(?:e|ing)",
    "question_type": r"(?:question )?type|question (?:format|kind)|type of question",
    "subtype": r"(?:question )?sub ?-?types?|question sub-?type",
}
_HEADS: Final = {
    name: re.compile(rf"(?:{words})(?: ?\([^()]*\))? *(?:[:=|→]|[-=]+>|-(?= )|$)", re.I)
    for name, words in _NAMES.items()
}
_KEYS: Final = {name: re.compile(words, re.I) for name, words in _NAMES.items()}
_SPLIT: Final = re.compile(rf"[;,|]\s+(?=(?:{'|'.join(_NAMES.values())}) *[:=])", re.I)
_NOTHING: Final = re.compile(
    r"(?:none|n/?a|not applicable|nil|null|not (?:specified|stated|given)|unspecified|no|-+)"
    r"(?: (?:specified|stated|given|applicable|visible|identified|mentioned|present))?"
    r"(?: ?\([^()]*\))?\.?",
    re.I,
)
_ALONE: Final = frozenset(
    (
        *("right", "left", "bilateral", "unilateral", "midline", "lung", "lungs", "pleura"),
        *("heart", "mediastinum", "hilum", "hila", "diaphragm", "bone", "bones", "ribs", "spine"),
        *("trachea", "airways", "abdomen", "opacity", "consolidation", "effusion", "nodule"),
        *("pneumothorax", "mass", "atelectasis", "cardiomegaly", "edema", "oedema", "infection"),
        *("malignancy", "trauma", "devices", "infectious", "inflammatory", "neoplastic"),
        *("traumatic", "vascular", "congenital", "degenerative", "detection", "localization"),
        *("localisation", "characterization", "characterisation", "classification"),
        *("measurement", "diagnosis", "staging", "comparison"),
    )
)
"""Words that are values, so that a dash without spaces between two of them joins values."""
_ONE_WORD: Final = re.compile(
    r"(?:.*\b)?(?:follow-up|air-fluid|ground-glass|x-ray|work-up|check-up|swan-ganz|open-ended"
    r"|\w-\w+|\w+-\w|\w+\d-\w+\d|(?:non|multi|post|pre|sub|intra|inter|peri|para|bi|uni|re|anti|high|low|well"
    r"|short|long|single|two|three|end|mid|left|right)-\w+)",
    re.I,
)
"""Hyphenated words that may also have a capital after the hyphen."""
_SENTENCE: Final = re.compile(
    r"[?!:]|\.\s|\.\.\.|^(?:as|the|it|this|no|not|per|given|based|from)\b"
    r"|\b(?:is|are|was|were|asks?|asked|because|since|implied|stated|mentioned|refers?|which|that)\b",
    re.I,
)
"""Parts of an explanation, which is never a value."""
_LABELLED: Final = re.compile(r"(?:value|tag)s?\s*:\s*", re.I)


class _UnclearError(ValueError):
    """It is unclear whether a dash joins two values."""


@dataclass(frozen=True)
class Tags:
    """The values of each dimension, at least one: ``None`` for none, ``Multiple`` for over four.

    ``more_than_four`` has the words replaced by ``Multiple``.
    """

    tags: Mapping[str, tuple[str, ...]]
    more_than_four: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_tags(text: str) -> Tags | str:
    """Parse a reply; return a sentence on what is wrong if a dimension is missing or unclear."""
    opened = text_or_json(text)
    if isinstance(opened, str):
        return opened
    words, parsed = opened
    said = _in_json(parsed[0]) if parsed else _in_text(words)
    if isinstance(said, str):
        return said
    try:
        return _tags(said)
    except _UnclearError as unclear:
        return f"It cannot be told whether {str(unclear)[:60]!r} is one value or several."


def _tags(said: Mapping[str, Sequence[str | Sequence[str]]]) -> Tags | str:
    tags: dict[str, tuple[str, ...]] = {}
    many: dict[str, tuple[str, ...]] = {}
    for name, title in QUESTION_TAGS.items():
        found = said.get(name, [])
        if not found:
            return f"There is nothing for {title.lower()}."
        values = _values(found[0])
        if any(_values(other) != values for other in found[1:]):
            return f"{title} is given twice, with other values."
        if values is None:
            return f"{title} has words in place of a value."
        if len(values) > _MOST:
            many[name] = values
        tags[name] = (MULTIPLE,) if len(values) > _MOST else values or (NONE,)
    return Tags(tags, many)


def _values(given: str | Sequence[str]) -> tuple[str, ...] | None:
    """Return the distinct values of a dimension; None if they are no values."""
    parts = [given] if isinstance(given, str) else given
    found: dict[str, str] = {}
    nothing = False
    apart = len(parts) > 1  # a list in JSON has separate values already
    for part in parts:
        for value in (
            [" ".join(normalize_reply_text(part).split())] if apart else split_values(part)
        ):
            if _NOTHING.fullmatch(value):
                nothing = True
                continue
            if len(value) > _LONGEST or len(value.split()) > _MOST_WORDS:
                return None
            if _SENTENCE.search(value):
                return None
            found.setdefault(value.casefold(), value)
    return None if nothing and found else tuple(found.values())


def split_values(text: str) -> list[str]:
    """Split values that are joined by dashes of any kind, commas or semicolons.

    >>> split_values("Left - right"), split_values("Air-fluid level"), split_values("Right–Left")
    (['Left', 'right'], ['Air-fluid level'], ['Right', 'Left'])
    """
    parts = re.split(r"\s+-+\s*|\s*-+\s+|[,;\n](?!\d)|\s[/|+]\s|•", normalize_reply_text(text))
    return [
        value
        for part in _outside_brackets(parts)
        for one in _joined_words(part.strip(" \t.-\"'[]"))
        if (value := one.strip())
    ]


def _outside_brackets(parts: Iterable[str]) -> Iterable[str]:
    """Rejoin what was split within brackets."""
    held = ""
    for part in parts:
        held = f"{held}, {part.strip()}" if held else part
        if held.count("(") <= held.count(")"):
            yield held
            held = ""
    if held:
        yield held


def _joined_words(value: str) -> list[str]:
    """Split a value at dashes without spaces if each of the joined words is a value.

    Raises
    ------
    _UnclearError
        If a dash may join two values or the parts of one word.
    """
    pieces = re.split(r"(?<=\w)[-/](?=\w)", value)
    if len(pieces) > 1 and all(piece.casefold() in _ALONE for piece in pieces):
        return pieces
    for dash in re.finditer(r"(?<=\w)-(?=[A-Z])", value):
        before = re.search(r"\w+$", value[: dash.start()])
        after = re.match(r"\w+", value[dash.end() :])
        assert before is not None and after is not None  # noqa: PT018
        if not _ONE_WORD.fullmatch(f"{before[0]}-{after[0]}"):
            raise _UnclearError(value)
    return [value]


def _in_text(text: str) -> dict[str, list[str]] | str:
    said: dict[str, list[str]] = {}
    current: list[str] | None = None
    title = None
    for line in split_lines(text):
        cells = split_cells(line.text)
        if cells is not None:
            name = _named(cells[0]) if cells else None
            if name and len(cells) == 2:
                said.setdefault(name, []).append(cells[1])
            elif name:
                return "The table has more than two columns."
            continue
        for part in _parts(line.text):
            name = next((one for one, head in _HEADS.items() if head.match(part)), None)
            if name is None:
                if current is not None and (line.item or not current):
                    current.append(part)
                continue
            _close(said, title, current)
            head = _HEADS[name].match(part)
            assert head is not None
            rest = _LABELLED.sub("", part[head.end() :].strip())
            said.setdefault(name, []).append(rest)
            title, current = name, [] if not rest else None
    _close(said, title, current)
    return {name: [one for one in given if one.strip()] for name, given in said.items()}


def _close(said: dict[str, list[str]], title: str | None, items: list[str] | None) -> None:
    """Move the items of a list under a dimension to that dimension."""
    if title and items:
        said[title][-1] = "; ".join(items)


def _parts(line: str) -> list[str]:
    """Split a line that has several dimensions."""
    cleaned = re.sub(r'^["\']([^"\':]{3,40})["\']\s*:', r"\1:", line)
    cleaned = re.sub(r"^\[([^\[\]:]{3,40})\]\s*:?", r"\1: ", cleaned)
    return _SPLIT.split(cleaned)


def _named(words: str) -> str | None:
    name = fold_name(words)
    return next((one for one, key in _KEYS.items() if key.fullmatch(name)), None)


def _in_json(value: Any) -> dict[str, list[Any]] | str:
    inner = value
    for _ in range(2):
        if isinstance(inner, Mapping) and len(inner) == 1:
            inner = next(iter(inner.values()))
    if isinstance(inner, list):
        return _in_list(inner)
    if not isinstance(inner, Mapping):
        return "The answer is no JSON object."
    said: dict[str, list[Any]] = {}
    for key, one in inner.items():
        name = _named(str(key))
        if name is None:
            continue
        if isinstance(one, Mapping):
            given = [one[word] for word in ("values", "value", "tags", "tag") if word in one]
            one = given[0] if len(given) == 1 else object()
        values = _json_values(one)
        if values is None:
            return f"{QUESTION_TAGS[name]} is no text and no list of texts."
        said.setdefault(name, []).append(values)
    return said


def _in_list(value: Sequence[Any]) -> dict[str, list[Any]] | str:
    """Read a list of objects that each name a dimension."""
    said: dict[str, list[Any]] = {}
    for one in value:
        if not isinstance(one, Mapping):
            return "The answer is no JSON object."
        title = next(
            (one[w] for w in ("dimension", "name", "tag") if isinstance(one.get(w), str)), ""
        )
        name = _named(title)
        values = _json_values(next((one[w] for w in ("values", "value") if w in one), None))
        if name is None or values is None:
            return "The answer is a list of something else than dimensions."
        said.setdefault(name, []).append(values)
    return said


def _json_values(value: Any) -> list[str] | None:
    if value is None:
        return [NONE]
    if isinstance(value, str):
        return [value or NONE]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value or [NONE]
    return None


# Tagging step: the request to a model, and the row of ``candidate_tags`` from its reply.

WORDING: Final = read_fixed_prompt(Path(__file__).with_name("tag-2.yaml"))
_VALUES: Final = {"type": "array", "items": {"type": "string"}}


def _rows(found: Tags, about: tuple[str, ...]) -> list[Row]:
    row: Row = {
        "candidate": about[0],
        "tags": {name: list(words) for name, words in found.tags.items()},
    }
    if found.more_than_four:
        row["extra"] = {"more_than_four": {n: list(w) for n, w in found.more_than_four.items()}}
    return [row]


TAG: Final = CurationStep(
    name="tag",
    table="candidate_tags",
    wording=WORDING,
    schema=closed_object_schema(dict.fromkeys(QUESTION_TAGS, _VALUES)),
    read=read_tags,
    rows=_rows,
    output_tokens=90,
)
