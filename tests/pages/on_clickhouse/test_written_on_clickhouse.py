"""What readers are given to do on ClickHouse, and what is exported, is the same as in memory."""

from __future__ import annotations

from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import run_page
from support.page_text import components

from rexview.analysis import CaseFilter
from rexview.analysis.case.blinding import MODEL_NAME_COVER, find_plain_words
from rexview.analysis.query.clickhouse.table_layout import CASES_TABLE
from rexview.errors import ExportRefused
from rexview.export.content_builder import make_content
from rexview.export.export_formats import EXPORT_FORMATS
from rexview.export.export_job import ExportProgress, write_export
from rexview.export.export_request import ExportRequest, ExportSource, find_export_cases
from rexview.export.reviewset import make_exported_set
from rexview.people import Person
from rexview.ui import export
from rexview.ui.comments.case_comments import case_targets
from rexview.ui.export import select_export_cases
from rexview.ui.score_cases.reader_pads import item_json, pad_case, pad_data
from rexview.ui.score_cases.scored_case import neighbouring_scored_cases
from rexview.ui.web.access import permissions
from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.saving.outbox import ADDRESS
from rexview.ui.web.saving.reader_study import items_to_score, load_reader_study
from rexview.ui.web.saving.reader_tasks import TASK_LISTS
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.clickhouse_sets import clickhouse_set
from rexview.ui.web.server.review_sets import PageView
from rexview.ui.web.server.sealed_tokens import Grant

READER, OTHER = Person("anna", "Anna", "reader"), Person("bob", "Bob", "reader")
LEAD = Person("lea", "Lea", "lead")
SEEN = PageView("mean_first", 0)
PAGES = {"answer": "answer questions", "compare": "compare reports", "correct": "correct reports"}


def opened():
    return review_sets.open_set(server_state.settings().review_set)


def post(person, page, case, *entries):
    """Send entries as the browser's outbox does; return what the server says."""
    detail = [person.id, person.name, person.role]
    grant = Grant("write", review_sets.set_id(opened().folder), "", detail=detail)
    every = [
        {"token": str(uuid4()), "case": case, "page": page, "was": None, "seen": 1_000_000, **one}
        for one in entries
    ]
    body = {"ticket": server_state.signer().sign(grant), "entries": every, "case": case}
    client = TestClient(Starlette(routes=saving_route.routes()))
    reply = client.post(f"/{ADDRESS}", json={**body, "page": page}).json()
    assert set(reply["saved"]) == {one["token"] for one in every}, reply
    return reply


def score(person, case, value):
    """Score all of a case."""
    study = load_reader_study(opened(), person).holding([case])
    items, shown = items_to_score(study.review_set, case), study.shown(case)
    return post(
        person,
        "score page",
        case,
        *(
            {"kind": "score", "field": "score", "slot": slot, "shown": shown[slot]}
            | {"subject": item.dimension, "picture": item.picture, "value": value}
            for slot, model in study.slots(case).items()
            for item in items.get(model, ())
        ),
    )


def everything_to_do(person):
    """Return all that the Score page gives to somebody: each case in its order, each item."""
    study = load_reader_study(opened(), person)
    queue = study.worklist.page(0, len(study.worklist))
    study = study.holding(queue)
    told = {
        "queue": queue,
        "cases": [pad_case(study, case) for case in queue],
        "states": study.states,
        "progress": study.progress,
        "next": study.resume(),
        "worklist": pad_data(study, queue[0])["worklist"],
    }
    for task, make in TASK_LISTS.items():
        tasks = make(study)
        items = tasks.worklist.page(0, len(tasks.worklist))
        tasks = make(study.holding([tasks.case_of(item) for item in items]))
        told[task] = {
            "items": [item_json(tasks, item) for item in items],
            "states": tasks.states,
            "progress": tasks.progress,
            "next": tasks.resume(),
        }
    return told


@pytest.fixture
def as_reader(monkeypatch):
    monkeypatch.setattr(permissions, "current_person", lambda: READER)


def test_readers_are_given_the_same_in_the_same_order(serving, as_reader):
    with serving(on_tables=False):
        before = everything_to_do(READER)
        first, _, third = before["queue"][:3]
        words = str(before["cases"]).lower()
        assert MODEL_NAME_COVER in words
        assert "heart" in words
        assert "nodule" not in words
        assert all(before[task]["items"] for task in TASK_LISTS)
    with serving(on_tables=True):
        assert everything_to_do(READER) == before
        reply = score(READER, first, 4)
        assert reply["states"][first] == "done"
        post(READER, "score page", third, {"kind": "skip", "field": "reason", "value": "Too dark"})
        score(OTHER, third, 2)
        question = load_reader_study(opened(), READER)
        tasks = TASK_LISTS["answer"](question)
        item = tasks.worklist.page(0, 1)[0]
        tasks = TASK_LISTS["answer"](question.holding([item]))
        given = {"value": 0, "seconds": 3.0}
        chosen = {"kind": "choose", "shown": tasks.shown(item), "value": given}
        assert post(READER, PAGES["answer"], item, chosen)["states"] == {item: "done"}
        after = everything_to_do(READER)
        assert after["states"] == {first: "done", third: "skipped"}
        of_other = everything_to_do(OTHER)
    with serving(on_tables=False):
        assert everything_to_do(READER) == after
        assert everything_to_do(OTHER) == of_other


@pytest.mark.parametrize("task", ["score", *TASK_LISTS])
def test_the_score_page_opens_on_tables(serving, as_reader, task):
    def seen():
        app = run_page("score", task=task)
        assert not app.exception
        pads = [one for one in components(app) if "worklist" in one]
        return [{**one, "outbox": None, "turning": None} for one in pads]

    with serving(on_tables=True):
        on_tables = seen()
        assert on_tables[0]["case"]["case"]
    with serving(on_tables=False):
        assert on_tables == seen()


def test_a_browser_turns_to_cases_that_nobody_has_opened(serving, as_reader):
    with serving(on_tables=True):
        queue = load_reader_study(opened(), READER).worklist.page(0, 100)
        there = review_sets.with_cases_loaded(opened(), queue[:3])
        around = neighbouring_scored_cases(there, {})
        assert [around.case_json(case)["pad"]["case"] for case in queue[:3]] == list(queue[:3])


def test_words_that_people_use_too_are_those_of_the_whole_set(serving, folder):
    with serving(on_tables=False):
        words = find_plain_words(opened())
        assert "heart" in words
    with serving(on_tables=True):
        tables = clickhouse_set(folder).opened()
        for case in tables.database.query(f"SELECT id FROM {CASES_TABLE}")["id"]:
            assert find_plain_words(tables.small_set((case,)).given) == words


def source():
    review_set = review_sets.with_current_reviews(opened())
    return ExportSource(
        review_set, review_sets.engine(review_set, SEEN), review_sets.reviews(review_set)
    )


def content_of(wanted):
    held, of_these = select_export_cases(source(), wanted)
    return make_content(held, find_export_cases(held, of_these))[0]


def records(wanted):
    """Return all that any format is made from."""
    content = content_of(wanted)
    new_set, notes = make_exported_set(content.whole(), {}, {})
    tables = {
        name: getattr(new_set, name).to_dicts()
        for name in ("cases", "answers", "scores", "flags", "comments", "decisions", "edits")
    }
    cases = list(content.cases())  # pictures are alike only by what they say
    return content.case_ids, content.models, repr(cases), tables, notes, cases[0]


def test_an_export_holds_what_people_wrote(serving, folder, tmp_path):
    wanted = ExportRequest(query={"sort": ["order"]})
    with serving(on_tables=False):
        untouched = next(
            case
            for case in source().engine.page(CaseFilter(sort="order"), 0, 30)
            if not review_sets.case_page(opened(), case, SEEN).scores
        )
    with serving(on_tables=True):
        there = review_sets.with_cases_loaded(opened(), [untouched])
        targets = case_targets(there, untouched)
        model, shown = next(iter(targets.shown.items()))
        said = {"text": "Look here", "replyTo": None, "what": "answer"}
        post(
            LEAD,
            "case page",
            untouched,
            {"kind": "verdict", "slot": model, "shown": shown, "subject": "omission"}
            | {"value": {"verdict": "confirmed", "comment": "Seen"}},
            {"kind": "comment", "slot": model, "shown": shown, "subject": str(uuid4())}
            | {"value": said},
        )
        on_tables = records(wanted)
        of_one = records(ExportRequest(cases=(untouched,)))
        form = EXPORT_FORMATS["reviewset"]
        write_export(
            content_of(ExportRequest(cases=(untouched,))), form, tmp_path / "new", ExportProgress()
        )
    with serving(on_tables=False):
        assert records(wanted)[:-1] == on_tables[:-1]
        assert records(ExportRequest(cases=(untouched,)))[:-1] == of_one[:-1]
    case = of_one[-1]
    assert [one.text for one in case.comments] == ["Look here"]
    assert [one.reader for one in case.flags if one.verdict == "confirmed"] == [LEAD.id]


def test_more_cases_than_fit_are_not_exported(serving, monkeypatch):
    monkeypatch.setattr(export, "MAX_EXPORT_CASES", 3)
    with serving(on_tables=True), pytest.raises(ExportRefused, match="rexview export"):
        content_of(ExportRequest())
