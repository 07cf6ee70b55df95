"""The example reviews of the demo, a SQLite file: a finished study, and a prepared meeting.

The two readers of the study are those of the set, with the scores that ``scores.csv`` has of them:
no statistic differs with and without the examples.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import polars as pl
import yaml
from sqlalchemy import select

from rexview.analysis.query.memory.study_engine import MemoryStudyEngine
from rexview.analysis.query.study_tasks import find_case_states
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.store import Entry, Reviews, write_backup
from rexview.store.backup import insert_rows, row_columns
from rexview.store.database.connection import ReviewsDatabase
from rexview.store.database.tables import CHECKSUM, HISTORY, checksum

FILE_NAME: Final = "example_reviews.sqlite"
KEY: Final = "rexview-demo"
"""Names the set in the file; it holds no other, so that it serves wherever the demo is."""
_TEXTS: Final = Path(__file__).parent / "texts" / "reviews" / "example.yaml"
_TOKENS: Final = uuid.UUID("5f2f1c52-31d2-4b5e-9a5d-6b1f4c0f7a10")
_VIA: Final = "example"
_ORDERS: Final = {"reader_a": "first", "reader_b": "second"}

Written = tuple[Person, dt.datetime, Entry]
"""Who wrote an entry, and when."""


def write_reviews(folder: Path) -> None:
    """Write the examples beside the tables that are in a folder."""
    review_set = load_review_set(folder)
    texts = yaml.safe_load(_TEXTS.read_text("utf-8"))
    written = sorted(
        [*_study(review_set, texts), *_consensus(texts), *_meeting(texts)], key=lambda one: one[1]
    )
    with tempfile.TemporaryDirectory() as work:
        checked = _open(review_set, Path(work) / "checked.sqlite")
        kept = _open(review_set, Path(work) / "kept.sqlite")
        for person, entries in groupby(written, key=lambda one: one[0]):
            checked.record([entry for _, _, entry in entries], person)
        rows = [row_columns(row) for row in checked.database.rows(select(HISTORY))]
        for number, (row, (_, at, _)) in enumerate(zip(rows, written, strict=True)):
            row |= {"at": at, "token": str(uuid.uuid5(_TOKENS, str(number)))}
            row[CHECKSUM] = checksum(row)
        kept.database.write(lambda to: insert_rows(to, KEY, rows), lock=kept.lock)
        (folder / FILE_NAME).unlink(missing_ok=True)
        write_backup(kept, folder / FILE_NAME)
        checked.database.close()
        kept.database.close()
    with closing(sqlite3.connect(folder / FILE_NAME)) as file:
        file.execute("VACUUM")
    (folder / FILE_NAME).chmod(0o644)


def _open(review_set: ReviewSet, file: Path) -> Reviews:
    return Reviews(ReviewsDatabase(f"sqlite:///{file}"), review_set, KEY, dedicated=True)


def _chair(texts: dict[str, Any]) -> Person:
    return Person(texts["chair"]["id"], texts["chair"]["name"], "lead")


def _study(review_set: ReviewSet, texts: dict[str, Any]) -> Iterator[Written]:
    """Give each reader the cases that they have scored in full, and their scores of these."""
    engine, names = MemoryStudyEngine(review_set), review_set.reader_names
    for reader, order in _ORDERS.items():
        own = review_set.scores.filter(pl.col("reader") == reader)
        states = find_case_states(engine.required(own["case"].unique().to_list()), own, ())
        done = [case for case, state in states.items() if state == "done"]
        for case in sorted(done):
            value = {"as": order, "active": True, "name": names[reader]}
            assign = Entry("assign", case, None, reader, value=value, via=_VIA)
            yield _chair(texts), texts["study"]["assigned"], assign
        for row in own.filter(pl.col("case").is_in(done)).iter_rows(named=True):
            about = row["case"], row["model"], row["dimension"], row["image"]
            value = {"score": row["score"], "comment": row["comment"]}
            entry = Entry("score", *about, value=value, via=_VIA)
            yield Person(reader, names[reader], "reader"), row["created"], entry


def _consensus(texts: dict[str, Any]) -> Iterator[Written]:
    at = texts["study"]["settled"]
    for case, settled in texts["study"]["consensus"].items():
        for one in settled:
            value = {"score": one["score"], "comment": one["comment"]}
            about = case, one["model"], one["dimension"]
            at += dt.timedelta(minutes=4)
            yield _chair(texts), at, Entry("adjudicate", *about, value=value, via=_VIA)


def _meeting(texts: dict[str, Any]) -> Iterator[Written]:
    """Prepare the meeting; what was decided in it follows in the order of its agenda."""
    meeting, chair = texts["meeting"], _chair(texts)
    about = {name: meeting[name] for name in ("name", "held", "minutes")}
    prepared = meeting["prepared"]
    yield chair, prepared, _of_meeting("meeting", meeting, None, about)
    at = meeting["begun"]
    for place, item in enumerate(meeting["agenda"], start=1):
        planned = {"place": place, "section": item["section"], "minutes": item["minutes"]}
        yield chair, prepared, _of_meeting("agenda", meeting, item["case"], planned)
        if "seconds" not in item:
            continue
        if "vote" in item:
            yield chair, at, _of_meeting("vote", meeting, item["case"], item["vote"])
        at += dt.timedelta(seconds=item["seconds"])
        for decision in item["decisions"]:
            value = {name: word for name, word in decision.items() if name != "model"}
            entry = _of_meeting("decide", meeting, item["case"], value, decision["model"])
            yield chair, at, entry
        shown = {"seconds": item["seconds"]}
        yield chair, at, _of_meeting("discussed", meeting, item["case"], shown)


def _of_meeting(
    kind: str, meeting: dict[str, Any], case: str | None, value: Any, model: str | None = None
) -> Entry:
    return Entry(kind, case, model, meeting["id"], value=value, via=_VIA)
