"""What an import would make of its sources, found out without writing anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rexview.errors import ImageError, ImportSourceError
from rexview.imaging import thumbnail
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.receipt import Receipt
from rexview.reviewset.importers.core.run import read_sources
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.pictures import headers_only

if TYPE_CHECKING:
    from rexview.reviewset.importers.annotations.box_placement import BoxPreview
    from rexview.reviewset.importers.table.column_mapping import ColumnMapping

_PICTURE_SIDE: Final = 480


@dataclass(frozen=True)
class ImportPreview:
    """What sources were recognised as, and what would be made of them.

    ``mappings`` are those of the tables and ``boxes`` the readings of the boxes, as given or
    proposed; ``pictures`` has small pictures (WebP) by case and image, to draw the boxes on.
    ``groupings`` counts the cases that pictures become, by the ways to group them. ``references``
    are files, or FILE=COLUMN, of which nothing tells which one has the reference, with a text of
    each. ``error`` says why nothing can be imported; what was found out until then is there.
    """

    receipt: Receipt
    mappings: tuple[ColumnMapping, ...]
    boxes: tuple[BoxPreview, ...]
    pictures: Mapping[tuple[str, str], bytes]
    groupings: Mapping[str, int]
    references: tuple[Mapping[str, str], ...]
    error: ImportSourceError | None = None


def preview_source(
    format_id: str,
    sources: Sequence[Path],
    options: Mapping[str, Any],
    *,
    into: Path | None = None,
) -> ImportPreview:
    """Read sources as :func:`.run.import_source` does, and write nothing.

    Pictures are not decoded, so that one which the import will find damaged counts here.
    ``into`` is the folder of the set that they would be added to.
    """
    rows = SetRows("", ProblemLog(), Receipt(format_id))
    log, receipt = rows.log, rows.receipt
    error = None
    pictures: dict[tuple[str, str], bytes] = {}
    try:
        with headers_only():
            read_sources(rows, format_id, sources, options, out=into, into=into is not None)
        rows.to_review_set(Path(), "images/")
        if log.has_errors:
            raise ImportSourceError("The review set cannot be made.", log.problems)
        pictures = dict(_pictures(rows))
        receipt.close(log.problems, log.notes)
    except ImportSourceError as problem:
        error = problem
        receipt.refuse(problem.problems, log.notes)
    finally:
        rows.close()
    return ImportPreview(
        receipt,
        tuple(rows.mappings),
        tuple(rows.box_previews),
        pictures,
        rows.groupings,
        tuple(rows.references),
        error,
    )


def _pictures(rows: SetRows) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield the pictures of the previews of boxes, as far as their files are there."""
    wanted = {(case, image) for one in rows.box_previews for case, image, *_ in one.pictures}
    for case, image in rows.images() if wanted else ():
        path = rows.files.get(image["path"])
        if (case, image["id"]) in wanted and path is not None:
            try:
                yield (case, image["id"]), thumbnail(path, size=_PICTURE_SIDE)
            except ImageError:
                continue  # the import says which picture is broken
