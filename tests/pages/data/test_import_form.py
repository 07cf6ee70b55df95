"""The Import tab: files of any kind looked at, proposals shown and changed, the receipt."""

import json

import pytest
from support.page_text import shown
from support.small_set import write_set

from rexview.reviewset import load_review_set
from rexview.ui.data.column_meanings import KEEP, LEAVE_OUT

ROWS = (
    "case,question,model,response,patient name,urgency,process\n"
    "c1,Is there an effusion?,GPT,Small right effusion.,Jane Doe,high,4\n"
    "c2,Is there a nodule?,GPT,No nodule is seen.,John Doe,low,5\n"
    "c3,Is the heart large?,GPT,,Ann Doe,low,\n"
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.fixture
def import_tab(open_app):
    """Return a function that opens the Import tab and gives it paths."""

    def open_tab(*paths, **query):
        app = open_app("data", **query)
        app.query_params["as"] = "import"
        app.run()
        app.text_area(key="import_paths").set_value("\n".join(map(str, paths))).run()
        assert not app.exception
        return app

    return open_tab


def choice_of(app, column):
    """Return the field in which the meaning of a column is chosen."""
    return next(one for one in app.selectbox if one.label == f"Meaning of {column}")


def made(app):
    """Return the numbers of what would be made, by name."""
    return {metric.label: metric.value for metric in app.metric[3:]}


def press(app, label):
    next(one for one in app.button if one.label == label).click().run()
    assert not app.exception


def target(app):
    return next(one for one in app.text_input if one.label == "New folder for the review set")


def test_any_file_is_the_first_choice_and_says_what_a_file_is_and_why(import_tab, table):
    app = import_tab(table)
    assert app.selectbox(key="import_format").value == "auto"
    page = shown(app)
    assert "What the files are" in page
    assert "answers.csv" in page
    assert "with the columns case, question, model" in page
    assert made(app) == {"Cases": "3", "Answers": "2", "Scores": "2", "Models": "1"}


def test_every_column_has_an_example_but_those_of_persons_have_none(import_tab, table):
    app = import_tab(table)
    page = shown(app)
    for example in ("Small right effusion.", "Is there an effusion?", "high", "“4”"):
        assert example in page
    assert choice_of(app, "urgency").value == KEEP
    assert choice_of(app, "patient name").value == LEAVE_OUT
    assert "Doe" not in page


def test_a_changed_meaning_changes_what_is_made_and_is_imported(import_tab, table, tmp_path):
    app = import_tab(table)
    choice_of(app, "process").set_value(KEEP).run()
    choice_of(app, "urgency").set_value("Site").run()
    assert "Scores" not in made(app)
    target(app).set_value(str(tmp_path / "made")).run()
    press(app, "Import")
    review_set = load_review_set(tmp_path / "made")
    assert review_set.cases["site"].to_list() == ["high", "low", "low"]
    assert review_set.scores.height == 0


def test_a_meaning_that_one_column_has_goes_to_the_last_one_chosen(import_tab, table):
    app = import_tab(table)
    choice_of(app, "urgency").set_value("Question").run()
    assert not app.exception
    assert choice_of(app, "question").value == KEEP
    assert not next(one for one in app.button if one.label == "Import").disabled


def test_two_columns_of_answers_need_a_model_each(import_tab, table):
    app = import_tab(table)
    choice_of(app, "urgency").set_value("Answer").run()
    assert "Only one column can be: Answer" in shown(app)
    assert next(one for one in app.button if one.label == "Import").disabled


def test_scores_on_another_scale_are_offered_with_it(import_tab, tmp_path):
    path = tmp_path / "scores.csv"
    rows = "".join(f"c{number},m,Clear.,{number % 11}\n" for number in range(22))
    path.write_text(f"case,model,answer,process\n{rows}")
    app = import_tab(path)
    assert "not from 1 to 5: it goes from 0 to 10. Choose the score, then its scale" in shown(app)
    assert "--scale" not in "".join(caption.value for caption in app.caption)
    choice_of(app, "process").set_value("Score: Process").run()
    assert next(one for one in app.selectbox if one.label == "Scale of process").value == "0-10"
    assert made(app)["Scores"] == "22"


def test_the_receipt_names_what_was_used_and_what_was_not(import_tab, table, tmp_path):
    (tmp_path / "notes.pdf").write_bytes(b"%PDF-1.7 nothing to read here")
    app = import_tab(table, tmp_path / "notes.pdf")
    target(app).set_value(str(tmp_path / "made")).run()
    press(app, "Import")
    page = shown(app)
    assert "3 cases, 2 answers" in page
    assert "notes.pdf" in page
    assert "PDF document" in page
    assert "patient name" in page
    assert "Doe" not in page
    (receipt,) = (one for one in app.get("download_button") if "receipt" in one.proto.label)
    assert receipt.proto.url
    press(app, "Open made")
    assert "set" in app.query_params


def test_nothing_that_was_typed_is_lost_on_a_failed_import_or_another_page(
    import_tab, table, tmp_path
):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").write_text("here")
    app = import_tab(table)
    choice_of(app, "urgency").set_value("Site").run()
    target(app).set_value(str(taken)).run()
    press(app, "Import")
    assert "not empty" in json.dumps(app.dataframe[-1].value.to_dict(), default=str)
    for page in ("data", "overview", "data"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
    app.query_params["as"] = "import"
    app.run()
    assert app.text_area(key="import_paths").value == str(table)
    assert choice_of(app, "urgency").value == "Site"
    assert target(app).value == str(taken)


def test_uploads_stay_when_another_tab_was_open_and_can_be_taken_away(open_app):
    app = open_app("data")
    app.query_params["as"] = "import"
    app.run()
    app.file_uploader[0].set_value([("answers.csv", ROWS.encode(), "text/csv")]).run()
    assert made(app)["Cases"] == "3"
    app.query_params["as"] = "check"
    app.run()
    app.query_params["as"] = "import"
    app.run()
    assert made(app)["Cases"] == "3"
    next(one for one in app.button if "answers.csv" in one.label.replace("\\", "")).click().run()
    assert "What the files are" not in shown(app)


def test_a_file_that_cannot_be_imported_says_what_it_is(import_tab, tmp_path):
    (tmp_path / "notes.pdf").write_bytes(b"%PDF-1.7 nothing to read here")
    app = import_tab(tmp_path / "notes.pdf")
    assert "PDF document" in shown(app)
    assert app.error
    assert next(one for one in app.button if one.label == "Import").disabled


def test_answers_are_added_to_the_set_that_is_open(import_tab, review_folder, tmp_path):
    before = load_review_set(review_folder)
    more = tmp_path / "more.csv"
    more.write_text("case,model,answer\nc1,new,A small effusion on the right.\nc3,new,Clear.\n")
    app = import_tab(more)
    app.radio(key="import_where").set_value("into").run()
    assert not app.exception
    deltas = {metric.label: (metric.value, metric.delta) for metric in app.metric[3:]}
    assert deltas["Cases"] == ("3", "+0")
    assert deltas["Answers"] == ("5", "+2")
    press(app, "Add to the set")
    after = load_review_set(review_folder)
    assert after.answers.height == before.answers.height + 2
    assert after.scores.height == before.scores.height
    assert "new" in [model.id for model in after.models]


@pytest.mark.parametrize(
    "hostile", ["<img src=x onerror=alert(1)>", "![x](http://h.example/x.png)"]
)
def test_text_of_files_is_shown_and_never_run(import_tab, tmp_path, hostile):
    path = tmp_path / "answers.csv"
    path.write_text(f'case,model,answer,"{hostile}"\nc1,m,Clear lungs.,"{hostile}"\n')
    app = import_tab(path)
    assert not app.exception
    for element in app.get("html"):
        assert "<img src=x" not in element.proto.body
    for element in (*app.markdown, *app.caption):
        assert "![x](" not in element.value


def test_a_set_of_others_is_not_read_by_typing_its_path(open_app, tmp_path, monkeypatch):
    monkeypatch.setenv("REXVIEW_OPEN_UNDER", str(tmp_path / "allowed"))
    outside = write_set(tmp_path / "outside")
    app = open_app("data")
    app.query_params["as"] = "import"
    app.run()
    app.text_area(key="import_paths").set_value(str(outside / "cases.jsonl")).run()
    assert "does not open that folder" in shown(app)
    assert "What the files are" not in shown(app)


def test_the_same_warning_of_many_rows_is_one_line(import_tab, tmp_path):
    path = tmp_path / "answers.csv"
    rows = "".join(f"c1,m,Text number {number}.\n" for number in range(31))
    path.write_text(f"case,model,answer\n{rows}")
    app = import_tab(path)
    press(app, "Import")
    page = shown(app)
    assert "Warnings" in page
    assert page.count("differs from an earlier one") == 1
    assert "… (30)" in page
