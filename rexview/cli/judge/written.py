"""``judge --written NAME``: answers that have a failure which a clinician wrote in words."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rexview.cli.judge.chosen import models_wanted, subjects_wanted
from rexview.cli.output import as_json
from rexview.cli.run.command import dry_run, plan_about
from rexview.cli.run.shown import tell_left
from rexview.errors import RunRefused
from rexview.untrusted_input import printable
from rexview.vocab import counted

if TYPE_CHECKING:
    import argparse

    from rexview.judge.written import Candidate, WrittenResults
    from rexview.models.backend import Prompt
    from rexview.models.running.progress import Progress

_VERSION: Final = 12
"""As many figures of a version's digest are shown."""
JUDGED: Final = "Found by a language model; `python -m rexview written` has a sample to validate."


def find_failure(options: argparse.Namespace) -> int:
    """Ask about the answers that have not been judged in these words yet; say what was found.

    Raises
    ------
    RunRefused, SettingsError
    """
    from rexview.analysis.run_models.run_request import RunSubjects as Subjects
    from rexview.analysis.written_failures import find_failure as find_words
    from rexview.cli.run.work import ask
    from rexview.judge.subjects import WRITTEN
    from rexview.judge.written import build_written_asking as asking_of
    from rexview.judge.written import left_to_ask, replies_about, results_of
    from rexview.models.running.estimate import estimate
    from rexview.reviewset import load
    from rexview.settings import load_settings

    if options.failures or options.scores or options.prompt:
        raise RunRefused(
            "--written asks about that failure alone: leave --failures, --scores and --prompt out."
        )
    review_set, settings = load(options.folder), load_settings()
    prompt = find_words(review_set, settings, options.written)
    models = models_wanted(options, review_set)
    subjects, without = subjects_wanted(options, review_set, models, {}, (WRITTEN,))
    if not subjects:
        print("There is no answer to judge.", file=sys.stderr)
        return 1
    known = replies_about(review_set, options.judge, prompt)
    left = left_to_ask(subjects, known, again=options.again)
    if before := len(subjects) - len(left):
        words = f"{counted(before, 'answer')} judged before by {options.judge}, not asked again."
        print(printable(words), file=sys.stderr)
    plan = plan_about(
        review_set,
        options,
        options.judge,
        Subjects(tuple(one.id for one in left), prompt),
        budget=options.budget,
    )
    asking = asking_of(review_set, left, plan.spec, settings)
    if options.dry_run:
        source = "a word, a sentence and a quote, until some have come"
        return dry_run(plan, asking, estimate(asking, plan.left, plan.spec.card, source), options)
    local = {"yes": options.yes, "download": options.download}
    ended = ask(plan, asking, as_lines=options.json, **local) if plan.left else None
    results = results_of(subjects, replies_about(review_set, options.judge, prompt))
    return _tell(options, prompt, results, without, ended)


def _tell(
    options: argparse.Namespace,
    prompt: Prompt,
    results: WrittenResults,
    without: int,
    ended: Progress | None,
) -> int:
    """Say what was found in how many answers, and what is missing; return the exit status."""
    from rexview.judge.written import SAID, name_of

    unread = [
        {"case": about.case, "model": about.model, "outcome": reply.outcome, "why": reply.why}
        for about, reply in results.unread
    ]
    status = 1 if unread or results.unasked else 0
    count: dict[str, int] = {one: results.count(one) for one in SAID}
    lost = sum(one.quote_found is False for one in results.said)
    if options.json:
        told = {
            "failure": name_of(prompt),
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
            printable(f"{prompt.name} ({name_of(prompt)}, version {version}) by {options.judge}:")
        )
        print(
            f"  found in {count['yes']:,} of {counted(len(results.said), 'answer')} judged; "
            f"{count['no']:,} without, {count['unsure']:,} unsure"
        )
        print(f"  {JUDGED}")
        for one in results.said:
            if one.found.said == "yes":
                print(printable(f"  {_line(one)}"))
    if lost:
        print(f"  {counted(lost, 'quote')} not in the answer")
    if without:
        print(f"  {counted(without, 'answer')} never came or without words, not judged")
    unasked = len(results.unasked)
    tell_left(ended, unread, f"{counted(unasked, 'answer')} not judged" if unasked else "")
    return status


def _row(one: Candidate) -> dict[str, Any]:
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


def _line(one: Candidate) -> str:
    quote = f": “{' '.join(one.found.quote.split()):.200}”" if one.found.quote else ""
    lost = " (not in the answer)" if one.quote_found is False else ""
    return f"{one.about.case}, {one.about.model}{quote}{lost}"
