"""The scores of a reply in JSON, however its parts are nested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rexview.curation.plain_reply import folded, plain
from rexview.curation.rating.names import KEYS
from rexview.curation.rating.numbers import UNCLEAR, Unclear, number_at
from rexview.curation.rating.said import Said, risk_word

_DEEPEST: Final = 4
_NAMES: Final = ("criterion", "name", "dimension", "category", "criteria")
_NUMBERS: Final = ("score", "rating", "value", "points", "number")
_REASONS: Final = ("reason", "rationale", "justification", "explanation", "comment")
_FLAGS: Final = ("flag", "flagged", "risk", "risk_flag", "value", "present", "answer")
_RISKS: Final = frozenset({"risk", "risk flag", "riskflag", "flag", "risk flagged", "is risk"})
_TOTALS: Final = frozenset(
    {"total", "sum", "total score", "totalscore", "sum total", "overall total", "total sum"}
)


def said_in_json(value: Any) -> Said | None:
    """Gather what a JSON value says of the criteria; None where it says nothing of them."""
    said = Said()
    wholes = 0
    for key, one in _pairs(value, 0):
        name = folded(key)
        criterion = next((word for word, names in KEYS.items() if names.fullmatch(name)), None)
        if criterion is not None:
            number = _number(one)
            if number is None:  # reasons may stand in an object of their own
                said.reasons.setdefault(criterion, str(one).strip())
                continue
            wholes += criterion == "relevance"
            said.numbers[criterion].add(number)
            if reason := _reason(one):
                said.reasons[criterion] = reason
        elif name in _RISKS:
            said.risks.add(_flag(one))
            said.reasons.setdefault("risk", _reason(one))
        elif name in _TOTALS:
            _add_total(one, said)
        elif name == "conclusion" and isinstance(one, Mapping):
            _add_total(next((one[word] for word in one if folded(word) in _TOTALS), None), said)
    if wholes > 1:
        said.problem = "The answer is about more than one question."
    return said if said.numbers else None


def _pairs(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield all named parts that hold a score, a flag or a sum, from the outside in."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from _pairs(one, depth + 1)
    elif isinstance(value, Mapping):
        named = next((value[word] for word in _NAMES if isinstance(value.get(word), str)), None)
        if named is not None and any(word in value for word in (*_NUMBERS, *_FLAGS)):
            yield named, value
            return
        for key, one in value.items():
            yield key, one
            is_known = any(names.fullmatch(folded(key)) for names in KEYS.values())
            if not is_known and folded(key) not in _RISKS | _TOTALS and folded(key) != "conclusion":
                yield from _pairs(one, depth + 1)


def _number(value: Any) -> int | Unclear | None:
    """Return the number of a part; None for words without one at their beginning."""
    if isinstance(value, Mapping):
        given = [value[word] for word in _NUMBERS if word in value]
        return (_number(given[0]) or UNCLEAR) if len(given) == 1 else UNCLEAR
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNCLEAR
    if isinstance(value, float) and not value.is_integer():
        return UNCLEAR
    number = number_at(plain(value) if isinstance(value, str) else str(int(value)))
    return number[0] if isinstance(number, tuple) else number


def _flag(value: Any) -> bool | None:
    if isinstance(value, Mapping):
        given = [value[word] for word in _FLAGS if word in value]
        return _flag(given[0]) if len(given) == 1 else None
    if isinstance(value, bool):
        return value
    return risk_word(plain(value)) if isinstance(value, str) else None


def _reason(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    words = next((value[word] for word in _REASONS if isinstance(value.get(word), str)), "")
    return str(words).strip()


def _add_total(value: Any, said: Said) -> None:
    if isinstance(value, str):
        head = plain(value).partition("/")[0].strip()
        value = int(head) if head.isdigit() and len(head) < 4 else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        said.totals.add(value)
