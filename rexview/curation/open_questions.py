"""Select questions to score and tag, and write the table parts with models' results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview.columns import TABLES
from rexview.curation.candidates import EDITED_AS, open_id
from rexview.curation.rating import WORDING as RATING
from rexview.curation.source_studies import InformationKind, find_source_study
from rexview.curation.step import CurationStep, QuestionSubject, Row, parse_question_subject_id
from rexview.errors import RunError
from rexview.models.running.run_folder import CURATING_FOLDER, RunFolder, list_runs, write_part
from rexview.models.running.run_journal import read_stored_replies
from rexview.models.running.run_spec import RunSpec, read_run_spec
from rexview.schema import ReviewSet

EDITED: Final = "edited"


@dataclass(frozen=True)
class OpenQuestion:
    """An open candidate to score, as it was proposed, or ``edited`` by a person."""

    case: str
    candidate: str
    question: str
    edited: bool = False

    @property
    def about(self) -> tuple[str, ...]:
        """Its identifier within the case; for an edited one with a digest of its words."""
        words = (EDITED, open_id(self.question)) if self.edited else ()
        return (self.candidate, *words)


def find_open_questions(review_set: ReviewSet, *, edited: bool = False) -> Iterator[OpenQuestion]:
    """Yield the open candidates of a set, including those that people wrote.

    With ``edited``, the current version of each edited one follows it.
    """
    is_open = pl.col("question_type").fill_null("open") == "open"
    changed = {
        (row["case"], row["candidate"]): row["question"]
        for row in review_set.selections.iter_rows(named=True)
        if row["question"]
    }
    for case, candidate, question in (
        review_set.candidates.filter(is_open).select("case", "candidate", "question").iter_rows()
    ):
        yield OpenQuestion(case, candidate, question)
        now = changed.get((case, candidate))
        if edited and now and now.split() != question.split():
            yield OpenQuestion(case, candidate, now, edited=True)


def rating_subjects(
    review_set: ReviewSet,
    questions: Iterable[OpenQuestion],
    told_from: InformationKind | None = None,
) -> list[QuestionSubject]:
    """Return the subjects for scoring questions, each with the information on its study."""
    known: dict[str, Mapping[str, str]] = {}
    found = []
    for one in questions:
        if one.case not in known:
            known[one.case] = _of_study(review_set, one.case, told_from)
        values = {**known[one.case], "question": one.question}
        found.append(QuestionSubject(one.case, one.about, values))
    return found


def _of_study(
    review_set: ReviewSet, case_id: str, told_from: InformationKind | None
) -> dict[str, str]:
    case = review_set.case(case_id)
    assert case is not None  # rows about other cases are not in the set's tables
    study, texts = find_source_study(review_set, case, told_from), RATING.texts
    return {
        "told": study.known or texts["nothing_told"],
        "comparison": texts["with_prior" if study.has_prior else "without_prior"],
    }


def tagging_subjects(questions: Iterable[OpenQuestion]) -> list[QuestionSubject]:
    """Return the subjects for tagging questions, which contain only their words."""
    return [QuestionSubject(one.case, one.about, {"question": one.question}) for one in questions]


# Results of models on questions, as parts of a set's tables next to the given files.
#
# A part is built from the log of its run, so writing it again changes nothing. Of two rows with the
# same key the one in the set's own files is kept. Otherwise it is the older of two proposals, so
# that a question keeps its author, and the newer of any other rows.

_OLDER_FIRST = frozenset({"candidates"})


@dataclass(frozen=True)
class StepParts:
    """Result of writing the parts of a step: changed parts, and rows in all parts by run.

    ``elsewhere`` is the number of rows left out because another file or run has their key.
    """

    changed: tuple[Path, ...]
    rows: dict[str, int]
    elsewhere: int


def belongs_to_step(spec: RunSpec, step: CurationStep[Any]) -> bool:
    """True if a run belongs to a step, with any version of its wording."""
    return spec.prompt.id.rsplit("-", 1)[0] == step.wording.id.rsplit("-", 1)[0]


def find_step_runs(
    review_set: ReviewSet, step: CurationStep[Any]
) -> list[tuple[RunFolder, RunSpec]]:
    """Return the readable runs of a step, newest first."""
    found = []
    for run in list_runs(review_set.folder, CURATING_FOLDER):
        with suppress(RunError):
            spec = read_run_spec(run)
            if belongs_to_step(spec, step):
                found.append((run, spec))
    return found


def read_run_rows(run: RunFolder, spec: RunSpec, step: CurationStep[Any]) -> list[Row]:
    """Return the readable replies of a run as rows of the step's table."""
    found = []
    for subject_id, reply in read_stored_replies(run):
        named = parse_question_subject_id(subject_id)
        read = step.read(reply.text) if reply.answered and named else ""
        if named is None or isinstance(read, str):
            continue
        case, about = named
        by, edited_as = spec.parameters.model, about[2:3] if EDITED in about[1:2] else ()
        source = {
            "source": "model",
            "by": f"{by}, {EDITED}" if edited_as else by,
            "prompt_id": spec.prompt.id,
            "run_id": run.id,
            "created": reply.created,
        }
        for row in step.rows(read, about):
            more = {**row.get("extra", {}), EDITED_AS: edited_as[0]} if edited_as else {}
            found.append({"case": case, **row, **source, **({"extra": more} if more else {})})
    return found


def write_parts(review_set: ReviewSet, step: CurationStep[Any]) -> StepParts:
    """Rewrite the parts of all runs of a step, each to ``TABLE/RUN.jsonl``.

    Parameters
    ----------
    review_set : ReviewSet
        As in its files, opened before or after; rows about cases that it lacks are left out.

    Raises
    ------
    RunError
        If they cannot be written; the replies are in the runs' logs.
    """
    runs = find_step_runs(review_set, step)
    table = TABLES[step.table]
    ours = {run.id for run, _ in runs}
    given = getattr(review_set, step.table)
    others = given.filter(~pl.col("run_id").is_in(ours).fill_null(False))
    taken = set(others.select(table.key).iter_rows())
    rows = [row for run, spec in runs for row in read_run_rows(run, spec, step)]
    rows.sort(key=lambda row: str(row["created"]), reverse=step.table not in _OLDER_FIRST)
    kept: dict[str, list[Row]] = defaultdict(list)
    elsewhere = 0
    for row in rows:
        key = tuple(row[name] for name in table.key)
        if review_set.case_row(row["case"]) is None:
            continue
        if key in taken:
            elsewhere += 1
            continue
        taken.add(key)
        kept[row["run_id"]].append(row)
    for one in kept.values():  # in the order of the set's cases, not of the replies
        one.sort(key=lambda row: review_set.case_row(row["case"]) or 0)
    folder = review_set.folder / step.table
    changed = [path for run, _ in runs if (path := write_part(folder, run.id, kept[run.id]))]
    return StepParts(tuple(changed), {run: len(one) for run, one in kept.items()}, elsewhere)
