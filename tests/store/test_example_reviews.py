"""The demonstration's example entries are laid out once, for a user who has written nothing."""

import shutil

import pytest

from rexview.analysis.meetings import list_meetings
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import Entry, find_notices, open_reviews
from rexview.store.database.connection import close_databases
from rexview.store.example_reviews import EXAMPLES, lay_out_examples

ANN = Person("ann", "Ann", "lead")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A user's data folder, of their own and empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield tmp_path / "data" / "rexview" / "reviews"
    close_databases()


@pytest.fixture(scope="module")
def demo():
    return load_review_set(DEMO_FOLDER)


def files(folder):
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def test_a_first_visit_has_a_meeting_and_a_study(demo, data):
    assert open_reviews(demo, Settings()).revision() == 0
    assert lay_out_examples(demo, Settings())
    reviews = open_reviews(demo, Settings())
    assert [one.name for one in list_meetings(reviews)] == ["Example board"]
    assert {one.reader for one in reviews.assignments()} == {"reader_a", "reader_b"}
    assert find_notices(reviews) == ()
    assert reviews.database.file.read_bytes()[:16] == EXAMPLES.read_bytes()[:16]
    assert len([name for name in files(data) if name.endswith(".sqlite")]) == 1


def test_what_is_removed_stays_removed(demo, data):
    lay_out_examples(demo, Settings())
    reviews = open_reviews(demo, Settings())
    reviews.record([Entry("meeting", subject="example-meeting", value=None)], ANN)
    close_databases()
    assert not lay_out_examples(demo, Settings())
    assert list_meetings(open_reviews(demo, Settings())) == ()


def test_a_demonstration_in_use_is_left_as_it_is(demo, data):
    reviews = open_reviews(demo, Settings())
    reviews.record([Entry("skip", "c01", value={"reason": None})], ANN)
    assert not lay_out_examples(demo, Settings())
    assert [row.kind for row in reviews.history()] == ["skip"]


def test_lost_entries_are_missed_and_not_replaced(demo, data):
    reviews = open_reviews(demo, Settings())
    reviews.record([Entry("skip", "c01", value={"reason": None})], ANN)
    close_databases()
    for file in data.glob("*.sqlite*"):
        file.unlink()
    assert not lay_out_examples(demo, Settings())
    assert [one.kind for one in find_notices(open_reviews(demo, Settings()))] == ["lost"]


def test_no_other_set_gets_them(data, tmp_path):
    copy = load_review_set(shutil.copytree(DEMO_FOLDER, tmp_path / "mine"))
    assert (copy.folder / EXAMPLES.name).exists()
    assert not lay_out_examples(copy, Settings())
    assert open_reviews(copy, Settings()).revision() == 0
    assert files(data) == []


def test_no_database_server_gets_them(demo, data, tmp_path):
    assert not lay_out_examples(demo, Settings(database_url=f"sqlite:///{tmp_path}/team.sqlite"))
    assert files(data) == []


def test_where_nothing_can_be_written_the_demonstration_opens_without(demo, data):
    data.parent.mkdir(parents=True)
    data.write_text("a file in the way")
    assert not lay_out_examples(demo, Settings())
    assert data.read_text() == "a file in the way"


def test_what_another_process_has_just_made_is_kept(demo, data, monkeypatch):
    lay_out_examples(demo, Settings())
    (file,) = data.glob("*.sqlite")
    file.write_bytes(b"made by another process")
    monkeypatch.setattr("rexview.store.example_reviews.data_folder_files", lambda review_set: ())
    assert not lay_out_examples(demo, Settings())
    assert file.read_bytes() == b"made by another process"
    assert files(data) == [file.name]
