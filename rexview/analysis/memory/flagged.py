"""What detectors and readers found, as bits by row of the answer table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.filter.case_filter import SOURCES
from rexview.analysis.filter.conditions import NOT_KNOWN, Finding
from rexview.analysis.memory.coded_column import Codes, Mask
from rexview.analysis.memory.set_columns import SetColumns
from rexview.analysis.memory.severity import flagged_findings, harm_of_answers
from rexview.detect import FAILURE_BITS, Survey
from rexview.harm import HarmTable
from rexview.stats import NO_ANSWER
from rexview.stats.failure_rates import Judged

Bits = npt.NDArray[np.uint32]
SourceBits = npt.NDArray[np.uint64]
_WIDTH: Final = len(FAILURE_BITS)
SOURCE_PLACES: Final = {source: _WIDTH * n for n, source in enumerate(SOURCES)}
"""From which bit on the failures stand that a source says."""
_FLAGGING: Final = ("detector", "reader", "both")
"""A hint alone is no failure that anybody found: it counts only where it is asked for."""


@dataclass(frozen=True, eq=False)
class Flagged:
    """Who says which failure of which row, and what can be judged.

    Attributes
    ----------
    columns : SetColumns
    survey : Survey
    harm_table : HarmTable
    by_source : array of uint64, one a row
        The failures that each of ``SOURCES`` says, :data:`FAILURE_BITS` beside each other; each
        failure of a row is said by one of them at most.
    judged : array of uint32, one a row
        :data:`FAILURE_BITS` of the failures about which something can be said.
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
    def of(cls, survey: Survey, columns: SetColumns, harm: HarmTable) -> Flagged:
        """Turn a survey into bits."""
        stands = survey.flags.filter("stands")
        by_detector = pl.col("source") == "detector"
        detected, hinted, said = (
            _bits(stands.filter(condition), len(columns))
            for condition in (
                by_detector & ~pl.col("hint"),
                by_detector & pl.col("hint"),
                ~by_detector,
            )
        )
        by_source = np.zeros(len(columns), dtype=np.uint64)
        parts = (detected & ~said, said & ~detected, detected & said, hinted & ~(detected | said))
        for place, bits in zip(SOURCE_PLACES.values(), parts, strict=True):
            by_source |= bits.astype(np.uint64) << np.uint64(place)
        spoken = _bits(survey.flags.filter(~by_detector), len(columns))
        judged = columns.with_the_others(survey.judged, 0)
        return cls(columns, survey, harm, by_source, judged, spoken)

    @cached_property
    def about(self) -> pl.DataFrame:
        """What the failures that stand are about: see :func:`flagged_findings`."""
        return flagged_findings(self.survey)

    @property
    def findings(self) -> pl.DataFrame:
        """What of :attr:`about` names a finding, which a detector found."""
        return self.about.filter(pl.col("finding").is_not_null())

    @cached_property
    def lost(self) -> Mask:
        """Which answers did not come in full."""
        return self.columns.status.among(NO_ANSWER)

    @cached_property
    def harm(self) -> pl.DataFrame:
        """The harm of each row that has any: see :func:`harm_of_answers`."""
        return harm_of_answers(self.about, self.harm_table, np.flatnonzero(self.lost))

    def by(self, sources: Sequence[str], rows: Codes) -> Bits:
        """Return the failures of some rows that some sources say, anybody when none is named."""
        return failures_by(self.by_source[rows], sources)

    def meeting(self, failures: Iterable[str], sources: Sequence[str]) -> Mask:
        """Say which rows have one of some failures, said by one of some sources."""
        return np.asarray(self.by_source & wanted(failures, sources) != 0)

    def about_findings(
        self, failures: Sequence[str], sources: Sequence[str], findings: Sequence[str]
    ) -> Mask:
        """Say which rows have one of some failures, said by one of some sources, about a finding.

        Empty ``failures`` or ``sources`` do not limit; ``findings`` are words of the filter.
        """
        rows = np.zeros(len(self.columns), dtype=np.bool_)
        if NOT_KNOWN in findings:
            for failure in failures or FAILURE_BITS:
                named = self.findings.filter(pl.col("failure") == failure)["row"].to_numpy()
                flagged = self.meeting((failure,), sources)
                flagged[named] = False
                rows |= flagged
        ids = [finding for word in findings for finding in Finding.parse(word).ids]
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
    ) -> Iterator[dict[tuple[str, str], Judged]]:
        """Yield, failure by failure, what of the chosen answers can be judged, by it and model.

        ``sources`` are whose word counts, empty for everybody's. With ``findings`` only flags about
        one of them count. Both are words of the filter.
        """
        answers = self._answers_of_models(chosen)
        for failure in failures:
            bit, said = np.uint32(FAILURE_BITS[failure]), wanted((failure,), sources)
            about = self.about_findings((failure,), sources, findings) if findings else None
            found = {}
            for model, (numbers, judged, by_source, cases, patients) in answers.items():
                can = np.flatnonzero(judged & bit)
                is_flagged = by_source[can] & said != 0 if about is None else about[numbers[can]]
                if len(can):
                    found[failure, model] = Judged(cases[can], is_flagged, patients[can])
            yield found

    def _answers_of_models(self, chosen: Mask) -> dict[str, tuple[Codes, ...]]:
        """Return of each model numbers, :attr:`judged`, :attr:`by_source`, cases and patients."""
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


def wanted(failures: Iterable[str], sources: Sequence[str]) -> np.uint64:
    """Return the bits of :attr:`Flagged.by_source` for some failures, said by some sources."""
    bits = sum(FAILURE_BITS[failure] for failure in failures)
    return np.uint64(sum(bits << SOURCE_PLACES[source] for source in sources or _FLAGGING))


def failures_by(by_source: SourceBits, sources: Sequence[str]) -> Bits:
    """Return the failures that some sources say; when none is named anybody, but by a hint."""
    found = np.zeros(len(by_source), dtype=np.uint32)
    every = np.uint64((1 << _WIDTH) - 1)
    for source in sources or _FLAGGING:
        found |= (by_source >> np.uint64(SOURCE_PLACES[source]) & every).astype(np.uint32)
    return found


def _bits(flags: pl.DataFrame, rows: int) -> Bits:
    """Gather failures (``answer``, ``failure``) into bits, one number for each row."""
    bits = np.zeros(rows, dtype=np.uint32)
    failures = flags["failure"].to_physical().cast(pl.UInt32).to_numpy()
    np.bitwise_or.at(bits, flags["answer"].to_numpy(), np.uint32(1) << failures)
    return bits
