"""Find entries that do not count, and describe them for the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import select

from rexview.store.database.connection import ReviewsDatabase, open_databases
from rexview.store.database.tables import HISTORY, stored_entry
from rexview.store.database_location import FOLDER_KEY_PREFIX
from rexview.store.merge_databases import OtherDatabase, other_databases
from rexview.store.reviews import Reviews

NoticeKind = Literal["elsewhere", "lost", "changed", "other set"]
_NAMED: Final = 20


@dataclass(frozen=True)
class Notice:
    """A notice to show: ``text`` for everybody, ``details`` for the study lead.

    ``text`` names no person, no model and no path.
    """

    kind: NoticeKind
    text: str
    details: tuple[str, ...] = ()


def find_notices(reviews: Reviews) -> tuple[Notice, ...]:
    """Return all notices about the reviews of a set, usually none. Cheap to call.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    reviews.revision()  # a file is checked when it is opened
    found = (*_damage_notices(reviews.database), _other_database_notice(other_databases(reviews)))
    return tuple(notice for notice in found if notice is not None)


def known_damage() -> tuple[Notice, ...]:
    """Return the damage found so far in the databases that this process has open.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    found: list[Notice | None] = []
    for database in open_databases():
        database.rows(select(HISTORY.c.id).limit(1))  # checks a file that has changed
        found += _damage_notices(database)
    return tuple(notice for notice in found if notice is not None)


def _damage_notices(database: ReviewsDatabase) -> tuple[Notice | None, Notice | None]:
    return _loss_notice(database), _changed_notice(database)


def _loss_notice(database: ReviewsDatabase) -> Notice | None:
    lost = database.newest_lost()
    if lost is None:
        return None
    return Notice(
        "lost",
        "The newest entries are missing from the reviews database: the last one saved "
        f"({lost.at[:16]} UTC) is not in it.",
    )


def _changed_notice(database: ReviewsDatabase) -> Notice | None:
    found = database.changed
    if not found:
        return None
    there = database.rows(select(HISTORY).where(HISTORY.c.id.in_(sorted(found))))
    # others may have corrected or renumbered the row since
    still = {row.id for row in there if row.checksum is None or not stored_entry(row).intact}
    changed = [entry for number, entry in sorted(found.items()) if number in still]
    if not changed:
        return None
    details = [
        f"Entry {one.id}: {one.kind} by {one.person}, case {one.case}, {one.at[:16]} UTC"
        for one in changed[:_NAMED]
    ]
    if len(changed) > _NAMED:
        details.append(f"{len(changed) - _NAMED:,} more")
    text = "1 entry of the reviews database was damaged after it was saved and counts nowhere."
    if len(changed) > 1:
        text = (
            f"{len(changed):,} entries of the reviews database were damaged after they were saved "
            "and count nowhere."
        )
    return Notice("changed", text, tuple(details))


def _other_database_notice(others: Sequence[OtherDatabase]) -> Notice | None:
    if not others:
        return None
    entries = sum(one.entries or 0 for one in others)
    parts = []
    if entries == 1:
        parts.append("1 entry of this review set lies in another database and is not shown.")
    elif entries:
        parts.append(
            f"{entries:,} entries of this review set lie in another database and are not shown."
        )
    if any(one.entries is None for one in others):
        parts.append("Another database of this review set cannot be read.")
    return Notice("elsewhere", " ".join(parts), tuple(str(one.file) for one in others))


def foreign_set_id(reviews: Reviews) -> str | None:
    """Return the id of the other set under which the entries were written, or None."""
    given = reviews.review_set.info.id
    key = reviews.key
    if not reviews.dedicated or given is None or key == given or key.startswith(FOLDER_KEY_PREFIX):
        return None
    written = reviews.database.rows(select(HISTORY.c.id).limit(1))
    return key if written else None
