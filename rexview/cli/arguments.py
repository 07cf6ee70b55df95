"""Add commands, and options that several share: sets, servers and ``--engine ray``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from rexview.addresses import is_address, remote_set_folder
from rexview.errors import AddressRefused, FileRefused, SettingsError
from rexview.settings import load_settings
from rexview.untrusted_input import printable_text, read_typed_path
from rexview.vocab import english_noun

if TYPE_CHECKING:
    from rexview.spread.workers import WorkerProvider


def new_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], purpose: str
) -> argparse.ArgumentParser:
    """Add a command that calls ``run``; ``purpose`` is its description."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    parser.set_defaults(run=run)
    return parser


def parse_path(text: str) -> Path:
    """Parse a path of the command line; invalid file names are rejected before anything runs."""
    if is_address(text):
        why = "This is an address. It takes a path of this computer: copy the set into a folder."
        raise argparse.ArgumentTypeError(why)
    try:
        return read_typed_path(text)
    except FileRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def parse_set_path(text: str) -> Path:
    """Parse a path, or the address of a review set, whose tables are copied into a folder."""
    if not is_address(text):
        return parse_path(text)
    try:
        return remote_set_folder(text, load_settings().cache_folder)
    except (AddressRefused, SettingsError) as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def confirm_typed_server(options: argparse.Namespace) -> None:
    """Remember that the user allows the server typed as ``--base-url``, now and later.

    A dry run sends nothing and confirms nothing: pages use one for estimates.

    Raises
    ------
    SettingsError
        The confirmation cannot be stored.
    """
    typed = getattr(options, "base_url", None)
    if not typed or getattr(options, "dry_run", False):
        return
    from rexview.models.backend import AttemptFailed
    from rexview.models.endpoints.server_addresses import (
        check_base_url,
        confirm_server_address,
    )

    with suppress(AttemptFailed):  # the command itself reports a wrong address
        try:
            confirm_server_address(check_base_url(typed))
        except OSError as error:
            why = f"That you confirmed {typed} cannot be noted: {error.strerror or error}."
            raise SettingsError(why) from None


BASE_URL_ARGUMENT: Final[dict[str, Any]] = {
    "metavar": "URL",
    "help": "of the server, which it confirms for later, too; OpenAI's where none is given",
}
"""Option for the server of a model."""
FOLDER_ARGUMENT: Final[dict[str, Any]] = {"type": parse_path, "metavar": "FOLDER"}
"""Option for a folder of a review set that is written to, or will be created."""
OWN_SET_ARGUMENT: Final[dict[str, Any]] = {
    **FOLDER_ARGUMENT,
    "metavar": "SET",
    "help": "the review set, which the results are kept in",
}
"""Option for the folder of a review set that is read and added to."""
SET_ARGUMENT: Final[dict[str, Any]] = {
    "type": parse_set_path,
    "metavar": "SET",
    "help": "a review set: its folder, or its address",
}
"""Option for a review set that is read: its folder, or its address."""


# ``--engine ray``: run a command's work on a cluster, until it ends or is interrupted.

INTERRUPTED = 130
"""Exit status of a command interrupted by Ctrl-C or a signal."""


def add_engine(parser: Any) -> None:
    """Add the options for where a command does its work."""
    group = parser.add_argument_group("several machines")
    where = "where it is done: on this machine (local), or spread over Ray (docs/deploy.md)"
    group.add_argument("--engine", choices=("local", "ray"), default="local", help=where)
    address = "HOST:PORT of the cluster's head, or auto; without it a Ray on this machine"
    group.add_argument("--address", metavar="ADDRESS", help=address)
    workers = "how many workers; one for each processor without it, and at most"
    group.add_argument("--workers", type=_count, metavar="N", help=workers)
    parser.set_defaults(parser=parser)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


@contextmanager
def open_engine(options: argparse.Namespace) -> Iterator[WorkerProvider | None]:
    """Yield where the work runs; None for this process and its child processes.

    On a cluster SIGTERM ends the work like Ctrl-C does: the work is withdrawn there, and
    ``KeyboardInterrupt`` is raised.

    Raises
    ------
    ClusterError
        The cluster cannot be used.
    """
    if options.engine == "local":
        for name in ("address", "workers"):
            if getattr(options, name) is not None:
                options.parser.error(f"--{name} is for --engine ray")
        yield None
        return
    from rexview.spread.ray_cluster import RayCluster

    with RayCluster(options.address, options.workers) as cluster, _sigterm_as_ctrl_c():
        if processors := cluster.fewer_processors():
            has = f"{processors:,} {english_noun(processors, 'processor')}"
            words = f"The cluster has {has}: so many workers, not {options.workers:,}."
            print(printable_text(words), file=sys.stderr)
        yield cluster


def print_interrupted(words: str) -> int:
    """Report what remains after an interruption; return the exit status."""
    print(printable_text(f"Ended. {words}"), file=sys.stderr)
    return INTERRUPTED


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
