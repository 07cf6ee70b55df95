"""The numbers of the Failures page, their captions, and the progress of detectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rexview.analysis.query.engine import CaseProperty, Engine, FailureTally, ScanProgress
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.filter.conditions import (
    FLAG_OUTCOMES,
    UNKNOWN_FINDING,
    FindingCondition,
    find_region,
    name_region,
)
from rexview.analysis.query.filter.filter_text import describe_filter
from rexview.analysis.query.filter.finding_search import is_finding_search
from rexview.analysis.query.filter.linked_count import (
    CountGroup,
    CountGroups,
    LinkedCount,
    list_property_values,
    refine_filter,
)
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.stats.failure_rates import (
    EMPTY_PATIENT_TALLY,
    FailureTest,
    PatientTally,
    Rate,
    clear_unknown_pairs,
    compare_failures,
    measure_failure_rates,
    measure_rate,
)
from rexview.vocab import READER_ONLY_FAILURES
from rexview.words import tr, trn

# Captions for numbers from flags while detectors have not run on every answer.
#
# All captions are plain text.

SO_FAR: Final = tr("so far")


def so_far_caption(scanned: ScanProgress) -> str:
    """Return a caption with the number of answers with known flags; empty when it is all."""
    if scanned.is_complete:
        return ""
    return trn(
        "So far: {looked:,} of {n:,} answer checked for failures.",
        "So far: {looked:,} of {n:,} answers checked for failures.",
        scanned.answers,
    ).format(looked=scanned.looked, n=scanned.answers)


def not_judged_caption(failed: int) -> str:
    """Return a caption with the number of answers on which a rule failed; empty for none."""
    return (
        trn(
            "{n:,} answer could not be judged by every rule.",
            "{n:,} answers could not be judged by every rule.",
            failed,
        ).format(n=failed)
        if failed
        else ""
    )


def add_so_far(words: str, *, so_far: bool) -> str:
    """Return a heading or count, with "so far" added if it is not final."""
    return f"{words} {SO_FAR}" if so_far else words


def depends_on_flags(case_filter: CaseFilter) -> bool:
    """True if a filter's matches depend on detectors: it has conditions on failures or findings."""
    asked = case_filter.failures, case_filter.sources, case_filter.judged, case_filter.findings
    sides = any(word in FLAG_OUTCOMES for word in case_filter.outcomes)
    return any(asked) or sides or is_finding_search(case_filter.search, case_filter.mention)


def describe_so_far(engine: Engine, case_filter: CaseFilter) -> str:
    """Return a filter's name (:func:`.describe_filter`), with "so far" if more may match."""
    unknown = depends_on_flags(case_filter) and not engine.scanned(case_filter).is_complete
    return add_so_far(describe_filter(engine.facts, case_filter), so_far=unknown)


# Captions under the numbers of failures: what can be judged, by whom, by which test.
#
# All captions are plain text.

COUNTED_SOURCES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "any": (tr("Rule or reader"), ()),
    "rule": (tr("Rule"), ("detector", "both")),
    "reader": (tr("Reader"), ("reader", "both")),
    "both": (tr("Rule and reader"), ("both",)),
}
"""Sources of failures that count, by key in links: name on screen, and the filter's sources."""
COUNTED_SOURCE_NOTES: Final = {
    "any": tr(
        "Counted: answers that a rule flagged or a reader marked. Rejected flags do not count."
    ),
    "rule": tr("Counted: answers that a rule flagged, confirmed or not."),
    "reader": tr("Counted: answers that a reader marked or confirmed."),
    "both": tr("Counted: answers that a rule flagged and a reader confirmed."),
}
_JUDGED_BY: Final = {
    "laterality_error": tr(
        "answers that name a side, or draw a box, which can be checked against the report, "
        "a reference box or the answer itself"
    ),
    "token_limit": tr("answers with a finish reason, token counts or an English text"),
    "execution_gap": tr("answers with a Process and an Execution score"),
    "hallucination": tr("answers in English with an English report beside them"),
    "omission": tr(
        "answers in English with an English report beside them, except choice questions"
    ),
    "wrong_type": tr(
        "answers in English with an English report beside them, except choice questions"
    ),
    "side_incomplete": tr("answers that name a side in English, with a report that does, too"),
    "boxes_missing": tr(
        "answers in English to questions that ask for boxes, from models that draw them"
    ),
    "box_misplaced": tr("answers with boxes or an Image Content score"),
    "box_unrelated": tr("answers with boxes or an Image Style score"),
    "overconfident": tr("answers in English with a Synthesis score"),
    "verbose": tr("scored answers with others to compare their length with"),
    "terse": tr("scored answers with others to compare their length with"),
    "failed_extraction": tr("answers to choice questions"),
    "wrong_explanation": tr("answers whose explanation a reader judged right or wrong"),
    "disagreement": tr("answers that two readers scored"),
}
_OF_CASES: Final = (
    *("models", "question_types", "categories", "difficulties", "sites", "studies", "tags"),
    *("outcomes", "comments", "decisions"),
)
"""Conditions that leave both answers of two compared models to a case, or none."""
SMALL_GROUP: Final = 10
"""Groups with fewer judged answers are marked as small."""


def counted_caption(counted: str, scanned: ScanProgress) -> str:
    """Return the caption of a key of :data:`COUNTED_SOURCES`, with a note if numbers can change."""
    return " ".join(filter(None, (so_far_caption(scanned), COUNTED_SOURCE_NOTES[counted])))


def judged_caption(failure: str, *, short: bool = False) -> str:
    """Return a caption with the answers that can be judged; ``short`` omits those by readers."""
    words = tr("Can be judged: {judged_by}").format(judged_by=_JUDGED_BY[failure])
    if short:
        return words
    if failure in READER_ONLY_FAILURES:
        return f"{words}."
    return tr("{words}, and every answer with a reader's verdict.").format(words=words)


def judged_share_caption(judged: int, answers: int) -> str:
    """Return the caption ``26 of 40 answers can be judged``."""
    if judged == answers:
        words = trn("all {n:,} answer can be judged", "all {n:,} answers can be judged", answers)
    else:
        words = trn(
            "{judged:,} of {n:,} answer can be judged",
            "{judged:,} of {n:,} answers can be judged",
            answers,
        )
    return words.format(judged=judged, n=answers)


def rate_caption(*, clustered: bool) -> str:
    """Return a caption on the method of shares, intervals and tests."""
    words = tr(
        "Shares are of the answers that can be judged or have a reader's verdict; the others are "
        "not counted as right."
    )
    if clustered:
        how = tr(
            "Some cases share a patient or study: {level:.0%} intervals resample patients "
            "(BCa, {resamples:,} resamples), and a share of 0% or 100% has Wilson's "
            "interval with each patient counted once; the tests treat cases as independent."
        )
    else:
        how = tr("{level:.0%} intervals are Wilson's, those of differences are bootstrapped.")
    return f"{words} {how.format(level=LEVEL, resamples=RESAMPLES)}"


def comparison_caption(first: str = "A", second: str = "B") -> str:
    """Return a caption on the comparison of two models; both names as in the table."""
    return tr(
        "Two models are compared over the cases in which both can be judged: McNemar's "
        "exact test, p adjusted by Benjamini-Hochberg over all failures and pairs here. "
        "Differences are {first} minus {second}; only pairs in which exactly one of the "
        "two failed are counted."
    ).format(first=first, second=second)


def group_caption(kind: str, *, any_small: bool) -> str:
    """Return a caption on n in a table of groups.

    ``kind`` is ``finding``, ``region`` or ``property``. With ``any_small``, the caption also
    explains small groups.
    """
    if kind == "property":
        n = tr("n: answers that can be judged in the cases of the group.")
    else:
        n = tr(
            "n: all answers that can be judged, whatever they are about. The {kind} is the "
            "one in the rule's evidence; failures without one are listed as not known. An "
            "answer can be in several rows."
        ).format(kind=kind)
    words = tr("Most failures first. {n}").format(n=n)
    if not any_small:
        return words
    small = tr("Groups with n under {small} are small: treat them as single cases.").format(
        small=SMALL_GROUP
    )
    return f"{words} {small}"


# Failure rates by model and group, each number with the filter that opens it.

BY_FINDING: Final = CaseProperty("finding", tr("Finding"), "findings")
BY_REGION: Final = CaseProperty("region", tr("Region"), "findings")
_NOT_KNOWN_NAME: Final = tr("Not known")
MAX_RESAMPLED_MODELS: Final = 6
"""Most models whose differences have intervals; more have hundreds of pairs."""
MAX_FAILURE_GROUPS: Final = 24
"""Most groups in a table: those with the most failures."""


@dataclass(frozen=True)
class FailureRow:
    """One failure of one model.

    ``flagged`` of ``judged`` answers fail, of ``answers`` in all. ``hinted`` answers have only a
    rule's hint and are not counted. ``rate`` has no share if no answer was judged.
    """

    failure: str
    model: str
    flagged: LinkedCount
    judged: LinkedCount
    answers: int
    hinted: LinkedCount
    rate: Rate


@dataclass(frozen=True, eq=False)
class FailureTables:
    """The rates of all failures for one filter; models in the set's order.

    ``counted`` is a key of :data:`COUNTED_SOURCES`; ``clustered`` is true if cases share a patient
    or study. Headline failures are always included, others if they occur. ``scanned`` is the
    progress of the detectors.
    """

    models: Mapping[str, str]
    counted: str
    cases: LinkedCount
    clustered: bool
    rows: tuple[FailureRow, ...]
    scanned: ScanProgress
    compare_models: Callable[[], tuple[FailureTest, ...]]

    @cached_property
    def tests(self) -> tuple[FailureTest, ...]:
        """Tests between models; computed on first use, because many models take a while."""
        return self.compare_models()

    def failed_only(self, test: FailureTest) -> tuple[LinkedCount | None, LinkedCount | None]:
        """Count the cases in which only the first, only the second model of a test fails.

        None where the filter limits answers: it can leave one answer of a case and not the other,
        and no filter opens the pairs that are counted.
        """
        base = self.cases.opens
        of_cases: dict[str, tuple[str, ...]] = dict.fromkeys(_OF_CASES, ())
        if replace(base, **of_cases).active:  # type: ignore[arg-type]
            return None, None
        failed = replace(base, failures=(test.failure,), sources=COUNTED_SOURCES[self.counted][1])
        first, second = test.model_a, test.model_b
        return (
            LinkedCount(
                test.only_a, replace(failed, models=(first,), passing=(second,)), test.n_pairs
            ),
            LinkedCount(
                test.only_b, replace(failed, models=(second,), passing=(first,)), test.n_pairs
            ),
        )

    @property
    def failures(self) -> tuple[str, ...]:
        """Failures of the rows, in order."""
        return tuple(dict.fromkeys(row.failure for row in self.rows))

    def of(self, failure: str) -> tuple[FailureRow, ...]:
        """Return the rows of one failure."""
        return tuple(row for row in self.rows if row.failure == failure)


@dataclass(frozen=True)
class GroupCell:
    """One model in one group: ``flagged`` of ``flagged.of`` answers that can be judged."""

    model: str
    flagged: LinkedCount
    judged: LinkedCount
    rate: Rate

    @property
    def is_small(self) -> bool:
        """True if too few answers can be judged for a reliable share."""
        return self.rate.n < SMALL_GROUP


@dataclass(frozen=True, eq=False)
class FailureGroups(CountGroups[GroupCell]):
    """One failure by finding, region or a property of the case; groups count its failures.

    Most failures first. ``kind`` is ``finding``, ``region`` or ``property``.
    """

    failure: str
    kind: str

    def failures_of(self, model: str) -> float:
        """Return the number of a model's failures in all groups."""
        found = (cell for group in self.groups for cell in group.cells if cell.model == model)
        return float(sum(cell.flagged.value for cell in found))

    @property
    def any_small(self) -> bool:
        """True if a group is small for a model."""
        return any(cell.is_small for group in self.groups for cell in group.cells if cell.rate.n)


def without_failure_conditions(case_filter: CaseFilter) -> CaseFilter:
    """Return a filter without its conditions on failures, because rates are about all failures."""
    return replace(case_filter, failures=(), sources=(), judged=(), passing=(), findings=())


def build_failure_tables(
    engine: Engine,
    case_filter: CaseFilter | None = None,
    *,
    counted: str = "any",
    resamples: int = RESAMPLES,
) -> FailureTables:
    """Return the rates of all failures over the answers that match a filter.

    The filter's conditions on failures are ignored. ``counted`` is a key of
    :data:`COUNTED_SOURCES`; ``resamples`` is the number for the bootstrap, 0 for no intervals.
    """
    base = without_failure_conditions(case_filter or CaseFilter())
    sources = COUNTED_SOURCES[counted][1]
    tally = engine.tally(base)
    answers = {model.model: model.answers for model in tally.by_model}
    models = tally.names(engine.facts)
    tallies = engine.failure_tallies(base)
    failures = list(dict.fromkeys(found.failure for found in tallies))
    hinted = {(found.failure, found.model): found.hint for found in tallies}
    unknown = _find_not_judged(tallies, sources)

    def compare_models() -> tuple[FailureTest, ...]:
        few = len(models) <= MAX_RESAMPLED_MODELS
        pairs = clear_unknown_pairs(engine.judged_pairs(base, failures, sources), unknown)
        return compare_failures(pairs, resamples=resamples if few else 0)

    rows = []
    judged = engine.judged_tallies(base, failures, sources)
    for found in measure_failure_rates(judged, list(models), failures, resamples=resamples):
        failure, model, share = found.failure, found.model, found.rate
        share = share.not_judged() if (failure, model) in unknown else share
        opens = replace(base, failures=(failure,), sources=sources, models=(model,))
        can = replace(base, judged=(failure,), models=(model,))
        rows.append(
            FailureRow(
                failure,
                model,
                LinkedCount(share.flagged, opens, share.n),
                LinkedCount(share.n, can, answers[model]),
                answers[model],
                LinkedCount(hinted.get((failure, model), 0), replace(opens, sources=("hint",))),
                share,
            )
        )
    cases, patients = engine.patients(base)
    return FailureTables(
        models=models,
        counted=counted,
        cases=LinkedCount(tally.cases, base, engine.facts.n_cases),
        clustered=patients < cases,
        rows=tuple(rows),
        scanned=engine.scanned(base),
        compare_models=compare_models,
    )


def list_failure_groupings(engine: Engine) -> tuple[CaseProperty, ...]:
    """Return the properties by which failures can be grouped, in the order of a list."""
    return (BY_FINDING, BY_REGION, *engine.facts.properties)


def build_failure_groups(
    engine: Engine,
    case_filter: CaseFilter,
    failure: str,
    by: CaseProperty,
    *,
    counted: str = "any",
    resamples: int = RESAMPLES,
) -> FailureGroups:
    """Return one failure by finding, by region or by a property of the case.

    Parameters are as for :func:`build_failure_tables`; ``by`` is one of
    :func:`list_failure_groupings`.
    """
    base = without_failure_conditions(case_filter)
    models = engine.tally(base).names(engine.facts)
    sources = COUNTED_SOURCES[counted][1]
    failing = replace(base, failures=(failure,), sources=sources)
    unknown = _find_not_judged(engine.failure_tallies(base), sources)
    found = list(_groups(engine, base, failing, by))
    found.sort(key=lambda group: -_count_flagged(group[3]))
    groups = []
    for value, name, opens, judged in found[:MAX_FAILURE_GROUPS]:
        cells = []
        for model in models:
            share = measure_rate(
                judged.get((failure, model), EMPTY_PATIENT_TALLY), resamples=resamples
            )
            share = share.not_judged() if (failure, model) in unknown else share
            mine = replace(opens, models=(model,))
            can = replace(mine, failures=(), sources=(), findings=(), judged=(failure,))
            flagged = LinkedCount(share.flagged, mine, share.n)
            cells.append(GroupCell(model, flagged, LinkedCount(share.n, can), share))
        groups.append(
            CountGroup(value, name, LinkedCount(_count_flagged(judged), opens), tuple(cells))
        )
    kind = by.key if by in (BY_FINDING, BY_REGION) else "property"
    left_out = max(0, len(found) - MAX_FAILURE_GROUPS)
    return FailureGroups(by, models, tuple(groups), left_out, failure, kind)


def _find_not_judged(
    tallies: Iterable[FailureTally], sources: Sequence[str]
) -> frozenset[tuple[str, str]]:
    """Return failure and model where none of the sources shows how frequent the failure is."""
    return frozenset((one.failure, one.model) for one in tallies if not one.is_judged(sources))


_Tallies = Mapping[tuple[str, str], PatientTally]


def _count_flagged(judged: _Tallies) -> int:
    return sum(tally.total for tally in judged.values())


def _groups(
    engine: Engine, base: CaseFilter, failing: CaseFilter, by: CaseProperty
) -> Iterator[tuple[str, str, CaseFilter, _Tallies]]:
    """Yield each group with any failure: value, name, filter and tallies of judged answers.

    Any judged answer could fail on any finding or region, so those groups have all judged answers.
    """
    failures, sources = failing.failures, failing.sources
    if by.field != "findings":
        counts = engine.property_counts(base, by)
        for value, name, cases in list_property_values(counts, engine.facts, base, by):
            judged = engine.judged_tallies(cases.opens, failures, sources)
            if _count_flagged(judged):
                yield value, name, refine_filter(failing, **{by.field: value}) or failing, judged
        return
    known = engine.failure_findings(failures[0])
    words = [FindingCondition(name) for name in known]
    if by == BY_REGION:
        regions = sorted({region for name in known if (region := find_region(name))})
        words = [FindingCondition(region, is_region=True) for region in regions]
    for word in (*words, FindingCondition(UNKNOWN_FINDING)):
        judged = engine.judged_tallies(base, failures, sources, (str(word),))
        if _count_flagged(judged):
            name = name_region(word.id) if word.is_region else word.name
            name = _NOT_KNOWN_NAME if word.id == UNKNOWN_FINDING else name
            yield str(word), name, replace(failing, findings=(str(word),)), judged
