"""Read the findings in the fields of objects and tables.

A finding is in one field; its side and presence may be in other fields of the record.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Final

from rexview.text.findings.clauses import (
    Clause,
    MentionDraft,
    SentenceReading,
    SideSpan,
    read_alone,
)
from rexview.text.findings.discourse import ReadingContext, read_sentence
from rexview.text.findings.lexicon import Term, find_terms
from rexview.text.findings.mention import Side, Status
from rexview.text.findings.sentences import Sentence, Tokens, split_sentences
from rexview.text.findings.structured_parts import Node, Span
from rexview.text.phrases import list_alternatives, whole_words

_SIDE_KEY: Final = whole_words("field", "side")
_ATTRIBUTES_KEY: Final = whole_words("field", "attributes")
_STATUS_KEY: Final = whole_words("field", "status")
_NEGATED_KEY: Final = whole_words("field", "negated")
_ASKED_KEY: Final = whole_words("field", "asked")
_PRIOR_KEY: Final = whole_words("field", "prior")
_REMARK_KEY: Final = whole_words("field", "remark")
_TIP_KEY: Final = whole_words("field", "tip")
_YES: Final = re.compile(
    rf"\W*(?:{list_alternatives('field', 'present_value')})\W*(?:$|[,;(–—-])", re.IGNORECASE
)
_NO: Final = re.compile(
    rf"\W*(?:{list_alternatives('field', 'absent_value')})?\W*(?:$|[,;(])", re.IGNORECASE
)
_MAYBE: Final = re.compile(
    rf"\W*(?:{list_alternatives('field', 'doubtful_value')})\W*$", re.IGNORECASE
)
_ABSENT: Final = re.compile(
    r"no|none(?: (?:seen|present|visible|identified|noted|evident|detected))?"
    r"|absent|neither|nil|resolved|cleared|gone|removed"
    r"|not (?:seen|present|detected|identified|visible)"
)
_KEY_LENGTH: Final = 120
"""Characters of a key or cell that are read, because each row reads its headers again."""
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORT_SIDES: Final[tuple[dict[str, Side], ...]] = (
    {"r": "right", "l": "left"},
    {"d": "right", "s": "left"},
)
_DEPTH: Final = 45
_FEWEST: Final = 2
"""Minimum number of fields of a record that are read together."""
_LONGEST: Final = 80
"""Maximum tokens of a record whose fields are read together."""
_FIELD_MARKS: Final = frozenset('"{}[]')


@dataclass(frozen=True, slots=True)
class _Around:
    """Information from the fields around a value."""

    side: SideSpan | None = None
    named: tuple[MentionDraft, ...] = ()
    status: Status | None = None
    section: str | None = None
    parts: frozenset[str] = frozenset()


def read_record(tokens: Tokens, record: Node) -> list[MentionDraft]:
    """Return the findings in an object or a row of a table."""
    return _read(tokens, record, _Around(), 0)


def _read(tokens: Tokens, node: Node, around: _Around, depth: int) -> list[MentionDraft]:
    if node.fields is None:
        return _prose(tokens, node.span, around)
    if depth > _DEPTH:
        return []
    found: list[MentionDraft] = []
    sides: list[SideSpan] = []
    status: Status | None = None
    outer = around
    around = _row_label(tokens, node, around)
    labelled = (around.side, around.named) != (outer.side, outer.named)
    short = _short_sides(tokens, node)
    for key, value in node.fields[labelled:]:
        name = _lower(tokens.text, key)
        scalar = value.fields is None
        if key is None:
            if scalar and around.named and not node.row and _sides(tokens, value.span):
                found += _named_value(tokens, value.span, around)
            else:
                found += _read(tokens, value, around, depth + 1)
            continue
        if scalar and (value_status := _status_in(tokens.text, value.span)) is not None:
            if _NEGATED_KEY.search(name) and not _names(tokens, key):
                status = "negated" if value_status == "positive" else status
                continue
            if _STATUS_KEY.search(name) and not _names(tokens, key):
                status = value_status
                continue
            if (
                node.row
                and not _REMARK_KEY.search(name)
                and not _PRIOR_KEY.search(name)
                and _ABSENT.fullmatch(_lower(tokens.text, value.span))
                and not (_names(tokens, key) or _sides(tokens, key))
            ):
                status = "negated"  # "Effusion | – | No", whatever the column's name
                continue
        drafts, places = _key(tokens, key)
        if not drafts and around.parts:
            drafts = _near_key(tokens, key, around.parts)
        if name in short:
            places = [(short[name], *key)]
        if scalar and not drafts and _SIDE_KEY.search(name):
            value_sides = _sides(tokens, value.span)
            within = _prose(tokens, value.span, around)
            if value_sides and not within:
                sides += value_sides
                continue
        if not scalar and not drafts and not places and _ATTRIBUTES_KEY.search(name):
            sides += _sides_in_attributes(tokens, value)
        if not scalar and not drafts and not places and _SIDE_KEY.search(name):
            inside = [leaf.span for leaf in _leaves(value)]
            if not any(_names(tokens, span) for span in inside):
                sides += [place for span in inside for place in _sides(tokens, span)]
                continue
        parts = frozenset[str]() if node.row else _parts(tokens, key)
        inner = _inner(around, name, drafts, places, parts)
        if scalar and (drafts or (places and around.named)):
            found += _named_value(tokens, value.span, inner)
        else:
            found += _read(tokens, value, inner, depth + 1)
    found = _complete(found, sides, status, around, node)
    return _joined(tokens, node, around, _with_lone_side(tokens, node, found))


def _sides_in_attributes(tokens: Tokens, node: Node) -> list[SideSpan]:
    """Return the sides in an object of attributes that names no finding itself."""
    fields = node.fields or []
    keys = [(key, value) for key, value in fields if key is not None and value.fields is None]
    if len(keys) < len(fields) or any(
        _names(tokens, span) for key, value in keys for span in (key, value.span)
    ):
        return []
    return [
        place
        for key, value in keys
        if _SIDE_KEY.search(_lower(tokens.text, key))
        for place in _sides(tokens, value.span)
    ]


def _with_lone_side(tokens: Tokens, node: Node, found: list[MentionDraft]) -> list[MentionDraft]:
    """Give a record's one finding without a side the one side that its other fields name.

    The fields may have any name, except those of a device's tip.
    """
    there = [draft for draft in found if draft.status in ("positive", "uncertain")]
    bare = [draft for draft in there if draft.sided and not draft.sides]
    if not bare or len({draft.finding for draft in bare}) > 1:
        return found
    plain = len(there) > len(bare)  # next to another finding only a cell that is a side counts
    places: list[SideSpan] = []
    for key, value in node.fields or []:
        if plain and len(tokens.text[slice(*value.span)].split()) != 1:
            continue
        if value.fields is not None or _TIP_KEY.search(_lower(tokens.text, key)):
            continue
        if not _names(tokens, value.span) and not _has_cue(
            tokens, value.span, "tip", "prior_after"
        ):
            places += _sides(tokens, value.span)
    if len({side for side, _, _ in places}) == 1:
        for draft in bare:
            draft.sides = places[:1]
    return found


def _joined(
    tokens: Tokens, node: Node, around: _Around, found: list[MentionDraft]
) -> list[MentionDraft]:
    """Read all fields of a record as one sentence, for findings that no single field names.

    Examples: "ETT | right main bronchus", ``{"lesion": "expansile", "bone": "rib 7"}``. A word in
    one field means its finding only together with the part of the body in another.
    """
    fields = node.fields or []
    if len(fields) < _FEWEST or any(value.fields is not None for _, value in fields):
        return found
    if any(draft.sides for draft in found):
        return found
    i, j = _range(tokens, node.span)
    if not 0 < j - i <= _LONGEST:
        return found
    line = _without_marks(tokens, i, j)
    near = any(term.meaning.near for term in find_terms(line.words, 0, len(line.words), {}))
    if not near:
        return found
    context = ReadingContext(section=around.section, status=around.status, topic=around.side)
    sentence = Sentence(0, len(line.words), "prose", 0, 0, item=False, asked=False)
    read = [draft for draft in read_sentence(line, sentence, context) if draft.sides]
    starts = {draft.start: draft for draft in read}
    if not found:
        return read
    return [
        starts[draft.start]
        if draft.start in starts and starts[draft.start].finding != draft.finding
        else draft
        for draft in found
    ]


def _without_marks(tokens: Tokens, i: int, j: int) -> Tokens:
    """Return tokens as a sentence whose fields are separated by commas."""
    kept = [k for k in range(i, j) if tokens.words[k] not in _FIELD_MARKS]
    line = tokens.part(0, 0)
    line.words = ["," if tokens.words[k] == "|" else tokens.words[k] for k in kept]
    line.alike = ["," if tokens.alike[k] == "|" else tokens.alike[k] for k in kept]
    line.starts = [tokens.starts[k] for k in kept]
    line.ends = [tokens.ends[k] for k in kept]
    return line


def _near_key(tokens: Tokens, key: Span, parts: frozenset[str]) -> list[MentionDraft]:
    """Return the finding that a key means within the part around it: "pleura": {"fluid": ...}."""
    return [
        MentionDraft(name.partition("/")[0], "positive", *place, [], None, key)
        for term in _terms(tokens, key)
        for name in term.meaning.near
        if name in parts
        for place in [(tokens.starts[term.i], tokens.ends[term.j - 1])]
    ][:1]


def _short_sides(tokens: Tokens, node: Node) -> dict[str, Side]:
    """Return the sides of two keys "R" and "L", or "D" and "S", of one object; only together."""
    names = {_lower(tokens.text, key) for key, _ in node.fields or ()}
    return next((dict(pair) for pair in _SHORT_SIDES if pair.keys() <= names), {})


def _leaves(node: Node, depth: int = 0) -> list[Node]:
    """Return the values of an object, nested ones included."""
    if node.fields is None:
        return [node]
    if depth > _DEPTH:
        return []
    return [leaf for _, inner in node.fields for leaf in _leaves(inner, depth + 1)]


def _row_label(tokens: Tokens, node: Node, around: _Around) -> _Around:
    """Apply the first cell of a row to its other cells, if it names a finding or a side."""
    fields = node.fields or []
    if not node.row or len(fields) < 2 or fields[0][0] is None or fields[0][1].fields is not None:
        return around
    others = [key for key, _ in fields[1:] if key is not None]
    label = fields[0][1].span
    around = replace(around, parts=_parts(tokens, label))
    if _PRIOR_KEY.search(_lower(tokens.text, label)) and not _names(tokens, label):
        around = replace(around, status="prior")
    if any(_key(tokens, key)[1] for key in others):
        drafts = _key(tokens, label)[0]
        return replace(around, named=tuple(drafts)) if drafts else around
    places = _sides(tokens, label)
    if places and not _key(tokens, label)[0]:
        return replace(around, side=places[0])
    return around


def _parts(tokens: Tokens, span: Span) -> frozenset[str]:
    """Return the findings for which a label names a part of the body."""
    return frozenset(name for term in _terms(tokens, span) for name in term.meaning.site_of)


def _inner(
    around: _Around,
    name: str,
    drafts: list[MentionDraft],
    places: list[SideSpan],
    parts: frozenset[str],
) -> _Around:
    status = around.status
    if _NEGATED_KEY.search(name):
        status = "negated"
    elif _ASKED_KEY.search(name):
        status = "hypothetical"
    elif _PRIOR_KEY.search(name):
        status = "prior"
    side = places[0] if len({place[0] for place in places}) == 1 else around.side
    named = tuple(drafts) or around.named
    return _Around(side, named, status, name or around.section, parts or around.parts)


def _named_value(tokens: Tokens, span: Span, around: _Around) -> list[MentionDraft]:
    """Read a short value of a field that names a finding (or of a side's column beside one)."""
    within = _prose(tokens, span, around)
    if within:
        return within
    status = _status_in(tokens.text, span)
    if status is None:
        status = "negated" if _denies(tokens, span) else "positive"
    sides = _sides(tokens, span) or ([around.side] if around.side else [])
    return [
        replace(
            draft,
            status=around.status or status,
            sides=sides or list(draft.sides),
            sentence=span,
            section=around.section,
        )
        for draft in around.named
    ]


def _complete(
    found: list[MentionDraft],
    sides: list[SideSpan],
    status: Status | None,
    around: _Around,
    node: Node,
) -> list[MentionDraft]:
    """Apply a record's separate fields for side and status to its findings."""
    if not found and around.named and (sides or status):
        found = [replace(draft, status="positive", sentence=node.span) for draft in around.named]
    for draft in found:
        if draft.sided and not draft.sides and draft.status != "negated":
            draft.sides = list(sides)
        if status is not None and draft.status in ("positive", "uncertain"):
            draft.status = status
    return found


def _prose(tokens: Tokens, span: Span, around: _Around) -> list[MentionDraft]:
    i, j = _range(tokens, span)
    context = ReadingContext(section=around.section, status=around.status, topic=around.side)
    for sentence in split_sentences(tokens, i, j):
        context.drafts += read_sentence(tokens, sentence, context)
    return _of_part(tokens, span, context.drafts, around)


def _of_part(
    tokens: Tokens, span: Span, drafts: list[MentionDraft], around: _Around
) -> list[MentionDraft]:
    """Read a cell as a finding of the part that its row names: "Pleura | thickening"."""
    if not around.parts:
        return drafts
    for term in _terms(tokens, span):
        named = [name.partition("/")[0] for name in term.meaning.near if name in around.parts]
        start, end = tokens.starts[term.i], tokens.ends[term.j - 1]
        if not named:
            continue
        known = next((draft for draft in drafts if draft.start == start), None)
        if known is not None:
            known.finding = named[0]
        elif not drafts:
            sides = _sides(tokens, span) or ([around.side] if around.side else [])
            denied = _has_cue(tokens, (span[0], start), "not_before")
            status = around.status or ("negated" if denied else "positive")
            drafts = [MentionDraft(named[0], status, start, end, sides, None, span)]
    return drafts


def _key(tokens: Tokens, span: Span) -> tuple[list[MentionDraft], list[SideSpan]]:
    """Return the findings and the sides that a key, header or label names."""
    said, first = _read_cell(tokens, span)
    span = (span[0], min(span[1], span[0] + _KEY_LENGTH))
    drafts = [draft for clause in said.clauses for draft in clause.drafts(tokens, first, span)]
    return drafts, Clause(said.terms).side_spans(tokens, first)


def _names(tokens: Tokens, span: Span) -> bool:
    return any(clause.statements for clause in _read_cell(tokens, span)[0].clauses)


def _sides(tokens: Tokens, span: Span) -> list[SideSpan]:
    said, first = _read_cell(tokens, span)
    return Clause(said.terms).side_spans(tokens, first)


def _denies(tokens: Tokens, span: Span) -> bool:
    return _has_cue(tokens, span, "not_before", "not_after", "normal")


def _has_cue(tokens: Tokens, span: Span, *cues: str) -> bool:
    return any(term.is_(*cues) for term in _terms(tokens, span))


def _status_in(text: str, span: Span) -> Status | None:
    value = text[span[0] : min(span[1], span[0] + 80)].strip().strip('"')
    if _MAYBE.match(value):
        return "uncertain"
    if _YES.match(value):
        return "positive"
    return "negated" if _NO.match(value) else None


def _read_cell(tokens: Tokens, span: Span) -> tuple[SentenceReading, int]:
    """Read the start of a key, header or cell, and the token from which its positions count."""
    i, j = _range(tokens, (span[0], min(span[1], span[0] + _KEY_LENGTH)))
    return read_alone(tokens, i, j, begin=i)


def _terms(tokens: Tokens, span: Span) -> list[Term]:
    """Find the terms in the start of a key, header or cell."""
    i, j = _range(tokens, (span[0], min(span[1], span[0] + _KEY_LENGTH)))
    return find_terms(tokens.words, i, j, tokens.side_letters(i, j))


def _lower(text: str, span: Span | None) -> str:
    if span is None:
        return ""
    key = _CAMEL.sub(" ", text[span[0] : min(span[1], span[0] + _KEY_LENGTH)])
    return re.sub(r"[_\W]+", " ", key).strip().lower()


def _range(tokens: Tokens, span: Span) -> tuple[int, int]:
    return bisect_left(tokens.starts, span[0]), bisect_left(tokens.starts, span[1])
