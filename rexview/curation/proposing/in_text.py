"""Questions in a reply of running text: a list, headings of categories, a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.curation.plain_reply import Line, cells_of, folded, lines_of
from rexview.curation.proposing.categories import HEADS, category_of
from rexview.curation.proposing.items import OFFERS, Item, is_question

_LABEL: Final = re.compile(
    r"(?P<name>category|type|question type|rationale|reason(?:ing)?|why|(?:expected |model )?answer"
    r"|key points?|explanation|justification|purpose|note|focus|difficulty|score|rubric|hint|tests"
    r"|question(?: \d{1,2})?|q\d{0,2})\s*(?:\((?P<remark>[^()]*)\))?\s*[:.-]\s*(?P<rest>.*)",
    re.I,
)
_CATEGORY_LABELS: Final = ("category", "type", "question type")
_TAGGED: Final = re.compile(r"[\[(](?P<words>[^\[\]()]{3,60})[\])]\s*[:-]?\s*(?P<rest>.*)")
_TAIL: Final = re.compile(r"(?P<rest>.*?)\s*[-,;]?\s*[\[(](?P<words>[^\[\]()]{3,60})[\])]\s*\.?")
_DASHED: Final = re.compile(r"(?P<rest>.*[?.])\s*-\s*(?P<words>[^?]{3,60})")
_REMARK: Final = re.compile(
    r"(?:(?<=[?.])\s*|\s*[-(\[]\s*)(?:rationale|reason(?:ing)?|why|purpose|justification|answer"
    r"|expected answer|tests|note)\s*[:-].*$",
    re.I,
)
_REST: Final = re.compile(r"(?P<question>.*\?)\s*(?:-|\()\s*[^?]+$")


@dataclass
class _Open:
    """A question that is being read, with the depth of its line."""

    question: str
    category: str
    depth: int


def items_in_text(text: str) -> list[Item]:
    """Return what stands as questions in a text, in its order."""
    lines = lines_of(text)
    tabled = list(_in_tables(lines))
    if tabled:
        return tabled
    has_list = any(line.item and is_question(_cut(line.text), in_json=False) for line in lines)
    labelled = any((m := _LABEL.match(line.text)) and _asks(m["name"]) for line in lines)
    return list(_items(lines, has_list=has_list or labelled))


def _items(lines: Sequence[Line], *, has_list: bool) -> Iterator[Item]:
    heading, current = "", None
    before = _category_comes_first(lines)
    for line in lines:
        text = line.text
        if OFFERS.match(text):
            continue
        label = _LABEL.match(text)
        is_category = label is not None and folded(label["name"]) in _CATEGORY_LABELS
        if label and is_category:
            title = label["rest"].strip() if before else None
        else:
            title = _heading(line)
        if title is not None:
            if current:
                yield Item(current.question, current.category or heading)
            heading, current = title, None
        elif label and not _asks(label["name"]):
            if is_category and current and not current.category:
                current.category = label["rest"].strip()
        elif (
            line.item
            or (label and label["rest"])
            or (not has_list and text.endswith("?") and text[:1].isupper())
        ):
            if current and line.depth > current.depth + 1 and not label:
                continue  # what is said of the question above
            if current:
                yield Item(current.question, current.category or heading)
            item = _item(label["rest"] if label else text)
            remark = label["remark"] if label and label["remark"] else ""
            current = _Open(item.question, item.category or remark, line.depth)
        elif label and not label["rest"]:  # "Question 1:" above its words
            if current:
                yield Item(current.question, current.category or heading)
            current = _Open("", label["remark"] or "", line.depth)
        elif current and not current.question:
            item = _item(text)
            current.question = item.question
            current.category = current.category or item.category
        elif current and not re.search(r"[?.!:]$", current.question):  # it goes on here
            current.question = _cut(f"{current.question} {text}")
    if current:
        yield Item(current.question, current.category or heading)


def _category_comes_first(lines: Sequence[Line]) -> bool:
    """Whether lines that name a category are about what follows them, not what stands before."""
    for line in lines:
        label = _LABEL.match(line.text)
        if label and folded(label["name"]) in _CATEGORY_LABELS:
            return True
        if (label and _asks(label["name"])) or (line.item and "?" in line.text):
            return False
    return False


def _asks(name: str) -> bool:
    """Whether a label stands before a question."""
    return re.fullmatch(r"(?:question|q)\s*\d*", name.strip(), re.I) is not None


def _heading(line: Line) -> str | None:
    """Return the words of a heading: a category's name and nothing else, or "" for another one."""
    if "?" in line.text:
        return None
    words = re.sub(r"^category \d\s*[:-]\s*", "", line.text.rstrip(": "), flags=re.I)
    bracket = re.search(r"(?<![.!\s])\s*\((?P<inside>[^()]*)\)$", words)
    for one in (words, words[: bracket.start()], bracket["inside"]) if bracket else (words,):
        if category_of(one):
            return one
    is_title = line.heading or (line.text.endswith(":") and not line.item)
    return "" if is_title and not _LABEL.match(line.text) else None


def _item(text: str) -> Item:
    """Split a line into its question and the category that is named in it."""
    text = _cut(text)
    for pattern in (_TAGGED, _TAIL, _DASHED):
        found = pattern.fullmatch(text)
        if found and category_of(found["words"]):
            return Item(found["rest"].strip(), found["words"])
    before, colon, after = text.partition(":")
    if colon and category_of(before):
        return Item(after.strip(), before)
    dashed = HEADS.match(text)
    if dashed and re.match(r"\s*-\s*", text[dashed.end() :]):
        return Item(text[dashed.end() :].lstrip(" -"), dashed[0])
    tagged = _TAGGED.fullmatch(text)
    if tagged and is_question(tagged["rest"], in_json=False):  # named, and none of the three
        return Item(tagged["rest"].strip(), tagged["words"])
    rest = _REST.fullmatch(text)
    return Item(rest["question"] if rest else text)


def _cut(text: str) -> str:
    """Leave out what is said of a question behind it."""
    cut = _REMARK.sub("", text).strip()
    return cut.strip('"') if cut.count('"') == 2 else cut


def _in_tables(lines: Sequence[Line]) -> Iterator[Item]:
    rows = [cells for line in lines if (cells := cells_of(line.text)) is not None]
    if not rows:
        return
    header = [folded(cell) for cell in rows[0]]
    asked = next((n for n, cell in enumerate(header) if cell in ("question", "questions")), None)
    sort = next((n for n, cell in enumerate(header) if cell in ("category", "type")), None)
    if asked is None:
        return
    for cells in rows[1:]:
        if asked < len(cells):
            category = cells[sort] if sort is not None and sort < len(cells) else ""
            yield Item(cells[asked], category)
