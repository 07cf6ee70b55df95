"""Conditions of the filter, each stored as one value in a link."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from rexview.analysis.meetings import Decision, describe_agreed_failure, describe_decision
from rexview.detect import finding_name, finding_region
from rexview.errors import FilterError
from rexview.harm import load_harm
from rexview.metrics.identity import MetricId, known_metric, parse_metric_key
from rexview.vocab import (
    DIMENSION_NAMES,
    DIMENSIONS,
    EDIT_SEVERITIES,
    LONGEST_ID,
    SCORE_MAX,
    SCORE_MIN,
    date_text,
)
from rexview.words import tr

_REGION: Final = "region:"
UNKNOWN_FINDING: Final = "unknown"
"""Id for failures without a known finding."""
_MAX_SCORE_CHARACTERS: Final = 1_000
"""Most characters of such a value; longer ones are rejected."""
_SCORES: Final = re.compile(r"([1-5])(?:\.\.([1-5]))?", re.ASCII)
_DAYS: Final = re.compile(r"(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?", re.ASCII)
_MAX_PAIR_CHARACTERS: Final = 7_000
"""Most characters of such a value, enough for two ids; longer ones are rejected."""
MAX_SCORE_DIFFERENCE: Final = SCORE_MAX - SCORE_MIN
"""Points between the ends of the score scale."""
_APART: Final = re.compile(
    rf"([0-{MAX_SCORE_DIFFERENCE}])(?:\.\.([0-{MAX_SCORE_DIFFERENCE}]))?", re.ASCII
)
_WRITTEN: Final = {"%": "%25", ":": "%3A"}
_ESCAPED: Final = {written: plain for plain, written in _WRITTEN.items()}


@dataclass(frozen=True)
class FindingCondition:
    """A condition on the finding of a failure, or on its region if ``is_region``.

    ``id`` is a finding of the lexicon, a region, or :data:`UNKNOWN_FINDING` for failures without a
    known finding.
    """

    id: str
    is_region: bool = False

    def __str__(self) -> str:
        return f"{_REGION}{self.id}" if self.is_region else self.id

    @classmethod
    def parse(cls, word: str) -> FindingCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            There is no such finding or region.
        """
        region = word.startswith(_REGION)
        found = cls(word.removeprefix(_REGION), region)
        known = _findings_by_region() if region else _regions_by_finding()
        if found.id not in known and word != UNKNOWN_FINDING:
            raise FilterError(
                tr("“{word}” is not a finding that the rules know.").format(word=word[:40])
            )
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the findings that meet this condition."""
        if self.id == UNKNOWN_FINDING:
            return ()
        return _findings_by_region()[self.id] if self.is_region else (self.id,)

    @property
    def name(self) -> str:
        """The name on screen: ``pneumothorax``, ``pleura (region)``."""
        if self.id == UNKNOWN_FINDING:
            return tr("an unknown finding")
        if self.is_region:
            return tr("{region_name} (region)").format(region_name=name_region(self.id))
        return finding_name(self.id)


def name_region(region: str) -> str:
    """Return a region's name on screen."""
    return tr("no single region") if region == "whole" else region.replace("_", " ")


def find_region(finding: str) -> str | None:
    """Return the region of a finding; None for a finding that the lexicon does not have."""
    return _regions_by_finding().get(finding)


@cache
def _regions_by_finding() -> dict[str, str]:
    return {finding: finding_region(finding) for finding in load_harm().findings}


@cache
def _findings_by_region() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for finding, region in _regions_by_finding().items():
        found.setdefault(region, []).append(finding)
    return {region: tuple(ids) for region, ids in found.items()}


@dataclass(frozen=True)
class ScoreCondition:
    """A condition on a reader's score: its dimension, value, day and reader.

    ``dimension`` and ``reader`` are empty for any. ``low`` and ``high`` are scores from 1 to 5,
    ``first`` and ``last`` days in UTC, all included; None for any.
    """

    dimension: str = ""
    low: int | None = None
    high: int | None = None
    first: date | None = None
    last: date | None = None
    reader: str = ""

    def __str__(self) -> str:
        scores = _range_text(self.low, self.high)
        return ":".join((self.dimension, scores, _range_text(self.first, self.last), self.reader))

    @classmethod
    def of(
        cls,
        reader: str,
        dimension: str = "",
        score: int | None = None,
        *,
        days: tuple[date, date] | None = None,
    ) -> ScoreCondition:
        """Return the condition for one reader's score (or any score) on some days (or any day)."""
        first, last = days or (None, None)
        return cls(dimension, score, score, first, last, reader)

    @classmethod
    def parse(cls, word: str) -> ScoreCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        parts = word.split(":", 3)
        if len(parts) < 4 or len(word) > _MAX_SCORE_CHARACTERS:
            raise FilterError(
                tr("“{word}” is not dimension:score:days:reader.").format(word=word[:40])
            )
        dimension, scores, days, reader = parts
        if dimension and dimension not in DIMENSIONS:
            raise FilterError(
                tr("“{dimension}” is not a dimension that readers score.").format(
                    dimension=dimension[:40]
                )
            )
        low, high = _parse_ends(_SCORES, scores)
        first, last = _parse_ends(_DAYS, days)
        try:
            found = cls(
                dimension,
                None if low is None else int(low),
                None if high is None else int(high),
                None if first is None else date.fromisoformat(first),
                None if last is None else date.fromisoformat(last),
                reader,
            )
        except ValueError as error:
            raise FilterError(tr("“{days}” is not a day range.").format(days=days)) from error
        if found._upside_down:
            raise FilterError(
                tr("“{word}” is empty: its start is after its end.").format(word=word[:40])
            )
        return found

    @property
    def _upside_down(self) -> bool:
        scores = self.low is not None and self.high is not None and self.low > self.high
        return scores or (
            self.first is not None and self.last is not None and self.first > self.last
        )

    def describe(self, reader_name: str) -> str:
        """Return the text on screen: ``Reader A: Execution 2``, with the reader's name."""
        what = DIMENSION_NAMES.get(self.dimension, "")
        if self.low is None:
            phrase = tr("{what} scored").format(what=what) if what else tr("scored")
        else:
            given = str(self.low)
            if self.low != self.high:
                given = tr("{low} to {high}").format(low=self.low, high=self.high)
            phrase = f"{what or tr('a score of')} {given}"
        if self.first is not None and self.last is not None:
            phrase += f", {format_days(self.first, self.last)}"
        return f"{reader_name or tr('Any reader')}: {phrase}"


def format_days(first: date, last: date) -> str:
    """Format some days: ``4 Mar 2026``, ``4 to 9 Mar 2026``, ``28 Feb to 3 Mar 2026``."""
    end = date_text(last)
    if first == last:
        return end
    if first.year != last.year:
        return tr("{first} to {end}").format(first=date_text(first), end=end)
    if first.month != last.month:
        return tr("{day} {first:%b} to {end}").format(day=first.day, first=first, end=end)
    return tr("{day} to {end}").format(day=first.day, end=end)


def _range_text(low: object, high: object) -> str:
    if low is None:
        return ""
    return str(low) if low == high else f"{low}..{high}"


def _parse_ends(pattern: re.Pattern[str], text: str) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    match = pattern.fullmatch(text)
    if match is None:
        raise FilterError(tr("“{text}” is not part of a score.").format(text=text[:40]))
    return match[1], match[2] or match[1]


@dataclass(frozen=True)
class ReaderPair:
    """Two readers who both scored a dimension, from ``low`` to ``high`` points apart.

    ``low`` and ``high`` are 0 to 4, both included.
    """

    dimension: str
    readers: tuple[str, str]
    low: int = 0
    high: int = MAX_SCORE_DIFFERENCE

    def __str__(self) -> str:
        apart = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        if (self.low, self.high) == (0, MAX_SCORE_DIFFERENCE):
            apart = ""
        return ":".join((self.dimension, apart, *map(escape_id, self.readers)))

    @classmethod
    def parse(cls, word: str) -> ReaderPair:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        dimension, apart, *ids = split_condition(word, 4, "dimension:apart:reader:reader")
        if dimension not in DIMENSIONS:
            raise FilterError(
                tr("“{dimension}” is not a dimension that readers score.").format(
                    dimension=dimension[:40]
                )
            )
        low, high = 0, MAX_SCORE_DIFFERENCE
        if apart:
            match = _APART.fullmatch(apart)
            if match is None:
                raise FilterError(
                    tr("“{apart}” is not a difference between two scores.").format(apart=apart[:40])
                )
            low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            raise FilterError(
                tr("“{word}” is empty: its start is after its end.").format(word=word[:40])
            )
        return cls(dimension, _check_two_ids(ids), low, high)

    def describe(self, first: str, second: str) -> str:
        """Return the text on screen, with readers' names: ``A and B: same Execution score``."""
        name = DIMENSION_NAMES[self.dimension]
        if self.high == 0:
            phrase = tr("same {name} score").format(name=name)
        elif self.low == self.high:
            phrase = tr("{name} scores {points} apart").format(name=name, points=_points(self.low))
        elif (self.low, self.high) == (0, MAX_SCORE_DIFFERENCE):
            phrase = tr("both scored {name}").format(name=name)
        elif self.low == 0:
            phrase = tr("{name} scores at most {points} apart").format(
                name=name, points=_points(self.high)
            )
        elif self.high == MAX_SCORE_DIFFERENCE:
            phrase = tr("{name} scores at least {points} apart").format(
                name=name, points=_points(self.low)
            )
        else:
            phrase = tr("{name} scores {low} to {points} apart").format(
                name=name, low=self.low, points=_points(self.high)
            )
        return tr("{first} and {second}: {phrase}").format(
            first=first, second=second, phrase=phrase
        )


@dataclass(frozen=True)
class ModelPair:
    """Two models that both have a final score of a dimension, or of Content, in one case."""

    dimension: str
    models: tuple[str, str]

    def __str__(self) -> str:
        return ":".join((self.dimension, *map(escape_id, self.models)))

    @classmethod
    def parse(cls, word: str) -> ModelPair:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        dimension, *ids = split_condition(word, 3, "dimension:model:model")
        if dimension not in DIMENSION_NAMES:
            raise FilterError(
                tr("“{dimension}” is not a score of an answer.").format(dimension=dimension[:40])
            )
        return cls(dimension, _check_two_ids(ids))

    def describe(self, first: str, second: str) -> str:
        """Return the text on screen, with the models' names."""
        return tr("{first} and {second}: {dimension_names} scored for both").format(
            first=first, second=second, dimension_names=DIMENSION_NAMES[self.dimension]
        )


def split_condition(
    word: str, n: int, form: str, *, filled: int = 0, longest: int = _MAX_PAIR_CHARACTERS
) -> list[str]:
    """Split a condition's text at its colons into ``n`` parts; the last ``filled`` are not empty.

    Raises
    ------
    FilterError
        The text is too long, or not of the ``form``, such as ``dimension:model:model``.
    """
    parts = word.split(":")
    if len(parts) != n or len(word) > longest or not all(parts[n - filled :]):
        raise FilterError(tr("“{word}” is not {form}.").format(word=word[:40], form=form))
    return parts


def _check_two_ids(ids: list[str]) -> tuple[str, str]:
    first, second = map(unescape_id, ids)
    if not first or not second or first == second:
        raise FilterError(tr("It takes two to compare."))
    return first, second


def unescape_id(text: str) -> str:
    """Return the id from the text that :func:`escape_id` returned."""
    return re.sub("%25|%3A", lambda met: _ESCAPED[met[0]], text)


def escape_id(text: str) -> str:
    """Return an id with its colons escaped, so that it can be a part between colons."""
    return re.sub("[%:]", lambda met: _WRITTEN[met[0]], text)


def _points(n: int) -> str:
    return tr("{n} point").format(n=n) if n == 1 else tr("{n} points").format(n=n)


# Outcomes of choice questions.
#
# The text in a link is ``KIND:MODEL`` (``right:generalist``) or one of :data:`CASE_OUTCOMES` alone.
# The model comes last, because an id is free text and may contain colons.
#
# Values that exclude each other (:attr:`ChoiceOutcome.group`) are joined by "or", all others by
# "and": ``right:a``, ``wrong:b`` and ``failed:b`` are the questions that a has right and b has not.

MODEL_OUTCOMES: Final[dict[str, str]] = {
    "right": tr("{}: right"),
    "wrong": tr("{}: wrong"),
    "failed": tr("{}: no usable choice"),
    "only_wrong": tr("Only {} wrong"),
}
"""Outcomes of one model's answer, as texts with a place for the model's name.

``failed``: no option could be read from the answer to a marked question, or no answer came.
``only_wrong``: wrong or failed, while all other models, at least one, are right.
"""
CASE_OUTCOMES: Final[dict[str, str]] = {
    "all_wrong": tr("All models wrong"),
    "against_readers": tr("Models against readers"),
    "wrong_side": tr("Option on the wrong side chosen"),
    "read": tr("Answered by a reader"),
    "answered": tr("Answered by anyone"),
}
"""Outcomes of all answers to a question.

``all_wrong``: every model that chose an option, at least two, chose a wrong one.
``against_readers``: most models chose another option than most readers.
``wrong_side``: a detector found that an option with the wrong side was chosen.
``read``: a reader answered, as a model of kind ``reader`` or in the app.
``answered``: a model or reader answered.
"""
FLAG_OUTCOMES: Final = ("wrong_side",)
"""Outcomes that depend on detectors' findings."""
_EXCLUSIVE_OUTCOMES: Final = ("all_wrong", "only_wrong")
"""Outcomes that exclude each other: a question has one, and ``only_wrong`` for one model only."""
_MAX_OUTCOME_CHARACTERS: Final = 1_000
"""Most characters of such a value; longer ones are rejected."""


@dataclass(frozen=True)
class ChoiceOutcome:
    """An outcome of a choice question; ``model`` is an id, empty for :data:`CASE_OUTCOMES`."""

    kind: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.model}" if self.model else self.kind

    @classmethod
    def parse(cls, word: str) -> ChoiceOutcome:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        kind, _, model = word.partition(":")
        known = bool(model) and kind in MODEL_OUTCOMES if ":" in word else kind in CASE_OUTCOMES
        if not known or len(word) > _MAX_OUTCOME_CHARACTERS:
            raise FilterError(
                tr("“{word}” is not a result of a choice question.").format(word=word[:40])
            )
        return cls(kind, model)

    @property
    def group(self) -> tuple[str, str]:
        """The group of this outcome: outcomes of one group exclude each other."""
        if self.kind in _EXCLUSIVE_OUTCOMES:
            return "who", ""
        return ("answer", self.model) if self.model else (self.kind, "")

    def describe(self, model: str) -> str:
        """Return the text on screen, with the model's name: ``Generalist: right``."""
        return MODEL_OUTCOMES[self.kind].format(model) if self.model else CASE_OUTCOMES[self.kind]


def group_outcomes(words: Iterable[str]) -> dict[tuple[str, str], list[ChoiceOutcome]]:
    """Group outcomes (:attr:`ChoiceOutcome.group`), in the order given."""
    found: dict[tuple[str, str], list[ChoiceOutcome]] = {}
    for outcome in map(ChoiceOutcome.parse, words):
        found.setdefault(outcome.group, []).append(outcome)
    return found


def join_outcomes(current: Iterable[str], wanted: Iterable[str]) -> tuple[str, ...] | None:
    """Return the outcomes that meet both lists; within a group only common ones are kept.

    Return None when the lists exclude each other.
    """
    groups = group_outcomes(current)
    for group, outcomes in group_outcomes(wanted).items():
        groups[group] = [one for one in outcomes if one in groups.get(group, outcomes)]
        if not groups[group]:
            return None
    return tuple(str(outcome) for outcomes in groups.values() for outcome in outcomes)


# Meetings' decisions on a case or its answers.
#
# The text in a link is one of these:
# - ``open``: something is left to do.
# - ``decision:WORD``: a key of :data:`rexview.vocab.MEETING_DECISIONS` or a meeting's own words.
# - ``failure:WORD``: agreed on; a key of :data:`rexview.vocab.FAILURES`, ``none``, or the name of
#   a failure in a clinician's words.
# - ``meeting:ID``: decided in this meeting.

OPEN_DECISION: Final = "open"
"""The condition that something is left to do."""
_OF_VALUE: Final = ("decision", "failure", "meeting")


@dataclass(frozen=True)
class DecisionCondition:
    """A condition on a decision: open, of a kind, on a failure, or of a meeting.

    ``open`` has no ``value``.
    """

    about: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.about}:{self.value}" if self.value else self.about

    @classmethod
    def parse(cls, word: str) -> DecisionCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        about, _, value = word.partition(":")
        if word != OPEN_DECISION and not (about in _OF_VALUE and value):
            raise FilterError(
                tr("“{word}” is not something that a meeting decides.").format(word=word[:40])
            )
        return cls(about, value)

    def describe(self, meetings: Mapping[str, str]) -> str:
        """Return the text on screen; ``meetings`` has their names by id."""
        if self.about == OPEN_DECISION:
            return tr("Open decision")
        if self.about == "decision":
            return tr("Decision: {decision_words}").format(
                decision_words=describe_decision(self.value)
            )
        if self.about == "failure":
            return tr("Agreed on: {failure}").format(failure=describe_agreed_failure(self.value))
        return tr("Decided in “{get}”").format(get=meetings.get(self.value, self.value))


def list_met_conditions(decision: Decision) -> tuple[str, ...]:
    """Return the texts of the conditions that a decision meets."""
    found = [DecisionCondition("meeting", decision.meeting)]
    if decision.failure:
        found.insert(0, DecisionCondition("failure", decision.failure))
    if decision.decision:
        found.insert(0, DecisionCondition("decision", decision.decision))
    if decision.is_open:
        found.insert(0, DecisionCondition(OPEN_DECISION))
    return tuple(map(str, found))


# Generated reports: an order by one metric, and corrections.
#
# - An order: ``worst:METRIC`` or ``best:METRIC``, the metric by its key
#   (:attr:`rexview.metrics.identity.MetricId.key`), such as ``worst:bleu_2:rexview:1:findings``.
# - Corrections: ``from:SEVERITY:READER`` (a correction of at least this severity, 0 for any answer
#   whose lines were checked) or ``below:SEVERITY:READER`` (lines checked, and every correction is
#   less severe). Without a reader, anybody's corrections count. The reader comes last, because an
#   id is free text and may contain colons, as a judge's does.

_LONGEST_REPORT_CONDITION: Final = 100 + 4 * 12 * LONGEST_ID
"""Most characters of such a value; longer ones are rejected. An emoji takes 12 in a key."""
UNNAMED_READER: Final = ":"
"""Reader id for corrections without a named reader."""
_MOST_SEVERE: Final = max(EDIT_SEVERITIES)
EDIT_THRESHOLD_NAMES: Final[dict[int, str]] = {
    1: tr("No error"),
    2: tr("No actionable error"),
    3: tr("No significant error"),
    4: tr("No emergent error"),
}
"""Names of "all corrections are less severe than this"; 2 and 3 use ReXrank's words."""

COMPARISON_RESULTS: Final[dict[str, str]] = {
    "compared": tr("Compared with another report"),
    "won": tr("Preferred to another report"),
    "tied": tr("A tie with another report"),
    "lost": tr("Another report preferred"),
}
"""Results of readers' comparisons of an answer with another model's; the first is any result."""


@dataclass(frozen=True)
class MetricOrder:
    """An order of cases by one metric, worst first or best first."""

    metric: MetricId
    worst_first: bool = True

    def __str__(self) -> str:
        return f"{'worst' if self.worst_first else 'best'}:{self.metric.key}"

    @classmethod
    def parse(cls, word: str) -> MetricOrder:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        end, _, key = word.partition(":")
        metric = parse_metric_key(key) if len(word) <= _LONGEST_REPORT_CONDITION else None
        if metric is None or end not in ("worst", "best"):
            raise FilterError(tr("“{word}” is not an order by a metric.").format(word=word[:40]))
        return cls(metric, end == "worst")

    @property
    def largest_first(self) -> bool:
        """True if large values come first; large values of an unknown metric count as better."""
        larger_is_better = known_metric(self.metric.metric).higher_is_better is not False
        return larger_is_better != self.worst_first

    def describe(self, among: Collection[MetricId] = ()) -> str:
        """Return the text on screen: ``Worst BLEU-2``.

        The metric's implementation and the text it was computed on are added unless its name is
        unique in ``among``.
        """
        known = known_metric(self.metric.metric).higher_is_better is not None
        ends = (tr("Worst"), tr("Best")) if known else (tr("Lowest"), tr("Highest"))
        same = [one for one in among if one.name == self.metric.name]
        name = self.metric.name if same == [self.metric] else self.metric.described
        return f"{ends[not self.worst_first]} {name}"


@dataclass(frozen=True)
class EditCondition:
    """A condition on the severity of the corrections of an answer's lines.

    ``what`` is ``from`` (one correction is at least this severe) or ``below`` (all are less severe,
    or there is nothing to correct). ``reader`` is empty for anybody, :data:`UNNAMED_READER` for
    corrections without a named reader.
    """

    what: str
    severity: int
    reader: str = ""

    def __str__(self) -> str:
        return ":".join(filter(None, (self.what, str(self.severity), self.reader)))

    @classmethod
    def parse(cls, word: str) -> EditCondition:
        """Parse a condition from its text in a link.

        Raises
        ------
        FilterError
            The text is not such a condition.
        """
        what, _, rest = word.partition(":")
        severity, _, reader = rest.partition(":")
        least = {"from": 0, "below": 1}.get(what, _MOST_SEVERE + 1)
        known = {str(level): level for level in range(least, _MOST_SEVERE + 1)}
        if severity not in known or len(word) > _LONGEST_REPORT_CONDITION:
            raise FilterError(
                tr("“{word}” is not from:severity or below:severity.").format(word=word[:40])
            )
        return cls(what, known[severity], reader)

    def describe(self, reader_name: str = "") -> str:
        """Return the text on screen: ``No actionable error by Reader A``."""
        if self.what == "below":
            words = EDIT_THRESHOLD_NAMES[self.severity]
        elif self.severity == 0:
            words = tr("Corrected")
        elif self.severity == _MOST_SEVERE:
            words = tr("Correction of severity {severity}").format(severity=self.severity)
        else:
            words = tr("Correction of severity {severity} or more").format(severity=self.severity)
        return (
            tr("{what} by {reader}").format(what=words, reader=reader_name)
            if reader_name
            else words
        )


EDIT_FACET: Final = tuple(
    str(EditCondition("below", severity)) for severity in sorted(EDIT_THRESHOLD_NAMES, reverse=True)
) + tuple(str(EditCondition("from", severity)) for severity in EDIT_SEVERITIES)
"""Values of the facet; they count anybody's corrections."""
