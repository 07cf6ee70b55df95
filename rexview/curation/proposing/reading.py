"""What a model proposed: questions with their categories, or why it is none.

JSON is read as it stands. In running text only items of a list count as questions, and where there
is no list, lines that end in a question mark; a category is named beside a question, before it, or
in the heading above it. What is no question, and questions that stand twice, are left out and said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.curation.plain_reply import folded, plain, text_or_json
from rexview.curation.proposing.categories import category_of
from rexview.curation.proposing.in_text import items_in_text
from rexview.curation.proposing.items import Item, is_question
from rexview.vocab import counted

MOST: Final = 50
"""Questions that are taken out of one reply."""
LONGEST: Final = 2_000
_QUESTIONS: Final = frozenset({"question", "text", "q", "prompt", "question text", "content"})
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
    """One question; ``category`` is a word of ``cases.category``, None where none is known."""

    question: str
    category: str | None = None


@dataclass(frozen=True)
class Proposals:
    """The questions of a reply, in its order, each once."""

    questions: tuple[Proposal, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _Left:
    """How many of what is left out."""

    empty: int = 0
    twice: int = 0
    no_question: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Say what is left out, and what is not known."""
        many = {
            "empty": self.empty,
            "proposed twice in it": self.twice,
        }
        said = [f"{counted(n, 'item')} left out: {why}." for why, n in many.items() if n]
        said += [f"Left out, no question: “{one[:80]}”." for one in self.no_question]
        for one in dict.fromkeys(self.unknown):
            said.append(f"The category {one[:60]!r} is none of the three.")
        return tuple(said)


def read_proposals(text: str) -> Proposals | str:
    """Read a reply; a sentence about what is wrong where it holds no questions."""
    opened = text_or_json(text)
    if isinstance(opened, str):
        return opened
    words, parsed = opened
    left = _Left()
    items = _in_json(parsed[0]) if parsed else None
    if items is None and parsed is not None:
        return "The JSON of the answer holds no questions."
    found: dict[str, Proposal] = {}
    for item in items if items is not None else items_in_text(words):
        question = " ".join(item.question.split())
        if not question:
            left.empty += 1
        elif len(question) > LONGEST or not is_question(question, in_json=items is not None):
            left.no_question.append(question)
        elif folded(question) in found:
            left.twice += 1
        else:
            category = category_of(item.category) if item.category else None
            if item.category and category is None:
                left.unknown.append(item.category)
            found[folded(question)] = Proposal(question, category)
    if len(found) > MOST:
        return f"The answer has {len(found):,} questions; at most {MOST} are read."
    if not found:
        return "There is no question in the answer."
    return Proposals(tuple(found.values()), left.notes())


def _in_json(value: Any) -> list[Item] | None:
    """Return the questions of a JSON value; None where it is no list of them."""
    for _ in range(2):
        if isinstance(value, Mapping) and len(value) == 1:
            value = next(iter(value.values()))
    if isinstance(value, Mapping):
        named = [one for key, one in value.items() if folded(key) in _LISTS]
        if len(named) == 1 and isinstance(named[0], list | dict):
            return _in_json(named[0])
        if any(folded(key) in _QUESTIONS for key in value):
            return [_item(value)]
        by_category = {key: one for key, one in value.items() if category_of(key)}
        if by_category:
            return [item for key, one in by_category.items() for item in _under(key, one)]
        if value and all(isinstance(one, Mapping | str) for one in value.values()):
            return _listed(list(value.values()))
        return None
    return _listed(value) if isinstance(value, list) else None


def _listed(values: Sequence[Any]) -> list[Item] | None:
    found: list[Item] = []
    for one in values:
        if isinstance(one, str):
            found.append(Item(plain(one).strip()))
        elif isinstance(one, Mapping):
            nested = next((x for k, x in one.items() if folded(k) in _LISTS), None)
            if isinstance(nested, list):
                found += _under(_text(one, _CATEGORIES), nested)
            else:
                found.append(_item(one))
        else:
            found.append(Item(""))
    return found if any(item.question for item in found) else None


def _under(category: str, value: Any) -> Iterator[Item]:
    """Yield the questions that stand under a category."""
    for item in _listed(value if isinstance(value, list) else [value]) or ():
        yield Item(item.question, item.category or category)


def _item(value: Mapping[str, Any]) -> Item:
    return Item(_text(value, _QUESTIONS), _text(value, _CATEGORIES))


def _text(value: Mapping[str, Any], names: frozenset[str]) -> str:
    found = next((one for key, one in value.items() if folded(key) in names), "")
    return found.strip() if isinstance(found, str) else ""
