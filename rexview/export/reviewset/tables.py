"""The tables of an exported review set: the rows of its cases, with pseudonyms where asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.answer_digest import digests_of
from rexview.columns import TABLES
from rexview.export.privacy import IdKind
from rexview.export.records import Whole
from rexview.schema import ReviewSet
from rexview.vocab import counted

_IDS: Final[Mapping[str, IdKind]] = {"study_id": "study", "patient_id": "patient", "site": "site"}
_STALE: Final = tuple(
    name for name in frames.TABLES if f"stale_{name}" in ReviewSet.__dataclass_fields__
)


def _closed(name: str) -> frozenset[str]:
    """Return the columns of a table that have words of ours only, also those of its records."""
    every = [part for column in TABLES[name].columns for part in (column, *column.fields)]
    words = {part.name for part in every if part.kind == "word" and not part.open_vocabulary}
    return frozenset(words | {"view", "finish_reason"})


_CLOSED: Final = {name: _closed(name) for name in TABLES}


@dataclass(frozen=True)
class _New:
    """What is called otherwise in the new set: pictures by path, models by id."""

    whole: Whole
    pictures: Mapping[str, str]
    models: Mapping[str, str]

    def text(self, text: str) -> str:
        if text in self.models:
            return self.models[text]
        return self.whole.hidden.text(text) if self.whole.hidden else text


def exported(
    whole: Whole, pictures: Mapping[str, str], models: Mapping[str, str]
) -> tuple[ReviewSet, list[str]]:
    """Return the cases of an export as a set of their own, and what is to be said of it.

    Parameters
    ----------
    whole : Whole
    pictures : mapping
        The new name of each picture by its path in the set.
    models : mapping
        The new id of each model that has another one: a path on a disk is none.
    """
    there, new = whole.review_set, _New(whole, pictures, models)
    order = pl.DataFrame({"case": list(whole.cases)}, schema={"case": pl.String})
    notes = []
    tables: dict[str, Any] = {}
    for name in frames.TABLES:
        key = "id" if name == "cases" else "case"
        given: pl.DataFrame = getattr(there, name)
        if name == "scores" and there.unfinished.height:
            more = there.unfinished.join(order, on="case", how="semi")
            if more.height:
                given = pl.concat([given, more])
                count = counted(more.height, "score")
                notes.append(
                    f"{count} of cases that their reader has not finished are in the new set, "
                    "where they count."
                )
        tables[name] = _renamed(name, _of_cases(given, order, key), new)
        if name in _STALE:
            stale: pl.DataFrame = getattr(there, f"stale_{name}")
            tables[f"stale_{name}"] = _renamed(name, _of_cases(stale, order, key), new)
    named = tuple(
        replace(model, id=models.get(model.id, model.id), name=models.get(model.name, model.name))
        for model in there.info.models
    )
    info = replace(there.info, id=None, images="images/", models=named)
    if whole.hidden:
        info = whole.hidden.everywhere(info)
    made = replace(there, info=info, unfinished=there.unfinished.clear(), **tables)
    return made, notes


def with_digests_of(written: ReviewSet, made: ReviewSet) -> ReviewSet:
    """Give rows that are of the answers as they are the digests that these have in the new set.

    ``written`` is the new set as its files have it. Rows of earlier answers keep theirs.
    """
    digests = digests_of(written)
    changed: dict[str, Any] = {}
    for name in frames.TABLES:
        rows: pl.DataFrame = getattr(made, name)
        if not rows.height:
            continue
        for column, model in _digest_columns(rows):
            pairs = list(rows.select("case", model).iter_rows())
            found = digests.of_all((case, one) for case, one in pairs if one is not None)
            new = pl.Series(column, [found.get(pair) for pair in pairs], dtype=pl.String)
            had = rows[column].is_not_null()
            rows = rows.with_columns(pl.when(had).then(pl.coalesce(new, column)).alias(column))
        changed[name] = rows
    return replace(made, **changed)


def _digest_columns(rows: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the columns that hold digests, and those that name their models."""
    columns = {"answer_digest": "model", "first_digest": "first", "second_digest": "second"}
    return [(name, model) for name, model in columns.items() if {name, model} <= set(rows.columns)]


def _of_cases(rows: pl.DataFrame, order: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the rows of some cases; cases themselves in the order of the export."""
    if key == "id":
        return order.rename({"case": "id"}).join(rows, on="id", how="left", maintain_order="left")
    return rows.join(order, on=key, how="semi", maintain_order="left")


def _renamed(name: str, rows: pl.DataFrame, new: _New) -> pl.DataFrame:
    """Put the new names of pictures and models into rows, and pseudonyms."""
    if rows.is_empty() or not (new.whole.hidden or new.models or "images" in rows.columns):
        return rows.select(rows.columns)
    changed = [_row(name, row, new) for row in rows.iter_rows(named=True)]
    return pl.DataFrame(changed, schema=rows.schema)


def _row(table: str, row: dict[str, Any], new: _New) -> dict[str, Any]:
    case_id = row["id"] if "reference_boxes" in row else row["case"]
    if images := row.get("images"):
        row["images"] = [
            {**image, "path": new.pictures.get(image["path"], image["path"])}
            if isinstance(image, dict)
            else new.pictures.get(image, image)
            for image in images
        ]
    hidden = new.whole.hidden
    if hidden is None and not new.models:
        return row
    found: dict[str, Any] = _walk(row, new.text, _CLOSED[table])
    if hidden is None:
        return found
    case = new.whole.review_set.case(case_id)
    ids = {image.id: f"image-{at}" for at, image in enumerate(case.images if case else (), 1)}
    _name_images(row, found, ids)
    found["id" if "reference_boxes" in row else "case"] = hidden.of("case", case_id)
    for name, kind in _IDS.items():
        if row.get(name) is not None:
            found[name] = hidden.of(kind, row[name])
    if "extra" in found:
        found["extra"] = None  # whatever it is, it may name somebody
    return found


def _name_images(row: Mapping[str, Any], found: dict[str, Any], ids: Mapping[str, str]) -> None:
    """Give images the ids that exports call them by: their own are often names of files."""
    for name in ("images", "boxes", "reference_boxes"):
        field = "id" if name == "images" else "image"
        for given, new in zip(row.get(name) or (), found.get(name) or (), strict=True):
            if isinstance(given, dict) and given[field] is not None:
                new[field] = ids.get(given[field], new[field])
    on, new_on = row.get("on"), found.get("on")
    if isinstance(on, dict) and isinstance(new_on, dict) and on["image"] is not None:
        new_on["image"] = ids.get(on["image"], new_on["image"])


def _walk(value: Any, change: Callable[[str], str], closed: frozenset[str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walk(one, change, closed) for one in value]
    if isinstance(value, dict):
        return {
            name: one if name in closed else _walk(one, change, closed)
            for name, one in value.items()
        }
    return value
