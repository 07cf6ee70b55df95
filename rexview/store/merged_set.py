"""Given and written rows joined: the data that pages count and show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.answer_digest import digests_of, merge_stale_rows, separate_stale_rows
from rexview.columns import TABLES
from rexview.schema import FailureMark, Reader, ReviewSet, WrittenFailure
from rexview.store.current_state import (
    FROM_FILE,
    ORIGIN,
    CurrentState,
    current_comments,
    decisions_frame,
    flags_frame,
    parse_line_place,
    rows_frame,
    scores_frame,
)
from rexview.store.kinds import ENTRY_KINDS
from rexview.store.reviews import Reviews

SCORE_KEY: Final = ("case", "model", "reader", "dimension", "image")
FLAG_KEY: Final = ("case", "model", "reader", "failure")
_SPOT: Final = tuple(part.name for part in TABLES["comments"].by_name["on"].fields)
_OF_READER: Final = ("case", "reader")
_PAIR_KEY: Final = ("case", "reader", "_one", "_other")
_CORRECTED: Final = ("case", "model", "reader")
_CURATION_KINDS: Final = {
    "candidates": "propose",
    "candidate_ratings": "rate",
    "candidate_tags": "tag",
    "selections": "select",
    "validations": "validate",
}
"""Tables of questions in curation, with the kind of entry that writes each."""
EXPERT_CHECK: Final = "expert"
"""The check of a multiple-choice candidate that a person decides."""


def merge_reviews(review_set: ReviewSet, reviews: Reviews) -> ReviewSet:
    """Return the review set with the app's entries joined to the given rows.

    Of rows about the same thing by the same reader, the one with the newest ``created`` counts;
    given rows without a date are the oldest. Edits of a report count together, once their reader
    has marked the report as corrected. A corrected report without any edit is a row that keeps it.
    ``_origin`` is where a row comes from. What a reader took back is left out. Everybody who wrote
    is among the readers.

    Stale rows are decided last. The newest row of a reader counts; if the answer was changed after
    it, neither it nor any older row counts.

    The fingerprint changes with every entry, and when a picture of a judged answer is replaced.
    Without any entry the set itself is returned.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    current = reviews.current_state()
    if not current.revision:
        return review_set
    given = merge_stale_rows(review_set)
    scores = _rows_of_known_cases(scores_frame(current.rows("score")), review_set)
    flags = _rows_of_known_cases(flags_frame(current.rows("verdict")), review_set)
    has_content = pl.col("score").is_not_null() | pl.col("comment").is_not_null()
    choices = _rows_of_known_cases(rows_frame(current.rows("choose"), frames.CHOICES), review_set)
    references = _rows_of_known_cases(
        rows_frame(current.rows("reference"), frames.REFERENCES), review_set
    )
    has_words = pl.col("findings").is_not_null() | pl.col("impression").is_not_null()
    declared = {reader.id for reader in review_set.info.readers}
    new = [
        Reader(person.id, person.name, person.role)
        for person in current.people.values()
        if person.id not in declared
    ]
    made: dict[str, Any] = {
        name: _merge_curation(getattr(given, name), name, kind, current, review_set)
        for name, kind in _CURATION_KINDS.items()
    }
    every = replace(
        review_set,
        **made,
        info=replace(review_set.info, readers=(*review_set.info.readers, *new)),
        scores=_merge_tables(given.scores, scores, SCORE_KEY, has_content),
        flags=_merge_tables(given.flags, flags, FLAG_KEY, pl.col("verdict").is_not_null()),
        metrics=given.metrics,
        edits=_merge_edits(given.edits, current, review_set),
        choices=_merge_tables(given.choices, choices, _OF_READER, pl.col("choice").is_not_null()),
        preferences=_merge_comparisons(given.preferences, current, review_set),
        comments=_merge_comments(given.comments, current, review_set),
        decisions=_merge_decisions(given.decisions, current, review_set),
        references=_merge_tables(given.references, references, _OF_READER, has_words),
        written_failures=_current_written_failures(current),
        marks=_failure_marks(current, review_set),
    )
    counted = separate_stale_rows(every)
    pictures = digests_of(review_set).pictures_state()
    state = f"{current.revision}-{pictures}" if pictures else str(current.revision)
    return replace(
        counted,
        fingerprint=f"{review_set.fingerprint}-{state}",
    )


def _merge_comments(
    given: pl.DataFrame, current: CurrentState, review_set: ReviewSet
) -> pl.DataFrame:
    """Join given and written comments in their current state: rewritten, removed, settled."""
    every = current_comments(current, review_set)
    stand = {one.id: one for one in every if one.via == FROM_FILE}
    states = pl.DataFrame(
        [(one.id, one.resolved, one.resolved_by) for one in stand.values()],
        schema={name: given.schema[name] for name in ("comment", "resolved", "resolved_by")},
        orient="row",
    )
    kept = given.drop("resolved", "resolved_by")
    kept = kept.join(states, on="comment", how="inner", maintain_order="left")
    last = given.select(pl.col("_row").max().fill_null(0)).item()
    written = [
        {
            "case": one.case,
            "comment": one.id,
            "model": one.model,
            "reader": one.person,
            "text": one.text,
            "on": {name: one.on.get(name) for name in _SPOT} | {"box": one.on.get("box") or []},
            "reply_to": one.reply_to,
            "resolved": one.resolved,
            "resolved_by": one.resolved_by,
            "created": one.at,
            "edited": one.edited,
            "extra": None,
            "_row": last + number,
            "_origin": ORIGIN,
        }
        for number, one in enumerate((one for one in every if one.id not in stand), start=1)
    ]
    rows = _rows_of_known_cases(pl.DataFrame(written, schema=given.schema), review_set)
    return pl.concat([kept.select(given.columns), rows])


def _merge_decisions(
    given: pl.DataFrame, current: CurrentState, review_set: ReviewSet
) -> pl.DataFrame:
    """Join given and written decisions, except those of removed meetings.

    A decision changed in the app keeps the name and day of its given meeting.
    """
    meetings = {row.subject or "": row.value for row in current.rows("meeting")}
    removed = [one for one, value in meetings.items() if value is None]
    came = given.select("meeting", name="meeting_name", held=pl.col("held").dt.strftime("%Y-%m-%d"))
    known = {row.pop("meeting"): row for row in came.iter_rows(named=True)} | meetings
    written = _rows_of_known_cases(decisions_frame(current.rows("decide"), known), review_set)
    is_decided = pl.any_horizontal(pl.col(*ENTRY_KINDS["decide"].fields).is_not_null())
    every = _merge_tables(given, written, TABLES["decisions"].key, is_decided)
    return every.filter(~pl.col("meeting").is_in(removed))


def _current_written_failures(current: CurrentState) -> tuple[WrittenFailure, ...]:
    """Return the current failures in people's own words."""
    return tuple(
        WrittenFailure(row.subject, row.value, row.person_name or row.person, row.at)
        for row in current.rows("written_failure")
        if row.subject and row.value is not None
    )


def _failure_marks(current: CurrentState, review_set: ReviewSet) -> tuple[FailureMark, ...]:
    """Return the answers that people marked with a failure in their own words."""
    given = [
        (row, (row.case, row.model), row.subject, row.value)
        for row in current.rows("written_mark")
        if row.case and row.model and row.subject and row.value is not None
    ]
    there = [one for one in given if review_set.case_row(one[1][0]) is not None]
    digests = digests_of(review_set).of_all(pair for _, pair, _, _ in there)
    found = []
    for row, pair, failure, value in there:
        now = digests.get(pair)
        stale = now is None or row.answer_digest not in (None, now)
        words = value["version"], value["comment"]
        found.append(FailureMark(*pair, row.person, failure, *words, row.at, stale))
    return tuple(found)


def _merge_curation(
    given: pl.DataFrame, name: str, kind: str, current: CurrentState, review_set: ReviewSet
) -> pl.DataFrame:
    """Join given and written rows about questions in curation; null takes a row back."""
    written = _rows_of_known_cases(rows_frame(current.rows(kind), frames.TABLES[name]), review_set)
    if name == "candidates":
        written = written.with_columns(question_type=pl.lit("open"))
    if name == "validations":
        written = written.with_columns(check=pl.lit(EXPERT_CHECK))
    has_content = pl.any_horizontal(pl.col(*ENTRY_KINDS[kind].fields).is_not_null())
    return _merge_tables(given, written, TABLES[name].key, has_content)


def _rows_of_known_cases(rows: pl.DataFrame, review_set: ReviewSet) -> pl.DataFrame:
    """Drop rows about cases that are no longer in the set."""
    return rows.join(review_set.index.case_rows(rows["case"]), on="case", how="semi")


def _merge_tables(
    given: pl.DataFrame, written: pl.DataFrame, key: tuple[str, ...], has_content: pl.Expr
) -> pl.DataFrame:
    """Join both tables; of rows with the same key the newer one stays.

    Written rows without ``has_content`` only remove the row with their key.
    """
    if written.is_empty():
        return given
    both = given.select(*key, "_row", given="created").join(
        written.select(*key, written_row="_row", written="created"), on=key, nulls_equal=True
    )
    given_newer = (pl.col("given") > pl.col("written")).fill_null(False)
    beaten = both.filter(~given_newer).select("_row")
    late = both.filter(given_newer).select(_row="written_row")
    last = given.select(pl.col("_row").max().fill_null(0)).item()
    return pl.concat(
        [
            given.join(beaten, on="_row", how="anti", maintain_order="left"),
            written.join(late, on="_row", how="anti", maintain_order="left")
            .filter(has_content)
            .with_columns((pl.int_range(pl.len()) + last + 1).cast(pl.UInt32).alias("_row")),
        ]
    )


def _merge_comparisons(
    given: pl.DataFrame, current: CurrentState, review_set: ReviewSet
) -> pl.DataFrame:
    """Join given and written comparisons; swapping left and right makes no other pair."""
    written = _rows_of_known_cases(
        rows_frame(current.rows("prefer"), frames.PREFERENCES), review_set
    )
    pair = {
        "_one": pl.min_horizontal("first", "second"),
        "_other": pl.max_horizontal("first", "second"),
    }
    both = given.with_columns(**pair), written.with_columns(**pair)
    return _merge_tables(*both, _PAIR_KEY, pl.col("preferred").is_not_null()).drop(pair)


def _merge_edits(given: pl.DataFrame, current: CurrentState, review_set: ReviewSet) -> pl.DataFrame:
    """Join given edits with those of the reports that their reader has finished.

    A reader who opens a report again also takes back the given edits.
    """
    rows = current.rows("corrected")
    said = _rows_of_known_cases(rows_frame(rows, frames.EDITS), review_set)
    if said.is_empty():
        return given
    done = rows_frame((row for row in rows if (row.value or {}).get("done")), frames.EDITS)
    done = _rows_of_known_cases(done, review_set).with_columns(action=pl.lit("keep"), line=None)
    in_order = sorted(current.rows("edit"), key=lambda row: parse_line_place(row.subject or "0"))
    edits = rows_frame((row for row in in_order if row.value), frames.EDITS)
    key = [*_CORRECTED, "answer_digest"]
    finished = edits.join(done, on=key, how="semi", nulls_equal=True, maintain_order="left")
    unedited = done.join(finished, on=key, how="anti", nulls_equal=True)
    written = pl.concat([finished, unedited])
    written = written.sort("case", "model", "reader", "line", maintain_order=True)
    newest = given.group_by(_CORRECTED).agg(given=pl.col("created").max())
    both = newest.join(said.select(*_CORRECTED, said="created"), on=_CORRECTED)
    is_later = (pl.col("given") > pl.col("said")).fill_null(False)
    beaten, later = both.filter(~is_later), both.filter(is_later)
    kept = given.join(beaten, on=_CORRECTED, how="anti", maintain_order="left")
    written = written.join(later, on=_CORRECTED, how="anti", maintain_order="left")
    last = given.select(pl.col("_row").max().fill_null(0)).item()
    numbers = (pl.int_range(pl.len()) + last + 1).cast(pl.UInt32)
    return pl.concat([kept, written.with_columns(numbers.alias("_row"))])
