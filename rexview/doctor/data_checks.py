"""Check the data: the review set, the reviews database, the engine and picture storage."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import polars as pl

from rexview.addresses import RemoteAddress, display_set, remote_set_address
from rexview.doctor.finding import (
    CheckContext,
    CheckFields,
    note_finding,
    ok_finding,
    wrong_finding,
)
from rexview.errors import (
    PathEscape,
    SetNotLoaded,
    StorageError,
    StoreBusy,
    StoreNewer,
    StoreUnreachable,
)
from rexview.schema import ReviewSet
from rexview.settings import MEMORY
from rexview.vocab import english_count


def check_set(known: CheckContext) -> Iterator[CheckFields]:
    """Read the review set like ``check``; nothing is stored."""
    folder = known.settings.review_set
    about, check = "set", f"Run: python -m rexview check {display_set(folder)}"
    try:
        if remote_set_address(folder) is not None:  # reading it would copy its tables to this disk
            known.opened.set_result(None)
            yield note_finding(about, "It lies elsewhere and was not read; see storage.", check)
            return
        from rexview.reviewset import load_with_problems

        review_set, problems = load_with_problems(folder)
        errors = sum(problem.severity == "error" for problem in problems)
        told = english_count(errors, "error"), english_count(len(problems) - errors, "warning")
        cases = review_set.cases.height if review_set else 0
        known.opened.set_result(review_set)
        if errors:
            yield wrong_finding(about, f"{told[0]}, {told[1]}; it cannot be opened.", check)
        elif cases == 0:
            yield note_finding(about, "It has no cases.", "Import some: docs/importing.md.")
        elif problems:
            yield note_finding(about, f"{english_count(cases, 'case')}, {told[1]}", check)
        else:
            yield ok_finding(about, f"{english_count(cases, 'case')}, no problems")
        if known.settings.database_url and review_set and not review_set.info.id:
            yield note_finding(
                "id",
                "It has none: reviews in the database go by the path of the set's folder.",
                "Give it an id in reviewset.yaml before anybody scores.",
            )
    finally:
        if not known.opened.done():
            known.opened.set_result(None)


# The reviews database: whether it is reachable and writable, and its version.

_CONNECT_S: Final = 4.0
_APART_S: Final = 5.0
"""Difference between clocks that is reported, in seconds."""
_PORT: Final = 5432


def check_reviews(known: CheckContext) -> Iterator[CheckFields]:
    """Check the reviews database as it is; it is neither created nor upgraded."""
    from rexview.reviewset import load_info_only
    from rexview.store.database.connection import ReviewsDatabase
    from rexview.store.database_location import find_location

    url = known.settings.database_url
    about = "database"
    if url is None:
        if not known.settings.review_set.is_dir():
            yield note_finding(about, "Not looked at: without its set nothing says which it is.")
            return
        url = find_location(load_info_only(known.settings.review_set), known.settings).url
        file = ReviewsDatabase(url).file
        if file is not None and not file.exists():
            beside = "beside the set" if file.parent == known.settings.review_set else "for you"
            yield ok_finding(about, f"none yet: a file {beside} is made with the first entry")
            return
    yield from _check_database(url, about)


def _check_database(url: str, about: str) -> Iterator[CheckFields]:
    from rexview.store.database.connection import check_database as look_at
    from rexview.store.database.tables import SCHEMA_VERSION

    try:
        looked = look_at(url)
    except StoreNewer as error:
        yield wrong_finding(about, error.message, error.remedy)
        return
    except StoreBusy as error:
        yield note_finding(about, error.message, error.remedy)
        return
    except StoreUnreachable as error:
        yield _connection_problem(url, error, about) or wrong_finding(
            about, error.message, error.remedy
        )
        return
    yield _version(looked.version, SCHEMA_VERSION, about)
    if looked.changed:
        said = f"{english_count(looked.changed, 'entry')} damaged after saving; they count nowhere."
        yield wrong_finding(
            about, said, "Restore a backup: python -m rexview restore (docs/reviews.md)."
        )
    if looked.clock is not None:
        yield compare_clock("its clock", looked.clock)


def _version(found: str | None, known: str, about: str) -> CheckFields:
    if found is None:
        return ok_finding(about, "reached, empty: its tables are made with the first entry")
    if found < known:
        return note_finding(
            about,
            f"It is reached and writable, of version {found}, older than this rexview ({known}).",
            "It is brought up to date when the server starts: make a backup before.",
        )
    return ok_finding(about, f"reached, writable, of version {found} as this rexview")


def _connection_problem(url: str, error: StoreUnreachable, about: str) -> CheckFields | None:
    """Return whether a server is absent or refuses this app; None if neither.

    The address itself is never printed: it may contain a password.
    """
    from sqlalchemy import make_url

    if _is_connected(error):
        return None
    parts = make_url(url)
    if not parts.host or parts.get_backend_name() == "sqlite":
        return None
    try:
        socket.create_connection((parts.host, parts.port or _PORT), timeout=_CONNECT_S).close()
    except TimeoutError:
        said = "The computer that database_url names does not answer."
        return wrong_finding(
            about, said, "Check its name and port, and that no firewall is in between."
        )
    except OSError:
        said = "Nothing answers where database_url points."
        return wrong_finding(
            about, said, "Check that the database server runs, and its name and port."
        )
    return wrong_finding(
        about,
        "Something answers where database_url points, but no database lets this app in.",
        "Check user, password (PGPASSWORD), name of the database and who may connect to it.",
    )


def _is_connected(error: StoreUnreachable) -> bool:
    """Whether the connection worked: a server that refuses something reports a code."""
    from sqlalchemy import exc

    cause = error.__cause__
    return not isinstance(cause, exc.DBAPIError) or bool(getattr(cause.orig, "sqlstate", None))


def compare_clock(about: str, clock: datetime) -> CheckFields:
    """Compare another computer's clock (with its zone) with the one here."""
    apart = abs((datetime.now(UTC) - clock).total_seconds())
    if apart < _APART_S:
        return ok_finding(about, "as the one here")
    return wrong_finding(
        about,
        f"It differs from the one here by {apart:,.0f} s: sign-ins end too early or too late.",
        "Let both computers set their clocks from the same source (NTP).",
    )


# The engine: whether it answers and has the set as in its files.


def check_engine(known: CheckContext) -> Iterator[CheckFields]:
    """Ask ClickHouse for the set, if it is the engine; no table is created."""
    from rexview.analysis.query.clickhouse.database import database_at
    from rexview.analysis.query.clickhouse.loading import find_current_version_id
    from rexview.analysis.query.clickhouse.loading import read_current_version as shown
    from rexview.reviewset import fingerprint, load_info_only
    from rexview.store.database_location import set_key

    engine, about = known.settings.engine, "tables"
    load = "Load it: python -m rexview load SET"
    if engine == MEMORY:
        yield ok_finding(about, "in the memory of each server, no ClickHouse")
        return
    parts = urlsplit(engine)
    if parts.scheme == "chdb" and not Path(unquote(parts.path)).is_dir():  # asking would create it
        yield wrong_finding(about, "The folder of chDB is not there.", load)
        return
    if not known.settings.review_set.is_dir():
        yield note_finding(about, "Not asked: without its set nothing says what to look for.")
        return
    name = set_key(load_info_only(known.settings.review_set))
    database = database_at(engine)
    if not find_current_version_id(database, name):
        yield wrong_finding(about, "They answer, but this set is not in them.", load)
        return
    try:
        manifest = shown(database, name)
    except SetNotLoaded as error:
        yield wrong_finding(about, error.message, error.remedy)
        return
    told = (
        f"{english_count(manifest.n_cases, 'case')}, {english_count(manifest.n_answers, 'answer')}"
    )
    if manifest.fingerprint == fingerprint(known.settings.review_set).partition("-")[0]:
        yield ok_finding(about, f"reached; the set is loaded: {told}")
    else:
        yield note_finding(
            about, f"The set's files have changed since it was loaded ({told}).", load
        )


# Remote pictures and sets: whether they can be fetched, tried with one picture of each storage.


def check_storage(known: CheckContext) -> Iterator[CheckFields]:
    """Ask each storage of the set that ``remote_hosts`` allows, and no other."""
    settings = known.settings
    own = remote_set_address(settings.review_set)
    if own is not None:
        yield _check_listing(own)
    review_set = known.opened.result()
    asked: set[str] = set()
    for address in _pictures(review_set) if review_set else ():
        asked.add(address.origin)
        yield _check_picture(address, own, known)
    for host in settings.remote_hosts:
        if host.origin not in asked and review_set is not None:
            asked.add(host.origin)
            yield ok_finding(host.origin, "not asked: no picture of this set lies there")
    if own is None and review_set is None and settings.remote_hosts:
        yield note_finding("pictures", "Not asked: the set was not read.")
    elif not asked and own is None:
        yield ok_finding("pictures", "all on this computer")


def _pictures(review_set: ReviewSet) -> Iterator[RemoteAddress]:
    """Yield the cases' first picture at each storage."""
    from rexview.reviewset.image_checks import case_image_paths
    from rexview.reviewset.image_paths import remote_image_address

    seen: set[str] = set()
    origin = pl.col("path").str.extract(r"^([A-Za-z][A-Za-z0-9+.\-]+://[^/]*)").fill_null("")
    paths = case_image_paths(review_set.cases).unique(origin, keep="first", maintain_order=True)
    for path in paths["path"]:
        try:
            address = remote_image_address(review_set, path)
        except PathEscape:  # the check of the set reports it
            continue
        if address is not None and address.origin not in seen:
            seen.add(address.origin)
            yield address


def _check_picture(
    address: RemoteAddress, own: RemoteAddress | None, known: CheckContext
) -> CheckFields:
    from rexview.remote.http_storage import DownloadSink
    from rexview.remote.remote_pictures import (
        check_allowed,
        fetch_file,
        unreadable_reason,
    )

    about = address.origin
    if cannot := unreadable_reason(address.scheme):
        return wrong_finding(about, *cannot)
    try:
        check_allowed(address, own, known.settings)
        with tempfile.TemporaryFile() as file:
            sink = DownloadSink(file)
            fetch_file(address, "", sink)
    except StorageError as error:
        return wrong_finding(about, str(error))
    except PathEscape as error:
        return wrong_finding(about, str(error), "Correct the address in the table of cases.")
    return ok_finding(about, f"reached: a picture of {sink.size / 1e6:,.1f} MB was fetched")


def _check_listing(own: RemoteAddress) -> CheckFields:
    from rexview.remote import s3
    from rexview.remote.remote_pictures import storage_turn

    try:
        with storage_turn(own):
            found = s3.list_objects(own, 1, deep=False)
    except StorageError as error:
        return wrong_finding(own.origin, str(error))
    if not found.objects and not found.folders:
        return wrong_finding(
            own.origin, "It has no files of this set.", "Check the address of the set."
        )
    return ok_finding(own.origin, "reached: the files of the set can be listed")
