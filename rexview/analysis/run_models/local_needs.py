"""Memory needs of a model on this machine, without loading the model or torch in the server."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from rexview.models.local.files import MOST_NEW_TOKENS, Needs, find_files, needs
from rexview.models.running.spec import RunSpec

_ROOT: Final = Path(__file__).resolve().parents[3]
_LOOK: Final = (
    "import json; from rexview.models.local.model import graphics_card;"
    "print(json.dumps(graphics_card()))"
)
_LIMIT_S: Final = 120.0


def needs_here(spec: RunSpec) -> Needs:
    """Return the memory that the model of a run would need.

    Raises
    ------
    AttemptFailed
        The model's files are missing, or of a kind that cannot be loaded here.
    """
    files = find_files(spec.parameters.model)
    longest = spec.parameters.max_output_tokens or MOST_NEW_TOKENS
    return needs(files, spec.card, longest, spec.concurrency, _graphics_card())


@cache
def _graphics_card() -> tuple[str, int] | None:
    """Return the graphics card and its free bytes from a separate process; computed once."""
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", _LOOK],
            cwd=_ROOT,
            capture_output=True,
            timeout=_LIMIT_S,
            check=True,
        )
        found = json.loads(asked.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None  # the run's own process checks again before it loads anything
    return (str(found[0]), int(found[1])) if found else None
