"""The app's filter of cases, which is stored in the link.

The unit is the case. All conditions on the answer (model, failure, scores and so on) have to hold
for the same answer: "Generalist" and "laterality error" means a laterality error of the
Generalist. Values of one condition are joined by "or", conditions by "and". Tags are joined by
"or" within a name and by "and" between names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from rexview.analysis.query.filter.conditions import (
    COMPARISON_RESULTS,
    ChoiceOutcome,
    DecisionCondition,
    EditCondition,
    FindingCondition,
    MetricOrder,
    ModelPair,
    ReaderPair,
    ScoreCondition,
)
from rexview.analysis.query.filter.judge_conditions import (
    JudgeCondition,
    MarkedCondition,
    WrittenCondition,
)
from rexview.errors import FilterError
from rexview.stats import NO_WEAKEST_LINK, STATUSES
from rexview.vocab import CONTENT_PARTS, DIMENSION_NAMES, FAILURES, QUESTION_TYPES
from rexview.words import tr

SOURCES: Final[dict[str, str]] = {
    "detector": tr("Flagged by rule only"),
    "reader": tr("Marked by reader only"),
    "both": tr("Flagged by rule and marked by reader"),
    "hint": tr("Suggested by rule only"),
}
"""Who reports a failure on an answer. The values exclude each other; hints are counted apart."""
COMMENT_STATES: Final[dict[str, str]] = {
    "commented": tr("Commented"),
    "unresolved": tr("With an open comment"),
}
"""Whether people commented on a case; a case with an open comment is commented, too."""
REPEAT_OUTCOMES: Final[dict[str, str]] = {
    "asked": tr("Asked more than once"),
    "side": tr("Contradicts itself: side"),
    "choice": tr("Contradicts itself: choice"),
    "chosen": tr("Chose more than once"),
    "unusable": tr("Asked again, not always a usable choice"),
}
"""Outcomes of an answer whose run asked the same question several times; some sets have none."""
STUDIES: Final[dict[str, str]] = {"normal": tr("Normal study"), "abnormal": tr("Abnormal study")}
ANSWER_STATUSES: Final[dict[str, str]] = {**STATUSES, "not_run": tr("No answer given yet")}
"""Statuses of an answer; the last is for a case without any answer."""
WEAKEST_LINKS: Final = (
    *(
        "_and_".join(part for place, part in enumerate(CONTENT_PARTS) if bits >> place & 1)
        for bits in (1, 2, 4, 3, 5, 6)
    ),
    NO_WEAKEST_LINK,
)
"""Parts that set Content, ties included: the values of :func:`rexview.stats.weakest_link`."""
SORTS: Final[dict[str, str]] = {
    "severity": tr("Most severe"),
    "gap": tr("Largest gap"),
    "disagreement": tr("Readers furthest apart"),
    "newest": tr("Newest answer"),
    "order": tr("As in the files"),
}
"""Orders of the cases; each metric adds two more, worst and best first."""
MENTIONS: Final[dict[str, str]] = {
    "present": tr("Present"),
    "absent": tr("Absent"),
    "any": tr("Any mention"),
    "text": tr("Plain text"),
}
"""How a text has to mention a finding in the search; the last searches the words as typed."""
RANGES: Final[dict[str, str]] = {
    **DIMENSION_NAMES,
    "gap": tr("Gap"),
    "disagreement": tr("Reader disagreement"),
}
"""Numbers of an answer that a range can limit, with their names."""
RANGE_LIMITS: Final[dict[str, tuple[int, int]]] = {
    **dict.fromkeys(DIMENSION_NAMES, (1, 5)),
    "gap": (-4, 4),
    "disagreement": (0, 4),
}


@dataclass(frozen=True)
class NumberRange:
    """Numbers from ``low`` to ``high``, both included; None leaves that end open.

    With both ends open, it still requires that there is a number.
    """

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise FilterError(tr("The range {self} is empty.").format(self=self))

    def __str__(self) -> str:
        return f"{_number(self.low)}..{_number(self.high)}"

    @classmethod
    def parse(cls, text: str) -> NumberRange:
        """Parse ``2..4``, ``2..``, ``..4``, ``..`` or ``3``.

        Raises
        ------
        FilterError
            The text has none of these forms, or its low end is above its high end.
        """
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise FilterError(tr("“{text}” is not a range such as 2..4.").format(text=text[:40]))
        low, high, both = (float(part) if part else None for part in match.groups())
        return cls(both, both) if both is not None else cls(low, high)


_NUMBER: Final = r"-?\d{1,3}(?:\.\d{1,3})?"
_RANGE: Final = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?|({_NUMBER})")


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if not math.isfinite(value):
        raise FilterError(tr("A range needs finite numbers."))
    return f"{value:.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class _ListField:
    key: str
    vocabulary: Mapping[str, Any] | Sequence[str] | None = None
    parse: Callable[[str], object] | None = None


_LISTS: Final[dict[str, _ListField]] = {
    "failures": _ListField("failure", FAILURES),
    "sources": _ListField("by", SOURCES),
    "models": _ListField("model"),
    "statuses": _ListField("answer", ANSWER_STATUSES),
    "weakest": _ListField("weakest", WEAKEST_LINKS),
    "judged": _ListField("judged", FAILURES),
    "passing": _ListField("passes"),
    "findings": _ListField("finding", parse=FindingCondition.parse),
    "question_types": _ListField("type", QUESTION_TYPES),
    "categories": _ListField("category"),
    "tags": _ListField("tag"),
    "difficulties": _ListField("difficulty"),
    "sites": _ListField("site"),
    "studies": _ListField("study", STUDIES),
    "reader_scores": _ListField("mark", parse=ScoreCondition.parse),
    "reader_pairs": _ListField("both", parse=ReaderPair.parse),
    "model_pairs": _ListField("paired", parse=ModelPair.parse),
    "repeats": _ListField("again", REPEAT_OUTCOMES),
    "outcomes": _ListField("outcome", parse=ChoiceOutcome.parse),
    "edits": _ListField("edit", parse=EditCondition.parse),
    "edit_kinds": _ListField("edit_kind"),
    "compared": _ListField("compared", COMPARISON_RESULTS),
    "comments": _ListField("comments", COMMENT_STATES),
    "decisions": _ListField("decided", parse=DecisionCondition.parse),
    "opinions": _ListField("judge_says", parse=JudgeCondition.parse),
    "written": _ListField("written", parse=WrittenCondition.parse),
    "marked": _ListField("marked", parse=MarkedCondition.parse),
}
_QUERY: Final = "q"
_MENTION: Final = "mention"
_SORT: Final = "sort"
_MAX_VALUES: Final = 200
_MAX_VALUE_CHARACTERS: Final = 1000
"""Most characters of a value in a link; longer values of a set cannot be linked to."""
MAX_SEARCH_CHARACTERS: Final = 200
"""Most characters of a search; the rest is cut off."""


@dataclass(frozen=True)
class CaseFilter:
    """Conditions on cases and their answers, and an order. Empty conditions do not limit.

    Lists hold ids or, where a module is named, texts of its conditions.

    Attributes
    ----------
    failures, sources, findings : tuple of str
        The answer has one of the failures, reported by one of the sources, about one of the
        findings (:mod:`.conditions`).
    tags : tuple of str
        ``name:value``.
    judged : tuple of str
        The answer can be judged for one of these failures.
    passing : tuple of str
        Models that all answered the case without one of ``failures`` from one of ``sources``,
        though each answer could be judged for one.
    reader_scores : tuple of str
        Single scores of readers (:mod:`.conditions`); the answer has all of them.
    reader_pairs : tuple of str
        Pairs of readers whose scores of the answer differ so much (:mod:`.conditions`); all hold.
    model_pairs : tuple of str
        Pairs of models that both have a score in the case (:mod:`.conditions`); all hold, and the
        answer is one of the two models'.
    repeats : tuple of str
        Outcomes of asking the same question again (:data:`ASKED_AGAIN`).
    outcomes : tuple of str
        Outcomes of a choice question (:mod:`.conditions`).
    edits, edit_kinds : tuple of str
        Severities of the corrections of a report's lines (:mod:`.conditions`), which all hold, and
        the kind of error of one of them.
    compared : tuple of str
        Results of readers' comparisons of the answer with another model's.
    decisions : tuple of str
        Decisions of meetings about the case (:mod:`.conditions`).
    opinions, written : tuple of str
        Judges' opinions of the answer, and of failures in words (:mod:`.judge_conditions`); all
        hold.
    marked : tuple of str
        Failures in words that people marked on the answer (:mod:`.judge_conditions`).
    search, mention : str
        Words that all have to occur in the question, the report or the answer. Unless ``mention``
        is ``text``, words that name a finding are searched as that finding: present, absent or
        mentioned at all (:data:`MENTIONS`), in the report or the answer.
    """

    failures: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    weakest: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    question_types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    studies: tuple[str, ...] = ()
    reader_scores: tuple[str, ...] = ()
    reader_pairs: tuple[str, ...] = ()
    model_pairs: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    edit_kinds: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    opinions: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    content: NumberRange | None = None
    process: NumberRange | None = None
    execution: NumberRange | None = None
    synthesis: NumberRange | None = None
    language: NumberRange | None = None
    image_content: NumberRange | None = None
    image_style: NumberRange | None = None
    gap: NumberRange | None = None
    disagreement: NumberRange | None = None
    search: str = ""
    mention: str = "text"
    sort: str = "severity"

    def __post_init__(self) -> None:
        wrong: list[str] = []
        for name, spec in _LISTS.items():
            values = tuple(dict.fromkeys(getattr(self, name)))
            unknown = [
                _unknown_value_message(spec.key, value)
                for value in values
                if not _is_allowed(spec, value)
            ]
            if spec.parse and not unknown:  # one spelling of each condition
                values = tuple(dict.fromkeys(str(spec.parse(word)) for word in values))
            object.__setattr__(self, name, values)
            wrong += unknown
        object.__setattr__(self, "search", " ".join(self.search.split()))
        if not self.search:
            object.__setattr__(self, "mention", "text")
        if self.mention not in MENTIONS:
            wrong.append(_unknown_value_message(_MENTION, self.mention))
        if not _is_order(self.sort):
            wrong.append(_unknown_value_message(_SORT, self.sort))
        elif order := self.metric_order:
            object.__setattr__(self, "sort", str(order))
        if wrong:
            raise FilterError(" ".join(wrong))

    @classmethod
    def from_query(cls, query: Mapping[str, str | Iterable[str]]) -> CaseFilter:
        """Return the filter of a link's query; keys that are not a filter's are ignored.

        Raises
        ------
        FilterError
            A value is not valid. The message names every such value.
        """
        found, problems = cls.read(query)
        if problems:
            raise FilterError(" ".join(problems))
        return found

    @classmethod
    def read(cls, query: Mapping[str, str | Iterable[str]]) -> tuple[CaseFilter, tuple[str, ...]]:
        """Return the filter of a link's query, and a sentence for each value that is not valid."""
        given = {
            key: [value] if isinstance(value, str) else list(value) for key, value in query.items()
        }
        problems: list[str] = []
        values: dict[str, Any] = {}
        for name, spec in _LISTS.items():
            words = [word for word in given.get(spec.key, ()) if word][:_MAX_VALUES]
            fit = [
                word
                for word in words
                if len(word) <= _MAX_VALUE_CHARACTERS and _is_allowed(spec, word)
            ]
            problems += [
                _unknown_value_message(spec.key, word) for word in words if word not in fit
            ]
            values[name] = tuple(fit)
        for name in RANGES:
            for text in given.get(name, ())[-1:]:
                try:
                    values[name] = NumberRange.parse(text) if text else None
                except FilterError as error:
                    problems.append(f"{RANGES[name]}: {error}")
        if (values["failures"], values["sources"]) == (("laterality_error",), ("hint",)):
            values["failures"] = ("side_incomplete",)  # links older than that failure
        values["search"] = " ".join(given.get(_QUERY, ()))[:MAX_SEARCH_CHARACTERS]
        for key, name, is_known in (
            (_MENTION, "mention", MENTIONS.__contains__),
            (_SORT, "sort", _is_order),
        ):
            for word in given.get(key, ())[-1:]:
                if is_known(word):
                    values[name] = word
                elif word:
                    problems.append(_unknown_value_message(key, word))
        return cls(**values), tuple(problems)

    def to_query(self) -> dict[str, list[str]]:
        """Return the filter as a link's query, which holds only what differs from the default."""
        query: dict[str, list[str]] = {}
        for name, spec in _LISTS.items():
            if getattr(self, name):
                query[spec.key] = list(getattr(self, name))
        for name in RANGES:
            limits = getattr(self, name)
            if limits is not None:
                query[name] = [str(limits)]
        if self.search:
            query[_QUERY] = [self.search]
        if self.mention != "text":
            query[_MENTION] = [self.mention]
        if self.sort != "severity":
            query[_SORT] = [self.sort]
        return query

    @property
    def metric_order(self) -> MetricOrder | None:
        """The metric by which the cases are sorted; None for another order."""
        return None if self.sort in SORTS else MetricOrder.parse(self.sort)

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the search."""
        return tuple(self.search.split())

    @property
    def ranges(self) -> dict[str, NumberRange]:
        """Ranges that limit, by name of the number."""
        given = {name: getattr(self, name) for name in RANGES}
        return {name: limits for name, limits in given.items() if limits is not None}

    @property
    def active(self) -> bool:
        """True if any condition limits; the order of the cases does not count."""
        return replace(self, sort="severity").to_query() != {}

    def cleared(self) -> CaseFilter:
        """Return the filter without conditions, in the same order of cases."""
        return CaseFilter(sort=self.sort)

    def without(self, name: str, value: str | None = None) -> CaseFilter:
        """Return the filter without one value of a list, or without the whole condition."""
        current = getattr(self, name)
        left: Any = next(spec.default for spec in fields(self) if spec.name == name)
        if isinstance(current, tuple) and value is not None:
            left = tuple(word for word in current if word != value)
        changes: dict[str, Any] = {name: left}
        return replace(self, **changes)


FILTER_KEYS: Final = (*(spec.key for spec in _LISTS.values()), *RANGES, _QUERY, _MENTION, _SORT)
"""All keys of a link's query that belong to the filter."""


def _is_allowed(spec: _ListField, value: str) -> bool:
    if not isinstance(value, str) or not value:
        return False
    if spec.parse:
        try:
            spec.parse(value)
        except FilterError:
            return False
        return True
    if spec.key == "tag" and ":" not in value:
        return False
    return spec.vocabulary is None or value in spec.vocabulary


def _is_order(word: str) -> bool:
    try:
        return word in SORTS or bool(MetricOrder.parse(word))
    except FilterError:
        return False


def _unknown_value_message(key: str, value: str) -> str:
    return tr("The link asks for “{value}” as {key}, which is unknown here: ignored.").format(
        value=str(value)[:40], key=key
    )


# Failures of an answer that a filter names: pages show these unfolded.

HINT_SOURCE = "hint"


def filter_names_failure(case_filter: CaseFilter, model: str, failure: str, source: str) -> bool:
    """True if a filter is about a failure of a model's answer.

    This is so if the filter names the failure, or names hints and this is a hint. ``source`` is
    one of :data:`SOURCES`. A filter without sources means all of them but hints.
    """
    if case_filter.models and model not in case_filter.models:
        return False
    if source not in case_filter.sources if case_filter.sources else source == HINT_SOURCE:
        return False
    named = case_filter.failures
    return failure in named if named else source == HINT_SOURCE


def filter_names_mark(case_filter: CaseFilter, model: str, failure: str) -> bool:
    """True if a filter is about a failure in words that people marked on a model's answer."""
    if case_filter.models and model not in case_filter.models:
        return False
    return any(MarkedCondition.parse(word).failure == failure for word in case_filter.marked)
