"""The forms of the Data page: open, check, import."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import streamlit as st

from rexview import reviewset
from rexview.addresses import display_set, is_address, remote_set_folder, set_display_name
from rexview.errors import Problem, RexviewError
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER
from rexview.ui.data.import_form import check_path, decoding_progress, show_import_form
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_error, show_problems
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.pages import PAGE_DATA, PAGE_OVERVIEW
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.clickhouse_sets import clickhouse_set
from rexview.ui.web.server.open_sets import is_outdated
from rexview.ui.web.server.server_state import uses_clickhouse
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, typed_fields
from rexview.words import counted, tr

_LOOK_AGAIN_S: Final = 3.0
_FORMAT_FILE: Final = Path(reviewset.__file__).with_name("FORMAT.md")


def _show_loaded(review_set: ReviewSet) -> None:
    """Show how much of a set is on ClickHouse, and whether its files are newer."""
    loaded = clickhouse_set(review_set.folder)
    manifest = loaded.opened().manifest
    cases, answers = counted(manifest.n_cases, "case"), counted(manifest.n_answers, "answer")
    st.markdown(
        as_markdown(
            tr("On ClickHouse: {cases} with {answers}.").format(cases=cases, answers=answers)
        )
    )
    if loaded.is_behind:
        st.warning(
            tr(
                "The files have changed since they were loaded; pages still show the "
                "loaded version. Load them again: python -m rexview load SET"
            ),
            icon=":material/database:",
        )


def _answer_counts(review_set: ReviewSet) -> list[tuple[str, int]]:
    """Return the number of answers as on all pages, and separately the files' other answers."""
    newest = len(review_set.newest)
    more = tr("Repeats and earlier runs")
    return [(tr("Answers"), newest), (more, review_set.answers.height - newest)]


def show_open_set(review_set: ReviewSet) -> None:
    """Show the open set: name, counts, warnings."""
    info = review_set.info
    st.markdown(f"**{as_markdown(info.name)}**")
    if info.description:
        st.text(info.description)
    st.caption(tr("Folder: {folder}").format(folder=as_markdown(display_set(review_set.folder))))
    if uses_clickhouse():
        _show_loaded(review_set)
    elif is_outdated(review_set):
        st.info(tr("Answers are being added. The newest appear on every page a little later."))
    of_tables = (
        []
        if uses_clickhouse()
        else [
            (tr("Cases"), review_set.cases.height),
            *_answer_counts(review_set),
            (tr("Metric values"), review_set.metrics.height),
        ]
    )
    counts = [
        *of_tables,
        (tr("Scores"), review_set.scores.height),
        (tr("Reader flags"), review_set.flags.height),
        (tr("Report edits"), review_set.edits.height),
        (tr("Choices of readers"), review_set.choices.height),
        (tr("Preferences"), review_set.preferences.height),
        (tr("Corrected reports kept as reference"), review_set.references.height),
    ]
    with st.container(horizontal=True, gap="medium"):
        for name, count in counts:
            if count:
                st.metric(as_markdown(name), f"{count:,}", width="content")
    if review_set.models:
        import pandas as pd

        from rexview.ui.tables.chart_table import frame_html

        table = pd.DataFrame(
            {
                "Model": [model.name for model in review_set.models],
                "Kind": [model.kind or "" for model in review_set.models],
                "Token limit": pd.array(
                    [model.max_output_tokens for model in review_set.models], dtype="Int64"
                ),
                "Notes": [model.notes or "" for model in review_set.models],
            }
        )
        titles = {
            "Model": tr("Model"),
            "Kind": tr("Kind"),
            "Token limit": tr("Token limit"),
            "Notes": tr("Notes"),
        }
        # as HTML, whose cells break lines, so that notes are readable in full
        linked_html(frame_html(table, missing="", titles=titles), key="data_models")
    every = review_set.all_warnings()
    if every is None:
        _wait_for_warnings(review_set)
    elif every:
        _show_warnings(every)
    else:
        st.caption(tr("Checked: no errors, no warnings."))


@st.fragment(run_every=_LOOK_AGAIN_S)
def _wait_for_warnings(review_set: ReviewSet) -> None:
    """Show known warnings while the texts of a large set are checked, then all of them."""
    permissions.guard(PAGE_DATA)
    if review_set.all_warnings() is not None:
        st.rerun()
    st.caption(tr("Texts are still being checked. More warnings may come."))
    if review_set.warnings:
        _show_warnings(review_set.warnings)


def _show_warnings(warnings: Sequence[Problem]) -> None:
    with st.expander(as_markdown(counted(len(warnings), "warning")), icon=":material/warning:"):
        show_problems(warnings, key="warnings")


def open_form() -> None:
    """Open a folder, one of the recent sets, or the demo."""
    recent = review_sets.recent_sets()
    with typed_fields("open_folder"), st.form("open_folder", border=False):
        text = st.text_input(
            tr("Folder of a review set"),
            placeholder="/path/to/my-review or s3://bucket/my-review/",
            help=tr(
                "A folder on the computer that runs rexview, or in S3 storage, with a "
                "reviewset.yaml in it."
            ),
        )
        submitted = st.form_submit_button(tr("Open"), type="primary")
    if submitted:
        _open(text)
    if server_state.settings().review_set != DEMO_FOLDER:
        recent = [DEMO_FOLDER, *(folder for folder in recent if folder != DEMO_FOLDER)]
    with st.container(horizontal=True, gap="small"):
        if link_keys.query_value(link_keys.QUERY_SET) and st.button(
            tr("Back to {name}").format(
                name=as_markdown(set_display_name(server_state.settings().review_set))
            ),
            key="open_default",
        ):
            link_keys.choose_set(None)
            st.switch_page(PAGE_OVERVIEW)
        for folder in recent[:6]:
            label = tr("Demo") if folder == DEMO_FOLDER else as_markdown(set_display_name(folder))
            place = display_set(folder)
            if st.button(label, help=as_markdown(place), key=f"open_{review_sets.set_id(folder)}"):
                _open(place)


def _open(text: str) -> None:
    folder = _existing_folder(text)
    if folder is None:
        return
    try:
        with st.spinner(tr("Checking and opening…")):
            name = review_sets.register_folder(folder)
            review_sets.open_set(folder)
    except RexviewError as error:
        show_error(error, key="opening")
        return
    finish_draft("open_folder")
    link_keys.choose_set(name)
    st.switch_page(PAGE_OVERVIEW, query_params=link_keys.link_query())


def _existing_folder(text: str) -> Path | None:
    """Return the folder that a person typed, or show why it cannot be used."""
    if not text.strip():
        st.warning(tr("Give the folder of a review set."))
        return None
    if is_address(text.strip()):
        return _elsewhere(text.strip())
    folder = check_path(text)
    if folder is None:
        return None
    with suppress(OSError):
        if folder.is_dir():
            return folder.resolve()
    st.error(
        tr("There is no such folder on the computer that runs rexview."), icon=":material/error:"
    )
    return None


def _elsewhere(text: str) -> Path | None:
    """Return the folder of a set whose address a person typed, or show why it cannot be used."""
    try:
        folder = remote_set_folder(text, server_state.settings().cache_folder)
        review_sets.check_folder_allowed(folder)
    except RexviewError as error:
        st.error(as_markdown(str(error)), icon=":material/error:")
        return None
    return folder


def check_form() -> None:
    """Check a folder without opening it."""
    with typed_fields("check_folder"), st.form("check_folder", border=False):
        text = st.text_input(tr("Folder to check"), placeholder="/path/to/my-review")
        pixels = st.checkbox(tr("Open every picture"), help=tr("Finds damaged ones. Takes longer."))
        submitted = st.form_submit_button(tr("Check"))
    if not submitted:
        return
    folder = _existing_folder(text)
    if folder is None:
        return
    finish_draft("check_folder")
    with st.spinner(tr("Checking…")), decoding_progress():
        problems = reviewset.check_review_set(folder, pixels=pixels)
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    if errors:
        st.error(
            tr("{errors:,} errors and {warnings:,} warnings. It cannot be opened yet.").format(
                errors=errors, warnings=warnings
            )
        )
    elif warnings:
        st.warning(
            tr("No errors, {warnings:,} warnings. It can be opened.").format(warnings=warnings)
        )
    else:
        st.success(tr("No errors, no warnings. It can be opened."))
    show_problems(problems, key="check")


def import_form(review_set: ReviewSet | None) -> None:
    """Show the import, and open its result on request; the open set can be extended."""
    folder = show_import_form(review_set)
    if folder:
        _open(folder)


def show_format() -> None:
    """Show how a review set is made by hand."""
    with st.container(height=600, border=True):
        st.markdown(_FORMAT_FILE.read_text(encoding="utf-8"))
