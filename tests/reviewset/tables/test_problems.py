from rexview.errors import Problem
from rexview.reviewset.problems import (
    MAX_LISTED_PROBLEMS,
    ProblemList,
    join_alternatives,
    quote_value,
)


def add_rows(problems, count, *, severity="error", remedy="Fix it."):
    for row in range(1, count + 1):
        problems.add(severity, "answers.csv", f"Bad {row}.", remedy, row=row, field="case")


class TestProblemList:
    def test_up_to_the_limit_every_row_is_listed(self):
        problems = ProblemList()
        add_rows(problems, MAX_LISTED_PROBLEMS)
        assert [problem.row for problem in problems.all()] == list(
            range(1, MAX_LISTED_PROBLEMS + 1)
        )

    def test_beyond_the_limit_rows_are_counted(self):
        problems = ProblemList()
        add_rows(problems, MAX_LISTED_PROBLEMS + 4312)
        found = problems.all()
        assert len(found) == MAX_LISTED_PROBLEMS + 1
        assert found[-1].message == "… and 4,312 more rows with the same problem."
        assert (found[-1].row, found[-1].field) == (None, "case")
        assert problems.count("error") == MAX_LISTED_PROBLEMS + 4312

    def test_what_is_found_in_one_go_is_counted_too(self):
        problems = ProblemList()
        example = Problem("error", "answers.csv", 1, "case", "Bad.", "Fix.")
        problems.add_many([example] * MAX_LISTED_PROBLEMS, 1000, table="answers.csv")
        assert problems.all()[-1].message.startswith("… and 980 more rows")

    def test_one_row_more_is_one_row(self):
        problems = ProblemList()
        add_rows(problems, MAX_LISTED_PROBLEMS + 1)
        assert problems.all()[-1].message.startswith("… and 1 more row with")

    def test_places_in_a_list_are_one_kind(self):
        problems = ProblemList()
        for place in range(MAX_LISTED_PROBLEMS + 2):
            problems.add("warning", "a.jsonl", "Bad.", "Fix.", row=1, field=f"boxes[{place}].box")
        found = problems.all()
        assert len(found) == MAX_LISTED_PROBLEMS + 1
        assert found[-1].field == "boxes[].box"

    def test_other_remedies_are_other_kinds(self):
        problems = ProblemList()
        add_rows(problems, MAX_LISTED_PROBLEMS, remedy="Do this.")
        add_rows(problems, MAX_LISTED_PROBLEMS, remedy="Do that.")
        assert len(problems.all()) == 2 * MAX_LISTED_PROBLEMS

    def test_errors_come_first(self):
        problems = ProblemList()
        problems.add("warning", "a.csv", "Odd.", "Look.")
        problems.add("error", "b.csv", "Wrong.", "Fix.")
        assert [problem.severity for problem in problems.all()] == ["error", "warning"]

    def test_errors_can_be_asked_for_by_table_and_field(self):
        problems = ProblemList()
        problems.add("error", "cases.jsonl", "Wrong.", "Fix.", field="id")
        assert problems.has_errors_in("cases")
        assert problems.has_errors_in("cases.jsonl", fields=["id"])
        assert not problems.has_errors_in("cases.jsonl", fields=["question"])
        assert not problems.has_errors_in("answers")


def test_long_values_are_cut_and_kept_on_one_line():
    assert quote_value("a\n b") == "“a b”"
    assert len(quote_value("x" * 500)) < 70


def test_words_are_joined_for_a_sentence():
    assert join_alternatives(["a"]) == "a"
    assert join_alternatives(["a", "b", "c"]) == "a, b or c"
