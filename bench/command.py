"""``python -m rexview bench NAME``: list and run the benchmarks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

BENCHES: Final = {
    "start": "launch to the first radiograph, beside a plain Streamlit page",
    "viewer": "the viewer and the pages, beside st.image and an empty Streamlit app",
    "filters": "a filter with the counts of its facets, beside pandas and DuckDB",
    "engines": "2,000 filters on ClickHouse and in memory: same answers, and what they cost; long",
    "images": "windowing and decoding, beside pydicom and Pillow",
    "detectors": "how right and how fast failures are found, beside medspaCy",
    "stats": "tables of scores and tests, beside scipy",
    "choices": "multiple choice at ReXVQA's size: import, filters, the page, beside pandas",
    "reports": "the board of report metrics, beside scipy's bootstrap",
    "curation": "coverage and near-duplicates of candidate questions, beside pandas, scikit-learn",
    "written": "failures in words: reading what a judge found, beside its logs line by line",
    "run": "what a run of a model adds to asking, beside openai's client in a loop",
    "exports": "slides, PDF and HTML of 40 cases: time and size, beside reading their films",
    "meeting": "following a meeting: twenty windows, drops, a killed server",
    "team": "twenty people in real browsers at once on one server, beside one alone; memory",
    "failover": "one of two servers behind nginx is killed: seconds until a reader is back",
    "remote": "a film from S3 and from a DICOMweb archive, beside the same one on this disk",
    "reliability": "entries given while servers are killed and disks fill; long",
    "cluster": "the search for failures over Ray, beside our own processes",
    "scale": "opening, filters, search, pages and memory as a set grows",
}
"""What each benchmark measures. Each is a module here whose ``run`` returns a ``Measured``."""
_SIZES: Final = {"start": "cases", "scale": "answers", "choices": "questions"}
"""Units of the sizes, for benchmarks that take sizes."""


def add_bench(commands: Any, path: Callable[[str], Path]) -> None:
    """Add the command ``bench``; ``path`` parses a path of the command line."""
    purpose = "measure this machine, beside other ways to do the same"
    parser = commands.add_parser("bench", help=purpose, description=purpose)
    benches = parser.add_subparsers(title="benches", required=True, metavar="NAME")
    for name, meaning in BENCHES.items():
        one = benches.add_parser(name, help=meaning, description=meaning)
        one.add_argument("--json", action="store_true", help="one JSON object instead of a table")
        one.set_defaults(run=_bench, bench=name, asked=())
        if name == "detectors":
            meaning = "a review set: the share of its newest answers that is flagged, instead"
            one.add_argument("folder", type=path, nargs="?", metavar="FOLDER", help=meaning)
            one.set_defaults(asked=("folder",))
        elif name == "engines":
            one.add_argument("--filters", type=int, metavar="N", help="so many filters; 2,000")
            one.add_argument("--answers", type=int, metavar="N", help="of the made set; 100,000")
            one.set_defaults(asked=("filters", "answers"))
        elif name in _SIZES:
            counted = _SIZES[name]
            meaning = f"sizes of the made sets, in {counted}"
            one.add_argument(f"--{counted}", type=int, nargs="+", metavar="N", help=meaning)
            one.set_defaults(asked=(counted,))
        elif name == "team":
            one.add_argument("--people", type=int, metavar="N", help="how many are there at once")
            one.add_argument("--minutes", type=float, metavar="M", help="for how long")
            one.set_defaults(asked=("people", "minutes"))
    _add_make_set(benches, path)


def _add_make_set(benches: Any, path: Callable[[str], Path]) -> None:
    parser = benches.add_parser("make-set", help="write a made review set of any size")
    parser.set_defaults(run=_make_set)
    parser.add_argument("folder", type=path, metavar="OUT", help="the new folder")
    parser.add_argument("--cases", type=int, required=True, metavar="N", help="how many cases")
    parser.add_argument(
        "--models", type=int, default=2, metavar="M", help="that answer each (default: 2)"
    )
    parser.add_argument(
        "--pictures",
        type=int,
        metavar="K",
        help="draw K small films that the studies share (default: one for each study, 5,000 at "
        "most; 0: pictures have addresses where there is nothing)",
    )
    parser.add_argument(
        "--unscored", action="store_true", help="without readers' scores, verdicts and comments"
    )
    parser.add_argument(
        "--parquet", action="store_true", help="Parquet, as always above 100,000 answers"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="default: 1")


def _make_set(options: argparse.Namespace) -> int:
    from bench.made_set import MadeSet, make_set

    def told(done: int, of: int) -> None:
        if sys.stderr.isatty():
            end = "\r" if done < of else "\n"
            print(f"{done:,} of {of:,} cases", end=end, file=sys.stderr, flush=True)

    made = MadeSet(
        options.cases,
        options.models,
        options.pictures,
        parquet=options.parquet,
        seed=options.seed,
        scored=not options.unscored,
    )
    make_set(made, options.folder, told=told)
    print(f"{made.cases:,} cases, {made.answers:,} answers written.")
    return 0


def _bench(options: argparse.Namespace) -> int:
    from bench.measure import document, text

    given = {name: getattr(options, name) for name in options.asked}
    bench = import_module(f"bench.{options.bench}")
    measured = bench.run(**{name: value for name, value in given.items() if value is not None})
    if options.json:
        print(json.dumps(document(options.bench, measured), indent=1, allow_nan=False))
    else:
        print(text(options.bench, measured))
    return 0
