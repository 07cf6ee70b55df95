"""Hostile messages: entries of the score pad over HTTP, comments, links. Each gets an answer."""

import json
from uuid import uuid4

from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.entries.sent import comment_entry
from support.hostile_input import any_text, as_json, changed, generator, rounds, spoiled

from rexview.analysis import CaseFilter
from rexview.people import Person
from rexview.ui.comments import case_comments as comments_panel
from rexview.ui.comments.case_comments import score_targets
from rexview.ui.web.access.image_links import pixel_url
from rexview.ui.web.app import image_routes
from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.saving.entries import read_entry
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.saving.route import EntryWriter
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

READER = Person("anna", "Anna", "reader")
ANSWERS = {200, 401, 403, 413, 422, 503}
NAMES = ("Model M", "Model N", "Reader A")


def entry(chance, slots):
    kind = chance.choice(("score", "verdict", "skip", "reveal", "comment", "adjudicate"))
    field = {"score": "score", "verdict": "verdict", "skip": "reason"}.get(kind)
    page = chance.choice(("score page", "score page", "case page", "adjudicate page"))
    return {
        "page": page,
        "token": str(uuid4()),
        "case": chance.choice(("c1", "c2")),
        "kind": kind,
        "slot": chance.choice(slots),
        "subject": chance.choice(("process", "language", "laterality_error", "report", "models")),
        "picture": None,
        "field": field,
        "value": chance.choice((1, 5, "confirmed", "a reason")),
        "was": None,
        "age_ms": chance.randrange(10_000),
    }


def test_messages_of_the_score_pad(review_set):
    chance = generator("entries")
    client = TestClient(Starlette(routes=[*image_routes.routes(), *saving_route.routes()]))
    name = review_sets.set_id(review_set.folder)
    detail = [READER.id, READER.name, READER.role]
    ticket = server_state.signer().sign(Grant("write", name, "", detail=detail))
    slots = list(load_reader_study(review_set, READER).slots("c1"))
    saved = 0
    for number in rounds("entries", 150):
        whole = {"ticket": ticket, "case": "c1", "entries": [entry(chance, slots)] * (number % 3)}
        sent = changed(whole, chance, 0.04)
        body = as_json(sent)
        if number % 5 == 0:
            body = spoiled(body, chance)
        told = client.post("/rexview/reviews", content=body)
        assert told.status_code in ANSWERS, (number, told.status_code)
        answer = told.json()
        assert isinstance(answer, dict)
        assert not any(hidden in told.text for hidden in NAMES), number
        saved += len(answer.get("saved", ()))
    assert saved
    rows = review_sets.reviews(review_set).history()
    assert all(row.person == READER.id for row in rows)
    for row in rows:
        json.dumps(row.value, allow_nan=False)


def test_comments(review_set):
    chance = generator("comments")
    reviews = review_sets.reviews(review_set)
    targets = score_targets(load_reader_study(review_set, READER), "c1")
    saved = refused = 0
    for _ in rounds("comments", 150):
        key = chance.choice(list(targets.answers))
        spot = {"key": key, "shown": targets.shown[key], "quote": "effusion", "before": 1}
        kind = chance.choice(("write", "write", "resolve", "remove", "name"))
        message = {"kind": kind, "text": any_text(chance), "spot": spot}
        try:
            sent = read_entry(changed(comment_entry("score page", message), chance, 0.03))
        except ValueError:
            continue
        writer = EntryWriter(review_set, reviews, READER)
        writer.write([sent])
        saved += len(writer.saved)
        refused += len(writer.refused)
        assert not any(hidden in str(writer.refused) for hidden in NAMES)
    assert saved
    assert refused
    shown = [
        comments_panel._comment_json(review_set, one, targets, READER)
        for one in reviews.comments("c1")
    ]
    json.dumps(shown, allow_nan=False).encode("utf-8")


def test_sealed_links(review_set):
    chance = generator("sealed links")
    client = TestClient(Starlette(routes=[*image_routes.routes(), *saving_route.routes()]))
    good = pixel_url(review_set, "one.png")
    for _ in rounds("sealed links", 60):
        token = spoiled(good.rpartition("/")[2].encode(), chance).decode("latin-1")
        kind = chance.choice(("pixels", "thumbs", "assets/x", "pad/x"))
        for path in (f"/rexview/{kind}/{token}", f"/rexview/{kind}/{any_text(chance)}"):
            path = path.encode("utf-8", "replace").decode().replace("?", "").replace("#", "")
            plain = "".join(letter for letter in path if letter.isprintable())
            assert client.get(plain).status_code in {200, 403, 404, 422}


def query(chance, keys):
    return {
        chance.choice(keys): [any_text(chance) for _ in range(chance.choice((1, 1, 2, 5)))]
        for _ in range(chance.choice((1, 1, 2, 6)))
    }


def test_filters_in_links():
    chance = generator("filters")
    keys = [*CaseFilter().__dataclass_fields__, *map(any_text, [chance] * 3)]
    for _ in rounds("filters", 400):
        found, problems = CaseFilter.read(query(chance, keys))
        assert CaseFilter.read(found.to_query()) == (found, ())
        assert all(problems)
        assert all(found.words)
