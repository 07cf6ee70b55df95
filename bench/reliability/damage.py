"""Change bytes of a reviews database: every changed entry must be noticed.

Each file is a copy of one good database with one byte changed, at positions all over the file. The
result of reading it is compared with what was written. It may be right, refused or reported, but
never silently different.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, Final

from bench.reliability.audit import audit
from bench.reliability.reader import OF_ONE_PERSON, Reader, readers
from bench.reliability.server import ScoreServer
from rexview import reviewset
from rexview.errors import StoreError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import (
    Entry,
    Reviews,
    StoredEntry,
    find_notices,
    merge_databases,
    merge_reviews,
    open_best_reviews,
    open_reviews,
    other_databases,
    write_backup,
)
from rexview.store.database.connection import close_databases

_SCORES = 60
_PERSONS = tuple(Person(f"reader-{number}", f"Reader {number}", "lead") for number in (1, 2))


def flip_bytes(folder: Path, files: int, *, seed: int) -> dict[str, Any]:
    """Change a byte in each of many copies of a database and read them all.

    Returns
    -------
    dict
        ``harmless`` counts files that were read without a difference, ``told`` files with entries
        reported as damaged, ``refused`` files that could not be opened. ``unnoticed`` counts files
        with a silent difference, ``tracebacks`` files that caused another kind of error. The last
        two must be 0.
    """
    folder.mkdir(parents=True)
    shutil.copytree(DEMO_FOLDER, folder / "set")
    review_set = reviewset.load_review_set(folder / "set")
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
    """Read a damaged file as pages do; return the kind of result."""
    reviews = open_reviews(review_set, Settings(review_set=review_set.folder))
    try:
        rows = reviews.history()
        merge_reviews(review_set, reviews)
        reviews.comments(), reviews.people(), reviews.assignments()
        for person in _PERSONS:
            reviews.skips(person.id), reviews.revealed(person.id, "models")
        shown = find_notices(reviews)
        write_backup(reviews, copy)
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


def _plain(rows: Sequence[StoredEntry]) -> list[tuple[Any, ...]]:
    names = ("id", "token", "at", "person", "person_name", "kind", "case", "model", "subject")
    more = ("picture", "value", "previous", "via")
    return [tuple(getattr(row, name) for name in (*names, *more)) for row in rows]


# Changes to a review set's folder while readers score: moved, closed, edited.

_WARM_S: Final = 60.0


@contextmanager
def renamed(server: ScoreServer) -> Iterator[None]:
    """Rename the set's folder; creating another in its place is an error."""
    folder = server.review_set.folder
    elsewhere = folder.rename(folder.with_name("renamed"))
    yield
    if folder.exists():
        raise RuntimeError("the folder was made anew")
    elsewhere.rename(folder)


@contextmanager
def log_removed(server: ScoreServer) -> Iterator[None]:
    """Remove the SQLite file's companions while the server has it open."""
    for ending in ("-wal", "-shm"):
        server.database.with_name(f"{server.database.name}{ending}").unlink(missing_ok=True)
    yield
    server.kill()  # data that is only in memory is lost with it
    server.start()


def becoming_writable(folder: Path, entries: int = 50) -> dict[str, Any]:
    """Give entries while the folder is read-only, then while it is writable, then merge all.

    Meanwhile another server, of a user with another data folder, writes into the set's folder, so
    that there are two databases at the end.

    Returns
    -------
    dict
        ``vanished`` counts entries that the pages did not show once the folder was writable,
        ``untold`` is 1 if they did not report those in the other database.
    """
    for name in ("here", "there"):
        (folder / name).mkdir(parents=True)
    (person, other) = readers(2)
    server = ScoreServer(folder / "here")
    given = server.review_set
    second = ScoreServer(folder / "there", review_set=given.folder)
    with _data_folder_of(server.folder):
        with ExitStack() as reading:
            with _closed(given.folder) as is_closed:
                if not is_closed:
                    return {"run": "folder becoming writable: cannot be tried here"}
                # only now: asking for the letters creates a database wherever one can be created
                reader = reading.enter_context(
                    Reader(server, person, Random(1), kinds=OF_ONE_PERSON)  # noqa: S311
                )
                with server:
                    _give(reader, entries)
            with server:
                shown = len(server.entries())
                _give(reader, entries)
            vanished = entries - shown + 2 * entries - len(server.entries())
        with (
            _data_folder_of(second.folder),
            second,
            Reader(second, other, Random(2), kinds=OF_ONE_PERSON) as beside,  # noqa: S311
        ):
            _give(beside, entries)
        settings = Settings(review_set=given.folder)
        untold = not any(
            one.kind == "elsewhere" for one in find_notices(open_reviews(given, settings))
        )
        best = open_best_reviews(given, settings)
        merge_databases(best, [one.file for one in other_databases(best)])
        rows = best.history()[::-1]
    found = audit([*reader.given, *beside.given], reader.confirmed | beside.confirmed, rows)
    return {
        "run": "folder becoming writable",
        "entries": 3 * entries,
        "vanished": vanished,
        "untold": int(untold),
        **asdict(found),
        "refused": len(reader.refused) + len(beside.refused),
    }


def _give(reader: Reader, entries: int) -> None:
    for _ in range(entries):
        reader.give()
    reader.wait_saved(_WARM_S)


def set_edited(folder: Path, scores: int = 60) -> dict[str, Any]:
    """Change the set under an open pad: seed, texts of answers, models added, renamed, removed.

    The reader keeps the pad that was opened first, and sends its entries.

    Returns
    -------
    dict
        ``wrong_model`` counts scores under another model than the reader scored, or under an answer
        whose text the reader did not see. It must be 0. ``not_taken`` counts scores that the server
        refused because the answer had changed: the pad keeps them.
    """
    folder.mkdir(parents=True)
    (person,) = readers(1)
    with (
        ScoreServer(folder) as server,
        Reader(server, person, Random(4), kinds=("score",)) as reader,  # noqa: S311
    ):
        at_hand: dict[str, _Texts] = {}
        for edit in _EDITS:
            edit(server.review_set.folder)
            texts_now = _texts(reviewset.load_review_set(server.review_set.folder))
            for _ in range(scores // len(_EDITS)):
                reader.give()
                at_hand[reader.given[-1].token] = texts_now
            reader.wait_saved(_WARM_S)
        before, rows = _texts(server.review_set), server.scores()  # as when the pad was opened
        accepted = [one for one in reader.given if one.token not in reader.refused]
        cells = {one.token: one.cell for one in accepted}
        found = audit(accepted, reader.confirmed, rows)
        wrong = 0
        for row in rows:
            cell, answer = cells.get(row.token), (row.case or "", row.model or "")
            known = cell is not None and (cell.case, cell.model) == answer
            wrong += not known or at_hand[row.token].get(answer) != before[answer]
        return {
            "run": "set edited while a pad is open",
            "scores": len(reader.given),
            "wrong_model": wrong,
            "not_taken": len(reader.refused),
            **asdict(found),
        }


_Texts = dict[tuple[str, str], str | None]


def _texts(review_set: ReviewSet) -> _Texts:
    rows = review_set.answers.select("case", "model", "text").rows()
    return {(case, model): text for case, model, text in rows}


def _as_it_was(_: Path) -> None:
    pass


def _other_seed(folder: Path) -> None:
    file = folder / "reviewset.yaml"
    text = re.sub(r"(?m)^protocol:(\n[ ]+.*)*\n?", "", file.read_text(encoding="utf-8"))
    file.write_text(f"{text}\nprotocol:\n  seed: 4711\n", encoding="utf-8")


def _other_texts(folder: Path) -> None:
    file = folder / "answers.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("left", "right"), encoding="utf-8")


def _model_added(folder: Path) -> None:
    first = _first_model(folder)
    _edit_answers(
        folder,
        lambda rows: [*rows, *({**row, "model": "added"} for row in rows if row["model"] == first)],
    )


def _model_renamed(folder: Path) -> None:
    first = _first_model(folder)
    _edit_answers(folder, lambda rows: [_named(row, first, "renamed") for row in rows])


def _models_swapped(folder: Path) -> None:
    """Swap the answers of two models: only the names show it."""
    names = sorted({row["model"] for row in _answers(folder)})[-2:]
    swapped = dict(zip(names, reversed(names), strict=True))
    _edit_answers(
        folder,
        lambda rows: [{**row, "model": swapped.get(row["model"], row["model"])} for row in rows],
    )


def _model_removed(folder: Path) -> None:
    first = _first_model(folder)
    _edit_answers(folder, lambda rows: [row for row in rows if row["model"] != first])


_EDITS: Final = (
    _as_it_was,
    _other_seed,
    _model_added,
    _other_texts,
    _model_renamed,
    _models_swapped,
    _model_removed,
)


def _first_model(folder: Path) -> str:
    return str(_answers(folder)[0]["model"])


def _named(row: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {**row, "model": new} if row["model"] == old else row


def _answers(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _edit_answers(
    folder: Path, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    for name in ("scores.csv", "flags.csv"):  # these name models
        (folder / name).unlink(missing_ok=True)
    text = "".join(f"{json.dumps(row)}\n" for row in edit(_answers(folder)))
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")


@contextmanager
def _closed(folder: Path) -> Iterator[bool]:
    """Make a folder read-only; for root, by a read-only file system."""
    if os.geteuid() != 0:
        folder.chmod(0o555)
        try:
            yield True
        finally:
            folder.chmod(0o755)
        return
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        yield False
        return
    name = str(folder)
    commands = ([mount, "--bind", name, name], [mount, "-o", "remount,ro,bind", name])
    done = all(subprocess.run(one, capture_output=True).returncode == 0 for one in commands)  # noqa: S603
    try:
        yield done
    finally:
        subprocess.run([umount, "-l", name], capture_output=True)  # noqa: S603


@contextmanager
def _data_folder_of(folder: Path) -> Iterator[None]:
    """Read like the server in that folder, with its user's data folder."""
    before = os.environ.get("XDG_DATA_HOME")
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    close_databases()
    try:
        yield
    finally:
        close_databases()
        if before is None:
            del os.environ["XDG_DATA_HOME"]
        else:
            os.environ["XDG_DATA_HOME"] = before
