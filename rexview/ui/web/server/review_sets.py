"""The open review sets of this server with people's entries, each loaded once.

What the routes also need (they run outside the page script) is cached per process with
``functools``. What only pages need is cached by Streamlit. Some cached functions have a parameter
that they do not use: it is a part of the cache's key, so that a change to it computes the value
again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from rexview import frames
from rexview.analysis.case.blinding import find_plain_words
from rexview.analysis.case.case_page import CasePage, build_case_page
from rexview.analysis.case.comments import CommentCount, count_comments_by_case
from rexview.analysis.colours import assign_model_colours
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.analysis.query.clickhouse.loaded_set import CaseSubset
from rexview.analysis.query.clickhouse.study_engine import ClickHouseStudyEngine
from rexview.analysis.query.engine import Engine
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.analysis.query.memory.study_engine import MemoryStudyEngine, without_unfinished_scores
from rexview.analysis.query.study_tasks import StudyEngine
from rexview.analysis.written_failures import results_state_key
from rexview.answer_digest import digests_of
from rexview.detect.scan.scan import Scan
from rexview.disk_cache import open_cache
from rexview.errors import StoreError
from rexview.metrics.background_computation import (
    ComputedMetrics,
    add_computed_metrics,
    computed_metrics,
    has_report_cases,
)
from rexview.schema import ReviewSet
from rexview.stats import ContentOrder
from rexview.store import Reviews, merge_reviews, open_best_reviews, open_reviews
from rexview.store.database_location import review_files
from rexview.store.example_reviews import lay_out_examples
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import server_state
from rexview.ui.web.server.clickhouse_sets import clickhouse_set
from rexview.ui.web.server.failure_scans import FailureScan, current_snapshot, failure_scan
from rexview.ui.web.server.open_sets import files_state as files_state
from rexview.ui.web.server.open_sets import is_newest as is_newest
from rexview.ui.web.server.open_sets import load as load
from rexview.ui.web.server.open_sets import note_cost
from rexview.ui.web.server.open_sets import open_set as open_set
from rexview.ui.web.server.open_sets import state_to_show as state_to_show
from rexview.ui.web.server.open_sets import with_cases_loaded as with_cases_loaded
from rexview.ui.web.server.page_work import PAGE_WORK
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.server.set_folders import SetNotAllowed as SetNotAllowed
from rexview.ui.web.server.set_folders import SetUnknown as SetUnknown
from rexview.ui.web.server.set_folders import check_folder_allowed as check_folder_allowed
from rexview.ui.web.server.set_folders import folder_of as folder_of
from rexview.ui.web.server.set_folders import recent_sets as recent_sets
from rexview.ui.web.server.set_folders import register_folder as register_folder
from rexview.ui.web.server.set_folders import set_id as set_id
from rexview.ui.web.server.shared_work import SharedWork, cache_on_first_argument
from rexview.words import tr


def prepare_blinding(review_set: ReviewSet) -> None:
    """Find, in the background, which words of models' names are ordinary words in the set."""
    _BLINDING.result(
        (review_set.folder, files_state(review_set)),
        lambda: find_plain_words(review_set),
        lambda: tr("Looking for names of models …"),
    )


_BLINDING: Final = SharedWork[frozenset[str]]("prepare blinding")


@cache_on_first_argument(2)
def _reviews(given: ReviewSet, files: tuple[Path, ...]) -> Reviews:
    """Open a set's reviews; their place is decided again when a database is added or removed."""
    lay_out_examples(given, server_state.settings())
    return open_reviews(given, server_state.settings())


def reviews(review_set: ReviewSet) -> Reviews:
    """Return people's entries about an open review set.

    Raises
    ------
    StoreUnreachable
        The database may not be written to, or its address is invalid.
    """
    given = load(review_set.folder, files_state(review_set))
    return _reviews(given, review_files(given))


def best_reviews(review_set: ReviewSet) -> Reviews:
    """Return the reviews of an open set at the best place to keep them, to merge others into.

    Raises
    ------
    StoreUnreachable
    """
    return open_best_reviews(
        load(review_set.folder, files_state(review_set)), server_state.settings()
    )


@cache_on_first_argument(2)
def _with_written(
    given: ReviewSet, kept: Reviews, revision: int, pictures_state: str, known: ComputedMetrics
) -> ReviewSet:
    """Merge once for each entry (``revision``) and each state of the judged images.

    ``known`` are the metrics computed so far.
    """
    return _MERGING.result(
        (given, revision, pictures_state, known),
        lambda: without_unfinished_scores(
            given, merge_reviews(add_computed_metrics(given, known), kept)
        ),
        lambda: tr("Reading the reviews …"),
    )


_MERGING: Final = SharedWork[ReviewSet]("merge reviews")


class _KnownMetrics:
    """The metrics of reports that pages show, which lag behind those computed.

    Otherwise an order by a metric would change on each view. The shown metrics are updated each
    time their number has doubled, and when all are computed.
    """

    def __init__(self, given: ReviewSet) -> None:
        self.has_reports = has_report_cases(given) and not uses_clickhouse()
        self.shown = ComputedMetrics(frames.METRICS.to_frame(), 0, 0)

    def now(self, given: ReviewSet) -> ComputedMetrics:
        """Return the shown metrics; the first call starts the computation."""
        if self.has_reports:
            keep = open_cache("metrics", server_state.settings())
            known = computed_metrics(given, keep, PAGE_WORK.seconds_left)
            if known.finished or known.done >= 2 * self.shown.done:
                self.shown = known
        return self.shown


_known_metrics = cache_on_first_argument(1)(_KnownMetrics)


def metrics_progress(review_set: ReviewSet) -> ComputedMetrics:
    """Return the progress of the app's own metrics of a set's reports, as pages show it."""
    given = load(review_set.folder, files_state(review_set))
    return _known_metrics(given).now(given)


def with_reviews(given: ReviewSet) -> ReviewSet:
    """Return a review set with people's entries.

    Scores of cases that their reader has not finished are left out.

    Raises
    ------
    StoreUnreachable, StoreBusy
        The entries cannot be read. The next attempt is delayed so that pages stay fast.
    """
    failed, error = _unreadable.get(given, (0.0, None))
    if error is not None and time.monotonic() - failed < _TRY_AGAIN_S:
        raise error
    try:
        kept = reviews(given)
        # Views of cases change no score: they do not cause pages to be computed again.
        revision = kept.revision(but="reveal")
        pictures_state = digests_of(given).pictures_state()
        known = _known_metrics(given).now(given)
        return _with_written(given, kept, revision, pictures_state, known)
    except StoreError as error:
        _unreadable[given] = (time.monotonic(), error)
        raise


def with_current_reviews(review_set: ReviewSet) -> ReviewSet:
    """Return a review set with the current entries; unchanged if they cannot be read."""
    try:
        return with_reviews(load(review_set.folder, files_state(review_set)))
    except StoreError:
        return review_set


_TRY_AGAIN_S: Final = 3.0
_unreadable: Final = WeakKeyDictionary[ReviewSet, tuple[float, StoreError]]()


class _Engines:
    """The engines of one state of a set's files, each derived from the one before."""

    def __init__(self, found: FailureScan) -> None:
        self.found = found
        self._lock = Lock()
        self._engines: dict[tuple[str, int], MemoryEngine] = {}
        self._making = SharedWork[MemoryEngine]("make an engine")

    def of(self, review_set: ReviewSet, number: int) -> MemoryEngine:
        """Return the engine of the set with its entries, on a snapshot of its flags.

        It is made in a thread outside the first page that needs it.
        """
        number, scan = self.found.snapshot(number)
        key = (review_set.fingerprint, number)
        with self._lock:
            if key in self._engines:
                self._engines[key] = self._engines.pop(key)  # least recently used is dropped first
                return self._engines[key]
        return self._making.result(
            key,
            lambda: self._kept(key, review_set, scan),
            lambda: tr("Counting cases and answers …"),
        )

    def _kept(self, key: tuple[str, int], review_set: ReviewSet, scan: Scan) -> MemoryEngine:
        """Make an engine and store it."""
        with self._lock:
            known = list(reversed(self._engines.items()))
        begun = time.monotonic()
        made = self._made(review_set, key[1], scan, known)
        cost_s = time.monotonic() - begun
        self.found.note_cost(cost_s)
        note_cost(review_set.folder, cost_s)
        with self._lock:
            self._engines[key] = made
            if len(self._engines) > _ENGINES_KEPT:
                del self._engines[next(iter(self._engines))]
        return made

    def _made(
        self,
        review_set: ReviewSet,
        number: int,
        scan: Scan,
        known: Sequence[tuple[tuple[str, int], MemoryEngine]],
    ) -> MemoryEngine:
        """Make an engine from a known one: with the same entries, else with the same snapshot."""
        for (fingerprint, _), made in known:
            if fingerprint == review_set.fingerprint:
                return made.with_scan(scan)
        self.found.rescore(review_set)
        same = (one for (_, of), one in known if of == number)
        before = next(same, known[0][1] if known else None)
        if before is not None and before.table.survey.scan.found is scan.found:
            scan = before.table.survey.scan
        return _engine(review_set, scan, before)


_ENGINES_KEPT: Final = 3


def _engine(review_set: ReviewSet, scan: Scan, before: MemoryEngine | None) -> MemoryEngine:
    return build_memory_engine(
        review_set,
        gap_threshold=server_state.settings().gap_threshold,
        disagreement_threshold=server_state.settings().disagreement_threshold,
        scan=scan,
        before=before,
        comments=_comment_counts(review_set),
    )


def _comment_counts(review_set: ReviewSet) -> Mapping[str, CommentCount]:
    try:
        return count_comments_by_case(reviews(review_set).comments())
    except StoreError:
        return {}


_engines = cache_on_first_argument(1)(_Engines)
"""Stored with the scan whose snapshots they use."""


def get_failure_scan(review_set: ReviewSet) -> FailureScan:
    """Return the scan for failures in an open set; the first call starts it."""
    return failure_scan(review_set, review_set.folder, files_state(review_set))


@dataclass(frozen=True)
class PageView:
    """A page run's view of a review set: the order of Content, and the snapshot of the flags."""

    order: ContentOrder
    snapshot: int


def current_page_view(review_set: ReviewSet) -> PageView:
    """Return this page run's view of a set, from its link and from what it has shown before."""
    if uses_clickhouse():  # the scan is complete there
        return PageView(link_keys.content_order(), 0)
    found = get_failure_scan(review_set)
    return PageView(link_keys.content_order(), current_snapshot(found, files_state(review_set)))


def engine(review_set: ReviewSet, seen: PageView | None = None) -> Engine:
    """Return the engine that answers all queries about an open review set.

    It does not wait for detectors: it has the flags of the seen snapshot. A new entry changes only
    its own subject. ``seen`` is the view of a page run, by default this one.
    """
    seen = seen or current_page_view(review_set)
    if uses_clickhouse():
        return _in_order_on_tables(_engine_on_tables(review_set), seen.order)
    made = _engines(get_failure_scan(review_set)).of(review_set, seen.snapshot)
    made = _on_results(made, results_state_key(review_set.folder))
    return _in_order(made, seen.order)


@cache_on_first_argument(2)
def _on_results(made: MemoryEngine, state: tuple[tuple[str, int], ...]) -> MemoryEngine:
    """Return another engine for each state of the judges' findings of written failures.

    A filter may query these findings, and an engine's cached results are valid for one state.
    """
    return MemoryEngine(replace(made.table, _of_all={})) if state else made


_in_order = cache_on_first_argument(2)(MemoryEngine.in_content_order)
_in_order_on_tables = cache_on_first_argument(2)(ClickHouseEngine.in_content_order)


def _engine_on_tables(review_set: ReviewSet) -> ClickHouseEngine:
    """Return the engine of a set on ClickHouse, a new one for each state of its reviews."""
    _, small, given = clickhouse_set(review_set.folder).reviewed()
    try:
        written = with_reviews(given)
    except StoreError:
        written = given
    return _made_on_tables(written, small)


@cache_on_first_argument(1)
def _made_on_tables(written: ReviewSet, small: CaseSubset) -> ClickHouseEngine:
    return clickhouse_set(written.folder).engine(small, written, _comment_counts(written))


def scan_first(
    review_set: ReviewSet, asked: Engine, case_filter: CaseFilter, cases: Sequence[str] = ()
) -> None:
    """Scan the cases on a page next, and those that its filter may leave."""
    if not asked.scanned(case_filter).is_complete:
        get_failure_scan(review_set).prefer(asked.not_looked_at(case_filter, cases))


def study_engine(review_set: ReviewSet) -> StudyEngine:
    """Return the engine that knows which cases a study scores; only the files change it."""
    if uses_clickhouse():
        return _study_engine_on_tables(clickhouse_set(review_set.folder).opened())
    return _study_engine(load(review_set.folder, files_state(review_set)))


_study_engine = cache_on_first_argument(1)(MemoryStudyEngine)
_study_engine_on_tables = cache_on_first_argument(1)(ClickHouseStudyEngine)


def colours(review_set: ReviewSet) -> dict[str, str]:
    """Return the colour of every model of a review set."""
    return assign_model_colours(model.id for model in review_set.models)


def case_page(review_set: ReviewSet, case_id: str, seen: PageView | None = None) -> CasePage | None:
    """Return one case with its scores, flags and verdicts; neighbours are queried in advance.

    ``seen`` is as in :func:`engine`.
    """
    asked = engine(review_set, seen)
    not_yet = asked.not_yet_of(case_id, review_set.answers_of(case_id))
    return _case_page(asked, review_set, case_id, not_yet)


@cache_on_first_argument(64)
def _case_page(
    asked: Engine, review_set: ReviewSet, case_id: str, not_yet: frozenset[str]
) -> CasePage | None:
    return build_case_page(review_set, case_id, asked)
