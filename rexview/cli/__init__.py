"""``python -m rexview``: one module for each command; :mod:`.main` combines them."""

from rexview.cli.main import main

__all__ = ["main"]
