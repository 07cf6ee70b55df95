"""The form that makes a review set from files of another format."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import platformdirs
import streamlit as st

from rexview.bounded import file_name, typed_path
from rexview.errors import ImportSourceError, RexviewError
from rexview.reviewset.importers import FORMATS, import_source, propose_mapping
from rexview.reviewset.importers.core.importer import Importer, ImportReport, Option
from rexview.reviewset.importers.table.column_mapping import ColumnMapping
from rexview.reviewset.pictures import progress_told
from rexview.ui.data import mapping_table
from rexview.ui.data.picture_grouping import choose_grouping
from rexview.ui.html.safe_text import as_markdown, lines_as_markdown
from rexview.ui.server import review_sets
from rexview.ui.tables.problem_table import show_error, show_problems

_MAPPING: Final = "mapping"
_GROUP: Final = "group"
_UPLOADS: Final = "rexview_uploads"
_REPORT: Final = "rexview_import_report"
_STEPS: Final = 100
_LONGEST_STEM: Final = 60


class _UploadFolder:
    """A folder for the uploads of one session, which goes with it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="rexview-upload-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def show_import_form() -> str | None:
    """Show the form; return the folder to open when the reader asks for it."""
    format_id = st.selectbox(
        "Format",
        list(FORMATS),
        format_func=lambda one: FORMATS[one].name,
        key="import_format",
    )
    importer = FORMATS[format_id]
    st.caption(importer.description)
    sources = _sources(importer)
    if not sources:
        return None
    mapping = None
    if any(option.name == _MAPPING for option in importer.options):
        mapping = _confirmed_mapping(sources[0])
        if mapping is None:
            return None
    options = _options(importer, sources)
    out = _destination(sources)
    if st.button("Import", type="primary", key=f"import_{format_id}"):
        given = {**options, **({_MAPPING: mapping} if mapping else {})}
        if any(_is_upload(source) for source in sources):
            given["copy"] = True  # what was uploaded goes when the session ends
        st.session_state[_REPORT] = _import(format_id, sources, out, given)
    return _show_report(st.session_state.get(_REPORT))


def _show_report(report: ImportReport | None) -> str | None:
    """Show what the last import made; return its folder when the reader wants it opened."""
    if report is None:
        return None
    st.success(f"Imported {as_markdown(report.counted)}.")
    for note in report.notes:
        st.caption(as_markdown(note))
    show_problems(report.problems, key="import_report")
    if st.button(
        f"Open {as_markdown(report.folder.name)}", icon=":material/folder_open:", key="import_open"
    ):
        del st.session_state[_REPORT]
        return str(report.folder)
    return None


def _sources(importer: Importer) -> list[Path]:
    suffixes = as_markdown(", ".join(importer.suffixes))
    kind = "files or a folder" if importer.folders else "files"
    text = st.text_area(
        f"Path of the {kind}, one a line",
        placeholder="/path/to/source",
        help=f"On the computer that runs rexview. Endings: {suffixes}",
        height=80,
        key=f"import_paths_{importer.id}",
    )
    uploads = st.file_uploader(
        "or upload",
        type=None if importer.folders else [one.removeprefix(".") for one in importer.suffixes],
        accept_multiple_files=True,
        key=f"import_uploads_{importer.id}",
    )
    sources: list[Path] = []
    for one in uploads or []:
        sources.append(_keep_upload(one.name, one.getvalue(), sources))
    for line in text.splitlines():
        path = allowed_path(line) if line.strip() else None
        if path is not None and _there(path):
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


def _there(path: Path) -> bool:
    try:
        if path.exists():
            return True
    except OSError:
        pass
    st.error("There is no such file or folder on the computer that runs rexview.")
    return False


def _keep_upload(name: str, content: bytes, others: Collection[Path]) -> Path:
    """Write an upload into a folder of this session, under a name that cannot leave it.

    ``others`` are the uploads before it: a second file of the same name gets a number.
    """
    if _UPLOADS not in st.session_state:
        st.session_state[_UPLOADS] = _UploadFolder()
    folder: Path = st.session_state[_UPLOADS].path
    plain = file_name(name)
    path = folder / plain
    number = 2
    while path in others:
        path = folder / f"{Path(plain).stem}-{number}{Path(plain).suffix}"
        number += 1
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    return path


def _is_upload(path: Path) -> bool:
    uploads = st.session_state.get(_UPLOADS)
    return uploads is not None and path.is_relative_to(uploads.path)


def _confirmed_mapping(source: Path) -> ColumnMapping | None:
    """Show what each column is taken for, let a person change it, and return it."""
    try:
        proposal = propose_mapping(source)
    except ImportSourceError as error:
        show_error(error, key="import_mapping")
        return None
    st.markdown("**What each column means.** Change what is wrong, then import.")
    edited = st.data_editor(
        mapping_table.to_table(proposal),
        hide_index=True,
        disabled=["Column", "Examples"],
        column_config={
            "Meaning": st.column_config.SelectboxColumn(
                options=list(mapping_table.MEANINGS), required=True
            ),
            "Model": st.column_config.TextColumn(help="Where the column is about one model only"),
            "Reader": st.column_config.TextColumn(help="Who gave these scores"),
        },
        key=f"import_mapping_{source.name}",
    )
    twice = mapping_table.doubled(edited)
    if twice:
        st.error(
            f"Only one column can be: {as_markdown(', '.join(twice))}.", icon=":material/error:"
        )
        return None
    return mapping_table.from_table(proposal, edited)


def _options(importer: Importer, sources: Sequence[Path]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for option in importer.options:
        if option.name == _GROUP:
            key = f"import_{importer.id}_{_GROUP}"
            values[_GROUP] = choose_grouping(option, sources, key)
    with st.expander("Options"):
        for option in importer.options:
            if option.type != "mapping" and option.name not in values:
                values[option.name] = _option(importer, option)
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _option(importer: Importer, option: Option) -> Any:
    key = f"import_{importer.id}_{option.name}"
    if option.type in ("flag", "switch"):
        default = option.type == "switch" if option.default is None else bool(option.default)
        return st.checkbox(option.label, default, help=option.help, key=key)
    if option.type == "choice":
        place = option.choices.index(option.default) if option.default in option.choices else 0
        return st.selectbox(option.label, option.choices, place, help=option.help, key=key)
    if option.type == "texts":
        text = st.text_area(f"{option.label}, one a line", help=option.help, key=key, height=80)
        return [line for line in text.splitlines() if line.strip()]
    return st.text_input(option.label, help=option.help, key=key)


def _destination(sources: Sequence[Path]) -> str:
    name = re.sub(r"[^\w\-]+", "-", sources[0].stem).strip("-").lower()[:_LONGEST_STEM]
    name = name or "imported"
    base = Path(platformdirs.user_data_dir("rexview")) / "sets"
    free = next(
        path
        for number in range(1, 10_000)
        if not (path := base / (name if number == 1 else f"{name}-{number}")).exists()
    )
    text = st.text_input(
        "New folder for the review set",
        str(free),
        key=f"import_out_{name}",
        help="It must not exist yet, or be empty.",
    )
    return text.strip() or str(free)


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show how many pictures are decoded, while that lasts."""
    place = st.empty()

    def show(done: int, total: int) -> None:
        if done % max(1, total // _STEPS) == 0:
            place.progress(done / total, f"{done:,} of {total:,} pictures decoded")

    with progress_told(show):
        yield
    place.empty()


def _import(
    format_id: str, sources: Sequence[Path], typed: str, options: Mapping[str, Any]
) -> ImportReport | None:
    """Import; return the report, or show why it failed and return None."""
    places = [one.name for one in FORMATS[format_id].options if one.type in ("file", "folder")]
    out = allowed_path(typed)
    named = [allowed_path(str(options[name])) for name in places if name in options]
    if out is None or None in named:
        return None
    try:
        with st.spinner("Importing…"), progress_shown():
            return import_source(format_id, sources, out, options=options)
    except RexviewError as error:
        show_error(error, key="import_failed")
    return None
