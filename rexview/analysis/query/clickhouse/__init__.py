"""The engine for large sets: unreviewed cases are in ClickHouse, reviewed cases in memory."""
