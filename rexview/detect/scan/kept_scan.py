"""Keep detectors' results on disk, and read them back while rules and contents stay the same.

Each state of a set's files has pieces, written as the scan advances, which hold its answers by
number. Unchanged files are recognized by their fingerprint; then only the pieces are read.
Otherwise the pieces of the previous state are taken over answer by answer, matched by content.
Messages and evidence stay on disk until a case needs them.

The pieces may come from another person together with the folder. Whatever does not fit is ignored.
"""

from __future__ import annotations

import errno
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.detector import Detector
from rexview.detect.scan.batch import (
    ANSWER_COLUMNS,
    CASE_COLUMNS,
    DETAILED_FLAG_SCHEMA,
    FLAG_SCHEMA,
    NOT_JUDGED,
    RESULT_SCHEMA,
    BatchResult,
    join_results,
)
from rexview.detect.scan.finding_index import IndexBuilder, Phrase, Places, report_text_number
from rexview.detect.scan.rule_version import describe_settings, rule_version
from rexview.disk_cache import FileCache, set_reader_version
from rexview.frames import query_all_rows
from rexview.schema import ReviewSet

# Key of everything that an answer's results depend on, except for the rules themselves.
#
# It has two numbers of 64 bits. They cover the columns of the answer and its case that detectors
# may read, and the detectors' settings for its model. They are computed column by column, in a
# second for a million answers.

Keys = npt.NDArray[np.uint64]
"""Shape (n, 2)."""
_SEEDS: Final = (0x5CA1AB1E, 0x0DDBA11)
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)


def compute_keys(review_set: ReviewSet, detectors: Sequence[Detector]) -> tuple[Keys, Keys]:
    """Return the keys of all cases and of all newest answers of a review set."""
    newest = review_set.newest
    of_cases = hash_rows(review_set.cases, CASE_COLUMNS)
    settings = [
        hashlib.sha256(describe_settings(detectors, model.id).encode()).digest()
        for model in review_set.models
    ]
    of_models = np.array(
        [np.frombuffer(digest[:16], dtype=np.uint64) for digest in settings], dtype=np.uint64
    ).reshape(-1, 2)
    of_answers = hash_rows(review_set.answers, ANSWER_COLUMNS)[newest.row]
    for others in (of_cases[newest.case], of_models[newest.model]):
        of_answers = mix_keys(of_answers, others)
    return of_cases, of_answers


def hash_rows(table: pl.DataFrame, columns: Sequence[str]) -> Keys:
    """Return the keys of all rows of a table, from some of its columns."""
    found = np.zeros((len(table), 2), dtype=np.uint64)
    for name in columns:
        hashes = query_all_rows(table, partial(_of_column, name))
        found = mix_keys(found, hashes.to_numpy())
    return found


def _of_column(name: str, rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.select(pl.col(name).hash(seed).alias(str(seed)) for seed in _SEEDS)


def mix_keys(keys: Keys, others: Keys) -> Keys:
    """Mix other numbers into keys; the order of mixing matters."""
    mixed = (keys ^ others) * _PRIME
    return mixed ^ (mixed >> _SHIFT)


FOLDER: Final = "failures.kept"
"""Folder in a review set for the results kept next to its tables."""
_FIRST: Final = 2_000
_SHARE: Final = 10
_MOST: Final = 200_000
"""A piece has at least ``_FIRST`` answers, then a tenth of those kept; ``_MOST`` ends it early."""
_ROW_GROUP: Final = 20_000
_SCHEMAS: Final = {
    "answers": RESULT_SCHEMA,
    "flags": DETAILED_FLAG_SCHEMA,
    "reports": pl.Schema({"case_row": pl.Int32()}),
    "phrases": pl.Schema(dict.fromkeys(Phrase._fields, pl.String())),
    "texts": pl.Schema({"text": pl.Int32(), "phrase": pl.Int32()}),
}
_KEYS: Final = pl.Schema({"a": pl.UInt64(), "b": pl.UInt64()})
_BYTES_TO_KEY: Final = 16
_MOST_PIECES: Final = 1_000
_MOST_STATES: Final = 4
_MOST_TEXT: Final = 1_000
_UNREADABLE: Final = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""Raised when a file is not as it was written; damage can make polars panic."""


class KeptScan:
    """Results kept for one state of a review set. Safe for several threads.

    Parameters
    ----------
    review_set : ReviewSet
    detectors : sequence of Detector
    files : FileCache
        Where new pieces are written.
    """

    def __init__(
        self, review_set: ReviewSet, detectors: Sequence[Detector], files: FileCache
    ) -> None:
        self._review_set = review_set
        self._detectors = detectors
        self._files = files
        beside = FileCache(review_set.folder / FOLDER, files.max_bytes, files.ending)
        own = str(review_set.folder.resolve())
        self._sources = {beside.folder: (beside, "")} | {files.folder: (files, own)}
        if files.folder == beside.folder:  # the cache moves with the set, wherever the set is
            self._sources = {files.folder: (files, "")}
        state = review_set.fingerprint.partition("-")[0]
        pictures = review_set.cases.select(pl.col("images").hash().sum()).item()
        settings = [describe_settings(detectors, model.id) for model in review_set.models]
        self._state = _name(rule_version(), set_reader_version(), state, pictures, *settings)
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: list[BatchResult] = []
        self._n_waiting = 0
        self._n_kept = 0
        self._written = 0
        self._earlier: list[str] = []
        self._given_up = not state  # made in memory: no fingerprint shows whether it changed
        self._paths: list[Path] = []
        self._piece_of = np.zeros(len(review_set.newest), dtype=np.uint16)

    @property
    def trouble(self) -> str | None:
        """The reason why results are no longer kept, as a sentence; None if there is no problem."""
        return self._files.trouble

    def read(self) -> Iterator[BatchResult]:
        """Yield the pieces of this state without messages and evidence, then those taken over."""
        if self._given_up:
            return
        for files, _ in self._sources.values():
            for path in _pieces(files, self._state):
                piece = _read(path, len(self._piece_of), len(self._review_set.cases))
                if piece is None:
                    continue
                self._remember(path, piece.numbers)
                if files is self._files:
                    self._written += 1
                yield piece
        yield from self._taken_over()

    def _remember(self, path: Path, numbers: npt.NDArray[np.uint32]) -> None:
        with self._lock:
            self._paths.append(path)
            self._piece_of[numbers] = len(self._paths)
            self._n_kept += len(numbers)

    def _taken_over(self) -> Iterator[BatchResult]:
        """Yield the results of unchanged answers from earlier states of the files.

        Until all are taken over, the pointer names these states too, so that an interrupted process
        continues at the next start.
        """
        now: tuple[npt.NDArray[np.uint64], ...] | None = None
        for files, folder in self._sources.values():
            states = [one for one in _states(files, folder) if one != self._state]
            if files is self._files:
                self._earlier = states
            for earlier in states:
                keys = files.find(_name(earlier, "keys"))
                if keys is None or self._piece_of.all():
                    continue
                now = now or compute_keys(self._review_set, self._detectors)
                cases, answers = (
                    _same(keys / f"{name}.parquet", now[n]) for n, name in enumerate(_PARTS)
                )
                if cases is None or answers is None:
                    continue
                for path in _pieces(files, earlier):
                    old = _read(path, len(answers), len(cases), told=True)
                    if old is not None:
                        known = self._piece_of[answers] > 0
                        piece = _renumbered(old, cases, np.where(known, np.int32(-1), answers))
                        self.add(piece)
                        yield piece
        self.flush()
        if self._earlier and not self.trouble:
            earlier_states, self._earlier = self._earlier, []
            if self._written:
                self._point()
            for state in earlier_states:
                _forget(self._files, state)

    def add(self, *looked: BatchResult) -> None:
        """Keep results, now or with the next ones."""
        with self._lock:
            if self._given_up:
                return
            self._waiting += looked
            self._n_waiting += sum(len(one.numbers) for one in looked)
            enough = min(_MOST, max(_FIRST, self._n_kept // _SHARE))
            if self._n_waiting < enough:
                return
        self.flush()

    def flush(self) -> None:
        """Write the waiting results."""
        with self._writing:
            with self._lock:
                waiting, self._waiting, self._n_waiting = self._waiting, [], 0
                if not waiting or self._given_up:
                    return
            piece = _joined(waiting)
            if not self._written:
                self._write_keys()
            while self._files.find(_piece_name(self._state, self._written)):  # another process's
                self._written += 1
            name = _piece_name(self._state, self._written)
            frames = _frames(piece)
            size = sum(int(frame.estimated_size()) for frame in frames.values())
            path = self._files.keep(name, size, lambda folder: _write(folder, frames))
            if path is None:
                self._given_up = True
                return
            self._written += 1
            self._remember(path, piece.numbers)

    def _write_keys(self) -> None:
        """Write the keys of this state, and mark it as the newest."""
        keys = dict(zip(_PARTS, compute_keys(self._review_set, self._detectors), strict=True))

        def fill(folder: Path) -> None:
            folder.mkdir()
            for name, of_all in keys.items():
                _write_table(pl.DataFrame(of_all, _KEYS), folder / f"{name}.parquet")

        size = sum(_BYTES_TO_KEY * len(one) for one in keys.values())
        self._files.keep(_name(self._state, "keys"), size, fill)
        self._point()

    def _point(self) -> None:
        """Write which state of a folder is the newest, and which are still being taken over."""
        states = "\n".join([self._state, *self._earlier][:_MOST_STATES])

        def point(folder: Path) -> None:
            folder.mkdir()
            (folder / "state").write_text(states)

        self._files.keep(_newest(self._sources[self._files.folder][1]), len(states), point)

    def of(self, first: int, stop: int) -> pl.DataFrame | None:
        """Return the flags on some answers with messages and evidence (:class:`FlagDetails`).

        None if some are not on disk, or no longer.
        """
        with self._lock:
            places = np.unique(self._piece_of[first:stop])
            if 0 in places:
                return None
            paths = [self._paths[place - 1] for place in places]
        inside = pl.col("answer").is_between(first, stop, closed="left")
        found = [DETAILED_FLAG_SCHEMA.to_frame()]
        try:
            for path in paths:
                flags = pl.scan_parquet(path / "flags.parquet").filter(inside).collect()
                found.append(_checked(flags, DETAILED_FLAG_SCHEMA))
        except _UNREADABLE:
            return None
        # An answer may be in two pieces: one in the set's folder and one in the cache folder.
        return pl.concat(found).unique(maintain_order=True).sort("answer", maintain_order=True)


_PARTS: Final = ("cases", "answers")


def _name(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:40]


def _piece_name(state: str, number: int) -> str:
    return _name(state, f"piece {number}")


def _pieces(files: FileCache, state: str) -> Iterator[Path]:
    """Yield the existing pieces of a state; some may have been removed to make room."""
    for number in range(_MOST_PIECES):
        path = files.find(_piece_name(state, number))
        if path is not None:
            yield path


def _forget(files: FileCache, state: str) -> None:
    """Remove the kept results of a state."""
    files.discard(_name(state, "keys"))
    for number in range(_MOST_PIECES):
        files.discard(_piece_name(state, number))


def _newest(folder: str) -> str:
    return _name(rule_version(), "newest", folder)


def _states(files: FileCache, folder: str) -> list[str]:
    """Return the newest state of a folder, then those not yet fully taken over into it."""
    pointer = files.find(_newest(folder))
    if pointer is None:
        return []
    try:
        return (pointer / "state").read_text()[:_MOST_TEXT].split("\n")[:_MOST_STATES]
    except (OSError, UnicodeError):
        return []


def _frames(looked: BatchResult) -> dict[str, pl.DataFrame]:
    columns: dict[str, list[npt.NDArray[Any]]] = {
        "reports": [looked.reports],
        "texts": [looked.texts, looked.phrase_places],
    }
    frames = {
        name: pl.DataFrame(dict(zip(_SCHEMAS[name], given, strict=True)))
        for name, given in columns.items()
    }
    phrases = pl.DataFrame(list(looked.phrases), _SCHEMAS["phrases"], orient="row")
    return frames | {"answers": looked.answers, "flags": looked.flags, "phrases": phrases}


def _write(folder: Path, frames: dict[str, pl.DataFrame]) -> None:
    folder.mkdir()
    for name, frame in frames.items():
        _write_table(frame, folder / f"{name}.parquet")


def _write_table(frame: pl.DataFrame, path: Path) -> None:
    try:
        frame.write_parquet(path, row_group_size=_ROW_GROUP)
    except pl.exceptions.PolarsError:  # polars reports a full disk this way
        raise OSError(errno.EIO, "the file cannot be written") from None


def _checked(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Return the columns of a schema; raise ``PolarsError`` if they are not available."""
    checked = frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
    for name, kind in schema.items():
        if kind.is_integer() and checked[name].null_count():
            raise pl.exceptions.InvalidOperationError(f"{name} is missing")
    return checked


def _read(path: Path, answers: int, cases: int, *, told: bool = False) -> BatchResult | None:
    """Read a piece of a set with this many answers and cases; None if unreadable or unfit."""
    schemas = _SCHEMAS if told else {**_SCHEMAS, "flags": FLAG_SCHEMA}
    try:
        frames = {
            name: _checked(
                pl.read_parquet(path / f"{name}.parquet", columns=schema.names()), schema
            )
            for name, schema in schemas.items()
        }
    except _UNREADABLE:
        return None
    looked = BatchResult(
        frames["answers"],
        frames["flags"],
        frames["reports"]["case_row"].to_numpy(),
        tuple(Phrase(*row) for row in frames["phrases"].iter_rows()),
        frames["texts"]["text"].to_numpy(),
        frames["texts"]["phrase"].to_numpy(),
    )
    return looked if _fits(looked, answers, cases) else None


def _fits(looked: BatchResult, answers: int, cases: int) -> bool:
    last = int(looked.numbers.max(initial=0))
    if last >= max(answers, 1) or len(looked.numbers) > answers:
        return False
    here = np.zeros(last + 1, dtype=np.bool_)
    here[looked.numbers] = True
    flagged = looked.flags["answer"].to_numpy()
    return bool(
        np.count_nonzero(here) == len(looked.numbers)
        and looked.state.min(initial=NOT_JUDGED) > 0
        and looked.state.max(initial=0) <= NOT_JUDGED
        and flagged.max(initial=0) <= last
        and here[flagged].all()
        and not looked.flags["failure"].null_count()
        and looked.reports.min(initial=0) >= 0
        and looked.reports.max(initial=-1) < cases
        and looked.texts.min(initial=0) >= -cases
        and looked.texts.max(initial=-1) <= last
        and looked.phrase_places.min(initial=0) >= 0
        and looked.phrase_places.max(initial=-1) < len(looked.phrases)
    )


def _joined(parts: Sequence[BatchResult]) -> BatchResult:
    """Join the results of different answers, with the findings that their texts mention."""
    builder = IndexBuilder()
    for part in parts:
        builder.add(part.phrases, part.texts, part.phrase_places)
    index = builder.index()
    reports = np.concatenate([part.reports for part in parts])
    return replace(
        join_results(parts),
        reports=reports,
        phrases=index.phrases,
        texts=index.texts,
        phrase_places=index.phrase_places,
    )


def _same(path: Path, now: npt.NDArray[np.uint64]) -> Places | None:
    """Return the current row of each earlier row, matched by content; -1 if it is gone.

    Rows of equal content are matched in order. None if the file cannot be read.
    """
    try:
        before = _checked(pl.read_parquet(path), _KEYS)
    except _UNREADABLE:
        return None
    old, new = (
        keys.with_columns(
            nth=pl.int_range(pl.len(), dtype=pl.UInt32).over("a", "b")
        ).with_row_index(name)
        for name, keys in (("old", before), ("new", pl.DataFrame(now, _KEYS)))
    )
    both = old.join(new, on=["a", "b", "nth"]).select("old", "new")
    places = np.full(len(before), -1, dtype=np.int32)
    places[both["old"].to_numpy()] = both["new"].to_numpy()
    return places


def _renumbered(piece: BatchResult, cases: Places, answers: Places) -> BatchResult:
    """Renumber a piece of earlier files; leave out what no longer exists."""
    reports = cases[piece.reports]
    renumbered = piece.answers.with_columns(number=pl.Series(answers[piece.numbers]))
    flagged = answers[piece.flags["answer"].to_numpy()]
    flags = piece.flags.with_columns(answer=pl.Series(flagged))
    of_report = piece.texts < 0
    texts = np.empty_like(piece.texts)
    texts[~of_report] = answers[piece.texts[~of_report]]
    texts[of_report] = cases[report_text_number(piece.texts[of_report])]
    there = texts >= 0
    texts[of_report] = report_text_number(texts[of_report])
    return BatchResult(
        renumbered.filter(pl.col("number") >= 0).cast({"number": pl.UInt32}),
        flags.filter(pl.col("answer") >= 0).cast({"answer": pl.UInt32}),
        reports[reports >= 0],
        piece.phrases,
        texts[there],
        piece.phrase_places[there],
    )


# Results are kept in the order in which the tasks started, whichever task finishes first.
#
# So the pieces on disk are the same, byte for byte, whichever process scanned the answers, even
# after an interruption.

_MOST_WAITING: Final = 2_000
"""Up to this many turns wait for a slow one; after that the finished ones are kept before it."""


@dataclass(slots=True)
class _Turn:
    left: int = 1
    found: list[BatchResult] = field(default_factory=list)


class OrderedWriter:
    """Passes on the results of each turn, turn by turn. Safe for several threads.

    ``keep`` is called by one thread at a time, with all results of a turn.
    """

    def __init__(self, keep: Callable[[Sequence[BatchResult]], None]) -> None:
        self._keep: Final = keep
        self._changed: Final = threading.Condition()
        self._turns: dict[int, _Turn] = {}
        self._next = 0
        self._passing = False

    def new(self) -> int:
        """Start a turn, and return its number."""
        with self._changed:
            number = self._next
            self._next += 1
            self._turns[number] = _Turn()
            return number

    def parted(self, number: int, parts: int) -> None:
        """Note that part of a turn is tried again in ``parts`` parts."""
        with self._changed:
            self._turns[number].left += parts - 1

    def done(self, number: int, found: BatchResult | None = None) -> None:
        """Note that a part of a turn is done; pass on what is due.

        ``found`` is None if nothing of it is to be kept.
        """
        with self._changed:
            turn = self._turns[number]
            turn.left -= 1
            if found is not None:
                turn.found.append(found)
        self._pass_on()

    def flush(self) -> None:
        """Pass on all available results, even if earlier turns are unfinished."""
        self._pass_on(all_of_it=True)

    def _pass_on(self, *, all_of_it: bool = False) -> None:
        with self._changed:
            if all_of_it:
                self._changed.wait_for(lambda: not self._passing)
            elif self._passing:
                return  # the thread that is passing on continues with the new results
            self._passing = True
        try:
            while (found := self._due(all_of_it=all_of_it)) is not None:
                if found:
                    self._keep(sorted(found, key=lambda one: one.numbers[:1].tolist()))
        finally:
            with self._changed:
                self._passing = False
                self._changed.notify_all()

    def _due(self, *, all_of_it: bool) -> list[BatchResult] | None:
        """Take the next results; None, and no thread passes on any more, if nothing is due."""
        with self._changed:
            for number, turn in self._turns.items():  # in the order of their numbers
                if not turn.left:
                    del self._turns[number]
                    return turn.found
                if turn.found and all_of_it:
                    found, turn.found = turn.found, []
                    return found
                if not all_of_it and len(self._turns) <= _MOST_WAITING:
                    break
            self._passing = False
            return None
