"""Import metric values of reports, each with its identity.

A table has a value a row or a column a metric; a leaderboard of means is recognised as such.
Programs write JSON with a list of values a metric. RadEval does so with ``per_sample=True``, in the
order of the reports and without their ids, which have to be given with the lists (``"study_ids":
[...]``). Values by id are read, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from rexview.importers.joins import join_ids
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import (
    Probe,
    SourceFile,
    model_from_options,
    model_name_of_file,
    read_source_json,
)
from rexview.importers.table.cells import is_identity, read_number, read_whole_number
from rexview.importers.table.roles import columns_by_meaning, has_field, record_table, sample_rows
from rexview.importers.table.sheet import TableSheet, read_table_sheet
from rexview.package_data import read_package_table
from rexview.reviewset.problems import quote_value
from rexview.reviewset.tables.source import RowOrigin

_DATA: Final[dict[str, Any]] = read_package_table(Path(__file__).with_name("metric_names.yaml"))
_BY_NAME: Final = {name: metric for metric, names in _DATA["names"].items() for name in names}
_OTHER_NAMES: Final = frozenset(_DATA["not_metrics"])
RECIPROCALS: Final = frozenset(_DATA["reciprocals"])
COLUMNS: Final[dict[str, list[str]]] = _DATA["columns"]
"""Names of columns in tables of metrics, by their meaning."""
IDS: Final[list[str]] = _DATA["lists"]["ids"]
LISTS: Final[list[str]] = _DATA["lists"]["values"]
"""JSON keys of the ids and the values of single reports."""
UP_TO_1: Final = frozenset(_DATA["up_to_1"])
"""Metrics with no value above 1."""
KNOWN_METRICS: Final = frozenset(_DATA["names"])
_UNNAMED: Final = re.compile(r"(?:unnamed|column)?\d*")
"""The name of a column without a name."""
_LONGEST: Final = 80


def fold_metric_name(name: str) -> str:
    """Return the letters and digits of a name in lower case: ``RadCliQ-v1`` is ``radcliqv1``."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def metric_program(names: Iterable[str]) -> str | None:
    """Return the program that alone uses these names of metrics, if there is one."""
    given = set(map(fold_metric_name, names))
    programs = _DATA["programs"].items()
    return next((program for program, own in programs if given.issuperset(own)), None)


def find_metric_id(name: str) -> str | None:
    """Return the id of a metric by a name used in files; None for an unknown name."""
    return _BY_NAME.get(fold_metric_name(name))


def metric_id(name: str, program: str | None) -> str:
    """Return the id of a metric; an unknown metric keeps its name.

    ``program`` computed it: "BLEU" alone has another order in each.

    >>> metric_id("BLEU", "radeval"), metric_id("bleu_score", "CXR-Report-Metric")
    ('bleu_4', 'bleu_2')
    >>> metric_id("BLEU", None), metric_id("My own", None)
    ('bleu', 'My own')
    """
    known = find_metric_id(name)
    if known == "bleu":
        orders: dict[str, str] = {
            fold_metric_name(one): order for one, order in _DATA["bleu"].items()
        }
        return orders.get(fold_metric_name(program or ""), known)
    return known or name.strip()[:_LONGEST]


def is_reciprocal(name: str) -> bool:
    """True if a name means the reciprocal of a mean."""
    return fold_metric_name(name) in RECIPROCALS


def may_be_metric(name: str) -> bool:
    """True if numbers under an unknown name may be a metric."""
    return fold_metric_name(name) not in _OTHER_NAMES and not _UNNAMED.fullmatch(
        fold_metric_name(name)
    )


RECIPROCAL_PROBLEM: Final = (
    "It is the reciprocal of a mean, and no value of a report.",
    "Give the raw values of the reports (RadCliQ-v1, FineRadScore); the page takes 1/mean.",
)
"""Why a reciprocal is not imported, and what to give instead."""
_DECIMAL_COMMA: Final = re.compile(r"\s*[+-]?\d+,\d+\s*")
_NO_VALUES: Final = frozenset(("", "nan", "none", "null", "na", "n/a", "-"))


@dataclass(frozen=True)
class MetricSource:
    """Defaults for all values of a file that do not give their own.

    ``program`` is known from the names of its metrics, or given in the file.
    """

    file: SourceFile
    rows: SetRows
    options: Mapping[str, Any]
    program: str | None = None
    version: str | None = None
    scope: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    """The id of a case for each id of the file that is written differently."""

    def join(self, key: str, ids: Sequence[str | None], numbers: Sequence[int]) -> None:
        """Join ids of the file with the cases of other sources."""
        self.names.update(join_ids(self.file.label, key, ids, numbers, self.rows, needed=True))

    @property
    def implementation(self) -> str | None:
        """What computed the values: given by the option, else by the file."""
        return self.options.get("implementation") or self.program

    def model(self, told: str | None = None) -> str:
        """Return the model of values: as given with them, by the option, or from the file's name.

        If one model's name in the set is part of the file's name, it is that model.
        """
        return told or model_from_options(self.file, self.options) or self._model_of_file

    @cached_property
    def _model_of_file(self) -> str:
        called = fold_metric_name(self.file.label)
        known = {*self.rows.models, *(row.get("model") for row in self.rows.rows_of("answers"))}
        inside = [
            name
            for name in known
            if name and fold_metric_name(name) and fold_metric_name(name) in called
        ]
        longest = [name for name in inside if not any(name in one for one in inside if one != name)]
        return longest[0] if len(longest) == 1 else model_name_of_file(self.file)

    def add(
        self,
        at: RowOrigin,
        case: str,
        metric: str,
        value: Any,
        *,
        model: str,
        field: str | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> bool:
        """Add one value; return False if it is not a number.

        An invalid value is logged with its row and field; an empty one is not.
        """
        log = self.rows.log
        if value is None or str(value).strip().lower() in _NO_VALUES:
            return False
        if is_reciprocal(metric):
            log.warning(at.file, *RECIPROCAL_PROBLEM, row=at.row, field=field or metric)
            return False
        text = str(value)
        text = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text
        of_five = "/" in text or "of" in text  # a score, and no value of a metric
        number = None if isinstance(value, bool) or of_five else read_number(text)
        if number is None:
            message = (
                f"{quote_value(value)} is no number; "
                f"the value of {quote_value(metric)} was left out."
            )
            log.warning(at.file, message, "Write a number.", row=at.row, field=field or metric)
            return False
        told = {name: one for name, one in (identity or {}).items() if one is not None}
        own = told.get("implementation") or self.implementation
        found = metric_id(metric, own)
        if found in UP_TO_1 and number > 1:
            message = f"{number:g} is above 1, the most that {found} can be; it is kept as it is."
            remedy = "Give shares, not percentages."
            log.warning(at.file, message, remedy, row=at.row, field=field or metric)
        case = self.names.get(case.strip(), case)
        place = self.rows.find_case(case=case, study=case, at=at)
        row = {
            "case": place[0] if place else case,
            "model": model,
            "metric": found,
            "value": number,
            "implementation": own,
            "version": self.options.get("implementation_version") or self.version,
            "scope": self.options.get("scope") or self.scope,
            **told,
        }
        self.rows.add_mark(
            "metrics", {name: one for name, one in row.items() if one is not None}, at
        )
        return True


_IDENTITY_FIELDS: Final = ("model", "implementation", "version", "scope")
_NO_IDS: Final = "The values stand in lists without ids: it is not said which report each is of."
_GIVE_IDS: Final = 'Add the ids in the same order: "study_ids": ["...", ...].'
_ONE_NUMBER: Final = "It is one number for all reports, and no value of a report."
_GIVE_LISTS: Final = "Compute it again with a value a report (RadEval: per_sample=True)."


def recognise_lists(probe: Probe) -> str | None:
    """Return why a file is JSON with values of metrics in lists or by id, or None."""
    content = probe.json if probe.kind == "json" else None
    blocks = list(_blocks(content)) if isinstance(content, dict) else []
    names = [name for _, block in blocks for name in block if _is_metric(name, block)]
    return f"values by metric ({', '.join(names[:3])})" if names else None


def read_metric_lists(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read values of metrics in lists, or by id."""
    content = read_source_json(file.path, rows.log, file.label)
    for model, block in _blocks(content or {}):
        _read(file, model, block, rows, options)


def _blocks(content: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yield the metrics of each model: the file is about one, or has one a key."""
    if any(_is_metric(name, content) for name in content):
        yield None, content
        return
    for name, one in content.items():
        if isinstance(one, dict) and any(_is_metric(inner, one) for inner in one):
            yield name, one


def _is_metric(name: str, block: Mapping[str, Any]) -> bool:
    """True if a key is a metric with values: of reports, or one number for all."""
    known = find_metric_id(name) is not None or is_reciprocal(name)
    return known and not isinstance(block[name], str | None | bool)


def _values(value: Any) -> list[Any] | dict[str, Any] | None:
    """Return the values of single reports: a list, or by id; None if there are none."""
    if isinstance(value, dict):
        value = next((value[name] for name in LISTS if name in value), value)
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or {"aggregate", "mean"} & value.keys():
        return None
    return None if any(isinstance(one, dict | list) for one in value.values()) else value


def _read(
    file: SourceFile,
    model: str | None,
    block: Mapping[str, Any],
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    log, label, part = rows.log, file.label, model or ""
    said = {
        name: str(block[name])
        for name in _IDENTITY_FIELDS
        if isinstance(block.get(name), str | int)
    }
    ids_under = next((name for name in IDS if isinstance(block.get(name), list)), None)
    ids: Sequence[Any] = block[ids_under] if ids_under else ()
    taken = {ids_under, *_IDENTITY_FIELDS}
    metrics = {name: _values(one) for name, one in block.items() if name not in taken}
    program = said.get("implementation") or metric_program(metrics)
    source = MetricSource(file, rows, options, program, said.get("version"), said.get("scope"))
    whose = source.model(model or said.get("model"))
    lengths = {len(one) for one in metrics.values() if isinstance(one, list)}
    rows.receipt.rows(label, max([len(ids), *lengths]), part)
    if ids_under:
        named = [None if one is None else str(one) for one in ids]
        source.join(ids_under, named, range(1, len(ids) + 1))
    for name, values in metrics.items():
        where = f"{model}.{name}" if model else name
        if values is None:
            rows.receipt.column_unused(label, where, block[name], _ONE_NUMBER)
            if find_metric_id(name) or is_reciprocal(name):
                log.warning(label, _ONE_NUMBER, _GIVE_LISTS, field=where)
        elif isinstance(values, dict):
            rows.receipt.rows(label, len(values), where)
            source.join(where, list(values), range(1, len(values) + 1))
            for number, (case, value) in enumerate(values.items(), start=1):
                at = RowOrigin(label, number, where)
                if not source.add(at, case, name, value, model=whose, field=where):
                    rows.receipt.unused(at, "There is no value that can be used.")
        elif len(values) != len(ids):
            message = f"It has {len(values):,} values, and there are {len(ids):,} ids; it was left "
            log.warning(label, f"{message}out." if ids else _NO_IDS, _GIVE_IDS, field=where)
        else:
            for number, (case, value) in enumerate(zip(ids, values, strict=True), start=1):
                at = RowOrigin(label, number, part)
                if case is not None:  # otherwise it is logged below that nothing is used
                    source.add(at, str(case), name, value, model=whose, field=where)
    why = "There is no value that can be used." if ids else _NO_IDS
    for number in range(1, max([len(ids), *lengths, 0]) + 1):
        rows.receipt.unused(RowOrigin(label, number, part), why)


_NOT_METRICS: Final = ("question", "options", "correct", "finish_reason", "dimension")
"""Fields of tables of answers and scores, which are not read as metrics."""
_BOARD: Final = "A row a model, and no study: these are means of a board, and no values of reports."
_OTHER: Final = "It is neither a metric nor says of what one is."
_NO_CASE: Final = "The row names no study."
_NO_VALUE: Final = "The row has no metric value that can be used."
_ENOUGH: Final = 2
"""The number of known metric names that makes a table one of metrics, without other signs."""


@dataclass(frozen=True)
class MetricColumns:
    """The columns of a table by meaning; ``metrics`` has those with one metric each."""

    by_meaning: Mapping[str, str]
    metrics: tuple[str, ...]

    @property
    def is_long(self) -> bool:
        """True if each row has one value."""
        return {"metric", "value"} <= self.by_meaning.keys()

    @property
    def is_board(self) -> bool:
        """True if each row is a model, without studies."""
        return "case" not in self.by_meaning


def metric_columns(names: Sequence[str]) -> MetricColumns | None:
    """Return the columns of a table of metric values, None for another table."""
    if has_field(names, _NOT_METRICS):
        return None
    metrics = tuple(name for name in names if find_metric_id(name) or is_reciprocal(name))
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
    for meaning in ("metric", "value", "n"):  # "score" in a table with metrics is one of them
        by_meaning.pop(meaning, None)
    return MetricColumns(by_meaning, metrics)


def recognise_table(probe: Probe) -> str | None:
    """Return why a file is a table of metric values, or None."""
    sheet = sample_rows(probe)
    columns = metric_columns(sheet.columns) if sheet else None
    if columns is not None and columns.is_long:
        return f"a metric value a row ({columns.by_meaning['metric']})"
    return f"metrics in columns ({', '.join(columns.metrics[:3])})" if columns else None


def read_metric_table(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read a table of metric values."""
    sheet = read_table_sheet(file.path, rows.log, label=file.label)
    if sheet is None:
        return
    columns = metric_columns(sheet.columns)
    if columns is None:
        remedy = "Name columns study, model, metric, value, or study and a column a metric."
        rows.log.error(file.label, "The table holds no metric values.", remedy)
        return
    own = _numbers(sheet, columns) if not (columns.is_board or columns.is_long) else []
    used = (*columns.by_meaning.values(), *columns.metrics, *own)
    record_table(sheet, sheet.columns if columns.is_board else used, rows, why=_OTHER)
    if columns.is_board:
        rows.log.warning(file.label, _BOARD, "Give values by study.")
        for number in sheet.numbers:
            rows.receipt.unused(RowOrigin(file.label, number), _BOARD)
    else:
        _read_rows(file, sheet, columns, own, rows, options)


def _read_rows(
    file: SourceFile,
    sheet: TableSheet,
    columns: MetricColumns,
    own: Sequence[str],
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    by_meaning, key = columns.by_meaning, columns.by_meaning["case"]
    named = columns.metrics
    if columns.is_long:
        named = tuple(one or "" for one in sheet.column(by_meaning["metric"]))
    program = metric_program(named)
    if program and not options.get("implementation"):
        note = f"{file.label}: metrics are called as {program} calls them, and count as its."
        rows.log.note(note)
    source = MetricSource(file, rows, options, program)
    for name in filter(is_reciprocal, columns.metrics):
        rows.log.warning(file.label, *RECIPROCAL_PROBLEM, field=name)
    source.join(key, sheet.column(key), sheet.numbers)
    if own:
        rows.log.note(f"{file.label}: {', '.join(own)} are numbers, and kept as metrics.")
    fields = {name: name for name in (*columns.metrics, *own) if not is_reciprocal(name)}
    for row in sheet.read(by_meaning, rows.log):
        at, case = row.at, row["case"]
        if columns.is_long:
            fields = {row["metric"]: by_meaning["value"]} if row["metric"] else {}
        if not case or (columns.is_long and not fields):
            rows.receipt.unused(at, _NO_CASE if not case else "The row names no metric.")
            continue
        model = source.model(row["model"])
        told = {name: row[name] for name in ("implementation", "version", "scope", "answer_digest")}
        identity = {
            **{name: one for name, one in told.items() if one},
            "n": read_whole_number(row["n"]),
        }
        made = [
            source.add(at, case, name, row.value(one), model=model, field=one, identity=identity)
            for name, one in fields.items()
        ]
        if not any(made):
            rows.receipt.unused(at, _NO_VALUE)
        elif row["text"] and not columns.is_long:
            _add_text(rows, source.names.get(case.strip(), case), model, row["text"], at)


def _numbers(sheet: TableSheet, columns: MetricColumns) -> list[str]:
    """Return columns of numbers with unknown names: metrics of other names."""
    used = {*columns.by_meaning.values(), *columns.metrics}
    found = []
    for name in sheet.columns:
        cells = [cell for cell in sheet.column(name) if cell]
        numbers = all(read_number(cell) is not None for cell in cells)
        if name not in used and cells and numbers and may_be_metric(name) and not is_identity(name):
            found.append(name)
    return found


def _add_text(rows: SetRows, case: str, model: str, text: str, at: RowOrigin) -> None:
    """Make the answer from the text that the values are about, if no other source gives it."""
    place = rows.find_case(case=case, study=case)
    if place is None:
        return
    known = next((one for one in rows.answers_of(place[0]) if one["model"] == model), None)
    if known is None or not known.get("text"):
        rows.add_answer({"case": place[0], "model": model, "text": text}, at)


def recognises(probe: Probe) -> str | None:
    """Return why a file contains metric values, or None."""
    return recognise_lists(probe) or recognise_table(probe)


def read_metrics(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read metric values of reports and models that are known or in other files of the import."""
    for file in files:
        if recognise_lists(Probe(file.path, file.label)):
            read_metric_lists(file, rows, options)
        else:
            read_metric_table(file, rows, options)
