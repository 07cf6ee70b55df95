"""Check lint, format and types of the JavaScript: ``python -m tools.javascript.check [--write]``.

Biome lints and formats; TypeScript checks the types of JSDoc comments. ``--write`` applies Biome's
fixes. :mod:`tools.javascript.packages` installs both.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.javascript.packages import ensure_packages

ROOT = Path(__file__).resolve().parents[2]
_SETTINGS = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Run both tools, the second even if the first fails; return 1 if any found something."""
    try:
        path, modules = ensure_packages()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The tools for the JavaScript could not be installed: {error}", file=sys.stderr)
        return 1
    mend = ["--write"] if "--write" in arguments else []
    settings = ["--config-path", str(_SETTINGS / "biome_settings.json"), "--error-on-warnings"]
    commands = [
        ["biome", "check", *settings, *mend, "rexview", "tests"],
        ["tsc", "--project", str(_SETTINGS / "tsconfig.json")],
    ]
    status = 0
    for program, *options in commands:
        command = [shutil.which(program, path=str(modules / ".bin")) or program, *options]
        environment = {**os.environ, "PATH": path}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
