"""The database: connection, tables, migrations, whether it is whole."""
