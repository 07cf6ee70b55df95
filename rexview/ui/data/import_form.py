"""The form that imports files of another format into a new set or the open one."""

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
from rexview.importers import IMPORT_FORMATS, import_source
from rexview.importers.formats import Importer, ImportOption, ImportReport
from rexview.reviewset.picture_decoding import report_progress
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER
from rexview.ui.data.import_preview import ImportRequest, confirm_import, show_receipt
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.data_table import show_error
from rexview.ui.web.server import review_sets
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, typed_fields
from rexview.untrusted_input import read_typed_path, safe_file_name
from rexview.words import tr

# The files of an import: typed paths, and uploads, which are kept for the session.

_UPLOADS: Final = "rexview_uploads"
_ROUND: Final = "rexview_upload_round"
_PATHS: Final = "import_paths"


class _Uploads:
    """The uploads of one session, in a folder that is deleted with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rexview-upload-"))
        self.paths: list[Path] = []
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def choose_sources(importer: Importer) -> list[Path]:
    """Show fields for files; return existing ones, with a message about the others."""
    typed, dropped = st.columns(2, gap="medium")
    path_of_files = tr("Path of the files, one per line")
    path_of_folders = tr("Path of the files or folders, one per line")
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
        path = check_path(line) if line.strip() else None
        if path is not None and path not in sources and _there(path):
            sources.append(path)
    return sources


def check_path(text: str) -> Path | None:
    """Return a typed path, or show why it cannot be used."""
    try:
        path = read_typed_path(text.strip().strip("\"'"))
        review_sets.check_folder_allowed(path)
    except RexviewError as error:
        st.error(lines_as_markdown(error), icon=":material/error:")
        return None
    return path


def has_uploads(sources: Sequence[Path]) -> bool:
    """Return whether any source is an upload, which is deleted when the session ends."""
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
    """Show an upload field, and move uploaded files out of it, so that it is empty again.

    The field itself would lose its files whenever another page or tab is shown.
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
    """Show the uploads, each with a button that removes it; return their paths."""
    uploads = st.session_state.get(_UPLOADS)
    if uploads is None or not uploads.paths:
        return []
    with st.container(horizontal=True, gap="small"):
        for number, path in enumerate(uploads.paths):
            st.button(
                as_markdown(path.name),
                icon=":material/close:",
                help=tr("Uploaded. Press to remove it."),
                key=f"import_upload_{number}_{path.name}",
                on_click=_remove,
                args=(path,),
            )
    return list(uploads.paths)


def _remove(path: Path) -> None:
    st.session_state[_UPLOADS].paths.remove(path)
    path.unlink(missing_ok=True)


def _keep(folder: Path, name: str, content: bytes, others: Collection[Path]) -> Path:
    """Write an upload into a folder of this session, under a name that cannot leave the folder.

    ``others`` are the earlier uploads: a second file of the same name gets a number.
    """
    plain = safe_file_name(name)
    path = folder / plain
    number = 2
    while path in others:
        path = folder / f"{Path(plain).stem}-{number}{Path(plain).suffix}"
        number += 1
    path.write_bytes(content)
    return path


# The number of decoded images, during the decoding.

_STEPS: Final = 100


@contextmanager
def decoding_progress() -> Iterator[None]:
    """Show the number of decoded images during the block."""
    place = st.empty()

    def show(done: int, total: int) -> None:
        if done % max(1, total // _STEPS) == 0:
            place.progress(
                done / total,
                tr("{n:,} of {total:,} pictures decoded").format(n=done, total=total),
            )

    with report_progress(show):
        yield
    place.empty()


_TYPED: Final = "import"
_REPORT: Final = "rexview_import_report"
_LONGEST_STEM: Final = 60
_ASKED_ABOVE: Final = frozenset(("mapping", "boxes_as", "group"))
"""Options that are shown next to the choices that they affect."""


@dataclass(frozen=True)
class _Target:
    """The folder of a new set, or of the set that is extended."""

    folder: str
    into: bool


def show_import_form(open_set: ReviewSet | None) -> str | None:
    """Show the form; return the folder to open when the user requests it.

    ``open_set`` is the open set, which can be extended. After an import its receipt is shown
    instead, until the form is requested again, with all that was typed.
    """
    report: ImportReport | None = st.session_state.get(_REPORT)
    if report is not None:
        return _show_report(report)
    format_id = st.selectbox(
        tr("Format"),
        list(IMPORT_FORMATS),
        format_func=lambda one: IMPORT_FORMATS[one].name,
        key="import_format",
        persist_state="session",
    )
    importer = IMPORT_FORMATS[format_id]
    st.caption(importer.description)
    with typed_fields(_TYPED):
        sources = choose_sources(importer)
        if sources:
            _show_import(importer, sources, open_set)
    return None


def _show_import(importer: Importer, sources: Sequence[Path], open_set: ReviewSet | None) -> None:
    """Show the expected result, ask for the target, and import."""
    preview = st.container()  # above the fields here, because it depends on them
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
        if has_uploads(sources):
            confirmed["copy"] = True  # uploads are deleted when the session ends
        report = _import(importer, sources, target, confirmed)
        if report is not None:
            st.session_state[_REPORT] = report
            finish_draft(_TYPED)
            st.rerun()


def _show_report(report: ImportReport) -> str | None:
    """Show the result of the last import; return its folder when the user opens it."""
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
    """Ask whether to make a new set or extend the open one."""
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
                    "The set is rewritten with the new data. Its current tables are kept "
                    "in a dated folder beside it; scores and comments stay."
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
        help=tr("It must be new or empty."),
        persist_state="session",
    )
    return text.strip() or str(free)


def _options(importer: Importer) -> dict[str, Any] | None:
    """Show the options; return None, with a message, if a path among them cannot be used."""
    values: dict[str, Any] = {}
    with st.expander(tr("Options")):
        for option in importer.options:
            if option.name not in _ASKED_ABOVE:
                values[option.name] = _option(option)
    given = {name: value for name, value in values.items() if value not in (None, "", [])}
    places = [one.name for one in importer.options if one.type in ("file", "folder")]
    if None in [check_path(str(given[name])) for name in places if name in given]:
        return None
    return given


def _option(option: ImportOption) -> Any:
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
            tr("{label}, one per line").format(label=option.label),
            help=option.help,
            height=80,
            **kept,
        )
        return [line for line in text.splitlines() if line.strip()]
    return st.text_input(option.label, help=option.help, **kept)


def _import(
    importer: Importer, sources: Sequence[Path], target: _Target, options: Mapping[str, Any]
) -> ImportReport | None:
    """Import; return the report, or show the error and return None."""
    out = check_path(target.folder)
    if out is None:
        return None
    try:
        with st.spinner(tr("Importing…")), decoding_progress():
            return import_source(importer.id, sources, out, options=options, into=target.into)
    except RexviewError as error:
        show_error(error, key="import_failed")
    return None
