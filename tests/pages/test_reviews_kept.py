"""What is wrong with the reviews is told on the pages, and mended on the Data page."""

import shutil
import sqlite3

import pytest
from support import page_text

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, database_location, open_reviews
from rexview.store.database.connection import close_databases


def shown(app):
    """What a page says, without the backslashes that keep text from being Markdown."""
    return page_text.shown(app).replace("\\", "")


ANN = Person("ann", "Ann A.", "lead")
PAGES = (None, "score", "data")


@pytest.fixture(autouse=True)
def own_databases(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    close_databases()


def write(folder, score):
    entry = Entry("score", "c1", "m", "process", value={"score": score, "comment": None})
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record([entry], ANN)
    close_databases()
    return reviews.database.file


def write_with_user(folder, score, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(database_location, "is_writable", lambda folder: False)
        return write(folder, score)


def places(app):
    return [code.value for code in app.code if code.value.endswith(".sqlite")]


def button(app, label):
    (found,) = [one for one in app.button if one.label == label]
    return found


def test_the_place_is_shown_from_the_first_score_on(open_app, review_folder):
    assert "Reviews are kept in" not in shown(open_app("data"))
    write(review_folder, 4)
    place = f"{review_folder}/reviews.sqlite"
    for page in ("data", "study"):
        app = open_app(page)
        assert "Reviews are kept in the review set's folder." in shown(app)
        assert place not in shown(app)  # a path is for whoever looks for it
        assert places(app) == ([place] if page == "data" else [])


def test_another_database_is_told_on_every_page_and_joined(
    open_app, review_folder, monkeypatch, tmp_path
):
    file = write_with_user(review_folder, 2, monkeypatch)
    file.rename(tmp_path / "away")
    write(review_folder, 5)
    (tmp_path / "away").rename(file)
    for page in PAGES:
        text = shown(open_app(page))
        assert "1 entry of this review set lies in another database and is not shown." in text
    app = open_app("data")
    assert str(file) in shown(app)
    button(app, "Merge them").click().run()
    assert not app.exception
    assert "1 entry merged: 2 now in" in shown(app)
    assert "lies in another database" not in shown(app)
    assert len(open_reviews(load_review_set(review_folder), Settings()).history()) == 2
    assert not file.exists()


def test_reviews_with_the_user_stay_and_can_be_moved_beside_the_set(
    open_app, review_folder, monkeypatch
):
    file = write_with_user(review_folder, 2, monkeypatch)
    app = open_app("data")
    assert places(app) == [str(file)]
    assert not app.warning
    button(app, "Move them into the set's folder").click().run()
    assert not app.exception
    assert (review_folder / "reviews.sqlite").exists()
    assert places(app) == [f"{review_folder}/reviews.sqlite"]
    assert len(open_reviews(load_review_set(review_folder), Settings()).history()) == 1


def test_lost_entries_are_told_until_they_are_given_up(open_app, review_folder, tmp_path):
    file = write(review_folder, 2)
    shutil.copy(file, tmp_path / "older")
    write(review_folder, 3)
    shutil.copy(tmp_path / "older", file)
    for page in PAGES:
        assert "The newest entries are missing" in shown(open_app(page))
    app = open_app("data")
    button(app, "Continue without them").click().run()
    assert not app.exception
    assert "The newest entries are missing" not in shown(app)
    assert "The newest entries are missing" not in shown(open_app())


def test_a_damaged_entry_is_named_to_a_lead_only(open_app, review_folder, monkeypatch):
    file = write(review_folder, 2)
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TRIGGER history_no_update")
        connection.execute("UPDATE history SET value = replace(value, '2', '5')")
    connection.close()
    for page in PAGES:
        app = open_app(page)
        assert "1 entry of the reviews database was damaged" in shown(app)
        assert ("score by ann, case c1" in shown(app)) == (page == "data")


@pytest.mark.parametrize("at", [30, 4096])
def test_a_damaged_file_is_a_sentence_on_every_page(open_app, review_folder, at):
    file = write(review_folder, 2)
    content = bytearray(file.read_bytes())
    content[at : at + 3000] = b"\xfe" * 3000
    file.write_bytes(content)
    for page in (None, "study", "data"):
        app = open_app(page)
        assert "reviews.sqlite is damaged or is no database" in shown(app)


def name_model(folder, name):
    for file in ("answers.jsonl", "scores.csv", "reviewset.yaml"):
        text = (folder / file).read_text()
        for old in ('"model": "m"', "c1,m,", "id: m,"):
            start, end = old[:-2], old[-1]
            text = text.replace(old, f"{start}{name}{end}")
        (folder / file).write_text(text)


def test_ids_of_200_characters_open_on_every_page(open_app, review_folder):
    name_model(review_folder, "m" * 200)
    for page in (None, "browse", "scores", "readers", "score"):
        assert not open_app(page).error


def test_an_id_of_201_characters_is_a_sentence(open_app, review_folder):
    name_model(review_folder, "m" * 201)
    app = open_app()
    assert app.error
    assert (
        app.dataframe[0].value["What is wrong"].str.contains("is longer than 200 characters").any()
    )
