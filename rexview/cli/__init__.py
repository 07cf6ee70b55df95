"""``python -m rexview``: a module for each command, which :mod:`.main` joins."""

from rexview.cli.main import main

__all__ = ["main"]
