"""The steps of ``curate``: each a run of its own, whose answers become a part of the set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rexview.analysis.run_models.run_request import RunSubjects
from rexview.cli.curate.opened import STEP, mend_parts, opened
from rexview.cli.curate.told import StepTold, tell, tell_would_send
from rexview.cli.run.command import plan_about, would_send
from rexview.cli.run.work import ask
from rexview.curation.asking import QuestionSubject, Step
from rexview.curation.choice.proposing import PROPOSE_CHOICE
from rexview.curation.choice.proposing import choice_proposing_subjects as choice_subjects
from rexview.curation.choice.validation import VALIDATE
from rexview.curation.choice.validation import choice_questions_of as choice_questions
from rexview.curation.choice.validation import validation_subjects as validating_subjects
from rexview.curation.proposing import PROPOSE, proposing_subjects
from rexview.curation.questions import (
    OpenQuestion,
    is_of_step,
    questions_of,
    rating_subjects,
    tagging_subjects,
    write_parts,
)
from rexview.curation.rating import RATE
from rexview.curation.studies import studies_of
from rexview.curation.tagging import TAG
from rexview.errors import RunError, RunRefused
from rexview.models.running.estimate import estimate
from rexview.models.running.folder import CURATING, run_folder
from rexview.models.running.journal import KeptReply, kept_replies
from rexview.models.running.progress import Progress
from rexview.models.running.run import RunPlan
from rexview.models.running.spec import Budget, Spent, read_spec
from rexview.reviewset import load
from rexview.schema import ReviewSet
from rexview.untrusted_input import printable
from rexview.vocab import counted

_STAND_IN: Final = (
    "Describe position, size and margins of the abnormality in the left lower zone, and "
    "say which diagnosis they speak for."
)
"""In place of questions that are not proposed yet, when their scoring is estimated."""


def curate(options: argparse.Namespace) -> int:
    """Do the steps in order, as long as each comes to its end.

    Raises
    ------
    RunRefused, RunError
    """
    steps = wanted_steps(options, STEP, options.step)
    if options.dry_run:
        return dry_run(options, [(step, options) for step in steps])
    mend_parts(options.folder)
    told, _ = do_steps(options, steps, Budget.parse(options.budget) if options.budget else None)
    return tell(options, told, begun=len(told) == len(steps))


def do_steps(
    options: argparse.Namespace, steps: Sequence[Step[Any]], budget: Budget | None
) -> tuple[list[StepTold], Budget | None]:
    """Do some steps in order, until one does not come to its end; return what is left of a budget.

    Raises
    ------
    RunRefused, RunError
    """
    told: list[StepTold] = []
    for step in steps:
        if budget is not None and not _in_words(budget):
            told.append(StepTold(step, message="Budget reached: not begun."))
            continue
        done = _do(options, step, budget)
        told.append(done)
        if done.ended is not None:
            budget = _left(budget, done.ended)
            if done.ended.state != "finished":
                break
    return told, budget


def wanted_steps(
    options: argparse.Namespace, known: Mapping[str, Step[Any]], names: Sequence[str]
) -> list[Step[Any]]:
    """Return the steps of some names; where a run is named, the one of those known that it is of.

    Raises
    ------
    RunRefused
        There is no such run, or it is of none of them.
    """
    if not isinstance(options.resume, str):
        return [known[name] for name in names]
    try:
        spec = read_spec(run_folder(options.folder, options.resume, CURATING))
    except RunError as error:
        raise RunRefused(str(error)) from None
    found = [step for step in known.values() if is_of_step(spec, step)]
    if not found:
        raise RunRefused(f"The run {spec.id} does none of {', '.join(known)}.")
    return found


@dataclass(frozen=True)
class _About:
    """What a step asks about: all of it, what was said of that, and what is still to be asked."""

    review_set: ReviewSet
    subjects: list[QuestionSubject]
    said: dict[str, KeptReply]
    left: list[QuestionSubject]
    untold: int = 0


def _about(options: argparse.Namespace, step: Step[Any]) -> _About:
    review_set = opened(options.folder)
    untold = 0
    if step is PROPOSE:
        studies = list(studies_of(review_set, options.told_from))
        subjects = proposing_subjects(studies, options.candidates)
        untold = len(studies) - len(subjects)
    elif step is PROPOSE_CHOICE:
        studies = list(studies_of(review_set))
        subjects = choice_subjects(studies, options.candidates)
        untold = len(studies) - len(subjects)
    elif step is VALIDATE:
        subjects = validating_subjects(choice_questions(review_set))
    else:
        questions = questions_of(review_set, edited=options.edited)
        if step is RATE:
            subjects = rating_subjects(review_set, questions, options.told_from)
        else:
            subjects = tagging_subjects(questions)
    said = kept_replies(review_set.folder, CURATING, options.model, step.wording)
    left = [
        one
        for one in subjects
        if one.id not in said or (options.again and not said[one.id].answered)
    ]
    return _About(review_set, subjects, said, left, untold)


def _do(options: argparse.Namespace, step: Step[Any], budget: Budget | None) -> StepTold:
    """Ask about what the model has not answered yet, then keep all that it said."""
    about = _about(options, step)
    if before := len(about.subjects) - len(about.left):
        words = f"{step.name}: {before:,} answered before by {options.model}, not asked again."
        print(printable(words), file=sys.stderr)
    if about.untold:
        many = counted(about.untold, "study")
        looked_for = "report" if step is PROPOSE_CHOICE else _looked_for(options)
        words = f"{many} left out: there is no {looked_for} to tell."
        print(words, file=sys.stderr)
    plan = _plan(options, step, about, budget)
    ended = None
    try:
        if plan.left:
            print(f"{step.name}: {len(plan.left):,} to ask.", file=sys.stderr)
            local = {"yes": options.yes, "download": options.download}
            asking = step.asking(about.subjects, plan.spec)
            ended = ask(plan, asking, as_lines=options.json, **local)
    finally:  # what came is kept, whatever ended it
        written = write_parts(load(options.folder), step)
    said = kept_replies(about.review_set.folder, CURATING, options.model, step.wording)
    return StepTold(step, about.subjects, said, written, ended, about.untold)


def _looked_for(options: argparse.Namespace) -> str:
    return {
        "findings": "report",
        "indication": "indication",
        None: "report and no indication",
    }[options.told_from]


def _plan(
    options: argparse.Namespace, step: Step[Any], about: _About, budget: Budget | None
) -> RunPlan:
    """Plan the run; one that is named must have asked this model in these words."""
    ids = tuple(one.id for one in about.left)
    subjects = RunSubjects(ids, step.wording, CURATING)
    left = _in_words(budget) if budget else None
    return plan_about(about.review_set, options, options.model, subjects, budget=left)


def _in_words(budget: Budget) -> str | None:
    """Write a budget as the command takes it; None where nothing is left of it."""
    number = f"{budget.amount:.6f}" if budget.unit == "USD" else f"{int(budget.amount)}"
    return f"{number}{budget.unit}" if float(number) > 0 else None


def _left(budget: Budget | None, ended: Progress) -> Budget | None:
    """Return what a step leaves of the budget for the next one."""
    if budget is None:
        return None
    used = Spent.from_json(ended.spent) + Spent.from_json(ended.unsure)
    return replace(budget, amount=max(0.0, budget.amount - used.of(budget.unit)))


def dry_run(
    options: argparse.Namespace, steps: Sequence[tuple[Step[Any], argparse.Namespace]]
) -> int:
    """Say what would be sent; questions that are not there yet count as a usual one each.

    Each step is asked as its own options say.
    """
    to_come: list[str] = []
    told = []
    for step, own in steps:
        about = _about(own, step)
        source = "a usual answer, until some have come"
        if step in (PROPOSE, PROPOSE_CHOICE):
            to_come = [one.case for one in about.left for _ in range(options.candidates)]
        elif to_come:
            stand_ins = _stand_ins(own, step, about, to_come)
            about = replace(about, subjects=about.subjects + stand_ins, left=about.left + stand_ins)
            source += f"; {counted(len(stand_ins), 'question')} not proposed yet"
        plan = _plan(own, step, about, None)
        asking = step.asking(about.subjects, plan.spec)
        estimated = estimate(asking, plan.left, plan.spec.card, source)
        told.append((step, would_send(plan, asking, estimated), estimated))
    return tell_would_send(options, told)


def _stand_ins(
    options: argparse.Namespace, step: Step[Any], about: _About, cases: Sequence[str]
) -> list[QuestionSubject]:
    """Return a question in place of each that is still to be proposed."""
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
