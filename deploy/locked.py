"""Print what requirements files need, each package in the version and with the digests of the lock.

``python locked.py [storage] [clickhouse] [cluster]``: of ``requirements.txt`` and of
``requirements-NAME.txt`` for each name. requirements-dev-all.lock holds what the tests ran on and
much that only they need; pip says which packages of it are needed here. ``models`` is passed over:
torch is not in the lock. Needs Python's own modules and ``/opt/venv/bin/pip``, or that of ``PIP``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path("requirements-dev-all.lock")
_ENTRY = re.compile(r"^(?P<name>[\w.-]+)==.*(?:\n    --hash=.*)+", re.MULTILINE)
_NOT_LOCKED = ("models",)


def locked(lock: str, needed: set[str]) -> list[str]:
    """Return the lock's entries of the needed packages, markers and digests with them."""
    entries = [one for one in _ENTRY.finditer(lock) if _plain(one["name"]) in needed]
    if missing := needed - {_plain(one["name"]) for one in entries}:
        raise SystemExit(f"{LOCK} does not have {', '.join(sorted(missing))}: make it anew.")
    return [one.group() for one in entries]


def needed_by(files: list[str], lock: str) -> set[str]:
    """Ask pip which packages these requirements need in the lock's versions."""
    versions = re.sub(r" \\$|^    --hash=.*\n?", "", lock, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder, "versions.txt"), Path(folder, "report.json")
        constraints.write_text(versions, encoding="utf-8")
        asked = [word for file in files for word in ("-r", file)]
        options = ("--dry-run", "--ignore-installed", "--quiet", "--report", report)
        pip = os.environ.get("PIP", "/opt/venv/bin/pip")
        subprocess.run([pip, "install", *options, "-c", constraints, *asked], check=True)
        found = json.loads(report.read_text(encoding="utf-8"))
    return {_plain(one["metadata"]["name"]) for one in found["install"]}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(names: list[str]) -> None:
    """Print the lines for pip's ``--require-hashes``."""
    files = ["requirements.txt"]
    files += [f"requirements-{name}.txt" for name in names if name not in _NOT_LOCKED]
    lock = LOCK.read_text(encoding="utf-8")
    print("\n".join(locked(lock, needed_by(files, lock))))


if __name__ == "__main__":
    main(sys.argv[1:])
