"""``bench written``: measure what the pages compute for failures in a clinician's words."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from bench.made_set import MadeSet, make_set
from bench.measure import Measured, in_turn, processor_milliseconds, result
from rexview.analysis.written_results import (
    JudgeResults,
    clear_results,
    count_judge_results,
    list_written_subjects,
    load_judge_results,
    order_sample,
)
from rexview.judge.subjects import JudgeSubject
from rexview.judge.written import build_written_wording
from rexview.models.asking.model_cards import find_card
from rexview.models.backend import Parameters, Prompt
from rexview.models.running.run_folder import (
    JUDGING_FOLDER,
    RunFolder,
    new_run_id,
    write_json_atomically,
)
from rexview.models.running.run_spec import RunSpec
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet

# Pages' questions on failures in words, compared with plain loops: ``python -m rexview bench
# written``.
#
# In a simulated set a judge has read all answers for several failures, with one run for each.
# Each reading of the logs is compared with the least work of any reading: parsing each line of the
# same logs, and the reply in it, with ``json``, and counting. Ours also rebuilds the answers as the
# judge saw them, so that changed answers are not counted, and searches for each quote in its
# answer.

CASES: Final = 2_500
MODELS: Final = 2
FAILURES: Final = 10
ROUNDS: Final = 3
_JUDGE: Final = "bench"
_SAMPLE: Final = 40
"""Answers of each group that a clinician reads."""


def run(cases: int = CASES, failures: int = FAILURES, rounds: int = ROUNDS) -> Measured:
    """Measure the first failure shown, the others, and a repeated question.

    Raises
    ------
    AssertionError
        The loop counts something else.
    """
    with tempfile.TemporaryDirectory(prefix="rexview-bench-") as place:
        folder = Path(place) / "set"
        make_set(MadeSet(cases, MODELS, pictures=0), folder)
        review_set = load_review_set(folder)
        subjects = list_written_subjects(review_set, [str(case) for case in review_set.cases["id"]])
        prompts = [_words(number) for number in range(failures)]
        runs = [_looked_through(folder, prompt, subjects) for prompt in prompts]
        for prompt, one in zip(prompts, runs, strict=True):
            assert load_judge_results(review_set, prompt, _JUDGE).results.count("yes") == _plain(
                [one]
            )
        return _measured(review_set, prompts, runs, len(subjects), rounds)


def _measured(
    review_set: ReviewSet,
    prompts: Sequence[Prompt],
    runs: Sequence[RunFolder],
    answers: int,
    rounds: int,
) -> Measured:
    def read(*some: Prompt) -> list[JudgeResults]:
        return [load_judge_results(review_set, prompt, _JUDGE) for prompt in some]

    def anew(*some: Prompt) -> Callable[[], object]:
        def work() -> object:
            clear_results()
            return read(*some)

        return work

    def another() -> object:
        clear_results(answers=False)
        return read(prompts[0])

    first, last = prompts[0], runs[:1]
    works: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "the first failure that is shown": (anew(first), lambda: _plain(last)),
        "another one, of the same answers": (another, lambda: _plain(last)),
        f"all {len(prompts)} from nothing": (anew(*prompts), lambda: _plain(runs)),
        "one that was read before": (lambda: read(first), lambda: _plain(last)),
    }
    rows = []
    of = f"{answers:,} answers"
    for what, pair in works.items():
        took, plain = in_turn(*map(processor_milliseconds, pair), rounds=rounds)
        rows.append(
            result(f"{what}, {of}", took, "ms", alternative=plain, name="json, line by line")
        )
    found = read(first)[0]
    asked: dict[str, Callable[[], object]] = {
        "its table": lambda: count_judge_results(found, review_set.model_names),
        f"its sample, {_SAMPLE} of each group": lambda: order_sample(found, _SAMPLE),
    }
    for what, work in asked.items():
        (took,) = in_turn(processor_milliseconds(work), rounds=rounds)
        rows.append(result(f"{what}, {of}", took, "ms"))
    notes = "Of the processor. The loop neither looks at answers nor for quotes in them."
    return Measured(rows, notes=notes)


def _words(number: int) -> Prompt:
    said = {"name": f"Failure {number}", "counts": f"The answer shows what failure {number} says."}
    return build_written_wording(f"failure-{number}", said, "The bench")


def _looked_through(folder: Path, prompt: Prompt, subjects: Sequence[JudgeSubject]) -> RunFolder:
    """Write the run of a judge on every answer; every tenth has the failure."""
    one = RunFolder(folder, new_run_id(_JUDGE, datetime.now(UTC)), JUDGING_FOLDER)
    one.path.mkdir(parents=True)
    cases = tuple(dict.fromkeys(subject.about.case for subject in subjects))
    spec = RunSpec(
        one.id, Parameters(_JUDGE, "responses"), find_card(_JUDGE, folder), prompt, cases
    )
    write_json_atomically(one.spec, spec.as_json())
    chance = np.random.default_rng(int(prompt.hash[:8], 16))
    with one.log.open("w", encoding="utf-8") as log:
        for subject in subjects:
            has_it = chance.random() < 0.1
            said = {
                "has_it": "yes" if has_it else "no",
                "reason": "What the answer says of it is not on the film.",
                "quote": subject.text[:60].strip() if has_it else "",
            }
            row = {
                "case": subject.id,
                "text": json.dumps(said),
                "created": "2026-01-01T00:00:00+00:00",
                "extra": {"outcome": "answered"},
            }
            log.write(json.dumps({"event": "replied", "row": row}) + "\n")
    return one


def _plain(runs: Sequence[RunFolder]) -> int:
    """Count the answers with a failure, using only ``json``."""
    found = 0
    for one in runs:
        with one.log.open(encoding="utf-8") as log:
            for line in log:
                row = json.loads(line)["row"]
                found += json.loads(row["text"])["has_it"] == "yes"
    return found


__all__ = ["run"]
