"""Exports from the pages: the button *Export*, and the jobs that make files in the background.

At most two jobs run at once; their files are kept for an hour.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread, Timer
from typing import Final, Literal

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.meetings import Meeting
from rexview.analysis.query.clickhouse.clickhouse_engine import ClickHouseEngine
from rexview.errors import ExportCancelled, ExportRefused, RexviewError
from rexview.export.content_builder import make_content
from rexview.export.export_formats import EXPORT_FORMATS, ExportFormat
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_records import ExportContent
from rexview.export.export_request import ExportRequest, ExportSource, find_export_cases
from rexview.export.pseudonyms import Pseudonyms
from rexview.schema import ReviewSet
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_BROWSE
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.streamlit_adapter.script_run import save_button
from rexview.untrusted_input import safe_file_name
from rexview.words import counted, tr, trn

# Exports made in the background: at most two at once, their files kept for an hour.

ExportState = Literal["waiting", "working", "done", "failed", "cancelled"]
ContentMaker = Callable[[Callable[[], None]], tuple[ExportContent, Pseudonyms | None]]
_LOG: Final = logging.getLogger(__name__)
_AT_ONCE: Final = 2
_MOST_JOBS: Final = 16
"""Most exports that are waiting or running, of all users of a server."""
_KEPT_S: Final = 3600.0
_MOST_BYTES: Final = 4_000_000_000
"""Limit for finished files; beyond it the oldest are deleted before their hour is over."""
_LEFT_S: Final = 24 * 3600.0
"""Seconds without a new export after which a folder belongs to no running server."""


@dataclass(eq=False)
class ExportJob:
    """One export: its request, its progress, and its file when it is done.

    ``key`` maps its pseudonyms to the originals. ``said`` is the reason of its failure.
    """

    title: str
    form: ExportFormat
    folder: Path
    state: ExportState = "waiting"
    done: int = 0
    total: int = 0
    notes: tuple[str, ...] = ()
    said: str = ""
    file: Path | None = None
    key: str | None = None
    ended: float = 0.0
    cancelled: Event = field(default_factory=Event)

    @property
    def is_live(self) -> bool:
        """Whether it is waiting or running."""
        return self.state in ("waiting", "working")

    @property
    def size(self) -> int:
        """The size of its file in bytes."""
        try:
            return self.file.stat().st_size if self.file else 0
        except OSError:
            return 0


class ExportJobs:
    """All exports of this server; their files are in its own folder in ``home``."""

    def __init__(self, home: Path) -> None:
        self._lock = Lock()
        self._turns = Semaphore(_AT_ONCE)
        self._jobs: list[ExportJob] = []
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in home.iterdir():  # left by a server that was killed
            if time.time() - left.stat().st_mtime > _LEFT_S:
                shutil.rmtree(left, ignore_errors=True)
        self._home = Path(tempfile.mkdtemp(dir=home))
        atexit.register(shutil.rmtree, self._home, ignore_errors=True)

    def begin(
        self,
        title: str,
        form: ExportFormat,
        make: ContentMaker,
        check: Callable[[], None] = lambda: None,
    ) -> ExportJob:
        """Start an export; ``make`` runs in the background, with a check for cancellation.

        ``check`` is called now and then while it is made; what it raises (a RexviewError) ends it.

        Raises
        ------
        ExportRefused
            The server has too many exports.
        """
        self._forget_old()
        with self._lock:
            if sum(job.is_live for job in self._jobs) >= _MOST_JOBS:
                raise ExportRefused(
                    tr("Too many exports are running on this server. Try again later.")
                )
            try:
                self._home.mkdir(mode=0o700, parents=True, exist_ok=True)  # others may delete it
                folder = Path(tempfile.mkdtemp(dir=self._home))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise ExportRefused(
                    tr("The server has no room for the export: {reason}.").format(reason=reason)
                ) from error
            job = ExportJob(title, form, folder)
            self._jobs.append(job)
        Thread(target=self._work, args=(job, make, check), name="export", daemon=True).start()
        return job

    def drop(self, job: ExportJob) -> None:
        """Cancel an export, or delete its file."""
        job.cancelled.set()
        if not job.is_live:
            self._remove(job)

    def _work(self, job: ExportJob, make: ContentMaker, check: Callable[[], None]) -> None:
        state: ExportState = "done"
        try:
            with self._turns:
                job.state = "working"
                self._make(job, make, check)
        except ExportCancelled:
            state = "cancelled"
        except RexviewError as error:
            job.said, state = str(error), "failed"
        except Exception:  # the user and the log get any error
            _LOG.exception("An export failed.")
            job.said, state = tr("The export failed; see the server's log."), "failed"
        is_kept = state == "done" and not job.cancelled.is_set()
        if not is_kept:
            self._remove(job)
        job.ended = time.monotonic()  # before it counts as ended
        job.state = state
        if not is_kept:
            return
        later = Timer(_KEPT_S, self._forget_old)
        later.daemon = True
        later.start()

    @staticmethod
    def _make(job: ExportJob, make: ContentMaker, check: Callable[[], None]) -> None:
        def is_cancelled() -> bool:
            check()
            return job.cancelled.is_set()

        def show(done: int, total: int) -> None:
            job.done, job.total = done, total

        progress = ExportProgress(show, is_cancelled)
        progress.check()
        content, hidden = make(progress.check)
        name = "cases" if hidden else content.title
        out = job.folder / safe_file_name(f"{name}{job.form.ending}")
        write_export(content, job.form, out, progress)
        if job.form.is_folder:
            out = _zipped(out, progress)
        progress.check()
        job.notes = (*content.notes, *progress.notes)
        job.key = hidden.key_file() if hidden else None
        job.file = out

    def _forget_old(self) -> None:
        with self._lock:
            finished = [job for job in self._jobs if not job.is_live]
        finished.sort(key=lambda job: -job.ended)
        room = _MOST_BYTES
        for job in finished:
            room -= job.size
            if room < 0 or time.monotonic() - job.ended > _KEPT_S:
                self._remove(job)

    def _remove(self, job: ExportJob) -> None:
        job.file = None
        shutil.rmtree(job.folder, ignore_errors=True)
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)


def _zipped(folder: Path, progress: ExportProgress) -> Path:
    """Pack a folder into one file for the download, and delete the folder."""
    packed = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(folder.rglob("*")):
            progress.check()
            archive.write(file, file.relative_to(folder.parent))
    shutil.rmtree(folder)
    return packed


@cache
def export_jobs() -> ExportJobs:
    """Return the exports of this server."""
    return ExportJobs(server_state.settings().cache_folder / "exports")


# Exports from a set on ClickHouse: the cases of one are read into a small set.

MAX_EXPORT_CASES: Final = 2_000
"""Most cases in such an export: they are in memory while it is made."""
TOO_MANY: Final = tr(
    "This server has the review set on ClickHouse, and can export {most:,} cases of it at "
    "once. Filter for fewer, or ask the administrator to export them: python -m rexview "
    "export"
).format(most=MAX_EXPORT_CASES)
PSEUDONYMS: Final = tr(
    "Pseudonyms replace every id of the set that a text may name, and this server has the "
    "set on ClickHouse. The administrator can export with them: python -m rexview export"
)


def select_export_cases(
    source: ExportSource, wanted: ExportRequest
) -> tuple[ExportSource, ExportRequest]:
    """Return a source with the wanted cases, and their ids; unchanged for a set in memory.

    Raises
    ------
    EngineUnreachable
    ExportRefused
        There are too many cases, or none.
    """
    engine = source.engine
    if not isinstance(engine, ClickHouseEngine):
        return source, wanted
    cases = wanted.cases
    if cases is None:
        left = CaseFilter.from_query(wanted.query) if wanted.query else CaseFilter(sort="order")
        cases = engine.page(left, 0, MAX_EXPORT_CASES + 1)
    if not cases:
        raise ExportRefused(tr("No case matches the filter."))
    if len(cases) > MAX_EXPORT_CASES:
        raise ExportRefused(TOO_MANY)
    review_set, of_these = engine.set_of(cases)
    return ExportSource(review_set, of_these, source.reviews), ExportRequest(cases=cases)


_LOOKS_EVERY_S: Final = 1.0
_ONE_CLICK: Final = {
    "pptx": (tr("Slide"), ":material/slideshow:"),
    "pdf": ("PDF", ":material/docs:"),
}
_HIDDEN_HELP: Final = tr(
    "Cases, studies, patients and sites are renamed case-001, patient-001 and so on, also "
    "in texts and file names. A key lists the original of each. Names of people in texts "
    "are not found."
)


@dataclass(frozen=True, eq=False)
class ExportOffer:
    """What a page exports, and its name there."""

    review_set: ReviewSet
    wanted: ExportRequest
    what: str
    cases: int


def show_filter_export(review_set: ReviewSet, case_filter: CaseFilter, total: int) -> None:
    """Show an export of the cases in a page's filter."""
    query = case_filter.to_query() or None
    show_export_button(
        ExportOffer(review_set, ExportRequest(query=query), counted(total, "case"), total)
    )


def show_meeting_export(review_set: ReviewSet, meeting: Meeting) -> None:
    """Show an export of a meeting with its cases, votes and decisions."""
    cases = len(meeting.agenda)
    what = f"{meeting.name}, {counted(cases, 'case')}"
    show_export_button(
        ExportOffer(review_set, ExportRequest(meeting=meeting.id), what, cases),
        key="export_meeting",
    )


def show_export_button(asked: ExportOffer, *, key: str = "export") -> None:
    """Show the button that opens the formats; nothing for users who may not have files."""
    if not permissions.may_see(PAGE_BROWSE):
        return
    clicked = st.button(
        tr("Export"),
        icon=":material/ios_share:",
        key=key,
        type="tertiary",
        help=tr("Download as a file"),
    )
    if clicked:
        _dialog(asked)


def show_case_export(review_set: ReviewSet, case_id: str) -> None:
    """Show exports of one case: as slide and PDF in one click each, and in any other format."""
    if not permissions.may_see(PAGE_BROWSE):
        return
    asked = ExportOffer(
        review_set, ExportRequest(cases=(case_id,)), tr("Case {case_id}").format(case_id=case_id), 1
    )
    for name, (label, icon) in _ONE_CLICK.items():
        form = EXPORT_FORMATS[name]
        st.download_button(
            label,
            partial(_one_file, _source(asked), asked.wanted, form),
            safe_file_name(f"{case_id}{form.ending}"),
            form.media_type,
            key=f"export_{name}",
            on_click="ignore",
            icon=icon,
            type="tertiary",
            help=as_markdown(tr("Download this case as {title}").format(title=form.title)),
        )
    show_export_button(asked)


def _one_file(source: ExportSource, wanted: ExportRequest, form: ExportFormat) -> bytes:
    """Make a file of one case while its download waits."""
    source, wanted = select_export_cases(source, wanted)
    content, _ = make_content(
        source, find_export_cases(source, wanted), has_pictures=form.has_pictures
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"case{form.ending}"
        write_export(content, form, out, ExportProgress())
        return out.read_bytes()


def _source(asked: ExportOffer) -> ExportSource:
    """Return the set with its current entries, and the flags of the page's view."""
    newest = review_sets.with_current_reviews(asked.review_set)
    return ExportSource(newest, review_sets.engine(newest), review_sets.reviews(newest))


@st.dialog(tr("Export"), icon=":material/ios_share:")
def _dialog(asked: ExportOffer) -> None:
    permissions.guard(PAGE_BROWSE)
    job: ExportJob | None = st.session_state.get(link_keys.SESSION_EXPORT)
    st.markdown(f"**{as_markdown(asked.what)}**")
    if uses_clickhouse() and asked.cases > MAX_EXPORT_CASES:
        st.info(as_markdown(TOO_MANY), icon=":material/database:")
        return
    name = st.selectbox(
        tr("Format"),
        list(EXPORT_FORMATS),
        format_func=lambda one: EXPORT_FORMATS[one].title,
        key="export_format",
    )
    form = EXPORT_FORMATS[name]
    hidden = st.checkbox(
        tr("Pseudonyms"),
        key="export_hidden",
        help=PSEUDONYMS if uses_clickhouse() else _HIDDEN_HELP,
        disabled=uses_clickhouse(),
    )
    if form.has_pictures:
        st.caption(tr("Text burned into films stays on them: check them before you share them."))
    if notice := asked.review_set.info.notice:
        st.caption(as_markdown(notice))
    save_button(
        tr("Make the file"),
        key="export_begin",
        type="primary",
        on_click=_begin,
        args=(asked, form, hidden),
    )
    if said := st.session_state.pop("export_problem", None):
        st.error(as_markdown(said), icon=":material/error:")
    if job is not None:
        _job(job)


def _begin(asked: ExportOffer, form: ExportFormat, hidden: bool) -> None:
    try:
        source = _source(asked)
    except RexviewError as error:
        st.session_state["export_problem"] = str(error)
        return

    def make(check: Callable[[], None]) -> tuple[ExportContent, Pseudonyms | None]:
        held, wanted = select_export_cases(source, asked.wanted)
        chosen = find_export_cases(held, wanted)
        pictures = form.has_pictures
        return make_content(held, chosen, pseudonyms=hidden, has_pictures=pictures, check=check)

    _drop()
    try:
        title = f"{asked.what}, {form.title}"
        st.session_state[link_keys.SESSION_EXPORT] = export_jobs().begin(
            title, form, make, permissions.make_access_check(PAGE_BROWSE)
        )
    except RexviewError as error:
        st.session_state["export_problem"] = str(error)


def _drop() -> None:
    """Cancel the last export of this session, or delete its file."""
    job: ExportJob | None = st.session_state.pop(link_keys.SESSION_EXPORT, None)
    if job is not None:
        export_jobs().drop(job)


@st.fragment(run_every=_LOOKS_EVERY_S)
def _job(job: ExportJob) -> None:
    """Show the progress of an export, or its file; it ends with the role that allowed it."""
    if not permissions.may_see(PAGE_BROWSE):
        _drop()
    permissions.guard(PAGE_BROWSE)
    if job.is_live:
        words = (
            trn("{done:,} of {n:,} case", "{done:,} of {n:,} cases", job.total).format(
                done=job.done, n=job.total
            )
            if job.total
            else tr("Starting…")
        )
        words = tr("Waits for other exports to end") if job.state == "waiting" else words
        st.progress(job.done / job.total if job.total else 0.0, as_markdown(words))
        st.button(tr("Cancel"), key="export_cancel", on_click=_drop)
        return
    if job.state == "failed":
        st.error(as_markdown(job.said), icon=":material/error:")
    if job.state != "done":
        return
    if job.file is None or not job.file.exists():
        st.info(tr("This file was kept for an hour. Make it again."))
        return
    if job.notes:
        st.warning(lines_as_markdown("\n".join(job.notes)), icon=":material/visibility:")
    st.caption(as_markdown(job.title))
    with st.container(horizontal=True):
        st.download_button(
            tr("Download"),
            partial(Path.read_bytes, job.file),
            job.file.name,
            job.form.media_type,
            key="export_download",
            on_click="ignore",
            icon=":material/download:",
            type="primary",
        )
        if job.key is not None:
            st.download_button(
                tr("Download the key"),
                job.key.encode("utf-8"),
                "key.csv",
                "text/csv",
                key="export_key",
                on_click="ignore",
                icon=":material/key:",
                help=tr("What the pseudonyms stand for: store it separately."),
            )
