"""Store which test files take long, so that the check starts with them: ``tests/seconds.json``.

``python -m tools.test_times RESULTS.xml…`` reads the output of ``pytest --junitxml``, from one run
or from several with different files, and stores the slow files. Shares are stored, not seconds: the
machine may be busy during the run.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "seconds.json"
LEAST_SHARE = 1 / 1000
"""Least share of all tests' time for a file to be stored."""


def seconds_of(results: list[Path]) -> dict[str, float]:
    """Return the duration of each test file, by its path from the project's folder."""
    taken: Counter[str] = Counter()
    for result in results:
        for case in ElementTree.parse(result).iter("testcase"):  # noqa: S314 - written by pytest
            taken[_file_of(case.attrib["classname"])] += float(case.attrib["time"])
    return dict(taken)


def _file_of(name: str) -> str:
    """Return the file of a module, or of a class in one."""
    parts = name.split(".")
    while parts and not (ROOT / "/".join(parts)).with_suffix(".py").is_file():
        parts.pop()
    return "/".join(parts) + ".py"


def main(arguments: list[str]) -> None:
    """Store the slow files, the slowest first."""
    taken = seconds_of([Path(one) for one in arguments])
    least = sum(taken.values()) * LEAST_SHARE
    long = {file: round(s) for file, s in sorted(taken.items()) if s >= least and file != ".py"}
    ordered = dict(sorted(long.items(), key=lambda one: -one[1]))
    KEPT.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
