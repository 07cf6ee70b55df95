"""A review set written anew in its place: its tables are exchanged as a whole or not at all.

What else lies in the folder stays where it is: images, the reviews database, other files. The
tables as they were are kept in a dated folder beside the set.
"""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rexview.errors import Problem, ReviewSetError
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import INFO_FILE, UNFINISHED, find_tables, fingerprint
from rexview.reviewset.tables.source import TableFormat
from rexview.reviewset.write import write_tables
from rexview.schema import ReviewSet

_OLD: Final = "old"
_NEW: Final = "new"


def rewrite(
    review_set: ReviewSet,
    *,
    base: str,
    state: str,
    table_format: TableFormat | None = None,
    images: Path | None = None,
) -> Path:
    """Write a review set over the one in its folder; return the folder with what was there.

    ``base`` is the images base for ``reviewset.yaml``; the files of a folder ``images`` are moved
    into ``images/`` of the set, where they must not be yet. Without ``table_format`` the set keeps
    the format that its cases have. ``state`` is the fingerprint of the files that the set was made
    from. Of a table with parts one file is made.

    Raises
    ------
    ReviewSetError
        There is a file already where an image would go, a run is at work in the set, or its files
        are no longer as they were read; nothing was changed.
    OSError
        Something cannot be written. The set is then as it was.
    """
    folder = review_set.folder.resolve()
    _check_runs(folder)
    tables = find_tables(folder, ProblemList())
    usual = tables["cases"].parts[0].format if "cases" in tables else "jsonl"
    parts = [part for source in tables.values() for part in source.parts]
    names = [INFO_FILE, *dict.fromkeys(part.path.relative_to(folder).parts[0] for part in parts)]
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}-", ignore_cleanup_errors=True
    ) as beside:
        new, old = Path(beside) / _NEW, Path(beside) / _OLD
        new.mkdir()
        old.mkdir()
        write_tables(review_set, new, table_format or usual, base)
        moved = _places(images, folder / "images")
        if fingerprint(folder) != state:
            raise ReviewSetError(
                "The set was changed meanwhile, by a run or by hand; nothing was written. "
                "Wait until that is done, then import again."
            )
        backup = _backup(folder, names)
        (folder / UNFINISHED).write_text(f"{backup.name}\n", encoding="utf-8")
        done: list[tuple[Path, Path]] = []
        try:
            for source, target in (
                *((folder / name, old / name) for name in names),
                *((path, folder / path.name) for path in sorted(new.iterdir())),
                *moved,
            ):
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
                done.append((source, target))
        except BaseException:
            for source, target in reversed(done):
                target.rename(source)
            (folder / UNFINISHED).unlink()
            raise
        (folder / UNFINISHED).unlink()
    return backup


def _check_runs(folder: Path) -> None:
    """Refuse while a run may write to a part that would be moved away: its lock is not empty."""
    for lock in folder.glob("runs/*/lock"):
        if lock.stat().st_size:
            run = lock.parent.name
            raise ReviewSetError(
                f"The run {run} is at work in this set, or was stopped hard; nothing was changed. "
                f"Wait for it or cancel it; if it does not run any more, remove runs/{run}/lock."
            )


def _places(images: Path | None, folder: Path) -> list[tuple[Path, Path]]:
    """Return each new image and where it goes, none of them over a file that is there."""
    files = sorted(path for path in images.rglob("*") if path.is_file()) if images else []
    places = [(path, folder / path.relative_to(images)) for path in files if images]
    taken = [target.relative_to(folder).as_posix() for _, target in places if target.exists()]
    if taken:
        message = "There is another image of that name in the set; nothing was changed."
        remedy = "Rename the new one."
        problems = [Problem("error", name, None, "images", message, remedy) for name in taken]
        raise ReviewSetError("The images cannot be added.", problems)
    return places


def _backup(folder: Path, names: list[str]) -> Path:
    """Copy the tables as they are into a dated folder beside the set."""
    date = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    backup, number = folder.with_name(f"{folder.name}-before-{date}"), 2
    while backup.exists():
        backup = folder.with_name(f"{folder.name}-before-{date}-{number}")
        number += 1
    backup.mkdir()
    for name in names:
        if (folder / name).is_dir():
            shutil.copytree(folder / name, backup / name)
        else:
            shutil.copy2(folder / name, backup / name)
    return backup
