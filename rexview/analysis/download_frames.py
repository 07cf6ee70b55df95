"""The tables of the pages as data frames to download, each number with its n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from rexview.analysis.failures import FailureGroups, FailureTables
from rexview.analysis.judges import JudgeTables
from rexview.analysis.meetings import Decision
from rexview.analysis.multiple_choice import (
    ChoiceCell,
    ChoiceGroups,
    ChoiceTables,
    KappaCell,
    RaterPairTest,
)
from rexview.analysis.readers import ReaderTables
from rexview.analysis.report_generation import (
    STUDIES,
    ErrorFreeTables,
    PreferenceTables,
    ReportGroups,
    ReportTables,
    board_metric_name,
)
from rexview.analysis.scores import ScoreTables
from rexview.metrics.identity import MetricId
from rexview.stats.error_free_reports import ERROR_FREE_NAMES
from rexview.stats.multiple_choice import Rater
from rexview.stats.report_metrics import LeaderboardCell
from rexview.vocab import CATEGORY_NAMES, DIMENSION_NAMES, FAILURES

SCORE_SHARES: Final = ("Score 5", "Below 3")
READER_SHARES: Final = ("Same", "Within one")
FAILURE_SHARES: Final = ("Share", "CI low", "CI high")
"""Columns of each table that contain shares, 0 to 1."""
_COUNTS: Final = ("Failed", "n", "Answers", "Possible (hints)", "Only first", "Only second")


def score_frame(tables: ScoreTables, dimensions: Sequence[str]) -> pd.DataFrame:
    """Return some dimensions with a row for each model, then a row for each comparison."""
    rows = []
    for dimension in dimensions:
        for model, name in tables.models.items():
            cell = tables.cell(dimension, model)
            if cell is None:
                continue
            found = cell.summary
            rows.append(
                {
                    "Score": cell.name,
                    "Model": name,
                    "n": found.n,
                    "Mean": found.mean,
                    "SD": found.sd,
                    "CI low": found.interval.low,
                    "CI high": found.interval.high,
                    "Score 5": found.share_5,
                    "Below 3": found.share_below_3,
                }
            )
        rows += [
            {
                "Score": DIMENSION_NAMES[dimension],
                "Model": f"{tables.models[test.model_a]} minus {tables.models[test.model_b]}",
                "n": test.n_pairs,
                "Mean": test.mean_difference,
                "CI low": test.interval.low,
                "CI high": test.interval.high,
                "p": test.p,
                "p adjusted": test.p_adj,
                "Effect": test.effect,
            }
            for test in tables.comparison.tests
            if test.dimension == dimension
        ]
    return pd.DataFrame(rows)


def reader_frame(tables: ReaderTables) -> pd.DataFrame:
    """Return the agreement of the chosen pair of readers, a row for each dimension."""
    return pd.DataFrame(
        {
            "Score": DIMENSION_NAMES[row.numbers.dimension],
            "n": row.numbers.n,
            "Kappa": row.numbers.qwk,
            "Kappa CI low": row.numbers.qwk_interval.low,
            "Kappa CI high": row.numbers.qwk_interval.high,
            "Mean absolute difference": row.numbers.mad,
            "Difference CI low": row.numbers.mad_interval.low,
            "Difference CI high": row.numbers.mad_interval.high,
            "Same": row.numbers.exact,
            "Within one": row.numbers.within_one,
            f"Mean {tables.readers.get(row.numbers.reader_a, row.numbers.reader_a)}": (
                row.numbers.mean_a
            ),
            f"Mean {tables.readers.get(row.numbers.reader_b, row.numbers.reader_b)}": (
                row.numbers.mean_b
            ),
            "Undefined because": row.numbers.why,
        }
        for row in tables.dimensions
    )


def failure_frame(tables: FailureTables) -> pd.DataFrame:
    """Return the rate of each failure and model, then a row for each comparison."""
    rows: list[dict[str, object]] = []
    for failure in tables.failures:
        name = FAILURES[failure].name
        rows += [
            {
                "Failure": name,
                "Model": tables.models[row.model],
                "Failed": row.flagged.value,
                "n": row.rate.n,
                "Share": row.rate.share,
                "CI low": row.rate.interval.low,
                "CI high": row.rate.interval.high,
                "Answers": row.answers,
                "Possible (hints)": row.hinted.value,
            }
            for row in tables.of(failure)
        ]
        rows += [
            {
                "Failure": name,
                "Model": f"{tables.models[test.model_a]} minus {tables.models[test.model_b]}",
                "n": test.n_pairs,
                "Share": test.difference,
                "CI low": test.interval.low,
                "CI high": test.interval.high,
                "Only first": test.only_a,
                "Only second": test.only_b,
                "p": test.p,
                "p adjusted": test.p_adj,
            }
            for test in tables.tests
            if test.failure == failure
        ]
    frame = pd.DataFrame(rows)
    counts = [name for name in _COUNTS if name in frame]
    return frame.astype(dict.fromkeys(counts, "Int64"))  # with gaps, 3 would become 3.0


def failure_group_frame(groups: FailureGroups) -> pd.DataFrame:
    """Return one failure by group and model."""
    return pd.DataFrame(
        {
            groups.by.name: group.name,
            "Model": groups.models[cell.model],
            "Failed": cell.flagged.value,
            "n": cell.rate.n,
            "Share": cell.rate.share,
            "CI low": cell.rate.interval.low,
            "CI high": cell.rate.interval.high,
            "Small group": "yes" if cell.is_small else "no",
        }
        for group in groups.groups
        for cell in group.cells
    )


def decision_frame(decisions: Sequence[Decision], models: Mapping[str, str]) -> pd.DataFrame:
    """Return a row for each decision of meetings; ``models`` has the names of models by id."""
    return pd.DataFrame(
        [
            {
                "Meeting": one.meeting_name,
                "Day": one.held,
                "Case": one.case,
                "Answer of": models.get(one.model, one.model) if one.model else None,
                "Decision": one.decision_words,
                "Failure": one.failure_words,
                "Harm": one.severity,
                "Owner": one.owner,
                "Due": one.due,
                "Done": "yes" if one.done else "no",
                "Notes": one.comment,
                "Written by": one.by,
                "Answer changed since": "yes" if one.replaced else "no",
            }
            for one in decisions
        ]
    )


# Data frames of the page Multiple choice, each number with its n.

CHOICE_SHARES: Final = ("Accuracy", "CI low", "CI high", "Without failed", "Difference", "Same")
"""Columns that contain shares, 0 to 1."""


def accuracy_frame(tables: ChoiceTables) -> pd.DataFrame:
    """Return every rater over all questions, then by task."""
    every = [("All", tables.total), *((row.name, row.cells) for row in tables.tasks)]
    return pd.DataFrame(
        {"Task": name} | row for name, cells in every for row in _rows(cells, tables.raters)
    )


def choice_group_frame(groups: ChoiceGroups, raters: Mapping[int, Rater]) -> pd.DataFrame:
    """Return every rater by a property of the questions."""
    return pd.DataFrame(
        ({"Group": row.group} if row.group else {}) | {groups.by.name: row.name} | cell
        for row in groups.rows
        for cell in _rows(row.cells, raters)
    )


def read_questions_frame(cells: Sequence[ChoiceCell], raters: Sequence[Rater]) -> pd.DataFrame:
    """Return every rater on the questions that readers answered."""
    return pd.DataFrame(_rows(cells, dict(enumerate(raters))))


def _rows(cells: Iterable[ChoiceCell], raters: Mapping[int, Rater]) -> Iterable[dict[str, Any]]:
    for cell in cells:
        found = cell.accuracy
        yield {
            "Rater": raters[cell.place].name,
            "Kind": raters[cell.place].kind,
            "n": found.rate.n,
            "Right": found.rate.flagged,
            "Wrong": found.wrong,
            "Failed": found.failed,
            "Accuracy": found.rate.share,
            "CI low": found.rate.interval.low,
            "CI high": found.rate.interval.high,
            "Without failed": found.without_failed.share,
            "Interval": found.rate.method,
            "Patients or studies": found.rate.clusters,
        }


def rater_pairs_frame(tests: Sequence[RaterPairTest], raters: Sequence[Rater]) -> pd.DataFrame:
    """Return the comparisons of raters, pair by pair."""
    return pd.DataFrame(
        {
            "A": raters[one.test.rater_a].name,
            "B": raters[one.test.rater_b].name,
            "n": one.test.n_pairs,
            "Difference": one.test.difference,
            "CI low": one.test.interval.low,
            "CI high": one.test.interval.high,
            "Only A right": one.test.only_a,
            "Only B right": one.test.only_b,
            "Both right": one.test.both,
            "Answered by one only": one.test.left_out,
            "p": one.test.p,
            "p adjusted": one.test.p_adj,
        }
        for one in tests
    )


def rater_kappa_frame(
    by_task: Mapping[str | None, Sequence[KappaCell]], raters: Sequence[Rater]
) -> pd.DataFrame:
    """Return the agreement of each two raters, over all questions and by task."""
    return pd.DataFrame(
        {
            "Task": CATEGORY_NAMES.get(task, task) if task else "All",
            "Rater 1": raters[cell.kappa.rater_a].name,
            "Rater 2": raters[cell.kappa.rater_b].name,
            "n": cell.kappa.n,
            "Kappa": cell.kappa.kappa,
            "Same": cell.kappa.agreement,
            "Undefined because": cell.kappa.why or "",
        }
        for task, cells in by_task.items()
        for cell in cells
    )


# Data frames of the page Judges: judges' opinions, with their agreement with readers.

JUDGE_SHARES: Final = (
    *("Share", "CI low", "CI high", "Same score"),
    *("Precision", "Precision CI low", "Precision CI high"),
    *("Recall", "Recall CI low", "Recall CI high"),
)
"""Columns that contain shares, 0 to 1."""


def judge_failure_frame(tables: JudgeTables) -> pd.DataFrame:
    """Return a row for each failure and model; the agreement is over all models together."""
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
    """Return a row for each dimension and model; the agreement is over all models together."""
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


# Data frames of the page Report generation, each number with its n.

ERROR_SHARES: Final = ("Share", "CI low", "CI high")
"""Columns that contain shares, 0 to 1."""
_INTEGER_COLUMNS: Final = (
    "Place",
    "Place low",
    "Place high",
    "n",
    "Patients",
    "Won",
    "Tied",
    "Lost",
)


def leaderboard_frame(tables: ReportTables) -> pd.DataFrame:
    """Return a board with a row for each metric and model, with the metric's identity."""
    return _as_integers(
        pd.DataFrame(
            _metric_row(metric, tables.names[model], tables.board.cells[metric, model])
            for metric in tables.metrics
            for model in tables.board.models
        )
    )


def report_group_frame(groups: ReportGroups, names: Mapping[str, str]) -> pd.DataFrame:
    """Return one metric by group and model."""
    return _as_integers(
        pd.DataFrame(
            {
                groups.by.name: group.name,
                **_metric_row(groups.metric, names[model], group.board.cells[groups.metric, model]),
            }
            for group in groups.groups
            for model in group.board.models
        )
    )


def _metric_row(metric: MetricId, name: str, cell: LeaderboardCell) -> dict[str, Any]:
    rank = cell.rank
    return {
        "Metric": board_metric_name(metric),
        "Implementation": metric.implementation,
        "Version": metric.version,
        "Sections": metric.scope,
        "Model": name,
        "n": cell.n,
        "Patients": cell.patients,
        "Value": cell.shown,
        "CI low": cell.shown_interval.low,
        "CI high": cell.shown_interval.high,
        "Place": rank and rank.place,
        "Place low": rank and rank.low,
        "Place high": rank and rank.high,
        "Undefined because": cell.why,
    }


def error_free_frame(tables: ErrorFreeTables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the error-free shares, a row for each reader, model, kind of study and threshold."""
    return _as_integers(
        pd.DataFrame(
            {
                "Corrected by": tables.readers[row.numbers.reader],
                "Model": names[row.numbers.model],
                "Studies": STUDIES[row.studies],
                "Free of": ERROR_FREE_NAMES[row.numbers.severity],
                "Error-free": row.numbers.rate.flagged,
                "n": row.numbers.rate.n,
                "Share": row.numbers.rate.share,
                "CI low": row.numbers.rate.interval.low,
                "CI high": row.numbers.rate.interval.high,
                "Left out": row.numbers.ungraded,
            }
            for row in tables.rows
        )
    )


def preference_frame(tables: PreferenceTables, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the strengths, the strongest model first."""
    return _as_integers(
        pd.DataFrame(
            {
                "Model": names[model],
                "Place": one.rank and one.rank.place,
                "Place low": one.rank and one.rank.low,
                "Place high": one.rank and one.rank.high,
                "Strength": one.strength,
                "CI low": one.interval.low,
                "CI high": one.interval.high,
                "Won": one.won,
                "Tied": one.tied,
                "Lost": one.lost,
                "n": one.n,
                "Undefined because": one.why,
            }
            for model, one, _ in tables.rows
        )
    )


def _as_integers(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep whole numbers whole where some are missing."""
    return frame.astype({name: "Int64" for name in _INTEGER_COLUMNS if name in frame})
