"""The button *Export* on a page and what it opens; one case as a slide or PDF in one click."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.meetings import Meeting
from rexview.errors import RexviewError
from rexview.export.content import make_content
from rexview.export.formats import FORMATS, Format
from rexview.export.job import Progress, write_export
from rexview.export.privacy import Pseudonyms
from rexview.export.records import Content
from rexview.export.request import ExportRequest, ExportSource, find_export_cases
from rexview.schema import ReviewSet
from rexview.ui.access import permissions
from rexview.ui.export.few_cases import MOST, PSEUDONYMS, TOO_MANY, of_wanted_cases
from rexview.ui.export.jobs import ExportJob, jobs
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.link import keys as link_keys
from rexview.ui.link.pages import PAGE_BROWSE
from rexview.ui.server import review_sets
from rexview.ui.server.server_state import on_tables
from rexview.ui.streamlit_adapter.pressed import save_button
from rexview.untrusted_input import file_name
from rexview.words import counted, tr, trn

_LOOKS_EVERY_S: Final = 1.0
_ONE_CLICK: Final = {
    "pptx": (tr("Slide"), ":material/slideshow:"),
    "pdf": ("PDF", ":material/docs:"),
}
_HIDDEN_HELP: Final = tr(
    "Cases, studies, patients and sites are called case-001, patient-001 and "
    "so on, in texts and names of files, too. A key says what stands for "
    "what. Names of people in texts are not found."
)


@dataclass(frozen=True, eq=False)
class Asked:
    """What a page offers to export, and how it is called there."""

    review_set: ReviewSet
    wanted: ExportRequest
    what: str
    cases: int


def offer_filtered(review_set: ReviewSet, case_filter: CaseFilter, total: int) -> None:
    """Offer the cases that a page's filter leaves."""
    query = case_filter.to_query() or None
    offer(Asked(review_set, ExportRequest(query=query), counted(total, "case"), total))


def offer_meeting(review_set: ReviewSet, meeting: Meeting) -> None:
    """Offer a meeting with its cases, votes and decisions."""
    cases = len(meeting.agenda)
    what = f"{meeting.name}, {counted(cases, 'case')}"
    offer(Asked(review_set, ExportRequest(meeting=meeting.id), what, cases), key="export_meeting")


def offer(asked: Asked, *, key: str = "export") -> None:
    """Show the button that opens the choice of formats; nothing to whoever may not have files."""
    if not permissions.may_see(PAGE_BROWSE):
        return
    clicked = st.button(
        tr("Export"),
        icon=":material/ios_share:",
        key=key,
        type="tertiary",
        help=tr("Take away as a file"),
    )
    if clicked:
        _dialog(asked)


def offer_case(review_set: ReviewSet, case_id: str) -> None:
    """Offer one case as a slide and as PDF in one click each, and in any other format."""
    if not permissions.may_see(PAGE_BROWSE):
        return
    asked = Asked(
        review_set, ExportRequest(cases=(case_id,)), tr("Case {case_id}").format(case_id=case_id), 1
    )
    for name, (label, icon) in _ONE_CLICK.items():
        form = FORMATS[name]
        st.download_button(
            label,
            partial(_one_file, _source(asked), asked.wanted, form),
            file_name(f"{case_id}{form.ending}"),
            form.media_type,
            key=f"export_{name}",
            on_click="ignore",
            icon=icon,
            type="tertiary",
            help=as_markdown(tr("Download this case as {title}").format(title=form.title)),
        )
    offer(asked)


def _one_file(source: ExportSource, wanted: ExportRequest, form: Format) -> bytes:
    """Make a file of one case while its download is waited for."""
    source, wanted = of_wanted_cases(source, wanted)
    content, _ = make_content(
        source, find_export_cases(source, wanted), has_pictures=form.has_pictures
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"case{form.ending}"
        write_export(content, form, out, Progress())
        return out.read_bytes()


def _source(asked: Asked) -> ExportSource:
    """Return the set with what was written until now, as the page sees its flags."""
    newest = review_sets.newest(asked.review_set)
    return ExportSource(newest, review_sets.engine(newest), review_sets.reviews(newest))


@st.dialog(tr("Export"), icon=":material/ios_share:")
def _dialog(asked: Asked) -> None:
    permissions.guard(PAGE_BROWSE)
    job: ExportJob | None = st.session_state.get(link_keys.SESSION_EXPORT)
    st.markdown(f"**{as_markdown(asked.what)}**")
    if on_tables() and asked.cases > MOST:
        st.info(as_markdown(TOO_MANY), icon=":material/database:")
        return
    name = st.selectbox(
        tr("Format"),
        list(FORMATS),
        format_func=lambda one: FORMATS[one].title,
        key="export_format",
    )
    form = FORMATS[name]
    hidden = st.checkbox(
        tr("Pseudonyms"),
        key="export_hidden",
        help=PSEUDONYMS if on_tables() else _HIDDEN_HELP,
        disabled=on_tables(),
    )
    if form.has_pictures:
        st.caption(
            tr("Text burned into films stays on them: look at them before you pass them on.")
        )
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


def _begin(asked: Asked, form: Format, hidden: bool) -> None:
    try:
        source = _source(asked)
    except RexviewError as error:
        st.session_state["export_problem"] = str(error)
        return

    def make(check: Callable[[], None]) -> tuple[Content, Pseudonyms | None]:
        held, wanted = of_wanted_cases(source, asked.wanted)
        chosen = find_export_cases(held, wanted)
        pictures = form.has_pictures
        return make_content(held, chosen, pseudonyms=hidden, has_pictures=pictures, check=check)

    _drop()
    try:
        title = f"{asked.what}, {form.title}"
        st.session_state[link_keys.SESSION_EXPORT] = jobs().begin(
            title, form, make, permissions.watch(PAGE_BROWSE)
        )
    except RexviewError as error:
        st.session_state["export_problem"] = str(error)


def _drop() -> None:
    """Cancel the last export of this session, or take its file away."""
    job: ExportJob | None = st.session_state.pop(link_keys.SESSION_EXPORT, None)
    if job is not None:
        jobs().drop(job)


@st.fragment(run_every=_LOOKS_EVERY_S)
def _job(job: ExportJob) -> None:
    """Show how far an export is, or its file; it ends with the role that allowed it."""
    if not permissions.may_see(PAGE_BROWSE):
        _drop()
    permissions.guard(PAGE_BROWSE)
    if job.is_live:
        words = (
            trn("{done:,} of {n:,} case", "{done:,} of {n:,} cases", job.total).format(
                done=job.done, n=job.total
            )
            if job.total
            else tr("Begins…")
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
                help=tr("What the pseudonyms stand for: keep it apart."),
            )
