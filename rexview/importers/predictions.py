"""Read predictions as JSON: ``{id: text}`` of one model, or ``{model: {id: text}}`` of several.

A null is an answer that never came; an empty text is an answer that came empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, TypeVar

from rexview.importers.joins import join_ids
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import (
    Probe,
    Recognition,
    SourceFile,
    model_from_options,
    model_name_of_file,
    read_source_json,
    warn_of_missing_model,
)
from rexview.importers.table.cells import KNOWN_NAMES, MODEL_NAME, ColumnName
from rexview.importers.table.importer import role_from_options
from rexview.importers.table.roles import text_side
from rexview.reviewset.report_text import report_fields
from rexview.reviewset.tables.source import RowOrigin

_LOOKED_AT: Final = 200
_PROSE: Final = 4
"""Texts with at least this number of words are taken for prose."""


def recognises(probe: Probe) -> Recognition | None:
    """Return why a file contains predictions (texts by id, or such dicts by model), or None."""
    content = probe.json if probe.kind == "json" else None
    if not isinstance(content, dict) or len(content) == 0:
        return None
    if _are_texts(content):
        return Recognition(f"texts by id, {len(content):,} entries")
    inner = [one for one in content.values() if isinstance(one, dict)]
    texts = all(one is None or isinstance(one, str) for part in inner for one in part.values())
    alike = texts and len(inner) == len(content) and any(map(_are_texts, inner))
    is_known = alike and _are_models(content)
    return Recognition(f"texts by model and id, {len(content):,} models") if is_known else None


def _are_texts(found: Mapping[str, Any]) -> bool:
    """True if a dict has texts by the ids of their cases, not settings by name."""
    values = list(found.values())[:_LOOKED_AT]
    texts = [one for one in values if isinstance(one, str) and one.strip()]
    names = [name for name in list(found)[:_LOOKED_AT] if ColumnName.of(name).plain in KNOWN_NAMES]
    if not texts or names or any(one is not None and not isinstance(one, str) for one in values):
        return False
    numbered = sum(any(letter.isdigit() for letter in name) for name in list(found)[:_LOOKED_AT])
    words = sum(len(text.split()) for text in texts) / len(texts)
    return numbered * 2 >= len(values) or words >= _PROSE


def _are_models(found: Mapping[str, Mapping[str, Any]]) -> bool:
    """True if the outer names are models', not ids of cases or columns of a table."""
    inner = {name for one in found.values() for name in list(one)[:_LOOKED_AT]}
    fields = sum(ColumnName.of(name).plain in KNOWN_NAMES for name in found)
    if any(map(MODEL_NAME.search, inner)) or fields > 1:  # "model" is a column among others
        return False
    if any(map(MODEL_NAME.search, found)):
        return True
    return not fields and len(inner) >= len(found)


def read_predictions(
    files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]
) -> None:
    """Read the predictions of one or more models."""
    for file in sorted(files, key=lambda one: not _is_reference(one, options)):
        content = read_source_json(file.path, rows.log, file.label)
        if content is None:
            continue
        if not isinstance(content, dict):
            message = "The file holds no texts by the id of their case."
            rows.log.error(file.label, message, "Write {id: text}, or {model: {id: text}}.")
            continue
        if _is_reference(file, options) and _are_texts(content):
            rows.receipt.rows(file.label, len(content))
            rows.log.note(f"{file.label}: its texts are taken for the reports of the studies.")
            for number, (name, text) in enumerate(content.items(), start=1):
                found, at = rows.find_case(case=name), RowOrigin(file.label, number)
                if text is None or not name.strip():
                    rows.receipt.unused(at, "It has no text by the id of a study.")
                    continue
                rows.add_case({"id": found[0] if found else name, **report_fields(text)}, at)
            continue
        named = model_from_options(file, options) or model_name_of_file(file)
        if any(not isinstance(value, dict) for value in content.values()):
            warn_of_missing_model(file, named, rows.log)
        entries = list(entries_by_id(content, named, file))
        ids, numbers = [case for _, case, *_ in entries], [at.row or 0 for *_, at in entries]
        names = join_ids(file.label, "id", ids, numbers, rows, answers=True)
        for model, case, text, at in entries:
            rows.receipt.rows(file.label, 1, at.part)
            _add(rows, model, names.get(case.strip(), case), text, at)
    rows.name = rows.name or files[0].path.stem.replace("_", " ")


def _is_reference(file: SourceFile, options: Mapping[str, Any]) -> bool:
    """True if the user or the file's name declares its texts as the radiologist's."""
    said = role_from_options(file, options)
    words = ColumnName.of(PurePosixPath(file.label).stem).words
    return said == "reference" or (said is None and text_side(words) > 0)


Model = TypeVar("Model", str, None)


def entries_by_id(
    content: Mapping[str, Any], model: Model, file: SourceFile
) -> Iterator[tuple[str | Model, str, Any, RowOrigin]]:
    """Yield model, case, text and place of each entry of ``{id: text}`` or ``{model: {...}}``."""
    for number, (name, value) in enumerate(content.items(), start=1):
        if isinstance(value, dict):
            for inner, (case, text) in enumerate(value.items(), start=1):
                yield name.strip(), case, text, RowOrigin(file.label, inner, name)
        else:
            yield model, name, value, RowOrigin(file.label, number)


def _add(rows: SetRows, model: str, case: str, text: Any, at: RowOrigin) -> None:
    rows.declare_model(model)
    found = rows.find_case(case=case, at=at)
    if text is None:
        rows.receipt.ran_not(at, model)
    elif not isinstance(text, str) or not case.strip():
        message = "The entry is not a text by the id of its case."
        rows.log.warning(at.file, message, "Write {id: text}.", row=at.row)
        rows.receipt.unused(at, message)
    else:
        rows.add_answer({"case": found[0] if found else case, "model": model, "text": text}, at)
