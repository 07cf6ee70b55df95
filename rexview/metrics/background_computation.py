"""Compute the app's own metrics of all generated reports of a review set, in the background.

They are computed once for all states of a set that share its tables, in a separate process. They
are kept on disk by the content of reports and answers and by the version of the rules. The process
ends with the set.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from threading import RLock, Thread
from typing import Final
from weakref import WeakKeyDictionary, finalize

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview import frames
from rexview.child_process import ProcessDied, ProcessUnusable, RequestProcess
from rexview.detect.scan.batch import answers_of_cases
from rexview.detect.scan.kept_scan import hash_rows, mix_keys
from rexview.disk_cache import FileCache
from rexview.frames import TableIndex, take_rows
from rexview.harm import HarmTable, load_harm
from rexview.metrics.answer_metrics import IDENTITIES
from rexview.metrics.identity import MetricId
from rexview.metrics.worker import PROGRAM, Generated, Values, compute, metrics_version
from rexview.schema import Answer, ReviewSet, case_from_row

IMMEDIATE_REPORTS: Final = 60
"""Up to this many reports are compared within the first call."""
_BATCH: Final = 40
_AT_A_TIME: Final = 20_000
"""Texts that are checked together for content."""
_SECONDS: Final = 60
_WRITTEN_EVERY_S: Final = 60.0
_CASE_COLUMNS: Final = ("report", "context", "images")
_ANSWER_COLUMNS: Final = ("text",)
"""Columns that values depend on."""
_TO_DO, _DONE, _FAILED = range(3)
_KEPT: Final = pl.Schema(
    {"a": pl.UInt64(), "b": pl.UInt64()}
    | {str(place): pl.Float64() for place in range(len(IDENTITIES))}
)
_UNREADABLE: Final = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ComputedMetrics:
    """The metrics computed so far.

    Attributes
    ----------
    values : polars.DataFrame
        Columns of :data:`rexview.frames.METRICS`, one row per value, by case and model in the set's
        order; the other columns of that table are null.
        done, answers : int
        Number of answers compared so far, and of those that can be compared: answers with a text to
        report questions whose case has a report.
        failed : int
        Number of these answers on which the rules failed; they have no values.
        message : str
        A sentence for the page if the computation stopped, else empty.
        not_read : int
        Number of compared answers without finding-level agreement, because they or their report are
        in another language than English.
        gone_over : polars.DataFrame
        Case and model of the answers that were compared without failure, with and without a value.
    """

    values: pl.DataFrame
    done: int
    answers: int
    failed: int = 0
    message: str = ""
    not_read: int = 0
    gone_over: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def finished(self) -> bool:
        """True if nothing is left to do."""
        return self.done == self.answers or bool(self.message)


def computed_metrics(
    review_set: ReviewSet,
    keep: FileCache | None = None,
    gives_way: Callable[[], float] | None = None,
) -> ComputedMetrics:
    """Return the metrics computed so far; the first call starts the computation.

    Parameters
    ----------
    review_set : ReviewSet
    keep : FileCache, optional
        Where values of the kind ``metrics`` are kept. The first call that passes it decides.
    gives_way : callable, optional
        Called before each batch; returns for how many seconds no batch should start. With it the
        process uses only idle time.
    """
    index = review_set.index
    with _LOCK:
        work = _KNOWN.get(index)
        if work is None:
            work = _Work(review_set)
            _KNOWN[index] = work
            finalize(index, work.close)
    work.begin(keep, gives_way)
    return work.snapshot()


class _Work:
    """All comparisons of a set. It must not keep the set alive, so it refers to the tables only."""

    def __init__(self, review_set: ReviewSet) -> None:
        newest = review_set.newest
        kinds = review_set.cases["question_type"]
        numbers = answers_of_cases(newest, np.flatnonzero((kinds == "report").to_numpy()))
        self._cases, self._answers = review_set.cases, review_set.answers
        self._folder = review_set.folder
        self._harm: HarmTable = load_harm(
            review_set.folder / review_set.info.harm if review_set.info.harm else None
        )
        came = self._comparable(newest.case[numbers], newest.row[numbers])
        self._case, self._row = newest.case[numbers][came], newest.row[numbers][came]
        self._values = np.full((len(self._row), len(IDENTITIES)), np.nan)
        self._state = np.full(len(self._row), _TO_DO, dtype=np.uint8)
        self._lock = RLock()
        self._thread: Thread | None = None
        self._process: RequestProcess | None = None
        self._keep: FileCache | None = None
        self._gives_way: Callable[[], float] | None = None
        self._closed = False
        self._message = ""
        self._snapshot: ComputedMetrics | None = None

    def _comparable(
        self, cases: npt.NDArray[np.int32], rows: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.bool_]:
        """Return a mask of the answers with a text, and a report to compare it with."""
        report = pl.col("report").struct
        has_report = pl.concat_str(report.field("findings", "impression"), ignore_nulls=True) != ""
        reports = self._cases.select(has_report.fill_null(False)).to_series().to_numpy()
        written = (pl.col("text").str.strip_chars() != "").fill_null(False)
        came = [
            take_rows(self._answers.select("text"), rows[start : start + _AT_A_TIME])
            .select(written)
            .to_series()
            .to_numpy()
            for start in range(0, len(rows), _AT_A_TIME)
        ]
        found = np.concatenate([*came, np.zeros(0, dtype=np.bool_)]) & reports[cases]
        return np.asarray(found, dtype=np.bool_)

    def begin(self, keep: FileCache | None, gives_way: Callable[[], float] | None) -> None:
        """Start unless already started; a few answers are compared before this returns."""
        with self._lock:
            if self._thread is not None or self._closed:
                return
            if len(self._row) <= IMMEDIATE_REPORTS:
                for places in self._batches():
                    self._take(places, self._one_by_one(places, self._here))
                return
            self._keep, self._gives_way = keep, gives_way
            self._thread = Thread(target=self._run, daemon=True, name="metrics")
            self._thread.start()

    def snapshot(self) -> ComputedMetrics:
        """Return the metrics computed so far; the same object while nothing is new."""
        with self._lock:
            done, failed = (int((self._state >= which).sum()) for which in (_DONE, _FAILED))
            known = self._snapshot
            if known is None or (known.done, known.message) != (done, self._message):
                known = ComputedMetrics(
                    *(self._frame(), done, len(self._row), failed, self._message),
                    self._not_read(),
                    take_rows(
                        self._answers.select("case", "model"), self._row[self._state == _DONE]
                    ),
                )
                self._snapshot = known
            return known

    def close(self) -> None:
        """End the computation, because the set is no longer open."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def _not_read(self) -> int:
        """Count answers with BLEU-2 whose findings were not compared."""
        known = ~np.isnan(self._values)
        lettered, found = (
            known[:, [one.metric == metric for one in IDENTITIES]]
            for metric in ("bleu_2", "finding_agreement")
        )
        return int((lettered & ~found).any(axis=1).sum())

    def _frame(self) -> pl.DataFrame:
        place, identity = np.nonzero(~np.isnan(self._values))
        named = take_rows(self._answers.select("case", "model"), self._row[place])
        known = pl.DataFrame(IDENTITIES, schema=list(IDENTITIES[0]._fields), orient="row")
        columns = named.hstack(known[identity]).with_columns(
            pl.Series("value", self._values[place, identity])
        )
        return columns.select(
            pl.col(name).cast(dtype) if name in columns.columns else pl.lit(None, dtype).alias(name)
            for name, dtype in frames.METRICS.items()
        )

    def _batches(self) -> Iterator[npt.NDArray[np.intp]]:
        left = np.flatnonzero(self._state == _TO_DO)
        yield from (left[start : start + _BATCH] for start in range(0, len(left), _BATCH))

    def _gather(self, places: npt.NDArray[np.intp]) -> list[Generated]:
        """Make records of some answers, grouped by case."""
        rows, first = np.unique(self._case[places], return_inverse=True)
        cases = [case_from_row(row) for row in take_rows(self._cases, rows).iter_rows(named=True)]
        texts = take_rows(
            self._answers.select("case", "model", "text"), self._row[places]
        ).iter_rows()
        answers = [Answer(case=case, model=model, text=text) for case, model, text in texts]
        together = groupby(zip(first.tolist(), answers, strict=True), key=lambda one: one[0])
        return [Generated(cases[at], tuple(one for _, one in some)) for at, some in together]

    def _here(self, batch: Sequence[Generated]) -> Values:
        return compute(batch, self._harm)

    def _run(self) -> None:
        try:
            keys = self._keys() if self._keep else None
            if keys is not None:
                self._read(keys)
            self._process = RequestProcess(
                PROGRAM,
                (str(_SECONDS), "idle" if self._gives_way else "behind"),
                self._harm,
                metrics_version,
                "works out metrics of reports",
            )
            self._compute_all(keys)
        except ProcessUnusable as error:
            self._message = str(error)
        except Exception:
            _log.exception("Metrics of reports could not be worked out.")
            self._message = "Metrics of reports could not be worked out; the server's log says why."
        finally:
            if self._process is not None:
                self._process.close()

    def _compute_all(self, keys: npt.NDArray[np.uint64] | None) -> None:
        assert self._process is not None
        written, new = time.monotonic(), False
        for places in self._batches():
            if not self._may_go_on():
                return
            try:
                self._take(places, self._process.ask(self._gather(places)))
            except ProcessDied:
                if not self._may_go_on():
                    return
                self._take(places, self._one_by_one(places, self._process.ask))
            new = True
            if keys is not None and time.monotonic() - written > _WRITTEN_EVERY_S:
                self._write(keys)
                written, new = time.monotonic(), False
        if keys is not None and new:
            self._write(keys)

    def _one_by_one(
        self, places: npt.NDArray[np.intp], ask: Callable[[Sequence[Generated]], Values]
    ) -> list[tuple[float, ...] | None]:
        """Compare answers one by one, so that a failure on one affects no other."""
        values: list[tuple[float, ...] | None] = []
        for place in places:
            try:
                values += ask(self._gather(np.array([place])))
            except ProcessUnusable:
                raise
            except Exception as error:
                # only its type: its message may contain words of a report
                kind = type(error).__name__
                _log.warning("The metrics of one answer could not be worked out: %s.", kind)
                values.append(None)
        return values

    def _may_go_on(self) -> bool:
        """Wait until nobody waits for something else; return True while the set is open."""
        while self._gives_way and not self._closed and (left := self._gives_way()) > 0:
            time.sleep(min(left, 0.25))
        return not self._closed

    def _take(
        self, places: npt.NDArray[np.intp], values: Sequence[tuple[float, ...] | None]
    ) -> None:
        with self._lock:
            for place, found in zip(places, values, strict=True):
                self._state[place] = _FAILED if found is None else _DONE
                if found is not None:
                    self._values[place] = found

    def _keys(self) -> npt.NDArray[np.uint64]:
        """Return a key of everything but the rules that each answer's values depend on."""
        of_answers = hash_rows(self._answers, _ANSWER_COLUMNS)[self._row]
        return mix_keys(of_answers, hash_rows(self._cases, _CASE_COLUMNS)[self._case])

    @property
    def _name(self) -> str:
        """Name under which the values of this set are kept."""
        parts = (metrics_version(), repr(sorted(self._harm.findings.items())), str(self._folder))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _read(self, keys: npt.NDArray[np.uint64]) -> None:
        assert self._keep is not None
        path = self._keep.find(self._name)
        if path is None:
            return
        try:
            kept = pl.read_parquet(path)
            if kept.schema != _KEPT:
                return
        except _UNREADABLE:
            return
        wanted = pl.DataFrame({"a": keys[:, 0], "b": keys[:, 1]}).with_row_index("place")
        found = wanted.join(kept.unique(["a", "b"]), on=["a", "b"], how="inner")
        values = found.select(str(place) for place in range(len(IDENTITIES))).to_numpy()
        self._take(found["place"].to_numpy().astype(np.intp), [tuple(row) for row in values])

    def _write(self, keys: npt.NDArray[np.uint64]) -> None:
        assert self._keep is not None
        done = self._state == _DONE
        columns = {"a": keys[done, 0], "b": keys[done, 1]} | {
            str(place): self._values[done, place] for place in range(len(IDENTITIES))
        }
        kept = pl.DataFrame(columns, schema=_KEPT)
        self._keep.keep(self._name, int(kept.estimated_size()), lambda path: _fill(kept, path))


def _fill(kept: pl.DataFrame, path: Path) -> None:
    try:
        kept.write_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


_LOCK: Final = RLock()
_KNOWN: Final[WeakKeyDictionary[TableIndex, _Work]] = WeakKeyDictionary()


# A review set with the metrics that the app computed, next to the given ones.

_OF_ANSWER: Final = ["case", "model"]


def has_report_cases(review_set: ReviewSet) -> bool:
    """True if any case asks for a report; without one there is nothing to compute."""
    return "report" in review_set.cases["question_type"].unique()


def add_computed_metrics(review_set: ReviewSet, known: ComputedMetrics) -> ReviewSet:
    """Add the metrics computed so far to the table of metrics.

    For a compared answer they replace given values of the same identity, which may belong to an
    earlier text or earlier rules. The fingerprint changes with the number of compared answers.
    """
    if known.gone_over.is_empty():
        return review_set
    own = pl.DataFrame(IDENTITIES, schema=list(MetricId._fields), orient="row")
    given = review_set.metrics
    beaten = given.join(known.gone_over, on=_OF_ANSWER, how="semi").join(
        own, on=own.columns, how="semi"
    )
    if beaten.is_empty() and known.values.is_empty():
        return review_set
    left = given.join(beaten.select("_row"), on="_row", how="anti", maintain_order="left")
    return replace(
        review_set,
        metrics=pl.concat([left, known.values]),
        fingerprint=f"{review_set.fingerprint}-metrics{known.done}",
    )
