"""The recognised formats of files and the expected result, before anything is written.

A person sees every proposal and may decide differently: what columns mean, how boxes are read,
which images form one study.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import streamlit as st

from rexview.analysis.colours import MODEL_COLOURS, REFERENCE_IMAGE_COLOUR
from rexview.geometry import box_problem
from rexview.importers.box_placement import SHAPES, UNITS, BoxPreview, BoxReading
from rexview.importers.formats import PROPOSED_MAPPING
from rexview.importers.import_run import ImportPreview, preview_source
from rexview.importers.receipt import Receipt, group_alike_problems
from rexview.ui.data.column_meanings import confirm_columns, mapping_from_choices, proposed_choices
from rexview.ui.safe_text import as_markdown
from rexview.ui.tables.data_table import show_error
from rexview.words import counted, sentence_start, tr, trn

# How images become cases: each way with its number of cases.

_AUTO: Final = "auto"
_WORDS: Final = {
    _AUTO: tr("Pictures of a small sub-folder together, all others singly"),
    "folder": tr("All pictures of a folder"),
    "file": tr("Each picture"),
}


def choose_grouping(counts: Mapping[str, int]) -> str | None:
    """Show a choice of what forms one study, if the ways differ; None for the proposal.

    ``counts`` has the number of cases by way; it is an upper limit, because a damaged image gives
    no case. It is empty without images.
    """
    if len(set(counts.values())) < 2:
        return None
    chosen = st.radio(
        tr("One study is"),
        list(_WORDS),
        format_func=_WORDS.__getitem__,
        captions=[
            tr("Up to {cases}").format(cases=as_markdown(counted(counts[way], "case")))
            for way in _WORDS
        ],
        key="import_group",
        persist_state="session",
    )
    return None if chosen == _AUTO else chosen


# The choice of the reference among several files or columns, if it cannot be determined.


def choose_references(groups: Sequence[Mapping[str, str]]) -> tuple[str, ...] | None:
    """Show a choice of the reference in each group; None until all are chosen.

    A group has files, or columns as ``FILE=COLUMN``, each with an example text.
    """
    chosen = []
    for group in groups:
        chosen.append(
            st.radio(
                tr("Which one has the reports or answers of the radiologist?"),
                list(group),
                index=None,
                format_func=lambda one: as_markdown(_in_words(one)),
                captions=[
                    as_markdown(tr("such as “{text}”").format(text=text)) for text in group.values()
                ],
                key=f"import_reference_{'|'.join(group)}",
                help=tr(
                    "Each has texts about the same cases, and neither names nor contents "
                    "show who wrote them. The others become answers of models."
                ),
                persist_state="session",
            )
        )
    if None in chosen:
        st.caption(tr("Choose one: the others become answers of models."))
        return None
    return tuple(map(str, chosen))


def _in_words(choice: str) -> str:
    file, mark, column = choice.rpartition("=")
    return tr("{column} in {file}").format(column=column, file=file) if mark else choice


# Boxes in the proposed reading, drawn on images of the import, and the other readings to try.

Boxes = Sequence[tuple[str, tuple[float, float, float, float]]]
_EVERY: Final = tuple(str(BoxReading(shape, unit)) for unit in UNITS for shape in SHAPES)
_MOST_BOXES: Final = 60
_LONGEST_LABEL: Final = 40


def confirm_readings(preview: ImportPreview) -> dict[tuple[str, str | None], str]:
    """Show boxes in their proposed reading; return the other readings that a person chose.

    Keys are file and model, with None for reference boxes. A choice is kept for the session, as
    long as the file has the same boxes.
    """
    chosen: dict[tuple[str, str | None], str] = {}
    for one in preview.boxes:
        reading = _choose(one)
        if reading != str(one.proposal.reading):
            chosen[one.file, one.model] = reading
        st.html(pictures_html(one, BoxReading.parse(reading), preview.pictures))
    return chosen


def _choose(one: BoxPreview) -> str:
    proposed = str(one.proposal.reading)
    fitting = [str(other) for other in one.proposal.others]
    options = list(dict.fromkeys((proposed, *fitting, *_EVERY)))
    file = as_markdown(one.file)
    if one.model is None:
        asked = tr("{file}: {n:,} reference boxes. The four numbers are").format(
            file=file, n=one.count
        )
    else:
        asked = tr("{file}: {n:,} boxes of {model}. The four numbers are").format(
            file=file, n=one.count, model=as_markdown(one.model)
        )

    def shown(reading: str) -> str:
        words = BoxReading.parse(reading).in_words
        known = {proposed: tr("(proposed)"), **dict.fromkeys(fitting, tr("(also fits)"))}
        return f"{sentence_start(words)} {known.get(reading, '')}".rstrip()

    name = hashlib.sha256(repr((one.file, one.model, one.count)).encode()).hexdigest()[:16]
    chosen: str = st.selectbox(
        asked,
        options,
        format_func=shown,
        key=f"import_reading_{name}",
        persist_state="session",
    )
    if one.proposal.why and chosen == proposed:
        st.caption(as_markdown(one.proposal.why))
    return chosen


def pictures_html(
    one: BoxPreview, reading: BoxReading, pictures: Mapping[tuple[str, str], bytes]
) -> str:
    """Return images with the boxes that a reading makes of their numbers, as HTML."""
    if not one.pictures:
        return f'<p class="rx-quiet">{tr("The size of its pictures is unknown.")}</p>'
    colour = REFERENCE_IMAGE_COLOUR if one.model is None else MODEL_COLOURS[1]
    figures = "".join(
        _figure_html(case, size, boxes, reading, pictures.get((case, image)), colour)
        for case, image, size, boxes in one.pictures
    )
    return f'<div class="rx-box-pictures">{figures}</div>'


def _figure_html(
    name: str,
    size: tuple[int, int],
    boxes: Boxes,
    reading: BoxReading,
    picture: bytes | None,
    colour: str,
) -> str:
    width, height = size
    numbers = np.array([four for _, four in boxes], dtype=np.float64).reshape(-1, 4)
    drawn = reading.to_pixels(numbers, np.tile(np.array(size, np.float64), (len(numbers), 1)))
    outside = sum(box_problem(box, width, height) is not None for box in drawn.tolist())
    shapes = "".join(
        _box_html(box, label, size, colour)
        for (label, _), box in zip(boxes[:_MOST_BOXES], drawn.tolist(), strict=False)
        if box[2] > 0 and box[3] > 0
    )
    shown = f"{name}: {counted(len(boxes), 'box')}"
    if outside:
        out = tr("{boxes}, {n:,} outside the picture or without area")
        shown = out.format(boxes=shown, n=outside)
    film = ""
    if picture is not None:
        code = base64.b64encode(picture).decode()
        film = f'<img alt="" src="data:image/webp;base64,{code}">'
    missing = "" if picture is not None else f" {tr('The picture itself is missing.')}"
    css = ' class="rx-wrong"' if outside else ""
    return (
        f'<figure><div class="rx-box-film" style="aspect-ratio:{width}/{height}">{film}{shapes}'
        f"</div><figcaption{css}>{html.escape(shown)}.{missing}</figcaption></figure>"
    )


def _box_html(box: Sequence[float], label: str, size: tuple[int, int], colour: str) -> str:
    """Return a box in shares of the image, so that it fits at any width."""
    wholes = (*size, *size)
    left, top, width, height = (
        round(100 * number / whole, 3) for number, whole in zip(box, wholes, strict=True)
    )
    return (
        f'<div class="rx-import-box" style="left:{left}%;top:{top}%;width:{width}%;'
        f'height:{height}%;border-color:{colour}"><span>{html.escape(label[:_LONGEST_LABEL])}'
        "</span></div>"
    )


# The receipt of an import: what was read, what was not used and why, counts, problems.

_MOST_LINES: Final = 300
"""Most lines of a table; the download has all."""
_ROWS_NAMED: Final = 6


def show_receipt(receipt: Receipt, *, key: str) -> None:
    """Show a receipt and its download, with unused data before the problems."""
    st.markdown(f"**{_rows_in_words(receipt)}**")
    show_lines(
        tr("Answers of each model"),
        (tr("Model"), tr("Answers"), tr("Not run")),
        list(_models(receipt)),
    )
    show_lines(
        tr("Not used: columns"),
        (tr("File"), tr("Column"), tr("Example"), tr("Why")),
        list(_columns(receipt)),
    )
    show_lines(
        tr("Not used: rows"), (tr("File"), tr("Rows"), tr("Which"), tr("Why")), list(_rows(receipt))
    )
    joins = [
        (one.file, one.key, one.joined, one.unmatched, one.several, one.otherwise)
        for one in receipt.joins
    ]
    show_lines(
        tr("How files join"),
        (
            *(tr("File"), tr("By column"), tr("Rows joined"), tr("Rows without a case")),
            *(tr("Ids of several cases"), tr("Ids written differently")),
        ),
        joins,
    )
    files = [(one.file, one.type, one.why) for one in receipt.files_unread]
    show_lines(tr("Not read: files"), (tr("File"), tr("Type"), tr("Why")), files)
    kept = [(one.file, one.column, one.example, one.kept_as) for one in receipt.columns_kept]
    show_lines(
        tr("Kept as they are"), (tr("File"), tr("Column"), tr("Example"), tr("Kept with")), kept
    )
    if receipt.notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in receipt.notes)
        st.html(f'<ul class="rx-import-notes rx-quiet">{items}</ul>')
    show_lines(
        tr("Warnings"),
        (tr("File"), tr("What is wrong"), tr("What to do"), tr("Rows")),
        list(_problems(receipt)),
    )
    st.download_button(
        tr("Download the receipt"),
        json.dumps(receipt.as_json(), ensure_ascii=False, indent=1),
        file_name="receipt.json",
        mime="application/json",
        icon=":material/download:",
        key=f"{key}_receipt",
        on_click="ignore",
    )


def _rows_in_words(receipt: Receipt) -> str:
    unused = receipt.rows_in - receipt.rows_used
    if unused:
        return trn(
            "{n:,} row read: {used:,} used, {unused:,} not used (see below).",
            "{n:,} rows read: {used:,} used, {unused:,} not used (see below).",
            receipt.rows_in,
        ).format(n=receipt.rows_in, used=receipt.rows_used, unused=unused)
    return trn(
        "{n:,} row read: {used:,} used, none left out.",
        "{n:,} rows read: {used:,} used, none left out.",
        receipt.rows_in,
    ).format(n=receipt.rows_in, used=receipt.rows_used)


def _models(receipt: Receipt) -> Iterator[tuple[str, int, int]]:
    for model in {**receipt.models, **receipt.not_run}:
        yield model, receipt.models.get(model, 0), receipt.not_run.get(model, 0)


def _columns(receipt: Receipt) -> Iterator[tuple[str, str, str, str]]:
    for one in receipt.columns_unused:
        yield one.file, one.column, one.example or "", one.why
    for private in receipt.identity_columns:
        why = tr("It could identify a person; none of its values was imported.")
        yield private.file, private.column, tr("not shown"), why


def _problems(receipt: Receipt) -> Iterator[tuple[str, str, str, str]]:
    for kind in group_alike_problems(receipt.problems):
        one = kind.first
        named = f"{one.message} ({one.field})" if one.field else one.message
        rows = _named(kind.rows, kind.count) or (f"{kind.count:,}" if kind.count > 1 else "")
        yield one.file, named, one.remedy, rows


def _rows(receipt: Receipt) -> Iterator[tuple[str, int, str, str]]:
    for one in receipt.rows_unused:
        yield one.file, one.count, _named(one.rows, one.count), one.why


def _named(rows: Sequence[int], count: int) -> str:
    """Name the first of ``count`` rows."""
    named = ", ".join(map(str, rows[:_ROWS_NAMED]))
    more = f", … ({count:,})" if count > _ROWS_NAMED else ""
    return f"{named}{more}" if named else ""


def show_lines(title: str, columns: Sequence[str], lines: Sequence[Sequence[str | int]]) -> None:
    """Show lines of text as a table under a heading; nothing if there are none."""
    if not lines:
        return
    st.markdown(f"**{as_markdown(title)}**")
    import pandas as pd

    from rexview.ui.tables.chart_table import chart_table_html

    st.html(chart_table_html(pd.DataFrame(lines[:_MOST_LINES], columns=list(columns))))
    if len(lines) > _MOST_LINES:
        st.caption(tr("{n:,} more are in the receipt.").format(n=len(lines) - _MOST_LINES))


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
class ImportRequest:
    """An import: ``into`` is the folder of the set to extend, if any."""

    format_id: str
    sources: tuple[Path, ...]
    options: Mapping[str, Any]
    into: Path | None

    def preview(self, decisions: Mapping[str, Any]) -> ImportPreview:
        """Analyse the sources, once for each of their states and each choice."""
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


def confirm_import(asked: ImportRequest, *, takes: Collection[str]) -> dict[str, Any] | None:
    """Show the expected result, let a person decide; return the options of the import.

    Return None if the import is impossible; the page shows why. ``takes`` are the names of the
    format's options.
    """
    usual: dict[str, Any] = {"mapping": PROPOSED_MAPPING} if "mapping" in takes else {}
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
    """Show the format of each file and the reason, also of unread files."""
    lines = [(one.file, one.format, one.why) for one in receipt.files_read]
    lines += [
        (one.file, tr("Not read: {type}").format(type=one.type), one.why)
        for one in receipt.files_unread
    ]
    show_lines(tr("What the files are"), (tr("File"), tr("Recognised as"), tr("Why")), lines)


def _decide(first: ImportPreview) -> dict[str, Any] | None:
    """Show a person's choices; return those that differ from the proposals, None if invalid."""
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
        if mapping != mapping_from_choices(proposal, proposed_choices(proposal)):
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
    # if a table lists the cases, images only join them
    group = None if first.mappings else choose_grouping(first.groupings)
    if group is not None:
        decisions["group"] = group
    return decisions


def _show_counts(receipt: Receipt) -> None:
    """Show the counts; for a set that is extended, also the additions."""
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
    kinds = len(group_alike_problems(receipt.problems))
    if kinds:
        parts.append(counted(kinds, "warning"))
    return " · ".join(parts)
