"""Which finding a detector's flag is about, read from the evidence that the flag shows."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexview.detect.boxes.labels import label_findings
from rexview.detect.boxes.placement import placed_boxes
from rexview.detect.boxes.side_labels import label_key
from rexview.detect.findings import find_mentions, finding_info
from rexview.geometry import OTHER_SIDE
from rexview.schema import Flag, ReviewSet

_ANSWER: Final = ("case", "model")
_BOXES: Final = ("box", "reference_box")


def flag_finding(flag: Flag) -> str | None:
    """Return the finding (id in the lexicon) that a detector's flag is about; None for none.

    It is the first that its evidence names. Where one finding was taken for another it is the one
    that the report has: what was missed.
    """
    evidence = flag.evidence[::-1] if flag.failure == "wrong_type" else flag.evidence
    for item in evidence:
        if item.where in _BOXES:
            named = sorted(label_findings(item.text))
        elif item.where in ("answer", "report", "question"):
            named = [mention.finding for mention in find_mentions(item.text)]
        else:
            continue
        if named:
            return named[0]
    return None


def finding_name(finding: str) -> str:
    """Return the name on screen of a finding of the lexicon; one that it lacks keeps its id."""
    try:
        return finding_info(finding).name
    except KeyError:
        return finding.replace("_", " ")


def finding_region(finding: str) -> str:
    """Return the region of a finding of the lexicon, such as ``pleura``; ``whole`` for none."""
    try:
        return finding_info(finding).region
    except KeyError:
        return "whole"


def mislabelled_findings(review_set: ReviewSet, answers: pl.DataFrame) -> pl.DataFrame:
    """Find what the boxes are about that lie on the other side than their label says.

    Parameters
    ----------
    review_set : ReviewSet
    answers : polars.DataFrame
        ``case``, ``model`` of the answers to look at.

    Returns
    -------
    polars.DataFrame
        ``case``, ``model``, ``finding``: one row for each finding of such a box.
    """
    schema = {"case": pl.String, "model": pl.String, "finding": pl.String}
    if answers.is_empty():
        return pl.DataFrame(schema=schema)
    few = review_set.answers.filter("_newest").join(answers.select(_ANSWER), on=_ANSWER, how="semi")
    other = pl.col("side").replace_strict(OTHER_SIDE, default=None, return_dtype=pl.String())
    wrong = (
        placed_boxes(review_set, few)
        .filter(pl.col("claim") == other)
        .select(*_ANSWER, family="finding")
    )
    labels = few.select(*_ANSWER, "boxes").explode("boxes").unnest("boxes")
    labels = labels.select(*_ANSWER, "label").drop_nulls()
    named = [
        (label, label_key(label), finding)
        for label in labels["label"].unique().to_list()
        for finding in label_findings(label)
        if finding_info(finding).family == label_key(label)
    ]
    read = pl.DataFrame(named, ["label", "family", "finding"], orient="row") if named else None
    if read is None:
        return pl.DataFrame(schema=schema)
    return (
        labels.join(read, on="label")
        .join(wrong, on=[*_ANSWER, "family"], how="semi")
        .select(*_ANSWER, "finding")
        .unique(maintain_order=True)
    )
