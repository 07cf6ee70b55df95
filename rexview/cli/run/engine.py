"""``--engine ray``: the work of a command is spread over a cluster, until it ends or is ended."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from rexview.untrusted_input import printable
from rexview.vocab import noun

if TYPE_CHECKING:
    from rexview.spread.workers import Spread

ENDED = 130
"""Exit status of a command that was ended by Ctrl-C or a signal."""


def add_engine(parser: Any) -> None:
    """Add what says where a command does its work."""
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
def engine(options: argparse.Namespace) -> Iterator[Spread | None]:
    """Return where the work is spread, None for this process and those that it begins.

    On a cluster SIGTERM ends the work as Ctrl-C does: it is taken back from there, and
    ``KeyboardInterrupt`` goes on.

    Raises
    ------
    ClusterError
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
            has = f"{processors:,} {noun(processors, 'processor')}"
            words = f"The cluster has {has}: so many workers, not {options.workers:,}."
            print(printable(words), file=sys.stderr)
        yield cluster


def tell_ended(words: str) -> int:
    """Say what is left of work that was ended; return the exit status."""
    print(printable(f"Ended. {words}"), file=sys.stderr)
    return ENDED


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
