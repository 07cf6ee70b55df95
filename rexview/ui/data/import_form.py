"""The form that makes a review set from files of another format, or adds them to the open one."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import platformdirs
import streamlit as st

from rexview.errors import RexviewError
from rexview.importers import FORMATS, import_source
from rexview.importers.formats import Importer, ImportReport, Option
from rexview.reviewset.pictures import progress_told
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER
from rexview.ui.data.import_preview import ImportRequest, confirm_import, show_receipt
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.data_table import show_error
from rexview.ui.web.server import review_sets
from rexview.ui.web.streamlit_adapter.script_run import typed_fields, words_taken
from rexview.untrusted_input import file_name, typed_path
from rexview.words import tr

# The files of an import: paths that were typed, and uploads, which are kept with the session.

_UPLOADS: Final = "rexview_uploads"
_ROUND: Final = "rexview_upload_round"
_PATHS: Final = "import_paths"


class _Uploads:
    """The uploads of one session, in a folder that goes with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rexview-upload-"))
        self.paths: list[Path] = []
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def choose_sources(importer: Importer) -> list[Path]:
    """Ask for files; return those that are there, with a word on those that are not."""
    typed, dropped = st.columns(2, gap="medium")
    path_of_files = tr("Path of the files, one a line")
    path_of_folders = tr("Path of the files or folders, one a line")
    text = typed.text_area(
        path_of_folders if importer.folders else path_of_files,
        placeholder="/path/to/source",
        help=tr("On the computer that runs rexview."),
        height=110,
        key=_PATHS,
        persist_state="session",
    )
    _take_uploads(dropped)
    sources = _show_uploads()
    for line in text.splitlines():
        path = allowed_path(line) if line.strip() else None
        if path is not None and path not in sources and _there(path):
            sources.append(path)
    return sources


def allowed_path(text: str) -> Path | None:
    """Return a path that somebody typed, or say why it cannot be used."""
    try:
        path = typed_path(text.strip().strip("\"'"))
        review_sets.may_open(path)
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    return path


def any_uploaded(sources: Sequence[Path]) -> bool:
    """Whether any source is an upload, which goes when the session ends."""
    uploads = st.session_state.get(_UPLOADS)
    return uploads is not None and any(one.is_relative_to(uploads.folder) for one in sources)


def _there(path: Path) -> bool:
    try:
        if path.exists():
            return True
    except OSError:
        pass
    name = as_markdown(path.name)
    st.error(
        tr("{name}: There is no such file or folder on the computer that runs rexview.").format(
            name=name
        )
    )
    return False


def _take_uploads(place: Any) -> None:
    """Offer to upload, and take what was uploaded out of the field, which is then empty again.

    The field would forget its files whenever another page or tab is shown.
    """
    number = st.session_state.setdefault(_ROUND, 0)
    key = f"import_uploads_{number}"

    def take() -> None:
        uploads = st.session_state.setdefault(_UPLOADS, _Uploads())
        for one in st.session_state.get(key) or []:
            uploads.paths.append(_keep(uploads.folder, one.name, one.getvalue(), uploads.paths))
        st.session_state[_ROUND] = number + 1

    place.file_uploader(
        tr("or drop files here (a folder as a ZIP)"),
        accept_multiple_files=True,
        key=key,
        on_change=take,
    )


def _show_uploads() -> list[Path]:
    """Show what was uploaded, each with a button that takes it away; return their paths."""
    uploads = st.session_state.get(_UPLOADS)
    if uploads is None or not uploads.paths:
        return []
    with st.container(horizontal=True, gap="small"):
        for number, path in enumerate(uploads.paths):
            st.button(
                as_markdown(path.name),
                icon=":material/close:",
                help=tr("Uploaded. Press to take it away."),
                key=f"import_upload_{number}_{path.name}",
                on_click=_remove,
                args=(path,),
            )
    return list(uploads.paths)


def _remove(path: Path) -> None:
    st.session_state[_UPLOADS].paths.remove(path)
    path.unlink(missing_ok=True)


def _keep(folder: Path, name: str, content: bytes, others: Collection[Path]) -> Path:
    """Write an upload into a folder of this session, under a name that cannot leave it.

    ``others`` are the uploads before it: a second file of the same name gets a number.
    """
    plain = file_name(name)
    path = folder / plain
    number = 2
    while path in others:
        path = folder / f"{Path(plain).stem}-{number}{Path(plain).suffix}"
        number += 1
    path.write_bytes(content)
    return path


# How many pictures are decoded, while that lasts.

_STEPS: Final = 100


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show how many pictures are decoded, while that lasts."""
    place = st.empty()

    def show(done: int, total: int) -> None:
        if done % max(1, total // _STEPS) == 0:
            place.progress(
                done / total,
                tr("{n:,} of {total:,} pictures decoded").format(n=done, total=total),
            )

    with progress_told(show):
        yield
    place.empty()


_TYPED: Final = "import"
_REPORT: Final = "rexview_import_report"
_LONGEST_STEM: Final = 60
_ASKED_ABOVE: Final = frozenset(("mapping", "boxes_as", "group"))
"""Options that are asked beside what they decide."""


@dataclass(frozen=True)
class _Target:
    """The folder of a new set, or of the one that is added to."""

    folder: str
    into: bool


def show_import_form(open_set: ReviewSet | None) -> str | None:
    """Show the form; return the folder to open when the reader asks for it.

    ``open_set`` is the set that is open, which can be added to. After an import its receipt stands
    there instead, until the form is asked for again, with all that was typed.
    """
    report: ImportReport | None = st.session_state.get(_REPORT)
    if report is not None:
        return _show_report(report)
    format_id = st.selectbox(
        tr("Format"),
        list(FORMATS),
        format_func=lambda one: FORMATS[one].name,
        key="import_format",
        persist_state="session",
    )
    importer = FORMATS[format_id]
    st.caption(importer.description)
    with typed_fields(_TYPED):
        sources = choose_sources(importer)
        if sources:
            _show_import(importer, sources, open_set)
    return None


def _show_import(importer: Importer, sources: Sequence[Path], open_set: ReviewSet | None) -> None:
    """Show what would be made of the sources, ask where to, and import."""
    preview = st.container()  # above what is asked here, since it depends on it
    target = _target(sources, open_set)
    options = _options(importer)
    if options is None:
        return
    into = Path(target.folder) if target.into else None
    named = {option.name for option in importer.options}
    with preview:
        asked = ImportRequest(importer.id, tuple(sources), options, into)
        confirmed = confirm_import(asked, takes=named)
    pressed = st.button(
        tr("Add to the set") if target.into else tr("Import"),
        type="primary",
        key=f"import_{importer.id}",
        disabled=confirmed is None,
    )
    if pressed and confirmed is not None:
        if any_uploaded(sources):
            confirmed["copy"] = True  # what was uploaded goes when the session ends
        report = _import(importer, sources, target, confirmed)
        if report is not None:
            st.session_state[_REPORT] = report
            words_taken(_TYPED)
            st.rerun()


def _show_report(report: ImportReport) -> str | None:
    """Show what the last import made; return its folder when the reader wants it opened."""
    st.success(
        tr("Imported {what}.").format(what=as_markdown(report.counted)),
        icon=":material/check:",
    )
    name = as_markdown(report.folder.name)
    with st.container(horizontal=True, gap="small"):
        opened = st.button(
            tr("Open {name}").format(name=name),
            type="primary",
            icon=":material/folder_open:",
            key="import_open",
        )
        st.button(tr("Back to the form"), key="import_again", on_click=_put_away_report)
    if opened:
        _put_away_report()
        return str(report.folder)
    st.subheader(tr("Receipt"))
    show_receipt(report.receipt, key="import_report")
    return None


def _put_away_report() -> None:
    st.session_state.pop(_REPORT, None)


def _target(sources: Sequence[Path], open_set: ReviewSet | None) -> _Target:
    """Ask whether a new set is made, or the open one is added to."""
    can_add = open_set is not None and open_set.folder != DEMO_FOLDER
    if can_add and open_set is not None:
        where = {"new": tr("New set"), "into": tr("Add to {name}").format(name=open_set.info.name)}
        chosen = st.radio(
            tr("Where to"),
            list(where),
            format_func=lambda one: as_markdown(where[one]),
            horizontal=True,
            key="import_where",
            persist_state="session",
        )
        if chosen == "into":
            st.caption(
                tr(
                    "The set is written anew with what comes. Its tables as they are now are "
                    "kept in a dated folder beside it; scores and comments stay."
                )
            )
            return _Target(str(open_set.folder), True)
    return _Target(_new_folder(sources), False)


def _new_folder(sources: Sequence[Path]) -> str:
    name = re.sub(r"[^\w\-]+", "-", sources[0].stem).strip("-").lower()[:_LONGEST_STEM]
    name = name or "imported"
    base = Path(platformdirs.user_data_dir("rexview")) / "sets"
    free = next(
        path
        for number in range(1, 10_000)
        if not (path := base / (name if number == 1 else f"{name}-{number}")).exists()
    )
    text = st.text_input(
        tr("New folder for the review set"),
        str(free),
        key=f"import_out_{free.name}",
        help=tr("It must not exist yet, or be empty."),
        persist_state="session",
    )
    return text.strip() or str(free)


def _options(importer: Importer) -> dict[str, Any] | None:
    """Ask for the options; None, with a word on why, where a path among them cannot be used."""
    values: dict[str, Any] = {}
    with st.expander(tr("Options")):
        for option in importer.options:
            if option.name not in _ASKED_ABOVE:
                values[option.name] = _option(option)
    given = {name: value for name, value in values.items() if value not in (None, "", [])}
    places = [one.name for one in importer.options if one.type in ("file", "folder")]
    if None in [allowed_path(str(given[name])) for name in places if name in given]:
        return None
    return given


def _option(option: Option) -> Any:
    key = f"import_option_{option.name}_{option.type}"
    kept: Mapping[str, Any] = {"key": key, "persist_state": "session"}
    if option.type in ("flag", "switch"):
        default = option.type == "switch" if option.default is None else bool(option.default)
        return st.checkbox(option.label, default, help=option.help, **kept)
    if option.type == "choice":
        place = option.choices.index(option.default) if option.default in option.choices else None
        return st.selectbox(option.label, option.choices, place, help=option.help, **kept)
    if option.type == "texts":
        text = st.text_area(
            tr("{label}, one a line").format(label=option.label),
            help=option.help,
            height=80,
            **kept,
        )
        return [line for line in text.splitlines() if line.strip()]
    return st.text_input(option.label, help=option.help, **kept)


def _import(
    importer: Importer, sources: Sequence[Path], target: _Target, options: Mapping[str, Any]
) -> ImportReport | None:
    """Import; return the report, or show why it failed and return None."""
    out = allowed_path(target.folder)
    if out is None:
        return None
    try:
        with st.spinner(tr("Importing…")), progress_shown():
            return import_source(importer.id, sources, out, options=options, into=target.into)
    except RexviewError as error:
        show_error(error, key="import_failed")
    return None
