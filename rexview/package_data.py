"""Read the package's own tables of words and numbers, which are YAML files among its modules.

They are ours, so no limits apply; :mod:`rexview.untrusted_input` reads data from others. Every
process reads them when it starts. PyYAML's parser in C takes a tenth of the time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""A PyYAML built without libyaml has no parser in C."""


def read_package_table(path: Path) -> Any:
    """Return the content of one of the package's own YAML files."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506
