"""The case that one row of a table describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rexview.reviewset.importers.core.draft import OPEN_QUESTION, REPORT_QUESTION
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.report_text import (
    absent,
    read_age,
    read_context,
    read_sex,
    split_report,
)
from rexview.reviewset.importers.images.names import safe_path
from rexview.reviewset.importers.table.cell_values import read_list, read_option, read_yes_no
from rexview.schema import Case, Context, Report, StudyImage
from rexview.vocab import CATEGORIES, QUESTION_TYPES, normalise_view

_TAG: str = "tag_"


def case_from(
    case_id: str,
    fields: Mapping[str, str | None],
    question: str | None,
    file: str,
    row: int,
    log: ProblemLog,
) -> Case:
    """Make a case of the mapped cells of one row.

    Parameters
    ----------
    case_id : str
        The id it gets.
    fields : mapping
        Cells by the field that their column is mapped to.
    question : str or None
        The question where the row gives none; None for the usual one of its type.
    file, row : str, int
        Where the row is, for messages.
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
        images=_images(fields, file, row, log),
        options=options,
        correct=_correct(fields.get("correct"), options),
    )


def _word(text: str | None) -> str | None:
    """Return a word of the vocabulary for ``Broad abnormality`` and the like, else the text."""
    if text is None:
        return None
    folded = "_".join(text.lower().replace("-", " ").split())
    known = {word for words in CATEGORIES.values() for word in words} | {"easy", "medium", "hard"}
    return folded if folded in known else text


def _question_type(
    fields: Mapping[str, str | None], options: tuple[str, ...], report: Report
) -> str:
    told = (fields.get("question_type") or "").strip().lower()
    if told in QUESTION_TYPES and (told != "choice" or options):
        return told
    if options:
        return "choice"
    return "open" if fields.get("question") or report == Report() else "report"


def _report(fields: Mapping[str, str | None]) -> Report:
    whole = split_report(fields.get("report"))
    findings, impression = fields.get("findings"), fields.get("impression")
    return Report(
        findings=whole.findings if absent(findings) else findings,
        impression=whole.impression if absent(impression) else impression,
    )


def _context(fields: Mapping[str, str | None]) -> Context:
    context = read_context(fields.get("indication"))
    return replace(
        context,
        age=read_age(fields.get("age")) or context.age,
        sex=read_sex(fields.get("sex")) or context.sex,
        comparison=fields.get("comparison") or context.comparison,
    )


def _images(
    fields: Mapping[str, str | None], file: str, row: int, log: ProblemLog
) -> tuple[StudyImage, ...]:
    written = read_list(fields.get("image"))
    views = read_list(fields.get("view"))
    if len(views) == 1:
        views = views * len(written) if len(written) == 1 else []
    images: dict[str, StudyImage] = {}
    for place, text in enumerate(written):
        path = safe_path(text)
        if path is None:
            log.warning(
                file,
                "The image path is not a path inside a folder; the image was left out.",
                "Write it relative to the images folder.",
                row=row,
                field="image",
            )
            continue
        view = views[place] if len(views) == len(written) else None
        images.setdefault(
            path, StudyImage(id=path, path=path, view=normalise_view(view), view_raw=view)
        )
    return tuple(images.values())


def _correct(text: str | None, options: tuple[str, ...]) -> int | None:
    if text is None or not options:
        return None
    same = [place for place, option in enumerate(options) if option.strip() == text.strip()]
    return same[0] if same else read_option(text, len(options))
