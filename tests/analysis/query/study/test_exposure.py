"""What a reader saw besides the answers, and whether that was before they scored."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from rexview.analysis.reader_exposure import (
    REPORT_EXPOSURE,
    UNBLINDED_EXPOSURE,
    Exposures,
    write_exposures,
)
from rexview.store import StoredEntry

NONE = pl.DataFrame(schema={"case": pl.String, "reader": pl.String})
NOW = datetime(2026, 3, 1, 14, 5, tzinfo=UTC)
ROW = StoredEntry(
    1, "t", NOW, "ann", "Ann", "reader", "score", "c1", "m", "process", None, {}, None, ""
)


def rows(*told):
    """Rows numbered from 1; the clock runs backwards, since the order of rows counts."""
    return [
        replace(ROW, id=number, at=NOW - timedelta(minutes=number), **one)
        for number, one in enumerate(told, start=1)
    ]


def score(value, previous=None, **more):
    before = None if previous is None else {"score": previous}
    return {"kind": "score", "value": {"score": value}, "previous": before, **more}


def shown(what, **more):
    return {"kind": "reveal", "subject": what, "value": {"what": what}, **more}


SEEN = shown(REPORT_EXPOSURE)


@pytest.mark.parametrize(
    ("told", "timing"),
    [
        ([SEEN], "before"),
        ([SEEN, score(3)], "before"),
        ([score(3), SEEN], "after"),
        ([score(3), SEEN, score(2, 3)], "during"),
        ([score(3), SEEN, score(3, 3)], "after"),  # only the comment was changed
        ([score(3), SEEN, SEEN, score(4, subject="language")], "during"),
        ([score(3, case="c2"), SEEN, score(4, person="bob")], "before"),
    ],
)
def test_when_it_was_goes_by_the_order_of_the_history(told, timing):
    seen = Exposures().after(rows(*told))
    found = seen.of("ann", "c1", REPORT_EXPOSURE)
    unfinished = seen.of("ann", "c1", REPORT_EXPOSURE, finished=False)
    assert unfinished.timing == ("during" if timing == "after" else timing)
    assert found.timing == timing
    first = next(row for row in rows(*told) if row.kind == "reveal")
    assert found.at == first.at


@pytest.mark.parametrize(
    ("told", "timing"),
    [
        ([{"kind": "choose"}, SEEN], "after"),
        ([SEEN, {"kind": "choose"}], "before"),
        ([{"kind": "edit"}, SEEN, {"kind": "corrected"}], "during"),
        ([{"kind": "prefer"}, SEEN, score(3)], "before"),  # the scores decide where there are any
    ],
)
def test_answers_corrections_and_comparisons_count_where_nothing_is_scored(told, timing):
    assert Exposures().after(rows(*told)).of("ann", "c1", REPORT_EXPOSURE).timing == timing


def test_rows_may_come_in_parts():
    told = rows(score(3), shown(UNBLINDED_EXPOSURE), score(2, 3), SEEN)
    whole = Exposures().after(told)
    parts = Exposures()
    for row in told:
        parts = parts.after([row])
    assert parts.all(NONE) == whole.all(NONE)
    assert [(one.seen, one.timing) for one in whole.all(NONE)] == [
        (UNBLINDED_EXPOSURE, "during"),
        (REPORT_EXPOSURE, "after"),
    ]


def test_what_is_accepted_is_kept_and_the_first_look_stays():
    again = shown(UNBLINDED_EXPOSURE)
    again["value"] = {"what": UNBLINDED_EXPOSURE, "accepted": True}
    (one,) = Exposures().after(rows(shown(UNBLINDED_EXPOSURE), again)).all(NONE)
    assert (one.accepted, one.at) == (True, NOW - timedelta(minutes=1))
    assert Exposures().after(rows(shown(UNBLINDED_EXPOSURE))).all(NONE)[0].accepted is False


def test_naming_the_models_by_the_rules_is_no_exposure():
    assert (
        Exposures().after(rows(shown("models"), shown(REPORT_EXPOSURE, case=None))).all(NONE) == ()
    )


def test_the_table_has_a_row_for_each(tmp_path):
    told = Exposures().after(rows(score(3), shown(UNBLINDED_EXPOSURE), SEEN))
    begun = pl.DataFrame({"case": ["c1"], "reader": ["ann"]})
    path = write_exposures(told.all(begun), tmp_path)
    assert pl.read_csv(path).select("case", "reader", "seen", "scoring", "accepted").rows() == [
        ("c1", "ann", UNBLINDED_EXPOSURE, "during", False),
        ("c1", "ann", REPORT_EXPOSURE, "during", False),
    ]
    assert [one.timing for one in told.all(NONE)] == ["after", "after"]
    assert write_exposures((), tmp_path).read_text().count("\n") == 1
