"""Install system packages that the check can use, where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

DONE = "done"


def install_package(*alternatives: str) -> str:
    """Install the first available Debian package of these; return in words what was tried."""
    if not shutil.which("apt-get"):
        return "no apt-get here"
    tried = [_updated()]
    for package in alternatives:
        command = [*_as_root(), "apt-get", "install", "-y", "-qq", package]
        tried.append(attempt(f"apt-get install {package}", command))
        if tried[-1].endswith(DONE):
            break
    return ", ".join(tried)


def attempt(name: str, command: list[str]) -> str:
    """Run a command that may fail; return its result in words."""
    print(f"--- trying {name}", flush=True)
    try:
        status = subprocess.run(command, check=False, timeout=900).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name}: {type(error).__name__}"
    return f"{name}: {DONE if status == 0 else f'exit {status}'}"


@cache
def _updated() -> str:
    return attempt("apt-get update", [*_as_root(), "apt-get", "update", "-qq"])


def _as_root() -> list[str]:
    return [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
