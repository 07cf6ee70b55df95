"""Saving: how users' entries reach the database."""
