"""One case with its answers, scores, flags and other reviews, for a page."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import polars as pl

from rexview.analysis.case.finding_links import find_shared_keys, list_box_keys
from rexview.analysis.query.engine import Engine
from rexview.analysis.written_failures import MarkedAnswer, list_marks
from rexview.detect import join_verdicts
from rexview.schema import (
    Answer,
    Case,
    Flag,
    ReaderChoice,
    ReaderFlag,
    ReviewSet,
    Score,
    score_from_row,
)
from rexview.stats import (
    MISSING_STATUSES,
    FinalScores,
    compute_answer_finals,
    find_status,
    is_empty,
)
from rexview.vocab import FAILURES

READER_FAILURES: Final = tuple(name for name in FAILURES if name != "disagreement")
"""Failures that a reader can see in an answer; disagreement of readers follows from scores."""
_FAILURES_OF_EMPTY_ANSWER: Final = ("token_limit", "failed_extraction")
"""Failures that an empty answer can have."""


@dataclass(frozen=True)
class CasePage:
    """A case, its newest answers, their scores and their flags.

    Attributes
    ----------
    scores : tuple of Score
        All scores. Those of the readers in ``unfinished``, who have started the case in the app but
        not finished it, count nowhere yet.
    finals : mapping of str to FinalScores
        Final scores by model, for complete and scored answers.
    flags : tuple of Flag
        Flags of detectors and readers together, including rejected ones.
    reader_flags : tuple of ReaderFlag
        The readers' verdicts as they gave them.
    stale_scores, stale_reader_flags : tuple
        Those on earlier answers, which count nowhere.
    not_judged, not_yet : frozenset of str
        Models on whose answers a rule failed, and on whose answers no rule has run yet.
    repeats : mapping of str to tuple of Answer
        By model, the other answers of a run that asked the same question several times. They count
        nowhere.
    choices, stale_choices : tuple of ReaderChoice
        Readers' own answers to a choice question, and to its earlier options.
    marks : tuple of MarkedAnswer
        People's marks of failures in words, including those on earlier answers. They are no flags.
    """

    case: Case
    answers: tuple[Answer, ...]
    scores: tuple[Score, ...]
    finals: Mapping[str, FinalScores]
    flags: tuple[Flag, ...]
    reader_flags: tuple[ReaderFlag, ...] = ()
    unfinished: frozenset[str] = frozenset()
    stale_scores: tuple[Score, ...] = ()
    stale_reader_flags: tuple[ReaderFlag, ...] = ()
    not_judged: frozenset[str] = frozenset()
    not_yet: frozenset[str] = frozenset()
    repeats: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    choices: tuple[ReaderChoice, ...] = ()
    stale_choices: tuple[ReaderChoice, ...] = ()
    marks: tuple[MarkedAnswer, ...] = ()

    def of_models(self, models: tuple[str, ...]) -> CasePage:
        """Return the page with only some models, in the order given."""
        by_model = {answer.model: answer for answer in self.answers}
        return CasePage(
            self.case,
            tuple(by_model[model] for model in models if model in by_model),
            tuple(score for score in self.scores if score.model in models),
            {model: final for model, final in self.finals.items() if model in models},
            tuple(flag for flag in self.flags if flag.model in models),
            tuple(flag for flag in self.reader_flags if flag.model in models),
            self.unfinished,
            tuple(score for score in self.stale_scores if score.model in models),
            tuple(flag for flag in self.stale_reader_flags if flag.model in models),
            self.not_judged.intersection(models),
            self.not_yet.intersection(models),
            {model: given for model, given in self.repeats.items() if model in models},
            self.choices,
            self.stale_choices,
            tuple(one for one in self.marks if one.mark.model in models),
        )

    def with_reader_flags(self, added: Sequence[ReaderFlag]) -> CasePage:
        """Return the page with added verdicts of a reader, as if they were in the files."""
        if not added:
            return self
        every = (*self.reader_flags, *added)
        found = [flag for flag in self.flags if flag.source == "detector"]
        flags: list[Flag] = []
        for answer in self.answers:
            flags += join_verdicts(
                (flag for flag in found if flag.model == answer.model),
                (flag for flag in every if flag.model == answer.model),
            )
        return replace(self, flags=tuple(flags), reader_flags=every)

    def with_marks(
        self, given: Sequence[MarkedAnswer], taken_back: Collection[tuple[str, str, str]]
    ) -> CasePage:
        """Return the page with added marks of failures in words, without withdrawn ones.

        ``taken_back`` has model, reader and failure of each mark that is replaced or withdrawn.
        """
        kept = (
            one
            for one in self.marks
            if (one.mark.model, one.mark.reader, one.mark.failure) not in taken_back
        )
        return replace(self, marks=tuple(sorted((*kept, *given), key=_by_title)))

    @cached_property
    def uncounted(self) -> dict[str, FinalScores]:
        """Final scores by model of missing or incomplete answers, which no table has."""
        found = {}
        for answer in self.answers:
            given = [score for score in self.scores if score.model == answer.model]
            if (
                any(score.score is not None for score in given)
                and find_status(answer) in MISSING_STATUSES
            ):
                found[answer.model] = compute_answer_finals(given)
        return found

    @cached_property
    def box_keys(self) -> tuple[str, ...]:
        """Keys of the findings in the case's boxes, see :mod:`.finding_links`."""
        keys = [*list_box_keys(self.case.reference_boxes)]
        for answer in self.answers:
            keys += list_box_keys(answer.boxes)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def shared_keys(self) -> frozenset[str]:
        """Keys of findings in at least two texts or sets of boxes."""
        return find_shared_keys(self.case, self.answers)

    @cached_property
    def flag_keys(self) -> tuple[str, ...]:
        """A short key for each flag, which does not depend on the run or on the shown answers."""
        seen: Counter[str] = Counter()
        keys = []
        for flag in self.flags:
            parts = (flag.case, flag.model, flag.failure, flag.source, flag.kind or flag.reader)
            digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
            seen[digest] += 1
            keys.append(f"f{digest}-{seen[digest]}")
        return tuple(keys)

    def keyed_flags(self, model: str | None = None) -> list[tuple[str, Flag]]:
        """Return the flags with their keys, of one model's answer or of all."""
        pairs = zip(self.flag_keys, self.flags, strict=True)
        return [(key, flag) for key, flag in pairs if model in (None, flag.model)]


def _by_title(one: MarkedAnswer) -> tuple[str, str]:
    return one.words.prompt.name.lower(), one.mark.failure


def build_case_page(
    review_set: ReviewSet,
    case_id: str,
    engine: Engine,
) -> CasePage | None:
    """Return the page of one case of a review set; None if there is no such case.

    ``engine`` is the set's: it has the evidence of the flags, and the order of Content.
    """
    case = review_set.case(case_id)
    if case is None:
        return None
    answers = review_set.answers_of(case_id)
    not_yet = engine.not_yet_of(case_id, answers)  # before the flags, which may arrive in between
    scores = review_set.scores_of(case_id)
    finals = {}
    for answer in answers:
        given = [score for score in scores if score.model == answer.model]
        scored = any(score.score is not None for score in given)
        if scored and find_status(answer) not in MISSING_STATUSES:
            finals[answer.model] = compute_answer_finals(
                given, content_order=engine.facts.content_order
            )
    reader_flags = review_set.flags_of(case_id)
    begun = tuple(
        score_from_row(row)
        for row in review_set.unfinished.filter(pl.col("case") == case_id).iter_rows(named=True)
    )
    return CasePage(
        case,
        answers,
        (*scores, *begun),
        finals,
        engine.flags(case_id, answers, reader_flags),
        reader_flags,
        frozenset(score.reader for score in begun),
        review_set.scores_of(case_id, stale=True),
        review_set.flags_of(case_id, stale=True),
        engine.not_judged_of(case_id, answers),
        not_yet,
        {
            answer.model: found
            for answer in answers
            if (found := review_set.repeats_of(case_id, answer.model))
        },
        review_set.choices_of(case_id),
        review_set.choices_of(case_id, stale=True),
        list_marks(review_set, case_id),
    )


def list_reader_failures(case: Case, answer: Answer) -> tuple[str, ...]:
    """Return the failures that a reader can find in an answer to a case, in the usual order.

    An empty answer has few: the token limit, unless another reason is known, and a missing usable
    choice.
    """
    drawn = bool(answer.boxes or answer.images)
    left_out = {"boxes_missing"} if drawn else {"box_misplaced", "box_unrelated"}
    if case.question_type != "choice":
        left_out.add("failed_extraction")
    if answer.choice is None or answer.choice != case.correct:
        left_out.add("wrong_explanation")
    if is_empty(answer):
        left_out.update(set(READER_FAILURES).difference(_FAILURES_OF_EMPTY_ANSWER))
        if find_status(answer) in ("error", "refused"):
            left_out.add("token_limit")
    return tuple(failure for failure in READER_FAILURES if failure not in left_out)
