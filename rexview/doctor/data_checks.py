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

from rexview.addresses import Address, address_of_set, shown_set
from rexview.doctor.finding import CheckContext, FindingFields, note, ok, wrong
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
from rexview.vocab import counted


def look_at_set(known: CheckContext) -> Iterator[FindingFields]:
    """Read the review set like ``check``; nothing is stored."""
    folder = known.settings.review_set
    about, check = "set", f"Run: python -m rexview check {shown_set(folder)}"
    try:
        if address_of_set(folder) is not None:  # reading it would copy its tables to this disk
            known.opened.set_result(None)
            yield note(about, "It lies elsewhere and was not read; see storage.", check)
            return
        from rexview.reviewset import checked

        review_set, problems = checked(folder)
        errors = sum(problem.severity == "error" for problem in problems)
        told = counted(errors, "error"), counted(len(problems) - errors, "warning")
        cases = review_set.cases.height if review_set else 0
        known.opened.set_result(review_set)
        if errors:
            yield wrong(about, f"{told[0]}, {told[1]}; it cannot be opened.", check)
        elif cases == 0:
            yield note(about, "It has no cases.", "Import some: docs/importing.md.")
        elif problems:
            yield note(about, f"{counted(cases, 'case')}, {told[1]}", check)
        else:
            yield ok(about, f"{counted(cases, 'case')}, no problems")
        if known.settings.database_url and review_set and not review_set.info.id:
            yield note(
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


def look_at_reviews(known: CheckContext) -> Iterator[FindingFields]:
    """Check the reviews database as it is; it is neither created nor upgraded."""
    from rexview.reviewset import without_cases
    from rexview.store.database.connection import Database
    from rexview.store.location import location_of

    url = known.settings.database_url
    about = "database"
    if url is None:
        if not known.settings.review_set.is_dir():
            yield note(about, "Not looked at: without its set nothing says which it is.")
            return
        url = location_of(without_cases(known.settings.review_set), known.settings).url
        file = Database(url).file
        if file is not None and not file.exists():
            beside = "beside the set" if file.parent == known.settings.review_set else "for you"
            yield ok(about, f"none yet: a file {beside} is made with the first entry")
            return
    yield from _look_at(url, about)


def _look_at(url: str, about: str) -> Iterator[FindingFields]:
    from rexview.store.database.connection import check_database as look_at
    from rexview.store.database.tables import VERSION

    try:
        looked = look_at(url)
    except StoreNewer as error:
        yield wrong(about, error.message, error.remedy)
        return
    except StoreBusy as error:
        yield note(about, error.message, error.remedy)
        return
    except StoreUnreachable as error:
        yield _why_away(url, error, about) or wrong(about, error.message, error.remedy)
        return
    yield _version(looked.version, VERSION, about)
    if looked.changed:
        said = f"{counted(looked.changed, 'entry')} damaged after saving; they count nowhere."
        yield wrong(about, said, "Restore a backup: python -m rexview restore (docs/reviews.md).")
    if looked.clock is not None:
        yield told_clock("its clock", looked.clock)


def _version(found: str | None, known: str, about: str) -> FindingFields:
    if found is None:
        return ok(about, "reached, empty: its tables are made with the first entry")
    if found < known:
        return note(
            about,
            f"It is reached and writable, of version {found}, older than this rexview ({known}).",
            "It is brought up to date when the server starts: make a backup before.",
        )
    return ok(about, f"reached, writable, of version {found} as this rexview")


def _why_away(url: str, error: StoreUnreachable, about: str) -> FindingFields | None:
    """Return whether a server is absent or refuses this app; None if neither.

    The address itself is never printed: it may contain a password.
    """
    from sqlalchemy import make_url

    if _was_let_in(error):
        return None
    parts = make_url(url)
    if not parts.host or parts.get_backend_name() == "sqlite":
        return None
    try:
        socket.create_connection((parts.host, parts.port or _PORT), timeout=_CONNECT_S).close()
    except TimeoutError:
        said = "The computer that database_url names does not answer."
        return wrong(about, said, "Check its name and port, and that no firewall is in between.")
    except OSError:
        said = "Nothing answers where database_url points."
        return wrong(about, said, "Check that the database server runs, and its name and port.")
    return wrong(
        about,
        "Something answers where database_url points, but no database lets this app in.",
        "Check user, password (PGPASSWORD), name of the database and who may connect to it.",
    )


def _was_let_in(error: StoreUnreachable) -> bool:
    """Whether the connection worked: a server that refuses something reports a code."""
    from sqlalchemy import exc

    cause = error.__cause__
    return not isinstance(cause, exc.DBAPIError) or bool(getattr(cause.orig, "sqlstate", None))


def told_clock(about: str, clock: datetime) -> FindingFields:
    """Compare another computer's clock (with its zone) with the one here."""
    apart = abs((datetime.now(UTC) - clock).total_seconds())
    if apart < _APART_S:
        return ok(about, "as the one here")
    return wrong(
        about,
        f"It differs from the one here by {apart:,.0f} s: sign-ins end too early or too late.",
        "Let both computers set their clocks from the same source (NTP).",
    )


# The engine: whether it answers and has the set as in its files.


def look_at_engine(known: CheckContext) -> Iterator[FindingFields]:
    """Ask ClickHouse for the set, if it is the engine; no table is created."""
    from rexview.analysis.query.clickhouse.database import database_at
    from rexview.analysis.query.clickhouse.loading import read_shown_version as shown
    from rexview.analysis.query.clickhouse.loading import shown_version
    from rexview.reviewset import fingerprint, without_cases
    from rexview.store.location import set_key

    engine, about = known.settings.engine, "tables"
    load = "Load it: python -m rexview load SET"
    if engine == MEMORY:
        yield ok(about, "in the memory of each server, no ClickHouse")
        return
    parts = urlsplit(engine)
    if parts.scheme == "chdb" and not Path(unquote(parts.path)).is_dir():  # asking would create it
        yield wrong(about, "The folder of chDB is not there.", load)
        return
    if not known.settings.review_set.is_dir():
        yield note(about, "Not asked: without its set nothing says what to look for.")
        return
    name = set_key(without_cases(known.settings.review_set))
    database = database_at(engine)
    if not shown_version(database, name):
        yield wrong(about, "They answer, but this set is not in them.", load)
        return
    try:
        manifest = shown(database, name)
    except SetNotLoaded as error:
        yield wrong(about, error.message, error.remedy)
        return
    told = f"{counted(manifest.n_cases, 'case')}, {counted(manifest.n_answers, 'answer')}"
    if manifest.fingerprint == fingerprint(known.settings.review_set).partition("-")[0]:
        yield ok(about, f"reached; the set is loaded: {told}")
    else:
        yield note(about, f"The set's files have changed since it was loaded ({told}).", load)


# Remote pictures and sets: whether they can be fetched, tried with one picture of each storage.


def look_at_storage(known: CheckContext) -> Iterator[FindingFields]:
    """Ask each storage of the set that ``remote_hosts`` allows, and no other."""
    settings = known.settings
    own = address_of_set(settings.review_set)
    if own is not None:
        yield _listed(own)
    review_set = known.opened.result()
    asked: set[str] = set()
    for address in _pictures(review_set) if review_set else ():
        asked.add(address.origin)
        yield _picture(address, own, known)
    for host in settings.remote_hosts:
        if host.origin not in asked and review_set is not None:
            asked.add(host.origin)
            yield ok(host.origin, "not asked: no picture of this set lies there")
    if own is None and review_set is None and settings.remote_hosts:
        yield note("pictures", "Not asked: the set was not read.")
    elif not asked and own is None:
        yield ok("pictures", "all on this computer")


def _pictures(review_set: ReviewSet) -> Iterator[Address]:
    """Yield the cases' first picture at each storage."""
    from rexview.reviewset.image_files import paths_of_cases
    from rexview.reviewset.images import picture_address

    seen: set[str] = set()
    origin = pl.col("path").str.extract(r"^([A-Za-z][A-Za-z0-9+.\-]+://[^/]*)").fill_null("")
    paths = paths_of_cases(review_set.cases).unique(origin, keep="first", maintain_order=True)
    for path in paths["path"]:
        try:
            address = picture_address(review_set, path)
        except PathEscape:  # the check of the set reports it
            continue
        if address is not None and address.origin not in seen:
            seen.add(address.origin)
            yield address


def _picture(address: Address, own: Address | None, known: CheckContext) -> FindingFields:
    from rexview.remote.pictures import check_allowed, fetch, unreadable
    from rexview.remote.web import Sink

    about = address.origin
    if cannot := unreadable(address.scheme):
        return wrong(about, *cannot)
    try:
        check_allowed(address, own, known.settings)
        with tempfile.TemporaryFile() as file:
            sink = Sink(file)
            fetch(address, "", sink)
    except StorageError as error:
        return wrong(about, str(error))
    except PathEscape as error:
        return wrong(about, str(error), "Correct the address in the table of cases.")
    return ok(about, f"reached: a picture of {sink.size / 1e6:,.1f} MB was fetched")


def _listed(own: Address) -> FindingFields:
    from rexview.remote import s3
    from rexview.remote.pictures import asking

    try:
        with asking(own):
            found = s3.listed(own, 1, deep=False)
    except StorageError as error:
        return wrong(own.origin, str(error))
    if not found.objects and not found.folders:
        return wrong(own.origin, "It has no files of this set.", "Check the address of the set.")
    return ok(own.origin, "reached: the files of the set can be listed")
