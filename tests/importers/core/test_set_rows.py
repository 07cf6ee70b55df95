"""Rows of an import: joined, found, completed, read by the reader of review sets; its receipt."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.importers.import_run import complete_rows
from rexview.importers.receipt import NOT_RUN, UNACCOUNTED, ProblemLog, Receipt
from rexview.importers.set_rows import OPEN_QUESTION, SetRows
from rexview.reviewset import check_review_set, load_review_set, save_review_set
from rexview.reviewset.tables.source import RowOrigin


def at(row, file="f.csv"):
    return RowOrigin(file, row)


@pytest.fixture
def rows():
    return SetRows("A set", ProblemLog(), Receipt("test"))


@pytest.fixture
def opened(rows, tmp_path):
    """Complete the rows, write the set, and open it again; it must have no errors."""

    def finish():
        complete_rows(rows, None)
        save_review_set(rows.to_review_set(tmp_path / "out", "images/"), tmp_path / "out")
        rows.receipt.close(rows.log.problems, rows.log.notes)
        assert [one for one in check_review_set(tmp_path / "out") if one.severity == "error"] == []
        return load_review_set(tmp_path / "out")

    return finish


def messages(rows):
    return [one.message for one in rows.log.problems]


class TestJoining:
    def test_a_second_row_of_a_case_fills_what_is_missing(self, rows, opened):
        rows.add_case({"id": 1, "question": "Q?", "report": {"findings": "F"}}, at(1))
        more = {"id": "1", "site": "A", "report": {"impression": "I"}, "mark": 7}
        assert rows.add_case(more, at(2)) == "1"
        case = opened().case("1")
        assert (case.question, case.site, case.extra) == ("Q?", "A", {"mark": 7})
        assert (case.report.findings, case.report.impression) == ("F", "I")
        assert rows.log.problems == ()
        assert rows.receipt.rows_used == 2

    def test_what_contradicts_is_said_and_kept_beside(self, rows, opened):
        for number, (question, findings) in enumerate([("Q?", "A"), ("R?", "B"), ("R?", "B")]):
            rows.add_case(
                {"id": "a", "question": question, "report": {"findings": findings}}, at(number + 1)
            )
        case = opened().case("a")
        assert (case.question, case.report.findings) == ("Q?", "A")
        assert case.extra == {"question_2": "R?", "report_findings_2": "B"}
        assert [(one.row, one.field) for one in rows.log.problems] == [
            (2, "question"),
            (2, "report"),
        ]

    def test_images_are_joined_by_path_and_named(self, rows, opened):
        rows.add_case({"id": "a", "question": "Q", "images": [{"path": "../x/0.png"}]}, at(1))
        rows.add_case(
            {
                "id": "a",
                "images": [{"path": "x/0.png"}, {"path": "y/0.png"}, {"path": "a/../../b"}],
            },
            at(2),
        )
        images = opened().case("a").images
        assert [one.path for one in images] == ["x/0.png", "y/0.png"]
        assert len({one.id for one in images}) == 2
        assert messages(rows) == [
            "The image path is not a path inside a folder; the image was left out."
        ]

    def test_another_text_is_a_further_run(self, rows, opened):
        rows.add_case({"id": "a", "question": "Q"}, at(1))
        for number, text in enumerate(["One.", "One.", "Two."], start=2):
            assert rows.add_answer({"case": "a", "model": "m", "text": text}, at(number))
        answers = opened().answers_of("a", all_runs=True)
        assert sorted((one.text, one.run_id) for one in answers) == [("One.", None), ("Two.", "2")]
        assert "kept as a further run" in messages(rows)[0]

    def test_or_it_is_left_out_and_named(self, rows, opened):
        rows.second_answers = "first"
        rows.add_answer({"case": "a", "model": "m", "text": "One."}, at(1))
        assert not rows.add_answer({"case": "a", "model": "m", "text": "Two."}, at(2))
        assert opened().answers["text"].to_list() == ["One."]
        assert [(one.count, one.rows) for one in rows.receipt.rows_unused] == [(1, (2,))]

    def test_boxes_go_to_the_newest_answer_or_make_one(self, rows, opened):
        rows.add_case({"id": "a", "question": "Q", "images": [{"path": "i.png"}]}, at(1))
        rows.add_answer({"case": "a", "model": "m", "text": "T"}, at(2))
        box = {"image": "i", "label": "nodule", "box": [1, 2, 3, 4], "score": 0.5}
        for model in ("m", "n"):
            rows.add_model_boxes("a", model, [box], at(3))
        rows.add_boxes("a", "i", [{"label": "mass", "box": [1, 2, 3, 4], "side": "left"}], at(4))
        review_set = opened()
        found = {one.model: (one.text, one.boxes[0].score) for one in review_set.answers_of("a")}
        assert found == {"m": ("T", 0.5), "n": (None, 0.5)}
        assert review_set.case("a").reference_boxes[0].side == "left"
        assert [model.draws_boxes for model in review_set.models] == [True, True]
        assert (rows.receipt.model_boxes, rows.receipt.reference_boxes) == (2, 1)


class TestValues:
    def test_a_value_that_does_not_fit_is_a_warning_and_is_kept(self, rows, opened):
        rows.add_case(
            {"id": "a", "question": "Q", "normal": "perhaps",
             "images": [{"path": "i.png", "width": "wide"}], "report": "Only text."}, at(1)
        )  # fmt: skip
        rows.add_answer({"case": "a", "model": "m", "text": "T", "latency_s": "fast"}, at(2))
        rows.add_mark(
            "scores",
            {"case": "a", "model": "m", "reader": "r", "dimension": "process", "score": "9"},
            at(3),
        )
        review_set = opened()
        case = review_set.case("a")
        assert case.extra == {
            "normal": "perhaps", "images[0].width": "wide", "report": "Only text."
        }  # fmt: skip
        assert review_set.answers_of("a")[0].extra == {"latency_s": "fast"}
        assert json.loads(review_set.scores["extra"][0]) == {"score": "9"}
        assert {(one.severity, one.row) for one in rows.log.problems} == {
            ("warning", 1), ("warning", 2), ("warning", 3)
        }  # fmt: skip

    def test_a_word_that_a_row_cannot_do_without_is_an_error(self, rows, tmp_path):
        rows.add_case({"id": "a", "question": "Q"}, at(1))
        mark = {"case": "a", "model": "m", "reader": "r", "dimension": "beauty", "score": 3}
        rows.add_mark("scores", mark, at(2))
        rows.to_review_set(tmp_path / "out", "images/")
        errors = [one for one in rows.log.problems if one.severity == "error"]
        assert [(one.row, one.field) for one in errors] == [(2, "dimension")]

    def test_what_no_file_can_hold(self, rows, opened):
        deep = "bottom"
        for _ in range(30):
            deep = [deep]
        rows.add_case(
            {"id": "a\ud800", "question": "Q\x00", "deep": deep, "big": 10**30, "raw": b"12"}, at(1)
        )
        case = opened().case("a?")
        assert (case.question, case.extra["big"], case.extra["raw"]) == (
            "Q", str(10**30), "(2 bytes)"
        )  # fmt: skip
        assert "bottom" not in json.dumps(case.extra)
        assert messages(rows) == ["What is nested deeper than 20 levels was cut off."]


class TestFinding:
    @pytest.fixture
    def rows(self, rows):
        images = [{"path": "p1/Mu\u0308ller_01.png"}]  # as macOS writes it
        rows.add_case({"id": "Case 1", "study_id": "S1", "images": images}, at(1))
        rows.add_case({"id": "c2", "study_id": "S2", "images": [{"path": "p2/0.png"}]}, at(2))
        rows.add_case({"id": "c3", "study_id": "S2"}, at(3))
        return rows

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            ({"case": "Case 1"}, "Case 1"),
            ({"case": " case 1 "}, "Case 1"),
            ({"case": "s1"}, "Case 1"),
            ({"study": "S1"}, "Case 1"),
            ({"image": "p1/M\u00fcller_01.png"}, "Case 1"),
            ({"image": "elsewhere/M\u00fcller_01.dcm"}, "Case 1"),
            ({"case": "M\u00fcller_01"}, "Case 1"),
            ({"image": "0.png"}, "c2"),
            ({"image": "p9/0.png"}, None),  # another patient's 0.png
            ({"study": "S2"}, None),
            ({"study": "S2", "image": "p2/0.png"}, "c2"),
            ({"case": "c4"}, None),
        ],
    )
    def test_by_id_study_or_image(self, rows, wanted, found):
        place = rows.find_case(**wanted)
        assert (place and place[0]) == found

    def test_what_could_be_several_is_said(self, rows):
        assert rows.find_case(study="S2", at=at(9, "g.csv")) is None
        problem = rows.log.problems[0]
        assert (problem.file, problem.row) == ("g.csv", 9)
        assert "could be 2 cases" in problem.message

    def test_an_image_is_found_after_its_file_was(self, rows):
        _, image = next(rows.images())
        rows.move_image("Case 1", image, "scans/Mueller.png")
        for name in ("p1/M\u00fcller_01.png", "scans/Mueller.png"):
            assert rows.find_case(image=name) == ("Case 1", image["id"])


class TestCompleting:
    def test_answers_without_a_case_get_one_with_a_placeholder(self, rows, opened):
        rows.add_case({"id": "a", "question": "Q"}, at(1))
        rows.add_answer({"case": "b", "model": "m", "text": ""}, at(2, "g.json"))
        review_set = opened()
        assert review_set.case("b").question == OPEN_QUESTION
        assert review_set.answers.height == 1
        assert "1 case came without a question" in rows.log.notes[0]
        assert [one.file for one in rows.log.problems] == ["g.json"]

    def test_scores_without_a_case_are_named(self, rows, opened):
        rows.add_case({"id": "a", "question": "Q"}, at(1))
        for number, case in enumerate(["a", "z"], start=2):
            mark = {"case": case, "model": "m", "reader": "r", "dimension": "process", "score": 3}
            rows.add_mark("scores", mark, at(number))
        assert opened().scores.height == 1
        assert [(one.why, one.rows) for one in rows.receipt.rows_unused] == [
            ("There is no such case.", (3,))
        ]


class TestReceipt:
    def test_rows_are_used_named_or_found_missing(self):
        receipt = Receipt("test")
        receipt.rows("f", 6)
        receipt.used(RowOrigin("f", 1))
        receipt.used(RowOrigin("f", 1))
        receipt.unused(RowOrigin("f", 1), "It holds unless something was made of the row.")
        receipt.unused(RowOrigin("f", 2), "Empty.")
        receipt.ran_not(RowOrigin("f", 3), "m")
        receipt.used(RowOrigin("f", 4))
        receipt.taken_back(RowOrigin("f", 4))
        receipt.unused(RowOrigin("f", 4), "No case.")
        receipt.close((), ())
        assert (receipt.rows_in, receipt.rows_used, receipt.not_run) == (6, 1, {"m": 1})
        assert {one.why: (one.count, one.rows) for one in receipt.rows_unused} == {
            "Empty.": (1, (2,)), NOT_RUN: (1, (3,)), "No case.": (1, (4,)), UNACCOUNTED: (2, ())
        }  # fmt: skip

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["rows", "used", "unused", "ran_not", "taken_back"]),
                st.sampled_from("fg"),
                st.integers(1, 9),
            )
        )
    )
    def test_rows_in_are_always_used_or_named(self, steps):
        receipt = Receipt("test")
        for what, file, number in steps:
            place = RowOrigin(file, number)
            if what == "rows":
                receipt.rows(file, number)
            elif what in ("used", "taken_back"):
                getattr(receipt, what)(place)
            else:
                getattr(receipt, what)(place, "why")
        receipt.close((), ())
        named = sum(one.count for one in receipt.rows_unused)
        assert receipt.rows_in == receipt.rows_used + named

    def test_examples_are_short_and_identity_has_none(self):
        receipt = Receipt("test")
        receipt.column_unused("f", "long", "word " * 50, "No place for it.")
        receipt.identity_column("f", "PatientName")
        found = receipt.as_json()
        assert len(found["columns_unused"][0]["example"]) <= 60
        assert found["identity_columns"] == [{"file": "f", "column": "PatientName"}]
        assert json.dumps(found)
        assert [line.split(":")[0] for line in receipt.lines()] == ["Not used", "Left out"]
