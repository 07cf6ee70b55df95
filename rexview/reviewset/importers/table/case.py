"""The case that one row of a table describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rexview.reviewset.importers.core.draft import OPEN_QUESTION, REPORT_QUESTION
from rexview.reviewset.importers.core.report_text import (
    absent,
    read_age,
    read_context,
    read_sex,
    split_report,
)
from rexview.reviewset.importers.images.names import safe_path
from rexview.reviewset.importers.table.cell_values import read_list, read_option, read_yes_no
from rexview.reviewset.importers.table.sheet import Cells
from rexview.schema import Case, Context, Report, StudyImage
from rexview.vocab import CATEGORY_NAMES, DIFFICULTIES, QUESTION_TYPES, normalise_view

Warn = Callable[[str, str, str | None], None]
"""Takes a message, a remedy, and the field that they are about."""

_TAG: Final = "tag_"


def case_from(case_id: str, fields: Cells, question: str | None, warn: Warn) -> Case:
    """Make a case of the cells of one row, by the field that their column is mapped to.

    ``question`` is that of rows that give none; None for the usual one of their type.
    """
    options = tuple(read_list(fields.get("options")))
    report = _report(fields)
    kind = _question_type(fields, options, report)
    given = fields.get("question") or question
    return Case(
        id=case_id,
        question=given or (REPORT_QUESTION if kind == "report" else OPEN_QUESTION),
        question_type=kind,
        category=_word(fields.get("category")),
        tags={
            name.removeprefix(_TAG): tuple(read_list(value))
            for name, value in fields.items()
            if name.startswith(_TAG) and value
        },
        difficulty=_word(fields.get("difficulty")),
        study_id=fields.get("study_id"),
        patient_id=fields.get("patient_id"),
        site=fields.get("site"),
        normal=read_yes_no(fields.get("normal")),
        context=_context(fields),
        report=report,
        images=_images(fields, warn),
        options=options,
        correct=_correct(fields.get("correct"), options),
    )


def _word(text: str | None) -> str | None:
    """Return a word of the vocabulary for ``Broad abnormality`` and the like, else the text."""
    if text is None:
        return None
    folded = "_".join(text.lower().replace("-", " ").split())
    return folded if folded in CATEGORY_NAMES or folded in DIFFICULTIES else text


def _question_type(fields: Cells, options: tuple[str, ...], report: Report) -> str:
    told = (fields.get("question_type") or "").strip().lower()
    if told in QUESTION_TYPES and (told != "choice" or options):
        return told
    if options:
        return "choice"
    return "open" if fields.get("question") or report == Report() else "report"


def _report(fields: Cells) -> Report:
    whole = split_report(fields.get("report"))
    findings, impression = fields.get("findings"), fields.get("impression")
    return Report(
        findings=whole.findings if absent(findings) else findings,
        impression=whole.impression if absent(impression) else impression,
    )


def _context(fields: Cells) -> Context:
    context = read_context(fields.get("indication"))
    return replace(
        context,
        age=read_age(fields.get("age")) or context.age,
        sex=read_sex(fields.get("sex")) or context.sex,
        comparison=fields.get("comparison") or context.comparison,
    )


def _images(fields: Cells, warn: Warn) -> tuple[StudyImage, ...]:
    written = read_list(fields.get("image"))
    views: list[str | None] = [*read_list(fields.get("view"))]
    if len(views) != len(written):
        views = [None] * len(written)
    images: dict[str, StudyImage] = {}
    for text, view in zip(written, views, strict=True):
        path = safe_path(text)
        if path is None:
            message = "The image path is not a path inside a folder; the image was left out."
            warn(message, "Write it relative to the images folder.", "image")
        else:
            image = StudyImage(id=path, path=path, view=normalise_view(view), view_raw=view)
            images.setdefault(path, image)
    return tuple(images.values())


def _correct(text: str | None, options: tuple[str, ...]) -> int | None:
    if text is None or not options:
        return None
    same = [place for place, option in enumerate(options) if option.strip() == text.strip()]
    return same[0] if same else read_option(text, len(options))
