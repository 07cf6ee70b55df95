"""What ``python -m rexview judge`` takes, what it asks, keeps and says."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rexview.cli.arguments import OWN_SET, new_command
from rexview.cli.judge.chosen import models_wanted, subjects_wanted
from rexview.cli.output import as_json, refusing
from rexview.cli.run.command import (
    add_again,
    add_asking,
    add_chosen_cases,
    add_manner,
    dry_run,
    plan_about,
)
from rexview.cli.run.shown import tell_left
from rexview.errors import FileRefused, RunRefused, SettingsError
from rexview.untrusted_input import printable
from rexview.vocab import TEXT_DIMENSIONS, counted

if TYPE_CHECKING:
    from rexview.judge.opinions import KnownOpinions as Known
    from rexview.judge.subjects import JudgeSubject as Subject
    from rexview.models.backend import Prompt
    from rexview.models.running.progress import Progress
    from rexview.schema import ReviewSet


def add_judge(commands: Any) -> None:
    """Add the command ``judge``."""
    purpose = "ask a language model for a second opinion on the models' answers"
    parser = new_command(commands, "judge", _judge, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET)
    argument("--judge", required=True, metavar="MODEL", help="the model that judges")
    model = "whose answers are judged, several times for several; all without it"
    argument("--model", action="append", metavar="ID", help=model)
    add_chosen_cases(parser)
    argument("--failures", action="store_true", help="ask about failures only")
    argument("--scores", action="store_true", help="ask for scores only; both without either")
    argument("--prompt", metavar="NAME", help="a wording of the set's folder prompts/judge")
    written = "find answers with a failure in words, of the page Failures or prompts/failures"
    argument("--written", metavar="NAME", help=written)
    add_asking(argument)
    resume = "go on with the newest run of this judge, or with the one that is named"
    again = "ask again about answers that the judge refused, or gave no readable opinion on"
    add_again(parser, resume, again)
    add_manner(argument)


@dataclass(frozen=True)
class _Asked:
    """What is asked about: the subjects, and how many answers of the chosen cases are none."""

    review_set: ReviewSet
    judge: str
    prompt: Prompt
    subjects: tuple[Subject, ...]
    without: int


@refusing(RunRefused, SettingsError)
def _judge(options: argparse.Namespace) -> int:
    if options.written is not None:
        from rexview.cli.judge.written import find_failure

        return find_failure(options)
    return _ask(options)


def _ask(options: argparse.Namespace) -> int:
    """Ask about what the judge has not said yet, then keep all that it said."""
    from rexview.analysis.run_models.run_request import RunSubjects as Subjects
    from rexview.cli.run.work import ask
    from rexview.judge.opinions import (
        check_opinions_can_be_kept as check_set,
    )
    from rexview.judge.opinions import (
        read_known_opinions as known_of,
    )
    from rexview.judge.request import build_opinion_asking as asking_of
    from rexview.models.running.estimate import estimate
    from rexview.settings import load_settings

    asked = _asked(options)
    check_set(asked.review_set.folder)
    if not asked.subjects:
        print("There is no answer to judge.", file=sys.stderr)
        return 1
    known = known_of(asked.review_set, asked.judge, asked.prompt)
    left = [
        part for one in asked.subjects if (part := known.left(one, again=options.again)) is not None
    ]
    if before := len(asked.subjects) - len(left):
        words = f"{counted(before, 'answer')} judged before by {asked.judge}, not asked again."
        print(printable(words), file=sys.stderr)
    subjects = Subjects(tuple(one.id for one in left), asked.prompt)
    plan = plan_about(asked.review_set, options, asked.judge, subjects, budget=options.budget)
    asking = asking_of(asked.review_set, left, plan.spec, load_settings())
    if options.dry_run:
        source = "a sentence for each thing that is asked, until some have come"
        return dry_run(plan, asking, estimate(asking, plan.left, plan.spec.card, source), options)
    local = {"yes": options.yes, "download": options.download}
    ended = ask(plan, asking, as_lines=options.json, **local) if plan.left else None
    return _keep(options, asked, known, ended)


def _asked(options: argparse.Namespace) -> _Asked:
    """Find out what is asked, and about which answers.

    Raises
    ------
    RunRefused, SettingsError
    """
    from rexview.analysis.study import rubric_of
    from rexview.judge.request import find_wording
    from rexview.judge.subjects import FAILURES, shows_report
    from rexview.reviewset import load

    review_set = load(options.folder)
    prompt = find_wording(options.prompt, review_set.folder)
    models = models_wanted(options, review_set)
    try:
        rubric = rubric_of(review_set)
    except (OSError, FileRefused) as error:
        raise RunRefused(f"{review_set.info.rubric} cannot be used: {error}") from None
    both = options.failures == options.scores
    scored = [one for one in TEXT_DIMENSIONS if one in rubric]
    if not scored and options.scores:
        raise RunRefused("--scores: the set's rubric has no dimension of texts.")
    wanted = [
        *(FAILURES if both or options.failures else ()),
        *(scored if both or options.scores else ()),
    ]
    subjects, without = subjects_wanted(options, review_set, models, rubric, wanted)
    if not shows_report(review_set) and "omission" in wanted:
        print(
            "The rules of the study show no reader the report: the judge does not get it, and is "
            "not asked for missed findings.",
            file=sys.stderr,
        )
    return _Asked(review_set, options.judge, prompt, subjects, without)


def _keep(options: argparse.Namespace, asked: _Asked, before: Known, ended: Progress | None) -> int:
    """Write all that the judge has said; say what is missing.

    What it says is not counted here: beside such a number has to stand how far it agrees with
    readers, which the pages and ``stats`` work out.
    """
    from rexview.judge.opinions import read_known_opinions as known_of
    from rexview.judge.opinions import write_opinions

    review_set = asked.review_set
    written = write_opinions(review_set, asked.judge, asked.prompt)
    known = known_of(review_set, asked.judge, asked.prompt)
    unread = [
        {
            "case": one.about.case,
            "model": one.about.model,
            "outcome": found.outcome,
            "why": found.why,
        }
        for one in asked.subjects
        if (found := known.unread(one)) is not None
    ]
    unasked = sum(known.left(one) is not None for one in asked.subjects)
    status = 1 if unread or unasked else 0
    if options.json:
        told = {
            "judge": asked.judge,
            "prompt": asked.prompt.id,
            "files": written.files,
            "opinions": written.opinions,
            "answers": written.answers,
            "quotes": written.quotes,
            "quotes_not_in_answer": written.lost,
            "given_elsewhere": len(before.given),
            "never_came": asked.without,
            "unreadable": unread,
            "unasked": unasked,
        }
        print(as_json({**told, "run": asdict(ended) if ended else None, "exit": status}))
        return status
    if written.opinions:
        words = f"{counted(written.opinions, 'opinion')} on {counted(written.answers, 'answer')}"
        print(
            printable(f"{words} by {asked.judge} ({asked.prompt.id}): {', '.join(written.files)}")
        )
    if written.lost:
        print(f"  {written.lost:,} of {counted(written.quotes, 'quote')} not in the answer")
    if before.given:
        print(f"  {counted(len(before.given), 'opinion')} given by other files, not asked for")
    if asked.without:
        print(f"  {counted(asked.without, 'answer')} never came or without words, not judged")
    words = f"{counted(unasked, 'answer')} without an opinion" if unasked else ""
    tell_left(ended, unread, words)
    return status
