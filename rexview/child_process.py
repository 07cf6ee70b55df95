"""Processes of our own beside this one, which it speaks with over pipes."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process now, whatever it does, and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError, ValueError):  # unsent bytes to a process that is gone
                pipe.close()
