"""What a reader does besides scoring: which items there are, in which order, and how it ended."""

from itertools import combinations

import polars as pl
import pytest
from support.reader_tasks import REPORT, REPORTS, write_tasks

from rexview.analysis.query.memory.study_engine import ItemWorklist, MemoryStudyEngine
from rexview.analysis.query.study_tasks import (
    build_own_result,
    make_item_id,
    order_report_pairs,
    order_reports,
    parse_item_id,
)
from rexview.reviewset import load_review_set

KEY, OTHER = b"k" * 32, b"o" * 32
MODELS = ["a", "b", "c", "d"]


@pytest.mark.parametrize("case", ["r1", "2 r1", "", " ", "ü\n"])
def test_an_item_names_place_and_case(case):
    assert parse_item_id(make_item_id(12, case)) == (12, case)


@pytest.mark.parametrize("item", ["", "r1", "x r1", "-1 r1", "٣ r1", "1000000 r1"])
def test_what_is_no_item_has_no_place(item):
    assert parse_item_id(item)[0] == 0


@pytest.mark.parametrize("by_place", [True, False])
def test_items_stand_where_a_plain_list_has_them(by_place):
    counts = {"x": 3, "y 1": 1, "z": 2, "none": 0}
    cases = list(counts)
    plain = [(place, at) for at, case in enumerate(cases) for place in range(counts[case])]
    if by_place:
        plain.sort()
    expected = [make_item_id(place + 1, cases[at]) for place, at in plain]
    worklist = ItemWorklist(cases, list(counts.values()), by_place=by_place)
    assert list(worklist.page(0, 99)) == expected
    assert len(worklist) == 6
    for number, item in enumerate(expected, 1):
        position = worklist.position(item)
        assert (position.number, position.total) == (number, 6)
        assert position.before == (expected[number - 2] if number > 1 else None)
        assert position.after == (expected[number] if number < 6 else None)
    for item in ("4 x", "0 x", "1 none", "1 w", "10001 x", "x"):
        assert worklist.position(item).number is None
    assert worklist.next_open(expected[:2], expected[4]) == expected[4]
    assert worklist.next_open(expected[2:], expected[4]) == expected[0]
    assert worklist.next_open(expected) is None
    assert len(ItemWorklist([], [], by_place=by_place)) == 0


def test_pairs_are_all_there_in_an_order_that_only_the_key_gives():
    pairs = order_report_pairs(MODELS, case="r", reader="ann", key=KEY)
    every = {frozenset(pair) for pair in combinations(MODELS, 2)}
    assert {frozenset(pair) for pair in pairs} == every
    assert pairs == order_report_pairs(MODELS[::-1], case="r", reader="ann", key=KEY)
    others = [
        order_report_pairs(MODELS, case="r", reader="ann", key=OTHER),
        order_report_pairs(MODELS, case="s", reader="ann", key=KEY),
        order_report_pairs(MODELS, case="r", reader="bob", key=KEY),
    ]
    assert all(other != pairs for other in others)


def test_each_side_is_as_likely():
    left = [
        order_report_pairs(["a", "b"], case=str(n), reader="r", key=KEY)[0][0] for n in range(1000)
    ]
    assert 440 < left.count("a") < 560


def test_reports_come_in_a_keyed_order():
    orders = {tuple(order_reports(MODELS, case=str(n), reader="r", key=KEY)) for n in range(300)}
    assert len(orders) == 24


def test_a_set_has_the_tasks_that_it_has_cases_for(tmp_path):
    people = "models:\n- {id: p, kind: reader}\n"
    folder = write_tasks(tmp_path / "set")
    yaml = (folder / "reviewset.yaml").read_text("utf-8")
    (folder / "reviewset.yaml").write_text(yaml.replace("models:\n", people), "utf-8")
    by_person = {"case": "r1", "model": "p", "text": "By a person."}
    cut = {"case": "r1", "model": "q", "text": "The heart", "finish_reason": "length"}
    empty = {"case": "r1", "model": "s", "text": " "}
    write_tasks(folder, more=[by_person, cut, empty])
    engine = MemoryStudyEngine(load_review_set(folder))
    assert engine.tasks == ("score", "answer", "correct", "compare")
    every = ["c1", "q1", "r1", "none"]
    assert engine.of_task("answer", every) == {"q1": 1}
    assert engine.of_task("correct", every) == {"r1": len(REPORTS)}
    assert engine.of_task("compare", every) == {REPORT["id"]: 1}
    assert engine.task_list("compare", "ann", None).page(0, 9) == ("1 r1",)
    assert engine.task_list("correct", "ann", frozenset({"c1"})).page(0, 9) == ()


def test_a_set_without_such_cases_has_scores_only(tmp_path):
    folder = write_tasks(tmp_path / "set", choices=[], reports=[])
    assert MemoryStudyEngine(load_review_set(folder)).tasks == ("score",)


def test_own_answers_stand_beside_the_models():
    own = {"1": 0, "2": 1, "3": 0, "4": 1, "5": 0}
    right = {"1": 0, "2": 1, "3": 1, "4": 0}  # nobody knows about 5
    of_m = [("1", "m", 0), ("2", "m", 1), ("3", "m", 1), ("4", "m", None), ("5", "m", 0)]
    rows = [*of_m, ("6", "m", 1), ("1", "n", 0)]
    chosen = pl.DataFrame(rows, schema=["case", "model", "choice"], orient="row")
    found = build_own_result(own, right, chosen, {"m": "M", "n": "N", "o": "O"})
    # M chose 0 1 1 0 where the reader chose 0 1 0 0: po = 3/4, pe = 3/4*1/2 + 1/4*1/2 = 1/2
    assert found.rows() == [
        ("You", 2, 4, 0.5, None, None),
        ("M", 3, 4, 0.75, 3, 0.5),
        ("N", 1, 1, 1.0, 1, None),
    ]
