"""The tables of words and numbers that come with the package, as YAML files beside the modules.

They are ours, so no bounds are watched (:mod:`rexview.untrusted_input` is for what others give us), but
every process reads them as it starts: with PyYAML's parser in C, a tenth of the time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""A PyYAML that was built without libyaml has none in C."""


def read_table(path: Path) -> Any:
    """Return what one of the package's own YAML files holds."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506
