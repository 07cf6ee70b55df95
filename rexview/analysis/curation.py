"""Candidate questions by study for the page Curate, and the numbers of the curated set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from rexview.curation.candidates import CandidateSummary, sort_by_model_sum, summarize_candidates
from rexview.curation.comparison_questions import explain_block
from rexview.curation.coverage import Coverage, Targets, count_coverage
from rexview.curation.curated_set import remove_instruction
from rexview.curation.near_duplicates import Similarity, find_similar_pairs
from rexview.curation.source_studies import find_study_cases
from rexview.schema import Case, ReviewSet
from rexview.vocab import CRITERIA, SCORE_MAX, SCORE_MIN
from rexview.words import counted, noun, tr

# A study with its candidate questions, for the page Curate.

CurationState = Literal["open", "done"]


@dataclass(frozen=True)
class SimilarQuestion:
    """Another candidate that asks nearly the same; ``similarity`` above 0.9, at most 1."""

    case: str
    candidate: str
    similarity: float


@dataclass(frozen=True)
class CandidateView:
    """A candidate, why it cannot be chosen (None if it can), and its near-duplicates."""

    candidate: CandidateSummary
    blocked: str | None = None
    alike: tuple[SimilarQuestion, ...] = ()


@dataclass(frozen=True)
class CurationStudy:
    """A study with its candidates, sorted by the model's sum, the highest first.

    ``case`` is the case that represents it, ``title`` its id and indication.
    """

    case: str
    study_id: str | None
    title: str
    candidates: tuple[CandidateView, ...] = ()

    @property
    def state(self) -> CurationState:
        """``done`` once a candidate is chosen, or all are rejected."""
        decisions = [view.candidate.decision for view in self.candidates]
        done = "chosen" in decisions or (decisions and set(decisions) == {"rejected"})
        return "done" if done else "open"

    @property
    def blocked(self) -> int:
        """Number of candidates that cannot be chosen."""
        return sum(view.blocked is not None for view in self.candidates)


@dataclass(frozen=True)
class Curation:
    """All studies of a set with their candidates, in the order of the set."""

    studies: tuple[CurationStudy, ...]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Index of each study by its case."""
        return {study.case: place for place, study in enumerate(self.studies)}

    def study(self, case: str) -> CurationStudy | None:
        """Return the study that a case represents, None without one."""
        place = self.places.get(case)
        return None if place is None else self.studies[place]

    def view(self, case: str, candidate: str) -> CandidateView | None:
        """Return one candidate, None if there is none."""
        study = self.study(case)
        views = study.candidates if study else ()
        return next((view for view in views if view.candidate.id == candidate), None)


# The studies of a set, and their candidate questions with the reasons against them.


def build_curation(
    review_set: ReviewSet,
    *,
    question_type: str | None = "open",
    similarity: Similarity | None = None,
) -> Curation:
    """Return the studies of a set with their candidates.

    A case with candidates that does not represent its study is listed by itself, so that no
    candidate is left out.

    Parameters
    ----------
    review_set : ReviewSet
        The set with people's reviews (:func:`rexview.store.merged_set.merge_reviews`).
    question_type : str or None
        ``open`` or ``choice`` candidates; None: all.
    similarity : Similarity, optional
        Measure for near-duplicates; without one, letters are compared.
    """
    by_case = summarize_candidates(review_set)
    if question_type:
        by_case = {
            case: tuple(one for one in some if one.question_type == question_type)
            for case, some in by_case.items()
        }
    every = [one for some in by_case.values() for one in some]
    alike = _find_similar(every, similarity)
    named = dict.fromkeys([*find_study_cases(review_set), *(one.case for one in every)])
    studies = []
    for case_id in named:
        case = review_set.case(case_id)
        if case is None:
            continue
        views = tuple(
            CandidateView(
                one,
                explain_block(review_set, case, one.question, one.tags),
                alike.get((one.case, one.id), ()),
            )
            for one in sort_by_model_sum(by_case.get(case_id, ()))
        )
        studies.append(CurationStudy(case.id, case.study_id, _title(case), views))
    return Curation(tuple(studies))


def _find_similar(
    candidates: list[CandidateSummary], similarity: Similarity | None
) -> dict[tuple[str, str], tuple[SimilarQuestion, ...]]:
    """Return each candidate's near-duplicates, the most similar first.

    Questions in the same words are compared once and share their records, because a model may
    propose the same question for each of a thousand studies.
    """
    places = defaultdict(list)
    for one in candidates:
        places["\n".join([remove_instruction(one.question), *one.options])].append(one)
    groups = list(places.values())
    near = defaultdict(list)
    for first, second, how in find_similar_pairs(list(places), similarity):
        near[first].append((second, how))
        near[second].append((first, how))
    found = {}
    for number, group in enumerate(groups):
        same = [SimilarQuestion(one.case, one.id, 1.0) for one in group]
        others = [
            SimilarQuestion(other.case, other.id, how)
            for place, how in sorted(near[number], key=lambda one: -one[1])
            for other in groups[place]
        ]
        for at, one in enumerate(group):
            found[one.case, one.id] = (*same[:at], *same[at + 1 :], *others)
    return found


def _title(case: Case) -> str:
    said = (case.context.indication or "").strip()
    return " · ".join(part for part in (case.study_id or case.id, said) if part)


# Numbers of the curated set, for the supplement's plots.

PAPER_MINIMUM_SUM: Final = 16
"""Smallest sum of a question that the paper selected; none had a risk flag (supplement)."""
POSSIBLE_SUMS: Final = range(SCORE_MIN * len(CRITERIA), SCORE_MAX * len(CRITERIA) + 1)


@dataclass(frozen=True)
class CuratedTables:
    """Counts of a set's candidates and of the chosen questions among them.

    Attributes
    ----------
    sums : mapping of (int, bool) to int
        Candidates by the sum of the model's scores, and whether they were chosen.
    criteria : mapping of (str, int) to int
        Chosen questions by criterion and the model's score.
    unscored : int
        Chosen questions without all four scores of a model; neither mapping above counts them.
    low, risky, unflagged : int
        Chosen questions with a sum below :data:`PAPER_MINIMUM_SUM`, with a risk flag, and rated
        ones for which the model did not state a risk flag.
    misstated : int
        Candidates for which the model stated a wrong sum.
    coverage : Coverage
    """

    sums: Mapping[tuple[int, bool], int]
    criteria: Mapping[tuple[str, int], int]
    unscored: int
    low: int
    risky: int
    unflagged: int
    misstated: int
    coverage: Coverage

    @property
    def scored(self) -> int:
        """Number of chosen questions with a sum."""
        return self.coverage.chosen - self.unscored


def build_curated_tables(curation: Curation, targets: Targets | None = None) -> CuratedTables:
    """Count candidates and chosen questions; only the newest scores of a model count."""
    every = [view.candidate for study in curation.studies for view in study.candidates]
    return count_candidates(every, targets)


def count_candidates(
    every: Iterable[CandidateSummary], targets: Targets | None = None
) -> CuratedTables:
    """Count candidates; see :func:`build_curated_tables`."""
    every = list(every)
    sums: Counter[tuple[int, bool]] = Counter()
    criteria: Counter[tuple[str, int]] = Counter()
    counts: Counter[str] = Counter()
    for one in every:
        rating, is_chosen = one.model_rating, one.decision == "chosen"
        total = rating.total if rating else None
        counts["misstated"] += bool(rating and rating.misstated)
        if total is not None:
            sums[total, is_chosen] += 1
        if not is_chosen:
            continue
        counts["unscored"] += total is None
        counts["low"] += total is not None and total < PAPER_MINIMUM_SUM
        counts["risky"] += bool(rating and rating.risk)
        counts["unflagged"] += rating is not None and rating.risk is None
        if rating is not None and total is not None:
            criteria.update((name, score) for name, score in rating.scores.items() if score)
    return CuratedTables(
        sums,
        criteria,
        counts["unscored"],
        counts["low"],
        counts["risky"],
        counts["unflagged"],
        counts["misstated"],
        count_coverage(every, targets),
    )


def sums_caption(tables: CuratedTables) -> str:
    """Return a caption that compares the chosen questions with the paper's."""
    n = tables.scored
    said = [
        tr(
            "Of {counted} scored by a model, {low:,} {value} a sum below {enough} and "
            "{risky:,} a risk flag; in the paper none had."
        ).format(
            counted=counted(n, "chosen question"),
            low=tables.low,
            value="has" if tables.low == 1 else "have",
            enough=PAPER_MINIMUM_SUM,
            risky=tables.risky,
        ),
        tr("Sums are computed here, not taken from the model."),
    ]
    if tables.unscored:
        said.append(
            tr("Left out: {counted} without all four.").format(
                counted=counted(tables.unscored, "chosen question")
            )
        )
    if tables.unflagged:
        said.append(
            tr("For {unflagged:,} {noun} the model does not state whether it is a risk.").format(
                unflagged=tables.unflagged, noun=noun(tables.unflagged, "question")
            )
        )
    return " ".join(said)
