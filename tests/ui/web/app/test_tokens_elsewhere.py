"""Sealed tokens used for what they are not for: another route, another set, another page."""

import json
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.entries.sent import ADDRESS, ticket_of
from support.opened_app import opened_set
from support.small_set import write_set

from rexview.people import Person
from rexview.store import Entry
from rexview.ui.meeting.live import route as meeting_route
from rexview.ui.meeting.live.admission import COOKIE, room_json
from rexview.ui.turning.ticket import turning_json
from rexview.ui.web.access import image_links, permissions
from rexview.ui.web.app import case_routes, image_routes
from rexview.ui.web.link.pages import PAGE_SCORE
from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.saving.entries import PAGE_FILES, SCORE_PAGE
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

READER = Person("anna", "Anna", "reader")
LEA = Person("lea", "Lea", "lead")
SECRET = "Peerword of another reader"


class NoCases:
    """A meeting of this test shows no case."""

    def case_json(self, *_):
        return {}

    def models_by_letter(self, *_):
        return {}


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def other(review_set, tmp_path):
    """Another set with the same cases, open in the same server."""
    folder = write_set(tmp_path / "other")
    review_sets.register_folder(folder)
    return review_sets.open_set(folder)


@pytest.fixture
def client(review_set):
    routes = [
        *saving_route.routes(),
        *image_routes.routes(),
        *case_routes.routes(),
        *meeting_route.routes(NoCases()),
    ]
    return TestClient(Starlette(routes=routes))


def score(review_set, **more):
    study = load_reader_study(review_set, READER)
    slot, shown = next(iter(study.shown("c1").items()))
    return {
        "token": str(uuid4()),
        "page": SCORE_PAGE,
        "case": "c1",
        "kind": "score",
        "slot": slot,
        "shown": shown,
        "subject": "process",
        "picture": None,
        "field": "score",
        "value": 4,
        "was": None,
        "seen": 1_000_000,
        **more,
    }


def send(client, ticket, *entries, **more):
    return client.post(ADDRESS, json={"ticket": ticket, "entries": entries, **more})


def history(review_set):
    return review_sets.reviews(review_set).history()


def tokens_of(review_set):
    """A token of each kind that the server makes."""
    with permissions.acting_as(LEA):
        meeting = room_json(review_set, "m1")["address"].rpartition("/")[2]
    turning = turning_json(review_set, PAGE_SCORE, {}, state="")
    voter = Grant("voter", "", "0" * 32)
    return {
        "write": ticket_of(review_set, READER),
        "pixels": image_links.pixel_url(review_set, "one.png").rpartition("/")[2],
        "thumbs": image_links.thumbnail_url(review_set, "one.png").rpartition("/")[2],
        "cases": turning["address"].rpartition("/")[2],
        "meeting": meeting,
        "voter": server_state.signer().sign(voter),
    }


ROUTES = {
    "write": lambda client, token: send(client, token),
    "pixels": lambda client, token: client.get(f"/rexview/pixels/{token}"),
    "thumbs": lambda client, token: client.get(f"/rexview/thumbs/{token}"),
    "cases": lambda client, token: client.get(f"/rexview/cases/{token}?beside=c1"),
    "meeting": lambda client, token: client.get(f"/rexview/meeting/{token}/case?case=c1"),
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_token_opens_only_what_it_is_for(client, review_set, route):
    for kind, token in tokens_of(review_set).items():
        answer = ROUTES[route](client, token)
        if kind == route:
            assert answer.status_code != 403, (kind, answer.text)
        else:
            assert answer.status_code == 403, (kind, answer.status_code, answer.text)


def test_another_kind_of_token_is_no_voter(client, review_set):
    tokens = tokens_of(review_set)
    for kind in tokens.keys() - {"voter"}:
        client.cookies.set(COOKIE, tokens[kind])
        vote = {"case": "c1", "right": "none", "harm": 1}
        answer = client.post(f"/rexview/meeting/{tokens['meeting']}/vote", json=vote)
        assert answer.status_code >= 400, kind


def test_a_ticket_of_one_set_writes_nothing_into_another(client, review_set, other):
    answer = send(client, ticket_of(review_set, READER), score(other), case="c1")
    assert answer.status_code == 200
    assert answer.json()["saved"] == [], "the letters of one set are not those of another"
    assert list(history(other)) == []
    assert send(client, ticket_of(other, READER), score(other)).json()["saved"]
    assert list(history(review_set)) == []
    assert len(history(other)) == 1


@pytest.mark.parametrize("page", sorted({*PAGE_FILES} - {SCORE_PAGE}))
def test_a_reader_learns_nothing_by_naming_another_page(client, review_set, page):
    reviews = review_sets.reviews(review_set)
    value = {"score": 1, "comment": SECRET}
    reviews.record([Entry("score", "c1", "m", "process", value=value)], LEA)
    decided = {"decision": SECRET, "comment": SECRET}
    reviews.record(
        [
            Entry("meeting", subject="m1", value={"name": SECRET}),
            Entry("agenda", "c1", subject="m1", value={"place": 0}),
            Entry("decide", "c1", subject="m1", value=decided),
        ],
        LEA,
    )
    asked = {"page": page, "case": "c1", "meeting": "m1"}
    for entries in ((), (score(review_set),)):
        answer = send(client, ticket_of(review_set, READER), *entries, **asked)
        told = json.dumps(answer.json())
        for hidden in (SECRET, '"m"', "Model M", "Lea"):
            assert hidden not in told, (page, told)
