"""Tools for working on rexview; nothing here is needed to run it."""
