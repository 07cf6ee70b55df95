"""What a page gives to the outbox of its browser."""

import pytest
from support.opened_app import server_for
from support.small_set import write_set

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.ui.web.saving.outbox import outbox_json

ANN = Person("ann", "Ann", "lead")
BERT = Person("bert", "Bert", "lead")


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Return a function from a person to what the page gives to the outbox."""
    folder = write_set(tmp_path / "set")
    with server_for(folder, tmp_path, monkeypatch):
        yield lambda person: outbox_json(load_review_set(folder), "case page", person)


def test_each_person_has_a_store_of_their_own(given):
    owners = [given(person)["owner"] for person in (ANN, BERT, ANN)]
    assert owners[0] == owners[2]
    assert owners[0] != owners[1]


def test_before_a_name_is_given_there_is_no_ticket(given):
    before, after = given(None), given(ANN)
    assert before["owner"] is None
    assert before["ticket"] is None
    assert after["ticket"]
    assert before["unowned"] == after["unowned"]
