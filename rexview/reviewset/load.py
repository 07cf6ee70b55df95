"""Open a review set: read its tables, check everything, normalise the words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from rexview import frames
from rexview.addresses import remote_set_address
from rexview.answer_digest import separate_stale_rows
from rexview.columns import TABLES
from rexview.errors import Problem, ReviewSetError, StorageError
from rexview.remote import remote_sets
from rexview.reviewset.image_checks import (
    answer_picture_paths,
    case_image_paths,
    check_files,
    check_orientations,
    check_paths,
    check_same_pictures,
    fill_image_facts,
)
from rexview.reviewset.image_paths import find_returned_picture
from rexview.reviewset.normalise import NORMALISERS, normalise_answers
from rexview.reviewset.plausibility import (
    check_boxes,
    check_plausible,
    image_sizes,
    images_with_boxes,
    name_box_images,
)
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.reference_checks import (
    check_curation,
    check_references,
    drop_duplicate_rows,
    mark_newest_answers,
)
from rexview.reviewset.set_cache import CachedSet
from rexview.reviewset.set_files import UNFINISHED_FILE, find_tables, fingerprint
from rexview.reviewset.set_info import read_info, resolve_images_base
from rexview.reviewset.tables.declared_table import empty_table, read_declared_table
from rexview.reviewset.tables.source import TableSource
from rexview.schema import ReviewSet, SetInfo
from rexview.settings import load_settings

if TYPE_CHECKING:
    from rexview.reviewset.choice_process import ChoiceText


# Choices given only in the answers' texts: read when a set is opened, and marked as read.


def fill_choices(answers: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Fill in missing choices of answers to choice questions from their texts.

    ``_choice_read`` records how a choice was read and where in the text. It is null if a choice was
    given or none could be read. A given choice is never changed.
    """
    kind = frames.ANSWERS["_choice_read"]
    questions = cases.filter(
        pl.col("question_type") == "choice", pl.col("options").list.len() > 0
    ).select("question", "options", case="id")
    if questions.is_empty():  # most sets have none
        return answers.with_columns(pl.lit(None, kind).alias("_choice_read"))
    asked = (
        answers.with_row_index("_at")
        .filter(pl.col("choice").is_null(), pl.col("text").str.contains(r"\S"))
        .select("_at", "case", "text")
        .join(questions.unique("case"), on="case", maintain_order="left")
    )
    places, options, places_in_text = [], [], []
    wanted: list[ChoiceText] = [
        (text, tuple(option or "" for option in given), question or "")
        for _, _, text, question, given in asked.iter_rows()
    ]
    different = list(dict.fromkeys(wanted))
    choices = {}
    if different:
        from rexview.reviewset.choice_process import read_choices

        choices = dict(zip(different, read_choices(different), strict=True))
    for at, asked_for in zip(asked["_at"].to_list(), wanted, strict=True):
        found = choices[asked_for]
        if found:
            places.append(at)
            options.append(found.option)
            places_in_text.append({"method": found.method, "start": found.start, "end": found.end})
    if not places:
        return answers.with_columns(pl.lit(None, kind).alias("_choice_read"))
    read = pl.DataFrame(
        {"_at": places, "_option": options, "_choice_read": places_in_text},
        schema={"_at": pl.UInt32(), "_option": pl.Int64(), "_choice_read": kind},
    )
    return (
        answers.with_row_index("_at")
        .join(read, on="_at", how="left", maintain_order="left")
        .with_columns(pl.coalesce("choice", "_option").alias("choice"))
        .drop("_at", "_option")
    )


_AfterChunk = Callable[[str, list[pl.DataFrame]], None]


def load_review_set(folder: Path, told: Callable[[float], None] | None = None) -> ReviewSet:
    """Open the review set in a folder; its ``warnings`` are problems that did not prevent it.

    Parameters
    ----------
    folder : Path
    told : callable, optional
        Called with the share of the tables read so far, from 0 to 1.

    Raises
    ------
    ReviewSetError
        At least one problem is an error. It lists every problem found; no set opens in part.
    """
    problems = ProblemList()
    folder = Path(folder)
    outdated = _fetch_remote_tables(folder, problems)
    review_set = None if problems.has_errors else _open(folder, problems, may_keep=True, told=told)
    if review_set is None or problems.has_errors:
        errors = problems.count("error")
        message = f"The review set has {errors:,} error{'s'[: errors != 1]} and was not opened."
        raise ReviewSetError(message, problems.all())
    return replace(review_set, warnings=(*outdated, *review_set.warnings))


def load_info_only(folder: Path) -> ReviewSet:
    """Return a review set with the content of ``reviewset.yaml``, without its tables.

    Raises
    ------
    ReviewSetError
    """
    problems = ProblemList()
    if not folder.is_dir():
        raise ReviewSetError(f"There is no folder {folder.name} any more.")
    info = read_info(folder, problems)
    if info is None or problems.has_errors:
        raise ReviewSetError("The review set cannot be opened.", problems.all())
    info = resolve_images_base(folder, info, problems)
    empty: dict[str, Any] = {name: schema.to_frame() for name, schema in frames.TABLES.items()}
    return ReviewSet(
        folder, info, **empty, find_picture=partial(find_returned_picture, folder, info.images)
    )


def check_review_set(folder: Path, *, pixels: bool = False) -> list[Problem]:
    """Find every problem of the review set in a folder, errors first.

    With ``pixels`` every picture is decoded (:mod:`rexview.reviewset.picture_decoding`).
    """
    return load_with_problems(folder, pixels=pixels)[1]


def load_with_problems(
    folder: Path, *, pixels: bool = False
) -> tuple[ReviewSet | None, list[Problem]]:
    """Return the review set in a folder as far as it can be read, and all its problems.

    Nothing is cached. The set is None if there is none, or none could be fetched.
    """
    problems = ProblemList()
    folder = Path(folder)
    outdated = _fetch_remote_tables(folder, problems)
    review_set = None if problems.has_errors else _open(folder, problems, pixels=pixels)
    return review_set, [*problems.all(), *outdated]


def _fetch_remote_tables(folder: Path, problems: ProblemList) -> list[Problem]:
    """Fetch the tables of a remote set; return warnings about what was fetched.

    If they cannot be fetched, ``problems`` gives the reason. A local set is left alone.
    """
    address = remote_set_address(folder)
    if address is None:
        return []
    try:
        remote_sets.update_copy(folder, load_settings())
    except StorageError as error:
        if not remote_sets.has_copy(folder):
            remedy = "Nothing was opened."
            problems.add("error", f"{address.text}/", str(error), remedy)
            return []
        remedy = "The set is shown as it was fetched before."
        return [Problem("warning", f"{address.text}/", None, None, str(error), remedy)]
    remedy = "Move that folder out of the set, or name it as images in reviewset.yaml."
    return [
        Problem("warning", f"{address.text}/", None, None, remark, remedy)
        for remark in remote_sets.remarks(folder)
    ]


def _open(
    folder: Path,
    problems: ProblemList,
    *,
    may_keep: bool = False,
    pixels: bool = False,
    told: Callable[[float], None] | None = None,
) -> ReviewSet | None:
    """Open a set from its files; with ``may_keep`` a large one from its cached entry."""
    if not folder.is_dir():
        kind = "a file" if folder.exists() else "not there"
        message = f"This is {kind}; a review set is a folder."
        problems.add("error", folder.name or ".", message, "Give the folder with reviewset.yaml.")
        return None
    state = fingerprint(folder)
    if (folder / UNFINISHED_FILE).is_file():
        message = "An import into this set was interrupted while its tables were exchanged."
        remedy = (
            f"Put the tables from {folder.name}-before-… beside it in place of those here, "
            f"and remove {UNFINISHED_FILE}."
        )
        problems.add("error", UNFINISHED_FILE, message, remedy)
        return None
    info = resolve_images_base(folder, read_info(folder, problems) or SetInfo(name=""), problems)
    if not may_keep or problems.has_errors:
        review_set = _read_all(folder, info, problems, pixels=pixels)
        return replace(review_set, fingerprint=state, warnings=tuple(problems.all()))
    with CachedSet(folder, state, info) as compiled:
        found = compiled.open()
        if found is None:
            found = _read_all(folder, info, problems, compiled=compiled, told=told)
            found = replace(found, fingerprint=state, warnings=tuple(problems.all()))
            found = found if problems.has_errors else compiled.keep(found)
    return found


def _read_all(
    folder: Path,
    info: SetInfo,
    problems: ProblemList,
    *,
    pixels: bool = False,
    compiled: CachedSet | None = None,
    told: Callable[[float], None] | None = None,
) -> ReviewSet:
    sources = find_tables(folder, problems)
    if "cases" not in sources and not problems.has_errors_in("cases"):
        remedy = "Add cases.jsonl, cases.csv, cases.parquet or a folder cases of such parts."
        problems.add("error", "cases", "There is no table of cases.", remedy)
    return assemble(folder, info, sources, problems, pixels=pixels, compiled=compiled, told=told)


def assemble(
    folder: Path,
    info: SetInfo,
    sources: dict[str, TableSource],
    problems: ProblemList,
    *,
    look_at_images: bool = True,
    pixels: bool = False,
    compiled: CachedSet | None = None,
    told: Callable[[float], None] | None = None,
) -> ReviewSet:
    """Read tables from their files, or from the rows of an import, into a checked review set.

    With ``look_at_images`` image files are searched, their facts are filled in, and boxes are
    compared with them; an import has done so itself. With ``pixels`` all of them are decoded as
    well. The texts of large tables go to ``compiled``; ``told`` is as in :func:`load_review_set`.
    The result is valid if ``problems`` contains no error.
    """
    move_texts = compiled.move_texts if compiled else lambda name, parts: None
    if told:
        move_texts = _with_progress(move_texts, sources, told)
    tables, all_cases = _read(sources, info, problems, move_texts)
    if compiled and not problems.has_errors:
        compiled.write_settled(tables)
    check_references(tables, sources, info, all_cases=all_cases)
    check_curation(tables, sources)
    tables |= _with_images(folder, tables, sources, info, look_at_images, pixels)
    tables["answers"] = fill_choices(tables["answers"], tables["cases"])
    if look_at_images and not problems.has_errors:  # an import is judged when it is opened
        if not (compiled and compiled.puts_off(tables["answers"], len(problems.all()))):
            check_plausible(tables, sources, image_sizes(tables["cases"]))
        check_same_pictures(folder, tables["cases"], sources["cases"], info)
    final: dict[str, Any] = {
        name: _to_final_schema(name, tables[name])
        if name in sources or name in ("cases", "answers")
        else _final_absent_table(name)
        for name in frames.TABLES
    }
    pictures = partial(find_returned_picture, folder, info.images)
    review_set = separate_stale_rows(ReviewSet(folder, info, **final, find_picture=pictures))
    _report_stale(review_set, sources)
    return review_set


def _with_progress(
    move_texts: _AfterChunk, sources: dict[str, TableSource], told: Callable[[float], None]
) -> _AfterChunk:
    """Report the share of all tables that was read, after each chunk of rows."""
    paths = [part.path for source in sources.values() for part in source.parts]
    total = sum(path.stat().st_size for path in paths if path.is_file())

    def after_chunk(name: str, parts: list[pl.DataFrame]) -> None:
        move_texts(name, parts)
        told(min(1.0, sum(one.read_bytes for one in sources.values()) / max(total, 1)))

    return after_chunk


def _to_final_schema(name: str, table: pl.DataFrame) -> pl.DataFrame:
    schema = frames.TABLES[name]
    return table.select(pl.col(field).cast(dtype) for field, dtype in schema.items())


@cache
def _final_absent_table(name: str) -> pl.DataFrame:
    return _to_final_schema(name, _absent_table(name))


_JUDGEMENT_NOUNS: Final = {
    "scores": "score",
    "flags": "flag",
    "metrics": "value",
    "edits": "edit",
    "opinions": "opinion",
    "preferences": "preference",
}


def _report_stale(review_set: ReviewSet, sources: dict[str, TableSource]) -> None:
    """Report judgements of earlier answers, and choices of earlier options."""
    for name, what in _JUDGEMENT_NOUNS.items():
        if name in sources:
            sources[name].report_rows(
                "warning",
                getattr(review_set, f"stale_{name}"),
                f"The {what} is of an earlier answer: the answer was changed "
                "since, or the digest is wrong. It counts nowhere.",
                "Judge the answer as it is, or empty the digest if it holds for that, too.",
                "first_digest" if name == "preferences" else "answer_digest",
            )
    if "choices" in sources:
        sources["choices"].report_rows(
            "warning",
            review_set.stale_choices,
            "The case has other words at this option: it was changed since, or options are "
            "counted otherwise. The choice counts nowhere.",
            "Correct number and words, or leave the words out if the number is right.",
            "option",
        )


def _read(
    sources: dict[str, TableSource],
    info: SetInfo,
    problems: ProblemList,
    move_texts: _AfterChunk,
) -> tuple[dict[str, pl.DataFrame], bool]:
    """Read and normalise all tables; return them, and whether all rows of cases could be read."""
    tables: dict[str, pl.DataFrame] = {}
    all_cases = "cases" in sources
    for name, table in TABLES.items():
        source = sources.get(name)
        if not source and name != "answers":
            tables[name] = _absent_table(name)
            continue
        frame = read_declared_table(source, table, move_texts) if source else empty_table(table)
        if source:
            if name == "cases":
                all_cases = not problems.has_errors_in(source.label, fields=("id", ""))
                if frame.is_empty() and not problems.has_errors_in(source.label):
                    source.error("The table has no rows.", "Add at least one case.")
            frame = drop_duplicate_rows(frame, table, source)
        if name == "answers":
            frame = mark_newest_answers(normalise_answers(frame, info.models, source))
        elif name in NORMALISERS:
            frame = NORMALISERS[name](frame)
        tables[name] = frame
    return tables, all_cases


@cache
def _absent_table(name: str) -> pl.DataFrame:
    """Return a table that a set lacks, normalised and cached: most sets lack most tables."""
    empty = empty_table(TABLES[name])
    return NORMALISERS[name](empty) if name in NORMALISERS else empty


def _with_images(
    folder: Path,
    tables: dict[str, pl.DataFrame],
    sources: dict[str, TableSource],
    info: SetInfo,
    look_at_images: bool,
    pixels: bool,
) -> dict[str, pl.DataFrame]:
    """Check images and boxes; fill in facts from image files and the image of each box."""
    cases, answers = tables["cases"], tables["answers"]
    if "cases" not in sources:
        return {}
    of_cases, of_answers = sources["cases"], sources.get("answers")
    paths = [(check_paths(case_image_paths(cases), of_cases), of_cases)]
    if of_answers:
        paths.append((check_paths(answer_picture_paths(answers), of_answers), of_answers))
    if look_at_images:
        check_files(folder, info, paths)
    if pixels:
        from rexview.reviewset.picture_decoding import check_pixels

        check_pixels(folder, info, paths)
    _check_image_ids(cases, of_cases)

    images = image_sizes(cases)
    cases = name_box_images(cases, "reference_boxes", "id", images)
    answers = name_box_images(answers, "boxes", "case", images)
    if not look_at_images:
        return {"cases": cases, "answers": answers}
    given_boxes = ((cases, "id", "reference_boxes"), (answers, "case", "boxes"))
    boxed = pl.concat(images_with_boxes(*boxes) for boxes in given_boxes)
    filled = fill_image_facts(cases, boxed, folder, info, of_cases)
    if filled is not cases:
        cases, images = filled, image_sizes(filled)
    check_orientations(cases, boxed, of_cases)
    check_boxes(cases, "reference_boxes", "id", images, of_cases)
    if of_answers:
        check_boxes(answers, "boxes", "case", images, of_answers)
    return {"cases": cases, "answers": answers}


def _check_image_ids(cases: pl.DataFrame, source: TableSource) -> None:
    ids = pl.col("images").list.eval(pl.element().struct.field("id").drop_nulls())
    twice = cases.select("_row", ids.alias("ids")).filter(
        pl.col("ids").list.len() != pl.col("ids").list.n_unique()
    )
    message = "Two images of the case have the same id."
    remedy = "Give each image of a case an id of its own."
    source.report_rows("error", twice, message, remedy, "images")
