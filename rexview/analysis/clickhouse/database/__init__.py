"""Talking to ClickHouse: a server by HTTP, or chDB, the same engine inside this process."""
