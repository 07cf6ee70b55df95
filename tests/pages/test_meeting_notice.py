"""What followers are sent before the models are named names none, the set's notice neither."""

import pytest
import yaml
from support.opened_app import run_page, server_for
from support.small_set import write_set

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases

LEA = Person("lea", "Lea", "lead")


@pytest.mark.parametrize(
    ("view", "named"), [("follow", False), ("present", False), ("agenda", True)]
)
def test_the_notice_names_no_model_on_a_screen(tmp_path, monkeypatch, view, named):
    folder = write_set(tmp_path / "set")
    name = next(iter(load_review_set(folder).model_names.values()))
    about = folder / "reviewset.yaml"
    notice = f"Made to show how {name} fails."
    about.write_text(yaml.safe_dump({**yaml.safe_load(about.read_text()), "notice": notice}))
    entries = [
        Entry("meeting", subject="m1", value={"name": "Chest"}),
        Entry("agenda", "c1", subject="m1", value={"place": 1}),
    ]
    open_reviews(load_review_set(folder), Settings()).record(entries, LEA)
    close_databases()
    with server_for(folder, tmp_path, monkeypatch):
        page = run_page("meeting", **{"as": view, "meeting": "m1"})
        said = [one.value for one in page.markdown if "Made to show" in one.value]
    assert said
    assert (name in said[0]) is named
