from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview import frames
from rexview.analysis.query.memory import study_engine
from rexview.analysis.query.memory.study_engine import (
    MemoryStudyEngine,
    MemoryWorklist,
    find_strata,
    list_required_scores,
)
from rexview.analysis.query.study_tasks import (
    ScoreItem,
    WorklistProgress,
    assign_slots,
    count_progress,
    draw_second_reader_cases,
    find_case_states,
    find_models_expected_to_draw,
    list_score_items,
    needs_scores,
    order_cases,
    read_study_rubric,
)
from rexview.schema import Answer, AnswerBox, Model, Protocol
from rexview.vocab import IMAGE_DIMENSIONS, TEXT_DIMENSIONS

BOX = {"image": "i", "label": "effusion", "box": [1.0, 2.0, 3.0, 4.0]}
TEXTS = tuple(ScoreItem(name) for name in TEXT_DIMENSIONS)


@pytest.fixture
def review_set(make_set):
    return make_set(
        cases=[{"id": f"c{number}"} for number in range(1, 6)],
        answers=[
            {"case": "c1", "model": "g", "boxes": [BOX]},
            {"case": "c1", "model": "m"},
            {"case": "c2", "model": "g", "images": ["a.png", "b.png"], "boxes": [BOX]},
            {"case": "c2", "model": "m", "finish_reason": "length", "text": "Cut"},
            {"case": "c3", "model": "g", "text": None, "choice": 1},
            {"case": "c3", "model": "g", "_newest": False, "boxes": [BOX]},
            {"case": "c4", "model": "g", "text": None, "finish_reason": "error", "error": "500"},
        ],
    )


def own(*rows):
    full = [
        dict(zip(("case", "model", "dimension", "image", "score"), r, strict=True)) for r in rows
    ]
    blank = dict.fromkeys(frames.SCORES)
    return pl.DataFrame([{**blank, **row} for row in full], schema=frames.SCORES)


def worklist_cases(review_set, assigned, *, reader):
    assigned = None if assigned is None else frozenset(assigned)
    worklist = MemoryStudyEngine(review_set).worklist(reader, assigned)
    return worklist.page(0, len(worklist))


def everything(review_set, case):
    wanted = list_required_scores(review_set).filter(pl.col("case") == case)
    return [(*row, 3) for row in wanted.iter_rows()]


def test_image_dimensions_only_where_there_are_boxes_or_pictures():
    box = AnswerBox("i", "effusion", (1, 2, 3, 4))
    assert list_score_items(Answer("c", "m", "Text")) == TEXTS
    boxed = (ScoreItem("image_content"), ScoreItem("image_style"))
    assert list_score_items(Answer("c", "m", "Text", boxes=(box,))) == TEXTS + boxed
    pictures = tuple(ScoreItem(name, place) for place in (0, 1) for name in IMAGE_DIMENSIONS)
    both = Answer("c", "m", "Text", boxes=(box,), images=("a", "b"))
    assert list_score_items(both) == TEXTS + pictures
    assert list_score_items(Answer("c", "m", None, images=("a", "b"))) == pictures
    assert list_score_items(Answer("c", "m", " \n")) == ()
    assert list_score_items(Answer("c", "m", None, choice=0)) == TEXTS
    assert list_score_items(Answer("c", "m", "Text", boxes=(box,)), ["process"]) == TEXTS[:1]


def test_image_style_where_boxes_were_asked_for_and_none_came(make_set):
    style = (ScoreItem("image_style"),)
    assert list_score_items(Answer("c", "m", "Text"), lacks_boxes=True) == TEXTS + style
    assert list_score_items(Answer("c", "m", None), lacks_boxes=True) == ()
    assert list_score_items(Answer("c", "m", "Text"), TEXT_DIMENSIONS, lacks_boxes=True) == TEXTS
    boxes = (AnswerBox("i", "effusion", (1, 2, 3, 4)),)
    assert len(list_score_items(Answer("c", "m", "Text", boxes=boxes), lacks_boxes=True)) == 6

    review_set = make_set(
        cases=[
            {"id": "asked", "question": "Is there an effusion? Mark it with a box."},
            {"id": "not", "question": "Is there an effusion? Do not draw boxes."},
            {
                "id": "both",
                "question": "What is there?",
                "question_boxes": "What is there? Box it.",
            },
        ],
        answers=[
            *(
                {"case": case, "model": model}
                for case in ("asked", "not", "both")
                for model in ("g", "m")
            ),
            {"case": "both", "model": "can"},
            {"case": "asked", "model": "cannot"},
            {"case": "asked", "model": "drew", "boxes": [BOX]},
        ],
    )
    models = [Model(id=name, name=name) for name in ("g", "m", "drew")]
    models.append(Model(id="cannot", name="cannot", draws_boxes=False))
    models.append(Model(id="can", name="can", draws_boxes=True))
    review_set = replace(review_set, info=replace(review_set.info, models=tuple(models)))
    expected = find_models_expected_to_draw(review_set, review_set.case("asked"))
    assert expected == {"g", "m", "drew", "can"}
    assert find_models_expected_to_draw(review_set, review_set.case("both")) == {"can"}
    assert find_models_expected_to_draw(review_set, review_set.case("not")) == frozenset()
    records = {
        (case, answer.model, item.dimension, item.picture)
        for case in ("asked", "not", "both")
        for answer in review_set.answers_of(case)
        for item in list_score_items(
            answer,
            lacks_boxes=answer.model
            in find_models_expected_to_draw(review_set, review_set.case(case)),
        )
    }
    assert set(list_required_scores(review_set).iter_rows()) == records
    of_style = {row[:2] for row in records if row[2] == "image_style"}
    assert of_style == {("asked", "g"), ("asked", "m"), ("asked", "drew"), ("both", "can")}


def test_choice_cases_are_scored_where_the_study_says_so(make_set):
    review_set = make_set(
        cases=[
            {"id": "open"},
            {"id": "choice", "question_type": "choice", "options": ["Yes", "No"]},
        ],
        answers=[{"case": case, "model": "g", "choice": 0} for case in ("open", "choice")],
    )
    assert worklist_cases(review_set, None, reader="r") == ("open",)
    rules = replace(review_set.info, protocol=Protocol(choice_cases=True))
    with_choices = replace(review_set, info=rules)
    assert set(worklist_cases(with_choices, None, reader="r")) == {"open", "choice"}


def test_an_answer_that_never_came_needs_no_score():
    assert needs_scores(Answer("c", "m", "Text", finish_reason="stop"))
    assert not needs_scores(Answer("c", "m", "Cut", finish_reason="length"))
    assert not needs_scores(Answer("c", "m", "x", output_tokens=9, max_output_tokens=9))
    assert not needs_scores(Answer("c", "m", None))


def test_the_table_of_required_scores_says_what_the_records_say(review_set):
    expected = [
        (case, answer.model, item.dimension, item.picture)
        for case in review_set.cases["id"]
        for answer in review_set.answers_of(case)
        if needs_scores(answer)
        for item in list_score_items(answer)
    ]
    assert sorted(list_required_scores(review_set).iter_rows(), key=str) == sorted(
        expected, key=str
    )
    assert len(expected) == 6 + 4 + 8 + 4


def test_a_rubric_of_the_sets_own_limits_what_is_scored(review_set, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "dimensions: {language: {name: L, question: q, anchors: {1: a}},"
        " tone: {name: T, question: q, anchors: {}}}"
    )
    info = replace(review_set.info, rubric="mine.yaml")
    mine = replace(review_set, folder=tmp_path, info=info)
    assert list(read_study_rubric(mine)) == ["language"]
    assert list_required_scores(mine)["dimension"].unique().to_list() == ["language"]


def test_slots_are_a_shuffle_fixed_by_reader_case_and_secret():
    models = ["g", "m", "x"]
    one = assign_slots("c1", models, reader="r1", key=b"1")
    assert list(one) == ["A", "B", "C"]
    assert sorted(one.values()) == models
    assert assign_slots("c1", reversed(models), reader="r1", key=b"1") == one
    firsts = {
        (reader, key): [
            assign_slots(f"c{number}", models, reader=reader, key=key)["A"] for number in range(300)
        ]
        for reader in ("r1", "r2")
        for key in (b"1", b"2")
    }
    for found in firsts.values():
        assert all(70 <= found.count(model) <= 130 for model in models)
    assert len({tuple(found) for found in firsts.values()}) == 4


def test_many_models_have_letters_too():
    slots = assign_slots("c", [f"m{number}" for number in range(30)], reader="r", key=b"k")
    assert list(slots)[25:] == ["Z", "AA", "AB", "AC", "AD"]


@given(st.sets(st.text(max_size=4), max_size=12), st.text(max_size=4), st.integers())
def test_an_order_is_a_shuffle_that_new_cases_leave_alone(cases, extra, seed):
    order = order_cases(cases, reader="r", seed=seed)
    assert sorted(order) == sorted(cases)
    more = order_cases({*cases, extra}, reader="r", seed=seed)
    assert [case for case in more if case in cases] == list(order)


def test_readers_have_orders_of_their_own():
    cases = [f"c{number}" for number in range(40)]
    orders = {order_cases(cases, reader=reader, seed=1) for reader in ("r1", "r2", "r3")}
    assert len(orders) == 3
    assert tuple(cases) not in orders


def test_a_worklist_holds_what_is_assigned_and_can_be_scored(review_set):
    all_of_them = worklist_cases(review_set, None, reader="r1")
    assert set(all_of_them) == {"c1", "c2", "c3"}  # c4 never came, c5 has no answer
    assert worklist_cases(review_set, (), reader="r1") == ()
    some = worklist_cases(review_set, {"c1", "c3", "c4", "gone"}, reader="r1")
    assert list(some) == [case for case in all_of_them if case != "c2"]
    other_seed = replace(review_set, info=replace(review_set.info, protocol=Protocol(seed=9)))
    orders = {
        worklist_cases(one, None, reader=f"r{number}")
        for one in (review_set, other_seed)
        for number in range(6)
    }
    assert len(orders) > 2


def test_states_follow_the_scores(review_set):
    required = list_required_scores(review_set)
    order = ["c1", "c2", "c3"]

    def states(rows, skipped=()):
        found = find_case_states(required, own(*rows), skipped)
        assert "open" not in found.values()
        return [found.get(case, "open") for case in order]

    assert states([]) == ["open", "open", "open"]
    whole = everything(review_set, "c2")
    assert states(whole) == ["open", "done", "open"]
    assert states(whole[:-1], ["c1"]) == ["skipped", "begun", "open"]
    assert states(whole, ["c2", "c3"]) == ["open", "done", "skipped"]
    wrong_picture = [("c2", "g", "image_style", 7, 3) if r[3] == 1 else r for r in whole]
    assert states(wrong_picture)[1] == "begun"
    empty = [(*row[:4], None) for row in whole]
    assert states(empty) == ["open", "open", "open"]
    assert states([*whole, ("c2", "m", "process", None, 2)])[1] == "done"  # optional


def test_progress_and_where_to_go_on():
    states = {"a": "done", "b": "skipped", "c": "begun", "d": "open"}
    assert count_progress(states, 4) == WorklistProgress(done=1, skipped=1, total=4)
    assert count_progress(states, 4).remaining == 2
    worklist = MemoryWorklist(("a", "b", "c", "d"))
    assert worklist.next_open({"a", "b"}) == "c"
    assert worklist.next_open({"a", "b"}, last="d") == "d"
    assert worklist.next_open({"a", "b"}, last="a") == "c"
    assert worklist.next_open({"a", "b", "d"}, last="d") == "c"
    assert worklist.next_open({"a", "b"}, last="gone") == "c"
    assert worklist.next_open({"a", "b", "c", "d"}) is None
    assert MemoryWorklist(()).next_open(()) is None


@given(
    st.dictionaries(st.text(max_size=3), st.sampled_from("abcd"), max_size=40),
    st.floats(0, 1),
    st.integers(0, 5),
)
def test_a_share_takes_its_part_of_every_stratum(strata, share, seed):
    drawn = draw_second_reader_cases(strata, share, seed=seed)
    assert len(drawn) == int(len(strata) * share + 0.5)
    assert len(set(drawn)) == len(drawn)
    for name in set(strata.values()):
        size = sum(stratum == name for stratum in strata.values())
        taken = sum(strata[case] == name for case in drawn)
        assert abs(taken - size * len(drawn) / len(strata)) < 1
    assert draw_second_reader_cases(strata, share, seed=seed) == drawn


def test_the_papers_quarter():
    strata = {f"c{number}": "ab"[number % 2] for number in range(100)}
    one, two = (draw_second_reader_cases(strata, 0.25, seed=seed) for seed in (1, 2))
    assert len(one) == len(two) == 25
    assert one != two


def test_strata_are_kinds_of_questions(make_set):
    review_set = make_set(
        cases=[
            {"id": "a", "category": "broad_abnormality", "normal": False},
            {"id": "b"},
            {"id": "c"},
            {"id": "d", "normal": True},
        ]
    )
    assert find_strata(review_set, ["b", "a", "d", "gone"]) == {
        "b": "open//",
        "a": "open/broad_abnormality/false",
        "d": "open//true",
    }


def test_required_scores_are_worked_out_once(review_set, monkeypatch):
    first = list_required_scores(review_set)
    monkeypatch.setattr(study_engine, "_required", None)
    assert list_required_scores(review_set) is first
