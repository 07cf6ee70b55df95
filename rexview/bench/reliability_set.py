"""What happens to the folder of a review set while readers score: moved, closed, edited."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, Final

from rexview import reviewset
from rexview.bench.reliability_audit import audit
from rexview.bench.reliability_reader import Reader, readers
from rexview.bench.reliability_server import ScoreServer
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.store import merge_databases, notices, open_best, open_reviews, other_databases
from rexview.store.database import close_databases

_WARM_S: Final = 60.0


@contextmanager
def renamed(server: ScoreServer) -> Iterator[None]:
    """Rename the set's folder; a folder that is made in its place is an error."""
    folder = server.review_set.folder
    elsewhere = folder.rename(folder.with_name("renamed"))
    yield
    if folder.exists():
        raise RuntimeError("the folder was made anew")
    elsewhere.rename(folder)


@contextmanager
def log_removed(server: ScoreServer) -> Iterator[None]:
    """Remove the companions of the SQLite file while the server has it open."""
    for ending in ("-wal", "-shm"):
        server.database.with_name(f"{server.database.name}{ending}").unlink(missing_ok=True)
    yield
    server.kill()  # what is in memory only goes with it
    server.start()


def becoming_writable(folder: Path, scores: int = 50) -> dict[str, Any]:
    """Give scores while the set's folder takes nothing, then while it does, then join all there is.

    Another server, of somebody with another data folder, writes into the set's folder meanwhile,
    so that there are two databases at the end.

    Returns
    -------
    dict
        ``vanished`` counts scores that the pages did not show after the folder took files again,
        ``untold`` is 1 if they did not say so of those in the other database.
    """
    for name in ("here", "there"):
        (folder / name).mkdir(parents=True)
    (person, other) = readers(2)
    server = ScoreServer(folder / "here")
    given = server.review_set
    second = ScoreServer(folder / "there", review_set=given.folder)
    with _data_folder_of(server.folder):
        with Reader(server, person, Random(1)) as reader:  # noqa: S311
            with _closed(given.folder) as is_closed:
                if not is_closed:
                    return {"run": "folder becoming writable: cannot be tried here"}
                with server:
                    _give(reader, scores)
            with server:
                shown = len(server.scores())
                _give(reader, scores)
            vanished = scores - shown + 2 * scores - len(server.scores())
        with second, Reader(second, other, Random(2)) as beside:  # noqa: S311
            _give(beside, scores)
        settings = Settings(review_set=given.folder)
        untold = not any(one.what == "elsewhere" for one in notices(open_reviews(given, settings)))
        best = open_best(given, settings)
        merge_databases(best, [one.file for one in other_databases(best)])
        rows = best.history(kind="score")[::-1]
    found = audit([*reader.given, *beside.given], reader.confirmed | beside.confirmed, rows)
    return {
        "run": "folder becoming writable",
        "scores": 3 * scores,
        "vanished": vanished,
        "untold": int(untold),
        **asdict(found),
        "refused": len(reader.refused) + len(beside.refused),
    }


def _give(reader: Reader, scores: int) -> None:
    for _ in range(scores):
        reader.give()
    reader.wait_saved(_WARM_S)


def set_edited(folder: Path, scores: int = 60) -> dict[str, Any]:
    """Change the set under an open pad: rename models, change the seed and texts of answers.

    Returns
    -------
    dict
        ``wrong_model`` counts scores that stand under another model than the reader scored, or
        under an answer whose text the reader did not see. It has to be 0.
    """
    folder.mkdir(parents=True)
    (person,) = readers(1)
    with (
        ScoreServer(folder) as server,
        Reader(server, person, Random(4)) as reader,  # noqa: S311
    ):
        for edit in (_as_it_was, _other_seed, _other_texts):
            edit(server.review_set.folder)
            _give(reader, scores // 3)
        seen = server.review_set  # as it was when the pad was opened
        texts, before = _texts(reviewset.load(seen.folder)), _texts(seen)
        given = {one.token: (place, one.cell) for place, one in enumerate(reader.given)}
        wrong = 0
        for row in server.scores():
            place, cell = given[row.token]
            answer = (row.case or "", row.model or "")
            edited = place >= 2 * (scores // 3) and texts.get(answer) != before.get(answer)
            wrong += (cell.case, cell.model) != answer or edited
        return {
            "run": "set edited while a pad is open",
            "scores": len(reader.given),
            "wrong_model": wrong,
            "told_or_refused": len(reader.refused) + reader.unsent,
        }


def _texts(review_set: ReviewSet) -> dict[tuple[str, str], str | None]:
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


@contextmanager
def _closed(folder: Path) -> Iterator[bool]:
    """Let a folder take no files; root is kept out by a file system that is read only."""
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
    """Read as the server in that folder does: with its user's data folder."""
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
