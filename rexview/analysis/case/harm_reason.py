"""Why a case stands where it stands among the most severe, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rexview.detect import finding_name
from rexview.harm import NO_ANSWER_CAME, HarmTable


def harm_words(row: Mapping[str, Any], table: HarmTable) -> str:
    """Say what puts an answer where it stands: ``Harm 4: pneumothorax on the wrong side``.

    Parameters
    ----------
    row : mapping
        A row of an answer table.
    table : HarmTable

    Returns
    -------
    str
        With who says so, unless a reader does. Empty where nothing was found and nothing is
        scored.
    """
    failure, finding = row["harm_failure"], row["harm_finding"]
    if failure:
        what = table.words(failure, finding_name(finding) if finding else None)
        words = f"Harm {row['harm']}: {what}"
        if row["harm_confirmed"] or failure == NO_ANSWER_CAME:
            return words
        return f"{words} (by rule, not confirmed)"
    if row["harm_hinted"]:
        return "No failure confirmed, a possible one"
    if row["content"] is None:
        return ""
    return f"No failure found; Content {row['content']:.1f}".removesuffix(".0")
