"""Let a model propose candidate questions for a study: wording, strict parsing, rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rexview.curation.candidates import open_id
from rexview.curation.plain_reply import (
    ReplyLine,
    fold_name,
    normalize_reply_text,
    split_cells,
    split_lines,
    text_or_json,
)
from rexview.curation.source_studies import SourceStudy
from rexview.curation.step import CurationStep, QuestionSubject, Row
from rexview.models.asking.prompts import read_fixed_prompt
from rexview.models.backend import closed_object_schema
from rexview.vocab import CATEGORIES, english_count

# Models' names for the three categories of questions.

_QUESTIONS: Final = r"(?: (?:questions?|category|type|assessment|detection|identification))?"
_NAMES: Final = {
    "broad_abnormality": r"broad(?: (?:abnormality|abnormalities|findings?))?",
    "diagnostic_reasoning": r"(?:diagnostic|clinical) reasoning|diagnostic|reasoning",
    "measurement_temporal": (
        r"measurements?(?: (?:(?:or|and) )?(?:comparisons?|temporal(?: comparison)?))?"
        r"|comparisons?(?: (?:or|and) measurements?)?|temporal(?: comparison)?"
    ),
}
_PATTERNS: Final = {
    category: re.compile(rf"(?:category )?(?:\d |[a-c] )?(?:category )?(?:{names}){_QUESTIONS}")
    for category, names in _NAMES.items()
}
HEADS: Final = re.compile(
    r"(?:broad[ _-]abnormalit(?:y|ies)|diagnostic[ _-]reasoning"
    r"|measurement[ _]?(?:/|or|and|&)?[ _]?(?:comparison|temporal)?)",
    re.I,
)
"""A category's name before a question."""


def find_category(words: str) -> str | None:
    """Return the category that words name; None if they name none of the three, or two.

    >>> find_category("Measurement / Comparison"), find_category("**Broad abnormalities**")
    ('measurement_temporal', 'broad_abnormality')
    >>> find_category("Laterality") is None
    True
    """
    name = fold_name(words.replace("&", " and "))
    found = [category for category, pattern in _PATTERNS.items() if pattern.fullmatch(name)]
    return found[0] if len(found) == 1 else None


# What counts as a question in a reply, and which part of its line belongs to it.

_FEWEST_WORDS: Final = 3
_STATES: Final = re.compile(
    r"(?:the|there|this|that|these|those|a|an|no|it|its|he|she|they|we|i|both|here|patient|findings?"
    r"|impression|report|image|none|normal|yes|note)\b",
    re.I,
)
"""The start of a sentence that states something and asks nothing."""
_SENTENCE: Final = re.compile(r"(?<=[.!;])\s+")
_ORDERS: Final = re.compile(
    r"(?:[\w ,'-]{0,80}, )?(?:describe|compare|identify|measure|assess|explain|list|evaluate|mark"
    r"|draw|locali[sz]e|determine|estimate|characteri[sz]e|outline|discuss|name|quantify|locate"
    r"|summari[sz]e|state|give|provide|calculate|classify|grade|comment|analy[sz]e|interpret|point"
    r"|indicate|examine|rank|differentiate|distinguish|specify|count)\b",
    re.I,
)
OFFER_WORDS: Final = re.compile(
    r"(?:would you like|do you want|shall i|should i|may i|can i|could i|let me know|need any"
    r"|is there anything (?:else|more|i|you)|do you need|want me to|if you(?:'d| would) like"
    r"|does this help)\b",
    re.I,
)
"""What a model writes to the user: no question about a study."""
_TO_THE_ASKER: Final = re.compile(
    r"\bI(?:'m|'d|'ll| (?:am|would|need|can|cannot|can't|will|have|must))\b|\blet me\b"
    r"|\b(?:(?:could|can|would) you )?(?:please )?(?:share|provide|send|upload|paste|clarify) "
    r"(?:it|me|the (?:report|findings?|indication|image|text))\b"
)
_PLACEHOLDER: Final = re.compile(
    r"[<\[{(]?\s*(?:the )?question(?: text| here)?\s*\d*\s*[>\]})]?|\W*", re.I
)


@dataclass(frozen=True)
class ReplyQuestion:
    """A question as written, and the category named for it; both may be empty."""

    question: str
    category: str = ""


def is_question(text: str, *, in_json: bool) -> bool:
    """True if a text asks or orders anything; statements and offers do not.

    In JSON, where only questions were requested, everything but a plain statement counts: orders
    start with too many words to know them all.
    """
    if len(text.split()) < _FEWEST_WORDS or _PLACEHOLDER.fullmatch(text):
        return False
    if text.endswith(":") or OFFER_WORDS.match(text) or _TO_THE_ASKER.search(text):
        return False
    if "?" in text or _ORDERS.match(text):
        return True
    return in_json and not all(_STATES.match(one) for one in _SENTENCE.split(text))


# Questions in a reply of running text: a list, headings of categories, a table.

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
    """A question that is still being read, with the depth of its line."""

    question: str
    category: str
    depth: int


def find_reply_questions(text: str) -> list[ReplyQuestion]:
    """Return the questions in a text, in its order."""
    lines = split_lines(text)
    tabled = list(_in_tables(lines))
    if tabled:
        return tabled
    has_list = any(line.item and is_question(_cut(line.text), in_json=False) for line in lines)
    labelled = any((m := _LABEL.match(line.text)) and _asks(m["name"]) for line in lines)
    return list(_items(lines, has_list=has_list or labelled))


def _items(lines: Sequence[ReplyLine], *, has_list: bool) -> Iterator[ReplyQuestion]:
    heading, current = "", None
    before = _category_comes_first(lines)
    for line in lines:
        text = line.text
        if OFFER_WORDS.match(text):
            continue
        label = _LABEL.match(text)
        is_category = label is not None and fold_name(label["name"]) in _CATEGORY_LABELS
        if label and is_category:
            title = label["rest"].strip() if before else None
        else:
            title = _heading(line)
        if title is not None:
            if current:
                yield ReplyQuestion(current.question, current.category or heading)
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
                continue  # a comment on the question above
            if current:
                yield ReplyQuestion(current.question, current.category or heading)
            item = _item(label["rest"] if label else text)
            remark = label["remark"] if label and label["remark"] else ""
            current = _Open(item.question, item.category or remark, line.depth)
        elif label and not label["rest"]:  # "Question 1:" above its words
            if current:
                yield ReplyQuestion(current.question, current.category or heading)
            current = _Open("", label["remark"] or "", line.depth)
        elif current and not current.question:
            item = _item(text)
            current.question = item.question
            current.category = current.category or item.category
        elif current and not re.search(r"[?.!:]$", current.question):  # the question continues here
            current.question = _cut(f"{current.question} {text}")
    if current:
        yield ReplyQuestion(current.question, current.category or heading)


def _category_comes_first(lines: Sequence[ReplyLine]) -> bool:
    """True if a line that names a category applies to the lines after it, not before it."""
    for line in lines:
        label = _LABEL.match(line.text)
        if label and fold_name(label["name"]) in _CATEGORY_LABELS:
            return True
        if (label and _asks(label["name"])) or (line.item and "?" in line.text):
            return False
    return False


def _asks(name: str) -> bool:
    """True if a label precedes a question."""
    return re.fullmatch(r"(?:question|q)\s*\d*", name.strip(), re.I) is not None


def _heading(line: ReplyLine) -> str | None:
    """Return the words of a heading that is only a category's name, "" for any other heading."""
    if "?" in line.text:
        return None
    words = re.sub(r"^category \d\s*[:-]\s*", "", line.text.rstrip(": "), flags=re.I)
    bracket = re.search(r"(?<![.!\s])\s*\((?P<inside>[^()]*)\)$", words)
    for one in (words, words[: bracket.start()], bracket["inside"]) if bracket else (words,):
        if find_category(one):
            return one
    is_title = line.heading or (line.text.endswith(":") and not line.item)
    return "" if is_title and not _LABEL.match(line.text) else None


def _item(text: str) -> ReplyQuestion:
    """Split a line into its question and the category that is named in it."""
    text = _cut(text)
    for pattern in (_TAGGED, _TAIL, _DASHED):
        found = pattern.fullmatch(text)
        if found and find_category(found["words"]):
            return ReplyQuestion(found["rest"].strip(), found["words"])
    before, colon, after = text.partition(":")
    if colon and find_category(before):
        return ReplyQuestion(after.strip(), before)
    dashed = HEADS.match(text)
    if dashed and re.match(r"\s*-\s*", text[dashed.end() :]):
        return ReplyQuestion(text[dashed.end() :].lstrip(" -"), dashed[0])
    tagged = _TAGGED.fullmatch(text)
    if tagged and is_question(tagged["rest"], in_json=False):  # named, and none of the three
        return ReplyQuestion(tagged["rest"].strip(), tagged["words"])
    rest = _REST.fullmatch(text)
    return ReplyQuestion(rest["question"] if rest else text)


def _cut(text: str) -> str:
    """Remove a comment after a question."""
    cut = _REMARK.sub("", text).strip()
    return cut.strip('"') if cut.count('"') == 2 else cut


def _in_tables(lines: Sequence[ReplyLine]) -> Iterator[ReplyQuestion]:
    rows = [cells for line in lines if (cells := split_cells(line.text)) is not None]
    if not rows:
        return
    header = [fold_name(cell) for cell in rows[0]]
    asked = next((n for n, cell in enumerate(header) if cell in ("question", "questions")), None)
    sort = next((n for n, cell in enumerate(header) if cell in ("category", "type")), None)
    if asked is None:
        return
    for cells in rows[1:]:
        if asked < len(cells):
            category = cells[sort] if sort is not None and sort < len(cells) else ""
            yield ReplyQuestion(cells[asked], category)


# Proposals of a model: questions with their categories, or the reason why they are invalid.
#
# JSON is used unchanged. In running text only items of a list count as questions; without a list,
# lines that end in a question mark do. A category is named next to a question, before it, or in the
# heading above it. Other text and repeated questions are left out with a note.

MOST: Final = 50
"""Maximum number of questions read from one reply."""
LONGEST: Final = 2_000
_READING_QUESTIONS: Final = frozenset(
    {"question", "text", "q", "prompt", "question text", "content"}
)
_CATEGORIES: Final = frozenset({"category", "type", "question category", "question type", "class"})
_LISTS: Final = frozenset(
    {
        "questions",
        "candidates",
        "items",
        "candidate questions",
        "output",
        "result",
        "results",
        "data",
    }
)


@dataclass(frozen=True)
class Proposal:
    """One question; ``category`` is a word of ``cases.category``, None if unknown."""

    question: str
    category: str | None = None


@dataclass(frozen=True)
class Proposals:
    """The questions of a reply, in its order, without repetitions."""

    questions: tuple[Proposal, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _Left:
    """Counts of what is left out."""

    empty: int = 0
    twice: int = 0
    no_question: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return notes on what is left out, and on unknown categories."""
        many = {
            "empty": self.empty,
            "proposed twice in it": self.twice,
        }
        said = [f"{english_count(n, 'item')} left out: {why}." for why, n in many.items() if n]
        said += [f"Left out, no question: “{one[:80]}”." for one in self.no_question]
        for one in dict.fromkeys(self.unknown):
            said.append(f"The category {one[:60]!r} is none of the three.")
        return tuple(said)


def read_proposals(text: str) -> Proposals | str:
    """Parse a reply; return a sentence on what is wrong if it contains no questions."""
    opened = text_or_json(text)
    if isinstance(opened, str):
        return opened
    words, parsed = opened
    left = _Left()
    items = _in_json(parsed[0]) if parsed else None
    if items is None and parsed is not None:
        return "The JSON of the answer holds no questions."
    found: dict[str, Proposal] = {}
    for item in items if items is not None else find_reply_questions(words):
        question = " ".join(item.question.split())
        if not question:
            left.empty += 1
        elif len(question) > LONGEST or not is_question(question, in_json=items is not None):
            left.no_question.append(question)
        elif fold_name(question) in found:
            left.twice += 1
        else:
            category = find_category(item.category) if item.category else None
            if item.category and category is None:
                left.unknown.append(item.category)
            found[fold_name(question)] = Proposal(question, category)
    if len(found) > MOST:
        return f"The answer has {len(found):,} questions; at most {MOST} are read."
    if not found:
        return "There is no question in the answer."
    return Proposals(tuple(found.values()), left.notes())


def _in_json(value: Any) -> list[ReplyQuestion] | None:
    """Return the questions of a JSON value; None if it is no list of them."""
    for _ in range(2):
        if isinstance(value, Mapping) and len(value) == 1:
            value = next(iter(value.values()))
    if isinstance(value, Mapping):
        named = [one for key, one in value.items() if fold_name(key) in _LISTS]
        if len(named) == 1 and isinstance(named[0], list | dict):
            return _in_json(named[0])
        if any(fold_name(key) in _READING_QUESTIONS for key in value):
            return [_reading_item(value)]
        by_category = {key: one for key, one in value.items() if find_category(key)}
        if by_category:
            return [item for key, one in by_category.items() for item in _under(key, one)]
        if value and all(isinstance(one, Mapping | str) for one in value.values()):
            return _listed(list(value.values()))
        return None
    return _listed(value) if isinstance(value, list) else None


def _listed(values: Sequence[Any]) -> list[ReplyQuestion] | None:
    found: list[ReplyQuestion] = []
    for one in values:
        if isinstance(one, str):
            found.append(ReplyQuestion(normalize_reply_text(one).strip()))
        elif isinstance(one, Mapping):
            nested = next((x for k, x in one.items() if fold_name(k) in _LISTS), None)
            if isinstance(nested, list):
                found += _under(_text(one, _CATEGORIES), nested)
            else:
                found.append(_reading_item(one))
        else:
            found.append(ReplyQuestion(""))
    return found if any(item.question for item in found) else None


def _under(category: str, value: Any) -> Iterator[ReplyQuestion]:
    """Yield the questions listed under a category."""
    for item in _listed(value if isinstance(value, list) else [value]) or ():
        yield ReplyQuestion(item.question, item.category or category)


def _reading_item(value: Mapping[str, Any]) -> ReplyQuestion:
    return ReplyQuestion(_text(value, _READING_QUESTIONS), _text(value, _CATEGORIES))


def _text(value: Mapping[str, Any], names: frozenset[str]) -> str:
    found = next((one for key, one in value.items() if fold_name(key) in names), "")
    return found.strip() if isinstance(found, str) else ""


# Proposing step: the request to a model about a study, and the rows of ``candidates``.

WORDING: Final = read_fixed_prompt(Path(__file__).with_name("propose-2.yaml"))
_QUESTION: Final = closed_object_schema(
    {
        "question": {"type": "string"},
        "category": {"type": "string", "enum": list(CATEGORIES["open"])},
    }
)


def proposing_subjects(studies: Iterable[SourceStudy], count: int) -> list[QuestionSubject]:
    """Return the subjects for studies with text for a model; each asks for ``count`` questions."""
    return [_subject(study, count) for study in studies if study.source]


def _subject(study: SourceStudy, count: int) -> QuestionSubject:
    texts = WORDING.texts
    values = {
        "source": study.source or "",
        "told": study.known,
        "count": str(count),
        "comparison": texts["with_prior" if study.has_prior else "without_prior"],
    }
    return QuestionSubject(study.case.id, (study.source or "",), values)


def _rows(found: Proposals, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": open_id(one.question),
            "question": one.question,
            "question_type": "open",
            "category": one.category,
            "extra": {"from": about[0]},
        }
        for one in found.questions
    ]


def _told(found: Proposals, subject: QuestionSubject) -> tuple[str, ...]:
    asked, came = subject.values["count"], len(found.questions)
    if str(came) == asked:
        return ()
    return (f"{english_count(came, 'question')} came, {asked} were asked for.",)


PROPOSE: Final = CurationStep(
    name="propose",
    table="candidates",
    wording=WORDING,
    schema=closed_object_schema({"questions": {"type": "array", "items": _QUESTION}}),
    read=read_proposals,
    rows=_rows,
    output_tokens=300,
    told=_told,
)
