"""JSON of programs that compute metrics: for each metric a list of values, one a report.

RadEval writes so with ``per_sample=True``: ``{"bleu": [0.1, 0.2], "bertscore": [...]}``, in order
of the reports that it was given and without their ids; without it, one number for all reports.
The ids have to stand beside the lists (``"study_ids": [...]``); values by id are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, read_json
from rexview.reviewset.importers.metrics.names import (
    IDS,
    LISTS,
    is_reciprocal,
    known_metric,
    program_of,
)
from rexview.reviewset.importers.metrics.values import Source
from rexview.reviewset.tables.source import At

_SAYS: Final = ("model", "implementation", "version", "scope")
_NO_IDS: Final = "The values stand in lists without ids: it is not said which report each is of."
_GIVE_IDS: Final = 'Add the ids in the same order: "study_ids": ["...", ...].'
_ONE_NUMBER: Final = "It is one number for all reports, and no value of a report."
_GIVE_LISTS: Final = "Compute it again with a value a report (RadEval: per_sample=True)."


def recognised(probe: Probe) -> str | None:
    """Say why a file is JSON with values of metrics in lists, or by id."""
    content = probe.json if probe.kind == "json" else None
    blocks = list(_blocks(content)) if isinstance(content, dict) else []
    names = [name for _, block in blocks for name in block if _is_metric(name, block)]
    return f"values by metric ({', '.join(names[:3])})" if names else None


def read_metric_lists(file: SourceFile, rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read values of metrics in lists, or by id."""
    content = read_json(file.path, rows.log, file.label)
    if content is None:
        return
    for model, block in _blocks(content):
        _read(file, model, block, rows, options)


def _blocks(content: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yield the metrics of each model: the file is of one, or has one a key."""
    if any(_is_metric(name, content) for name in content):
        yield None, content
        return
    for name, one in content.items():
        if isinstance(one, dict) and any(_is_metric(inner, one) for inner in one):
            yield name, one


def _is_metric(name: str, block: Mapping[str, Any]) -> bool:
    """Whether a key is a metric with values: of reports, or one number of all."""
    known = known_metric(name) is not None or is_reciprocal(name)
    return known and not isinstance(block[name], str | None | bool)


def _values(value: Any) -> list[Any] | dict[str, Any] | None:
    """Return the values of single reports: a list, or by id; None where there are none."""
    if isinstance(value, dict):
        value = next((value[name] for name in LISTS if name in value), value)
    if isinstance(value, list):
        return value
    by_id = isinstance(value, dict) and not any(
        isinstance(one, dict | list) for one in value.values()
    )
    return value if by_id and not {"aggregate", "mean"} & value.keys() else None


def _read(
    file: SourceFile,
    model: str | None,
    block: Mapping[str, Any],
    rows: SetRows,
    options: Mapping[str, Any],
) -> None:
    log, label, part = rows.log, file.label, model or ""
    said = {name: str(block[name]) for name in _SAYS if isinstance(block.get(name), str | int)}
    ids_under = next((name for name in IDS if isinstance(block.get(name), list)), None)
    ids: Sequence[Any] = block[ids_under] if ids_under else ()
    taken = {ids_under, *_SAYS}
    metrics = {name: _values(one) for name, one in block.items() if name not in taken}
    program = said.get("implementation") or program_of(metrics)
    source = Source(file, rows, options, program, said.get("version"), said.get("scope"))
    whose = source.model(model or said.get("model"))
    lengths = {len(one) for one in metrics.values() if isinstance(one, list)}
    rows.receipt.rows(label, max([len(ids), *lengths]), part)
    for name, values in metrics.items():
        where = f"{model}.{name}" if model else name
        if values is None:
            _name_unused(file, where, block[name], rows)
        elif isinstance(values, dict):
            rows.receipt.rows(label, len(values), where)
            for number, (case, value) in enumerate(values.items(), start=1):
                at = At(label, number, where)
                if not source.add(at, case, name, value, model=whose, field=where):
                    rows.receipt.unused(at, "There is no value that can be used.")
        elif len(values) != len(ids):
            message = (
                f"It has {len(values):,} values, and there are {len(ids):,} ids; it was left out."
            )
            log.warning(label, message if ids else _NO_IDS, _GIVE_IDS, field=where)
        else:
            for number, (case, value) in enumerate(zip(ids, values, strict=True), start=1):
                at = At(label, number, part)
                if case is not None:  # else it is told below that nothing is used
                    source.add(at, str(case), name, value, model=whose, field=where)
    why = "There is no value that can be used." if ids else _NO_IDS
    for number in range(1, max([len(ids), *lengths, 0]) + 1):
        rows.receipt.unused(At(label, number, part), why)


def _name_unused(file: SourceFile, where: str, value: Any, rows: SetRows) -> None:
    """Say of a number of all reports, or of anything else, that nothing is taken from it."""
    rows.receipt.column_unused(file.label, where, value, _ONE_NUMBER)
    if known_metric(where.rpartition(".")[2]) or is_reciprocal(where.rpartition(".")[2]):
        rows.log.warning(file.label, _ONE_NUMBER, _GIVE_LISTS, field=where)
