"""The table that all filters, counts and charts work on: one row for each newest answer.

Everything that is filtered by is a small number: the place of a word in a fixed list, or a bit. The
table is made once for an open review set and never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.case.comments import CommentCount
from rexview.analysis.filter.case_filter import ANSWER_STATUSES, COMMENTED, STUDIES, WEAKEST
from rexview.analysis.memory.coded_column import CodedColumn, Codes, Mask, enum_of
from rexview.analysis.memory.score_index import ScoreIndex
from rexview.analysis.memory.severity import flagged_findings, harm_of_answers, severity, with_harm
from rexview.detect import (
    DISAGREEMENT_THRESHOLD,
    GAP_THRESHOLD,
    Survey,
    survey,
)
from rexview.detect import detectors as registry_detectors
from rexview.detect.core.detector import Detector
from rexview.detect.core.scan import Scan
from rexview.harm import HarmTable, load_harm
from rexview.schema import ReviewSet
from rexview.stats import ContentOrder, answer_status, finals_of, weakest_link
from rexview.stats.failure_rates import clusters_of
from rexview.stats.values import Finals, finals
from rexview.vocab import CATEGORIES, DIFFICULTIES, DIMENSIONS, QUESTION_TYPES

NUMBERS: Final = ("content", *DIMENSIONS, "gap", "spread")
_KEY: Final = ("case", "model")
Bits = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Answers and cases of an open review set, ready to be filtered.

    Attributes
    ----------
    rows : polars.DataFrame
        One row for each newest answer, cases in file order, models in the set's order; a case
        without answers has one row with a null model. Columns: ``case``, ``model`` (Enum),
        ``status`` (Enum of :data:`ANSWER_STATUSES`), ``created``, ``content``, the dimensions,
        ``gap``, ``spread`` (final scores, null where missing), ``n_readers``, ``weakest`` (Enum),
        ``detected``, ``reader_flagged``, ``hinted``, ``judged`` (UInt32, bits of
        :data:`FAILURE_BITS`: flags of detectors that stand, flags that readers confirmed,
        hints of detectors that stand, failures about which something can be said), the columns of
        :data:`rexview.analysis.memory.severity.HARM_COLUMNS`, ``severity``, ``text``,
        ``case_row`` (row in ``cases``).
    cases : polars.DataFrame
        One row a case in file order: ``case``, ``question_type``, ``category``, ``difficulty``,
        ``site``, ``study`` (Enums), ``tags`` (list of ``name:value``), ``question``, ``report``.
    models : dict of str to str
        Name on screen by model id, in the set's order.
    n_images, n_readers : int
        Different images, and people who scored or flagged.
    finals : Finals
        The final scores that statistics are made of; image dimensions for each picture.
    scores : ScoreIndex
        The readers' single scores, placed in ``rows``.
    comments : mapping of str to CommentCount
        Comments by id of the case, of those that have any.
    gap_threshold : float
        From which gap on an execution gap is flagged.
    survey : Survey
        What detectors and readers said, which a table of the same files with other scores builds
        on.
    content_order : str
        How Content is worked out (:data:`rexview.stats.CONTENT_ORDERS`).
    harm : HarmTable
        What harm the failures do: the set's own table, or the built-in one.
    """

    rows: pl.DataFrame
    cases: pl.DataFrame
    models: dict[str, str]
    n_images: int
    n_readers: int
    finals: Finals
    scores: ScoreIndex
    gap_threshold: float = GAP_THRESHOLD
    survey: Survey | None = None
    content_order: ContentOrder = "mean_first"
    comments: Mapping[str, CommentCount] = field(default_factory=dict)
    harm: HarmTable = field(default_factory=load_harm)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """First row of each case in ``rows``."""
        counts = np.bincount(self.case_row, minlength=len(self.cases))
        return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)

    @cached_property
    def case_row(self) -> Codes:
        """Row in ``cases`` of each row."""
        return self.rows["case_row"].to_numpy()

    @cached_property
    def row_of_case(self) -> dict[str, int]:
        """Row in ``cases`` of each case, by its id."""
        return {case_id: row for row, case_id in enumerate(self.cases["case"].to_list())}

    @cached_property
    def row_codes(self) -> dict[str, CodedColumn]:
        """Coded columns of the answers."""
        return {name: CodedColumn.of(self.rows[name]) for name in ("model", "status", "weakest")}

    @cached_property
    def case_codes(self) -> dict[str, CodedColumn]:
        """Coded columns of the cases."""
        names = ("question_type", "category", "difficulty", "site", "study")
        return {name: CodedColumn.of(self.cases[name]) for name in names}

    @cached_property
    def row_of_answer(self) -> npt.NDArray[np.uint32]:
        """Row in ``rows`` of each answer, by its number in ``ReviewSet.newest``."""
        return np.flatnonzero(self.answered).astype(np.uint32)

    @cached_property
    def commented(self) -> dict[str, Mask]:
        """Which cases have comments, and which an open one, by word of :data:`COMMENTED`."""
        found = {word: np.zeros(len(self.cases), dtype=np.bool_) for word in COMMENTED}
        for case, count in self.comments.items():
            if case in self.row_of_case:
                place = self.row_of_case[case]
                found["commented"][place] = count.comments > 0
                found["unresolved"][place] = count.unresolved > 0
        return found

    @cached_property
    def tag_codes(self) -> dict[str, tuple[Codes, CodedColumn]]:
        """For each tag name the cases that have it (rows in ``cases``), and the values coded."""
        long = (
            self.cases.select(pl.int_range(pl.len(), dtype=pl.UInt32()).alias("row"), "tags")
            .filter(pl.col("tags").list.len() > 0)
            .explode("tags")
            .with_columns(name=pl.col("tags").str.split_exact(":", 1).struct.field("field_0"))
        )
        parts = long.partition_by("name", as_dict=True, maintain_order=True)
        return {
            str(name): (part["row"].to_numpy(), CodedColumn.of(enum_of(part["tags"])))
            for (name,), part in parts.items()
        }

    @cached_property
    def flags_by_source(self) -> dict[str, Bits]:
        """Failures of each row as bits, by who says so: the words of ``SOURCES``, and ``any``.

        A hint alone is no failure that anybody found: ``any`` leaves it out.
        """
        detected, reader_flagged, hinted = (
            self.rows[name].to_numpy() for name in ("detected", "reader_flagged", "hinted")
        )
        return {
            "detector": detected & ~reader_flagged,
            "reader": reader_flagged & ~detected,
            "both": detected & reader_flagged,
            "hint": hinted & ~detected & ~reader_flagged,
            "any": detected | reader_flagged,
        }

    @cached_property
    def failure_findings(self) -> pl.DataFrame:
        """What the failures that stand are about, where a detector found it.

        ``row`` (UInt32, in ``rows``), ``failure``, ``finding`` (never null), ``detected``,
        ``reader_flagged``, ``hint``: as in
        :func:`rexview.analysis.memory.severity.flagged_findings`.
        """
        if self.survey is None:
            return pl.DataFrame()
        found = flagged_findings(self.survey, self.row_of_answer)
        return found.filter(pl.col("finding").is_not_null())

    @cached_property
    def judged(self) -> Bits:
        """Failures about which something can be said of each row, as bits."""
        return self.rows["judged"].to_numpy()

    @cached_property
    def answered(self) -> Mask:
        """Which rows are answers; the others stand for cases without any."""
        return self.rows["model"].is_not_null().to_numpy()

    @cached_property
    def cluster(self) -> npt.NDArray[np.int64]:
        """A number for the patient of each case; cases with the same one belong together."""
        return clusters_of(self.scores.review_set.cases)["cluster"].to_numpy()

    @cached_property
    def word_bits(self) -> dict[str, Bits]:
        """The coded columns of the answers as one bit each, for those with fewer than 32 words."""
        return {
            name: np.uint32(1) << coded.codes.astype(np.uint32)
            for name, coded in self.row_codes.items()
            if len(coded.values) < 32
        }

    @cached_property
    def numbers(self) -> dict[str, npt.NDArray[np.float32]]:
        """The columns with numbers, NaN where missing."""
        return {
            name: self.rows[name].cast(pl.Float32).fill_null(np.nan).to_numpy()
            for name in (*NUMBERS, "severity")
        }

    def any_of_case(self, rows: Mask) -> Mask:
        """Say for each case whether any of its rows is chosen."""
        found = np.zeros(len(self.cases), dtype=np.bool_)
        found[self.case_row[rows]] = True
        return found

    def bits_of_case(self, bits: Bits) -> Bits:
        """Gather the bits of all rows of each case."""
        if not len(self.cases):
            return np.zeros(0, dtype=np.uint32)
        return np.bitwise_or.reduceat(bits, self.starts)


def answer_table(
    review_set: ReviewSet,
    *,
    gap_threshold: float = GAP_THRESHOLD,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
    content_order: ContentOrder = "mean_first",
    detectors: Sequence[Detector] | None = None,
    before: AnswerTable | None = None,
    comments: Mapping[str, CommentCount] | None = None,
) -> AnswerTable:
    """Make the table of an open review set: final scores and flags are worked out here, once.

    ``detectors`` are those with the thresholds given, unless others are asked for. ``before`` is
    the table of the same files with other scores or reader flags: no text is read again then.
    ``comments`` are counted by :func:`rexview.analysis.case.comments.counts_by_case`.
    """
    cases = _case_table(review_set.cases)
    answers = review_set.answers.filter("_newest").select(
        *_KEY,
        answer_status().alias("status"),
        "created",
        "text",
    )
    scores = finals_of(review_set, content_order=content_order)
    scores = scores.with_columns(weakest_link().alias("weakest"))
    active = detectors or registry_detectors(
        gap_threshold=gap_threshold,
        disagreement_threshold=disagreement_threshold,
        models=review_set.models,
    )
    found = survey(review_set, detectors=active, before=before.survey if before else None)
    order = cases.select("case", pl.int_range(pl.len(), dtype=pl.UInt32()).alias("case_row"))
    names = review_set.model_names
    rows = (
        order.join(answers, on="case", how="left")
        .join(scores, on=_KEY, how="left")
        .with_columns(
            pl.col("model").cast(pl.Enum(list(names))),
            pl.col("status").fill_null("not_run").cast(pl.Enum(list(ANSWER_STATUSES))),
            pl.col("weakest").cast(pl.Enum(WEAKEST)),
        )
        .sort("case_row", pl.col("model").to_physical(), maintain_order=True)
    )
    stands = found.flags.filter("stands")
    detected = stands.filter(pl.col("source") == "detector")
    by_reader = stands.filter(pl.col("source") == "reader")
    answered, n_answers = rows["model"].is_not_null().to_numpy(), len(review_set.newest)
    place = rows.select("case", pl.col("model").cast(pl.String)).with_row_index("row")
    rows = rows.with_columns(
        _at_rows(answered, _bits(detected.filter(~pl.col("hint")), n_answers)).alias("detected"),
        _at_rows(answered, _bits(detected.filter("hint"), n_answers)).alias("hinted"),
        _at_rows(answered, _bits(by_reader, n_answers)).alias("reader_flagged"),
        _at_rows(answered, found.judged).alias("judged"),
    )
    row_of_answer = np.flatnonzero(answered).astype(np.uint32)
    harm = load_harm(review_set.folder / review_set.info.harm if review_set.info.harm else None)
    rows = with_harm(rows, harm_of_answers(flagged_findings(found, row_of_answer), harm), harm)
    readers = pl.concat([review_set.scores["reader"], review_set.flags["reader"]]).drop_nulls()
    images = review_set.cases["images"].explode().struct.field("path").drop_nulls()
    return AnswerTable(
        rows=severity(rows).rechunk(),
        cases=cases,
        models=names,
        n_images=images.n_unique(),
        n_readers=readers.n_unique(),
        finals=finals(review_set, content_order=content_order),
        scores=ScoreIndex(review_set, place),
        gap_threshold=gap_threshold,
        survey=found,
        content_order=content_order,
        comments=comments or {},
        harm=harm,
    )


def with_scan(table: AnswerTable, scan: Scan) -> AnswerTable:
    """Return the table of the same answers with what another scan of them found."""
    known = table.survey
    return answer_table(
        table.scores.review_set,
        gap_threshold=table.gap_threshold,
        detectors=scan.detectors,
        content_order=table.content_order,
        before=replace(table, survey=replace(known, scan=scan)) if known else None,
        comments=table.comments,
    )


def in_content_order(table: AnswerTable, content_order: ContentOrder) -> AnswerTable:
    """Return the table of the same answers with Content in another order.

    No detector looks at Content, so failures are not looked for again.
    """
    if content_order == table.content_order:
        return table
    review_set = table.scores.review_set
    content = finals_of(review_set, content_order=content_order).select(
        "case", pl.col("model").cast(table.rows["model"].dtype), "content"
    )
    rows = (
        table.rows.drop("content", "weakest", "severity")
        .join(content, on=_KEY, how="left", maintain_order="left")
        .with_columns(weakest_link().cast(pl.Enum(WEAKEST)).alias("weakest"))
    )
    return replace(
        table,
        rows=severity(rows).select(table.rows.columns).rechunk(),
        finals=finals(review_set, content_order=content_order),
        content_order=content_order,
    )


def _case_table(cases: pl.DataFrame) -> pl.DataFrame:
    categories = [word for words in CATEGORIES.values() for word in words]
    report = [
        pl.col("report").struct.field(part).fill_null("") for part in ("findings", "impression")
    ]
    study = pl.when("normal").then(pl.lit("normal")).otherwise(pl.lit("abnormal"))
    chosen = cases.select(
        pl.col("id").alias("case"),
        "question_type",
        "category",
        "difficulty",
        "site",
        pl.when(pl.col("normal").is_not_null()).then(study).alias("study"),
        pl.col("question").fill_null(""),
        pl.concat_str(report, separator="\n").alias("report"),
    )
    return chosen.with_columns(
        enum_of(chosen["question_type"], list(QUESTION_TYPES)),
        enum_of(chosen["category"], categories),
        enum_of(chosen["difficulty"], DIFFICULTIES),
        enum_of(chosen["site"]),
        enum_of(chosen["study"], list(STUDIES)),
        _tags(cases),
    )


def _tags(cases: pl.DataFrame) -> pl.Series:
    """Return the tags of each case as a list of ``name:value``."""
    long = (
        cases.select(pl.int_range(pl.len(), dtype=pl.UInt32()).alias("row"), "tags")
        .filter(pl.col("tags").list.len() > 0)
        .explode("tags")
        .unnest("tags")
        .filter(pl.col("values").list.len() > 0)
        .explode("values")
        .drop_nulls()
        .with_columns(pl.col("name").str.replace_all(":", " "))
        .with_columns(tag=pl.format("{}:{}", "name", "values"))
        .group_by("row", maintain_order=True)
        .agg(pl.col("tag").unique(maintain_order=True).alias("tags"))
    )
    rows = pl.DataFrame({"row": pl.int_range(len(cases), dtype=pl.UInt32(), eager=True)})
    return rows.join(long, on="row", how="left", maintain_order="left")["tags"]


def _bits(flags: pl.DataFrame, answers: int) -> Bits:
    """Gather failures (``answer``, ``failure``) into bits, one number for each of the answers."""
    bits = np.zeros(answers, dtype=np.uint32)
    numbers, codes = flags["answer"].to_numpy(), flags["failure"].to_physical().to_numpy()
    np.bitwise_or.at(bits, numbers, np.uint32(1) << codes.astype(np.uint32))
    return bits


def _at_rows(answered: Mask, bits: Bits) -> pl.Series:
    """Put bits of answers, by number, at the rows of a table that are answers."""
    at_rows = np.zeros(len(answered), dtype=np.uint32)
    at_rows[answered] = bits
    return pl.Series(at_rows)
