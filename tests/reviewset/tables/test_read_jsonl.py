import json

import pytest

from rexview.errors import ReviewSetError


def test_row_numbers_are_line_numbers(small):
    line = json.dumps({"case": "c1", "model": "m1", "choice": "four"})
    small.text("answers.jsonl", f"\n  \n{line}\n")
    problem = small.only_problem()
    assert (problem.file, problem.row, problem.field) == ("answers.jsonl", 3, "choice")
    assert "“four”" in problem.message
    assert problem.remedy == "Write a whole number."


@pytest.mark.parametrize("ends", ["\r\n", "\n", "\r\n\r\n"])
def test_line_ends_and_byte_order_mark(small, ends):
    rows = [{"case": "c1", "model": model, "text": "süß"} for model in ("m1", "m2")]
    lines = ends.join(json.dumps(row, ensure_ascii=False) for row in rows)
    small.text("answers.jsonl", "\ufeff" + lines)
    assert small.load().answers["text"].to_list() == ["süß", "süß"]


def test_other_encodings_are_named_with_their_row(small):
    good, bad = json.dumps({"case": "c1", "model": "m1"}), '{"case": "c1", "text": "süß"}'
    path = small.folder / "answers.jsonl"
    path.write_bytes(good.encode() + b"\n" + bad.encode("latin-1") + b"\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row) == ("error", 2)
    assert problem.remedy == "Save the file as UTF-8."


def test_utf16_is_one_problem(small):
    text = json.dumps({"case": "c1", "model": "m1"}) + "\n"
    (small.folder / "answers.jsonl").write_bytes(text.encode("utf-16"))
    problem = small.only_problem()
    assert problem.severity == "error"
    assert "UTF-16" in problem.message


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"case": "c1", "model": "m1"', "character 29"),
        ('{"case": "c1", "case": "c2", "model": "m1"}', "“case” twice"),
        ('"just text"', "not a JSON object"),
        ("[" * 100_000, "one JSON list"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('{"choice": ' + "9" * 5000 + "}", "too many digits"),
    ],
)
def test_lines_that_are_no_objects(small, line, says):
    small.text("answers.jsonl", line + "\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row) == ("error", 1)
    assert says in problem.message


def test_one_list_for_all_rows_is_one_problem(small):
    small.text("answers.jsonl", '[\n{"case": "c1"},\n{"case": "c1"}\n]')
    assert "one JSON list" in small.only_problem().message


def test_nan_is_nothing(small):
    line = (
        '{"case": "c1", "model": "m1", "text": NaN, "latency_s": NaN, "boxes": NaN, "usage": NaN}\n'
    )
    small.text("answers.jsonl", line)
    (answer,) = small.load().answers_of("c1")
    assert (answer.text, answer.latency_s, answer.boxes, answer.input_tokens) == (
        None,
        None,
        (),
        None,
    )


def test_half_of_a_surrogate_pair_does_not_stop_anything(small):
    line = r'{"case": "c1", "model": "m1", "text": "a\ud83d", "mood": "\ud83d\ude00 \udc00"}'
    small.text("answers.jsonl", line + "\n")
    (answer,) = small.load().answers_of("c1")
    assert answer.text == "a\N{REPLACEMENT CHARACTER}"
    assert answer.extra == {"mood": "😀 \N{REPLACEMENT CHARACTER}"}


def test_unknown_fields_are_kept_also_inside_nested_ones(small):
    small.answer(
        usage={"output_tokens": 5, "reasoning_tokens": 3},
        boxes=[
            {"image": "pa", "label": "a", "box": [1, 2, 3, 4]},
            {"image": "pa", "label": "b", "box": [1, 2, 3, 4], "colour": "red"},
        ],
        temperature=0.2,
        nothing=None,
    )
    (answer,) = small.load().answers_of("c1")
    assert answer.extra == {
        "boxes": [{}, {"colour": "red"}],
        "temperature": 0.2,
        "usage": {"reasoning_tokens": 3},
    }


def test_the_column_extra_is_taken_apart(small):
    small.answer(extra={"a": 1, "b": None}, c=2)
    (answer,) = small.load().answers_of("c1")
    assert answer.extra == {"a": 1, "c": 2}


def test_a_field_that_may_be_misspelt_is_a_warning(small):
    small.answer(finish_reson="stop")
    problem = small.only_problem()
    assert (problem.severity, problem.field) == ("warning", "finish_reson")
    assert "finish_reason" in problem.remedy


def test_an_empty_file_is_an_empty_table(small):
    small.text("answers.jsonl", "")
    assert small.problems() == []
    assert small.load().answers.height == 0


def test_an_empty_table_of_cases_is_an_error(small):
    small.text("cases.jsonl", "\n\n")
    problem = small.only_problem()
    assert problem.message == "The table has no rows."


def test_a_required_field_that_no_row_has(small):
    small.jsonl("answers", [{"model": "m1", "text": "a"}, {"model": "m2"}])
    rows = [(problem.row, problem.field) for problem in small.problems()]
    assert rows == [(1, "case"), (2, "case")]


def test_a_huge_line_is_read(small):
    small.answer(text="word " * 2_000_000)
    (answer,) = small.load().answers_of("c1")
    assert len(answer.text) == 10_000_000


def test_many_rows_cross_the_border_of_chunks(small, monkeypatch):
    monkeypatch.setattr("rexview.reviewset.tables.declared_table.CHUNK_ROWS", 3)
    small.jsonl("cases", [{"id": number, "question": "?", "n": number} for number in range(10)])
    cases = small.load().cases
    assert cases["id"].to_list() == [str(number) for number in range(10)]
    assert cases["_row"].to_list() == list(range(1, 11))
    assert [json.loads(extra)["n"] for extra in cases["extra"]] == list(range(10))


def test_many_rows_with_the_same_problems_are_counted(small):
    row = {"case": "c9", "model": "m1", "choice": "?"}
    small.jsonl("answers", [row | {"run_id": str(number)} for number in range(1000)])
    found = [(problem.row, problem.field) for problem in small.problems()]
    listed = range(1, 21)
    assert found[:21] == [*((row, "choice") for row in listed), (None, "choice")]
    assert found[21:] == [*((row, "case") for row in listed), (None, "case")]
    assert all("980 more rows" in p.message for p in small.problems() if p.row is None)


def test_every_problem_of_every_table_is_reported_at_once(small):
    small.text("reviewset.yaml", "format: 1\nmodels: [{id: m1}, {name: x}]\n")
    small.jsonl("answers", [{"case": "c9", "model": "m1", "choice": "?"}, {"case": "c1"}])
    small.text("scores.csv", "case,model,reader,dimension,score\nc1,m1,r1,style,7\n")
    with pytest.raises(ReviewSetError) as raised:
        small.load()
    found = {(p.file, p.row, p.field) for p in raised.value.problems if p.severity == "error"}
    assert found == {
        ("reviewset.yaml", None, "name"),
        ("reviewset.yaml", 2, "models[1].id"),
        ("answers.jsonl", 1, "case"),
        ("answers.jsonl", 1, "choice"),
        ("answers.jsonl", 2, "model"),
        ("scores.csv", 1, "dimension"),
        ("scores.csv", 1, "score"),
    }
    assert list(raised.value.problems) == small.problems()
