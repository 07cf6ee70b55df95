import pytest

CHOICE = {"question_type": "choice", "options": ["a", "b"], "correct": 1}


def found(small):
    return [(p.severity, p.file, p.row, p.field) for p in small.problems()]


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("scores", "reader,dimension", "r1,process"),
        ("flags", "reader,failure", "r1,omission"),
        ("metrics", "metric", "bleu"),
        ("edits", "action", "keep"),
    ],
)
class TestEveryTable:
    def test_an_unknown_case_is_an_error(self, small, name, header, row):
        small.answer().text(f"{name}.csv", f"case,model,{header}\nc9,m1,{row}\n")
        assert found(small) == [("error", f"{name}.csv", 1, "case")]

    def test_an_unknown_model_is_a_warning(self, small, name, header, row):
        small.text(f"{name}.csv", f"case,model,{header}\nc1,m9,{row}\n")
        assert found(small) == [("warning", f"{name}.csv", 1, "model")]

    def test_an_answer_that_is_not_there_is_a_warning(self, small, name, header, row):
        small.answer().text(f"{name}.csv", f"case,model,{header}\nc1,m1,{row}\nc1,m2,{row}\n")
        assert found(small) == [("warning", f"{name}.csv", 2, None)]


def test_an_answer_to_an_unknown_case_is_an_error(small):
    small.answer(case="c9")
    assert found(small) == [("error", "answers.jsonl", 1, "case")]


def test_cases_that_could_not_be_read_are_not_blamed_on_the_answers(small):
    good = '{"id": "c1", "question": "?"}\n'
    small.text("cases.jsonl", good + '{"id": "c2", "question"\n').answer(case="c2")
    assert found(small) == [("error", "cases.jsonl", 2, None)]


def test_a_value_that_is_wrong_in_cases_does_not_hide_the_rest(small):
    small.case(correct="x").answer(case="c9")
    assert [place[1:] for place in found(small)] == [
        ("cases.jsonl", 1, "correct"),
        ("answers.jsonl", 1, "case"),
    ]


def test_an_undeclared_model_is_taken_in(small):
    small.answer(model="m9")
    problem = small.only_problem()
    assert (problem.severity, problem.field) == ("warning", "model")
    assert [model.id for model in small.load().models] == ["m1", "m2", "m9"]


def test_without_declared_models_all_are_taken_in(small):
    small.text("reviewset.yaml", "format: 1\nname: x\n").answer()
    small.text("scores.csv", "case,model,reader,dimension\nc1,m1,r1,process\n")
    assert small.problems() == []


def test_an_undeclared_reader_is_a_warning(small):
    small.answer().text("scores.csv", "case,model,reader,dimension\nc1,m1,r9,process\n")
    assert found(small) == [("warning", "scores.csv", 1, "reader")]


class TestPictures:
    HEADER = "case,model,reader,dimension,score,image\n"

    @pytest.mark.parametrize(("image", "fits"), [(0, True), (1, True), (2, False)])
    def test_the_index_counts_the_answers_pictures(self, small, image, fits):
        small.answer(images=["a/pa.png", "a/pa.png"])
        small.text("scores.csv", f"{self.HEADER}c1,m1,r1,image_style,3,{image}\n")
        assert found(small) == ([] if fits else [("warning", "scores.csv", 1, "image")])

    def test_a_negative_index_is_an_error(self, small):
        small.answer().text("scores.csv", f"{self.HEADER}c1,m1,r1,image_style,3,-1\n")
        assert found(small) == [("error", "scores.csv", 1, "image")]

    def test_texts_are_not_scored_on_pictures(self, small):
        small.answer(images=["a/pa.png"])
        small.text("scores.csv", f"{self.HEADER}c1,m1,r1,process,3,0\n")
        assert found(small) == [("warning", "scores.csv", 1, "image")]


class TestChoices:
    @pytest.mark.parametrize(
        ("case", "expected"),
        [
            (CHOICE, []),
            (CHOICE | {"correct": 2}, [("error", "correct")]),
            (CHOICE | {"correct": -1}, [("error", "correct")]),
            (CHOICE | {"correct": None}, [("warning", "correct")]),
            (CHOICE | {"options": []}, [("error", "options")]),
        ],
    )
    def test_questions(self, small, case, expected):
        small.case(**case)
        assert [(severity, field) for severity, _, _, field in found(small)[:1]] == expected

    @pytest.mark.parametrize(
        ("choice", "warned"), [(0, False), (1, False), (None, False), (2, True), (-1, True)]
    )
    def test_answers_keep_what_they_chose(self, small, choice, warned):
        small.case(**CHOICE).answer(choice=choice)
        expected = [("warning", "answers.jsonl", 1, "choice")] if warned else []
        assert found(small) == expected
        assert small.load().answers_of("c1")[0].choice == choice
