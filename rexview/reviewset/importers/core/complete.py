"""The rows of an import completed, once all its sources are read."""

from __future__ import annotations

from pathlib import PurePosixPath

from rexview.columns import TABLES
from rexview.reviewset.importers.annotations.text_boxes import read_boxes_of_texts
from rexview.reviewset.importers.core.row_table import Row, RowTable
from rexview.reviewset.importers.core.set_rows import OPEN_QUESTION, REPORT_QUESTION, SetRows
from rexview.reviewset.json_text import is_missing
from rexview.reviewset.problems import quoted


def complete(rows: SetRows, question: str | None) -> None:
    """Complete the rows once all sources are read.

    Answers without a case get one; scores and the like without a case are left out and named.
    Pictures that were made cases stay that only where no other source's case shows a picture.
    A case without a question gets ``question``, else a placeholder, which is said.
    """
    _add_cases_of_answers(rows)
    _drop_without_case(rows)
    _withdraw_pictures(rows)
    read_boxes_of_texts(rows)
    without = [case for case in rows.cases if is_missing(case.get("question"))]
    for case in without:
        report = case.get("question_type") == "report" or (
            case.get("question_type") is None and _has_report(case)
        )
        if report:
            case["question_type"] = "report"
        case["question"] = question or (REPORT_QUESTION if report else OPEN_QUESTION)
    without = [case for case in without if case["id"] not in rows.unasked]
    if without and not question:
        words = " and ".join(quoted(one) for one in {case["question"]: 0 for case in without})
        rows.log.note(
            f"{len(without):,} case{'s'[: len(without) != 1]} came without a question and "
            f"stand under a placeholder: {words} (option question)."
        )


def _has_report(case: Row) -> bool:
    report = case.get("report")
    return isinstance(report, dict) and not all(map(is_missing, report.values()))


def _add_cases_of_answers(rows: SetRows) -> None:
    """Make a case of each id that answers name and no other source does, which is said."""
    answers = rows.tables["answers"]
    made: dict[str, int] = {}
    for row, at in zip(answers.rows, answers.places, strict=True):
        if row.get("case") and rows.case(row["case"]) is None:
            rows.add_case({"id": row["case"]}, at)
            made[at.file] = made.get(at.file, 0) + 1
    described = len(rows.cases) > sum(made.values())
    for file, number in made.items() if described else ():
        message = f"{number:,} answers are to cases that no source describes; these were made."
        rows.log.warning(file, message, "Give the file with these cases, too.", field="case")


def _withdraw_pictures(rows: SetRows) -> None:
    """Take back cases made of pictures alone, where other sources say which cases there are."""
    alone = rows.pictures - rows.described
    for case_id in alone:
        _join_by_name(rows, case_id, alone)
    named = {
        image["path"]
        for case in rows.cases
        if case["id"] not in alone
        for image in case.get("images") or []
    }
    if not named & rows.files.keys():
        return
    alone -= {row.get("case") for name in TABLES for row in rows.rows_of(name)}
    alone -= {case["id"] for case in rows.cases if case.get("reference_boxes")}
    kept, cases = RowTable(TABLES["cases"], rows.log), rows.tables["cases"]
    for case, at in zip(cases.rows, cases.places, strict=True):
        if case["id"] not in alone:
            kept.add(case, at)
            continue
        for path in {image["path"] for image in case.get("images") or []} - named:
            rows.receipt.file_unread(path, "picture", "No case of the other sources shows it.")
    rows.tables["cases"] = kept


def _join_by_name(rows: SetRows, case_id: str, alone: set[str]) -> None:
    """Give a picture that is called as a case is to that case, where it names none itself."""
    images = (rows.case(case_id) or {}).get("images") or []
    if len(images) != 1:
        return
    meant = rows.find_case(case=PurePosixPath(images[0]["path"]).stem)
    case = rows.case(meant[0]) if meant and meant[0] not in alone else None
    if case is not None and not case.get("images"):
        case["images"] = [dict(images[0])]


def _drop_without_case(rows: SetRows) -> None:
    for name in (name for name in TABLES if name not in ("cases", "answers")):
        table = rows.tables[name]
        kept = RowTable(table.table, rows.log)
        for row, at in zip(table.rows, table.places, strict=True):
            if rows.case(row.get("case") or "") is not None:
                kept.add(row, at)
                continue
            rows.receipt.taken_back(at)
            why = "There is no such case."
            rows.receipt.unused(at, why)
            rows.log.warning(at.file, why, "Give the cases, too.", row=at.row, field="case")
        rows.tables[name] = kept
