"""What sends what waits in the browser knows which task is in hand."""

import pytest
from streamlit.testing.v1 import AppTest
from support.opened_app import server_for
from support.page_text import components
from support.reader_tasks import CHOICE
from support.review_folder import RAMP, write_review_set

from rexview.people import Person
from rexview.ui.web.access import permissions


@pytest.mark.parametrize("query", [{}, {"task": "compare"}])
def test_a_set_with_one_task_needs_no_link_to_it(tmp_path, monkeypatch, query):
    answers = [{"case": "q1", "model": "m", "text": "B", "choice": 1}]
    info = {"name": "Questions", "models": [{"id": "m"}]}
    pictures = {"one.png": RAMP}
    folder = write_review_set(
        tmp_path / "set", info=info, cases=[CHOICE], answers=answers, pictures=pictures
    )
    with server_for(folder, tmp_path, monkeypatch):
        monkeypatch.setattr(permissions, "current_person", lambda: Person("ann", "Ann", "reader"))
        app = AppTest.from_function(_script, default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = value
        (waiting,) = components(app.run(), "rexview_waiting")
    assert waiting["outbox"]["page"] == "answer questions"


def _script():
    from rexview.ui.web.saving.outbox import show_outbox_sender

    show_outbox_sender("score")
