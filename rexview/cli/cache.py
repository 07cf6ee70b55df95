"""``python -m rexview cache``: what is kept on disk to save time."""

from __future__ import annotations

import argparse
from typing import Any

from rexview.cli.arguments import new_command
from rexview.kept_files import KINDS, told
from rexview.untrusted_input import printable


def add_cache(commands: Any) -> None:
    """Add the command ``cache``."""
    purpose = "say what is kept on disk to save time, and how much"
    parser = new_command(commands, "cache", _cache, purpose)
    kinds = ("all", *KINDS)
    clear = "remove it, or one kind of it"
    parser.add_argument("--clear", nargs="?", const="all", choices=kinds, help=clear)


def _cache(options: argparse.Namespace) -> int:
    from rexview.settings import load_settings

    for line in told(load_settings(), options.clear):
        print(printable(line))
    return 0
