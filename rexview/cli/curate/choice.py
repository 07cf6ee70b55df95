"""``curate --choice``: multiple choice questions made from reports, and checked."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rexview.cli.curate.opened import CHOICE_STEP, mend_parts, opened
from rexview.cli.curate.steps import do_steps, dry_run, wanted_steps
from rexview.cli.curate.told import StepTold, tell
from rexview.cli.output import as_json
from rexview.curation.choice.checks import Check, ChoiceQuestion
from rexview.curation.choice.proposing import PROPOSE_CHOICE
from rexview.curation.choice.sample import sample_of
from rexview.curation.choice.validation import (
    CHECKS,
    VALIDATE,
    Verdict,
    checks_of,
    questions_of_cases,
    verdicts,
    write_rules,
)
from rexview.curation.near_duplicates import Similarity
from rexview.errors import ImportSourceError, RunRefused, SettingsError
from rexview.models.asking.cards import find_card
from rexview.models.backend import AttemptFailed
from rexview.models.endpoints.embeddings import Embeddings
from rexview.models.running.spec import Budget
from rexview.reviewset import load
from rexview.reviewset.importers.receipt import ProblemLog, Receipt, alike
from rexview.reviewset.importers.run import read_sources
from rexview.reviewset.importers.set_rows import SetRows
from rexview.schema import ReviewSet
from rexview.untrusted_input import printable
from rexview.vocab import counted

_NAMED: Final = 10


def curate_choice(options: argparse.Namespace) -> int:
    """Make questions, check them by rules, then ask the validator, where one is named.

    Raises
    ------
    RunRefused, RunError
    """
    names = ["choice", "validate"] if options.validator else ["choice"]
    steps = wanted_steps(options, CHOICE_STEP, names)
    own = {step.name: _options_of(options, step is VALIDATE) for step in steps}
    if options.dry_run:
        return dry_run(options, [(step, own[step.name]) for step in steps])
    similarity = _similarity(options)
    mend_parts(options.folder)
    budget = Budget.parse(options.budget) if options.budget else None
    told: list[StepTold] = []
    if PROPOSE_CHOICE not in steps:  # an earlier command may have ended before rules had their turn
        _by_rules(options.folder, similarity)
    for step in steps:
        done, budget = do_steps(own[step.name], [step], budget)
        told += done
        if step is PROPOSE_CHOICE:
            _by_rules(options.folder, similarity)
        if any(one.ended and one.ended.state != "finished" for one in done):
            break
    review_set = opened(options.folder)
    every = list(verdicts(review_set).values())
    sample = sample_of(review_set)
    more = {"questions": _counts(every), "sample": [list(key) for key in sample]}
    status = tell(options, told, begun=len(told) == len(steps), more=more)
    if not options.json:
        _tell(every, len(sample))
    return status


def _options_of(options: argparse.Namespace, validating: bool) -> argparse.Namespace:
    """Return the options of a step: the validator is asked in place of the model."""
    if not validating:
        return options
    return argparse.Namespace(**{**vars(options), "model": options.validator or options.model})


def _similarity(options: argparse.Namespace) -> Similarity | None:
    if not options.embeddings:
        return None
    try:
        own = options.folder if options.folder.is_dir() else None  # a file has no cards beside it
        card = find_card(options.embeddings, own)
        return Embeddings(options.embeddings, card, options.base_url)
    except (AttemptFailed, SettingsError) as fault:
        raise RunRefused(f"--embeddings: {fault}") from None


def _by_rules(folder: Path, similarity: Similarity | None) -> None:
    try:
        write_rules(load(folder), similarity)
    except AttemptFailed as failure:
        raise RunRefused(
            f"--embeddings: {failure} The questions are kept, and not checked yet."
        ) from None


def _counts(every: Sequence[Verdict]) -> dict[str, Any]:
    failed = Counter(check for one in every for check in {row["check"] for row in one.failed})
    untold = Counter(check for one in every if one.state == "untold" for check in one.untold)
    states = Counter(one.state for one in every)
    return {
        **{state: states[state] for state in ("passed", "failed", "untold")},
        "failed_checks": dict(failed.most_common()),
        "untold_checks": dict(untold.most_common()),
    }


def _tell(every: Sequence[Verdict], sampled: int) -> None:
    counts = _counts(every)
    print(
        f"{counted(len(every), 'question')}: {counts['passed']:,} passed all checks, "
        f"{counts['failed']:,} failed, of {counts['untold']:,} some check cannot tell."
    )
    for name in ("failed_checks", "untold_checks"):
        words = "failed" if name == "failed_checks" else "not told"
        for check, many in counts[name].items():
            print(f"  {CHECKS.get(check, check)}: {words} {many:,}")
    if counts["untold_checks"]:
        print("What rules cannot tell, a model can (--validator ID), or an expert on page Curate.")
    if sampled:
        print(f"{counted(sampled, 'question')} for experts to read, on page Curate.")


def validate_only(options: argparse.Namespace) -> int:
    """Check the multiple choice questions of a set, or of a file of any format, by rules.

    Nothing is written. The exit status is 1 where any check failed.

    Raises
    ------
    RunRefused
        There is none.
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
            review_set = load(options.folder)
        else:
            rows = SetRows("", ProblemLog(), Receipt("auto"))
            read_sources(rows, "auto", [options.folder], {}, out=None, into=False)
            review_set = rows.to_review_set(Path(), "images/")
            _tell_import(options.folder.name, rows.log)
        return _checked(options, review_set)
    finally:
        if rows is not None:
            rows.close()


def _tell_import(name: str, log: ProblemLog) -> None:
    if log.has_errors:
        raise ImportSourceError(f"{name} cannot be read as a whole.", log.problems)
    for words in (*alike(log.problems), *log.notes):
        print(printable(str(words)), file=sys.stderr)


def _checked(options: argparse.Namespace, review_set: ReviewSet) -> int:
    questions = list(questions_of_cases(review_set))
    if not questions:
        if review_set.candidates.filter(question_type="choice").is_empty():
            raise RunRefused("There is no multiple choice question.")
        raise RunRefused(
            "The set has no multiple choice case, only candidates: what checks say of these stands "
            "in its folder validations, and `curated --choice` writes those that passed."
        )
    try:
        found = checks_of(questions, _similarity(options))
    except AttemptFailed as failure:
        raise RunRefused(f"--embeddings: {failure}") from None
    if others := review_set.cases.height - len(questions):
        words = f"{counted(others, 'case')} left out: no multiple choice question."
        print(words, file=sys.stderr)
    status = 1 if any(one.passed is False for _, checks in found for one in checks) else 0
    if options.json:
        told = {"questions": [_as_json(*one) for one in found], "checks": _table(found)}
        print(as_json({**told, "exit": status}))
        return status
    print(f"{counted(len(found), 'multiple choice question')}, checked by rules")
    print(f"{'check':<44}{'passed':>8}{'failed':>8}{'not told':>10}")
    for check, row in _table(found).items():
        name = CHECKS[check]
        print(f"{name:<44}{row['passed']:>8,}{row['failed']:>8,}{row['untold']:>10,}")
    failing = [(asked, one) for asked, checks in found for one in checks if one.passed is False]
    for asked, one in failing[:_NAMED]:
        print(printable(f"{asked.case}: {CHECKS[one.check]}? {one.reason}"), file=sys.stderr)
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
