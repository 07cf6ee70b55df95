"""Logs of programs that run models, made cases and answers.

A log is read into records with known names, and these by the reader of tables, so that rows of one
case or answer are joined, and the rest is kept or named, as of any table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rexview.reviewset.importers.core.formats import PROPOSED
from rexview.reviewset.importers.core.joins import IdMatch, account, match_ids
from rexview.reviewset.importers.core.recognise import Found, Probe
from rexview.reviewset.importers.core.set_rows import OPEN_QUESTION, REPORT_QUESTION, SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, model_told, read_json
from rexview.reviewset.importers.images.placement import place_images
from rexview.reviewset.importers.runs.inspect_log import is_inspect, read_inspect
from rexview.reviewset.importers.runs.lmms_eval import (
    is_results,
    is_sample,
    model_beside,
    read_samples,
)
from rexview.reviewset.importers.runs.vlmevalkit import (
    is_predictions,
    is_uncut,
    models_of,
    read_predictions,
)
from rexview.reviewset.importers.table.column_mapping import ColumnMapping, FieldColumn
from rexview.reviewset.importers.table.column_names import FIELDS, is_identity
from rexview.reviewset.importers.table.importer import read_table
from rexview.reviewset.importers.table.roles import sample_of
from rexview.reviewset.importers.table.sheet import Sheet, grid_of, read_sheet
from rexview.reviewset.importers.table.structured.json_records import RunRecords
from rexview.reviewset.importers.table.structured.model_logs import is_batch, is_harness_sample
from rexview.reviewset.importers.table.structured.read import Pictures
from rexview.reviewset.importers.table.table_reader import CaseKeys, TableReader

_CALLED: Final = {"case": "id", "correct": "target"}
"""Fields whose names in a record are not their own."""
_TAKEN: Final = (
    *("case", "question", "category", "options", "correct", "image", "model", "answer"),
    *("finish_reason", "input_tokens", "output_tokens", "max_output_tokens", "choice"),
    *("reasoning", "error", "latency_s", "created", "run_id", "repeat"),
)
"""Fields that records of runs can have; whatever else they have is kept as extra fields."""
_INSPECT: Final = "a log of Inspect"
_LMMS: Final = "samples of lmms-eval"
_RESULTS: Final = "results of a harness, with the model's name"
_VLMEVALKIT: Final = "predictions of VLMEvalKit"
_RECORDS: Final = "replies of a batch, or samples of lm-eval"
_PICKLE: Final = (
    "Reading a pickle can run any program.",
    "Write the predictions as .xlsx, .tsv or .json (VLMEvalKit: PRED_FORMAT=json).",
)


def recognises(probe: Probe) -> Found | None:
    """Say which program wrote a log."""
    kind = _kind(probe)
    return Found(kind) if kind is not None and kind != _RECORDS else None


def _kind(probe: Probe) -> str | None:
    if probe.kind == "inspect" or (probe.kind == "zip" and probe.path.suffix == ".eval"):
        return _INSPECT  # of one that was cut off, its reader says so
    if probe.kind == "json" and (is_inspect(probe.json) or is_results(probe.json)):
        return _INSPECT if is_inspect(probe.json) else _RESULTS
    entries = probe.json_lines if probe.kind in ("json", "jsonl") else []
    first = entries[0] if entries else None
    if is_sample(first):
        return _LMMS
    if is_batch(first) or is_harness_sample(first):
        return _RECORDS
    if probe.kind == "table" and "\t" not in probe.text.partition("\n")[0]:
        return None  # it writes predictions as TSV; what has commas holds its scores
    sample = sample_of(probe) if probe.kind in ("table", "xlsx", "json") else None
    return _VLMEVALKIT if sample is not None and is_predictions(sample.columns) else None


def read_runs(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read the logs of one or more runs."""
    rows.name = rows.name or Path(files[0].path.name).stem.replace("_", " ")
    rows.description = rows.description or f"Imported from {', '.join(one.label for one in files)}."
    rows.second_answers = options.get("second_answers") or rows.second_answers
    probes = [(file, Probe(file.path, file.label)) for file in files]
    kinds = {file.label: _kind(probe) for file, probe in probes}
    by_kind = {kind: [one for one in files if kinds[one.label] == kind] for kind in kinds.values()}
    results = {
        file.label: content
        for file in by_kind.get(_RESULTS, ())
        if (content := read_json(file.path, rows.log, file.label)) is not None
    }
    named = models_of(by_kind.get(_VLMEVALKIT, ()))
    for file in by_kind.get(_LMMS, ()):
        if (model := model_beside(file, results)) is not None:
            named[file.label] = model
    keys = CaseKeys(rows)
    for file, probe in probes:
        kind = kinds[file.label]
        if kind is None and probe.kind == "pickle":
            rows.log.error(file.label, *_PICKLE)
        elif kind is None:
            message = f"This {probe.type} is no log of a run that is known."
            remedy = (
                "Give a log of Inspect, lmms-eval or VLMEvalKit, or import it as auto or table."
            )
            rows.log.error(file.label, message, remedy)
        elif kind == _RESULTS:
            for name, value in results.get(file.label, {}).items():
                if value not in (None, "", {}, []):
                    why = "It names the model of the samples beside it."
                    if not name.startswith("model_name"):
                        why = "It is about the whole run."
                    rows.receipt.column_unused(file.label, name, None, why)
        elif kind == _RECORDS:
            told = model_told(file, options)
            given = {**options, "mapping": PROPOSED, "sheet": None, "model": told and (told,)}
            shown = len(rows.mappings)
            read_table([file], rows, given)
            del rows.mappings[shown:]  # this format takes no other mapping
        else:
            _read(file, kind, named.get(file.label), rows, options, keys)
    if not rows.log.has_errors:
        place_images(rows, options["images"], [file.path.parent for file in files], files[0].label)


def _read(
    file: SourceFile,
    kind: str,
    model: str | None,
    rows: SetRows,
    options: Mapping[str, Any],
    keys: CaseKeys,
) -> None:
    folder = rows.new_folder()
    pictures = Pictures(folder)
    files = pictures.files
    found: RunRecords | None
    if kind == _INSPECT:
        found = read_inspect(file, rows.log, pictures)
    elif kind == _LMMS:
        found = read_samples(file, rows.log)
    else:
        sheet = read_sheet(file.path, rows.log, label=file.label, pictures=folder)
        if sheet is None:
            return
        found = read_predictions(sheet, pictures)
        files = {**files, **sheet.pictures}
        for name in sheet.others:
            why = f"“{sheet.name}” of the same file was read."
            rows.receipt.file_unread(f"{file.label}: {name}", "sheet", why)
    if found is None:
        return
    given = model_told(file, options)
    told = given or model
    if told is not None:
        for record in found.records:
            served = record.get("model")
            record["model"] = told
            if served not in (None, told):
                record["served model"] = served
    if given is None and (is_uncut(file, told) or not any("model" in one for one in found.records)):
        name = told or Path(file.label).stem
        message = f"No file says which model answered; it is called {name}."
        rows.log.warning(file.label, message, "Name it with --model.", field="model")
    _match_cases(found, file.label, rows)
    _use_pictures(found, files, file.label, rows)
    for name, why in found.unused.items():
        rows.receipt.column_unused(file.label, name, None, why)
    if not found.records:
        rows.receipt.rows(file.label, len(found.unread))
        rows.log.error(file.label, "The log holds no samples.", "Give the log of a run that ended.")
        return
    grid = grid_of(file.label, found, rows.log)
    if grid is None:
        return
    reader = TableReader(rows, grid, _meaning_of(grid), {**options, "model": None}, keys)
    extras = [*reader.case_extras, *reader.answer_extras]
    reader.case_extras = [name for name in extras if name in found.of_case]
    reader.answer_extras = [name for name in extras if name not in found.of_case]
    reader.read()


def _use_pictures(found: RunRecords, files: Mapping[str, Path], file: str, rows: SetRows) -> None:
    """Take pictures of the log for cases that have none; name those that are left out."""
    left = 0
    for record in found.records:
        images = record.get("image")
        given = images if isinstance(images, list) else [images] if images else []
        case = rows.case(str(record.get("id", "")))
        if case is not None and case.get("images") and given:
            left += len(given)
            del record["image"]
        else:
            rows.files |= {name: files[name] for name in given if name in files}
    if left:
        why = f"{left:,} pictures as they were sent: their cases have pictures of their own."
        rows.receipt.column_unused(file, "image", None, why)


def _meaning_of(sheet: Sheet) -> ColumnMapping:
    """Return what the columns of records of a run mean: they are named for it."""
    columns = {name: _CALLED.get(name, name) for name in _TAKEN}
    columns = {name: column for name, column in columns.items() if column in sheet.columns}
    left = [name for name in sheet.columns if name not in columns.values()]
    return ColumnMapping(
        file=sheet.file,
        columns=sheet.columns,
        fields=tuple(FieldColumn(name, columns.get(name)) for name in FIELDS),
        identity=tuple(filter(is_identity, left)),
        sheet=sheet.name,
    )


def _match_cases(found: RunRecords, file: str, rows: SetRows) -> None:
    """Give records the ids of the cases that they are of, and say by what they were matched.

    An id is compared with the ids of cases first, then with studies and pictures; these only
    where the case asks the same question, or none was given.
    """
    if not rows.described:
        return
    asked_by_nobody = (None, OPEN_QUESTION, REPORT_QUESTION)
    matched: dict[str, set[str]] = {"id": set(), "study or picture": set(), "none": set()}
    given_ids = [record.get("id") for record in found.records]
    for record in found.records:
        given = str(record.get("id", ""))
        if rows.case(given) is not None:
            matched["id"].add(given)
            continue
        place = rows.find_case(case=given)
        case = rows.case(place[0]) if place and place[0] not in rows.pictures else None
        asked, told = (case or {}).get("question"), record.get("question")
        if case is not None and (asked in asked_by_nobody or told in (None, asked)):
            matched["study or picture"].add(given)
            record["id"] = case["id"]
        else:
            matched["none"].add(given)
    ids, unknown = [str(one) if one else None for one in given_ids], frozenset(matched["none"])
    several = match_ids(filter(None, ids), rows).several
    match = IdMatch(unknown=unknown, several=several)
    account(file, "id", ids, found.numbers, match, rows)
    by = [f"{len(ids):,} by {how}" for how, ids in matched.items() if ids and how != "none"]
    new = f"; {len(matched['none']):,} named no case there was" if matched["none"] else ""
    rows.log.note(f"{file}: cases matched: {', '.join(by) or 'none'}{new}.")
