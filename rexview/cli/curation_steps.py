"""Run the steps of ``curate``; each is a run whose answers become a part of the set."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rexview.analysis.run_models.run_request import RunSubjects
from rexview.cli.foreground_run import run_with_progress
from rexview.cli.output import as_json
from rexview.cli.reviews import open_set_reviews
from rexview.cli.run import dry_run_report, plan_subject_run
from rexview.curation.choice.checks import Check, ChoiceQuestion
from rexview.curation.choice.expert_sample import draw_expert_sample
from rexview.curation.choice.proposing import PROPOSE_CHOICE
from rexview.curation.choice.proposing import choice_proposing_subjects as choice_subjects
from rexview.curation.choice.validation import (
    CHECKS,
    VALIDATE,
    QuestionVerdict,
    check_questions,
    combine_all_checks,
    find_case_questions,
    write_rules,
)
from rexview.curation.choice.validation import find_choice_questions as choice_questions
from rexview.curation.choice.validation import validation_subjects as validating_subjects
from rexview.curation.near_duplicates import Similarity
from rexview.curation.open_questions import (
    OpenQuestion,
    StepParts,
    belongs_to_step,
    find_open_questions,
    rating_subjects,
    tagging_subjects,
    write_parts,
)
from rexview.curation.proposing import PROPOSE, proposing_subjects
from rexview.curation.rating import RATE
from rexview.curation.source_studies import find_source_studies
from rexview.curation.step import CurationStep, QuestionSubject
from rexview.curation.tagging import TAG
from rexview.errors import ImportSourceError, RunError, RunRefused, SettingsError
from rexview.importers.import_run import read_sources
from rexview.importers.receipt import ProblemLog, Receipt, group_alike_problems
from rexview.importers.set_rows import SetRows
from rexview.models.asking.model_cards import find_card
from rexview.models.backend import OUTCOMES, AttemptFailed
from rexview.models.endpoints.embeddings import Embeddings
from rexview.models.running.cost_estimate import CostEstimate, estimate_cost
from rexview.models.running.model_run import RunPlan
from rexview.models.running.run_folder import CURATING_FOLDER, find_run_folder
from rexview.models.running.run_journal import StoredReply, newest_stored_replies
from rexview.models.running.run_progress import RunProgress
from rexview.models.running.run_spec import RunBudget, RunCost, read_run_spec
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.store import merge_reviews
from rexview.untrusted_input import printable_text
from rexview.vocab import english_count

# The set with its files, the parts of runs, and people's entries.

OPEN_STEPS: Final[dict[str, CurationStep[Any]]] = {step.name: step for step in (PROPOSE, RATE, TAG)}
"""The steps of open questions, by name."""
CHOICE_STEPS: Final[dict[str, CurationStep[Any]]] = {
    step.name: step for step in (PROPOSE_CHOICE, VALIDATE)
}
"""The steps of multiple choice questions, by name."""


def open_with_reviews(folder: Path) -> ReviewSet:
    """Open a set with people's entries: their own questions are scored and tagged too."""
    reviews = open_set_reviews(folder)
    return merge_reviews(reviews.review_set, reviews)


def write_missing_parts(folder: Path) -> None:
    """Write the parts of runs that ended before they could write them.

    Raises
    ------
    RunError
        A part cannot be written.
    """
    review_set = load_review_set(folder)
    for step in (*OPEN_STEPS.values(), *CHOICE_STEPS.values()):
        write_parts(review_set, step)


# Output of ``curate``: the results of each step, and what is missing.

_NAMED: Final = 10
_ROW: Final = {
    "candidates": "question",
    "candidate_ratings": "score",
    "candidate_tags": "tagged question",
    "validations": "check",
}


@dataclass(frozen=True)
class StepResult:
    """Result of a step.

    ``message`` is the reason if the step did not start. ``untold`` counts studies that are left out
    because they have no information to ask about.
    """

    step: CurationStep[Any]
    subjects: Sequence[QuestionSubject] = ()
    said: Mapping[str, StoredReply] = field(default_factory=dict)
    written: StepParts = field(default_factory=lambda: StepParts((), {}, 0))
    ended: RunProgress | None = None
    untold: int = 0
    message: str | None = None

    def _of(self, *, answered: bool) -> list[tuple[QuestionSubject, StoredReply]]:
        both = [(one, self.said[one.id]) for one in self.subjects if one.id in self.said]
        return [(one, reply) for one, reply in both if reply.answered == answered]

    @property
    def unreadable(self) -> list[dict[str, str]]:
        """Answers that cannot be read, each with the reason."""
        return [_reply_fields(one, reply) for one, reply in self._of(answered=False)]

    @property
    def notes(self) -> list[dict[str, str]]:
        """Notes on answers that were read."""
        return [_reply_fields(one, reply) for one, reply in self._of(answered=True) if reply.why]

    @property
    def unasked(self) -> int:
        """Number of requests without an answer."""
        return sum(one.id not in self.said for one in self.subjects)

    @property
    def complete(self) -> bool:
        """Whether every request has a readable answer."""
        return not (self.message or self.unasked or self.unreadable)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "step": self.step.name,
            "asked_about": len(self.subjects),
            "answered": len(self._of(answered=True)),
            "unreadable": self.unreadable,
            "unasked": self.unasked,
            "left_out": self.untold,
            "notes": self.notes,
            "table": self.step.table,
            "rows": self.written.rows,
            "elsewhere": self.written.elsewhere,
            "run": asdict(self.ended) if self.ended else None,
            "message": self.message,
        }


def _reply_fields(subject: QuestionSubject, reply: StoredReply) -> dict[str, str]:
    return {
        "case": subject.case,
        "about": ", ".join(subject.about),
        "outcome": reply.outcome,
        "why": reply.why,
    }


def print_steps(
    options: argparse.Namespace,
    steps: Sequence[StepResult],
    *,
    begun: bool,
    more: Mapping[str, Any] | None = None,
) -> int:
    """Print the results; return the exit status.

    ``begun`` is false if a step was left out; ``more`` is added to the JSON.
    """
    status = 0 if begun and all(one.complete for one in steps) else 1
    if options.json:
        shown = {"steps": [one.as_json() for one in steps], "begun": begun, **(more or {})}
        as_values = {**shown, "exit": status}
        print(as_json(as_values))
        return status
    for one in steps:
        _print_step(one)
    if not begun:
        print("The steps after it were not begun: give the same command with --resume.")
    return status


def _print_step(one: StepResult) -> None:
    name = one.step.name
    if one.message:
        print(printable_text(f"{name}: {one.message}"), file=sys.stderr)
        return
    rows = sum(one.written.rows.values())
    many = english_count(rows, _ROW[one.step.table])
    answered = len(one.subjects) - one.unasked - len(one.unreadable)
    print(f"{name}: {answered:,} of {len(one.subjects):,} answered. {many} in {one.step.table}/")
    if one.step.table == "candidates" and one.written.elsewhere:
        print(f"  {english_count(one.written.elsewhere, 'question')} proposed before, left out")
    if one.ended and one.ended.message:
        print(printable_text(one.ended.message), file=sys.stderr)
    names: Mapping[str, str] = dict(OUTCOMES)  # type: ignore[arg-type]
    for told in one.unreadable[:_NAMED]:
        outcome = names.get(told["outcome"], told["outcome"])
        words = f"  {told['case']}, {told['about']}: {outcome}. {told['why']}"
        print(printable_text(words.rstrip()), file=sys.stderr)
    for told in one.notes[:_NAMED]:
        print(printable_text(f"  {told['case']}, {told['about']}: {told['why']}"), file=sys.stderr)
    if one.unreadable:
        print(
            f"  {english_count(len(one.unreadable), 'answer')} cannot be read: --again asks again."
        )
    if len(one.notes) > _NAMED:
        print(f"  {english_count(len(one.notes), 'answer')} with a note: --json has all.")
    if one.unasked:
        print(f"  {one.unasked:,} without an answer: --resume asks about them.")


def print_requests(
    options: argparse.Namespace,
    steps: Sequence[tuple[CurationStep[Any], Mapping[str, Any], CostEstimate]],
) -> int:
    """Print what would be sent."""
    if options.json:
        print(json.dumps({"steps": [{"step": s.name, **told} for s, told, _ in steps]}, indent=1))
        return 0
    for step, told, estimated in steps:
        if told["first_request"] is None:
            print(f"{step.name}: nothing is left that can be asked.")
            continue
        print(json.dumps(told["first_request"], indent=1))
        if told["continues"]:
            print(f"{step.name}: would go on with {told['continues']}.")
        print(f"{step.name}: {estimated}")
        for figure, source in estimated.sources.items():
            print(printable_text(f"  {figure}: {source}"))
    return 0


_STAND_IN: Final = (
    "Describe position, size and margins of the abnormality in the left lower zone, and "
    "say which diagnosis they speak for."
)
"""Text of questions that are not proposed yet, for estimating their scoring."""


def run_curation(options: argparse.Namespace) -> int:
    """Run the steps in order, until one does not finish.

    Raises
    ------
    RunRefused, RunError
        A step cannot be planned, or its files cannot be written.
    """
    steps = select_steps(options, OPEN_STEPS, options.step)
    if options.dry_run:
        return print_curation_dry_run(options, [(step, options) for step in steps])
    write_missing_parts(options.folder)
    told, _ = run_steps(options, steps, RunBudget.parse(options.budget) if options.budget else None)
    return print_steps(options, told, begun=len(told) == len(steps))


def run_steps(
    options: argparse.Namespace, steps: Sequence[CurationStep[Any]], budget: RunBudget | None
) -> tuple[list[StepResult], RunBudget | None]:
    """Run steps in order until one does not finish; return results and the remaining budget.

    Raises
    ------
    RunRefused, RunError
        A step cannot be planned, or its files cannot be written.
    """
    told: list[StepResult] = []
    for step in steps:
        if budget is not None and not _budget_text(budget):
            told.append(StepResult(step, message="Budget reached: not begun."))
            continue
        done = _run_step(options, step, budget)
        told.append(done)
        if done.ended is not None:
            budget = _remaining_budget(budget, done.ended)
            if done.ended.state != "finished":
                break
    return told, budget


def select_steps(
    options: argparse.Namespace, known: Mapping[str, CurationStep[Any]], names: Sequence[str]
) -> list[CurationStep[Any]]:
    """Return the steps with these names; with ``--resume RUN``, the step of that run.

    Raises
    ------
    RunRefused
        The run does not exist, or belongs to another step.
    """
    if not isinstance(options.resume, str):
        return [known[name] for name in names]
    try:
        spec = read_run_spec(find_run_folder(options.folder, options.resume, CURATING_FOLDER))
    except RunError as error:
        raise RunRefused(str(error)) from None
    found = [step for step in known.values() if belongs_to_step(spec, step)]
    if not found:
        raise RunRefused(f"The run {spec.id} does none of {', '.join(known)}.")
    return found


@dataclass(frozen=True)
class _StepSubjects:
    """The subjects of a step: all of them, the answers so far, and those still to be asked."""

    review_set: ReviewSet
    subjects: list[QuestionSubject]
    said: dict[str, StoredReply]
    left: list[QuestionSubject]
    untold: int = 0


def _find_subjects(options: argparse.Namespace, step: CurationStep[Any]) -> _StepSubjects:
    review_set = open_with_reviews(options.folder)
    untold = 0
    if step is PROPOSE:
        studies = list(find_source_studies(review_set, options.told_from))
        subjects = proposing_subjects(studies, options.candidates)
        untold = len(studies) - len(subjects)
    elif step is PROPOSE_CHOICE:
        studies = list(find_source_studies(review_set))
        subjects = choice_subjects(studies, options.candidates)
        untold = len(studies) - len(subjects)
    elif step is VALIDATE:
        subjects = validating_subjects(choice_questions(review_set))
    else:
        questions = find_open_questions(review_set, edited=options.edited)
        if step is RATE:
            subjects = rating_subjects(review_set, questions, options.told_from)
        else:
            subjects = tagging_subjects(questions)
    said = newest_stored_replies(review_set.folder, CURATING_FOLDER, options.model, step.wording)
    left = [
        one
        for one in subjects
        if one.id not in said or (options.again and not said[one.id].answered)
    ]
    return _StepSubjects(review_set, subjects, said, left, untold)


def _run_step(
    options: argparse.Namespace, step: CurationStep[Any], budget: RunBudget | None
) -> StepResult:
    """Ask about subjects that the model has not answered yet, then store all its answers."""
    about = _find_subjects(options, step)
    if before := len(about.subjects) - len(about.left):
        words = f"{step.name}: {before:,} answered before by {options.model}, not asked again."
        print(printable_text(words), file=sys.stderr)
    if about.untold:
        many = english_count(about.untold, "study")
        looked_for = "report" if step is PROPOSE_CHOICE else _searched_words(options)
        words = f"{many} left out: there is no {looked_for} to tell."
        print(words, file=sys.stderr)
    plan = _plan(options, step, about, budget)
    ended = None
    try:
        if plan.left:
            print(f"{step.name}: {len(plan.left):,} to ask.", file=sys.stderr)
            local = {"yes": options.yes, "download": options.download}
            asking = step.asking(about.subjects, plan.spec)
            ended = run_with_progress(plan, asking, as_lines=options.json, **local)
    finally:  # answers are stored, whatever ended the run
        written = write_parts(load_review_set(options.folder), step)
    said = newest_stored_replies(
        about.review_set.folder, CURATING_FOLDER, options.model, step.wording
    )
    return StepResult(step, about.subjects, said, written, ended, about.untold)


def _searched_words(options: argparse.Namespace) -> str:
    return {
        "findings": "report",
        "indication": "indication",
        None: "report and no indication",
    }[options.told_from]


def _plan(
    options: argparse.Namespace,
    step: CurationStep[Any],
    about: _StepSubjects,
    budget: RunBudget | None,
) -> RunPlan:
    """Plan the run; a named run must use the same model and wording."""
    ids = tuple(one.id for one in about.left)
    subjects = RunSubjects(ids, step.wording, CURATING_FOLDER)
    left = _budget_text(budget) if budget else None
    return plan_subject_run(about.review_set, options, options.model, subjects, budget=left)


def _budget_text(budget: RunBudget) -> str | None:
    """Return a budget as the command parses it; None if nothing is left."""
    number = f"{budget.amount:.6f}" if budget.unit == "USD" else f"{int(budget.amount)}"
    return f"{number}{budget.unit}" if float(number) > 0 else None


def _remaining_budget(budget: RunBudget | None, ended: RunProgress) -> RunBudget | None:
    """Return the budget that remains after a step."""
    if budget is None:
        return None
    used = RunCost.from_json(ended.spent) + RunCost.from_json(ended.unsure)
    return replace(budget, amount=max(0.0, budget.amount - used.of(budget.unit)))


def print_curation_dry_run(
    options: argparse.Namespace, steps: Sequence[tuple[CurationStep[Any], argparse.Namespace]]
) -> int:
    """Print what would be sent; a question not proposed yet counts as one of usual length.

    Each step uses its own options.
    """
    to_come: list[str] = []
    told = []
    for step, own in steps:
        about = _find_subjects(own, step)
        source = "a usual answer, until some have come"
        if step in (PROPOSE, PROPOSE_CHOICE):
            to_come = [one.case for one in about.left for _ in range(options.candidates)]
        elif to_come:
            stand_ins = _stand_ins(own, step, about, to_come)
            about = replace(about, subjects=about.subjects + stand_ins, left=about.left + stand_ins)
            source += f"; {english_count(len(stand_ins), 'question')} not proposed yet"
        plan = _plan(own, step, about, None)
        asking = step.asking(about.subjects, plan.spec)
        estimated = estimate_cost(asking, plan.left, plan.spec.card, source)
        told.append((step, dry_run_report(plan, asking, estimated), estimated))
    return print_requests(options, told)


def _stand_ins(
    options: argparse.Namespace, step: CurationStep[Any], about: _StepSubjects, cases: Sequence[str]
) -> list[QuestionSubject]:
    """Return a placeholder for each question that is not proposed yet."""
    questions = [OpenQuestion(case, f"to come {n}", _STAND_IN) for n, case in enumerate(cases)]
    if step is RATE:
        return rating_subjects(about.review_set, questions, options.told_from)
    if step is TAG:
        return tagging_subjects(questions)
    # a validator reads report and question
    values = dict(about.subjects[0].values) if about.subjects else {}
    return [
        QuestionSubject(one.case, one.about, {**values, "question": _STAND_IN}) for one in questions
    ]


# ``curate --choice``: make multiple choice questions from reports, and check them.


def run_choice_curation(options: argparse.Namespace) -> int:
    """Make questions, check them by rules, then ask the validator, if one is named.

    Raises
    ------
    RunRefused, RunError
        A step cannot be planned, or its files cannot be written.
    """
    names = ["choice", "validate"] if options.validator else ["choice"]
    steps = select_steps(options, CHOICE_STEPS, names)
    own = {step.name: _options_of(options, step is VALIDATE) for step in steps}
    if options.dry_run:
        return print_curation_dry_run(options, [(step, own[step.name]) for step in steps])
    similarity = _similarity(options)
    write_missing_parts(options.folder)
    budget = RunBudget.parse(options.budget) if options.budget else None
    told: list[StepResult] = []
    if PROPOSE_CHOICE not in steps:  # an earlier command may have ended before the rules ran
        _check_by_rules(options.folder, similarity)
    for step in steps:
        done, budget = run_steps(own[step.name], [step], budget)
        told += done
        if step is PROPOSE_CHOICE:
            _check_by_rules(options.folder, similarity)
        if any(one.ended and one.ended.state != "finished" for one in done):
            break
    review_set = open_with_reviews(options.folder)
    every = list(combine_all_checks(review_set).values())
    sample = draw_expert_sample(review_set)
    more = {"questions": _counts(every), "sample": [list(key) for key in sample]}
    status = print_steps(options, told, begun=len(told) == len(steps), more=more)
    if not options.json:
        _print_verdicts(every, len(sample))
    return status


def _options_of(options: argparse.Namespace, validating: bool) -> argparse.Namespace:
    """Return the options of a step: for validation the validator replaces the model."""
    if not validating:
        return options
    return argparse.Namespace(**{**vars(options), "model": options.validator or options.model})


def _similarity(options: argparse.Namespace) -> Similarity | None:
    if not options.embeddings:
        return None
    try:
        own = options.folder if options.folder.is_dir() else None  # a file has no cards next to it
        card = find_card(options.embeddings, own)
        return Embeddings(options.embeddings, card, options.base_url)
    except (AttemptFailed, SettingsError) as fault:
        raise RunRefused(f"--embeddings: {fault}") from None


def _check_by_rules(folder: Path, similarity: Similarity | None) -> None:
    try:
        write_rules(load_review_set(folder), similarity)
    except AttemptFailed as failure:
        raise RunRefused(
            f"--embeddings: {failure} The questions are kept, and not checked yet."
        ) from None


def _counts(every: Sequence[QuestionVerdict]) -> dict[str, Any]:
    failed = Counter(check for one in every for check in {row["check"] for row in one.failed})
    untold = Counter(check for one in every if one.state == "untold" for check in one.untold)
    states = Counter(one.state for one in every)
    return {
        **{state: states[state] for state in ("passed", "failed", "untold")},
        "failed_checks": dict(failed.most_common()),
        "untold_checks": dict(untold.most_common()),
    }


def _print_verdicts(every: Sequence[QuestionVerdict], sampled: int) -> None:
    counts = _counts(every)
    print(
        f"{english_count(len(every), 'question')}: {counts['passed']:,} passed all checks, "
        f"{counts['failed']:,} failed, of {counts['untold']:,} some check cannot tell."
    )
    for name in ("failed_checks", "untold_checks"):
        words = "failed" if name == "failed_checks" else "undecided"
        for check, many in counts[name].items():
            print(f"  {CHECKS.get(check, check)}: {words} {many:,}")
    if counts["untold_checks"]:
        print("What rules cannot tell, a model can (--validator ID), or an expert on page Curate.")
    if sampled:
        print(f"{english_count(sampled, 'question')} for experts to read, on page Curate.")


def check_choice_questions(options: argparse.Namespace) -> int:
    """Check the multiple choice questions of a set, or of a file in any format, by rules.

    Nothing is written. The exit status is 1 if any check failed.

    Raises
    ------
    RunRefused
        There are no such questions.
    ReviewSetError, ImportSourceError
        It cannot be read.
    """
    if options.validator:
        raise RunRefused(
            "--validate-only is by rules; a model checks with --choice --validator ID."
        )
    rows: SetRows | None = None
    try:
        if options.folder.is_dir():
            review_set = load_review_set(options.folder)
        else:
            rows = SetRows("", ProblemLog(), Receipt("auto"))
            read_sources(rows, "auto", [options.folder], {}, out=None, into=False)
            review_set = rows.to_review_set(Path(), "images/")
            _print_import(options.folder.name, rows.log)
        return _print_checks(options, review_set)
    finally:
        if rows is not None:
            rows.close()


def _print_import(name: str, log: ProblemLog) -> None:
    if log.has_errors:
        raise ImportSourceError(f"{name} cannot be read as a whole.", log.problems)
    for words in (*group_alike_problems(log.problems), *log.notes):
        print(printable_text(str(words)), file=sys.stderr)


def _print_checks(options: argparse.Namespace, review_set: ReviewSet) -> int:
    questions = list(find_case_questions(review_set))
    if not questions:
        if review_set.candidates.filter(question_type="choice").is_empty():
            raise RunRefused("There is no multiple choice question.")
        raise RunRefused(
            "The set has no multiple choice case, only candidates: what checks say of these stands "
            "in its folder validations, and `curated --choice` writes those that passed."
        )
    try:
        found = check_questions(questions, _similarity(options))
    except AttemptFailed as failure:
        raise RunRefused(f"--embeddings: {failure}") from None
    if others := review_set.cases.height - len(questions):
        words = f"{english_count(others, 'case')} left out: no multiple choice question."
        print(words, file=sys.stderr)
    status = 1 if any(one.passed is False for _, checks in found for one in checks) else 0
    if options.json:
        told = {"questions": [_as_json(*one) for one in found], "checks": _table(found)}
        print(as_json({**told, "exit": status}))
        return status
    print(f"{english_count(len(found), 'multiple choice question')}, checked by rules")
    print(f"{'check':<44}{'passed':>8}{'failed':>8}{'undecided':>10}")
    for check, row in _table(found).items():
        name = CHECKS[check]
        print(f"{name:<44}{row['passed']:>8,}{row['failed']:>8,}{row['untold']:>10,}")
    failing = [(asked, one) for asked, checks in found for one in checks if one.passed is False]
    for asked, one in failing[:_NAMED]:
        print(printable_text(f"{asked.case}: {CHECKS[one.check]}? {one.reason}"), file=sys.stderr)
    if len(failing) > _NAMED:
        print(f"{len(failing) - _NAMED:,} more: --json has all.", file=sys.stderr)
    return status


def _table(
    found: Iterable[tuple[ChoiceQuestion, Sequence[Check]]],
) -> Mapping[str, Mapping[str, int]]:
    counts = Counter((one.check, one.passed) for _, checks in found for one in checks)
    words: tuple[tuple[str, bool | None], ...] = (
        *(("passed", True), ("failed", False), ("untold", None)),
    )
    return {check: {word: counts[check, value] for word, value in words} for check in CHECKS}


def _as_json(asked: ChoiceQuestion, checks: Sequence[Check]) -> dict[str, Any]:
    return {
        "case": asked.case,
        "checks": {
            one.check: {"passed": one.passed, "defect": one.defect, "reason": one.reason}
            for one in checks
        },
    }
