"""Cases that a browser fetches ahead of the page: for whom, which, and what is in them."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import run_page, server_for
from support.page_text import components
from support.small_set import write_set

from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.store import Entry, open_reviews
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.access.sign_in import link_owner
from rexview.ui.web.app import case_routes
from rexview.ui.web.link.pages import PAGE_CASE
from rexview.ui.web.server import server_state
from rexview.ui.web.server.sealed_tokens import Grant

ANNA = Person("anna", "Anna", "reader")
ALONE = Person("anna", "Anna", "lead")
NAMES = ("Model M", "Model N")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = write_set(tmp_path / "set")
    with server_for(folder, tmp_path, monkeypatch):
        yield folder


@pytest.fixture
def client(folder):
    return TestClient(Starlette(routes=case_routes.routes()))


def sent(app, name):
    (found,) = components(app, name)
    return found


def fetch(client, turning, beside, direction="next"):
    query = {"beside": beside, "direction": direction}
    return client.get(f"/{turning['address']}", params=query)


def case_page(**query):
    app = run_page("case", **query)
    return app, sent(app, "rexview_viewer")


def cases(answer):
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()["cases"]


def test_what_is_fetched_is_what_the_page_then_shows(client):
    _, first = case_page(case="c1", sort="order")
    found = {one["case"]: one for one in cases(fetch(client, first["turning"], "c1"))}
    assert list(found) == ["c2", "c3"]
    app, second = case_page(case="c2", sort="order")
    parts = {
        data["part"]: data["html"]
        for data in components(app, "rexview_case_part")
        if data["case"] == "c2"
    }
    assert found["c2"]["texts"] == parts
    assert found["c2"]["viewer"] == {**second, "turning": None}
    judged = sent(app, "rexview_verdicts")
    assert found["c2"]["judged"] == {name: judged[name] for name in found["c2"]["judged"]}


def test_the_way_back_comes_nearest_first_and_ends(client):
    _, data = case_page(case="c3", sort="order")
    found = cases(fetch(client, data["turning"], "c3", "previous"))
    assert [one["case"] for one in found] == ["c2", "c1"]
    assert cases(fetch(client, data["turning"], "c1", "previous")) == []
    assert cases(fetch(client, data["turning"], "c3")) == []


def test_the_filter_the_chosen_answers_and_unknown_cases(client):
    app, data = case_page(case="c1", failure="laterality_error")
    assert cases(fetch(client, data["turning"], "c1")) == []
    assert cases(fetch(client, data["turning"], "c3")) == [], "it is not in the filter"
    assert cases(fetch(client, data["turning"], "<script>")) == []
    app = run_page("case", case="c1", sort="order")
    version = sent(app, "rexview_viewer")["turning"]["version"]
    app.multiselect(key="show").set_value(["n"]).run()
    chosen = sent(app, "rexview_viewer")["turning"]
    assert chosen["version"] != version, "what was fetched before is forgotten"
    (one,) = cases(fetch(client, chosen, "c2", "previous"))
    assert "Answer of Model N" in one["texts"]["answers"]
    assert "Answer of Model M" not in one["texts"]["answers"]


def test_what_somebody_wrote_changes_the_version_and_is_in_what_comes(client, folder):
    _, before = case_page(case="c1", sort="order")
    reviews = open_reviews(load_review_set(folder), server_state.settings())
    score = Entry("score", "c2", "m", "process", value={"score": 1, "comment": "Late words"})
    reviews.record([score], ALONE)
    (two, *_) = cases(fetch(client, before["turning"], "c1"))
    assert "Late words" in two["texts"]["scores"]
    _, after = case_page(case="c1", sort="order")
    assert after["turning"]["version"] != before["turning"]["version"]


def test_a_set_that_was_changed_gives_nothing_until_the_page_shows_it(client, folder):
    _, data = case_page(case="c1", sort="order")
    with (folder / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    answer = fetch(client, data["turning"], "c1")
    assert answer.status_code == 409
    _, data = case_page(case="c1", sort="order")
    assert cases(fetch(client, data["turning"], "c1"))


def test_links_that_are_made_up_or_for_something_else_are_refused(client):
    _, data = case_page(case="c1", sort="order")
    address = data["turning"]["address"]
    pixels = data["views"][0]["url"].rpartition("/")[2]
    head = address.rpartition("/")[0]
    for token in ("x", pixels, address.rpartition("/")[2][:-8]):
        assert client.get(f"/{head}/{token}?beside=c1").status_code == 403
    ended = Grant("cases", "demo", PAGE_CASE, "", {"who": None})
    token = server_state.signer().sign(ended, now=0)
    answer = client.get(f"/{head}/{token}?beside=c1")
    assert (answer.status_code, answer.text) == (403, "This link has expired. Reload the page.")


def scored(monkeypatch, role="lead", **query):
    person = Person("anna", "Anna", role)
    with monkeypatch.context() as patch:
        patch.setattr(permissions, "current_person", lambda: person)
        app = run_page("score", **query)
    return sent(app, "rexview_score_pad"), sent(app, "rexview_viewer")


def test_cases_to_score_hold_nothing_that_the_page_hides(client, folder, monkeypatch):
    pad, viewer = scored(monkeypatch)
    assert pad["turning"] == viewer["turning"]
    first = pad["worklist"]["entries"][0][0]
    others = [case for case, _ in pad["worklist"]["entries"][1:]]
    answer = fetch(client, pad["turning"], first)
    found = cases(answer)
    assert [one["case"] for one in found] == others
    for one in found:
        assert set(one) == {"case", "viewer", "pad"}
        assert one["pad"]["report"] == {"state": "hidden", "html": None, "always": False}
        assert one["pad"]["names"] is None
        assert one["viewer"]["oneGroup"] is True
        assert not any(group["shown"] for group in one["viewer"]["groups"])
        assert all(
            box["note"] is None for group in one["viewer"]["groups"] for box in group["boxes"]
        )
    for word in (*NAMES, "Right pleural effusion", "Reader A", '"m"', '"n"'):
        assert word not in answer.text, word


def test_a_reveal_changes_the_version(client, folder, monkeypatch):
    before, _ = scored(monkeypatch)
    case = before["worklist"]["entries"][1][0]
    reviews = open_reviews(load_review_set(folder), server_state.settings())
    reviews.record([Entry("reveal", case, value={"what": "report"})], ALONE)
    after, _ = scored(monkeypatch)
    assert after["turning"]["version"] != before["turning"]["version"]
    (other,) = cases(fetch(client, after["turning"], after["worklist"]["entries"][0][0]))
    assert other["pad"]["report"]["state"] == "shown"


class TestTeam:
    """Where people sign in."""

    @pytest.fixture
    def asks(self, monkeypatch):
        """Return a function that says who asks from now on."""
        monkeypatch.setattr(server_state, "requires_sign_in", lambda: True)

        def be(person):
            monkeypatch.setattr(sign_in, "signed_in_on_page", lambda: person)
            monkeypatch.setattr(sign_in, "signed_in_for_request", lambda _: person)

        return be

    def test_a_link_is_for_one_person_in_the_role_that_they_have_now(self, client, asks):
        lead = Person("lea", "Lea", "lead")
        asks(lead)
        _, data = case_page(case="c1", sort="order")
        (two, *_) = cases(fetch(client, data["turning"], "c1"))
        assert two["viewer"]["views"]
        asks(ANNA)
        assert fetch(client, data["turning"], "c1").status_code == 403
        asks(None)
        assert fetch(client, data["turning"], "c1").status_code == 401
        asks(Person("lea", "Lea", "reader"))
        refused = fetch(client, data["turning"], "c1")
        assert (refused.status_code, "Model M" in refused.text) == (403, False)

    def test_pictures_that_come_along_are_for_the_same_person(self, client, asks):
        lea = Person("lea", "Lea", "lead")
        asks(lea)
        _, data = case_page(case="c3", sort="order")
        found = cases(fetch(client, data["turning"], "c3", "previous"))
        links = [view["url"] for one in found for view in one["viewer"]["views"] if view["url"]]
        assert links
        for link in links:
            grant = server_state.signer().check(link.rpartition("/")[2])
            assert grant.person == link_owner(lea)

    def test_who_may_not_score_any_more_gets_no_case(self, client, asks):
        asks(ANNA)
        app = run_page("score")
        pad = sent(app, "rexview_score_pad")
        first = pad["worklist"]["entries"][0][0]
        assert cases(fetch(client, pad["turning"], first))
        asks(Person("anna", "Anna", "viewer"))
        assert fetch(client, pad["turning"], first).status_code == 403
