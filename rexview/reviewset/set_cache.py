"""Cache large review sets on disk, read and checked, and map them into memory.

An entry of :mod:`rexview.disk_cache` is a folder of Arrow files. The texts of a large table are
written there part by part while it is read, so that memory never contains them all; the other
columns follow once everything is checked. The set is then opened from there, the first time and
later: data that nobody uses is not read. An entry belongs to one state of the files and one state
of the code that reads them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final, Self

import numpy as np
import polars as pl

from rexview import frames
from rexview.addresses import is_address
from rexview.answer_digest import merge_stale_rows, separate_stale_rows
from rexview.disk_cache import FileCache, open_cache, set_reader_version
from rexview.errors import Problem, SettingsError
from rexview.frames import AnswerRows, SharedIndex, TableIndex, map_arrow_file
from rexview.reviewset.image_paths import find_returned_picture, images_folder
from rexview.reviewset.plausibility import check_plausible, image_sizes
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.set_files import find_tables, fingerprint, fingerprinted_files
from rexview.schema import ReviewSet, SetInfo
from rexview.settings import load_settings

# Plausibility warnings of a large set: computed on demand, as it takes a while.

Warnings = tuple[Problem, ...]


class DeferredWarnings:
    """All warnings of a set that opened without those of :func:`check_plausible`.

    Parameters
    ----------
    review_set : ReviewSet
        The set as it was given; its ``warnings`` are those known so far.
    place : int
        Index in them where the others are inserted.
    known : tuple of Problem or None
        The others, if they were found before.
    keep : callable
        Called with the others once they are found.
    """

    def __init__(
        self,
        review_set: ReviewSet,
        place: int,
        known: Warnings | None = None,
        keep: Callable[[Warnings], None] = lambda found: None,
    ) -> None:
        self._review_set: Final = review_set
        self._place: Final = place
        self._found = known
        self._keep: Final = keep
        self._lock: Final = Lock()
        self._thread: Thread | None = None

    def __call__(self) -> Warnings | None:
        """Return all warnings; None, and start the search, if they are not yet found."""
        with self._lock:
            if self._found is None:
                if self._thread is None:
                    self._thread = Thread(target=self._look, name="look for warnings", daemon=True)
                    self._thread.start()
                return None
        before, after = (
            self._review_set.warnings[: self._place],
            self._review_set.warnings[self._place :],
        )
        return (*before, *self._found, *after)

    def _look(self) -> None:
        found: Warnings
        try:
            found = plausibility_warnings(self._review_set)
        except Exception as error:  # for example if the disk with the texts is gone
            message = f"The answers could not be looked through ({type(error).__name__})."
            remedy = "Run python -m rexview check on the folder."
            found = (Problem("warning", "answers", None, None, message, remedy),)
        else:
            self._keep(found)
        with self._lock:
            self._found = found


def plausibility_warnings(review_set: ReviewSet) -> Warnings:
    """Return the warnings of :func:`check_plausible` for a set as it was given."""
    problems = ProblemList()
    sources = {
        name: replace(source, problems=problems)
        for name, source in find_tables(review_set.folder, ProblemList()).items()
    }
    tables = {name: getattr(review_set, name) for name in ("cases", "answers", "scores")}
    check_plausible(tables, sources, image_sizes(review_set.cases))
    return tuple(problems.all())


LARGE_ROWS: Final = 10_000
"""From this number of rows of cases or answers on, a set is cached: with a reader's scores of each,
reading takes longer than half a second."""
LARGE_BYTES: Final = 1_000_000
"""From this size of all table files on, in bytes, a set may be large."""
_TEXT_COLUMNS: Final = {
    "cases": (
        *("question", "question_boxes", "tags", "context", "report", "options", "explanation"),
        "extra",
    ),
    "answers": ("text", "explanation", "error", "extra"),
}
"""Columns that no check changes and that make up most of a set's size."""
_CHECKED_COLUMNS: Final = {
    "cases": ("images", "reference_boxes"),
    "answers": ("boxes", "choice", "_choice_read"),
}
"""Columns that checks fill in; all others are final once the tables are read."""
_CONTENTS: Final = "contents.json"
_WARNINGS_FILE: Final = "later-warnings.json"
_INDEX: Final = ("case", "model", "row", "starts")
_REPEATED: Final = ("repeated-numbers", "repeated-rows")
_FOLDERS_WATCHED: Final = 1000
_LOG: Final = logging.getLogger(__name__)


class CachedSet:
    """The cached entry of one state of a review set, finished or being written.

    Parameters
    ----------
    folder : Path
        Folder of the review set.
    state : str
        Its :func:`rexview.reviewset.set_files.fingerprint`.
    info : SetInfo
    """

    def __init__(self, folder: Path, state: str, info: SetInfo) -> None:
        self._folder, self._state, self._info = folder, state, info
        self._kept = _set_cache() if _bytes_of_tables(folder) >= LARGE_BYTES else None
        self._name = ""
        if self._kept is not None:
            images = _state_of_images(folder, info)
            of = (str(folder.resolve()), state, images, set_reader_version())
            self._name = hashlib.sha256(
                "\0".join(of).encode("utf-8", "surrogateescape")
            ).hexdigest()
        self._made: Path | None = None
        self._moved: dict[str, list[pl.DataFrame]] = {}
        self._settled: Future[dict[str, list[str]]] | None = None
        self._judged_later: int | None = None
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._give_up()

    def open(self) -> ReviewSet | None:
        """Open the cached set; return None if there is none, or a damaged one."""
        path = self._kept.find(self._name) if self._kept else None
        if path is None or self._kept is None:
            return None
        try:
            return self._opened(path)
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            reason = type(error).__name__
        _LOG.warning("What was kept of a review set is damaged (%s); it is read again.", reason)
        self._kept.discard(self._name)
        return None

    def _opened(self, path: Path) -> ReviewSet:
        contents = json.loads((path / _CONTENTS).read_text(encoding="utf-8"))
        for name, size in contents["files"].items():
            if (path / name).stat().st_size != size:
                raise ValueError(f"{name} is not whole")
        tables: dict[str, Any] = {
            name: _read_table(path, name, contents["tables"][name]) for name in frames.TABLES
        }
        index = TableIndex(tables["cases"], tables["answers"], contents["declared"])
        arrays = {name: _read_array(path / f"{name}.npy") for name in (*_INDEX, "order")}
        vars(index)["order"] = arrays.pop("order")
        vars(index)["newest"] = AnswerRows(**arrays)
        vars(index)["repeated"] = tuple(_read_array(path / f"{name}.npy") for name in _REPEATED)
        vars(index)["models"] = tuple(contents["models"])
        found = ReviewSet(
            self._folder,
            self._info,
            **tables,
            fingerprint=self._state,
            warnings=tuple(Problem(**one) for one in contents["warnings"]),
            find_picture=partial(find_returned_picture, self._folder, self._info.images),
            shared_index=SharedIndex(index),
        )
        found = separate_stale_rows(found)  # pictures may have been replaced since
        return self._with_later_warnings(found, contents["judged_later"], path)

    def _with_later_warnings(
        self, review_set: ReviewSet, place: int, path: Path | None = None
    ) -> ReviewSet:
        """Return the set with deferred warnings, which are cached with its entry."""
        known = None
        if path is not None and (path / _WARNINGS_FILE).is_file():
            given = json.loads((path / _WARNINGS_FILE).read_text(encoding="utf-8"))
            known = tuple(Problem(**one) for one in given)
        later = DeferredWarnings(
            review_set, place, known, partial(_store_warnings, self._kept, self._name)
        )
        return replace(review_set, later_warnings=later)

    def move_texts(self, table: str, parts: list[pl.DataFrame]) -> None:
        """Move the texts of a table's parts to disk, once there are many rows.

        ``parts`` then has frames whose texts are mapped from there.
        """
        if self._kept is None or table not in _TEXT_COLUMNS or sum(map(len, parts)) < LARGE_ROWS:
            return
        if self._made is None:
            self._made = self._kept.begin(self._name, _bytes_of_tables(self._folder))
            if self._made is None:
                self._kept = None  # the reason was logged
                return
        try:
            self._made.mkdir(exist_ok=True)
            moved = self._moved.setdefault(table, [])
            for place in range(len(moved), len(parts)):
                names = [name for name in _TEXT_COLUMNS[table] if name in parts[place].columns]
                texts = parts[place].select(names)
                self._bytes += int(texts.estimated_size())  # a small file can expand to much text
                if self._bytes > self._kept.max_bytes:
                    raise OSError(errno.EFBIG, "it is larger than may be kept")
                moved.append(_write_and_map(texts, self._part(table, place)))
                parts[place] = parts[place].drop(names).hstack(moved[-1].get_columns())
        except (OSError, pl.exceptions.PolarsError) as error:
            self._not_written(error)

    def write_settled(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Start writing the columns that no check changes, while the checks run."""
        if self._made is not None:
            settled = {name: tables[name] for name in _CHECKED_COLUMNS}
            writer = ThreadPoolExecutor(max_workers=1)
            self._settled = writer.submit(self._write_settled, self._made, settled)
            writer.shutdown(wait=False)

    def _write_settled(
        self, made: Path, tables: Mapping[str, pl.DataFrame]
    ) -> dict[str, list[str]]:
        written = {}
        for name, frame in tables.items():
            others = {*_CHECKED_COLUMNS[name], *_all_columns(self._whole_parts(name, frame.height))}
            schema = {one: frames.TABLES[name][one] for one in frame.columns if one not in others}
            settled = frame.select(pl.col(one).cast(dtype) for one, dtype in schema.items())
            written[name] = _write_present(settled, made / f"{name}-settled.arrow")
        return written

    def puts_off(self, answers: pl.DataFrame, known: int) -> bool:
        """Return True if the answers are so many that judging them is put off.

        They are then judged when somebody opens all warnings. ``known`` is the number of problems
        found before.
        """
        self._judged_later = known if answers.height >= LARGE_ROWS else None
        return self._judged_later is not None

    def _part(self, table: str, place: int) -> Path:
        assert self._made is not None
        return self._made / f"{table}-{place:04}.arrow"

    def _not_written(self, error: Exception) -> None:
        _LOG.warning(
            "A large review set is not kept: %s.", getattr(error, "strerror", None) or error
        )
        self._give_up()
        self._kept = None

    def _give_up(self) -> None:
        if self._settled is not None:
            wait([self._settled])
        if self._made is not None and self._kept is not None:
            self._kept.abandon(self._made)
        self._made = None

    def keep(self, review_set: ReviewSet) -> ReviewSet:
        """Cache a set whose tables were all read, if it is large, and open it from the cache.

        Returns the set unchanged if it cannot be cached.
        """
        if self._judged_later is None:
            return review_set
        changed = fingerprint(self._folder) != self._state  # while they were read
        if self._made is None or self._kept is None or changed:
            return self._with_later_warnings(review_set, self._judged_later)
        try:
            self._write(self._made, review_set)
            opened = self._opened(self._made)
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            self._not_written(error)
            return self._with_later_warnings(review_set, self._judged_later)
        made, self._made = self._made, None
        Thread(
            target=_move_into_place, args=(self._kept, self._name, made), name="keep a set"
        ).start()
        return opened

    def _whole_parts(self, table: str, height: int) -> list[pl.DataFrame]:
        """Return the parts of a table's texts; none if duplicate rows were left out."""
        parts = self._moved.get(table, [])
        return parts if sum(map(len, parts)) == height else []

    def _write(self, made: Path, review_set: ReviewSet) -> None:
        tables = {}
        settled = self._settled.result() if self._settled else {}
        given = merge_stale_rows(review_set)
        for name in frames.TABLES:
            frame = getattr(given, name)
            parts = self._whole_parts(name, frame.height)
            files = [self._part(name, place).name for place in range(len(parts))]
            for place in range(len(files), len(self._moved.get(name, []))):
                self._part(name, place).unlink(missing_ok=True)
            written = {*settled.get(name, ()), *_all_columns(parts)}
            _write_present(frame.drop(written), made / f"{name}.arrow")
            tables[name] = {
                "pieces": [f"{name}.arrow", *[f"{name}-settled.arrow"][: name in settled]],
                "parts": files,
                "height": frame.height,
            }
        index = review_set.index
        for name in _INDEX:
            np.save(made / f"{name}.npy", getattr(index.newest, name))
        np.save(made / "order.npy", index.order)
        numbers, rows = index.repeated
        np.save(made / f"{_REPEATED[0]}.npy", numbers)
        np.save(made / f"{_REPEATED[1]}.npy", rows)
        contents = {
            "tables": tables,
            "declared": index.declared,
            "models": index.models,
            "judged_later": self._judged_later,
            "warnings": [asdict(one) for one in review_set.warnings],
            "files": {file.name: file.stat().st_size for file in made.iterdir()},
        }
        (made / _CONTENTS).write_text(json.dumps(contents), encoding="utf-8")


def _move_into_place(kept: FileCache, name: str, made: Path) -> None:
    """Move an entry to its place once it is on disk; a file of the right size is then whole."""
    try:
        for file in made.iterdir():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
    except OSError:
        kept.abandon(made)
    else:
        kept.finish(name, made)


def _store_warnings(kept: FileCache | None, name: str, found: tuple[Problem, ...]) -> None:
    path = kept.find(name) if kept else None
    if path is not None:
        with suppress(OSError):  # then they are searched again
            made = path / f"{_WARNINGS_FILE}.{os.getpid()}.part"
            made.write_text(json.dumps([asdict(one) for one in found]), encoding="utf-8")
            made.replace(path / _WARNINGS_FILE)


def _set_cache() -> FileCache | None:
    try:
        return open_cache("sets", load_settings())
    except SettingsError:  # reported where settings are needed
        return None


def _bytes_of_tables(folder: Path) -> int:
    total = 0
    for path in fingerprinted_files(folder):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def _state_of_images(folder: Path, info: SetInfo) -> str:
    """Return a text that changes when files appear in or disappear from the folders of images."""
    if is_address(info.images):
        return ""
    try:
        base = images_folder(folder, info.images)
        folders = sorted(Path(one) for one, *_ in islice(os.walk(base), _FOLDERS_WATCHED))
        return repr([(str(one), one.stat().st_mtime_ns) for one in folders])
    except (OSError, ValueError):
        return ""


def _is_absent(frame: pl.DataFrame, column: str) -> bool:
    """True if a column has no values at all; one value then answers for all."""
    is_list = isinstance(frame.schema[column], pl.List)
    something = pl.col(column).list.len() > 0 if is_list else pl.col(column).is_not_null()
    return not frame.select(something.any()).item()


def _write_ipc(frame: pl.DataFrame, path: Path) -> None:
    rows = max(1, frame.height)  # in one piece, so that rows are found without a search
    frame.write_ipc(path, compression="uncompressed", record_batch_size=rows)


def _write_present(frame: pl.DataFrame, path: Path) -> list[str]:
    """Write the columns with any value; return their names."""
    present = [column for column in frame.columns if not _is_absent(frame, column)]
    _write_ipc(frame.select(present), path)
    return present


def _all_columns(parts: Iterable[pl.DataFrame]) -> dict[str, None]:
    """Return the columns of all parts, each once."""
    return dict.fromkeys(column for part in parts for column in part.columns)


def _write_and_map(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    _write_ipc(frame, path)
    return map_arrow_file(path)


def _read_table(path: Path, name: str, contents: dict[str, Any]) -> pl.DataFrame:
    if not contents["height"]:
        return frames.TABLES[name].to_frame()
    frame = pl.concat(
        [map_arrow_file(path / piece) for piece in contents["pieces"]], how="horizontal"
    )
    if contents["parts"]:
        parts = [map_arrow_file(path / part) for part in contents["parts"]]
        given = list(_all_columns(parts))
        whole = pl.concat(_with_empty_columns(part, name).select(given) for part in parts)
        frame = frame.hstack(whole.get_columns())
    frame = _with_empty_columns(frame, name)
    if frame.schema != frames.TABLES[name] or frame.height != contents["height"]:
        raise ValueError(f"{name} is not whole")
    return frame


def _with_empty_columns(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Add the columns of a table without any value; each takes one value of memory."""
    schema = frames.TABLES[table]
    return frame.with_columns(
        pl.lit([] if isinstance(dtype, pl.List) else None, dtype).alias(column)
        for column, dtype in schema.items()
        if column not in frame.columns
    ).select(schema.names())


def _read_array(path: Path) -> Any:
    return np.asarray(np.load(path, mmap_mode="r"))
