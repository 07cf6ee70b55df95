"""A review set of some cases: what was given and what people wrote, together, as files.

Everything that has a table is in it: scores, flags, edits, choices, comments, decisions and the
rest. What has none (consensus, assignments, agendas) stays in the reviews and is named in a note.
Files of pictures are written anew without what else stands in them, under plain names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexview.errors import ImageError, PathEscape
from rexview.export.job import Progress
from rexview.export.records import Content, Whole
from rexview.export.reviewset.clean_files import clean_file
from rexview.export.reviewset.tables import exported, with_digests_of
from rexview.reviewset import image_path, load
from rexview.reviewset.write import copy_beside, write_tables

_IMAGES: Final = "images"
_WITHOUT_TABLE: Final = {
    "adjudicate": "scores agreed on",
    "assign": "assignments",
    "skip": "cases left out by a reader",
    "reveal": "records of what a reader was shown",
    "written_failure": "failures in words",
    "written_validation": "answers read for a failure in words",
    "written_mark": "answers marked with a failure in words",
    "meeting": "meetings",
    "agenda": "cases on agendas",
    "presenter_note": "presenter's notes",
    "discussed": "cases shown in meetings",
    "vote": "votes",
}
"""Kinds of entries that no table of a set has, and what they are called."""


def write(content: Content, out: Path, progress: Progress) -> None:
    """Write the review set into an empty folder.

    Raises
    ------
    ExportCancelled
    """
    whole = content.whole()
    names = _write_pictures(content, whole, out / _IMAGES, progress)
    models = _other_ids(content, whole)
    made, notes = exported(whole, names, models)
    copy_beside(made, out)
    write_tables(made, out, "jsonl", f"{_IMAGES}/")
    if whole.hidden or models or made.answers["images"].list.len().sum():
        # a digest is of an answer as it stands in the new set: model, words and pictures
        made = with_digests_of(load(out), made)
        for table in out.glob("*.jsonl"):
            table.unlink()
        write_tables(made, out, "jsonl", f"{_IMAGES}/")
    for sentence in notes:
        progress.note(sentence)
    _note_left(whole, progress)


def _other_ids(content: Content, whole: Whole) -> dict[str, str]:
    """Return the id that a model has in exports, of each where it is another one."""
    both = zip(whole.review_set.models, content.models, strict=True)
    return {given.id: shown.id for given, shown in both if given.id != shown.id}


def _write_pictures(
    content: Content, whole: Whole, folder: Path, progress: Progress
) -> dict[str, str]:
    """Write the pictures of all cases; return their new names by their paths in the set."""
    folder.mkdir()
    names: dict[str, str] = {}
    for made in progress.over(content):
        real = whole.cases[made.number - 1]
        case = whole.review_set.case(real)
        of_study = [image.path for image in case.images] if case else []
        returned = [path for one in whole.review_set.answers_of(real) for path in one.images]
        repeats = [
            path
            for one in whole.review_set.answers_of(real)
            for other in whole.review_set.repeats_of(real, one.model)
            for path in other.images
        ]
        for path in (*of_study, *returned, *repeats):
            if path in names:
                continue
            stem = f"{made.number:04d}-{len(names) + 1:04d}"
            try:
                names[path] = clean_file(image_path(whole.review_set, path), folder / stem).name
            except (ImageError, PathEscape, OSError):
                names[path] = f"{stem}.png"
                progress.note("Pictures that cannot be read are named in the set, but not in it.")
            progress.check()
    return names


def _note_left(whole: Whole, progress: Progress) -> None:
    """Say which entries are in no table."""
    cases = set(whole.cases)
    left = []
    for kind, words in _WITHOUT_TABLE.items():
        rows = [
            row
            for row in whole.reviews.current(kind)
            if row.value is not None and (row.case is None or row.case in cases)
        ]
        if rows:
            left.append(f"{len(rows):,} {words}")
    if left:
        where = "but kept with the reviews (python -m rexview backup)"
        progress.note(f"Not in the new set, {where}: {', '.join(left)}.")
