"""A filter in a clinician's words: one line for a heading, and chips that can be removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.query.engine import Facets, SetFacts
from rexview.analysis.query.filter.case_filter import (
    ANSWER_STATUSES,
    COMMENT_STATES,
    MENTIONS,
    RANGES,
    REPEAT_OUTCOMES,
    SORTS,
    SOURCES,
    STUDIES,
    CaseFilter,
    NumberRange,
)
from rexview.analysis.query.filter.conditions import (
    COMPARISON_RESULTS,
    UNNAMED_READER,
    ChoiceOutcome,
    DecisionCondition,
    EditCondition,
    FindingCondition,
    MetricOrder,
    ModelPair,
    ReaderPair,
    ScoreCondition,
    group_outcomes,
)
from rexview.analysis.query.filter.finding_search import is_finding_search, parse_search
from rexview.analysis.query.filter.judge_conditions import (
    JudgeCondition,
    MarkedCondition,
    WrittenCondition,
)
from rexview.stats import NO_WEAKEST_LINK
from rexview.vocab import (
    CATEGORY_NAMES,
    DIMENSION_NAMES,
    EDIT_KINDS,
    FAILURES,
    QUESTION_TYPES,
    judge_name,
)
from rexview.words import mid_sentence, sentence_start, tr

CONDITION_NAMES: Final = {
    "failures": tr("Failure"),
    "sources": tr("Flagged by"),
    "models": tr("Model"),
    "statuses": tr("Answer"),
    "weakest": tr("Weakest link"),
    "question_types": tr("Question type"),
    "categories": tr("Category"),
    "difficulties": tr("Difficulty"),
    "sites": tr("Site"),
    "studies": tr("Study"),
    "outcomes": tr("Multiple choice"),
    "edits": tr("Corrections"),
    "edit_kinds": tr("Kind of error"),
    "compared": tr("Compared reports"),
    "comments": tr("Comments"),
    "decisions": tr("Meetings"),
    "marked": tr("In your own words"),
}
"""Name on screen of the conditions with counts, by name of the filter's list."""
_VALUE_NAMES: Final[dict[str, Mapping[str, str]]] = {
    "sources": SOURCES,
    "statuses": ANSWER_STATUSES,
    "question_types": QUESTION_TYPES,
    "categories": CATEGORY_NAMES,
    "studies": STUDIES,
    "repeats": REPEAT_OUTCOMES,
    "edit_kinds": EDIT_KINDS,
    "compared": COMPARISON_RESULTS,
    "comments": COMMENT_STATES,
}
_ORDER: Final = (
    *("failures", "findings", "sources", "weakest", "statuses", "judged", "models", "passing"),
    *("question_types", "categories", "tags", "difficulties", "sites", "studies"),
    *("reader_scores", "reader_pairs", "model_pairs", "repeats", "outcomes"),
    *("edits", "edit_kinds", "compared", "comments", "decisions", "opinions"),
    *("written", "marked"),
)
_CONJUNCTIVE_FIELDS: Final = (
    *("passing", "reader_scores", "reader_pairs", "model_pairs", "edits", "opinions", "written"),
)
"""Conditions of which all chosen values have to hold, not just one."""
_RANGE_STEP: Final = 0.001
"""The smallest step of a range's end."""

ALL_CASES_NAME: Final = tr("All cases")
"""Name of a filter that every case matches."""


@dataclass(frozen=True)
class FilterChip:
    """One condition of a filter, and the filter without it."""

    label: str
    rest: CaseFilter


def list_chips(facts: SetFacts, case_filter: CaseFilter) -> tuple[FilterChip, ...]:
    """Return a chip for each chosen value, range and search, in a fixed order."""
    found = [
        FilterChip(_label(facts, field, value), case_filter.without(field, value))
        for field in _ORDER
        for value in getattr(case_filter, field)
    ]
    found += [
        FilterChip(_range_label(name, limits), case_filter.without(name))
        for name, limits in case_filter.ranges.items()
    ]
    if case_filter.search:
        found.append(FilterChip(_search_label(case_filter), case_filter.without("search")))
    return tuple(found)


def list_orders(facts: SetFacts, case_filter: CaseFilter) -> dict[str, str]:
    """Return the name on screen of each order of the cases, including the filter's own."""
    by_metric = [
        MetricOrder(metric, worst_first)
        for metric in facts.metrics
        for worst_first in (True, False)
    ]
    asked = case_filter.metric_order
    if asked and asked not in by_metric:
        by_metric.append(asked)
    return SORTS | {str(order): order.describe(facts.metrics) for order in by_metric}


def describe_filter(facts: SetFacts, case_filter: CaseFilter) -> str:
    """Return a filter in one line: "Laterality errors, Generalist", "All cases"."""
    parts: list[str] = []
    for field in _ORDER:
        if field == "outcomes":
            parts += _outcomes(facts, case_filter.outcomes)
            continue
        names = [
            FAILURES[value].plural if field == "failures" else _label(facts, field, value)
            for value in getattr(case_filter, field)
        ]
        if names:
            parts.append((" and " if field in _CONJUNCTIVE_FIELDS else " or ").join(names))
    parts += [_range_label(name, limits) for name, limits in case_filter.ranges.items()]
    if case_filter.search:
        parts.append(_search_label(case_filter))
    return ", ".join(parts) or ALL_CASES_NAME


def search_caption(counts: Facets, search: str) -> str:
    """Return a caption about the cases of a search; empty when it names no finding."""
    shown = next((value for value in counts.mentions if value.chosen), None)
    if shown is None:
        return ""
    names = parse_search(search).names
    how = {
        "present": tr("{names} present or possible in an answer or the report").format(names=names),
        "absent": tr("{names} reported as absent in an answer or the report").format(names=names),
        "any": tr("any mention of {names} in an answer or the report").format(names=names),
        "text": tr("the words “{search}” as typed, in any context").format(search=search),
    }
    return tr("Shown: {how}.").format(how=how[shown.value])


def _outcomes(facts: SetFacts, words: Sequence[str]) -> Iterator[str]:
    """Yield texts of choice outcomes; values that exclude each other are joined by "or"."""
    for outcomes in group_outcomes(words).values():
        yield " or ".join(name_value(facts, "outcomes", str(outcome)) for outcome in outcomes)


def _search_label(case_filter: CaseFilter) -> str:
    words = f"“{case_filter.search}”"
    if not is_finding_search(case_filter.search, case_filter.mention):
        return words
    terms = parse_search(case_filter.search)
    found = f"{sentence_start(terms.names)}: {mid_sentence(MENTIONS[case_filter.mention])}"
    return f"{found}, “{' '.join(terms.words)}”" if terms.words else found


def _label(facts: SetFacts, field: str, value: str) -> str:
    name = name_value(facts, field, value)
    if field == "sources":
        return mid_sentence(name)
    if field == "weakest":
        return (
            tr("no weakest link")
            if value == NO_WEAKEST_LINK
            else tr("weakest: {name}").format(name=name)
        )
    if field == "findings":
        return tr("about {name}").format(name=name)
    if field == "judged":
        return tr("{name}: can be judged").format(name=name)
    if field == "passing":
        return tr("{name} without such a failure").format(name=name)
    if field == "tags":
        return f"{to_sentence_case(value.partition(':')[0])}: {name}"
    if field == "sites":
        return tr("Site {name}").format(name=name)
    if field == "edit_kinds":
        return tr("Correction: {name}").format(name=mid_sentence(name))
    return name


def _range_label(name: str, limits: NumberRange) -> str:
    low, high = (None if end is None else f"{end:g}" for end in (limits.low, limits.high))
    what = RANGES[name]
    if low is not None and low == high:
        return f"{what} {low}"
    under = _under_text(limits.high)
    if low is not None and high is not None:
        return tr("{what} {low} to {value}").format(what=what, low=low, value=under or high)
    if name == "disagreement" and low is not None:
        return tr("Readers differ by {low} or more").format(low=low)
    if low is None and high is None:
        return (
            tr("{what} scored").format(what=what)
            if name in DIMENSION_NAMES
            else tr("{what} known").format(what=what)
        )
    if low is not None:
        return tr("{what} {low} or more").format(what=what, low=low)
    return f"{what} {under or tr('{high} or less').format(high=high)}"


def _under_text(high: float | None) -> str:
    """Return "under 3" for 2.999, the last number before a whole, half or quarter; else empty."""
    if high is None:
        return ""
    border = round(high + _RANGE_STEP, 3)
    return (
        tr("under {border:g}").format(border=border)
        if border != high and (4 * border).is_integer()
        else ""
    )


def name_value(facts: SetFacts, field: str, value: str) -> str:
    """Return the name on screen of one value of a condition."""
    if field in ("models", "passing"):
        return facts.models.get(value, value)
    if field in ("failures", "judged"):
        return FAILURES[value].name if value in FAILURES else value
    if field == "weakest":
        if value == NO_WEAKEST_LINK:
            return tr("All equal")
        return " and ".join(DIMENSION_NAMES[part] for part in value.split("_and_"))
    if field == "tags":
        return to_sentence_case(value.partition(":")[2])
    if field == "findings":
        return FindingCondition.parse(value).name
    if field == "reader_scores":
        condition = ScoreCondition.parse(value)
        return condition.describe(facts.readers.get(condition.reader, condition.reader))
    if field == "reader_pairs":
        readers = ReaderPair.parse(value)
        return readers.describe(*(facts.readers.get(one, one) for one in readers.readers))
    if field == "model_pairs":
        models = ModelPair.parse(value)
        return models.describe(*(facts.models.get(one, one) for one in models.models))
    if field == "decisions":
        return DecisionCondition.parse(value).describe(facts.meetings)
    if field == "opinions":
        return JudgeCondition.parse(value).describe()
    if field == "written":
        return WrittenCondition.parse(value).describe()
    if field == "marked":
        return MarkedCondition.parse(value).describe(facts.written_failures)
    if field == "outcomes":
        outcome = ChoiceOutcome.parse(value)
        return outcome.describe(_rater_name(facts, outcome.model))
    if field == "edits":
        corrected = EditCondition.parse(value)
        name = facts.readers.get(corrected.reader, judge_name(corrected.reader))
        name = tr("an unnamed person") if corrected.reader == UNNAMED_READER else name
        return corrected.describe(name)
    names = _VALUE_NAMES.get(field, {})
    if field in ("difficulties", "categories", "edit_kinds") and value not in names:
        return to_sentence_case(value)
    return names.get(value, value)


def to_sentence_case(word: str) -> str:
    """Return an id (``imaging_finding``) as words on screen (Imaging finding)."""
    return sentence_start(word.replace("_", " ").strip())


def _rater_name(facts: SetFacts, rater: str) -> str:
    """Return the name of a model, or of a reader who chose an option."""
    reader = facts.readers.get(rater.removeprefix("reader:"), rater)
    return facts.models.get(rater, reader)


def describe_unknown_values(counts: Facets, facts: SetFacts, case_filter: CaseFilter) -> list[str]:
    """Return a sentence for each value of a filter that the set does not have.

    ``counts`` may be of any filter of the same set, because they contain every value of the set.
    """
    known: dict[str, set[str]] = {"models": set(), "tags": set()}
    for facet in counts.facets:
        values = {value.value for value in facet.values}
        known[facet.field] = known.get(facet.field, set()) | values
    unknown = [
        f"This set has no {'tag' if field == 'tags' else mid_sentence(CONDITION_NAMES[field])} "
        f"“{value}”."
        for field in ("models", "categories", "difficulties", "sites", "tags")
        for value in getattr(case_filter, field)
        if value not in known[field]
    ]
    models = [name for word in case_filter.model_pairs for name in ModelPair.parse(word).models]
    raters = [ChoiceOutcome.parse(word).model for word in case_filter.outcomes]
    models += case_filter.passing
    models += [one for one in raters if one and one.removeprefix("reader:") not in facts.readers]
    unknown += [f"This set has no model “{name}”." for name in models if name not in facts.models]
    readers = [ScoreCondition.parse(word).reader for word in case_filter.reader_scores]
    readers += [
        name for word in case_filter.reader_pairs for name in ReaderPair.parse(word).readers
    ]
    unknown += [
        f"This set has no reader “{name}”."
        for name in readers
        if name and name not in facts.readers
    ]
    judges = (JudgeCondition.parse(word).judge for word in case_filter.opinions)
    unknown += [f"This set has no judge “{one.name}”." for one in judges if one not in facts.judges]
    return list(dict.fromkeys(unknown))
