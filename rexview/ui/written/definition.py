"""A failure in words as HTML: for the page, and for the pad on which a sample is read."""

from __future__ import annotations

import html
from typing import Final

from rexview.analysis.written_failures import form_value_of
from rexview.models.backend import Prompt
from rexview.words import tr

_TITLES: Final = {
    "counts": tr("Counts"),
    "does_not_count": tr("Does not count"),
    "examples": tr("Examples that count"),
    "counterexamples": tr("Examples that do not count"),
}


def definition_html(prompt: Prompt) -> str:
    """Return title and parts; what people wrote is escaped."""
    value = form_value_of(prompt)
    parts = "".join(
        f"<p><b>{title}:</b> {_part(value[part])}" for part, title in _TITLES.items() if value[part]
    )
    return f"<h3>{html.escape(prompt.name)}</h3>{parts}"


def _part(value: object) -> str:
    if isinstance(value, list):
        items = "".join(f"<li>{html.escape(str(one))}</li>" for one in value)
        return f"</p><ul>{items}</ul>"
    return f"{html.escape(str(value))}</p>"
