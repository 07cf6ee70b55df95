"""The tables of words and numbers that come with the package, as YAML files beside the modules.

They are ours, so nothing bounds them; :mod:`rexview.untrusted_input` reads what others give us.
Every process reads them at its start. PyYAML's parser in C takes a tenth of the time.
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
