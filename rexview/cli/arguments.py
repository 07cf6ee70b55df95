"""How a command is added, and what several of them take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rexview.addresses import is_address, set_folder
from rexview.errors import AddressRefused, FileRefused, SettingsError
from rexview.settings import load_settings
from rexview.untrusted_input import typed_path


def new_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], purpose: str
) -> argparse.ArgumentParser:
    """Add a command that is begun by ``run``; ``purpose`` says what it does."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(run=run)
    return parser


def path(text: str) -> Path:
    """Read a path of the command line; what no file can be called is told before anything runs."""
    if is_address(text):
        why = "This is an address. It takes a path of this computer: copy the set into a folder."
        raise argparse.ArgumentTypeError(why)
    try:
        return typed_path(text)
    except FileRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def set_path(text: str) -> Path:
    """Read a path, or the address of a review set, of which the tables come into a folder."""
    if not is_address(text):
        return path(text)
    try:
        return set_folder(text, load_settings().cache_folder)
    except (AddressRefused, SettingsError) as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def confirm_server(options: argparse.Namespace) -> None:
    """Note that whoever typed ``--base-url`` lets that server be asked, now and later.

    A dry run sends nothing and confirms nothing: pages make one for an estimate.

    Raises
    ------
    SettingsError
        It cannot be noted.
    """
    typed = getattr(options, "base_url", None)
    if not typed or getattr(options, "dry_run", False):
        return
    from rexview.models.backend import AttemptFailed
    from rexview.models.endpoints.servers import confirm, read_address

    with suppress(AttemptFailed):  # the command says what is wrong with the address
        try:
            confirm(read_address(typed))
        except OSError as error:
            why = f"That you confirmed {typed} cannot be noted: {error.strerror or error}."
            raise SettingsError(why) from None


BASE_URL: Final[dict[str, Any]] = {
    "metavar": "URL",
    "help": "of the server, which it confirms for later, too; OpenAI's where none is given",
}
"""The server that a model is asked at."""
FOLDER: Final[dict[str, Any]] = {"type": path, "metavar": "FOLDER"}
"""A folder of a review set that is written to, or is to be made."""
OWN_SET: Final[dict[str, Any]] = {
    **FOLDER,
    "metavar": "SET",
    "help": "the review set, which the results are kept in",
}
"""The folder of a review set that is asked about, and added to."""
SET: Final[dict[str, Any]] = {
    "type": set_path,
    "metavar": "SET",
    "help": "a review set: its folder, or its address",
}
"""A review set that is read: its folder, or its address."""
