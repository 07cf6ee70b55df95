"""``python -m rexview bench NAME``: which benches there are, and how their rows are printed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, Final

_BENCHES: Final = ("viewer", "queries", "imaging", "detectors", "stats", "reliability")


def add_bench(commands: Any, path: Callable[[str], Path]) -> None:
    """Add the command ``bench``; ``path`` reads a path of the command line."""
    purpose = "measure this machine, side by side"
    parser = commands.add_parser("bench", help=purpose, description=purpose)
    benches = parser.add_subparsers(title="benches", required=True, metavar="NAME")
    for name in _BENCHES:
        one = benches.add_parser(name)
        one.add_argument("--json", action="store_true", help="a JSON list instead of a table")
        one.set_defaults(run=_bench, what=name, folder=None)
        if name == "detectors":
            purpose = "the share of a review set's newest answers that is flagged, instead"
            one.add_argument("folder", type=path, nargs="?", metavar="FOLDER", help=purpose)
    _add_make_set(benches, path)


def _add_make_set(benches: Any, path: Callable[[str], Path]) -> None:
    parser = benches.add_parser("make-set", help="write a made review set of any size")
    parser.set_defaults(run=_make_set)
    parser.add_argument("folder", type=path, metavar="OUT")
    parser.add_argument("--cases", type=int, required=True, metavar="N")
    parser.add_argument("--models", type=int, default=2, metavar="M")
    parser.add_argument(
        "--pictures",
        type=int,
        default=0,
        metavar="K",
        help="draw K small films that the studies share; else pictures lie nowhere",
    )
    parser.add_argument(
        "--parquet", action="store_true", help="Parquet, as always above 100,000 answers"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S")


def _make_set(options: argparse.Namespace) -> int:
    from rexview.bench.made_set import MadeSet, make_set

    def told(done: int, of: int) -> None:
        if sys.stderr.isatty():
            end = "\r" if done < of else "\n"
            print(f"{done:,} of {of:,} cases", end=end, file=sys.stderr, flush=True)

    made = MadeSet(options.cases, options.models, options.pictures, options.parquet, options.seed)
    make_set(made, options.folder, told=told)
    print(f"{made.cases:,} cases, {made.answers:,} answers written.")
    return 0


def _bench(options: argparse.Namespace) -> int:
    bench = import_module(f"rexview.bench.{options.what}")
    rows: list[dict[str, Any]] = bench.run(*([options.folder] if options.folder else []))
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        import pandas as pd

        for _, alike in groupby(rows, key=list):  # a table for each set of columns
            table = pd.DataFrame(list(alike), dtype=object)
            print(table.where(table.notna(), "").to_string(index=False))
        if options.what == "detectors":
            print(f"\n{bench.notes(options.folder)}")
    return 0
