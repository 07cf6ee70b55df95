"""Alembic migrations that create and update the reviews database, step by step."""
