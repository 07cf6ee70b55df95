"""Exports as tables: CSV, Excel, Parquet, made of the same rows."""
