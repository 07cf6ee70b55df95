"""Check that no entry is lost: a real server is killed, stopped, and its disk filled.

Simulated readers give scores, verdicts, comments and consensus through the real HTTP route. They
keep unconfirmed entries, as a browser does (:mod:`bench.reliability.reader`). Each row gives the
number of wrong entries in the database at the end, which must be 0. Below it, each run lists the
entries given, the messages shown, and each kind of error. There is no alternative to compare with.
These are long runs: the test suite has short ones, and some with a page in a browser
(``tests/bench/reliability``, ``tests/browser``).
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

from bench.measure import Measured, Row, at_most, result
from bench.reliability.audit import Audit, SentEntry, audit
from bench.reliability.damage import (
    becoming_writable,
    flip_bytes,
    log_removed,
    renamed,
    set_edited,
)
from bench.reliability.reader import (
    FROM_PAGES,
    KINDS,
    OF_ONE_PERSON,
    Reader,
    hold_meeting,
    readers,
)
from bench.reliability.server import ScoreServer

ENTRIES: Final = 500
READERS: Final = 20
EACH: Final = 50
PEOPLE: Final = 8
"""Number of readers who comment, judge failures and decide at once."""
LOCKED_S: Final = 15.0
HELD_S: Final = 25.0
"""Longer than a pad waits for an answer."""
_PATIENCE_S: Final = 300.0
_KEPT_AT_MOST: Final = 12
"""Unsaved entries at which the reader of :func:`killed` waits, so that kills hit requests."""
_WARM_S: Final = 60.0
_LESS_THAN_AN_ENTRY: Final = 4000
"""Bytes: an entry needs more in the database's log, which is emptied after each."""
FLIPPED: Final = 400
"""Number of files in which a byte is changed."""


_WRONG: Final = (
    *(one.name for one in fields(Audit)),
    *("refused", "vanished", "untold", "wrong_model", "crashes"),
)
"""Counts that must be 0 in a run, if the run has them."""
_WRONG_OF_FILES: Final = ("unnoticed", "tracebacks")
"""The same for damaged files; refusing one is right."""


def run() -> Measured:
    """Run all checks."""
    runs = list(_runs())
    return Measured([_outcome(one) for one in runs], {one["run"]: [one] for one in runs})


def _outcome(one: Mapping[str, Any]) -> Row:
    counted = [name for name in (_WRONG_OF_FILES if "files" in one else _WRONG) if name in one]
    if not counted:
        return result(one["run"], None, "entries", note="not measured here")
    wrong = sum(one[name] for name in counted)
    given = next(f"{one[name]} {name}" for name in ("entries", "scores", "files") if name in one)
    return result(f"wrong at the end: {one['run']}", wrong, "entries", goal=at_most(0), note=given)


def _runs() -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rexview-bench-")))
        yield killed(folder / "killed", ENTRIES, seed=1)
        yield many_readers(folder / "readers", READERS, EACH)
        yield many_readers(folder / "people", PEOPLE, EACH, kinds=FROM_PAGES)
        for name, fault in (("locked", locked), ("held", held), ("full", full)):
            yield with_fault(folder / name, name, fault)
        yield with_fault(folder / "renamed", "folder renamed", renamed)
        yield with_fault(folder / "log", "-wal removed while running", log_removed, told=False)
        yield set_edited(folder / "edited")
        yield becoming_writable(folder / "writable")
        yield flip_bytes(folder / "flipped", FLIPPED, seed=1)
        server = stack.enter_context(_postgres())
        if server is None:
            yield {"run": "PostgreSQL: no server here, not measured"}
            return
        yield many_readers(folder / "postgres", READERS, EACH, server.new_database("readers"))
        address = server.new_database("people")
        yield many_readers(folder / "decided", PEOPLE, EACH, address, kinds=FROM_PAGES)
        address = server.new_database("away")

        @contextmanager
        def away(_: ScoreServer) -> Iterator[None]:
            server.stop(crash=True)
            yield
            server.start()

        yield with_fault(folder / "away", "PostgreSQL stopped", away, address)


def killed(
    folder: Path,
    entries: int,
    *,
    seed: int,
    longest_up_s: float = 1.0,
) -> dict[str, Any]:
    """Kill the server at random moments while a reader gives entries of all kinds.

    Parameters
    ----------
    folder : Path
        Created for the server's files.
    entries : int
    seed : int
        Seed for the times of entries and kills.
    longest_up_s : float
        Seconds after the start of saving within which the server is killed; every third time the
        kill follows the start, while the server opens the set and its database.

    Returns
    -------
    dict
        ``in_flight`` counts kills during a request, ``unconfirmed`` entries that a killed server
        had written but not confirmed.
    """
    folder.mkdir(parents=True)
    random, moments = Random(seed), Random(seed + 1)  # noqa: S311
    begun = time.monotonic()
    kills = in_flight = unconfirmed = 0
    gone: set[str] = set()
    (person,) = readers(1)
    with (
        ScoreServer(folder) as server,
        Reader(server, person, random, longest_wait_s=1.0) as reader,
    ):
        giving = Thread(target=_give, args=(reader, entries, random))
        giving.start()
        while giving.is_alive():
            so_far = len(reader.confirmed)
            if kills % 3:
                reader.wait_confirmed(so_far + 1, _WARM_S)
            time.sleep(moments.uniform(0.0, longest_up_s))
            was_confirmed = set(reader.confirmed)
            in_flight += reader.in_flight
            server.kill()
            kills += 1
            time.sleep(0.1)
            stored = {row.token for row in server.entries()}
            gone |= was_confirmed - stored
            unconfirmed += len(stored - reader.confirmed)
            server.start()
        giving.join()
        reader.wait_saved(_PATIENCE_S)
        found = audit(reader.given, reader.confirmed, server.entries())
        return {
            "run": "server killed (SIGKILL)",
            **_counts(reader.given),
            "kills": kills,
            "in_flight": in_flight,
            "unconfirmed": unconfirmed,
            "seconds": round(time.monotonic() - begun),
            **_wrong(found, reader, len(gone)),
        }


def _give(reader: Reader, entries: int, random: Random) -> None:
    for _ in range(entries):
        reader.give()
        time.sleep(random.uniform(0.0, 0.08))
        reader.wait(lambda unsent: unsent < _KEPT_AT_MOST, _PATIENCE_S)


def many_readers(
    folder: Path,
    count: int,
    each: int,
    database_url: str | None = None,
    *,
    kinds: Sequence[str] = OF_ONE_PERSON,
) -> dict[str, Any]:
    """Let many readers give entries of some kinds at once, each as fast as possible."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        server = stack.enter_context(ScoreServer(folder, database_url=database_url))
        if "decide" in kinds:
            for person in readers(count):
                hold_meeting(server, person)
        every = [
            stack.enter_context(
                Reader(server, person, Random(number), kinds=kinds)  # noqa: S311
            )
            for number, person in enumerate(readers(count))
        ]
        begun = time.monotonic()

        def give(reader: Reader) -> None:
            for _ in range(each):
                reader.give()
                reader.wait_saved(_PATIENCE_S)

        threads = [Thread(target=give, args=(reader,)) for reader in every]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - begun
        given = [one for reader in every for one in reader.given]
        confirmed = {token for reader in every for token in reader.confirmed}
        rows = [row for row in server.entries() if row.kind in kinds]
        found = audit(given, confirmed, rows)
        seconds = sorted(value for reader in every for value in reader.seconds)
        return {
            "run": f"{count} readers at once on {'PostgreSQL' if database_url else 'SQLite'}"
            + (": comments, verdicts, decisions" if "decide" in kinds else ""),
            **_counts(given),
            "seconds": round(took),
            "median_ms": round(_percentile(seconds, 0.5)),
            "p95_ms": round(_percentile(seconds, 0.95)),
            "slowest_ms": round(_percentile(seconds, 1.0)),
            "errors_shown": sum(len(reader.messages) for reader in every),
            "told": sorted({text for reader in every for text in reader.messages}),
            **asdict(found),
            "refused": sum(len(reader.refused) for reader in every),
            "crashes": sum(reader.crashes for reader in every),
        }


def with_fault(
    folder: Path,
    name: str,
    fault: Callable[[ScoreServer], Any],
    database_url: str | None = None,
    entries: int = 20,
    *,
    told: bool = True,
) -> dict[str, Any]:
    """Give entries before, during and after a fault; return counts and the reader's messages.

    ``told`` is False for faults without a message, as everything is saved during them.
    """
    folder.mkdir(parents=True)
    begun = time.monotonic()
    (person,) = readers(1)
    with (
        ScoreServer(folder, database_url=database_url) as server,
        Reader(server, person, Random(3)) as reader,  # noqa: S311
    ):
        reader.give()
        reader.wait_saved(_WARM_S)
        with fault(server):
            for _ in range(entries):
                reader.give()
            if told:
                reader.wait(lambda _: bool(reader.messages), _WARM_S)
            else:
                reader.wait_saved(_WARM_S)
            kept = reader.unsent
        reader.give()
        reader.wait_saved(_PATIENCE_S)
        found = audit(reader.given, reader.confirmed, server.entries())
        return {
            "run": name,
            **_counts(reader.given),
            "kept": kept,
            "told": " / ".join(dict.fromkeys(reader.messages)) or "nothing",
            "seconds": round(time.monotonic() - begun),
            **_wrong(found, reader, 0),
        }


@contextmanager
def locked(server: ScoreServer, seconds: float = LOCKED_S) -> Iterator[None]:
    """Hold the write lock on the server's SQLite file, from another program."""
    with closing(sqlite3.connect(server.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        yield
        time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
        other.execute("ROLLBACK")


@contextmanager
def held(server: ScoreServer, seconds: float = HELD_S) -> Iterator[None]:
    """Stop the server process: connections are accepted, but not answered."""
    server.hold()
    begun = time.monotonic()
    yield
    time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    server.let_go()


@contextmanager
def full(server: ScoreServer) -> Iterator[None]:
    """Limit the server's files to their current size, like an exhausted quota."""
    server.limit_files(_LESS_THAN_AN_ENTRY)
    yield
    server.limit_files(None)


def _counts(given: Sequence[SentEntry]) -> dict[str, int]:
    counts = Counter(one.cell.kind for one in given)
    kinds = (*KINDS, *("decide",) * ("decide" in counts))
    return {"entries": len(given), **{kind: counts[kind] for kind in kinds}}


def _wrong(found: Audit, reader: Reader, gone: int) -> dict[str, int]:
    return {
        **asdict(found),
        "lost": max(found.lost, gone),
        "refused": len(reader.refused),
        "crashes": reader.crashes,
    }


def _percentile(ordered: list[float], part: float) -> float:
    """Return a percentile of sorted seconds, in ms."""
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] * 1000 if ordered else 0.0


@contextmanager
def _postgres() -> Iterator[Any]:
    """Run a PostgreSQL server; yield None if none is available, or no checkout to start it from."""
    try:
        from tools.postgres import PostgresServer, ServerMissing
    except ImportError:
        yield None
        return
    try:
        server = PostgresServer()
    except ServerMissing:
        yield None
        return
    with server:
        yield server
