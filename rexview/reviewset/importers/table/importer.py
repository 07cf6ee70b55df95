"""Rows of a table turned into cases, answers and judgements, by a mapping of its columns.

A table has one row per answer, or one row per case and a column per model. :mod:`.column_guess`
proposes the mapping.

Rows of the same case are brought together by the case id or, where no column holds one, by the
same study, image and question. Rows of the same answer, one for each reader, are brought together
too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.draft import Draft, place_images
from rexview.reviewset.importers.core.importer import PROPOSED
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.names import name_images
from rexview.reviewset.importers.table.case import case_from
from rexview.reviewset.importers.table.cell_values import read_number, read_option, read_whole
from rexview.reviewset.importers.table.column_guess import guess
from rexview.reviewset.importers.table.column_mapping import ANSWER_FIELDS, ColumnMapping
from rexview.reviewset.importers.table.column_names import is_identity
from rexview.reviewset.importers.table.judgements import JudgementReader
from rexview.reviewset.importers.table.sheet import Cells, Row, Sheet, read_sheet
from rexview.reviewset.tables.scalars import read_date
from rexview.schema import Answer, Case, Model
from rexview.vocab import normalise_finish_reason

_MOST_OPTIONS: Final = 26
_NUMBERS: Final[dict[str, Callable[[str], float | None]]] = {
    **dict.fromkeys(("input_tokens", "output_tokens", "max_output_tokens"), read_whole),
    "latency_s": read_number,
    "choice": lambda text: read_option(text, _MOST_OPTIONS),
}


def read_table(sources: Sequence[Path], options: Mapping[str, Any], log: ProblemLog) -> Draft:
    """Read tables of the same columns into one draft."""
    draft = Draft(name=options["name"] or sources[0].stem.replace("_", " "))
    draft.description = f"Imported from {', '.join(path.name for path in sources)}."
    given = options["mapping"]
    mapping = None if given in (None, PROPOSED) else ColumnMapping.read(given)
    named = mapping.sheet if mapping else None
    for path in sources:
        sheet = read_sheet(path, log, sheet=options["sheet"] or named)
        if sheet is None:
            continue
        if given is None:
            log.error(
                path.name,
                "The meaning of its columns has not been confirmed.",
                "Look at the proposal (--show-mapping on the command line), and give it back as "
                f"the mapping, or give “{PROPOSED}” to take it as it is.",
                field="mapping",
            )
            continue
        used = mapping or guess(sheet)
        if _fits(used, sheet, log):
            RowReader(draft, sheet, used, options, log).read()
    place_images(draft, options["images"], [path.parent for path in sources], log, sources[0].name)
    return draft


def _fits(mapping: ColumnMapping, sheet: Sheet, log: ProblemLog) -> bool:
    used = mapping.used_columns
    absent = [column for column in used if column not in sheet.columns]
    for column in absent:
        message = f"The table has no column “{column}”."
        remedy = "Ask for the proposal of this file, and confirm that."
        log.error(sheet.file, message, remedy, field="mapping")
    if not used:
        message = "No column has a meaning."
        remedy = "Map at least the question, the answer or the image."
        log.error(sheet.file, message, remedy, field="mapping")
    return bool(used) and not absent


class RowReader:
    """Reads the rows of one table into a draft."""

    def __init__(
        self,
        draft: Draft,
        sheet: Sheet,
        mapping: ColumnMapping,
        options: Mapping[str, Any],
        log: ProblemLog,
    ) -> None:
        self.draft, self.sheet, self.mapping, self.log = draft, sheet, mapping, log
        self.question: str | None = options["question"]
        self.model = options["model"] or mapping.model or Path(sheet.file).stem
        self.columns = {one.field: one.column for one in mapping.fields if one.column}
        self.answered = {
            (answer.case, answer.model, answer.run_id): place
            for place, answer in enumerate(draft.answers)
        }
        self.case_keys: dict[tuple[str | None, ...], str] = {}
        self.judgements = JudgementReader(draft, mapping)
        self.case_extras, self.answer_extras = self._extra_columns()

    def _extra_columns(self) -> tuple[list[str], list[str]]:
        """Tell extra columns that describe the case from those that describe an answer."""
        used = {*self.mapping.used_columns, *self.mapping.identity}
        extra = [name for name in self.sheet.columns if name not in used and not is_identity(name)]
        if self.mapping.answers:
            return extra, []
        first: dict[str, Cells] = {}
        varying: set[str] = set()
        for row in self.sheet.read(self.columns, self.log):
            known = first.setdefault(self._case_id(row), row.cells)
            varying |= {column for column in extra if row.cells[column] != known[column]}
        return (
            [column for column in extra if column not in varying],
            [column for column in extra if column in varying],
        )

    def read(self) -> None:
        """Read every row."""
        if self.mapping.identity:
            columns = ", ".join(self.mapping.identity)
            message = f"Columns that look like a patient's identity were left out: {columns}."
            remedy = "Map them if they hold nothing of the kind."
            self.log.warning(self.sheet.file, message, remedy, field="identity")
        if not self.columns.get("answer") and not self.mapping.answers:
            message = "No column holds answers; the cases were imported without any."
            remedy = "Map the answer, if there is one."
            self.log.warning(self.sheet.file, message, remedy, field="answer")
        for one in self.mapping.answers:
            self.draft.models.setdefault(one.model, Model(id=one.model, name=one.model))
        cases: dict[str, Case] = {}
        for row in self.sheet.read(self.columns, self.log):
            case_id = self._case_id(row)
            case = self._case(case_id, row)
            before = cases.get(case_id, self.draft.cases.get(case_id))
            cases[case_id] = case if before is None else self._joined(before, case, row)
            self._answers(case_id, row)
        for case_id, case in cases.items():
            self.draft.cases[case_id] = replace(case, images=name_images(case.images))

    def _case_id(self, row: Row) -> str:
        if "case" in self.columns:
            return row["case"] or f"row {row.number}"
        key = tuple(row[field] for field in ("study_id", "image", "question"))
        if not any(key):
            return f"case-{row.number:03}"
        taken = len(self.case_keys) + 1
        return self.case_keys.setdefault(key, f"case-{taken:03}")

    def _case(self, case_id: str, row: Row) -> Case:
        if "case" in self.columns and row["case"] is None:
            message = "The row has no case id; it became a case of its own."
            row.warn(message, "Give the case id in every row.", self.columns["case"])
        case = case_from(case_id, row.fields, self.question, row.warn)
        return replace(case, extra=_given(row.cells, self.case_extras))

    def _joined(self, first: Case, second: Case, row: Row) -> Case:
        """Fill what earlier rows did not say about a case; the first word on anything counts."""
        if first.question != second.question:
            row.warn(
                "The question differs from that of an earlier row of this case, which was kept.",
                "Give each question its own case id.",
                self.columns.get("question"),
            )
        known = {image.path for image in first.images}
        images = (*first.images, *(one for one in second.images if one.path not in known))
        return replace(
            first,
            images=images,
            study_id=first.study_id or second.study_id,
            patient_id=first.patient_id or second.patient_id,
            report=replace(
                first.report,
                findings=first.report.findings or second.report.findings,
                impression=first.report.impression or second.report.impression,
            ),
            tags={**second.tags, **first.tags},
            extra={**second.extra, **first.extra},
        )

    def _answers(self, case_id: str, row: Row) -> None:
        answered: list[str] = []
        named = row["model"] is not None and "answer" in self.columns
        for model, values in self._by_model(row):
            if any(values.values()) or named or self._is_marked(model, row):
                self._answer(case_id, model, values, row)
                answered.append(model)
        self.judgements.read(case_id, answered, row)

    def _is_marked(self, model: str, row: Row) -> bool:
        """Whether a reader marked the answer: then there was one, even if its cell is empty."""
        nobody = None if not self.mapping.answers else model
        return any(
            row.cells[judgement.column] is not None and judgement.model in (model, nobody)
            for judgement in self.mapping.judgements
        )

    def _by_model(self, row: Row) -> list[tuple[str, dict[str, str | None]]]:
        """Return the cells of each answer that the row can hold, by field."""
        if not self.mapping.answers:
            return [(row["model"] or self.model, {field: row[field] for field in ANSWER_FIELDS})]
        by_model: dict[str, dict[str, str | None]] = {}
        for one in self.mapping.answers:
            by_model.setdefault(one.model, {})[one.field] = row.cells[one.column]
        return list(by_model.items())

    def _answer(self, case_id: str, model: str, values: Cells, row: Row) -> None:
        self.draft.models.setdefault(model, Model(id=model, name=model))
        run = row["run_id"]
        answer = Answer(
            case=case_id,
            model=model,
            text=values.get("answer") or "",
            run_id=run,
            error=values.get("error"),
            created=self._date(row),
            extra=_given(row.cells, self.answer_extras),
            **self._finish(values.get("finish_reason"), row),
            **self._numbers(values, row),
        )
        place = self.answered.get((case_id, model, run))
        if place is None:
            self.answered[case_id, model, run] = len(self.draft.answers)
            self.draft.answers.append(answer)
        elif self.draft.answers[place].text != answer.text and answer.text:
            if self.draft.answers[place].text:
                row.warn(
                    "Another row has a different answer of this model to this case; the first "
                    "one was kept.",
                    "Add a run column if the model answered more than once.",
                    self.columns.get("answer"),
                )
            else:
                self.draft.answers[place] = answer

    def _finish(self, word: str | None, row: Row) -> dict[str, Any]:
        reason = normalise_finish_reason(word)
        if reason is None:
            message = (
                f"“{(word or '')[:40]}” is not a finish reason that is known; the word was kept."
            )
            remedy = "Use stop, length, content_filter or error."
            row.warn(message, remedy, self._column_of("finish_reason"))
        return {"finish_reason": reason or "unknown", "finish_reason_raw": word}

    def _numbers(self, values: Cells, row: Row) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field, read in _NUMBERS.items():
            text = values.get(field)
            if text is None:
                continue
            value = read(text)
            if value is None or value < 0:
                message = "The value is not a number that can be used; it was left out."
                row.warn(message, "Write a plain number.", self._column_of(field))
            else:
                found[field] = value
        return found

    def _column_of(self, field: str) -> str:
        wide = next((one.column for one in self.mapping.answers if one.field == field), field)
        return self.columns.get(field) or wide

    def _date(self, row: Row) -> datetime | None:
        text = row["created"]
        when = None if text is None else read_date(text)
        if text is not None and when is None:
            message = "The date cannot be read; it was left out."
            remedy = "Write dates as 2025-01-31 or 2025-01-31 14:05."
            row.warn(message, remedy, self.columns["created"])
        return when


def _given(cells: Cells, columns: list[str]) -> dict[str, str | None]:
    return {column: cells[column] for column in columns if cells[column] is not None}
