"""Find the files of a folder that are tables of a review set, and detect changes in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rexview.columns import TABLES
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.tables.source import TableFormat, TablePart, TableSource

INFO_FILE: Final = "reviewset.yaml"
UNFINISHED_FILE: Final = ".import-unfinished"
"""File in a set while its tables are exchanged; it names the folder with the previous ones."""
TABLE_FILE_FORMATS: Final[dict[str, TableFormat]] = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}
"""Table format by the ending of the file's name."""
_NEAR_MISSES: Final = {
    ".json": "Write one JSON object a line and call it {name}.jsonl.",
    ".ndjson": "Rename it to {name}.jsonl.",
    ".tsv": "Save it with commas as {name}.csv.",
    ".txt": "Rename it to {name}.csv or {name}.jsonl, whichever it is.",
    ".xlsx": "Save it as {name}.csv, or import it.",
    ".xls": "Save it as {name}.csv, or import it.",
    ".pq": "Rename it to {name}.parquet.",
}
_NOT_READ: Final = "The file has the name of a table but is not read."
_NO_FILE: Final = "This is not a file that can be read, or a link to nowhere."
_PUT_FILE: Final = "Put the file itself here."
MAX_TABLE_PARTS: Final = 2000
"""Maximum number of parts of one table: a run of a model adds one."""


def find_tables(folder: Path, problems: ProblemList) -> dict[str, TableSource]:
    """Find the tables of a folder by their names.

    A table is ``NAME.jsonl``, ``NAME.csv`` or ``NAME.parquet``, or a folder ``NAME`` of such parts,
    or both: the file is read first, then the parts in the order of their names.
    """
    files: dict[str, list[TablePart]] = {name: [] for name in TABLES}
    folders: dict[str, list[tuple[str, tuple[TablePart, ...]]]] = {name: [] for name in TABLES}
    for path in sorted(folder.iterdir()):
        name = path.stem.lower() if path.suffix else path.name.lower()
        ending = path.suffix.lower()
        if name not in TABLES:
            continue
        table_format = TABLE_FILE_FORMATS.get(ending)
        if not ending and path.is_dir():
            folders[name].append((path.name, _parts(path, name, problems)))
        elif table_format and path.is_dir():
            message = "This is a folder where a file is expected."
            remedy = f"Name a folder of parts {name}, without an ending."
            problems.add("error", path.name, message, remedy)
        elif table_format and not path.is_file():
            problems.add("error", path.name, _NO_FILE, _PUT_FILE)
        elif table_format:
            files[name].append(TablePart(path, table_format, path.name))
        elif ending in _NEAR_MISSES:
            remedy = _NEAR_MISSES[ending].format(name=name)
            problems.add("warning", path.name, _NOT_READ, remedy)
    found = {}
    for name in TABLES:
        labels = [part.label for part in files[name]]
        several = labels if len(labels) > 1 else [f"{label}/" for label, _ in folders[name]]
        inside = tuple(part for _, parts in folders[name] for part in parts)
        if len(several) > 1:
            message = f"There are several files for one table: {' and '.join(several)}."
            remedy = f"Keep the right one; put further rows into a folder {name}/, or elsewhere."
            problems.add("error", several[0], message, remedy)
        if parts := (*files[name][:1], *inside):
            label = folders[name][0][0] if inside else labels[0]
            found[name] = TableSource(name, label, parts, problems)
    return found


def _parts(folder: Path, table: str, problems: ProblemList) -> tuple[TablePart, ...]:
    """Find the parts of a table in the folder with its name."""
    parts: list[TablePart] = []
    for path in sorted(_visible_files(folder)):
        label, ending = f"{folder.name}/{path.name}", path.suffix.lower()
        table_format = TABLE_FILE_FORMATS.get(ending)
        if path.is_dir():
            remedy = f"Put its files into {folder.name}/ itself, or move it elsewhere."
            problems.add("warning", f"{label}/", "This folder in a folder is not read.", remedy)
        elif table_format and not path.is_file():
            problems.add("error", label, _NO_FILE, _PUT_FILE)
        elif table_format:
            grows = table == "answers" and table_format == "jsonl"
            parts.append(TablePart(path, table_format, label, grows))
        elif ending in _NEAR_MISSES and ending != ".txt":  # a note among the parts
            remedy = _NEAR_MISSES[ending].format(name=path.stem)
            problems.add("warning", label, _NOT_READ, remedy)
    if len(parts) > MAX_TABLE_PARTS:
        message = (
            f"The folder has {len(parts):,} parts, more than can be opened ({MAX_TABLE_PARTS:,})."
        )
        problems.add("error", f"{folder.name}/", message, "Join them into fewer.")
        return tuple(parts[:1])
    if not parts:
        message = "The folder has the name of a table but holds no parts of it."
        remedy = "Put parts named *.jsonl, *.csv or *.parquet into it, or remove it."
        problems.add("warning", f"{folder.name}/", message, remedy)
    return tuple(parts)


def _visible_files(folder: Path) -> Iterator[Path]:
    """Yield the content of a folder of parts, except hidden and temporary files."""
    for path in folder.iterdir():
        if path.name[0] not in "._" and path.suffix.lower() != ".tmp":
            yield path


def fingerprint(folder: Path, *, but_growing: bool = False) -> str:
    """Return a digest of the present state of a set's files, from names, sizes and times only.

    It changes when ``reviewset.yaml``, a table, one of its parts or another YAML file in the folder
    (a rubric) changes, appears or disappears. Images are ignored. With ``but_growing`` the parts
    that runs write to (JSON Lines in ``answers/``) are ignored, too.

    Returns
    -------
    str
        32 hexadecimal digits. A missing folder has one, too.
    """
    digest = hashlib.sha256()
    for path in fingerprinted_files(Path(folder)):
        if but_growing and _may_grow(path, folder):
            continue
        try:
            stat = path.stat()
        except OSError:
            continue
        relative = path.relative_to(folder).as_posix()
        state = (relative, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        digest.update(repr(state).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _may_grow(path: Path, folder: Path) -> bool:
    """True if a run of a model may be writing to a file of the set."""
    *_, table, name = path.parts
    inside = path.parent != folder
    return inside and table.lower() == "answers" and name.lower().endswith(".jsonl")


def fingerprinted_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a set that :func:`fingerprint` covers."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        ending = path.suffix.lower()
        if ending in (".yaml", ".yml") or ending in TABLE_FILE_FORMATS or ending in _NEAR_MISSES:
            yield path
        elif path.name.lower() in TABLES and path.is_dir():
            yield from sorted(_visible_files(path))
