"""Which files of a folder are the tables of a review set, and whether any of them changed."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from rexview.reviewset.problems import ProblemList
from rexview.reviewset.tables.columns import TABLES

INFO_FILE: Final = "reviewset.yaml"
TableFormat = Literal["jsonl", "csv", "parquet"]
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


@dataclass
class TableSource:
    """The file of one table, or its folder of Parquet parts.

    ``label`` is the name that problems carry. Rows are numbered through all parts;
    :meth:`place` finds the part and the row in it.
    """

    name: str
    format: TableFormat
    label: str
    files: tuple[Path, ...]
    is_folder: bool = False
    _ends: list[int] = field(default_factory=list)

    def part_label(self, part: int) -> str:
        """Name of one part as problems carry it."""
        return f"{self.label}/{self.files[part].name}" if self.is_folder else self.label

    def end_part(self, last_row: int) -> None:
        """Note that the part being read ends with row ``last_row`` of the whole table."""
        self._ends.append(last_row)

    def place(self, row: int | None) -> tuple[str, int | None]:
        """File label and row in that file, for a row of the whole table."""
        if row is None or not self.is_folder:
            return self.label, row
        part = min(bisect_left(self._ends, row), len(self.files) - 1)
        start = self._ends[part - 1] if part else 0
        return self.part_label(part), row - start


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
        if not ending and path.is_dir():
            parts = tuple(_parts(path))
            if parts:
                found[name].append(TableSource(name, "parquet", path.name, parts, is_folder=True))
            else:
                problems.add(
                    "warning",
                    f"{path.name}/",
                    "The folder has the name of a table but holds no Parquet parts.",
                    "Put parts named *.parquet into it, or remove it.",
                )
        elif ending in FORMATS and path.is_dir():
            problems.add(
                "error",
                path.name,
                "This is a folder where a file is expected.",
                f"Name a folder of Parquet parts {name}, without an ending.",
            )
        elif ending in FORMATS and not path.is_file():
            problems.add(
                "error",
                path.name,
                "This is not a file that can be read, or a link to nowhere.",
                "Put the file itself here.",
            )
        elif ending in FORMATS:
            found[name].append(TableSource(name, FORMATS[ending], path.name, (path,)))
        elif ending in _NEAR_MISSES:
            problems.add(
                "warning",
                path.name,
                "The file has the name of a table but is not read.",
                _NEAR_MISSES[ending].format(name=name),
            )
    return {name: kept for name, sources in found.items() if (kept := _one(sources, problems))}


def _parts(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() == ".parquet" and path.name[0] not in "._" and path.is_file():
            yield path


def _one(sources: list[TableSource], problems: ProblemList) -> TableSource | None:
    if len(sources) > 1:
        names = " and ".join(source.label for source in sources)
        problems.add(
            "error",
            sources[0].label,
            f"There are several files for one table: {names}.",
            "Keep the right one and move the others elsewhere.",
        )
    return sources[0] if sources else None


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
    for path in _watched(Path(folder)):
        try:
            stat = path.stat()
        except OSError:
            continue
        relative = path.relative_to(folder).as_posix()
        state = (relative, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        digest.update(repr(state).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def _watched(folder: Path) -> Iterator[Path]:
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
