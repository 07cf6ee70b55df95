"""One case with its answers, scores, flags and other reviews, for a page."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import polars as pl

from rexview.analysis.case.cards import describe_harm
from rexview.analysis.case.finding_links import find_shared_keys, list_box_keys
from rexview.analysis.query.engine import Engine
from rexview.analysis.written_failures import MarkedAnswer, list_marks
from rexview.detect import join_verdicts
from rexview.detect.scan.batch import flag_finding
from rexview.harm import NO_ANSWER_HARM, HarmTable, severity_sort_value
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
from rexview.vocab import FAILURES, SCORE_MAX, SCORE_MIN

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


# Harm of the failures of a case, from the flags on its page or in its export.

MAX_SIDE_BY_SIDE: Final = 2
"""Most answers that fit beside the image."""
_ORDER: Final = {failure: place for place, failure in enumerate(FAILURES)}


class AnswerFailure(NamedTuple):
    """A failure of one answer that no reader rejected.

    ``harm`` is 0 to 4: that of its finding, of several findings the greatest. ``finding`` is None
    if unknown. ``confirmed`` means by a reader; ``suggested`` means by a rule's hint only.
    """

    harm: int
    finding: str | None
    confirmed: bool
    suggested: bool


@dataclass(frozen=True)
class CaseHeadline:
    """The headline of a case or answer: its worst failure.

    ``words`` name the failure and its source; ``model`` is the answer's. ``harm`` is 0 to 4.
    ``failure`` is a key of :data:`rexview.vocab.FAILURES`, None for a missing answer.
    ``suggested`` is true for a rule's hint.
    """

    words: str
    model: str
    harm: int
    failure: str | None
    suggested: bool


@dataclass(frozen=True)
class FailingModels:
    """The models of a case whose answers fail, worst first.

    ``suggested`` are the models whose answers have only a rule's hint.
    """

    failing: tuple[str, ...]
    suggested: tuple[str, ...]


def find_answer_failures(flags: Iterable[Flag], table: HarmTable) -> dict[str, AnswerFailure]:
    """Return the failures of one answer by name; rejected flags are left out."""
    by: dict[str, list[Flag]] = {}
    for one in flags:
        if one.failure in FAILURES and one.verdict != "rejected":
            by.setdefault(one.failure, []).append(one)
    return {failure: _combine_flags(failure, same, table) for failure, same in by.items()}


def _combine_flags(failure: str, flags: Sequence[Flag], table: HarmTable) -> AnswerFailure:
    by_rule = [one for one in flags if one.source == "detector"]
    firm = [one for one in by_rule if not one.is_hint]
    about = sorted({name for one in firm or by_rule if (name := flag_finding(one))})
    finding = max(about, key=lambda one: table.of(failure, one), default=None)
    confirmed = len(by_rule) < len(flags)
    return AnswerFailure(table.of(failure, finding), finding, confirmed, not (firm or confirmed))


def build_case_headline(page: CasePage, table: HarmTable) -> CaseHeadline | None:
    """Return the worst failure of the case's answers, as on its card; None without any.

    A rule's hint is named if no failure harms.
    """
    rows = _sort_worst_first(page, table)
    return _headline(*rows[0], table) if rows else None


def build_answer_headlines(page: CasePage, table: HarmTable) -> dict[str, CaseHeadline]:
    """Return the worst failure of each answer that has any, by its model."""
    rows = _sort_worst_first(page, table)
    return {answer.model: _headline(row, answer, table) for row, answer in rows}


def _headline(row: Mapping[str, Any], answer: Answer, table: HarmTable) -> CaseHeadline:
    """Return the headline of an answer that fails, from its row of :func:`_sort_worst_first`."""
    failure, harm = row["harm_failure"], row["harm"]
    suggested = not harm and bool(row["harm_hinted"])
    if suggested:
        failure = row["hinted_failure"]
        harm = table.of(failure, row["hinted_finding"])
    known = failure if failure in FAILURES else None
    return CaseHeadline(describe_harm(row, table), answer.model, harm, known, suggested)


def find_failing_models(page: CasePage, table: HarmTable) -> FailingModels:
    """Return the models whose answers fail, and those with only a rule's hint."""
    rows = _sort_worst_first(page, table)
    firm = tuple(answer.model for row, answer in rows if row["harm_failure"])
    return FailingModels(
        firm, tuple(answer.model for row, answer in rows if not row["harm_failure"])
    )


def sort_failing_first(page: CasePage, table: HarmTable) -> CasePage:
    """Return the page with the failing answers first, from the worst on.

    Up to :data:`MAX_SIDE_BY_SIDE` answers, which all fit beside the image, keep their order.
    """
    if len(page.answers) <= MAX_SIDE_BY_SIDE:
        return page
    first = tuple(answer.model for _, answer in _sort_worst_first(page, table))
    rest = (one.model for one in page.answers if one.model not in first)
    return page.of_models((*first, *rest))


def _sort_worst_first(page: CasePage, table: HarmTable) -> list[tuple[dict[str, Any], Answer]]:
    """Return the answers that fail with their harm, the worst first."""
    rows = [(_harm_row(page, answer, table), answer) for answer in page.answers]
    rows = [one for one in rows if one[0]["harm_failure"] or one[0]["harm_hinted"]]
    return sorted(rows, key=lambda one: -_severity(*one))


def _severity(row: dict[str, Any], answer: Answer) -> float:
    """Return an answer's severity, like :func:`.rank_severity`."""
    content = row["content"] or SCORE_MAX
    points = SCORE_MIN if find_status(answer) in MISSING_STATUSES else content
    by_harm = severity_sort_value(row["harm"], row["harm_confirmed"], row["harm_hinted"])
    return float(by_harm + SCORE_MAX - points)


def _harm_row(page: CasePage, answer: Answer, table: HarmTable) -> dict[str, Any]:
    """Return the harm of an answer as columns of an answer table, for :func:`describe_harm`."""
    flags = (one for one in page.flags if one.model == answer.model)
    failures = find_answer_failures(flags, table)

    def worst(*, suggested: bool) -> str | None:
        some = [name for name, one in failures.items() if one.suggested == suggested]
        rank = {name: (failures[name].harm, failures[name].confirmed) for name in some}
        return max(some, key=lambda name: (*rank[name], -_ORDER[name]), default=None)

    failure, hint = worst(suggested=False), worst(suggested=True)
    found = failures[failure] if failure else AnswerFailure(0, None, False, False)
    never_came = table.failures[NO_ANSWER_HARM].harm
    if find_status(answer) in MISSING_STATUSES and found.harm < never_came:
        failure, found = NO_ANSWER_HARM, AnswerFailure(never_came, None, False, False)
    finals = page.finals.get(answer.model)
    return {
        "harm": found.harm,
        "harm_failure": failure,
        "harm_finding": found.finding,
        "harm_confirmed": found.confirmed,
        "harm_hinted": max(1, failures[hint].harm) if hint else 0,
        "hinted_failure": hint,
        "hinted_finding": failures[hint].finding if hint else None,
        "content": finals.content if finals else None,
    }
