"""Flags of detectors and readers as bits by row of the answer table, and their severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.filter.case_filter import SOURCES
from rexview.analysis.query.filter.conditions import UNKNOWN_FINDING, FindingCondition
from rexview.analysis.query.memory.score_index import ScoreIndex
from rexview.analysis.query.memory.set_columns import Codes, Mask, SetColumns
from rexview.detect import FAILURE_BITS, Survey
from rexview.harm import NO_ANSWER_HARM, HarmTable, severity_sort_value
from rexview.stats import MISSING_STATUSES
from rexview.stats.failure_rates import JudgedAnswers
from rexview.vocab import FAILURES

# Severity of an answer: a number to sort by, clinical harm first. It is never shown.
#
# The harm of a failure, 0 to 4, comes from a table (:mod:`rexview.harm`). It is the harm of the
# failure's finding where a detector found one, else of the failure itself. The **harm of an answer
# is that of its worst failure**: the largest, not the sum, so that five faults of style never rank
# above one pneumothorax on the wrong side. Failures that a reader confirmed count like flags of
# detectors that readers did not reject. Hints rank below them.
#
# Answers with the same harm are sorted by these keys:
#
# 1. without any harmful failure: more harm suggested by a hint first; 2. worst failure confirmed by
# a reader, before worst failure from a detector only; 3. lower Content first (a missing or
# incomplete answer counts as 1, an unscored one as 5); 4. answers with a hint, more harm first;
# 5. the order of the file.
#
# A case is sorted by its worst answer among those that match the filter.

HARM_COLUMNS: Final = pl.Schema(
    {
        "harm": pl.UInt8(),  # of the worst failure, 0 to 4; 0 without any
        "harm_failure": pl.Enum([*FAILURES, NO_ANSWER_HARM]),  # that failure; null without any
        "harm_finding": pl.Categorical(),  # that failure's finding, null when not known
        "harm_confirmed": pl.Boolean(),  # by a reader
        "harm_hinted": pl.UInt8(),  # of the worst hint, at least 1 where there is one
        "hinted_failure": pl.Enum(list(FAILURES)),  # that hint's; null without any
        "hinted_finding": pl.Categorical(),
    }
)
_BEST: Final = 5.0
_FAILURE: Final = pl.Enum(list(FAILURES))


def list_flagged_findings(survey: Survey) -> pl.DataFrame:
    """Return the flags and hints that no reader's verdict rejected, with source and finding.

    Returns
    -------
    polars.DataFrame
        ``row`` (the answer's number), ``failure`` (Enum), ``finding`` (null when not known),
        ``detected`` (Boolean: by a detector), ``reader_flagged`` (Boolean: by a reader), ``hint``
        (neither). One row for each finding of a failure; findings that only a hint names are left
        out where a flag names others.
    """
    flags = _add_failure_key(survey.flags.filter("stands"))
    by_detector = (pl.col("source") == "detector") & ~pl.col("hint")
    flagged = flags.group_by("_key", maintain_order=True).agg(
        by_detector.any().alias("detected"),
        (pl.col("source") == "reader").any().alias("reader_flagged"),
    )
    findings = _add_failure_key(survey.findings).select("_key", "finding", "hint")
    firm = findings.filter(~pl.col("hint"))
    hinted = findings.filter("hint").join(firm, on="_key", how="anti")
    about = pl.concat([firm, hinted]).select("_key", "finding").unique()
    about = about.sort("_key", pl.col("finding").cast(pl.String))
    return flagged.join(about, on="_key", how="left", maintain_order="left").select(
        (pl.col("_key") // len(FAILURES)).cast(pl.UInt32).alias("row"),
        (pl.col("_key") % len(FAILURES))
        .replace_strict(dict(enumerate(FAILURES)), return_dtype=_FAILURE)
        .alias("failure"),
        "finding",
        "detected",
        "reader_flagged",
        (~(pl.col("detected") | pl.col("reader_flagged"))).alias("hint"),
    )


def _add_failure_key(named: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``_key``, one number for answer and failure."""
    failure = pl.col("failure").to_physical().cast(pl.Int64)
    return named.with_columns(_key=pl.col("answer").cast(pl.Int64) * len(FAILURES) + failure)


def find_worst_failures(found: pl.DataFrame, table: HarmTable, lost: Codes) -> pl.DataFrame:
    """Return the worst failure of each answer that has any: ``row``, :data:`HARM_COLUMNS`.

    ``found`` comes from :func:`list_flagged_findings`. ``lost`` has the rows of missing or
    incomplete answers: each has at least the table's harm for that. Rows ascend.
    """
    kinds = found.select("failure", "finding").unique()
    levels = [table.of(failure, finding) for failure, finding in kinds.iter_rows()]
    kinds = kinds.with_columns(pl.Series("harm", levels, dtype=pl.UInt8))
    rated = found.join(
        kinds, on=["failure", "finding"], how="left", nulls_equal=True, maintain_order="left"
    )
    place = pl.col("failure").to_physical().cast(pl.Int64)
    # the most harm first, then what a reader confirmed, then the order of failures
    rank = (2 * pl.col("harm").cast(pl.Int64) + pl.col("reader_flagged")) * len(FAILURES) - place
    worst = (
        rated.filter(~pl.col("hint"))
        .sort(rank, descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select(
            "row",
            "harm",
            harm_failure=pl.col("failure").cast(HARM_COLUMNS["harm_failure"]),
            harm_finding="finding",
            harm_confirmed="reader_flagged",
        )
    )
    hinted = (
        rated.filter("hint")
        .sort(rank, descending=True, maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select(
            "row",
            harm_hinted=pl.col("harm").clip(lower_bound=1),
            hinted_failure="failure",
            hinted_finding="finding",
        )
    )
    never_came = pl.DataFrame({"row": lost.astype(np.uint32), "lost": np.ones(len(lost), np.bool_)})
    joined = worst.join(hinted, on="row", how="full", coalesce=True)
    joined = joined.join(never_came, on="row", how="full", coalesce=True)
    least = table.failures[NO_ANSWER_HARM].harm
    only_lost = pl.col("lost").fill_null(False) & (pl.col("harm").fill_null(0) < least)
    return joined.sort("row").select(
        "row",
        harm=pl.when(only_lost).then(least).otherwise(pl.col("harm").fill_null(0)).cast(pl.UInt8),
        harm_failure=pl.when(only_lost)
        .then(pl.lit(NO_ANSWER_HARM, dtype=HARM_COLUMNS["harm_failure"]))
        .otherwise("harm_failure"),
        harm_finding=pl.when(~only_lost).then("harm_finding"),
        harm_confirmed=~only_lost & pl.col("harm_confirmed").fill_null(False),
        harm_hinted=pl.col("harm_hinted").fill_null(0).cast(pl.UInt8),
        hinted_failure="hinted_failure",
        hinted_finding="hinted_finding",
    )


@dataclass(frozen=True, eq=False)
class SeverityRanks:
    """The severity of each row: ``ranks`` are indices into ``values``, which ascend."""

    ranks: Codes
    values: npt.NDArray[np.float64]


def rank_severity(harm: pl.DataFrame, lost: Mask, scores: ScoreIndex) -> SeverityRanks:
    """Return the severity of the rows of an answer table.

    ``harm`` comes from :func:`find_worst_failures`; ``lost`` is a mask of missing or incomplete
    answers.
    """
    severe = np.zeros(len(lost), dtype=np.float32)
    by_harm, by_reader, by_hint = (
        harm[name].cast(pl.Float32).to_numpy() for name in ("harm", "harm_confirmed", "harm_hinted")
    )
    severe[harm["row"].to_numpy()] = severity_sort_value(by_harm, by_reader, by_hint)
    severe[lost] += _BEST - 1
    content, came = scores.number("content"), ~lost[scores.scored]
    severe[scores.scored[came]] += np.nan_to_num(_BEST - content[came])
    some = np.flatnonzero(severe)
    values, places = np.unique(severe[some], return_inverse=True)
    ranks = np.zeros(len(severe), dtype=np.min_scalar_type(len(values)))
    ranks[some] = places + 1
    return SeverityRanks(ranks, np.concatenate([[0.0], values]))


Bits = npt.NDArray[np.uint32]
SourceBits = npt.NDArray[np.uint64]
_WIDTH: Final = len(FAILURE_BITS)
SOURCE_OFFSETS: Final = {source: _WIDTH * n for n, source in enumerate(SOURCES)}
"""First bit of each source's failures."""
_FLAGGING_SOURCES: Final = ("detector", "reader", "both")
"""Sources that report a failure. A hint does not: it counts only where a filter names it."""


@dataclass(frozen=True, eq=False)
class FailureIndex:
    """The failures of each row by source, and the failures that can be judged.

    Attributes
    ----------
    columns : SetColumns
    survey : Survey
    harm_table : HarmTable
    by_source : array of uint64, one a row
        The failures of each of ``SOURCES``: one block of :data:`FAILURE_BITS` for each source. Each
        failure of a row has at most one source.
    judged : array of uint32, one a row
        :data:`FAILURE_BITS` of the failures that can be judged.
    spoken : array of uint32, one a row
        :data:`FAILURE_BITS` of the failures that a reader confirmed or rejected.
    """

    columns: SetColumns
    survey: Survey
    harm_table: HarmTable
    by_source: SourceBits
    judged: Bits
    spoken: Bits

    @classmethod
    def of(cls, survey: Survey, columns: SetColumns, harm: HarmTable) -> FailureIndex:
        """Return the bits of a survey."""
        stands = survey.flags.filter("stands")
        by_detector = pl.col("source") == "detector"
        detected, hinted, said = (
            _pack_failures(stands.filter(condition), len(columns))
            for condition in (
                by_detector & ~pl.col("hint"),
                by_detector & pl.col("hint"),
                ~by_detector,
            )
        )
        by_source = np.zeros(len(columns), dtype=np.uint64)
        parts = (detected & ~said, said & ~detected, detected & said, hinted & ~(detected | said))
        for place, bits in zip(SOURCE_OFFSETS.values(), parts, strict=True):
            by_source |= bits.astype(np.uint64) << np.uint64(place)
        spoken = _pack_failures(survey.flags.filter(~by_detector), len(columns))
        judged = columns.with_the_others(survey.judged, 0)
        return cls(columns, survey, harm, by_source, judged, spoken)

    @cached_property
    def about(self) -> pl.DataFrame:
        """Findings of flags and hints that are not rejected: see :func:`list_flagged_findings`."""
        return list_flagged_findings(self.survey)

    @property
    def findings(self) -> pl.DataFrame:
        """Rows of :attr:`about` with a finding; detectors name them."""
        return self.about.filter(pl.col("finding").is_not_null())

    @cached_property
    def lost(self) -> Mask:
        """Mask of the missing or incomplete answers."""
        return self.columns.status.among(MISSING_STATUSES)

    @cached_property
    def harm(self) -> pl.DataFrame:
        """The harm of each row that has any: see :func:`find_worst_failures`."""
        return find_worst_failures(self.about, self.harm_table, np.flatnonzero(self.lost))

    def by(self, sources: Sequence[str], rows: Codes) -> Bits:
        """Return the failures of some rows from some sources: see :func:`failures_from_sources`."""
        return failures_from_sources(self.by_source[rows], sources)

    def meeting(self, failures: Iterable[str], sources: Sequence[str]) -> Mask:
        """Return a mask of the rows with one of some failures from one of some sources."""
        return np.asarray(self.by_source & source_bits(failures, sources) != 0)

    def about_findings(
        self, failures: Sequence[str], sources: Sequence[str], findings: Sequence[str]
    ) -> Mask:
        """Return a mask of the rows with a failure from a source, about one of some findings.

        Empty ``failures`` means any; empty ``sources`` means all but hints. ``findings`` are values
        of the filter's condition.
        """
        rows = np.zeros(len(self.columns), dtype=np.bool_)
        if UNKNOWN_FINDING in findings:
            for failure in failures or FAILURE_BITS:
                named = self.findings.filter(pl.col("failure") == failure)["row"].to_numpy()
                flagged = self.meeting((failure,), sources)
                flagged[named] = False
                rows |= flagged
        ids = [finding for word in findings for finding in FindingCondition.parse(word).ids]
        detected, reader_flagged = pl.col("detected"), pl.col("reader_flagged")
        by_source = {
            "detector": detected & ~reader_flagged,
            "reader": reader_flagged & ~detected,
            "both": detected & reader_flagged,
            "hint": pl.col("hint"),
        }
        by_whom = [by_source[source] for source in sources] or [~pl.col("hint")]
        of_failure = pl.col("failure").is_in(list(failures or FAILURE_BITS))
        of_finding = pl.col("finding").is_in(ids)
        met = self.findings.filter(of_failure, of_finding, pl.any_horizontal(by_whom))
        rows[met["row"].to_numpy()] = True
        return rows

    def judged_by_model(
        self,
        chosen: Mask,
        failures: Sequence[str],
        sources: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> Iterator[dict[tuple[str, str], JudgedAnswers]]:
        """Yield for each failure the chosen answers that can be judged, by failure and model.

        Only flags from ``sources`` count; empty means all but hints. With ``findings``, only flags
        about one of them count. Both hold values of the filter.
        """
        answers = self._answers_of_models(chosen)
        for failure in failures:
            bit, said = np.uint32(FAILURE_BITS[failure]), source_bits((failure,), sources)
            about = self.about_findings((failure,), sources, findings) if findings else None
            found = {}
            for model, (numbers, judged, by_source, cases, patients) in answers.items():
                can = np.flatnonzero(judged & bit)
                is_flagged = by_source[can] & said != 0 if about is None else about[numbers[can]]
                if len(can):
                    found[failure, model] = JudgedAnswers(cases[can], is_flagged, patients[can])
            yield found

    def _answers_of_models(self, chosen: Mask) -> dict[str, tuple[Codes, ...]]:
        """Return numbers, :attr:`judged`, :attr:`by_source`, cases and patients by model."""
        columns, of_all = self.columns, np.flatnonzero(chosen)
        models = columns.newest.model[of_all]
        found: dict[str, tuple[Codes, ...]] = {}
        for code in np.flatnonzero(np.bincount(models)):
            numbers = of_all[models == code]
            cases = columns.newest.case[numbers]
            found[columns.model.values[code]] = (
                *(numbers, self.judged[numbers], self.by_source[numbers]),
                *(cases, columns.cluster[cases]),
            )
        return found


def source_bits(failures: Iterable[str], sources: Sequence[str]) -> np.uint64:
    """Return the bits of :attr:`Flagged.by_source` for some failures and sources."""
    bits = sum(FAILURE_BITS[failure] for failure in failures)
    return np.uint64(sum(bits << SOURCE_OFFSETS[source] for source in sources or _FLAGGING_SOURCES))


def failures_from_sources(by_source: SourceBits, sources: Sequence[str]) -> Bits:
    """Return the bits of the failures from some sources; none named means all but hints."""
    found = np.zeros(len(by_source), dtype=np.uint32)
    every = np.uint64((1 << _WIDTH) - 1)
    for source in sources or _FLAGGING_SOURCES:
        found |= (by_source >> np.uint64(SOURCE_OFFSETS[source]) & every).astype(np.uint32)
    return found


def _pack_failures(flags: pl.DataFrame, rows: int) -> Bits:
    """Return flags (``answer``, ``failure``) as bits, one number for each row."""
    bits = np.zeros(rows, dtype=np.uint32)
    failures = flags["failure"].to_physical().cast(pl.UInt32).to_numpy()
    np.bitwise_or.at(bits, flags["answer"].to_numpy(), np.uint32(1) << failures)
    return bits
