"""Run the unit tests of the JavaScript: ``python -m tools.javascript.unit_tests [name ...]``.

Node.js runs ``tests/javascript/*.test.js`` on the modules that the browser loads. With names, only
files whose name contains one of them are run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.javascript.packages import search_path_with_node

ROOT = Path(__file__).resolve().parents[2]
_TESTS = ROOT / "tests" / "javascript"
_SUFFIX = ".test.js"


def main(names: list[str]) -> int:
    """Run the tests and return the exit status of Node.js; 1 if there are no tests."""
    files = [
        path
        for path in sorted(_TESTS.glob(f"*{_SUFFIX}"))
        if not names or any(name in path.name for name in names)
    ]
    if not files:
        print("There are no such tests.", file=sys.stderr)
        return 1
    try:
        path = search_path_with_node()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"Node.js could not be installed: {error}", file=sys.stderr)
        return 1
    node = shutil.which("node", path=path) or "node"
    # "dot" prints a dot for each test, and failures in full
    command = [node, "--test", "--test-reporter=dot", *map(str, files)]
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
