"""Memory needs of a model on this machine, without loading the model or torch in the server."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from rexview.models.local.model_files import (
    DEFAULT_NEW_TOKENS,
    MemoryNeeds,
    estimate_memory,
    find_model_files,
)
from rexview.models.running.run_spec import RunSpec

_ROOT: Final = Path(__file__).resolve().parents[3]
_GRAPHICS_CARD_SCRIPT: Final = (
    "import json; from rexview.models.local.local_model import find_graphics_card;"
    "print(json.dumps(find_graphics_card()))"
)
_TIMEOUT_S: Final = 120.0


def estimate_local_memory(spec: RunSpec) -> MemoryNeeds:
    """Return the memory that the model of a run would need.

    Raises
    ------
    AttemptFailed
        The model's files are missing, or of a kind that cannot be loaded here.
    """
    files = find_model_files(spec.parameters.model)
    longest = spec.parameters.max_output_tokens or DEFAULT_NEW_TOKENS
    return estimate_memory(files, spec.card, longest, spec.concurrency, _graphics_card())


@cache
def _graphics_card() -> tuple[str, int] | None:
    """Return the graphics card and its free bytes from a separate process; computed once."""
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", _GRAPHICS_CARD_SCRIPT],
            cwd=_ROOT,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        found = json.loads(asked.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None  # the run's own process checks again before it loads anything
    return (str(found[0]), int(found[1])) if found else None
