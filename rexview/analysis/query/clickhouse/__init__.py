"""The engine whose tables are in ClickHouse: what stays the same there, what people wrote here."""
