"""What the benchmark of reliability would find wrong, it does find."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bench.reliability.audit import Audit, Cell, SentEntry, audit
from rexview.store import StoredEntry

HERE, THERE = Cell("c1", "m", "process"), Cell("c1", "m", "image_style", 0)
GIVEN = [
    SentEntry("t1", "ann", HERE, {"score": 3}),
    SentEntry("t2", "ann", HERE, {"score": 4}),
    SentEntry("t3", "bob", HERE, {"score": 1}),
    SentEntry("t4", "ann", THERE, {"score": 5}),
]


def row(number, given, previous=None):
    cell = given.cell
    return StoredEntry(
        id=number,
        token=given.token,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        person=given.person,
        person_name=given.person,
        person_role="reader",
        kind="score",
        case=cell.case,
        model=cell.model,
        subject=cell.subject,
        picture=cell.picture,
        value={**given.value, "comment": None},
        previous=None if previous is None else {"score": previous, "comment": None},
        via="score page",
    )


GOOD = [row(1, GIVEN[0]), row(2, GIVEN[2]), row(3, GIVEN[1], 3), row(4, GIVEN[3])]
ALL = {one.token for one in GIVEN}


def test_what_is_all_there_is_in_order():
    found = audit(GIVEN, ALL, GOOD)
    assert not found
    assert found == Audit()


@pytest.mark.parametrize(
    ("rows", "confirmed", "wrong"),
    [
        (GOOD[:3], ALL, Audit(lost=1, missing=1)),
        (GOOD[:3], ALL - {"t4"}, Audit(missing=1)),
        ([*GOOD, replace(GOOD[3], id=5, previous={"score": 5})], ALL, Audit(doubled=1)),
        ([*GOOD, row(5, replace(GIVEN[0], token="t9"))], ALL, Audit(strange=1)),
        ([*GOOD[:3], replace(GOOD[3], value={"score": 4})], ALL, Audit(altered=1)),
        ([*GOOD[:3], replace(GOOD[3], person="bob")], ALL, Audit(altered=1)),
        ([*GOOD[:3], replace(GOOD[3], model="n")], ALL, Audit(altered=1)),
        ([*GOOD[:3], replace(GOOD[3], picture=1)], ALL, Audit(altered=1)),
        (
            [row(1, GIVEN[1]), row(2, GIVEN[2]), row(3, GIVEN[0], 4), GOOD[3]],
            ALL,
            Audit(disordered=1),
        ),
        ([*GOOD[:2], replace(GOOD[2], previous=None), GOOD[3]], ALL, Audit(disordered=1)),
    ],
)
def test_what_is_wrong_is_counted(rows, confirmed, wrong):
    found = audit(GIVEN, confirmed, rows)
    assert found
    assert found == wrong
