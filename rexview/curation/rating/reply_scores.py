"""Parse the scores that a model's reply states: names of criteria, numbers, totals, JSON."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rexview.curation.plain_reply import fold_name, normalize_reply_text
from rexview.vocab import CRITERIA, SCORE_MAX, SCORE_MIN

_IMAGE: Final = r"(?:image|radiograph|x-?\s?ray|film|cxr|imaging|picture|bild)s?"
_CRITERIA: Final = {
    "relevance": (
        r"clinical(?:ly)? (?:relevance|relevant|significance|importance)"
        r"|relevance(?: \(clinical\)| (?:to|for) (?:clinical )?(?:practice|care|patient care))?"
        r"|klinische relevanz|relevanz|pertinence(?: clinique)?"
        r"|relevancia(?: cl[ií]nica)?|rilevanza(?: clinica)?|relev[âa]ncia(?: cl[ií]nica)?"
        r"|临床相关性|臨床的関連性"
    ),
    "answerability": (
        r"(?:image(?:-based)? |visual )?answerab(?:ility|le)"
        rf"(?: (?:from|by|on|with|using|in|via) (?:the |this )?(?:given |provided |chest )?{_IMAGE}"
        r"(?: alone| only)?)?"
        r"|beantwortbarkeit(?: (?:aus|anhand|mit|am)(?: dem| des)? bild(?:es)?)?"
        r"|(?:r[ée]pondabilit[ée]|capacit[ée] de r[ée]ponse)(?: (?:à partir|par) de l'image)?"
        r"|(?:respondibilidad|contestabilidad)(?: (?:a partir de|desde|con) la imagen)?"
        r"|可回答性"
    ),
    "complexity": (
        r"complexity(?: of (?:the )?(?:clinical |diagnostic |required )?reasoning)?"
        r"|(?:reasoning|diagnostic|cognitive) complexity"
        r"|komplexität(?: (?:der|des) \w+)?"
        r"|complexit[ée](?: du \w+)?"
        r"|complejidad(?: del \w+)?|complessità(?: del \w+)?"
        r"|推理复杂性"
    ),
    "clarity": (
        r"clarity(?:(?: and | & | ?/ ?|, | \+ | )precision)?|precision(?: and | & | ?/ ?)clarity"
        r"|klarheit(?: und (?:präzision|genauigkeit))?"
        r"|clart[ée](?: et pr[ée]cision)?|claridad(?: y precisi[oó]n)?"
        r"|chiarezza(?: e precisione)?|清晰度"
    ),
    "precision": r"precision|präzision|pr[ée]cision|precisi[oó]n",
}
"""``precision`` is a part of clarity; if it has a score of its own, both must be equal."""
_FIVE: Final = r"(?:scale:? ?)?[01] ?(?:-|to) ?5|(?:max(?:imum)?\.? |out of |of |/ ?)5"
_SCALE: Final = rf"(?:\s*\((?:[^()\d]*|{_FIVE})\))?"
_LEAD: Final = r"(?:criterion \d ?[:.-] ?|(?:score|rating) (?:for|of) )?(?:the )?"
_AFTER: Final = (
    r"(?= *$| *[:=|,(\[-]| +\.+ | *[★⭐☆]| +\d| +(?:score|rating|is|gets|scores|rated|receives)\b)"
)
ANY: Final = "|".join(f"(?:{names})" for names in _CRITERIA.values())
HEADS: Final = {
    criterion: re.compile(rf"{_LEAD}(?:{names})(?: (?:score|rating))?{_SCALE}{_AFTER}", re.I)
    for criterion, names in _CRITERIA.items()
}
"""A criterion at the start of a line, up to its score."""
SCORED_CRITERIA: Final = {
    criterion: re.compile(
        rf"(?<![\w-])(?:{names})(?: (?:score|rating))?{_SCALE}"
        r" *(?:[:=-]|is|to|at|as|should be|would be|becomes|scores|gets|deserves)? *"
        r"(?:an? |score of |rating of |down to |up to )*"
        r"(?P<number>\d(?![\d.,]*\d).*)",
        re.I,
    )
    for criterion, names in _CRITERIA.items()
}
"""A criterion with a number, anywhere in a line."""
SCORE_BEFORE_CRITERION: Final = {
    criterion: re.compile(
        rf"(?<![\w./-])([0-9])(?: ?/ ?5)? (?:for|in|on) (?:the )?(?:{names})", re.I
    )
    for criterion, names in _CRITERIA.items()
}
"""A number before its criterion: 4/5 for clarity."""
KEYS: Final = {
    criterion: re.compile(rf"(?:{names})(?: (?:score|rating))?", re.I)
    for criterion, names in _CRITERIA.items()
}
"""The name of a part of a JSON object."""
RISK: Final = re.compile(
    r"(?:(?:overall|safety|potential|any) )?(?:risk(?:s)?(?: ?flag(?:ged)?)?|flag(?:ged)?"
    r"|risiko(?:hinweis|-?flag|markierung)?|risque|riesgo|rischio|signalement de risque"
    r"|(?:indicador|alerta|bandera) de riesgo|indicateur de risque|drapeau de risque"
    r"|风险(?:标志)?)"
    r"(?:\s*\([^()]*\))?(?= *$| *[:=|?-]| +(?:yes|no|none|true|false)\b)",
    re.I,
)
NO_RISK: Final = re.compile(r"no (?:\w+ ){0,2}risks?(?: flags?)?\b", re.I)
BRACKETED_SCORE: Final = {
    criterion: re.compile(rf"\[(?P<number>\d)(?:/5)?\] *(?P<rest>(?:{names})\b.*)", re.I)
    for criterion, names in _CRITERIA.items()
}
"""A number in square brackets before its criterion."""
RISK_BEHIND: Final = re.compile(r"\[(?P<word>yes|no)\] *risk(?: flag)?\b(?P<rest>.*)", re.I)
CRITERION_END: Final = re.compile(
    r"(?:in )?(?:total|sum\b|overall|conclusion|final|summary|gesamt|summe|somme|fazit|conclusi"
    r"|verdict|recommendation|schluss)",
    re.I,
)
"""A line that ends the text on a criterion."""
SECOND_QUESTION: Final = re.compile(
    r"(?:question|frage|q)\s*(?:#|no\.?|number)?\s*(?:2|two|zwei|b)\b", re.I
)
"""A heading of a second question."""


# The number in the place of a score: a whole one from 1 to 5, or none.

Unclear = Literal["unclear"]
UNCLEAR: Final = "unclear"
"""The place of a number holds something that is no number from 1 to 5."""
_WORDS: Final = {
    word: number
    for number, words in enumerate(
        (
            "one eins un uno",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
        ),
        start=1,
    )
    for word in words.split()
}
_LABEL: Final = (
    r"(?:(?:score|rating|points?|value|note|punkte|bewertung|puntuaci[oó]n|rated?|scores?|gets"
    r"|receives|is)\b(?: (?:is|of|at|a|an))*\s*[:=-]*\s*)*"
)
_START: Final = re.compile(rf"(?:\s\.+\s|[\s:=|,>-])*{_LABEL}(?P<open>[(\[]?)\s*", re.I)
_NUMBER: Final = re.compile(rf"(?P<digits>\d+)|(?P<word>{'|'.join(_WORDS)})\b", re.I)
_STARS: Final = re.compile(r"(?P<full>[★⭐]{1,5})(?P<empty>[☆✩]*)")
_OUT_OF: Final = re.compile(r"\s*(?:/|out of|of|von|sur|de|auf)\s*(\d+)(?!\d|\.\d)", re.I)
_OTHER: Final = r"(?:\d|one|two|three|four|five)"
_SPOILS: Final = re.compile(
    r"[.,]\d|[⁄+%°?½¼¾]|\s+\d|\s*/|[^\W\d_]"
    rf"|-{_OTHER}|\s*(?:to|or|bis|oder|ou|through|~|and)\s+{_OTHER}\b"
    rf"|\s*(?:-*>+|=+>|→|⇒)\s*{_OTHER}",
    re.I,
)
"""Makes the number before it another one, or a range."""
_MAY_FOLLOW: Final = re.compile(
    r"\s*(?:$|[^\w\s]|(?-i:[A-Z])|(?:because|as|since|points?|pts|stars?|given|due|for)\b)", re.I
)
"""Otherwise the number counts something: "2 steps are needed"."""
_DASHED: Final = re.compile(r"\s+-\s*(\d+)(?P<rest>.?)")
_HEDGED: Final = re.compile(
    r"(?:[~≈<>≤≥/.,\d]|\d\s*-|\b(?:about|approximately|around|maybe|perhaps|between|roughly"
    r"|at least|at most|or|to|not|than|from|grade|stage|class|type|circa|ca\.?))\s*$",
    re.I,
)
_BEFORE: Final = 30
"""Characters before a number that may qualify it."""
_EXPLICIT: Final = (
    re.compile(r"(?<![\w/.,-])(?P<number>\d+\s*(?:/|out of)\s*5(?!\d|\.\d))", re.I),
    re.compile(r"\b(?:score|rating|bewertung)\s*(?:is|of|[:=-])\s*(?P<number>\d.*)", re.I),
)
_IN_BRACKETS: Final = re.compile(
    r"[\s:=|-]*(?:very )?[a-z]{3,14}\s*(?P<number>\([1-5](?:\s*/\s*5)?\))", re.I
)
_AT_END: Final = re.compile(r"[^\d]*-\s*(?P<number>[1-5])\s*\.?\s*")


def parse_score(text: str) -> tuple[int, str] | Unclear | None:
    """Parse the number at the start of a text, after a colon, dash or label.

    Returns
    -------
    tuple of int and str, or "unclear", or None
        The number and the rest of the text; None if the text does not start with one.
    """
    start = _START.match(text)
    assert start is not None  # it also matches the empty text
    rest = text[start.end() :]
    if stars := _STARS.match(rest):
        full, empty = len(stars["full"]), len(stars["empty"])
        return (full, rest[stars.end() :]) if not empty or full + empty == SCORE_MAX else UNCLEAR
    found = _NUMBER.match(rest)
    if found is None:
        return None
    digits = found["digits"]
    number = int(digits[:6]) if digits else _WORDS[found["word"].lower()]
    rest = rest[found.end() :]
    if out_of := _OUT_OF.match(rest):
        if int(out_of[1][:6]) != SCORE_MAX:
            return UNCLEAR
        rest = rest[out_of.end() :]
    if re.match(r"\.0+(?!\d)", rest):
        rest = rest[2:].lstrip("0")
        if out_of := _OUT_OF.match(rest):
            rest = rest[out_of.end() :]
    dashed = _DASHED.match(rest)
    is_range = dashed is not None and number < int(dashed[1][:6]) <= SCORE_MAX
    if not SCORE_MIN <= number <= SCORE_MAX or _SPOILS.match(rest) or is_range:
        return UNCLEAR
    if not _MAY_FOLLOW.match(rest):
        return UNCLEAR
    if start["open"]:
        rest = re.sub(r"^([^)\]]*)[)\]]", r"\1", rest, count=1)
        if re.match(r"\s*[:=-]\s*\d", rest):
            return UNCLEAR
    return number, rest


def find_scores(text: str) -> set[int | Unclear]:
    """Return all numbers that a text explicitly gives as scores: ``4/5``, ``score: 4``."""
    found: set[int | Unclear] = set()
    for pattern in _EXPLICIT:
        for said in pattern.finditer(text):
            if pattern is _EXPLICIT[0] and _HEDGED.search(
                text[max(0, said.start() - _BEFORE) : said.start()]
            ):
                found.add(UNCLEAR)
                continue
            number = parse_score(said["number"])
            found.add(number[0] if isinstance(number, tuple) else UNCLEAR)
    return found


def read_bracketed_number(text: str) -> int | None:
    """Return the number of a text like ``High (4)``, or of one that ends in a dash and a number."""
    found = _IN_BRACKETS.match(text) or _AT_END.fullmatch(text)
    number = parse_score(found["number"]) if found else None
    return number[0] if isinstance(number, tuple) else None


# The sum that a reply states, right or not: all that a line contains.

_TENS: Final = (
    "four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TOTALS_WORDS: Final = {word: number for number, word in enumerate(_TENS.split(), start=4)}
_OF_TWENTY: Final = re.compile(
    rf"(?<![\d.,])(?P<number>\d+(?:[.,]\d+)?|\b(?:{'|'.join(_TOTALS_WORDS)}))"
    r"\s*(?:points?\s*)?(?:/|out of|of|von|sur|de)\s*(?:20|twenty)\b",
    re.I,
)
_ADDED: Final = re.compile(r"\d\s*(?:\+\s*\d\s*){3}=\s*(\d{1,3})(?![\d.,]*\d)")
_ALONE: Final = re.compile(r"\W*(?:conclusion|overall|final score)\W*(\d{1,2})\W*", re.I)
_NAMED: Final = re.compile(
    r"\b(?:total|sum|gesamt\w*|summe|somme|suma|somma)\b(?P<after>.{0,80})", re.I
)
_NOT_THE_SUM: Final = re.compile(
    r"\([^)]*\+[^)]*\)|\(?(?:max(?:imum)?\.?|out of|of|/)\s*20\)?", re.I
)
_TOTALS_NUMBER: Final = re.compile(
    r"(?<![\d.,/])(\d{1,3})(?!\d|[.,]\d|\s*(?:/|%|criteria|out of|of|questions?))"
)


def find_totals(line: str) -> set[int]:
    """Return the sums that a line states.

    >>> find_totals("Conclusion: 4 + 5 + 3 + 4 = 16"), find_totals("Total: 17/20 (85 %)")
    ({16}, {17})
    """
    found = {_whole(one["number"]) for one in _OF_TWENTY.finditer(line)}
    found |= {int(one) for one in _ADDED.findall(line)}
    if (alone := _ALONE.fullmatch(line)) and int(alone[1]) > SCORE_MAX:
        found.add(int(alone[1]))
    if not found:
        found = {_after(one["after"]) for one in _NAMED.finditer(line)}
    return {one for one in found if one is not None}


def _whole(number: str) -> int | None:
    return int(number) if number.isdigit() else _TOTALS_WORDS.get(number.lower())


def _after(words: str) -> int | None:
    rest = _NOT_THE_SUM.sub("", words)
    if "+" in rest:
        return None
    number = _TOTALS_NUMBER.search(rest)
    return int(number[1]) if number and int(number[1]) >= len(CRITERIA) else None


# All statements of a reply on the criteria: every number, so that differences are noticed.

CLARITY: Final = "clarity"
_EITHER: Final = re.compile(
    r"\W*(?:yes|no|true|false)\s*(?:/|or|\|)\s*(?:yes|no|true|false)\b", re.I
)
_NO: Final = re.compile(
    r"(?:there (?:is|are) )?"
    r"(?:no|none|false|n|nein|non|nessuno|ninguno|aucun|keine?s?|nil|否|无)\b(?!\s*/)"
    r"|not? (?:flagged|raised|required|set|needed|present|identified|detected|indicated)\b"
    r"|(?:absent|clear(?:ed)?)\b",
    re.I,
)
_YES: Final = re.compile(
    r"(?:yes|true|y|ja|oui|s[ií]|是)\b(?!\s*/)|(?:raised|flagged|present|set|flag raised)\b", re.I
)
_BUT_YES: Final = re.compile(r"\b(?:should be flagged|flag (?:is )?raised|yes)\b", re.I)
_BUT_NO: Final = re.compile(r"\b(?:no risk|not a risk|should not be flagged|no flag)\b", re.I)


@dataclass
class StatedScores:
    """Every number and word that a reply states; ``problem`` if it cannot be read."""

    numbers: defaultdict[str, set[int | Unclear]] = field(default_factory=lambda: defaultdict(set))
    reasons: dict[str, str] = field(default_factory=dict)
    risks: set[bool | None] = field(default_factory=set)
    totals: set[int] = field(default_factory=set)
    problem: str = ""

    def join(self, other: StatedScores) -> None:
        """Add the statements of another part of the reply."""
        for name, numbers in other.numbers.items():
            self.numbers[name] |= numbers
        self.reasons = {**other.reasons, **self.reasons}
        self.risks |= other.risks
        self.totals |= other.totals
        self.problem = self.problem or other.problem


def read_risk(words: str) -> bool | None:
    """Return the statement on the risk flag; None if it is neither yes nor no.

    >>> read_risk(": No - it is safe"), read_risk("None identified"), read_risk("Yes/No")
    (False, False, None)
    """
    text = re.sub(r"^[\s:=|?-]+", "", words)
    if either := _EITHER.match(text):
        chosen = re.match(r"\W*(?:->|=|→|⇒|:)\W*(yes|no)\b", text[either.end() :], re.I)
        return chosen[1].lower() == "yes" if chosen else None
    ticked = re.findall(r"\[\s*[xX✓✔]\s*\]\s*(yes|no)\b", text, re.I)
    if re.search(r"\[\s*\]", text):
        return ticked[0].lower() == "yes" if len(ticked) == 1 else None
    text = re.sub(r"^[^\w]+", "", text)
    if _NO.match(text):
        return None if _BUT_YES.search(text) else False
    if _YES.match(text):
        return None if _BUT_NO.search(text) else True
    return None


# The scores of a reply in JSON, at any nesting of its parts.

_DEEPEST: Final = 4
_NAMES: Final = ("criterion", "name", "dimension", "category", "criteria")
_NUMBERS: Final = ("score", "rating", "value", "points", "number")
_REASONS: Final = ("reason", "rationale", "justification", "explanation", "comment")
_FLAGS: Final = ("flag", "flagged", "risk", "risk_flag", "value", "present", "answer")
_RISKS: Final = frozenset({"risk", "risk flag", "riskflag", "flag", "risk flagged", "is risk"})
_TOTALS: Final = frozenset(
    {"total", "sum", "total score", "totalscore", "sum total", "overall total", "total sum"}
)


def read_json_scores(value: Any) -> StatedScores | None:
    """Collect the statements of a JSON value on the criteria; None if there are none."""
    said = StatedScores()
    wholes = 0
    for key, one in _pairs(value, 0):
        name = fold_name(key)
        criterion = next((word for word, names in KEYS.items() if names.fullmatch(name)), None)
        if criterion is not None:
            number = _number(one)
            if number is None:  # reasons may be in an object of their own
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
            _add_total(next((one[word] for word in one if fold_name(word) in _TOTALS), None), said)
    if wholes > 1:
        said.problem = "The answer is about more than one question."
    return said if said.numbers else None


def _pairs(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield all named parts with a score, a flag or a sum, from the outside in."""
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
            is_known = any(names.fullmatch(fold_name(key)) for names in KEYS.values())
            if (
                not is_known
                and fold_name(key) not in _RISKS | _TOTALS
                and fold_name(key) != "conclusion"
            ):
                yield from _pairs(one, depth + 1)


def _number(value: Any) -> int | Unclear | None:
    """Return the number of a part; None for words that do not start with one."""
    if isinstance(value, Mapping):
        given = [value[word] for word in _NUMBERS if word in value]
        return (_number(given[0]) or UNCLEAR) if len(given) == 1 else UNCLEAR
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return UNCLEAR
    if isinstance(value, float) and not value.is_integer():
        return UNCLEAR
    number = parse_score(normalize_reply_text(value) if isinstance(value, str) else str(int(value)))
    return number[0] if isinstance(number, tuple) else number


def _flag(value: Any) -> bool | None:
    if isinstance(value, Mapping):
        given = [value[word] for word in _FLAGS if word in value]
        return _flag(given[0]) if len(given) == 1 else None
    if isinstance(value, bool):
        return value
    return read_risk(normalize_reply_text(value)) if isinstance(value, str) else None


def _reason(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    words = next((value[word] for word in _REASONS if isinstance(value.get(word), str)), "")
    return str(words).strip()


def _add_total(value: Any, said: StatedScores) -> None:
    if isinstance(value, str):
        head = normalize_reply_text(value).partition("/")[0].strip()
        value = int(head) if head.isdigit() and len(head) < 4 else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        said.totals.add(value)
