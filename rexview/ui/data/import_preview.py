"""What files were recognised as and what would be made of them, before anything is written.

Here a person sees every proposal and may decide otherwise: what columns mean, how boxes are read,
which pictures are one study.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import streamlit as st

from rexview.reviewset.importers.formats import PROPOSED
from rexview.reviewset.importers.receipt import Receipt, alike
from rexview.reviewset.importers.run import ImportPreview, preview_source
from rexview.ui.data.box_readings import confirm_readings
from rexview.ui.data.column_choices import chosen_mapping, proposed_choices
from rexview.ui.data.column_form import confirm_columns
from rexview.ui.data.picture_grouping import choose_grouping
from rexview.ui.data.receipt_view import show_lines, show_receipt
from rexview.ui.data.reference_choice import choose_references
from rexview.ui.html.safe_text import as_markdown
from rexview.ui.tables.problem_table import show_error
from rexview.words import counted, tr, trn

_LOOKS: Final = "rexview_import_looks"
_MOST_LOOKS: Final = 6
_COUNTED: Final = {
    "cases": tr("Cases"),
    "answers": tr("Answers"),
    "scores": tr("Scores"),
    "flags": tr("Reader flags"),
    "edits": tr("Report edits"),
    "metrics": tr("Metric values"),
    "model_boxes": tr("Boxes of models"),
    "reference_boxes": tr("Reference boxes"),
}


@dataclass(frozen=True)
class Asked:
    """What is to be imported; ``into`` is the folder of the set that it is added to, if any."""

    format_id: str
    sources: tuple[Path, ...]
    options: Mapping[str, Any]
    into: Path | None

    def preview(self, decisions: Mapping[str, Any]) -> ImportPreview:
        """Look at the sources, once for each state of them and each choice."""
        looks: dict[Any, ImportPreview] = st.session_state.setdefault(_LOOKS, {})
        options = {**self.options, **decisions}
        states = tuple(map(_state, self.sources))
        key = (self.format_id, states, repr(sorted(options.items())), self.into)
        if key not in looks:
            with st.spinner(tr("Looking at the files…")):
                looks[key] = preview_source(self.format_id, self.sources, options, into=self.into)
            while len(looks) > _MOST_LOOKS:
                del looks[next(iter(looks))]
        return looks[key]


def confirm_import(asked: Asked, *, takes: Collection[str]) -> dict[str, Any] | None:
    """Show what would be made, let a person decide; return the options to import with.

    None when nothing can be imported so; the page says why. ``takes`` are the names of the
    format's options.
    """
    usual: dict[str, Any] = {"mapping": PROPOSED} if "mapping" in takes else {}
    first = asked.preview(usual)
    _show_files(first.receipt)
    if first.references and "reference" in takes:
        chosen = choose_references(first.references)
        if chosen is None:
            return None
        usual["reference"] = (*(asked.options.get("reference") or ()), *chosen)
        first = asked.preview(usual)
    decisions = _decide(first)
    if decisions is None:
        return None
    decisions = {**usual, **decisions}
    looked = first if decisions == usual else asked.preview(decisions)
    st.markdown("**What will be made**")
    if looked.error is not None:
        show_error(looked.error, key="import_cannot")
        return None
    _show_counts(looked.receipt)
    receipt = looked.receipt
    telling = bool(receipt.problems) or receipt.rows_used < receipt.rows_in
    with st.expander(_summary(receipt), expanded=telling, icon=":material/receipt_long:"):
        show_receipt(receipt, key="import_preview")
    return {**asked.options, **decisions}


def _state(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


def _show_files(receipt: Receipt) -> None:
    """Say what each file is and why, also of those that nothing is read from."""
    lines = [(one.file, one.format, one.why) for one in receipt.files_read]
    lines += [
        (one.file, tr("Not read: {type}").format(type=one.type), one.why)
        for one in receipt.files_unread
    ]
    show_lines(tr("What the files are"), (tr("File"), tr("Recognised as"), tr("Why")), lines)


def _decide(first: ImportPreview) -> dict[str, Any] | None:
    """Ask what a person may decide; return what differs from the proposals, None if it is wrong."""
    decisions: dict[str, Any] = {}
    mappings = []
    for proposal in first.mappings:
        named = as_markdown(proposal.file)
        if proposal.sheet:
            of_sheet = tr("{file}, sheet {sheet}")
            named = as_markdown(of_sheet.format(file=proposal.file, sheet=proposal.sheet))
        with st.expander(
            tr("What each column means: {file}").format(file=named),
            expanded=True,
            icon=":material/table:",
        ):
            mapping = confirm_columns(proposal)
        if mapping is None:
            return None
        if mapping != chosen_mapping(proposal, proposed_choices(proposal)):
            mappings.append(mapping)
    if mappings:
        decisions["mapping"] = mappings
    if first.boxes:
        with st.expander(
            tr("Boxes as they will be drawn"), expanded=True, icon=":material/crop_free:"
        ):
            readings = confirm_readings(first)
        if readings:
            decisions["boxes_as"] = readings
    # where a table says which cases there are, pictures only join them
    group = None if first.mappings else choose_grouping(first.groupings)
    if group is not None:
        decisions["group"] = group
    return decisions


def _show_counts(receipt: Receipt) -> None:
    """Show the numbers; beside those of a set that is added to, what comes on top."""
    counts = [(field, name, int(getattr(receipt, field))) for field, name in _COUNTED.items()]
    counts.append(("", tr("Models"), sum(number > 0 for number in receipt.models.values())))
    with st.container(horizontal=True, gap="medium"):
        for field, name, count in counts:
            if not count:
                continue
            was = (receipt.before or {}).get(field)
            st.metric(
                as_markdown(name),
                f"{count:,}",
                None if was is None else f"{count - was:+,}",
                delta_color="off",
                width="content",
            )
        if receipt.images:
            found = tr("{n:,} of {total:,}").format(n=receipt.images_found, total=receipt.images)
            st.metric(tr("Pictures found"), found, width="content")


def _summary(receipt: Receipt) -> str:
    unused = receipt.rows_in - receipt.rows_used
    parts = [tr("{n:,} of {total:,} rows used").format(n=receipt.rows_used, total=receipt.rows_in)]
    columns = len(receipt.columns_unused) + len(receipt.identity_columns)
    files = len(receipt.files_unread)
    for number, left in (
        (unused, trn("{n:,} row not used", "{n:,} rows not used", unused)),
        (columns, trn("{n:,} column not used", "{n:,} columns not used", columns)),
        (files, trn("{n:,} file not used", "{n:,} files not used", files)),
    ):
        if number:
            parts.append(left.format(n=number))
    kinds = len(alike(receipt.problems))
    if kinds:
        parts.append(counted(kinds, "warning"))
    return " · ".join(parts)
