"""Names of chart columns on the page; downloads keep the English names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rexview.words import tr, trc

COLUMN_NAMES: Final[Mapping[str, str]] = {
    "Above the whisker": tr("Above the whisker"),
    "Accuracy": tr("Accuracy"),
    "Answers": tr("Answers"),
    "Below the whisker": tr("Below the whisker"),
    "CI high": tr("CI high"),
    "CI low": tr("CI low"),
    "Can be judged": tr("Can be judged"),
    "Cases": tr("Cases"),
    "Chosen": tr("Chosen"),
    "Counted": tr("Counted"),
    "Criterion": tr("Criterion"),
    "Decision": tr("Decision"),
    "Difference": tr("Difference"),
    "Dimension": tr("Dimension"),
    "Failed": tr("Failed"),
    "Failure": tr("Failure"),
    "First day": tr("First day"),
    "Flagged": tr("Flagged"),
    "From": trc("number", "From"),
    "Gap": tr("Gap"),
    "Group": tr("Group"),
    "Highest": tr("Highest"),
    "Kappa": tr("Kappa"),
    "Kind": tr("Kind"),
    "Last day": tr("Last day"),
    "Lowest": tr("Lowest"),
    "Mean": tr("Mean"),
    "Mean 1": tr("Mean 1"),
    "Mean 2": tr("Mean 2"),
    "Median": tr("Median"),
    "Middle": tr("Middle"),
    "Model": tr("Model"),
    "Offered": tr("Offered"),
    "Quarter": tr("Quarter"),
    "Questions": tr("Questions"),
    "Rater": tr("Rater"),
    "Rater 1": tr("Rater 1"),
    "Rater 2": tr("Rater 2"),
    "Reader": tr("Reader"),
    "Reader 1": tr("Reader 1"),
    "Reader 2": tr("Reader 2"),
    "Reason": tr("Reason"),
    "Right": tr("Right"),
    "Same option": tr("Same option"),
    "Score": tr("Score"),
    "Score 1": tr("Score 1"),
    "Score 2": tr("Score 2"),
    "Share": tr("Share"),
    "So far": tr("So far"),
    "Sum": tr("Sum"),
    "Three quarters": tr("Three quarters"),
    "To": trc("number", "To"),
    "Value": tr("Value"),
    "Weakest link": tr("Weakest link"),
    "Whisker high": tr("Whisker high"),
    "Whisker low": tr("Whisker low"),
    "n": tr("n"),
    "of": tr("of"),
}


def set_column_titles(spec: Any) -> None:
    """Set titles for the columns of a Vega-Lite chart that have no other title."""
    for encoding in _encodings(spec):
        name = COLUMN_NAMES.get(str(encoding["field"]))
        if name is not None and name != encoding["field"]:
            encoding.setdefault("title", name)


def _encodings(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every encoding of a column: a channel, or a line of a tooltip."""
    if isinstance(part, list):
        for inner in part:
            yield from _encodings(inner)
    elif isinstance(part, dict):
        if isinstance(part.get("field"), str) and "type" in part:
            yield part
        for name, inner in part.items():
            if name not in ("datasets", "data"):
                yield from _encodings(inner)
