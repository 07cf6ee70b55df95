"""Every picture of a set decoded, where that is asked for: what cannot be shown or is unusual."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from rexview.addresses import is_address
from rexview.errors import ImageError, PathEscape
from rexview.reviewset.images import contained, images_folder
from rexview.reviewset.pictures import look_at, remarks
from rexview.reviewset.problems import quoted
from rexview.reviewset.sources import INFO_FILE
from rexview.reviewset.tables.source import TableSource
from rexview.schema import SetInfo


def check_pixels(
    folder: Path, info: SetInfo, of_tables: Iterable[tuple[pl.DataFrame, TableSource]]
) -> None:
    """Warn of pictures that cannot be decoded, that are unusual or have another size than is given.

    ``of_tables`` has what :func:`rexview.reviewset.checks.image_files.check_paths` returned for
    each table, with ``width`` and ``height`` where they are given. Missing files are not its
    business, nor are pictures at an address.
    """
    tables = list(of_tables)
    if is_address(info.images):
        for _, source in tables[:1]:
            message = "The images lie at an address; their pixels were not looked at."
            remedy = "Copy them into a folder to have them checked."
            source.problems.add("warning", INFO_FILE, message, remedy, field="images")
        return
    base = images_folder(folder, info.images)
    files = {path: file for paths, _ in tables for path, file in _files(base, paths["plain"])}
    looked = look_at(list(files.values()))
    for paths, source in tables:
        _report(paths, source, {path: looked[file] for path, file in files.items()})


def _files(base: Path, paths: pl.Series) -> Iterable[tuple[str, Path]]:
    for path in paths.unique(maintain_order=True).to_list():
        try:
            file = contained(base, path)
            if file.is_file():
                yield path, file
        except (PathEscape, OSError, ValueError):
            continue


def _report(paths: pl.DataFrame, source: TableSource, looked: dict[str, object]) -> None:
    from rexview.imaging import ImageFacts

    broken = {path: str(one) for path, one in looked.items() if isinstance(one, ImageError)}
    facts = {path: one for path, one in looked.items() if isinstance(one, ImageFacts)}
    source.report_rows(
        "warning",
        paths.filter(pl.col("plain").is_in(list(broken))),
        lambda row: f"{quoted(row['path'])} cannot be shown: {broken[row['plain']]}",
        "Replace the file by an intact one, or one of another kind.",
        lambda row: str(row["field"]),
    )
    sizes = {path: (one.width, one.height) for path, one in facts.items()}
    given = paths.filter(pl.col("plain").is_in(list(sizes)))
    differ = [
        bool(width and height and (width, height) != sizes[path])
        for path, width, height in given.select("plain", "width", "height").iter_rows()
    ]
    source.report_rows(
        "warning",
        given.filter(pl.Series(differ, dtype=pl.Boolean)),
        lambda row: (
            f"{quoted(row['path'])} has {_size(sizes[row['plain']])} pixels; width and height say "
            f"{_size((row['width'], row['height']))}."
        ),
        "Correct width and height. If its boxes were drawn on a picture of that size, they lie "
        "elsewhere: correct them, too.",
        lambda row: f"{row['field'].removesuffix('.path')}.width",
    )
    unusual: dict[str, dict[str, tuple[str, str]]] = {}
    for path, one in facts.items():
        for kind, message, remedy in remarks(path, one):
            unusual.setdefault(kind, {})[path] = (message, remedy)
    for of_paths in unusual.values():
        said = pl.DataFrame(
            [(path, message) for path, (message, _) in of_paths.items()],
            schema={"plain": pl.String, "said": pl.String},
            orient="row",
        )
        source.report_rows(
            "warning",
            paths.join(said, on="plain", how="inner", maintain_order="left"),
            lambda row: f"{quoted(row['path'])}: {row['said']}",
            next(iter(of_paths.values()))[1],
            lambda row: str(row["field"]),
        )


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"
