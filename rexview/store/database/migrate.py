"""Migrate a reviews database to the version that this code reads and writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

from rexview.errors import StoreNewer
from rexview.store.database.tables import VERSION, VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config

_SCRIPTS: Final = Path(__file__).parent / "migrations"


def version_of(connection: Connection) -> str | None:
    """Return the version of the database, None if it has no tables."""
    return version_at(connection) if inspect(connection).has_table(VERSION_TABLE) else None


def version_at(connection: Connection) -> str | None:
    """Return the version of a database that has its tables; a cheap query."""
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608
    return found.scalar_one_or_none()


def migrate(connection: Connection, *, to: str = VERSION) -> None:
    """Create or migrate the tables inside the caller's transaction, which holds a lock.

    Raises
    ------
    StoreNewer
        A newer rexview made the database; it is left unchanged.
    """
    version = version_of(connection)
    if version == to:
        return
    check_not_newer(version)
    from alembic import command  # slow to import, and seldom needed

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def check_not_newer(version: str | None) -> None:
    """Check that this code knows the version of the database.

    Raises
    ------
    StoreNewer
    """
    if version is not None and version > VERSION:
        raise StoreNewer(
            f"The reviews database is of version {version}, made by a newer rexview; this one "
            f"knows version {VERSION}.",
            "Update rexview on this computer.",
        )


def migration_config() -> Config:
    """Return Alembic's configuration: the folder of the migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
