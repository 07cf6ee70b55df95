"""Turn the rows of one table into cases, answers and judgements.

Rows of the same case are joined by the case id or, if no column has one, by the same study, image
and question. Rows of the same answer, one for each reader, are joined, too. Values without a field
are kept as extra fields of the case or of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rexview.importers.box_table import AnswerBoxes
from rexview.importers.joins import NO_ID, join_ids
from rexview.importers.receipt import ProblemLog, example_text
from rexview.importers.set_rows import SetRows
from rexview.importers.table.cells import (
    COLUMN_FIELDS,
    NOT_RUN_WORDS,
    ColumnName,
    ScoreOptions,
    ScoreScale,
    is_identity,
    is_not_scored,
    read_list,
    read_number,
    read_option,
    read_whole_number,
    read_yes_no,
)
from rexview.importers.table.column_mapping import ANSWER_FIELDS, ANSWER_TEXTS, ColumnMapping
from rexview.importers.table.roles import IMAGE_MARK, is_letter
from rexview.importers.table.sheet import RowCells, SheetRow, TableSheet
from rexview.reviewset.report_text import is_absent, read_age, read_context, read_sex, report_fields
from rexview.reviewset.tables.source import RowOrigin
from rexview.vocab import DIMENSIONS, QUESTION_TYPES, SCORE_MAX, SCORE_MIN, normalise_view

DEFAULT_READER: Final = "reader1"


class JudgementReader:
    """Add the scores and flags of each row of one table.

    ``scores`` describes the scores of a table with one score a row.
    """

    def __init__(self, rows: SetRows, mapping: ColumnMapping, scores: ScoreOptions) -> None:
        self.rows, self.mapping, self.scores = rows, mapping, scores
        self.scale = ScoreScale.of(scores.scale) if scores.scale else None

    def read(self, case: str, models: Sequence[str], row: SheetRow) -> int:
        """Read the judgements of one row; return their number.

        ``models`` are those whose answers the row is about. Unusable values are left in the row.
        """
        made = 0
        reader, comment = row.peek("reader"), row.peek("comment")
        for one in self.mapping.judgements:
            text = row.cells[one.column]
            if not text:
                continue
            meant = [one.model] if one.model is not None else list(dict.fromkeys(models))
            if len(meant) != 1:
                self._warn_of_models(one.column, meant, row)
                continue
            answer = {"case": case, "model": meant[0], "comment": comment}
            answer["reader"] = one.reader or reader or DEFAULT_READER
            if one.judges in DIMENSIONS:
                scale = ScoreScale.of(one.scale) if one.scale else None
                made += self._score(answer, one.judges, text, one.column, scale, row)
                continue
            ticked = read_yes_no(text)
            if ticked is None:
                message = "The cell says neither yes nor no; it is kept as an extra field."
                row.warn(message, "Write yes or no.", one.column)
                continue
            row.take_column(one.column)
            if ticked:
                given = {name: part for name, part in answer.items() if part is not None}
                self.rows.add_mark("flags", {**given, "failure": one.judges}, row.at)
                made += 1
        made += self._one_score(case, models, row)
        if made:
            for field in ("model", "reader", "comment"):
                row.take(field)
        return made

    def _one_score(self, case: str, models: Sequence[str], row: SheetRow) -> int:
        """Read a row with one score: its dimension in one column, its value in another."""
        dimension, text = row.peek("dimension"), row.peek("score")
        if dimension is None or text is None:
            return 0
        word = self.scores.of_word(dimension)
        if word is None:
            message = f"“{dimension[:40]}” is not a dimension; the score is kept as an extra field."
            remedy = f"Use one of {', '.join(DIMENSIONS)}, or say which is meant "
            remedy += f"(dimension: {dimension[:40]}=…)."
            row.warn(message, remedy, "dimension")
            return 0
        if len(models) != 1:
            self._warn_of_models(row.fields["score"], models, row)
            return 0
        answer = {"case": case, "model": models[0], "comment": row.peek("comment")}
        answer["reader"] = row.peek("reader") or DEFAULT_READER
        made = self._score(answer, word, text, row.fields["score"], self.scale, row)
        if made:
            row.take("dimension")
        return made

    def _score(
        self,
        answer: dict[str, Any],
        dimension: str,
        text: str,
        column: str,
        scale: ScoreScale | None,
        row: SheetRow,
    ) -> int:
        if is_not_scored(text):
            row.take_column(column)
            return 0
        extra = {}
        if scale is not None:
            score = scale.convert(text)
            extra = {"score_given": row.value(column)}
        else:
            number = read_number(text)
            usable = number is not None and number.is_integer()
            score = int(number) if number is not None and usable else None
        if score is None or not SCORE_MIN <= score <= SCORE_MAX:
            message = "The score is not a whole number from 1 to 5; it counts as not scored."
            remedy = "Write 1, 2, 3, 4 or 5, or say which scale it is of (scale)."
            if scale is not None:
                message = "The score is not on the scale that was given; it counts as not scored."
                remedy = "Correct it, or give another scale."
            row.warn(message, remedy, column)
            return 0
        row.take_column(column)
        at = replace(row.at, columns={**row.at.columns, "score": column})
        given = {**answer, "dimension": dimension, "score": score, "extra": extra}
        self.rows.add_mark(
            "scores", {name: one for name, one in given.items() if one not in (None, {})}, at
        )
        return 1

    def _warn_of_models(self, column: str, models: Sequence[str], row: SheetRow) -> None:
        what, remedy = "There is no answer for this judgement", "Add the answer."
        if models:
            what = "It is not clear which model's answer this judgement is for"
            remedy = "Name the model of this column in the mapping."
        row.warn(f"{what}; it is kept as an extra field.", remedy, column)


_NUMBERS: Final[dict[str, Callable[[str], float | None]]] = {
    **dict.fromkeys(("input_tokens", "output_tokens", "max_output_tokens"), read_whole_number),
    "latency_s": read_number,
}
_NAMES: Final = {"answer": "text", "reasoning": "explanation"}
"""Fields of a mapping that have another name in the declared columns."""
_OF_RUNS: Final = ("model", "created", "run_id", "repeat")
_OF_ANSWERS: Final = {*ANSWER_FIELDS, *_OF_RUNS, "reader", "comment", "score", "dimension"}
_BARE: Final = ("id", "extra")
"""Fields of a case that no source describes."""
_KEY: Final = ("study_id", "image", "question")
_IDS: Final = ("case", "study_id", "image")
_NAMED: Final = ("case", *_KEY)
_DESCRIBING: Final = frozenset(
    (
        *("question", "report", "findings", "impression", "image", "options", "option_a"),
        *("indication", "category", "normal", "correct", "expected_answer"),
    )
)


class CaseKeys:
    """Cases of rows without a case id, for all tables of an import."""

    def __init__(self, rows: SetRows) -> None:
        self.rows = rows
        self._known: dict[tuple[str | None, ...], str] = {}
        self._made: set[str] = set()

    def of(self, key: tuple[str | None, ...], *, of_study: bool = False) -> str:
        """Return the id for a study, image and question, any of which may be None.

        With ``of_study`` all images of a study belong to one case.
        """
        own = (key[0], None, key[2]) if of_study else key
        if any(key) and own in self._known:
            return self._known[own]
        study, image, question = key
        found = self.rows.find_case(study=study, image=image) if study or image else None
        if found is not None and found[0] not in self._made:  # another file has it
            asks = (self.rows.case(found[0]) or {}).get("question")
            if question is None or asks in (None, question):
                return self._known.setdefault(own, found[0])
        number = len(self._made) + 1
        while self.rows.case(f"case-{number:03}") is not None:
            number += 1
        made = f"case-{number:03}"
        self._made.add(made)
        self.rows.numbered.add(made)
        return self._known.setdefault(own, made) if any(key) else made


class TableReader:
    """Read the rows of one table."""

    def __init__(
        self,
        rows: SetRows,
        sheet: TableSheet,
        mapping: ColumnMapping,
        options: Mapping[str, Any],
        keys: CaseKeys,
    ) -> None:
        self.rows, self.sheet, self.mapping, self.keys = rows, sheet, mapping, keys
        self.fields = {one.field: one.column for one in mapping.fields if one.column}
        self.needs_id = False
        """True if a row without an id is left out, because other sources define the cases."""
        self.empty_is_answer = options.get("empty") == "answer"
        self.model = options["model"] or mapping.model or Path(sheet.file).stem
        self.wide = self._answer_columns()
        self.has_answers = bool(self.wide) or bool(
            {*ANSWER_TEXTS, "choice", "error"} & {*self.fields}
        )
        self.judgements = JudgementReader(rows, mapping, ScoreOptions.of(options, ProblemLog()))
        self.describes = bool(_DESCRIBING & self.fields.keys())
        self.alone = not any(
            value for case in rows.cases for name, value in case.items() if name not in _BARE
        )
        self.names = self.fields | {
            name: self.fields[field] for field, name in _NAMES.items() if field in self.fields
        }
        if "model" in self.fields and not options["model"]:
            named = {cell for cell in sheet.column(self.fields["model"]) if cell}
            self.model = named.pop() if len(named) == 1 else self.model
        elif not self.wide and "answer" not in self.fields and len(rows.models) == 1:
            self.model = next(iter(rows.models))  # failed requests in a table without answers
        self.sheet = self._with_ids_of_cases(sheet)
        given = options.get("index_from")
        self.index_from = int(given) if given is not None else self._first_index()
        self.boxes = AnswerBoxes(sheet, (*mapping.used_columns, *mapping.identity))
        self.case_extras, self.answer_extras, self.reader_extras = self._extra_columns()

    def _with_ids_of_cases(self, sheet: TableSheet) -> TableSheet:
        """Return the table with its ids as the cases of other sources write them.

        The join is recorded in the receipt, once the table is read.
        """
        field = next((one for one in _IDS if one in self.fields), None)
        if field is None:
            return sheet
        key = self.fields[field]
        answers = self.has_answers and not _DESCRIBING - {"image"} & self.fields.keys()
        self.needs_id = bool(answers and self.rows.described and not self.alone)
        how = {"images": field == "image", "answers": answers, "alone": self.alone}
        names = join_ids(sheet.file, key, sheet.column(key), sheet.numbers, self.rows, **how)
        if not names:
            return sheet
        place = sheet.columns.index(key)
        named = (names.get((row[place] or "").strip(), row[place]) for row in sheet.rows)
        rows = zip(sheet.rows, named, strict=True)
        rewritten = tuple((*row[:place], name, *row[place + 1 :]) for row, name in rows)
        return replace(sheet, rows=rewritten)

    def _answer_columns(self) -> dict[tuple[str, str | None], dict[str, str]]:
        """Return the columns of each model's run by field, in a table of a column per model."""
        found: dict[tuple[str, str | None], dict[str, str]] = {}
        for one in self.mapping.answers:
            run, number = one.run, 1
            while one.field in found.get((one.model, run), {}):  # a second column of a model
                run, number = str(number + 1), number + 1
            found.setdefault((one.model, run), {})[one.field] = one.column
        beside = [field for field in ANSWER_FIELDS if field in self.fields]
        if found and "answer" in beside:
            found.setdefault((self.model, None), {})
        if "answer" in beside or len(found) == 1:  # about that answer
            for field in beside if found else ():
                list(found.values())[-1].setdefault(field, self.fields.pop(field))
        return found

    def read(self) -> None:
        """Read every row, and list in the receipt what is kept or left out."""
        receipt, log, file = self.rows.receipt, self.rows.log, self.sheet.file
        part = self.sheet.name or ""
        receipt.rows(file, len({*self.sheet.numbers}) + len(self.sheet.unread), part)
        for number, why in self.sheet.unread:
            receipt.unused(RowOrigin(file, number, part), why)
        private = [column for column in self.mapping.identity if is_identity(column)]
        for column in self.mapping.identity:
            if column not in private:
                example = next(filter(None, self.sheet.column(column)), None)
                receipt.column_unused(file, column, example, "It was left out, as told.")
        if private:
            columns = ", ".join(private)
            message = f"Columns that look like a patient's identity were left out: {columns}."
            remedy = "Map them if they hold nothing of the kind."
            log.warning(file, message, remedy, field="identity")
            for column in private:
                receipt.identity_column(file, column)
        if not self.has_answers and not self.mapping.judgements and "score" not in self.fields:
            self.rows.without_answers.append(file)
        for name, value in self.sheet.settings.items():
            receipt.column_unused(file, name, value, "It stands beside the rows, and is of none.")
        for kept in self.mapping.kept:
            if kept.note and kept.column in self.mapping.extra_columns:
                message = f"Kept as an extra field. {kept.note} {kept.advice}".rstrip()
                remedy = "Give the mapping with its meaning, if it has one."
                log.warning(file, message, remedy, field=kept.column)
        log.note(f"{file}: {self._taken_for()}.")
        for model, _ in self.wide:
            self.rows.declare_model(model)
        for row in self.sheet.read(self.fields, log):
            self._read_row(row)
        for column in (*self.case_extras, *self.answer_extras, *self.reader_extras):
            example = next(filter(None, self.sheet.column(column)), None)
            if example is None:
                receipt.column_unused(file, column, None, "It is empty.")
            else:
                of = "case" if column in self.case_extras else "answer"
                receipt.column_kept(file, column, example, of)

    def _taken_for(self) -> str:
        """Return what each column was taken for, in the words of the form."""
        pairs = [(column, COLUMN_FIELDS[field]) for field, column in self.fields.items()]
        pairs += [
            (one.column, f"{COLUMN_FIELDS[one.field]} of {one.model}")
            for one in self.mapping.answers
        ]
        pairs += [(one.column, one.judges.replace("_", " ")) for one in self.mapping.judgements]
        taken = (f"“{column}” as {meaning}" for column, meaning in pairs)
        model = "" if self.wide or "model" in self.fields else f"; the model is {self.model}"
        return f"columns taken: {', '.join(taken)}{model if self.has_answers else ''}"

    def _read_row(self, row: SheetRow) -> None:
        at = RowOrigin(self.sheet.file, row.at.row, self.sheet.name or "", self.names)
        row.at = at
        if self.needs_id and not any(map(row.peek, _NAMED)):
            self.rows.receipt.unused(at, NO_ID)
            return
        case_id = self._case_id(row)
        grounded = self.boxes.take_grounded(row, case_id)
        case = {"id": case_id, **make_case_row(row, self.index_from), **grounded}
        options = (self.rows.case(case_id) or {}).get("options") or case.get("options") or []
        answers = [
            (model, answer)
            for model, run, fields in self._by_model(row)
            if (answer := self._answer(case_id, model, fields, options, row)) is not None
            if run is None or answer.setdefault("run_id", run)
        ]
        about = [model for model, _ in answers] or self._judged_models(case_id, row)
        made = self.judgements.read(case_id, about, row)
        made += self.boxes.take(row, case_id, [model for model, _ in answers])
        self._keep_the_rest(case, about, [answer for _, answer in answers], row)
        if self.describes or len(case) > 1 or self.alone:
            self.rows.add_case(case, at)
        for _, answer in answers:
            self.rows.add_answer(answer, at)
        if not answers and not made:
            self.rows.receipt.unused(at, "It has no answer, and nothing about the case.")

    # Cases

    def _case_id(self, row: SheetRow) -> str:
        if "case" not in self.fields:
            study, image, question = (row.peek(field) for field in _KEY)
            of_study = study is not None and "question" not in self.fields and not self.has_answers
            return self.keys.of((study, image, question_text(question)), of_study=of_study)
        given = row.peek("case")
        if given is None:
            what = "The row has no case id; it became a case of its own."
            row.warn(what, "Give the case id in every row.", "case")
            return f"row {row.at.row}"
        row.take("case")
        if self.rows.case(given) is None and not self.alone and "question" not in self.fields:
            study, image = row.peek("study_id"), row.peek("image")
            found = self.rows.find_case(case=given, study=study, image=image, at=row.at)
            named = self.rows.find_case(case=given) if image else found
            if found and (named or found[0] not in self.rows.pictures):
                return found[0]  # else only its picture is known, and nobody named a case by it
        return given.strip()

    def _first_index(self) -> int | None:
        """Return the number that options are counted from, if the numbers themselves show it."""
        if self.fields.keys().isdisjoint(("correct", "choice")):
            return None
        numbers: set[int] = set()
        most = 0
        for row in self.sheet.read(self.fields, self.rows.log):
            for field in ("correct", "choice"):
                number = read_whole_number(row.peek(field))
                numbers |= set() if number is None else {number}
            most = max(most, len(read_options(row))) if numbers else most
        if not numbers or not most:
            return None
        if 0 in numbers:
            return 0
        return 1 if max(numbers) == most else None

    # Answers

    def _by_model(self, row: SheetRow) -> list[tuple[str, str | None, dict[str, str]]]:
        """Return model, run, and columns by field of each answer that a row can have."""
        if self.wide:
            return [(model, run, columns) for (model, run), columns in self.wide.items()]
        if not self.has_answers:
            return []
        columns: dict[str, str] = {
            field: self.fields[field] for field in ANSWER_FIELDS if field in self.fields
        }
        return [(row["model"] or self.model, None, columns)]

    def _answer(
        self, case_id: str, model: str, columns: dict[str, str], options: list[str], row: SheetRow
    ) -> dict[str, Any] | None:
        """Make an answer from its cells; None, and a receipt entry, if the model was not run."""
        cells = {field: row.cells[column] for field, column in columns.items()}
        texts = {name: cells.get(f"answer_{name}") for name in ("findings", "impression")}
        under = (f"{name.upper()}: {text}" for name, text in texts.items() if text)
        text = cells["answer"] if "answer" in cells else "\n".join(under) or None
        came = text is not None and (not text or text.strip().lower() not in NOT_RUN_WORDS)
        told = any(
            cell and cell.strip().lower() not in NOT_RUN_WORDS
            for field, cell in cells.items()
            if field not in (*ANSWER_TEXTS, "max_output_tokens")
        )
        nobody = model if self.wide else None
        judged = any(  # then there was an answer, even if its cell is empty
            row.cells[one.column] is not None and one.model in (model, nobody)
            for one in self.mapping.judgements
        )
        if not self.wide:
            row.take("model")
        for field in ANSWER_TEXTS:
            if field in columns:
                row.take_column(columns[field])
        if not (came or told or judged or self.empty_is_answer):
            for column in columns.values():
                if (row.cells[column] or "").strip().lower() in NOT_RUN_WORDS:
                    row.take_column(column)
            self.rows.receipt.ran_not(row.at, model)
            return None
        answer: dict[str, Any] = {"case": case_id, "model": model}
        answer["text"] = text if came and text is not None else ""
        if options and is_letter(answer["text"]):
            answer["choice"] = find_option(answer["text"], options, None)
        for field in columns.keys() - {*ANSWER_TEXTS}:
            cell = cells[field]
            if cell is None or cell.strip().lower() in NOT_RUN_WORDS:
                row.take_column(columns[field])
                continue
            value: Any = cell
            if field == "choice":
                value = find_option(cell, options, self.index_from)
                if value is None:
                    continue  # reported with the unused cells
            elif field in _NUMBERS:
                number = _NUMBERS[field](cell)
                value = cell if number is None else number
            answer[_NAMES.get(field, field)] = value
            row.take_column(columns[field])
        for field in _OF_RUNS[1:]:
            if (cell := row.take(field)) is not None:
                answer[field] = cell
        return answer

    def _judged_models(self, case_id: str, row: SheetRow) -> list[str]:
        """Return the model of a row without an answer: the one it names, or the only one."""
        if self.has_answers:
            return []
        if "model" in self.fields:
            model = row.peek("model")
            return [model] if model else []
        return list({answer["model"]: None for answer in self.rows.answers_of(case_id)})

    # Extra fields

    def _extra_columns(self) -> tuple[list[str], list[str], list[str]]:
        """Sort extra columns into those about the case, an answer, or one reader's judgement."""
        used = {*self.mapping.used_columns, *self.mapping.identity, *self.boxes.columns}
        extra = [name for name in self.sheet.columns if name not in used and not is_identity(name)]
        if self.wide:
            return extra, [], []
        of_cases: dict[Any, RowCells] = {}
        of_answers: dict[Any, RowCells] = {}
        varying: set[str] = set()
        of_readers: set[str] = set()
        for row in self.sheet.read(self.fields, self.rows.log):
            named = (row["case"], *(row[field] for field in _KEY if not row["case"]))
            key = named if any(named) else row.at.row
            answer = (key, row["model"], row["run_id"], row["repeat"])
            case, answered = of_cases.setdefault(key, row.cells), row.cells
            if "reader" in self.fields:
                answered = of_answers.setdefault(answer, row.cells)
            varying |= {column for column in extra if row.cells[column] != case[column]}
            of_readers |= {column for column in extra if row.cells[column] != answered[column]}
        return (
            [column for column in extra if column not in varying],
            [column for column in extra if column in varying - of_readers],
            [column for column in extra if column in of_readers],
        )

    def _keep_the_rest(
        self,
        case: dict[str, Any],
        about: list[str],
        answers: list[dict[str, Any]],
        row: SheetRow,
    ) -> None:
        """Keep the unused cells of a row as extra fields of its answer, or else of the case.

        A value from one of several readers is stored under the reader's name.
        """
        left = [name for name in row.left if name not in self.mapping.identity]
        unread = [name for name in left if name in self.mapping.used_columns]
        for column in unread:
            if column in (self.fields.get("choice"), self.fields.get("correct")):
                message = f"“{example_text(row.cells[column])}” is none of the options."
                remedy = "Write its letter or text; for numbers, say what they count from "
                message += " It is kept as an extra field."
                row.warn(message, f"{remedy}(index_from).", column)
        kept: dict[str, Any] = {}
        reader = row.peek("reader")
        of_reader = [name for name in left if name in self.reader_extras]
        if reader is not None and (of_reader or row.peek("score")):
            said = row.keep(*of_reader)
            if "score" in self.fields and self.fields["score"] in left:
                said |= {row.peek("dimension") or "score": row.take("score")}
                row.take("dimension")
            comment = row.take("comment") if "comment" in self.fields else None
            said |= {} if comment is None else {"comment": comment}
            kept = {f"{name} ({reader})": value for name, value in said.items()}
            row.take("reader")
        if len(about) == 1:
            there = any(one["model"] == about[0] for one in self.rows.answers_of(case["id"]))
            if answers or there:
                row.take("model")
            of_case = {*self.case_extras}
            of_case |= {self.fields[field] for field in self.fields if field not in _OF_ANSWERS}
            kept |= row.keep(*(name for name in left if name not in of_case))
            if kept and answers:
                answers[0]["extra"] = kept
            elif kept and there:
                answer = {"case": case["id"], "model": about[0], "extra": kept}
                self.rows.add_answer(answer, row.at)
            else:
                case["extra"] = kept
        else:
            case["extra"] = kept
        case["extra"] = case.get("extra", {}) | row.keep(*left)
        if not case["extra"]:
            del case["extra"]


EXPECTED_ANSWER: Final = "expected answer"
"""The extra field of a case with the short answer that is right."""
_TAG: Final = "tag_"
_OPTION: Final = "option_"
_PRIOR: Final = frozenset(("prior", "previous", "old", "comparison", "before"))
_PLAIN: Final = ("category", "difficulty", "study_id", "patient_id", "site", "explanation")
_NEXT_OPTION: Final = re.compile(r"(?:^|[\s,;])\(?([A-H])[).:]\s+")


def make_case_row(row: SheetRow, index_from: int | None) -> dict[str, Any]:
    """Make a case row from the cells of one row; unusable cells stay in ``row``.

    ``index_from`` is the number of the first option; None if unknown.
    """
    options = read_options(row)
    told = (row.peek("question_type") or "").strip().lower()
    kind = told if told in QUESTION_TYPES and (told != "choice" or options) else None
    if kind:
        row.take("question_type")
    apart = {name: row.take(name) for name in ("findings", "impression")}
    fields = report_fields(row.take("report"), **apart)
    context = {
        name: text
        for name, text in vars(read_context(row.take("indication"))).items()
        if text is not None
    }
    told_of = {"age": row.read("age", read_age), "sex": row.read("sex", read_sex)}
    told_of["comparison"] = None if is_absent(row["comparison"]) else row["comparison"]
    row.take("comparison")
    context |= {name: text for name, text in told_of.items() if text}
    found: dict[str, Any] = {name: row.take(name) for name in ("question", *_PLAIN)}
    found["question"] = question_text(found["question"])
    found |= {
        "question_type": kind or ("choice" if options else None),
        "tags": {
            field.removeprefix(_TAG): read_list(row.take(field))
            for field in row.fields
            if field.startswith(_TAG) and row.peek(field)
        },
        "normal": row.read("normal", read_yes_no),
        **fields,
        "context": fields.get("context", {}) | context,
        EXPECTED_ANSWER: row.take("expected_answer"),
        "images": _images(row),
        "options": options,
        "correct": row.read("correct", lambda text: find_option(text, options, index_from)),
    }
    return {name: value for name, value in found.items() if value not in (None, {}, [])}


def question_text(question: str | None) -> str | None:
    """Return a question without the mark for the picture."""
    if question is None or IMAGE_MARK not in question:
        return question
    return question.replace(IMAGE_MARK, "").strip()


def _images(row: SheetRow) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = []
    for field in ("image", "image_2", "image_3"):
        name = ColumnName.of(row.fields.get(field, ""))
        given = row.value(row.fields[field]) if field in row.fields else None
        listed = given if isinstance(given, list) else []
        if listed and all(isinstance(one, Mapping) and "path" in one for one in listed):
            images += [dict(one) for one in listed]
            row.take(field)
            continue
        views = [word for word in name.words if normalise_view(word) != "UNKNOWN"]
        for path in read_list(row.take(field)):
            image: dict[str, Any] = {"path": path}
            if views and field in row.fields and not row.peek("view"):
                image["view"] = views[0]
            if _PRIOR & {*name.words}:
                image["prior"] = True
            images.append(image)
    views = read_list(row.peek("view"))
    if views and len(views) == len(images):
        row.take("view")
        images = [image | {"view": view} for image, view in zip(images, views, strict=True)]
    return images


def read_options(row: SheetRow) -> list[str]:
    """Read the options of a row: a list in one cell, a text with letters, or a column each."""
    own = [row.take(field) for field in row.fields if field.startswith(_OPTION)]
    if given := [one for one in own if one is not None]:
        return given
    text = row.take("options")
    listed = read_list(text)
    if text is not None and len(listed) == 1:
        starts = [(one.start(), one[1]) for one in _NEXT_OPTION.finditer(text)]
        letters = [letter for _, letter in starts]
        if letters and letters == list("ABCDEFGH"[: len(letters)]):
            ends = [*[place for place, _ in starts[1:]], len(text)]
            return [text[a:b].strip(" ,;\n") for (a, _), b in zip(starts, ends, strict=True)]
    return listed


def find_option(text: str, options: list[str], index_from: int | None) -> int | None:
    """Return the index of an option that a cell names: by its text, its letter, or its number.

    A number counts only if ``index_from`` gives the number of the first option.
    """
    plain = text.strip()
    same = [place for place, option in enumerate(options) if option.strip() == plain]
    if same:
        return same[0]
    folded = plain.casefold()
    bare = [
        place
        for place, option in enumerate(options)
        if re.sub(r"^\s*\(?[A-Za-z][).:]\s*", "", option).strip().casefold() == folded
    ]
    if len(bare) == 1:
        return bare[0]
    if not options:
        return None
    if re.fullmatch(r"-?\d+(\.0+)?", plain):
        if index_from is None:
            return None
        place = int(float(plain)) - index_from
        return place if 0 <= place < len(options) else None
    return read_option(plain, len(options))
