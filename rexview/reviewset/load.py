"""Open a review set: read its tables, check everything, normalise the words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from rexview import frames
from rexview.answer_digest import by_answer
from rexview.errors import Problem, ReviewSetError
from rexview.reviewset.checks.boxes import boxed_images, check_boxes, image_sizes, with_images_named
from rexview.reviewset.checks.duplicates import with_newest, without_duplicates
from rexview.reviewset.checks.image_files import (
    check_files,
    check_paths,
    paths_of_answers,
    paths_of_cases,
    with_headers,
)
from rexview.reviewset.checks.normalise import NORMALISE, normalise_answers
from rexview.reviewset.checks.orientations import check_orientations
from rexview.reviewset.checks.references import check_references
from rexview.reviewset.checks.row_problems import report_rows
from rexview.reviewset.images import find_picture
from rexview.reviewset.info import read_info
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import TableSource, find_tables, fingerprint
from rexview.reviewset.tables.columns import TABLES
from rexview.reviewset.tables.table import empty_table, read_table
from rexview.schema import ReviewSet, SetInfo


def load(folder: Path) -> ReviewSet:
    """Open the review set in a folder.

    Parameters
    ----------
    folder : Path
        The folder that has ``reviewset.yaml``.

    Returns
    -------
    ReviewSet
        Tables with exactly the columns and types of :data:`rexview.frames.TABLES`; warnings in
        ``warnings``.

    Raises
    ------
    ReviewSetError
        With every problem found, when any of them is an error. Nothing opens half-way.
    """
    problems = ProblemList()
    review_set = _open(Path(folder), problems)
    if review_set is None or problems.has_errors:
        errors = problems.count("error")
        message = f"The review set has {errors:,} error{'s'[: errors != 1]} and was not opened."
        raise ReviewSetError(message, problems.all())
    return review_set


def check(folder: Path) -> list[Problem]:
    """Find every problem of the review set in a folder, errors first."""
    problems = ProblemList()
    _open(Path(folder), problems)
    return problems.all()


def _open(folder: Path, problems: ProblemList) -> ReviewSet | None:
    if not folder.is_dir():
        kind = "a file" if folder.exists() else "not there"
        message = f"This is {kind}; a review set is a folder."
        problems.add("error", folder.name or ".", message, "Give the folder with reviewset.yaml.")
        return None
    state = fingerprint(folder)
    info = read_info(folder, problems)
    sources = find_tables(folder, problems)
    if "cases" not in sources and not problems.has_errors_in("cases"):
        problems.add(
            "error",
            "cases",
            "There is no table of cases.",
            "Add cases.jsonl, cases.csv, cases.parquet or a folder cases of Parquet parts.",
        )
    info = info or SetInfo(name="")
    tables, all_cases = _read(sources, info, problems)
    check_references(tables, sources, info, problems, all_cases=all_cases)
    tables["cases"], tables["answers"] = _with_images(folder, tables, sources, info, problems)
    final = {
        name: tables[name].select(pl.col(column).cast(dtype) for column, dtype in schema.items())
        for name, schema in frames.TABLES.items()
    }
    review_set = ReviewSet(
        folder=folder,
        info=info,
        fingerprint=state,
        find_picture=partial(find_picture, folder, info.images),
        cases=final["cases"],
        answers=final["answers"],
        scores=final["scores"],
        flags=final["flags"],
        metrics=final["metrics"],
        edits=final["edits"],
    )
    review_set = _with_stale_apart(review_set, sources, problems)
    return replace(review_set, warnings=tuple(problems.all()))


def _with_stale_apart(
    review_set: ReviewSet, sources: dict[str, TableSource], problems: ProblemList
) -> ReviewSet:
    """Take scores and flags of earlier answers out of those that count, and report them."""
    scores, stale_scores = by_answer(review_set.scores, review_set)
    flags, stale_flags = by_answer(review_set.flags, review_set)
    for name, what, stale in (("scores", "score", stale_scores), ("flags", "flag", stale_flags)):
        if name in sources:
            report_rows(
                problems,
                sources[name],
                "warning",
                stale,
                f"The {what} is of an earlier answer: the answer was changed since, or the digest "
                "is wrong. It counts nowhere.",
                "Judge the answer as it is, or empty answer_digest if it holds for that, too.",
                "answer_digest",
            )
    return replace(
        review_set,
        scores=scores,
        flags=flags,
        stale_scores=stale_scores,
        stale_flags=stale_flags,
    )


def _read(
    sources: dict[str, TableSource], info: SetInfo, problems: ProblemList
) -> tuple[dict[str, pl.DataFrame], bool]:
    """Read and normalise all tables; say whether all rows of cases could be read."""
    tables: dict[str, pl.DataFrame] = {}
    all_cases = "cases" in sources
    for name, table in TABLES.items():
        source = sources.get(name)
        frame = read_table(source, table, problems) if source else empty_table(table)
        if source:
            if name == "cases":
                all_cases = not problems.has_errors_in(source.label, fields=("id", ""))
                _check_some(frame, source, problems)
            frame = without_duplicates(frame, table, source, problems)
        if name == "answers":
            frame = with_newest(normalise_answers(frame, info.models, source, problems))
        else:
            frame = NORMALISE[name](frame)
        tables[name] = frame
    return tables, all_cases


def _check_some(cases: pl.DataFrame, source: TableSource, problems: ProblemList) -> None:
    if cases.is_empty() and not problems.has_errors_in(source.label):
        problems.add("error", source.label, "The table has no rows.", "Add at least one case.")


def _with_images(
    folder: Path,
    tables: dict[str, pl.DataFrame],
    sources: dict[str, TableSource],
    info: SetInfo,
    problems: ProblemList,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Check images and boxes; fill in what the image files say and which image a box is on."""
    cases, answers = tables["cases"], tables["answers"]
    if "cases" not in sources:
        return cases, answers
    given = [(check_paths(paths_of_cases(cases), sources["cases"], problems), sources["cases"])]
    if "answers" in sources:
        paths = check_paths(paths_of_answers(answers), sources["answers"], problems)
        given.append((paths, sources["answers"]))
    check_files(folder, info, given, problems)
    _check_image_ids(cases, sources["cases"], problems)

    images = image_sizes(cases)
    cases = with_images_named(cases, "reference_boxes", "id", images)
    answers = with_images_named(answers, "boxes", "case", images)
    given_boxes = ((cases, "id", "reference_boxes"), (answers, "case", "boxes"))
    boxed = pl.concat(boxed_images(*boxes) for boxes in given_boxes)
    cases = with_headers(cases, boxed, folder, info, sources["cases"], problems)
    check_orientations(cases, boxed, sources["cases"], problems)

    images = image_sizes(cases)
    check_boxes(cases, "reference_boxes", "id", images, sources["cases"], problems)
    if "answers" in sources:
        check_boxes(answers, "boxes", "case", images, sources["answers"], problems)
    return cases, answers


def _check_image_ids(cases: pl.DataFrame, source: TableSource, problems: ProblemList) -> None:
    ids = pl.col("images").list.eval(pl.element().struct.field("id").drop_nulls())
    twice = cases.select("_row", ids.alias("ids")).filter(
        pl.col("ids").list.len() != pl.col("ids").list.n_unique()
    )
    report_rows(
        problems,
        source,
        "error",
        twice,
        "Two images of the case have the same id.",
        "Give each image of a case an id of its own.",
        "images",
    )
