"""The case that one row of a table describes, as a row of the declared columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from rexview.reviewset.importers.table.cell_values import read_list, read_option, read_yes_no
from rexview.reviewset.importers.table.column_names import ColumnName
from rexview.reviewset.importers.table.roles import IMAGE_MARK
from rexview.reviewset.importers.table.sheet import MappedRow
from rexview.reviewset.report_text import (
    absent,
    read_age,
    read_context,
    read_sex,
    report_fields,
)
from rexview.vocab import QUESTION_TYPES, normalise_view

EXPECTED_ANSWER: Final = "expected answer"
"""The extra field of a case with the short answer that is right."""
_TAG: Final = "tag_"
_OPTION: Final = "option_"
_PRIOR: Final = frozenset(("prior", "previous", "old", "comparison", "before"))
_PLAIN: Final = ("category", "difficulty", "study_id", "patient_id", "site", "explanation")
_NEXT_OPTION: Final = re.compile(r"(?:^|[\s,;])\(?([A-H])[).:]\s+")


def case_row(row: MappedRow, index_from: int | None) -> dict[str, Any]:
    """Make the row of a case of the cells of one row; what it could not use stays in ``row``.

    ``index_from`` says what the first option is counted as; None when nobody said.
    """
    options = read_options(row)
    told = (row.peek("question_type") or "").strip().lower()
    kind = told if told in QUESTION_TYPES and (told != "choice" or options) else None
    if kind:
        row.take("question_type")
    found: dict[str, Any] = {name: row.take(name) for name in ("question", *_PLAIN)}
    found["question"] = asked(found["question"])
    found |= {
        "question_type": kind or ("choice" if options else None),
        "tags": {
            field.removeprefix(_TAG): read_list(row.take(field))
            for field in row.fields
            if field.startswith(_TAG) and row.peek(field)
        },
        "normal": row.read("normal", read_yes_no),
        **_report_and_context(row),
        EXPECTED_ANSWER: row.take("expected_answer"),
        "images": _images(row),
        "options": options,
        "correct": row.read("correct", lambda text: right_option(text, options, index_from)),
    }
    return {name: value for name, value in found.items() if value not in (None, {}, [])}


def asked(question: str | None) -> str | None:
    """Return a question without the mark that stands for the picture."""
    if question is None or IMAGE_MARK not in question:
        return question
    return question.replace(IMAGE_MARK, "").strip()


def _report_and_context(row: MappedRow) -> dict[str, Any]:
    """Read the report, whole or in columns, the context, and the sections that are neither."""
    apart = {name: row.take(name) for name in ("findings", "impression")}
    fields = report_fields(row.take("report"), **apart)
    return {**fields, "context": fields.get("context", {}) | _context(row)}


def _context(row: MappedRow) -> dict[str, str]:
    found = dict(vars(read_context(row.take("indication"))).items())
    for name, read in (("age", read_age), ("sex", read_sex)):
        found[name] = row.read(name, read) or found[name]
    comparison = row.take("comparison")
    found["comparison"] = found["comparison"] if absent(comparison) else comparison
    return {name: text for name, text in found.items() if text is not None}


def _images(row: MappedRow) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = []
    for field in ("image", "image_2", "image_3"):
        name = ColumnName.of(row.fields.get(field, ""))
        given = row.value(field)
        listed = given if isinstance(given, list) else []
        if listed and all(isinstance(one, Mapping) and "path" in one for one in listed):
            images += [dict(one) for one in listed]
            row.take(field)
            continue
        views = [word for word in name.words if normalise_view(word) != "UNKNOWN"]
        for path in read_list(row.take(field)):
            image: dict[str, Any] = {"path": path}
            if views and field in row.fields and not row.peek("view"):
                image["view"] = views[0]
            if _PRIOR & {*name.words}:
                image["prior"] = True
            images.append(image)
    views = read_list(row.peek("view"))
    if views and len(views) == len(images):
        row.take("view")
        images = [image | {"view": view} for image, view in zip(images, views, strict=True)]
    return images


def read_options(row: MappedRow) -> list[str]:
    """Read the options of a row: a list in one cell, a text with letters, or a column each."""
    own = [row.take(field) for field in row.fields if field.startswith(_OPTION)]
    own = [one for one in own if one is not None]
    if own:
        return [one for one in own if one is not None]
    text = row.take("options")
    listed = read_list(text)
    if text is not None and len(listed) == 1:
        starts = [(one.start(), one[1]) for one in _NEXT_OPTION.finditer(text)]
        letters = [letter for _, letter in starts]
        if letters and letters == list("ABCDEFGH"[: len(letters)]):
            ends = [*[place for place, _ in starts[1:]], len(text)]
            return [text[a:b].strip(" ,;\n") for (a, _), b in zip(starts, ends, strict=True)]
    return listed


def right_option(text: str, options: list[str], index_from: int | None) -> int | None:
    """Return the index of an option that a cell names: by its text, its letter, or its number.

    A number counts only where ``index_from`` says what the first option is counted as.
    """
    plain = text.strip()
    same = [place for place, option in enumerate(options) if option.strip() == plain]
    if same:
        return same[0]
    folded = plain.casefold()
    bare = [
        place
        for place, option in enumerate(options)
        if re.sub(r"^\s*\(?[A-Za-z][).:]\s*", "", option).strip().casefold() == folded
    ]
    if len(bare) == 1:
        return bare[0]
    if not options:
        return None
    if re.fullmatch(r"-?\d+(\.0+)?", plain):
        if index_from is None:
            return None
        place = int(float(plain)) - index_from
        return place if 0 <= place < len(options) else None
    return read_option(plain, len(options))
