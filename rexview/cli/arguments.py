"""What several commands take."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from rexview.bounded import typed_path
from rexview.errors import FileRefused


def path(text: str) -> Path:
    """Read a path of the command line; what no file can be called is told before anything runs."""
    try:
        return typed_path(text)
    except FileRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


FOLDER: Final[dict[str, Any]] = {"type": path, "metavar": "FOLDER"}
"""A review set, or where one is written."""
