"""The numbers of the Overview page, each with the filter that opens its cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from rexview.analysis.query.engine import Engine, FilterTally, ScanProgress, SetFacts
from rexview.analysis.query.filter.case_filter import SOURCES, WEAKEST_LINKS, CaseFilter
from rexview.analysis.query.filter.filter_text import name_value
from rexview.analysis.query.filter.linked_count import ANY_NUMBER, LinkedCount, make_linked_count
from rexview.analysis.ranking import DisplayRanking, rank_for_display
from rexview.analysis.scores import GapCell, ScoreCell, gap_cells, score_cells
from rexview.stats import MISSING_STATUSES
from rexview.stats.bootstrap import Interval
from rexview.stats.failure_rates import PatientTally, measure_rate
from rexview.vocab import DIMENSION_NAMES


@dataclass(frozen=True)
class OverviewCounts:
    """The numbers of cases, answers, models, readers and images.

    ``no_answer`` counts answers that are missing or incomplete, ``scored`` those with Content.
    """

    cases: LinkedCount
    answers: LinkedCount
    no_answer: LinkedCount
    scored: LinkedCount
    n_models: int
    n_readers: int
    n_images: int


@dataclass(frozen=True)
class FailureCount:
    """The counts of one failure of one model.

    ``flagged`` counts answers, of those that can be judged (``judged``, itself of all answers). It
    is the sum of ``detector`` (only a detector found it), ``reader`` (only a reader marked it) and
    ``both``. ``hint`` counts answers with only a detector's hint, which are not flagged.
    """

    failure: str
    model: str
    flagged: LinkedCount
    judged: LinkedCount
    detector: LinkedCount
    reader: LinkedCount
    both: LinkedCount
    hint: LinkedCount


@dataclass(frozen=True)
class WeakestShare:
    """The number of a model's answers whose Content is set by one part, or by several at once."""

    model: str
    part: str
    name: str
    answers: LinkedCount


@dataclass(frozen=True)
class Overview:
    """All numbers of the Overview for one filter; models in the set's order.

    ``failures`` always has the headline failures, and others if they occur. ``means`` and ``gaps``
    have only scored dimensions, without intervals. ``scanned`` is the progress of the detectors.
    """

    headline: OverviewCounts
    failures: tuple[FailureCount, ...]
    weakest: tuple[WeakestShare, ...]
    means: tuple[ScoreCell, ...]
    gaps: tuple[GapCell, ...]
    models: dict[str, str]
    scanned: ScanProgress

    @property
    def ranking(self) -> DisplayRanking[str]:
        """Models by their mean Content, the best first; few models in the set's order."""
        content = {one.model: one.summary.mean for one in self.means if one.dimension == "content"}
        return rank_for_display(self.models, content.get)

    def of_models(self, models: Collection[str]) -> Overview:
        """Return the numbers of some models, in the order given."""
        return replace(
            self,
            models={model: self.models[model] for model in models},
            failures=tuple(one for one in self.failures if one.model in models),
            weakest=tuple(one for one in self.weakest if one.model in models),
            means=tuple(one for one in self.means if one.model in models),
            gaps=tuple(one for one in self.gaps if one.model in models),
        )


def build_overview(engine: Engine, case_filter: CaseFilter | None = None) -> Overview:
    """Return the numbers of the Overview for the answers that match a filter."""
    base = case_filter or CaseFilter()
    tally = engine.tally(base)
    models = tally.names(engine.facts)
    scores = engine.score_tallies(base)
    cells = [cell for cell in score_cells(scores, models, base, resamples=0) if cell.scored.value]
    order = list(models), list(DIMENSION_NAMES)
    cells.sort(key=lambda cell: (order[0].index(cell.model), order[1].index(cell.dimension)))
    gaps = gap_cells(scores, models, base, engine.facts.gap_threshold, resamples=0)
    return Overview(
        headline=_headline(tally, engine.facts, base),
        failures=tuple(_failures(engine, models, base)),
        weakest=tuple(_weakest(tally, engine.facts, base)),
        means=tuple(cells),
        gaps=tuple(gap for gap in gaps if gap.known.value),
        models=models,
        scanned=engine.scanned(base),
    )


def _headline(tally: FilterTally, facts: SetFacts, base: CaseFilter) -> OverviewCounts:
    n = tally.answers
    return OverviewCounts(
        cases=LinkedCount(tally.cases, base, facts.n_cases),
        answers=LinkedCount(n, base),
        no_answer=LinkedCount(tally.lost, replace(base, statuses=MISSING_STATUSES), n),
        scored=make_linked_count(base, tally.with_content, n, content=ANY_NUMBER),
        n_models=len(tally.by_model),
        n_readers=facts.n_readers,
        n_images=facts.n_images,
    )


def _failures(
    engine: Engine, models: Mapping[str, str], base: CaseFilter
) -> Iterator[FailureCount]:
    base = replace(base, failures=(), sources=(), judged=(), passing=())
    answers = {model.model: model.answers for model in engine.tally(base).by_model}
    for found in engine.failure_tallies(base):
        if found.model not in models:
            continue
        failure, model, of = found.failure, found.model, found.judged
        opens = replace(base, failures=(failure,), models=(model,))
        by_source = {
            source: LinkedCount(getattr(found, source), replace(opens, sources=(source,)), of)
            for source in SOURCES
        }
        yield FailureCount(
            failure,
            model,
            LinkedCount(found.detector + found.reader + found.both, opens, of),
            LinkedCount(of, replace(base, judged=(failure,), models=(model,)), answers[model]),
            **by_source,
        )


def _weakest(tally: FilterTally, facts: SetFacts, base: CaseFilter) -> Iterator[WeakestShare]:
    known = [model for model in tally.by_model if model.by_weakest]
    for model in known:
        for part in WEAKEST_LINKS:
            if any(part in other.by_weakest for other in known):
                opens = replace(base, models=(model.model,), weakest=(part,))
                n, of = model.by_weakest.get(part, 0), sum(model.by_weakest.values())
                name = name_value(facts, "weakest", part)
                yield WeakestShare(model.model, part, name, LinkedCount(n, opens, of))


# Self-contradictions of models, each number with the filter that opens its cases.


@dataclass(frozen=True)
class ContradictionCount:
    """The number of a model's answers that contradict themselves.

    They are part of the answers that were ``asked`` (or chose) more than once. ``interval`` is that
    of the share.
    """

    count: LinkedCount
    asked: LinkedCount
    interval: Interval


@dataclass(frozen=True)
class ModelContradictions:
    """The self-contradictions of one model.

    ``choice`` is None if no choice question was asked again. ``unusable`` answers were asked again
    and do not always have a usable choice.
    """

    model: str
    side: ContradictionCount
    choice: ContradictionCount | None
    unusable: LinkedCount


def list_model_contradictions(
    engine: Engine, case_filter: CaseFilter | None = None
) -> tuple[ModelContradictions, ...]:
    """Return the self-contradictions of each model; empty if nothing was asked again."""
    base = case_filter or CaseFilter()

    def found(tally: PatientTally, base: CaseFilter, kind: str, of: str) -> ContradictionCount:
        share = measure_rate(tally)
        asked = make_linked_count(base, share.n, repeats=of)
        return ContradictionCount(
            make_linked_count(base, share.flagged, share.n, repeats=kind), asked, share.interval
        )

    rows = []
    for tally in engine.repeat_tallies(base):
        own = replace(base, models=(tally.model,))
        has_choices = tally.choice.n or tally.unusable
        rows.append(
            ModelContradictions(
                tally.model,
                found(tally.side, own, "side", "asked"),
                found(tally.choice, own, "choice", "chosen") if has_choices else None,
                make_linked_count(own, tally.unusable, repeats="unusable"),
            )
        )
    return tuple(rows)
