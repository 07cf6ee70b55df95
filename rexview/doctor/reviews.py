"""Whether the database of what people write is reached, of which version it is, and writable."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.errors import StoreBusy, StoreNewer, StoreUnreachable
from rexview.vocab import counted

_CONNECT_S: Final = 4.0
_APART_S: Final = 5.0
"""So far apart clocks may be before that is said, in seconds."""
_PORT: Final = 5432


def look_at_reviews(known: Known) -> Iterator[Said]:
    """Look at the reviews database as it is; it is not made and not brought up to date."""
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


def _look_at(url: str, about: str) -> Iterator[Said]:
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


def _version(found: str | None, known: str, about: str) -> Said:
    if found is None:
        return ok(about, "reached, empty: its tables are made with the first entry")
    if found < known:
        return note(
            about,
            f"It is reached and writable, of version {found}, older than this rexview ({known}).",
            "It is brought up to date when the server starts: make a backup before.",
        )
    return ok(about, f"reached, writable, of version {found} as this rexview")


def _why_away(url: str, error: StoreUnreachable, about: str) -> Said | None:
    """Tell a server that is not there from one that lets this app not in; None where neither is so.

    The address itself is never said: it may hold a password.
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
    """Whether it was not the connection that failed: a server that refuses something has a code."""
    from sqlalchemy import exc

    cause = error.__cause__
    return not isinstance(cause, exc.DBAPIError) or bool(getattr(cause.orig, "sqlstate", None))


def told_clock(about: str, clock: datetime) -> Said:
    """Compare another computer's clock (with its zone) with the one here."""
    apart = abs((datetime.now(UTC) - clock).total_seconds())
    if apart < _APART_S:
        return ok(about, "as the one here")
    return wrong(
        about,
        f"It differs from the one here by {apart:,.0f} s: sign-ins end too early or too late.",
        "Let both computers set their clocks from the same source (NTP).",
    )
