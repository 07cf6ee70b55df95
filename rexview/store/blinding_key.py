"""The secret that keys the letters under which answers stand for those who must not know the model.

It is made once for a set, by whichever server asks first, in a transaction of its own: asking can
make the database. Backups hold it; exports do not, and it must reach neither a browser nor a log.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, insert, select

from rexview.errors import StoreUnreachable
from rexview.store.database.connection import Database
from rexview.store.database.tables import SECRETS

_KEY_BYTES: Final = 32


def letter_key(database: Database, key: str, *, lock: str) -> bytes:
    """Return the secret, 32 bytes, of the set that ``key`` names in the database.

    It is made under the lock that everybody who writes to the set holds.

    Raises
    ------
    StoreUnreachable, StoreBusy, StoreFull
        There is none yet and it cannot be kept, or it was changed: letters that would change later
        are not given.
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
    """Return the secret behind its digits; a changed one would give every answer another letter."""
    letters, check = kept[: 2 * _KEY_BYTES], kept[2 * _KEY_BYTES :]
    if check != _check_digits(letters):
        raise StoreUnreachable(
            "What names the answers of this study in its reviews database is damaged.",
            "Restore a backup (python -m rexview restore).",
        )
    return bytes.fromhex(letters)


def first_letter_key(keys: Mapping[str, str], names: Iterable[str]) -> str | None:
    """Return the first secret, in hexadecimal digits, that is kept under one of the names."""
    return next((keys[name] for name in names if name in keys), None)


def adopt_letter_key(
    connection: Connection, key: str, letters: str | None, *, replaces: bool = False
) -> None:
    """Keep a secret of another database as that of the set ``key``, with its entries.

    ``letters`` are in hexadecimal digits; None leaves what there is. With ``replaces`` it takes the
    place of a secret that is there; else that one stays, as it names the letters of the pads that
    are open.
    """
    if letters is None:
        return
    of_set = SECRETS.c.review_set == key
    if replaces:
        connection.execute(SECRETS.delete().where(of_set))
    elif connection.execute(select(SECRETS.c.letters).where(of_set)).first() is not None:
        return
    connection.execute(insert(SECRETS).values(review_set=key, letters=letters))
