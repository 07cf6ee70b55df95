"""``python -m rexview load``: put a review set into the tables on ClickHouse."""

from __future__ import annotations

import argparse
from typing import Any

from rexview.cli.arguments import FOLDER, new_command
from rexview.cli.output import shower
from rexview.cli.scanning import scan, with_own_metrics
from rexview.untrusted_input import printable
from rexview.vocab import counted


def add_load(commands: Any) -> None:
    """Add the command ``load``."""
    purpose = "load a review set into ClickHouse, for a server with REXVIEW_ENGINE=clickhouse://..."
    parser = new_command(commands, "load", _load, purpose)
    parser.add_argument("folder", **FOLDER, help="the review set")
    where = "clickhouse://user@host:port/database; by default that of REXVIEW_ENGINE"
    parser.add_argument("--engine", metavar="ADDRESS", help=where)
    again = "load it also where the tables have these files already"
    parser.add_argument("--again", action="store_true", help=again)


def _load(options: argparse.Namespace) -> int:
    from rexview.analysis.clickhouse.database import database_at
    from rexview.analysis.clickhouse.loading import load_set, shown_if_any
    from rexview.errors import LoadRefused
    from rexview.reviewset import load
    from rexview.settings import MEMORY, engine_address, load_settings
    from rexview.store.location import set_key

    address = engine_address(options.engine) if options.engine else load_settings().engine
    if address == MEMORY:
        raise LoadRefused(
            "Nothing says where the tables are.",
            "Set REXVIEW_ENGINE, or give --engine clickhouse://user@host:port/database.",
        )
    database = database_at(address)
    review_set = load(options.folder)
    name = set_key(review_set)
    there = shown_if_any(database, name)
    if there and there.fingerprint == review_set.fingerprint and not options.again:
        print("The tables have this set as its files are. Nothing was changed.")
        return 0
    found = scan(review_set)
    manifest = load_set(database, name, with_own_metrics(review_set), found, shower("cases loaded"))
    words = counted(manifest.n_cases, "case"), counted(manifest.n_answers, "answer")
    print(printable(f"Loaded {words[0]} with {words[1]}. Servers show them within seconds."))
    return 0
