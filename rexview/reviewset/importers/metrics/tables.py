"""Tables of metric values: one a row, or a column a metric; with a board of means told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile
from rexview.reviewset.importers.metrics.names import (
    COLUMNS,
    is_reciprocal,
    known_metric,
    may_be_metric,
    program_of,
)
from rexview.reviewset.importers.metrics.values import RECIPROCAL, Source
from rexview.reviewset.importers.table.cell_values import read_number, read_whole
from rexview.reviewset.importers.table.column_names import is_identity
from rexview.reviewset.importers.table.roles import (
    columns_by_meaning,
    holds_any,
    sample_of,
)
from rexview.reviewset.importers.table.sheet import Row, Sheet, read_sheet
from rexview.reviewset.tables.source import At

_NOT_METRICS: Final = ("question", "options", "correct", "finish_reason", "dimension")
"""Fields of tables of answers and scores, which are read as those."""
_BOARD: Final = "A row a model, and no study: these are means of a board, and no values of reports."
_NO_CASE: Final = "The row names no study."
_NO_VALUE: Final = "The row has no metric value that can be used."
_ENOUGH: Final = 2
"""Metrics by name that make a table one of metrics, where nothing else says so."""


@dataclass(frozen=True)
class MetricColumns:
    """Which columns of a table hold what; ``metrics`` are those of a table with one a metric."""

    by_meaning: Mapping[str, str]
    metrics: tuple[str, ...]

    @property
    def is_long(self) -> bool:
        """Whether there is a value a row."""
        return {"metric", "value"} <= self.by_meaning.keys()

    @property
    def is_board(self) -> bool:
        """Whether there is a row a model, and none a study."""
        return "case" not in self.by_meaning


def metric_columns(names: Sequence[str]) -> MetricColumns | None:
    """Tell whether a table with these columns holds metric values, and where."""
    if holds_any(names, _NOT_METRICS):
        return None
    metrics = tuple(name for name in names if known_metric(name) or is_reciprocal(name))
    by_meaning = columns_by_meaning([name for name in names if name not in metrics], COLUMNS)
    found = MetricColumns(by_meaning, metrics)
    if "case" in by_meaning and found.is_long:
        return MetricColumns(by_meaning, ())
    others = [name for name in names if name not in (*metrics, *by_meaning.values())]
    # one metric alone could be another word, such as a colour, among columns of something else
    alone = bool(metrics) and "text" not in by_meaning and not any(map(may_be_metric, others))
    enough = len(metrics) >= _ENOUGH or alone
    named = "case" in by_meaning or "model" in by_meaning
    if not enough or not named:
        return None
    of_long = {"metric", "value", "n"}  # "score" beside metrics is one of them
    return MetricColumns(
        {meaning: name for meaning, name in by_meaning.items() if meaning not in of_long}, metrics
    )


def recognised(probe: Probe) -> str | None:
    """Say why a file is a table of metric values."""
    sheet = sample_of(probe)
    columns = metric_columns(sheet.columns) if sheet else None
    if columns is None:
        return None
    if columns.is_long:
        return f"a metric value a row ({columns.by_meaning['metric']})"
    return f"metrics in columns ({', '.join(columns.metrics[:3])})"


def read_metric_table(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read a table of metric values."""
    sheet = read_sheet(file.path, rows.log, label=file.label)
    if sheet is None:
        return
    columns = metric_columns(sheet.columns)
    if columns is None:
        remedy = "Name columns study, model, metric, value, or study and a column a metric."
        rows.log.error(file.label, "The table holds no metric values.", remedy)
        return
    rows.receipt.rows(sheet.file, len(sheet.rows) + len(sheet.unread))
    for number, why in sheet.unread:
        rows.receipt.unused(At(sheet.file, number), why)
    if columns.is_board:
        rows.log.warning(file.label, _BOARD, "Give values by study.")
        for number in sheet.numbers:
            rows.receipt.unused(At(file.label, number), _BOARD)
    elif columns.is_long:
        _read_long(file, sheet, columns, rows, options)
    else:
        _read_wide(file, sheet, columns, rows, options)


def _read_long(
    file: SourceFile,
    sheet: Sheet,
    columns: MetricColumns,
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    metric_column = columns.by_meaning["metric"]
    source = _source(file, [one or "" for one in sheet.column(metric_column)], rows, options)
    _name_others(sheet, columns, rows)
    for row in sheet.read(columns.by_meaning, rows.log):
        at = At(file.label, row.number)
        case, metric = row["case"], row["metric"]
        if not case or not metric:
            rows.receipt.unused(at, _NO_CASE if not case else "The row names no metric.")
            continue
        identity = _identity(row)
        field = columns.by_meaning["value"]
        model = source.model(row["model"])
        value = row.value(field)
        if not source.add(at, case, metric, value, model=model, field=field, identity=identity):
            rows.receipt.unused(at, _NO_VALUE)


def _read_wide(
    file: SourceFile,
    sheet: Sheet,
    columns: MetricColumns,
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    source = _source(file, columns.metrics, rows, options)
    for name in filter(is_reciprocal, columns.metrics):
        rows.log.warning(file.label, *RECIPROCAL, field=name)
    own = _numbers(sheet, columns)
    metrics = [name for name in (*columns.metrics, *own) if not is_reciprocal(name)]
    if own:
        rows.log.note(f"{file.label}: {', '.join(own)} are numbers, and kept as metrics.")
    _name_others(sheet, columns, rows, taken=(*columns.metrics, *own))
    for row in sheet.read(columns.by_meaning, rows.log):
        at = At(file.label, row.number)
        case = row["case"]
        if not case:
            rows.receipt.unused(at, _NO_CASE)
            continue
        model, identity = source.model(row["model"]), _identity(row)
        made = [
            source.add(at, case, name, row.value(name), model=model, field=name, identity=identity)
            for name in metrics
        ]
        if not any(made):
            rows.receipt.unused(at, _NO_VALUE)
        elif row["text"]:
            _add_text(rows, case, model, row["text"], at)


def _source(
    file: SourceFile, names: Sequence[str], rows: SetRows, options: Mapping[str, Any]
) -> Source:
    program = program_of(names)
    if program and not options.get("implementation"):
        rows.log.note(
            f"{file.label}: metrics are called as {program} calls them, and count as its."
        )
    return Source(file, rows, options, program)


def _identity(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {
        name: row[name]
        for name in ("implementation", "version", "scope", "answer_digest")
        if row[name]
    }
    return told | {"n": read_whole(row["n"])}


def _numbers(sheet: Sheet, columns: MetricColumns) -> list[str]:
    """Return the columns of numbers that nothing else is known of: metrics of other names."""
    used = {*columns.by_meaning.values(), *columns.metrics}
    found = []
    for name in sheet.columns:
        cells = [cell for cell in sheet.column(name) if cell]
        numbers = all(read_number(cell) is not None for cell in cells)
        if name not in used and cells and numbers and may_be_metric(name) and not is_identity(name):
            found.append(name)
    return found


def _name_others(
    sheet: Sheet, columns: MetricColumns, rows: SetRows, taken: Sequence[str] = ()
) -> None:
    """Name in the receipt what nothing is taken from."""
    for name in sheet.columns:
        if name in taken or name in columns.by_meaning.values():
            continue
        example = next((cell for cell in sheet.column(name) if cell is not None), None)
        if is_identity(name):
            rows.receipt.identity_column(sheet.file, name)
        elif example is not None:
            why = "It is neither a metric nor says of what one is."
            rows.receipt.column_unused(sheet.file, name, example, why)


def _add_text(rows: SetRows, case: str, model: str, text: str, at: At) -> None:
    """Make the answer of the text that the values are of, where no other source gives it."""
    place = rows.find_case(case=case, study=case)
    if place is None:
        return
    known = next((one for one in rows.answers_of(place[0]) if one["model"] == model), None)
    if known is None or not known.get("text"):
        rows.add_answer({"case": place[0], "model": model, "text": text}, at)
