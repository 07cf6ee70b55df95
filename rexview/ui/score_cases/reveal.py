"""After the reveal: which model gave which answer, and the scores that it got.

The scores of others are shown only where the study's rules say so.
"""

from __future__ import annotations

import polars as pl
import streamlit as st

from rexview.ui.saving.reader_study import Study
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

_MOST_ROWS = 2000


def show_reveal(study: Study) -> None:
    """Show the cases whose models were revealed to the reader; nothing while there are none."""
    table = revealed_table(study)
    if table.is_empty():
        return
    st.markdown("### The models and your scores")
    if study.review_set.info.protocol.reveal_peers:
        st.caption("With the scores of the other readers: the study's rules allow it now.")
    st.dataframe(table.head(_MOST_ROWS), hide_index=True, height="auto")


def revealed_table(study: Study) -> pl.DataFrame:
    """Return the scores on revealed cases: one row for each answer and reader.

    Returns
    -------
    polars.DataFrame
        ``Case``, ``Answer``, ``Model``, ``Reader``, then a column for each dimension that was
        scored: the mean over pictures. In the order of the worklist.
    """
    cases = [case for case in study.worklist if study.given.was_shown(case, "models")]
    answers = [
        {
            "case": case,
            "model": model,
            "Case": case,
            "Answer": slot,
            "Model": study.review_set.model_names[model],
        }
        for case in cases
        for slot, model in study.slots(case).items()
    ]
    if not answers:
        return pl.DataFrame()
    rows = pl.DataFrame(answers).with_row_index("_place")
    scores = _scores(study).filter(pl.col("score").is_not_null())
    wide = (
        scores.group_by("case", "model", "reader", "dimension")
        .agg(pl.col("score").cast(pl.Float64).mean())
        .pivot("dimension", index=["case", "model", "reader"], values="score")
    )
    names = {**study.review_set.reader_names, **_writers(study), study.person.id: "You"}
    found = rows.join(wide, on=["case", "model"], how="left").sort("_place", "reader")
    shown = [name for name in DIMENSIONS if name in found.columns]
    reader = pl.col("reader").replace_strict(names, default=pl.col("reader")).alias("Reader")
    return found.select(
        "Case",
        "Answer",
        "Model",
        reader,
        *(pl.col(name).alias(DIMENSION_NAMES[name]) for name in shown),
    )


def _scores(study: Study) -> pl.DataFrame:
    if not study.review_set.info.protocol.reveal_peers:
        return study.scores
    given = study.review_set.scores.filter(pl.col("reader") != study.person.id)
    return pl.concat([given, study.reviews.scores()])


def _writers(study: Study) -> dict[str, str]:
    if not study.review_set.info.protocol.reveal_peers:
        return {}
    return {key: person.name for key, person in study.reviews.people().items()}
