"""``python -m rexview judge``: a language model's second opinion on answers; and ``written``.

``judge --written NAME`` asks about a failure in a clinician's words; ``written`` samples the
results. Exit status: 0 the judge has answered everything, 1 something is missing, 2 the command
cannot run with these options.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from rexview.cli.arguments import OWN_SET_ARGUMENT, new_command, parse_path
from rexview.cli.output import as_json, print_remaining, reporting_errors
from rexview.cli.run import (
    add_case_options,
    add_model_options,
    add_output_options,
    add_repeat_options,
    plan_subject_run,
    print_dry_run,
    selected_case_ids,
)
from rexview.errors import FileRefused, RunRefused, SettingsError, StoreError
from rexview.untrusted_input import printable_text
from rexview.vocab import TEXT_DIMENSIONS, english_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rexview.analysis.written_results import ValidationResult as Validated
    from rexview.judge.opinions import KnownOpinions as Known
    from rexview.judge.subjects import JudgeSubject as Subject
    from rexview.judge.written import JudgedAnswer, WrittenResults
    from rexview.judge.written.validation import GroupShare
    from rexview.models.backend import Prompt
    from rexview.models.running.run_progress import RunProgress
    from rexview.rubric import RubricDimension
    from rexview.schema import Answer, Case, ReviewSet


# The answers that a judge is asked about, by ``--cases``, ``--filter`` and ``--model``.


def select_models(options: argparse.Namespace, review_set: ReviewSet) -> list[str]:
    """Return the models whose answers are judged.

    Raises
    ------
    RunRefused
        The set has no model with that name.
    """
    models: list[str] = options.model or [model.id for model in review_set.models]
    if unknown := [one for one in models if one not in review_set.model_names]:
        there = ", ".join(review_set.model_names)
        raise RunRefused(f"--model: there is no model {unknown[0]!r:.80}. There are {there:.300}.")
    return models


def select_subjects(
    options: argparse.Namespace,
    review_set: ReviewSet,
    models: Sequence[str],
    rubric: Mapping[str, RubricDimension],
    wanted: Sequence[str],
) -> tuple[tuple[Subject, ...], int]:
    """Return the answers to judge, and how many of the selected cases' answers cannot be judged.

    Raises
    ------
    RunRefused
        A case is not in the set, or no answer is left.
    """
    from rexview.analysis.case.blinding import build_blinded_page
    from rexview.judge.subjects import find_judge_subjects

    cases = selected_case_ids(options, review_set)
    ids = review_set.cases["id"].to_list() if cases is None else list(cases)
    if unknown := [one for one in ids if review_set.case_row(one) is None]:
        raise RunRefused(f"These cases are not in the review set: {', '.join(unknown[:5]):.300}")

    answers = 0

    def blinded(case_id: str) -> tuple[Case, Sequence[Answer]] | None:
        nonlocal answers
        page = build_blinded_page(review_set, case_id, {model: model for model in models})
        if page is None:
            return None
        answers += len(page.answers)
        return page.case, page.answers

    subjects = tuple(find_judge_subjects(review_set, ids, blinded, rubric, wanted))
    return subjects, answers - len(subjects)


def add_judge(commands: Any) -> None:
    """Add the command ``judge``."""
    purpose = "ask a language model for a second opinion on the models' answers"
    parser = new_command(commands, "judge", _judge, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET_ARGUMENT)
    argument("--judge", required=True, metavar="MODEL", help="the model that judges")
    model = "whose answers are judged, several times for several; all without it"
    argument("--model", action="append", metavar="ID", help=model)
    add_case_options(parser)
    argument("--failures", action="store_true", help="ask about failures only")
    argument("--scores", action="store_true", help="ask for scores only; both without either")
    argument("--prompt", metavar="NAME", help="a wording of the set's folder prompts/judge")
    written = "find answers with a failure in words, of the page Failures or prompts/failures"
    argument("--written", metavar="NAME", help=written)
    add_model_options(argument)
    resume = "go on with the newest run of this judge, or with the one that is named"
    again = "ask again about answers that the judge refused, or gave no readable opinion on"
    add_repeat_options(parser, resume, again)
    add_output_options(argument)


@dataclass(frozen=True)
class _JudgeSubjects:
    """The subjects to judge, and how many answers of the selected cases cannot be judged."""

    review_set: ReviewSet
    judge: str
    prompt: Prompt
    subjects: tuple[Subject, ...]
    without: int


@reporting_errors(RunRefused, SettingsError)
def _judge(options: argparse.Namespace) -> int:
    if options.written is not None:
        return judge_written_failure(options)
    return _run_judge(options)


def _run_judge(options: argparse.Namespace) -> int:
    """Ask about subjects that the judge has not answered yet, then store all its answers."""
    from rexview.analysis.run_models.run_request import RunSubjects as Subjects
    from rexview.cli.foreground_run import run_with_progress as ask
    from rexview.judge.opinions import (
        check_opinions_can_be_kept as check_set,
    )
    from rexview.judge.opinions import (
        read_known_opinions as known_of,
    )
    from rexview.judge.request import build_opinion_asking as asking_of
    from rexview.models.running.cost_estimate import estimate_cost
    from rexview.settings import load_settings

    asked = _find_judge_subjects(options)
    check_set(asked.review_set.folder)
    if not asked.subjects:
        print("There is no answer to judge.", file=sys.stderr)
        return 1
    known = known_of(asked.review_set, asked.judge, asked.prompt)
    left = [
        part for one in asked.subjects if (part := known.left(one, again=options.again)) is not None
    ]
    if before := len(asked.subjects) - len(left):
        words = (
            f"{english_count(before, 'answer')} judged before by {asked.judge}, not asked again."
        )
        print(printable_text(words), file=sys.stderr)
    subjects = Subjects(tuple(one.id for one in left), asked.prompt)
    plan = plan_subject_run(asked.review_set, options, asked.judge, subjects, budget=options.budget)
    asking = asking_of(asked.review_set, left, plan.spec, load_settings())
    if options.dry_run:
        source = "a sentence for each thing that is asked, until some have come"
        return print_dry_run(
            plan, asking, estimate_cost(asking, plan.left, plan.spec.card, source), options
        )
    local = {"yes": options.yes, "download": options.download}
    ended = ask(plan, asking, as_lines=options.json, **local) if plan.left else None
    return _store_opinions(options, asked, known, ended)


def _find_judge_subjects(options: argparse.Namespace) -> _JudgeSubjects:
    """Find the wording and the answers to judge.

    Raises
    ------
    RunRefused, SettingsError
        A model, a case or the wording does not exist or cannot be used.
    """
    from rexview.analysis.query.study_tasks import read_study_rubric
    from rexview.judge.request import find_wording
    from rexview.judge.subjects import FAILURES, shows_report
    from rexview.reviewset import load_review_set

    review_set = load_review_set(options.folder)
    prompt = find_wording(options.prompt, review_set.folder)
    models = select_models(options, review_set)
    try:
        rubric = read_study_rubric(review_set)
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
    subjects, without = select_subjects(options, review_set, models, rubric, wanted)
    if not shows_report(review_set) and "omission" in wanted:
        print(
            "The rules of the study show no reader the report: the judge does not get it, and is "
            "not asked for missed findings.",
            file=sys.stderr,
        )
    return _JudgeSubjects(review_set, options.judge, prompt, subjects, without)


def _store_opinions(
    options: argparse.Namespace, asked: _JudgeSubjects, before: Known, ended: RunProgress | None
) -> int:
    """Write all the judge's answers; report what is missing.

    Its answers are not counted here: such a number needs its agreement with readers next to it,
    which the pages and ``stats`` compute.
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
        opinions = english_count(written.opinions, "opinion")
        words = f"{opinions} on {english_count(written.answers, 'answer')}"
        print(
            printable_text(
                f"{words} by {asked.judge} ({asked.prompt.id}): {', '.join(written.files)}"
            )
        )
    if written.lost:
        print(f"  {written.lost:,} of {english_count(written.quotes, 'quote')} not in the answer")
    if before.given:
        print(
            f"  {english_count(len(before.given), 'opinion')} given by other files, not asked for"
        )
    if asked.without:
        print(f"  {english_count(asked.without, 'answer')} never came or without words, not judged")
    words = f"{english_count(unasked, 'answer')} without an opinion" if unasked else ""
    print_remaining(ended, unread, words)
    return status


# ``judge --written NAME``: find answers with a failure that a clinician described in words.

_VERSION: Final = 12
"""Number of digits shown of a version's digest."""
JUDGED: Final = "Found by a language model; `python -m rexview written` has a sample to validate."


def judge_written_failure(options: argparse.Namespace) -> int:
    """Ask about answers that have not been judged in these words yet; report the findings.

    Raises
    ------
    RunRefused, SettingsError
        The failure does not exist, or nothing can be asked with these options.
    """
    from rexview.analysis.run_models.run_request import RunSubjects as Subjects
    from rexview.analysis.written_failures import find_failure_wording as find_words
    from rexview.cli.foreground_run import run_with_progress as ask
    from rexview.judge.subjects import WRITTEN
    from rexview.judge.written import build_written_asking as asking_of
    from rexview.judge.written import (
        collect_written_results,
        find_written_replies,
        select_open_subjects,
    )
    from rexview.models.running.cost_estimate import estimate_cost
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings

    if options.failures or options.scores or options.prompt:
        raise RunRefused(
            "--written asks about that failure alone: leave --failures, --scores and --prompt out."
        )
    review_set, settings = load_review_set(options.folder), load_settings()
    prompt = find_words(review_set, settings, options.written)
    models = select_models(options, review_set)
    subjects, without = select_subjects(options, review_set, models, {}, (WRITTEN,))
    if not subjects:
        print("There is no answer to judge.", file=sys.stderr)
        return 1
    known = find_written_replies(review_set, options.judge, prompt)
    left = select_open_subjects(subjects, known, again=options.again)
    if before := len(subjects) - len(left):
        words = (
            f"{english_count(before, 'answer')} judged before by {options.judge}, not asked again."
        )
        print(printable_text(words), file=sys.stderr)
    plan = plan_subject_run(
        review_set,
        options,
        options.judge,
        Subjects(tuple(one.id for one in left), prompt),
        budget=options.budget,
    )
    asking = asking_of(review_set, left, plan.spec, settings)
    if options.dry_run:
        source = "a word, a sentence and a quote, until some have come"
        return print_dry_run(
            plan, asking, estimate_cost(asking, plan.left, plan.spec.card, source), options
        )
    local = {"yes": options.yes, "download": options.download}
    ended = ask(plan, asking, as_lines=options.json, **local) if plan.left else None
    results = collect_written_results(
        subjects, find_written_replies(review_set, options.judge, prompt)
    )
    return _print_written_results(options, prompt, results, without, ended)


def _print_written_results(
    options: argparse.Namespace,
    prompt: Prompt,
    results: WrittenResults,
    without: int,
    ended: RunProgress | None,
) -> int:
    """Print how many answers have the failure and what is missing; return the exit status."""
    from rexview.judge.written import JUDGE_REPLIES, find_written_name

    unread = [
        {"case": about.case, "model": about.model, "outcome": reply.outcome, "why": reply.why}
        for about, reply in results.unread
    ]
    status = 1 if unread or results.unasked else 0
    count: dict[str, int] = {one: results.count(one) for one in JUDGE_REPLIES}
    lost = sum(one.quote_found is False for one in results.said)
    if options.json:
        told = {
            "failure": find_written_name(prompt),
            "name": prompt.name,
            "version": prompt.hash,
            "judge": options.judge,
            "note": JUDGED,
            **count,
            "quotes_not_in_answer": lost,
            "said": [_row(one) for one in results.said],
            "never_came": without,
            "unreadable": unread,
            "unasked": len(results.unasked),
        }
        print(as_json({**told, "run": asdict(ended) if ended else None, "exit": status}))
        return status
    if results.said:
        version = prompt.hash[:_VERSION]
        print(
            printable_text(
                f"{prompt.name} ({find_written_name(prompt)}, version {version}) "
                f"by {options.judge}:"
            )
        )
        print(
            f"  found in {count['yes']:,} of {english_count(len(results.said), 'answer')} judged; "
            f"{count['no']:,} without, {count['unsure']:,} unsure"
        )
        print(f"  {JUDGED}")
        for one in results.said:
            if one.found.said == "yes":
                print(printable_text(f"  {_line(one)}"))
    if lost:
        print(f"  {english_count(lost, 'quote')} not in the answer")
    if without:
        print(f"  {english_count(without, 'answer')} never came or without words, not judged")
    unasked = len(results.unasked)
    print_remaining(
        ended, unread, f"{english_count(unasked, 'answer')} not judged" if unasked else ""
    )
    return status


def _row(one: JudgedAnswer) -> dict[str, Any]:
    return {
        "case": one.about.case,
        "model": one.about.model,
        "answer_digest": one.about.answer_digest,
        "said": one.found.said,
        "reason": one.found.reason,
        "quote": one.found.quote,
        "quote_found": one.quote_found,
        "run": one.run,
        "created": one.created,
    }


def _line(one: JudgedAnswer) -> str:
    quote = f": “{' '.join(one.found.quote.split()):.200}”" if one.found.quote else ""
    lost = " (not in the answer)" if one.quote_found is False else ""
    return f"{one.about.case}, {one.about.model}{quote}{lost}"


# ``python -m rexview written``: findings of a failure in words, and a sample to validate them.
#
# Nothing is sent. Exit status: 0 done, 1 nothing was judged yet, 2 the command cannot run with
# these options.

_EACH: Final = 50


def add_written(commands: Any) -> None:
    """Add the command ``written``."""
    purpose = "what a judge found of a written failure, and a sample of it to validate"
    parser = new_command(commands, "written", _written, purpose)
    argument = parser.add_argument
    argument("folder", **OWN_SET_ARGUMENT)
    argument("failure", metavar="NAME", help="the failure; NAME@VERSION in earlier words")
    argument("--judge", required=True, metavar="MODEL", help="the model that judged")
    model = "whose answers, several times for several; all without it"
    argument("--model", action="append", metavar="ID", help=model)
    add_case_options(parser)
    one = parser.add_mutually_exclusive_group()
    words = "draw a sample and write it as CSV, to be filled in"
    one.add_argument("--sheet", type=parse_path, metavar="FILE", help=words)
    words = "a sheet that a clinician filled in: precision, and what is missed"
    one.add_argument("--validated", type=parse_path, metavar="FILE", help=words)
    words = f"of those found so many in the sample (default: {_EACH})"
    argument("--found", type=_count, default=_EACH, metavar="N", help=words)
    words = f"of those judged and not found (default: {_EACH})"
    argument("--not-found", type=_count, default=_EACH, metavar="N", help=words)
    argument("--seed", type=_count, default=0, metavar="N", help="of the sample (default: 0)")
    argument("--json", action="store_true", help="one JSON object")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no whole number from 0")
    return int(text)


@reporting_errors(RunRefused, SettingsError, StoreError)
def _written(options: argparse.Namespace) -> int:
    """Count the findings, draw a sample, or evaluate a filled-in one."""
    from rexview.analysis.written_failures import find_failure_wording
    from rexview.analysis.written_results import VALIDATION_KIND as KIND
    from rexview.analysis.written_results import (
        count_verdicts,
        load_judge_results,
    )
    from rexview.judge.subjects import WRITTEN
    from rexview.judge.written import (
        collect_written_results,
        find_written_name,
        find_written_replies,
    )
    from rexview.judge.written.validation import (
        GROUPS,
        draw_samples,
        read_sheet,
        write_sheet,
    )
    from rexview.reviewset import load_review_set
    from rexview.settings import load_settings
    from rexview.store import open_reviews

    review_set, settings = load_review_set(options.folder), load_settings()
    prompt = find_failure_wording(review_set, settings, options.failure)
    models = select_models(options, review_set)
    subjects, _ = select_subjects(options, review_set, models, {}, (WRITTEN,))
    results = collect_written_results(
        subjects, find_written_replies(review_set, options.judge, prompt)
    )
    if not results.said:
        print(
            printable_text(f"{options.judge} has judged none of these answers in these words."),
            file=sys.stderr,
        )
        return 1
    shares: tuple[GroupShare, ...] = ()
    if options.validated:
        shares = read_sheet(options.validated, results, prompt.hash, options.judge)
    if options.sheet:
        wanted = dict(zip(GROUPS, (options.found, options.not_found), strict=True))
        drawn = draw_samples(results, prompt.hash, options.judge, wanted, options.seed)
        text = write_sheet(drawn, results, subjects, prompt.hash, options.judge, options.seed)
        _write(options.sheet, text)
    rows = open_reviews(review_set, settings).current(KIND)
    on_pages = count_verdicts(load_judge_results(review_set, prompt, options.judge), rows)
    found, judged = results.count("yes"), len(results.said)
    if options.json:
        told = {
            "failure": find_written_name(prompt),
            "name": prompt.name,
            "version": prompt.hash,
            "judge": options.judge,
            "found": found,
            "judged": judged,
            "unsure": results.count("unsure"),
            "unreadable": len(results.unread),
            "unasked": len(results.unasked),
            "validated": [{**asdict(one), "share": one.share} for one in shares] or None,
            "validated_on_pages": [_on_pages(one) for one in on_pages] or None,
        }
        print(as_json(told))
        return 0
    print(
        printable_text(
            f"{prompt.name}: found in {found:,} of {english_count(judged, 'answer')} "
            f"by {options.judge}, a language model"
        )
    )
    for one in shares:
        print(f"  {_words(one)}")
    for of_person in on_pages:
        who = of_person.who or f"all together, {of_person.differ:,} differ"
        print(printable_text(f"  On the page Failures, {who}, over all answers judged:"))
        for one in (of_person.found, of_person.not_found):
            print(f"    {_words(one)}")
    if not shares and not on_pages:
        print("  not validated yet")
    for count, words in ((len(results.unread), "cannot be read"), (len(results.unasked), "open")):
        if count:
            print(f"  {english_count(count, 'answer')} {words}")
    if options.sheet:
        print(printable_text(f"Fill in has_it (yes, no, unsure): {options.sheet}"))
    return 0


def _on_pages(one: Validated) -> dict[str, Any]:
    shares = {"found": one.found, "not_found": one.not_found}
    each = {name: {**asdict(share), "share": share.share} for name, share in shares.items()}
    return {"who": one.who, "differ": one.differ, **each}


def _words(one: GroupShare) -> str:
    what = "precision" if one.group == "found" else "of those not found, with the failure"
    rest = ", ".join(
        f"{count:,} {word}"
        for count, word in ((one.unsure, "unsure"), (one.unread, "unread"))
        if count
    )
    rest = f"; {rest}" if rest else ""
    interval = one.interval
    if one.share is None or interval is None or interval.low is None or interval.high is None:
        return f"{what}: not validated yet ({one.of:,} in all{rest})"
    told = one.yes + one.no
    low, high = 100 * interval.low, 100 * interval.high
    return (
        f"{what}: {100 * one.share:.0f}% (95% CI {low:.0f} to {high:.0f}), "
        f"{one.yes:,} of {told:,} read of {one.of:,}{rest}"
    )


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8", newline="") as out:
            out.write(f"\ufeff{text}")  # spreadsheets recognise UTF-8 by it
    except FileExistsError:
        raise RunRefused(f"{file} is there already: name another file.") from None
    except OSError as error:
        raise RunRefused(f"{file} cannot be written ({error.strerror}).") from None
