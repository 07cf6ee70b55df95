"""Let a model score a question on four criteria and flag risks: request, strict parsing, rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.curation.plain_reply import (
    ReplyLine,
    looks_like_json,
    split_cells,
    split_lines,
    text_or_json,
)
from rexview.curation.rating.reply_scores import (
    ANY,
    BRACKETED_SCORE,
    CLARITY,
    CRITERION_END,
    HEADS,
    NO_RISK,
    RISK,
    RISK_BEHIND,
    SCORE_BEFORE_CRITERION,
    SCORED_CRITERIA,
    SECOND_QUESTION,
    UNCLEAR,
    StatedScores,
    find_scores,
    find_totals,
    parse_score,
    read_bracketed_number,
    read_json_scores,
    read_risk,
)
from rexview.curation.step import CurationStep, Row
from rexview.models.asking.prompts import read_fixed_prompt
from rexview.models.backend import closed_object_schema
from rexview.vocab import CRITERIA, SCORE_MAX, SCORE_MIN

# Scores of a model on the four criteria, or the reason why they are unknown.
#
# A score is a whole number in its place: after the name of its criterion, in its cell of a table,
# in its part of a JSON object. Digits in a reason do not count. Other statements on the same
# criterion must not differ. A reply that lacks one criterion is not used at all.

_LONGEST_REASON: Final = 2_000
_SPLIT: Final = re.compile(rf"(?:[;,|]|\s/)\s+(?:and\s+)?(?=(?:the\s+)?(?:{ANY}|risk)\b)", re.I)
_QUOTED: Final = re.compile(r'^["\']([^"\':]{3,60})["\']\s*:')
_SIGNS: Final = re.compile(r"^[^\w(\[|★⭐☆\"']+")
_CHANGED: Final = re.compile(
    r"\b(?:revis(?:ed|ing|e)|adjust(?:ed|ing)?|correct(?:ed|ion) (?:to|score)|downgrad\w+|upgrad\w+"
    r"|lower(?:ed|ing)? (?:it|this|to)|on (?:reflection|second thoughts?)|correction:|wait,)"
    r".{0,60}\b[1-5]\b",
    re.I,
)
_WHY: Final = re.compile(r"(?:reason|rationale|justification|comment|why)", re.I)
_ANSWER: Final = re.compile(r"^(?:yes|no|none|true|false)\b[\s.,:;-]*", re.I)
_REASON: Final = re.compile(
    r"^[\s)\].,:;|-]*(?:(?:reason|rationale|justification|comment)\s*[:-]\s*)?", re.I
)


@dataclass(frozen=True)
class Rating:
    """A number from 1 to 5 for each criterion, with its reason if there is one.

    ``risk`` is None if the reply states neither yes nor no. ``stated_total`` is the sum that the
    model stated, right or not, None if it stated none or several. ``risk_reason`` is its comment on
    the risk.
    """

    scores: Mapping[str, int]
    reasons: Mapping[str, str]
    risk: bool | None = None
    stated_total: int | None = None
    risk_reason: str = ""
    notes: tuple[str, ...] = ()


def read_rating(text: str) -> Rating | str:
    """Parse a reply; return a sentence on what is wrong if a criterion is missing or unclear."""
    opened = text_or_json(text)
    if isinstance(opened, str):
        return opened
    words, parsed = opened
    if not words:
        return "There is no answer."
    said = read_json_scores(parsed[0]) if parsed else None
    if said is None and looks_like_json(words):
        return "The answer is broken JSON, or no scores are in it."
    if said is not None and parsed is not None:
        said.join(_said_in_text(parsed[1]))
    else:
        said = _said_in_text(words)
    return _rating(said)


def _rating(said: StatedScores) -> Rating | str:
    if said.problem:
        return said.problem
    if said.numbers.pop("precision", set()) - said.numbers.get(CLARITY, set()):
        return "Clarity and precision have two different numbers."
    for name, title in CRITERIA.items():
        numbers = said.numbers.get(name, set())
        if not numbers:
            return f"There is no number for {title.lower()}."
        if UNCLEAR in numbers:
            return f"The number for {title.lower()} is none from 1 to 5."
        if len(numbers) > 1:
            return f"There are several numbers for {title.lower()}."
    if len(said.risks - {None}) > 1:
        return "The risk flag is both yes and no."
    notes = []
    risk = next(iter(said.risks - {None}), None)
    if risk is None:
        notes.append("The answer says neither yes nor no to the risk.")
    total = next(iter(said.totals)) if len(said.totals) == 1 else None
    if len(said.totals) > 1:
        notes.append("The answer gives several sums.")
    scores = {name: int(next(iter(said.numbers[name]))) for name in CRITERIA}
    if total is not None and total != sum(scores.values()):
        notes.append(f"The answer says that the sum is {total}; it is {sum(scores.values())}.")
    named = {name: said.reasons.get(name, "") for name in (*CRITERIA, "risk")}
    reasons = {name: words[:_LONGEST_REASON] for name, words in named.items() if words}
    risk_reason = reasons.pop("risk", "")
    return Rating(scores, reasons, risk, total, risk_reason, tuple(notes))


@dataclass
class _Block:
    """Text on one criterion, or on the risk: after its name, and in the lines below."""

    name: str
    first: str
    more: list[str] = field(default_factory=list)


def _said_in_text(text: str) -> StatedScores:
    lines = list(_statements(split_lines(text)))
    said = StatedScores()
    if any(SECOND_QUESTION.match(line) for line in lines):
        said.problem = "The answer is about more than one question."
    lines = _without_fronts(_without_tables(lines, said), said)
    for block in _blocks(lines, said):
        if block.name == "risk":
            _read_risk(block, said)
        else:
            _read_criterion(block, said)
    for line in lines:
        _compare(line, said)
        _read_total(line, said)
        if _CHANGED.search(line):
            said.problem = said.problem or "The answer changes a number that it gave before."
    return said


def _statements(lines: Iterable[ReplyLine]) -> Iterable[str]:
    """Yield one statement after another; several criteria on a line are split."""
    for line in lines:
        text = _QUOTED.sub(r"\1:", _SIGNS.sub("", line.text))
        if split_cells(text) is not None:
            yield text
            continue
        start = 0
        if any(head.match(text) for head in HEADS.values()):
            for cut in _SPLIT.finditer(text):
                yield text[start : cut.start()]
                start = cut.end()
        yield text[start:]


def _blocks(lines: Sequence[str], said: StatedScores) -> Iterable[_Block]:
    block: _Block | None = None
    for line in lines:
        name = next((one for one, head in HEADS.items() if head.match(line)), None)
        if name is None and RISK.match(line):
            name = "risk"
        if name is None and NO_RISK.match(line):
            said.risks.add(False)
        if name is not None or CRITERION_END.match(line):
            if block is not None:
                yield block
            block = None
            if name is not None:
                head = (RISK if name == "risk" else HEADS[name]).match(line)
                assert head is not None
                block = _Block(name, line[head.end() :])
        elif block is not None:
            block.more.append(line)
    if block is not None:
        yield block


def _read_criterion(block: _Block, said: StatedScores) -> None:
    at = parse_score(block.first)
    rest = block.first
    numbers = find_scores(block.first)
    if at == UNCLEAR:
        numbers.add(UNCLEAR)
    elif at is not None:
        numbers.add(at[0])
        rest = at[1]
    elif (number := read_bracketed_number(block.first)) is not None:
        numbers.add(number)
    for place, line in enumerate(block.more):
        numbers |= find_scores(line)
        first = parse_score(line) if place == 0 and not block.first.strip(" :-") else None
        if first is not None:
            numbers.add(UNCLEAR if first == UNCLEAR else first[0])
    said.numbers[block.name] |= numbers
    reason = " ".join(part for part in (_REASON.sub("", rest), *block.more) if part)
    said.reasons.setdefault(block.name, reason.strip())


def _read_risk(block: _Block, said: StatedScores) -> None:
    words = block.first
    if not words.strip(" :=-?|"):
        words = next(iter(block.more), "")
    said.risks.add(read_risk(words))
    said.reasons.setdefault("risk", _ANSWER.sub("", _REASON.sub("", words)).strip())


def _compare(line: str, said: StatedScores) -> None:
    """Add the scores in running text, which must be the same."""
    for name, pattern in SCORED_CRITERIA.items():
        for found in pattern.finditer(line):
            number = parse_score(found["number"])
            said.numbers[name].add(number[0] if isinstance(number, tuple) else UNCLEAR)
    for name, pattern in SCORE_BEFORE_CRITERION.items():
        said.numbers[name] |= {int(one) for one in pattern.findall(line)}


def _read_total(line: str, said: StatedScores) -> None:
    said.totals |= find_totals(line)


def _without_tables(lines: Sequence[str], said: StatedScores) -> list[str]:
    """Read the scores in tables; return the other lines."""
    rest, rows = [], []
    for line in lines:
        cells = split_cells(line)
        if cells is None:
            rest.append(line)
        else:
            rows.append(cells)
    header = rows[0] if rows else []
    across = [_criterion(cell) for cell in header]
    if sum(one is not None for one in across) >= len(CRITERIA):
        given = [cells for cells in rows[1:] if not _WHY.match(cells[0])]
        if len(given) != 1:
            said.problem = "The table has more than one row of scores, or none."
        for title, name, cell in zip(header, across, given[0] if given else (), strict=False):
            if name:
                _cell(name, cell, "", said)
            elif RISK.match(title):
                said.risks.add(read_risk(cell))
            else:
                _read_total(f"{title}: {cell}", said)
        return rest
    column = _score_column(header, said)
    for cells in rows:
        name = next((one for one in map(_criterion, cells[:2]) if one), None)
        at = next((n for n, cell in enumerate(cells[:2]) if _criterion(cell)), 0)
        place = at + 1 if column is None else column
        if place >= len(cells):
            continue
        reason = " ".join(cells[max(place, at) + 1 :])
        if name:
            _cell(name, cells[place], reason, said)
        elif RISK.match(cells[0]) or (len(cells) > 1 and RISK.match(cells[1])):
            said.risks.add(read_risk(cells[place]))
            said.reasons.setdefault("risk", reason)
        elif re.search(r"\b(?:total|sum)\b", cells[0], re.I):
            _read_total(f"total: {cells[place]}", said)
    return rest


def _without_fronts(lines: Sequence[str], said: StatedScores) -> list[str]:
    """Read numbers in brackets before their criterion; return the lines without them.

    Brackets that only number the lines are no scores.
    """
    found = [(line, _in_front(line)) for line in lines]
    numbers = [int(front[1]["number"]) for _, front in found if front]
    if numbers and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return [front[1]["rest"] if front else line for line, front in found]
    rest = []
    for line, front in found:
        if front:
            said.numbers[front[0]].add(int(front[1]["number"]))
            rest.append(front[1]["rest"])
        elif risk := RISK_BEHIND.match(line):
            said.risks.add(risk["word"].lower() == "yes")
        else:
            rest.append(line)
    return rest


def _in_front(line: str) -> tuple[str, re.Match[str]] | None:
    return next(
        (
            (name, found)
            for name, pattern in BRACKETED_SCORE.items()
            if (found := pattern.match(line))
        ),
        None,
    )


def _score_column(header: Sequence[str], said: StatedScores) -> int | None:
    """Return the column of the scores; None if no heading names it."""
    found = [
        place
        for place, cell in enumerate(header)
        if re.search(r"\b(?:score|rating|points|bewertung|punkte|value|grade)\b", cell, re.I)
        and not re.search(r"\bmax", cell, re.I)
    ]
    if len(found) > 1:
        said.problem = "The table has more than one column of scores."
    return found[0] if found else None


def _criterion(cell: str) -> str | None:
    return next(
        (one for one, head in HEADS.items() if (m := head.match(cell)) and m.end() == len(cell)),
        None,
    )


def _cell(name: str, cell: str, reason: str, said: StatedScores) -> None:
    number = parse_score(cell)
    said.numbers[name].add(number[0] if isinstance(number, tuple) else UNCLEAR)
    said.reasons.setdefault(name, reason)


# Rating step: the request to a model, and the row of ``candidate_ratings`` from its reply.

WORDING: Final = read_fixed_prompt(Path(__file__).with_name("rate-2.yaml"))
_SCORE: Final = closed_object_schema(
    {
        "score": {"type": "integer", "enum": list(range(SCORE_MIN, SCORE_MAX + 1))},
        "reason": {"type": "string"},
    }
)
_FLAG: Final = closed_object_schema({"flag": {"type": "boolean"}, "reason": {"type": "string"}})


def _rows(found: Rating, about: tuple[str, ...]) -> list[Row]:
    return [
        {
            "candidate": about[0],
            **found.scores,
            "risk": found.risk,
            "stated_total": found.stated_total,
            "comment": _reasons(found),
        }
    ]


def _reasons(found: Rating) -> str | None:
    """Return the model's reasons, one line each after the name of its criterion."""
    given = {CRITERIA[name]: words for name, words in found.reasons.items() if name in CRITERIA}
    if found.risk_reason:
        given["Risk"] = found.risk_reason
    return "\n".join(f"{name}: {words}" for name, words in given.items()) or None


RATE: Final = CurationStep(
    name="rate",
    table="candidate_ratings",
    wording=WORDING,
    schema=closed_object_schema(
        {**dict.fromkeys(CRITERIA, _SCORE), "risk": _FLAG, "total": {"type": "integer"}}
    ),
    read=read_rating,
    rows=_rows,
    output_tokens=200,
)
