import pytest

HEADER = "case,model,text,choice,boxes"


def test_nested_fields_are_json_in_their_cell(small):
    box = '[{""image"": ""pa"", ""label"": ""x"", ""box"": [1, 2, 3, 4], ""note"": ""n""}]'
    small.text("answers.csv", f'{HEADER}\nc1,m1,"a, ""b""\nc",2,"{box}"\n')
    (answer,) = small.load().answers_of("c1")
    assert answer.text == 'a, "b"\nc'
    assert answer.choice == 2
    assert answer.boxes[0].box == (1, 2, 3, 4)
    assert answer.extra == {"boxes": [{"note": "n"}]}


def test_rows_are_data_rows_and_a_text_with_line_breaks_is_one(small):
    small.text("answers.csv", f'{HEADER}\nc1,m1,"two\nlines",,\n\nc1,m2,x,four,\n')
    problem = small.only_problem()
    assert (problem.row, problem.field) == (2, "choice")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_and_byte_order_mark(small, separator, mark):
    lines = [HEADER.replace(",", separator), separator.join(["c1", "m1", "a", "1", ""])]
    small.text("answers.csv", mark + "\r\n".join(lines))
    assert small.load().answers["choice"].to_list() == [1]


def test_an_empty_cell_is_nothing(small):
    small.text("answers.csv", HEADER + ",mood\nc1,m1,,,,\n")
    (answer,) = small.load().answers_of("c1")
    assert (answer.text, answer.choice, answer.boxes, dict(answer.extra)) == (None, None, (), {})


def test_unknown_columns_are_kept_as_text(small):
    small.text("answers.csv", "case,model,mood,,version\nc1,m1,good,7,1.10\n")
    (answer,) = small.load().answers_of("c1")
    assert answer.extra == {"mood": "good", "column_4": "7", "version": "1.10"}


def test_unknown_fields_may_stand_in_extra(small):
    small.text("answers.csv", 'case,model,extra\nc1,m1,"{""n"": 3}"\n')
    assert small.load().answers_of("c1")[0].extra == {"n": 3}


@pytest.mark.parametrize("cells", ["c1,m1,text, with comma,,", "c1,m1"])
def test_rows_of_another_length_are_errors(small, cells):
    small.text("answers.csv", f"{HEADER}\nc1,m1,fine,,\n{cells}\nc1,m2,fine,,\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row) == ("error", 2)
    assert "the header has 5" in problem.message


def test_a_quote_that_is_never_closed_is_an_error(small):
    small.text("answers.csv", f'{HEADER}\nc1,m1,fine,,\nc1,m2,"never closed,,\n')
    problem = small.only_problem()
    assert (problem.severity, problem.row) == ("error", 2)


def test_json_that_breaks_off_is_an_error_of_its_row(small):
    small.text("answers.csv", f'{HEADER}\nc1,m1,a,,"[{{"\n')
    problem = small.only_problem()
    assert (problem.row, problem.field) == (1, "boxes")
    assert "not JSON" in problem.message


def test_a_column_that_is_missing_is_one_problem(small):
    small.text("answers.csv", "case,Modle,text\nc1,m1,a\nc1,m2,b\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row, problem.field) == ("error", None, "model")
    assert "“modle”" in problem.message


def test_a_column_named_twice_is_an_error(small):
    small.text("answers.csv", "case,model,text,text\nc1,m1,a,b\n")
    problem = small.only_problem()
    assert problem.field == "text"
    assert "twice" in problem.message


def test_latin_1_is_named_with_its_row(small):
    content = "case,model,text\nc1,m1,fine\nc1,m2,süß\n".encode("latin-1")
    (small.folder / "answers.csv").write_bytes(content)
    problem = small.only_problem()
    assert (problem.row, problem.remedy) == (2, "Save the file as UTF-8.")


def test_utf16_is_one_problem(small):
    content = "case,model,text\nc1,m1,fine\n".encode("utf-16")
    (small.folder / "answers.csv").write_bytes(content)
    assert "UTF-16" in small.only_problem().message


@pytest.mark.parametrize("content", ["", "\ufeff", "case,model\n"])
def test_an_empty_file_and_a_bare_header_are_empty_tables(small, content):
    small.text("answers.csv", content)
    assert small.load().answers.height == 0


def test_a_huge_cell_is_read(small):
    small.text("answers.csv", "case,model,text\nc1,m1," + "x" * 5_000_000 + "\n")
    assert len(small.load().answers_of("c1")[0].text) == 5_000_000


def test_many_rows_cross_the_border_of_chunks(small, monkeypatch):
    monkeypatch.setattr("rexview.reviewset.tables.declared_table.CHUNK_ROWS", 3)
    (small.folder / "cases.jsonl").unlink()
    small.text("cases.csv", "id,question\n" + "".join(f"{n},?\n" for n in range(10)))
    cases = small.load().cases
    assert cases["id"].to_list() == [str(number) for number in range(10)]
    assert cases["_row"].to_list() == list(range(1, 11))
