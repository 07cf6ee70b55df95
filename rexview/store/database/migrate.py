"""Migrate a reviews database to the version that this code reads and writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, create_engine, inspect, text

from rexview.errors import StoreNewer
from rexview.store.database.tables import SCHEMA_VERSION, VERSION_TABLE

if TYPE_CHECKING:
    from alembic.config import Config


_SCRIPTS: Final = Path(__file__).parent / "migrations"


def find_schema_version(connection: Connection) -> str | None:
    """Return the version of the database, None if it has no tables."""
    return read_schema_version(connection) if inspect(connection).has_table(VERSION_TABLE) else None


def read_schema_version(connection: Connection) -> str | None:
    """Return the version of a database that has its tables; a cheap query."""
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608
    return found.scalar_one_or_none()


def migrate(connection: Connection, *, to: str = SCHEMA_VERSION) -> None:
    """Create or migrate the tables inside the caller's transaction, which holds a lock.

    Raises
    ------
    StoreNewer
        A newer rexview made the database; it is left unchanged.
    """
    version = find_schema_version(connection)
    if version == to:
        return
    check_not_newer(version)
    if version is None and to == SCHEMA_VERSION and connection.dialect.name == "sqlite":
        for statement in _new_sqlite_file():
            connection.exec_driver_sql(statement)
        return
    _upgrade(connection, to)


def _upgrade(connection: Connection, to: str) -> None:
    from alembic import command  # slow to import, and seldom needed

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


@cache
def _new_sqlite_file() -> tuple[str, ...]:
    """Return the statements that make all tables of a new SQLite file.

    The steps are followed once, in memory: following them takes ten times as long as the statements
    that they come to, and each review set of a server has a file of its own.
    """
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            _upgrade(connection, SCHEMA_VERSION)
            made = connection.exec_driver_sql(
                "SELECT sql FROM sqlite_master "
                "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
            )
            statements = made.scalars().all()
    finally:
        engine.dispose()
    return (*statements, f"INSERT INTO {VERSION_TABLE} VALUES ('{SCHEMA_VERSION}')")  # noqa: S608


def check_not_newer(version: str | None) -> None:
    """Check that this code knows the version of the database.

    Raises
    ------
    StoreNewer
    """
    if version is not None and version > SCHEMA_VERSION:
        raise StoreNewer(
            f"The reviews database is of version {version}, made by a newer rexview; this one "
            f"knows version {SCHEMA_VERSION}.",
            "Update rexview on this computer.",
        )


def migration_config() -> Config:
    """Return Alembic's configuration: the folder of the migrations."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
