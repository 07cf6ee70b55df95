"""The scripts of small components, with what they share before them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexview.ui.score_cases.pad import pad_assets

_SHARED: Final = ("dom.js", "token.js")


def component_script(file: Path) -> str:
    """Return a component's script as Streamlit takes it: one module, which can import none of ours.

    So the modules that make elements and tokens stand before it.
    """
    shared = [pad_assets()[name].decode("utf-8") for name in _SHARED]
    return "\n".join([*shared, file.read_text(encoding="utf-8")])
