"""The files of an import: paths that were typed, and uploads, which are kept with the session."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

import streamlit as st

from rexview.errors import RexviewError
from rexview.reviewset.importers.formats import Importer
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.server import review_sets
from rexview.untrusted_input import file_name, typed_path
from rexview.words import tr

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
