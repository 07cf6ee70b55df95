"""Bytes of a reviews database are changed: every entry that differs has to be noticed.

Each file is a copy of one good database with one byte changed, all over the file. What a reader of
it gets is compared with what was written: right, refused or told it may be; another value without a
word it must not be.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from rexview import reviewset
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import Entry, Reviews, Stored, backup, merged, notices, open_reviews
from rexview.store.database.connection import close_databases

_SCORES = 60
_PERSONS = tuple(Person(f"reader-{number}", f"Reader {number}", "lead") for number in (1, 2))


def flip_bytes(folder: Path, files: int, *, seed: int) -> dict[str, Any]:
    """Change a byte in each of many copies of a database and read them all.

    Returns
    -------
    dict
        ``harmless`` counts files from which everything was read as it was written, ``told`` those
        of which entries were named as damaged, ``refused`` those that were not opened;
        ``unnoticed`` those that gave something else without a word, ``tracebacks`` those that
        ended in an error of another kind. The last two have to be 0.
    """
    folder.mkdir(parents=True)
    shutil.copytree(DEMO_FOLDER, folder / "set")
    review_set = reviewset.load(folder / "set")
    reviews = open_reviews(review_set, Settings(review_set=review_set.folder))
    _fill(reviews, _SCORES)
    written = _plain(reviews.history())
    file = reviews.database.file
    if file is None:
        raise RuntimeError("the set has no file of its own")
    close_databases()
    content, random = file.read_bytes(), Random(seed)  # noqa: S311
    counts = dict.fromkeys(("harmless", "told", "refused", "unnoticed", "tracebacks"), 0)
    errors: list[str] = []
    for number in range(files):
        damaged = bytearray(content)
        at = random.randrange(len(content))
        damaged[at] ^= random.randrange(1, 256)
        file.write_bytes(damaged)
        try:
            counts[_read(review_set, written, folder / f"backup-{number}")] += 1
        except Exception:
            counts["tracebacks"] += 1
            errors.append(traceback.format_exc(limit=-3))
        close_databases()
    return {"run": "a byte changed in the file", "files": files, **counts, "errors": errors[:3]}


def _fill(reviews: Reviews, scores: int) -> None:
    rows = reviews.review_set.answers.select("case", "model").rows()
    for number in range(scores):
        case, model = rows[number % len(rows)]
        value = {"score": number % 5 + 1, "comment": f"Comment {number} on the left side."}
        entry = Entry("score", case, model, "process", value=value)
        reviews.record([entry], _PERSONS[number % 2])
    case, _ = rows[0]
    about = {"text": "Look here.", "on": {"what": "case"}, "reply_to": None}
    reviews.record([Entry("comment", case, None, "k1", value=about)], _PERSONS[0])


def _read(review_set: ReviewSet, written: Sequence[Any], copy: Path) -> str:
    """Do with a damaged file all that pages do; say what came of it."""
    reviews = open_reviews(review_set, Settings(review_set=review_set.folder))
    try:
        rows = reviews.history()
        merged(review_set, reviews)
        reviews.comments(), reviews.people(), reviews.assignments()
        for person in _PERSONS:
            reviews.skips(person.id), reviews.revealed(person.id, "models")
        shown = notices(reviews)
        backup(reviews, copy)
        copy.unlink()
    except StoreError:
        return "refused"
    if _plain(rows) == written:
        return "told" if shown else "harmless"
    given = {row.id: row for row in rows}
    named = set(reviews.database.changed)
    for number, before in enumerate(written, start=1):
        row = given.get(len(written) + 1 - number)
        if (row is None or _plain([row]) != [before]) and len(written) + 1 - number not in named:
            return "unnoticed"
    return "told" if named else "unnoticed"


def _plain(rows: Sequence[Stored]) -> list[tuple[Any, ...]]:
    names = ("id", "token", "at", "person", "person_name", "kind", "case", "model", "subject")
    more = ("picture", "value", "previous", "via")
    return [tuple(getattr(row, name) for name in (*names, *more)) for row in rows]
