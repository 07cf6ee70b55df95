"""What judges say as data frames to take away, with how far they agree with readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rexview.analysis.judge.tables import JudgeTables
from rexview.vocab import DIMENSION_NAMES, FAILURES

if TYPE_CHECKING:
    import pandas as pd

JUDGE_SHARES: Final = (
    *("Share", "CI low", "CI high", "Same score"),
    *("Precision", "Precision CI low", "Precision CI high"),
    *("Recall", "Recall CI low", "Recall CI high"),
)
"""The columns that hold shares, 0 to 1."""


def judge_failure_frame(tables: JudgeTables) -> pd.DataFrame:
    """Return a row for each failure and model; the agreement is of all models together."""
    import pandas as pd

    rows = []
    for row in tables.failures:
        found = tables.failure_agreement(row.failure)
        agreement: dict[str, object] = {}
        if found is not None:
            agreement = {
                "Compared with readers": found.n,
                "Kappa": found.kappa,
                "Kappa CI low": found.interval.low,
                "Kappa CI high": found.interval.high,
                "Precision": found.precision.share,
                "Precision CI low": found.precision.interval.low,
                "Precision CI high": found.precision.interval.high,
                "Recall": found.recall.share,
                "Recall CI low": found.recall.interval.low,
                "Recall CI high": found.recall.interval.high,
                "Undefined because": found.why,
            }
        rows.append(
            {
                "Judge": tables.judge.name,
                "Failure": FAILURES[row.failure].name,
                "Model": tables.models[row.model],
                "Seen by the judge": row.present.value,
                "n": row.spoken.value,
                "Share": row.rate.share,
                "CI low": row.rate.interval.low,
                "CI high": row.rate.interval.high,
                **agreement,
            }
        )
    return pd.DataFrame(rows)


def judge_score_frame(tables: JudgeTables) -> pd.DataFrame:
    """Return a row for each dimension and model; the agreement is of all models together."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Judge": tables.judge.name,
            "Score": DIMENSION_NAMES[row.dimension],
            "Model": tables.models[row.model],
            "n judge": row.scored.value,
            "Mean judge": row.mean,
            "n readers": row.by_readers.value,
            "Mean readers": row.readers_mean,
            "Compared with readers": found.n if found else 0,
            "Kappa": found.qwk if found else None,
            "Kappa CI low": found.qwk_interval.low if found else None,
            "Kappa CI high": found.qwk_interval.high if found else None,
            "Undefined because": found.why if found else None,
        }
        for row in tables.scores
        for found in [tables.score_agreement(row.dimension)]
    )


def judge_agreement_frame(tables: JudgeTables) -> pd.DataFrame:
    """Return a row for each dimension that the judge scored."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Judge": tables.judge.name,
            "Score": DIMENSION_NAMES[found.dimension],
            "n": found.n,
            "Kappa": found.qwk,
            "Kappa CI low": found.qwk_interval.low,
            "Kappa CI high": found.qwk_interval.high,
            "Mean absolute difference": found.mad,
            "Difference CI low": found.mad_interval.low,
            "Difference CI high": found.mad_interval.high,
            "Same score": found.exact,
            "Mean judge": found.judge_mean,
            "Mean readers": found.readers_mean,
            "n among readers": found.readers_n,
            "Kappa among readers": found.readers_qwk,
            "Undefined because": found.why,
        }
        for found in tables.agreement.scores.values()
    )
