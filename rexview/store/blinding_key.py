"""The secret behind the letters that replace model names for blinded readers.

A set's secret is made once, in a transaction of its own, by the first server that needs it: reading
it can create the database. Backups contain it, exports do not. It must reach neither a browser nor
a log.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, insert, select

from rexview.errors import StoreUnreachable
from rexview.store.database.connection import ReviewsDatabase
from rexview.store.database.tables import SECRETS

_KEY_BYTES: Final = 32


def read_blinding_key(database: ReviewsDatabase, key: str, *, lock: str) -> bytes:
    """Return the set's secret, 32 bytes; make it if there is none.

    ``key`` names the set in the database.

    It is made under the lock that everybody who writes to the set takes.

    Raises
    ------
    StoreUnreachable, StoreBusy, StoreFull
        There is no secret yet and it cannot be stored, or it was changed. No letters are given that
        would change later.
    """
    asked = select(SECRETS.c.letters).where(SECRETS.c.review_set == key)
    for row in database.rows(asked):
        return _key_of(row.letters)

    def make(connection: Connection) -> str:
        found = connection.execute(asked).scalar_one_or_none()
        if found is None:
            made = secrets.token_hex(_KEY_BYTES)
            found = made + _check_digits(made)
            connection.execute(insert(SECRETS).values(review_set=key, letters=found))
        return str(found)

    return _key_of(database.write(make, lock=lock))


def _check_digits(letters: str) -> str:
    return hashlib.sha256(letters.encode("utf-8", "replace")).hexdigest()[:8]


def _key_of(kept: str) -> bytes:
    """Return the secret without its check digits; a changed secret would change every letter."""
    letters, check = kept[: 2 * _KEY_BYTES], kept[2 * _KEY_BYTES :]
    if check != _check_digits(letters):
        raise StoreUnreachable(
            "What names the answers of this study in its reviews database is damaged.",
            "Restore a backup (python -m rexview restore).",
        )
    return bytes.fromhex(letters)


def first_blinding_key(keys: Mapping[str, str], names: Iterable[str]) -> str | None:
    """Return the first secret, in hexadecimal digits, stored under one of the names."""
    return next((keys[name] for name in names if name in keys), None)


def adopt_blinding_key(
    connection: Connection, key: str, letters: str | None, *, replaces: bool = False
) -> None:
    """Store a secret from another database as that of the set ``key``.

    ``letters`` are hexadecimal digits; None changes nothing. With ``replaces`` an existing secret
    is replaced. Without it, the existing secret stays, since open score pads use its letters.
    """
    if letters is None:
        return
    of_set = SECRETS.c.review_set == key
    if replaces:
        connection.execute(SECRETS.delete().where(of_set))
    elif connection.execute(select(SECRETS.c.letters).where(of_set)).first() is not None:
        return
    connection.execute(insert(SECRETS).values(review_set=key, letters=letters))
