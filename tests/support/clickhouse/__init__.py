"""ClickHouse for tests."""
