"""Rows of a table turned into cases, answers and marks, by a mapping of its columns.

Rows of the same case are brought together by the case id or, where no column holds one, by the
same study, image and question. Rows of the same answer, one for each reader, are brought together
too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.draft import Draft
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.images.names import name_images
from rexview.reviewset.importers.table.case import case_from
from rexview.reviewset.importers.table.cell_values import (
    read_date,
    read_number,
    read_option,
    read_whole,
)
from rexview.reviewset.importers.table.column_mapping import ANSWER_FIELDS, ColumnMapping
from rexview.reviewset.importers.table.column_names import IDENTITY, ColumnName
from rexview.reviewset.importers.table.marks import MarkReader
from rexview.reviewset.importers.table.sheet import Sheet
from rexview.schema import Answer, Case, Model
from rexview.vocab import normalise_finish_reason

_NUMBERS: Final = ("input_tokens", "output_tokens", "max_output_tokens", "latency_s", "choice")
_MOST_OPTIONS: Final = 26

Record = Mapping[str, str | None]


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
        self.marks = MarkReader(draft, sheet.file, mapping, log)
        self.extras = self._split_extras()

    def _split_extras(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Tell extra columns that describe the case from those that describe an answer."""
        used = {*self.mapping.used_columns, *self.mapping.identity}
        extra = tuple(
            column
            for column in self.sheet.columns
            if column not in used and not IDENTITY.search(ColumnName.of(column).plain)
        )
        if self.mapping.answers:
            return extra, ()
        seen: dict[str, dict[str, str | None]] = {}
        varying: set[str] = set()
        for number, record in self.sheet.records():
            first = seen.setdefault(self._case_id(number, record), dict(record))
            varying |= {column for column in extra if record[column] != first[column]}
        return (
            tuple(column for column in extra if column not in varying),
            tuple(column for column in extra if column in varying),
        )

    def read(self) -> None:
        """Read every row."""
        if self.mapping.identity:
            self.log.warning(
                self.sheet.file,
                f"Columns that look like a patient's identity were left out: "
                f"{', '.join(self.mapping.identity)}.",
                "Map them if they hold nothing of the kind.",
                field="identity",
            )
        if not self.columns.get("answer") and not self.mapping.answers:
            self.log.warning(
                self.sheet.file,
                "No column holds answers; the cases were imported without any.",
                "Map the answer, if there is one.",
                field="answer",
            )
        for one in self.mapping.answers:
            self.draft.models.setdefault(one.model, Model(id=one.model, name=one.model))
        cases: dict[str, Case] = {}
        for number, record in self.sheet.records():
            case_id = self._case_id(number, record)
            case = self._case(case_id, number, record)
            before = cases.get(case_id, self.draft.cases.get(case_id))
            cases[case_id] = case if before is None else self._joined(before, case, number)
            self._answers(case_id, number, record)
        for case_id, case in cases.items():
            self.draft.cases[case_id] = replace(case, images=name_images(case.images))

    def _get(self, record: Record, field: str) -> str | None:
        column = self.columns.get(field)
        return record[column] if column else None

    def _case_id(self, number: int, record: Record) -> str:
        if "case" in self.columns:
            given = self._get(record, "case")
            return given or f"row {number}"
        key = tuple(self._get(record, field) for field in ("study_id", "image", "question"))
        if not any(key):
            return f"case-{number:03}"
        taken = len(self.case_keys) + 1
        return self.case_keys.setdefault(key, f"case-{taken:03}")

    def _case(self, case_id: str, number: int, record: Record) -> Case:
        if "case" in self.columns and self._get(record, "case") is None:
            self.log.warning(
                self.sheet.file,
                "The row has no case id; it became a case of its own.",
                "Give the case id in every row.",
                row=number,
                field=self.columns["case"],
            )
        fields = {field: record[column] for field, column in self.columns.items()}
        case = case_from(case_id, fields, self.question, self.sheet.file, number, self.log)
        extra = {column: record[column] for column in self.extras[0] if record[column] is not None}
        return replace(case, extra=extra)

    def _joined(self, first: Case, second: Case, number: int) -> Case:
        """Fill what earlier rows did not say about a case; the first word on anything counts."""
        if first.question != second.question:
            self.log.warning(
                self.sheet.file,
                "The question differs from that of an earlier row of this case, which was kept.",
                "Give each question its own case id.",
                row=number,
                field=self.columns.get("question"),
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

    def _answers(self, case_id: str, number: int, record: Record) -> None:
        answered: list[str] = []
        for model, values in self._by_model(record):
            told = self._get(record, "model") is not None and "answer" in self.columns
            if any(values.values()) or told or self._marked(model, record):
                self._answer(case_id, model, values, number, record)
                answered.append(model)
        self.marks.read(case_id, answered, number, record)

    def _marked(self, model: str, record: Record) -> bool:
        """Whether a reader marked the answer: then there was one, even if its cell is empty."""
        nobody = None if not self.mapping.answers else model
        return any(
            record[mark.column] is not None and mark.model in (model, nobody)
            for mark in self.mapping.marks
        )

    def _by_model(self, record: Record) -> list[tuple[str, dict[str, str | None]]]:
        """Return the cells of each answer that the row can hold, by field."""
        if not self.mapping.answers:
            values = {field: self._get(record, field) for field in ANSWER_FIELDS}
            return [(self._get(record, "model") or self.model, values)]
        by_model: dict[str, dict[str, str | None]] = {}
        for one in self.mapping.answers:
            by_model.setdefault(one.model, {})[one.field] = record[one.column]
        return list(by_model.items())

    def _answer(
        self,
        case_id: str,
        model: str,
        values: Mapping[str, str | None],
        number: int,
        record: Record,
    ) -> None:
        self.draft.models.setdefault(model, Model(id=model, name=model))
        run = self._get(record, "run_id")
        answer = Answer(
            case=case_id,
            model=model,
            text=values.get("answer") or "",
            run_id=run,
            error=values.get("error"),
            created=self._date(record, number),
            extra={column: record[column] for column in self.extras[1] if record[column]},
            **self._finish(values.get("finish_reason"), number),
            **self._numbers(values, number),
        )
        place = self.answered.get((case_id, model, run))
        if place is None:
            self.answered[case_id, model, run] = len(self.draft.answers)
            self.draft.answers.append(answer)
        elif self.draft.answers[place].text != answer.text and answer.text:
            if self.draft.answers[place].text:
                self.log.warning(
                    self.sheet.file,
                    "Another row has a different answer of this model to this case; the first "
                    "one was kept.",
                    "Add a run column if the model answered more than once.",
                    row=number,
                    field=self.columns.get("answer"),
                )
            else:
                self.draft.answers[place] = answer

    def _finish(self, word: str | None, number: int) -> dict[str, Any]:
        reason = normalise_finish_reason(word)
        if reason is None:
            self.log.warning(
                self.sheet.file,
                f"“{(word or '')[:40]}” is not a finish reason that is known; the word was kept.",
                "Use stop, length, content_filter or error.",
                row=number,
                field=self._column_of("finish_reason"),
            )
        return {"finish_reason": reason or "unknown", "finish_reason_raw": word}

    def _numbers(self, values: Mapping[str, str | None], number: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field in _NUMBERS:
            text = values.get(field)
            if text is None:
                continue
            value: float | int | None
            if field == "choice":
                value = read_option(text, _MOST_OPTIONS)
            elif field == "latency_s":
                value = read_number(text)
            else:
                value = read_whole(text)
            if value is None or value < 0:
                self.log.warning(
                    self.sheet.file,
                    "The value is not a number that can be used; it was left out.",
                    "Write a plain number.",
                    row=number,
                    field=self._column_of(field),
                )
            else:
                found[field] = value
        return found

    def _column_of(self, field: str) -> str:
        wide = next((one.column for one in self.mapping.answers if one.field == field), field)
        return self.columns.get(field) or wide

    def _date(self, record: Record, number: int) -> Any:
        text = self._get(record, "created")
        when = read_date(text)
        if text is not None and when is None:
            self.log.warning(
                self.sheet.file,
                "The date cannot be read; it was left out.",
                "Write dates as 2025-01-31 or 2025-01-31 14:05.",
                row=number,
                field=self.columns["created"],
            )
        return when
