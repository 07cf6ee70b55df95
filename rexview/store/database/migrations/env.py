"""Alembic's entry point: runs on the connection that :mod:`..migrate` holds, or as SQL text."""

from alembic import context

from rexview.store.database.tables import METADATA, VERSION_TABLE

if context.is_offline_mode():
    context.configure(
        url=context.config.get_main_option("sqlalchemy.url"),
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        literal_binds=True,
    )
else:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
    )
with context.begin_transaction():
    context.run_migrations()
