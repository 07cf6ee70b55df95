"""What a judge answered: its opinions, or why it is no answer. Nothing is guessed or mended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from rexview.judge.subjects import FAILURES
from rexview.models.asking.reading import CLOSES, OPENS, possible_answers
from rexview.vocab import SCORE_MAX, SCORE_MIN

_MOST: Final = 2_000_000
_LONGEST: Final = 10_000
_OUT_OF_FIVE: Final = re.compile(rf"(?<![\d/.])(\d)\s*/\s*{SCORE_MAX}(?![\d/])")
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_OUTSIDE: Final = " \"'.\u2026"
_LONGEST_AFTER: Final = 300
_MOST_PARTS: Final = 40
"""Ends of thinking that are tried."""
_TAKEN_BACK: Final = re.compile(
    r"[\d{}]|\b(?:but|no|yes|one|two|three|four|five|rather|wait|cut|side|left|right)\b"
    r"|\b(?:actual|absent|change|contrary|correct|disregard|doubt|error|example|except|execution"
    r"|false|guess|hallucinat|however|ignor|instead|invalid|invent|language|laterality|limit|miss"
    r"|mistake|omission|omit|opposite|placeholder|present|process|reconsider|relied|rely|retract"
    r"|revers|revis|score|second thought|should|sorry|synthesis|template|token|true|uncertain"
    r"|unsure|updat|withdr|wrong)"
)
"""Figures, words and beginnings of words after which what stands before may not hold."""
_NO_OPINION: Final = re.compile(
    r"\b(?:example|placeholder|template|(?:cannot|can ?not|can['\u2019]t|will not|won['\u2019]t"
    r"|unable to|not able to)\s+(?:answer|assess|assist|comply|do|evaluat|give|help|judge|provide"
    r"|rate|score))"
)
"""Words and beginnings of words before an object that is no opinion, but shows the form of one."""
_TRUTH: Final = {"true": True, "false": False, "yes": True, "no": False}


@dataclass(frozen=True)
class Opinion:
    """What is said of one failure (``present``) or one dimension (``score``), with its reason."""

    name: str
    present: bool | None
    score: int | None
    reason: str | None
    quote: str | None


def read_opinion(text: str, asked: Sequence[str]) -> tuple[Opinion, ...] | str:
    """Read the JSON object of a judge.

    Returns
    -------
    tuple of Opinion or str
        One for each name that was asked; what is wrong with the answer, in a sentence, where
        anything of it is not as asked: then none of it is taken.
    """
    value = only_object(text)
    if isinstance(value, str):
        return value
    found = []
    for name in asked:
        group = "failures" if name in FAILURES else "scores"
        within = value.get(group)
        if not isinstance(within, Mapping):
            return f"The answer has no {group}."
        if name not in within:
            return f"The answer says nothing of {name}."
        one = _opinion(name, within[name])
        if isinstance(one, str):
            return f"{name}: {one}"
        found.append(one)
    return tuple(found)


def _opinion(name: str, value: Any) -> Opinion | str:
    if not isinstance(value, Mapping):
        return "it is no object."
    words = {}
    for part in ("reason", "quote"):
        given = value.get(part)
        if not isinstance(given, str | None) or len(given or "") > _LONGEST:
            return f"the {part} is no text of at most {_LONGEST:,} characters."
        words[part] = (given or "").strip() or None
    if name in FAILURES:
        present = _truth(value.get("present"))
        if present is None:
            return f"present is {value.get('present')!r:.60}, neither true nor false."
        if words["quote"] and not present:  # what it quotes, it holds to be the failure
            return "it is said to be absent, and quoted all the same."
        return Opinion(name, present, None, **words)
    score = _score(value.get("score"))
    if score is None:
        return f"the score {value.get('score')!r:.60} is no whole number from 1 to 5."
    stated = {int(one) for one in _OUT_OF_FIVE.findall(words["reason"] or "")}
    if stated - {score}:
        return f"the score is {score}, and by its reason {min(stated - {score})}."
    return Opinion(name, None, score, **words)


def _truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _score(value: Any) -> int | None:
    if isinstance(value, str):
        figure = re.fullmatch(rf"\s*(\d)\s*(?:/\s*{SCORE_MAX})?\s*", value, re.ASCII)
        value = int(figure[1]) if figure else None
    if isinstance(value, bool) or value not in range(SCORE_MIN, SCORE_MAX + 1):
        return None
    return int(value)


def only_object(text: str) -> Mapping[str, Any] | str:
    """Return the one JSON object of an answer; in a sentence, why there is none.

    What is thought before the answer, and words before the object, are passed over, but for
    :data:`_NO_OPINION`. After it only
    a few words may stand, such as a note that a radiologist has to decide: none of
    :data:`_TAKEN_BACK`, since those could take something back.
    """
    if len(text) > _MOST:
        return "The answer is too long to be read."
    found: Mapping[str, Any] | str = "The answer does not come to an end of its thinking."
    for part in islice(possible_answers(text), _MOST_PARTS):
        if OPENS.search(part.partition("{")[0]):
            continue  # it thinks there
        found, after = _object_in(part)
        if not isinstance(found, str) and not CLOSES.search(after):
            return found
    return found if isinstance(found, str) else "The answer goes on after its JSON object."


def _object_in(text: str) -> tuple[Mapping[str, Any] | str, str]:
    """Return the object that an answer is, or why it is none; and what follows the object."""
    start = text.find("{")
    if start < 0:
        return "The answer is no JSON object.", ""
    if _NO_OPINION.search(text[:start].lower()):
        return "By the words before its JSON object the answer is no opinion.", ""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _Twice as twice:
        return f"{str(twice)[:60]!r} stands twice in the answer.", ""
    except (ValueError, RecursionError):
        return "The answer is no JSON object.", ""
    after = text[end:].strip().strip("`").lower()
    if CLOSES.search(after) or (len(after) <= _LONGEST_AFTER and not _TAKEN_BACK.search(after)):
        return value, after
    return "The answer goes on after its JSON object.", after


class _Twice(Exception):
    """A name that an object has twice: which of the two is meant cannot be known."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Join the parts of an object, their names folded: ``Laterality error`` is laterality_error."""
    found: dict[str, Any] = {}
    for given, value in pairs:
        name = re.sub(r"[\W_]+", "_", given.strip().lower())
        if name in found:
            raise _Twice(name)
        found[name] = value
    return found


def _no_number(word: str) -> Any:
    raise ValueError(word)  # NaN and Infinity are no JSON


# not strict: a line may break within a text
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)


def missing_quotes(opinions: Sequence[Opinion], answer: str) -> tuple[str, ...]:
    """Say which quotes do not stand in the answer, a sentence each.

    Blanks, capitals, kinds of quotation marks and what encloses a quote make no difference.
    """
    folded = _folded(answer)
    missing = (one.name for one in opinions if one.quote and not _within(one.quote, folded))
    return tuple(no_quote(name) for name in missing)


def no_quote(name: str) -> str:
    """Return the sentence by which it is kept that a quote does not stand in the answer."""
    return f"{name}: what it quotes does not stand in the answer."


def stands_in(quote: str, answer: str) -> bool:
    r"""Whether a quote stands in an answer, compared as :func:`missing_quotes` does.

    >>> stands_in("‘No  prior’", "There is no\nprior."), stands_in("...", "There is no prior.")
    (True, False)
    """
    return bool(_folded(quote).strip(_OUTSIDE)) and _within(quote, _folded(answer))


def _within(quote: str, folded: str) -> bool:
    return _folded(quote).strip(_OUTSIDE) in folded


def _folded(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())
