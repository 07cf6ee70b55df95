import pytest

ROW = {"case": "c1", "model": "m1"}


def marks(review_set):
    return dict(zip(review_set.answers["text"], review_set.answers["_newest"], strict=True))


class TestDuplicates:
    def test_an_exact_repetition_is_left_out(self, small):
        row = ROW | {"text": "a", "boxes": [{"image": "pa", "box": [1, 2, 3, None]}], "x": {"y": 1}}
        small.jsonl("answers", [row, ROW | {"model": "m2"}, row, row])
        warnings = [(p.severity, p.row) for p in small.problems() if "repeats row 1" in p.message]
        assert warnings == [("warning", 3), ("warning", 4)]
        assert small.load().answers["_row"].to_list() == [1, 2]

    def test_two_different_answers_of_one_run_are_an_error(self, small):
        small.jsonl("answers", [ROW | {"text": "a"}, ROW | {"text": "b"}, ROW | {"text": "a"}])
        found = [(p.severity, p.row) for p in small.problems()]
        assert found == [("error", 2), ("warning", 3)]

    def test_unknown_fields_count(self, small):
        small.jsonl("answers", [ROW | {"mood": 1}, ROW | {"mood": 2}])
        assert small.only_problem().severity == "error"

    @pytest.mark.parametrize(
        "runs",
        [
            [{"run_id": "a"}, {"run_id": "b"}],
            [{"created": "2025-01-01"}, {"created": "2025-01-02"}],
            [{"run_id": "a"}, {}],
            [{"created": "2025-01-01"}, {}],
        ],
    )
    def test_runs_are_told_apart(self, small, runs):
        small.jsonl("answers", [ROW | {"text": str(n)} | run for n, run in enumerate(runs)])
        assert small.problems() == []
        assert small.load().answers.height == 2

    def test_one_run_id_with_two_dates_is_one_run(self, small):
        runs = [{"run_id": "a", "created": f"2025-01-0{day}"} for day in (1, 2)]
        small.jsonl("answers", [ROW | run for run in runs])
        problem = small.only_problem()
        assert problem.severity == "error"
        assert "run_id" in problem.remedy

    def test_cases_with_one_id(self, small):
        small.jsonl("cases", [{"id": "c1", "question": text} for text in "aab"])
        found = [(p.severity, p.row, p.field) for p in small.problems()]
        assert found == [("error", 3, "id"), ("warning", 2, None)]

    @pytest.mark.parametrize(
        ("table", "header", "rows", "expected"),
        [
            (
                "scores",
                "reader,dimension,score,image",
                ["r1,process,3,", "r1,process,4,"],
                ["error"],
            ),
            (
                "scores",
                "reader,dimension,score,image",
                ["r1,process,3,", "r1,process,3,"],
                ["warning"],
            ),
            ("scores", "reader,dimension,score,image", ["r1,process,3,", "r1,language,3,"], []),
            (
                "flags",
                "reader,failure,verdict",
                ["r1,omission,", "r1,omission,rejected"],
                ["error"],
            ),
            ("metrics", "metric,value", ["bleu,1", "bleu,2"], ["error"]),
            ("metrics", "metric,value", ["bleu,1", "bleu,1.0"], ["warning"]),
            ("edits", "action,line", ["keep,1", "keep,2"], []),
            ("edits", "action,line", ["keep,1", "keep,1"], ["warning"]),
        ],
    )
    def test_other_tables(self, small, table, header, rows, expected):
        small.answer()
        lines = [f"case,model,{header}", *(f"c1,m1,{row}" for row in rows)]
        small.text(f"{table}.csv", "\n".join(lines))
        assert [problem.severity for problem in small.problems()] == expected

    def test_rows_without_their_key_are_not_compared(self, small):
        small.jsonl("answers", [{"model": "m1"}, {"model": "m1"}])
        assert [(p.row, p.field) for p in small.problems()] == [(1, "case"), (2, "case")]


class TestNewest:
    def test_one_run_is_the_newest(self, small):
        small.jsonl("answers", [ROW | {"text": "a"}, ROW | {"model": "m2", "text": "b"}])
        assert marks(small.load()) == {"a": True, "b": True}

    def test_the_latest_by_date_wherever_it_stands(self, small):
        runs = [("new", "2025-03-01"), ("old", "2025-01-01"), ("undated", None)]
        small.jsonl(
            "answers", [ROW | {"text": t, "created": when, "run_id": t} for t, when in runs]
        )
        assert marks(small.load()) == {"new": True, "old": False, "undated": False}
        assert [answer.text for answer in small.load().answers_of("c1")] == ["new"]

    @pytest.mark.parametrize("created", [None, "2025-01-01"])
    def test_else_the_last_in_the_file(self, small, created):
        small.jsonl("answers", [ROW | {"text": t, "run_id": t, "created": created} for t in "abc"])
        assert marks(small.load()) == {"a": False, "b": False, "c": True}
