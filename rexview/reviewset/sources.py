"""Which files of a folder are the tables of a review set, and whether any of them changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rexview.columns import TABLES
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.tables.source import TableFormat, TableSource

INFO_FILE: Final = "reviewset.yaml"
UNFINISHED: Final = ".import-unfinished"
"""Lies in a set while its tables are exchanged, and names the folder with those before."""
FORMATS: Final[dict[str, TableFormat]] = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}
"""Table format by the end of the file's name."""
_NEAR_MISSES: Final = {
    ".json": "Write one JSON object a line and call it {name}.jsonl.",
    ".ndjson": "Rename it to {name}.jsonl.",
    ".tsv": "Save it with commas as {name}.csv.",
    ".txt": "Rename it to {name}.csv or {name}.jsonl, whichever it is.",
    ".xlsx": "Save it as {name}.csv, or import it.",
    ".xls": "Save it as {name}.csv, or import it.",
    ".pq": "Rename it to {name}.parquet.",
}


def find_tables(folder: Path, problems: ProblemList) -> dict[str, TableSource]:
    """Find the tables of a folder by their names.

    A table is ``NAME.jsonl``, ``NAME.csv``, ``NAME.parquet`` or a folder ``NAME`` of Parquet parts,
    which are read in the order of their names.
    """
    found: dict[str, list[TableSource]] = {name: [] for name in TABLES}
    for path in sorted(folder.iterdir()):
        name = path.stem.lower() if path.suffix else path.name.lower()
        ending = path.suffix.lower()
        if name not in TABLES:
            continue
        table_format = FORMATS.get(ending)
        if not ending and path.is_dir():
            parts = tuple(_parts(path))
            if parts:
                found[name].append(
                    TableSource(name, "parquet", path.name, parts, problems, is_folder=True)
                )
            else:
                message = "The folder has the name of a table but holds no Parquet parts."
                remedy = "Put parts named *.parquet into it, or remove it."
                problems.add("warning", f"{path.name}/", message, remedy)
        elif table_format and path.is_dir():
            message = "This is a folder where a file is expected."
            remedy = f"Name a folder of Parquet parts {name}, without an ending."
            problems.add("error", path.name, message, remedy)
        elif table_format and not path.is_file():
            message = "This is not a file that can be read, or a link to nowhere."
            problems.add("error", path.name, message, "Put the file itself here.")
        elif table_format:
            found[name].append(TableSource(name, table_format, path.name, (path,), problems))
        elif ending in _NEAR_MISSES:
            message = "The file has the name of a table but is not read."
            remedy = _NEAR_MISSES[ending].format(name=name)
            problems.add("warning", path.name, message, remedy)
    for sources in found.values():
        if len(sources) > 1:
            names = " and ".join(source.label for source in sources)
            message = f"There are several files for one table: {names}."
            sources[0].error(message, "Keep the right one and move the others elsewhere.")
    return {name: sources[0] for name, sources in found.items() if sources}


def _parts(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() == ".parquet" and path.name[0] not in "._" and path.is_file():
            yield path


def fingerprint(folder: Path) -> str:
    """Name the present state of a set's files, from names, sizes and times only.

    Changes when ``reviewset.yaml``, a table, a part of a table or a YAML file beside them (a
    rubric) changes, appears or goes. Images are not looked at.

    Returns
    -------
    str
        32 hexadecimal digits. A folder that is not there has one, too.
    """
    digest = hashlib.sha256()
    for path in watched(Path(folder)):
        try:
            stat = path.stat()
        except OSError:
            continue
        relative = path.relative_to(folder).as_posix()
        state = (relative, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        digest.update(repr(state).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def watched(folder: Path) -> Iterator[Path]:
    """Yield the files of a set that :func:`fingerprint` looks at."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        ending = path.suffix.lower()
        if ending in (".yaml", ".yml") or ending in FORMATS or ending in _NEAR_MISSES:
            yield path
        elif path.name.lower() in TABLES and path.is_dir():
            yield from _parts(path)
