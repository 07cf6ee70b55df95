"""Start the scripted server by hand; its first line says where it listens."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
from pathlib import Path

import yaml

from support.model_server import run
from support.model_server.service import Options


def main() -> None:
    parser = argparse.ArgumentParser(prog="support.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="rules, as YAML or JSON")
    parser.add_argument("--rules", default="[]", help="rules, as JSON")
    parser.add_argument("--options", default="{}", help="what kind of server, as JSON")
    arguments = parser.parse_args()
    rules = json.loads(arguments.rules)
    if arguments.script:
        rules = yaml.safe_load(arguments.script.read_text(encoding="utf-8")) or []
    options = Options.read(json.loads(arguments.options))

    def ready(address: str) -> None:
        print(address, flush=True)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(rules, options, arguments.port, ready))


main()
