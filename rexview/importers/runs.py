"""Import logs of programs that run models: Inspect, lmms-eval, VLMEvalKit, OpenAI batches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

from rexview.importers.formats import PROPOSED_MAPPING
from rexview.importers.image_placement import place_images
from rexview.importers.inspect_log import is_inspect, read_inspect
from rexview.importers.joins import IdMatch, match_ids, record_join
from rexview.importers.receipt import ProblemLog
from rexview.importers.set_rows import OPEN_QUESTION, REPORT_QUESTION, SetRows
from rexview.importers.source_files import (
    Probe,
    Recognition,
    SourceFile,
    json_lines,
    model_from_options,
    read_source_json,
    read_text,
)
from rexview.importers.table.cells import COLUMN_FIELDS, is_identity
from rexview.importers.table.column_mapping import ColumnMapping, FieldColumn
from rexview.importers.table.importer import read_table
from rexview.importers.table.records import RunRecords, flatten_entry, is_batch, is_harness_sample
from rexview.importers.table.roles import sample_rows
from rexview.importers.table.sheet import PictureExtractor, TableSheet, make_grid, read_table_sheet
from rexview.importers.table.table_reader import CaseKeys, TableReader
from rexview.reviewset.json_text import JsonError

# Samples and results of lmms-eval: ``*_samples_TASK.jsonl`` and ``*_results.json``.
#
# Source: ``loggers/evaluation_tracker.py`` of lmms-eval 0.2 to 0.5. A saved sample has no document,
# only the prompt; ``resps`` is left out if ``filtered_resps`` has the same content.

_SAMPLE: Final = frozenset(("doc_id", "target", "input", "filtered_resps"))
_RESULTS: Final = frozenset(("results", "model_name", "config"))
_READ: Final = frozenset(("doc_id", "target", "input", "resps", "filtered_resps", "token_counts"))
_TEMPORARY_PREFIX: Final = "rexview-"
"""First part of the names of folders of uploads and unpacked files; they name no model."""
_TOKENS: Final = ("input_tokens", "output_tokens")


def is_lmms_sample(entry: Any) -> bool:
    """True if an entry is a sample in the form of lmms-eval."""
    return isinstance(entry, Mapping) and entry.keys() >= _SAMPLE


def is_harness_results(content: Any) -> bool:
    """True if JSON is a harness's summary of a whole run: its scores, model and settings."""
    return (
        isinstance(content, Mapping)
        and content.keys() >= _RESULTS
        and isinstance(content["results"], Mapping)
    )


def model_of_samples(file: SourceFile, results: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the model of a file of samples, given in the results of its folder and date.

    ``results`` has the contents of result files by label. Without them the model is the folder's
    name: lmms-eval names folders after the model, with ``__`` for a slash.
    """
    here = PurePosixPath(file.label)
    date, _, _ = here.name.partition("_samples_")
    for label, content in results.items():
        beside = PurePosixPath(label)
        same = beside.parent == here.parent and beside.name == f"{date}_results.json"
        name = content.get("model_name")
        if (same or len(results) == 1) and isinstance(name, str) and name.strip():
            name = name.strip()  # without the folders of the machine it was stored on
            return PurePosixPath(name).name if name.startswith(("/", "./", "~")) else name
    folder = here.parent.name or file.path.parent.name
    is_named = "__" in folder and not folder.startswith(_TEMPORARY_PREFIX)
    return folder.replace("__", "/") if is_named else file.folder


def read_lmms_eval(file: SourceFile, log: ProblemLog) -> RunRecords | None:
    """Read the samples, one JSON object a line; log an error if there are none."""
    text = read_text(file.path, log, save_as="UTF-8", label=file.label)
    if text is None:
        return None
    found = RunRecords()
    task = PurePosixPath(file.label).stem.partition("_samples_")[2]
    for number, entry in json_lines(text, file.label, log):
        if not is_lmms_sample(entry):
            why = "The line is no sample of lmms-eval."
            if isinstance(entry, JsonError):
                why = f"The line is not JSON: {entry}."
            found.unread.append((number, why))
            log.warning(file.label, why, "Give the file as it was written.", row=number)
            continue
        try:
            told = _answers(entry)
        except ValueError as error:
            found.unread.append((number, str(error)))
            continue
        for repeat, answer in enumerate(told, start=1):
            found.add(_record(entry, task, answer, repeat if len(told) > 1 else None), number)
    return found


def _answers(entry: Mapping[str, Any]) -> list[str | None]:
    """Return the texts of a sample, several if it was run several times.

    Raises
    ------
    ValueError
        It has no text that is known to be the answer; the message gives the reason.
    """
    given = entry.get("resps", [entry["filtered_resps"]])
    requests = given if isinstance(given, list) else [given]
    if len(requests) > 1:
        raise ValueError(
            "It holds several requests for one document: which is the answer is unknown."
        )
    texts = requests[0] if requests and isinstance(requests[0], list) else requests
    if any(one is not None and not isinstance(one, str) for one in texts):
        raise ValueError("It holds probabilities of options, and no text.")
    return texts or [None]


def _record(entry: Mapping[str, Any], task: str, answer: Any, repeat: int | None) -> dict[str, Any]:
    asked, filtered = entry["input"], entry["filtered_resps"]
    if isinstance(asked, list):
        asked = next((one for one in asked if isinstance(one, str)), None)
    parsed = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    rest = {name: one for name, one in entry.items() if name not in _READ and one not in (None, "")}
    counted = entry.get("token_counts")  # of each request
    first = counted[0] if isinstance(counted, Sequence) and counted else counted
    counts = first if isinstance(first, Mapping) else {}
    tokens = {name for name in _TOKENS if isinstance(counts.get(name), int)}
    return {
        "id": str(entry["doc_id"]),
        "question": asked if isinstance(asked, str) and asked.strip() else None,
        "expected answer": entry["target"] if entry["target"] not in ("", None) else None,
        "answer": answer,
        "filtered answer": parsed if parsed != answer else None,
        "repeat": repeat,
        "task": task or None,
        **{name: one for name, one in counts.items() if name in tokens},
        **{f"usage.{name}": one for name, one in counts.items() if name not in tokens},
        **dict(flatten_entry(rest)),
    }


# Predictions of VLMEvalKit: ``MODEL_DATASET.xlsx``, ``.tsv`` or ``.json``, and columns added by
# judges.
#
# Source: ``vlmeval/inference.py`` and ``vlmeval/smp/file.py``. Its pickles are never opened.

_COLUMNS: Final = frozenset(("index", "question", "prediction"))
_OTHERS_OWN: Final = frozenset(("model", "reader", "run_id"))
"""Columns that VLMEvalKit never writes: a table with them comes from another program."""
_OPTION: Final = re.compile(r"[A-Z]")
_FAILED: Final = "Failed to obtain answer"
"""VLMEvalKit's text for an answer that the server did not give."""
_JUDGED: Final = re.compile(
    r"_(?:(?:exact_matching|chatgpt-\d+|gpt-[\w.-]+?|[\w.-]*judge[\w.-]*?)_result"
    r"|(?:chatgpt-\d+|gpt-[\w.-]+?|exact_matching))$"
)
_IMAGES: Final = ("image", "image_path")
_OF_ANSWERS: Final = frozenset(("hit", "log", "score", "res", "extra_records", "judge"))
"""Columns about the answer; all other columns belong to the data set's case."""


def is_vlmevalkit_table(columns: Sequence[str] | None) -> bool:
    """True if columns are those of predictions: index, question, prediction, options or answer."""
    names = set(columns or ())
    told = "answer" in names or {"A", "B"} <= names
    return names >= _COLUMNS and told and names.isdisjoint(_OTHERS_OWN)


def vlmevalkit_models(files: Sequence[SourceFile]) -> dict[str, str]:
    """Return the model by file label: the part of MODEL_DATASET that folder or other files reveal.

    VLMEvalKit puts a model's files below a folder with its name. If the names of several files end
    alike, the common part is the data set. For a single file nothing shows where the model's name
    ends.
    """
    stems = {file.label: _stem(file) for file in files}
    found: dict[str, str] = {}
    for file in files:
        stem = stems[file.label]
        parents = {*PurePosixPath(file.label).parts[:-1], *(one.name for one in file.path.parents)}
        above = [one for one in parents if one and stem.startswith(f"{one}_")]
        if above:
            found[file.label] = max(above, key=len)
    others = {stem for label, stem in stems.items() if label not in found}
    names = [stem.split("_") for stem in others]
    most = min(map(len, names), default=1) - 1 if len(names) > 1 else 0  # never a whole name
    ends = zip(*(words[::-1][:most] for words in names), strict=True)
    alike = [one[0] for one in takewhile(lambda one: len({*one}) == 1, ends)]
    dataset = "".join(f"_{word}" for word in reversed(alike))
    for label, stem in stems.items():
        found.setdefault(label, stem.removesuffix(dataset))
    return found


def has_full_file_name(file: SourceFile, model: str | None) -> bool:
    """True if a model has the full name of its file, with the name of the data set."""
    return model == _stem(file)


def _stem(file: SourceFile) -> str:
    """Return the name of a file without its ending and a judge's addition before it."""
    return _JUDGED.sub("", PurePath(file.path.name).stem)


def read_vlmevalkit(sheet: TableSheet, pictures: PictureExtractor) -> RunRecords:
    """Read the rows of predictions; pictures in the cells of a TSV go to ``pictures``."""
    options = [name for name in sheet.columns if _OPTION.fullmatch(name)]
    used = {"index", "question", "prediction", "answer", "thinking", "category", *options, *_IMAGES}
    found = RunRecords(unread=list(sheet.unread))
    found.of_case |= {name for name in sheet.columns if name not in _OF_ANSWERS}
    for place, (number, row) in enumerate(zip(sheet.numbers, sheet.rows, strict=True)):
        cells = dict(zip(sheet.columns, row, strict=True))
        given = sheet.given[place] if sheet.given else {}
        offered = [cells[name] for name in options if cells[name] is not None]
        image = next((given.get(one, cells[one]) for one in _IMAGES if cells.get(one)), None)
        answer = cells["prediction"]
        failed = answer is not None and answer.startswith(_FAILED)
        record: dict[str, Any] = {
            "id": cells["index"],
            "question": cells["question"],
            "category": cells.get("category"),
            "options": offered or None,
            "target" if offered else "expected answer": cells.get("answer"),
            "image": pictures.taken_out(image, number),
            "answer": "" if failed else answer,
            "error": answer if failed else None,
            "reasoning": cells.get("thinking"),
        }
        rest = {name: given.get(name, cell) for name, cell in cells.items() if name not in used}
        found.add({**rest, **record}, number)
    return found


# Turn logs of programs that run models into cases and answers.
#
# A log is read into records with known names, which the reader of tables reads. So rows of one case
# or answer are joined, and the rest is kept or reported, as for any table.

_RENAMED_FIELDS: Final = {"case": "id", "correct": "target"}
"""Fields that have another name in a record."""
_RECORD_FIELDS: Final = (
    *("case", "question", "category", "options", "correct", "image", "model", "answer"),
    *("finish_reason", "input_tokens", "output_tokens", "max_output_tokens", "choice"),
    *("reasoning", "error", "latency_s", "created", "run_id", "repeat"),
)
"""Fields that records of runs can have; all others are kept as extra fields."""
_INSPECT: Final = "a log of Inspect"
_LMMS: Final = "samples of lmms-eval"
_IMPORTER_RESULTS: Final = "results of a harness, with the model's name"
_VLMEVALKIT: Final = "predictions of VLMEvalKit"
_RECORDS: Final = "replies of a batch, or samples of lm-eval"
_PICKLE: Final = (
    "Reading a pickle can run any program.",
    "Write the predictions as .xlsx, .tsv or .json (VLMEvalKit: PRED_FORMAT=json).",
)


def recognises(probe: Probe) -> Recognition | None:
    """Return which program wrote a log, or None."""
    kind = _kind(probe)
    return Recognition(kind) if kind is not None and kind != _RECORDS else None


def _kind(probe: Probe) -> str | None:
    if probe.kind == "inspect" or (probe.kind == "zip" and probe.path.suffix == ".eval"):
        return _INSPECT  # its reader reports a log that was cut off
    if probe.kind == "json" and (is_inspect(probe.json) or is_harness_results(probe.json)):
        return _INSPECT if is_inspect(probe.json) else _IMPORTER_RESULTS
    entries = probe.json_lines if probe.kind in ("json", "jsonl") else []
    first = entries[0] if entries else None
    if is_lmms_sample(first):
        return _LMMS
    if is_batch(first) or is_harness_sample(first):
        return _RECORDS
    if probe.kind == "table" and "\t" not in probe.text.partition("\n")[0]:
        return None  # it writes predictions as TSV; its CSV files contain scores
    sample = sample_rows(probe) if probe.kind in ("table", "xlsx", "json") else None
    return _VLMEVALKIT if sample is not None and is_vlmevalkit_table(sample.columns) else None


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
        for file in by_kind.get(_IMPORTER_RESULTS, ())
        if (content := read_source_json(file.path, rows.log, file.label)) is not None
    }
    named = vlmevalkit_models(by_kind.get(_VLMEVALKIT, ()))
    for file in by_kind.get(_LMMS, ()):
        if (model := model_of_samples(file, results)) is not None:
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
        elif kind == _IMPORTER_RESULTS:
            for name, value in results.get(file.label, {}).items():
                if value not in (None, "", {}, []):
                    why = "It names the model of the samples beside it."
                    if not name.startswith("model_name"):
                        why = "It is about the whole run."
                    rows.receipt.column_unused(file.label, name, None, why)
        elif kind == _RECORDS:
            told = model_from_options(file, options)
            given = {
                **options,
                "mapping": PROPOSED_MAPPING,
                "sheet": None,
                "model": told and (told,),
            }
            shown = len(rows.mappings)
            read_table([file], rows, given)
            del rows.mappings[shown:]  # this format accepts no other mapping
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
    pictures = PictureExtractor(folder)
    files = pictures.files
    found: RunRecords | None
    if kind == _INSPECT:
        found = read_inspect(file, rows.log, pictures)
    elif kind == _LMMS:
        found = read_lmms_eval(file, rows.log)
    else:
        sheet = read_table_sheet(file.path, rows.log, label=file.label, pictures=folder)
        if sheet is None:
            return
        found = read_vlmevalkit(sheet, pictures)
        files = {**files, **sheet.pictures}
        for name in sheet.others:
            why = f"“{sheet.name}” of the same file was read."
            rows.receipt.file_unread(f"{file.label}: {name}", "sheet", why)
    if found is None:
        return
    given = model_from_options(file, options)
    told = given or model
    if told is not None:
        for record in found.records:
            served = record.get("model")
            record["model"] = told
            if served not in (None, told):
                record["served model"] = served
    if given is None and (
        has_full_file_name(file, told) or not any("model" in one for one in found.records)
    ):
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
    grid = make_grid(file.label, found, rows.log)
    if grid is None:
        return
    reader = TableReader(rows, grid, _record_mapping(grid), {**options, "model": None}, keys)
    extras = [*reader.case_extras, *reader.answer_extras]
    reader.case_extras = [name for name in extras if name in found.of_case]
    reader.answer_extras = [name for name in extras if name not in found.of_case]
    reader.read()


def _use_pictures(found: RunRecords, files: Mapping[str, Path], file: str, rows: SetRows) -> None:
    """Use pictures of the log for cases without any; report those that are left out."""
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


def _record_mapping(sheet: TableSheet) -> ColumnMapping:
    """Return the mapping of a run's records, whose columns are named after their meaning."""
    columns = {name: _RENAMED_FIELDS.get(name, name) for name in _RECORD_FIELDS}
    columns = {name: column for name, column in columns.items() if column in sheet.columns}
    left = [name for name in sheet.columns if name not in columns.values()]
    return ColumnMapping(
        file=sheet.file,
        columns=sheet.columns,
        fields=tuple(FieldColumn(name, columns.get(name)) for name in COLUMN_FIELDS),
        identity=tuple(filter(is_identity, left)),
        sheet=sheet.name,
    )


def _match_cases(found: RunRecords, file: str, rows: SetRows) -> None:
    """Give records the ids of their cases, and log how they were matched.

    An id is compared with the ids of cases first, then with studies and pictures. These only count
    if the case asks the same question, or has none of its own.
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
    record_join(file, "id", ids, found.numbers, match, rows)
    by = [f"{len(ids):,} by {how}" for how, ids in matched.items() if ids and how != "none"]
    new = f"; {len(matched['none']):,} named no case there was" if matched["none"] else ""
    rows.log.note(f"{file}: cases matched: {', '.join(by) or 'none'}{new}.")
