"""The reviews database: connection, tables, migrations and integrity checks."""
