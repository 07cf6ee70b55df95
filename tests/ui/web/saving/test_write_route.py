"""What the score pad may send, what comes back, and what must not."""

import json
import threading
from datetime import UTC, datetime
from random import Random
from uuid import uuid4

import polars as pl
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.entries.sent import ADDRESS
from support.entries.sent import ticket_of as ticket_for
from support.opened_app import opened_set
from support.rows import each_row
from support.small_set import write_set

from rexview.errors import StoreBusy, StoreFull, StoreRefused
from rexview.people import Person
from rexview.store import Reviews
from rexview.ui.web.access import sign_in
from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

READER = Person("anna", "Anna", "reader")
NAMES = ("Model M", "Model N", '"m"', '"n"', "Reader A")


@pytest.fixture
def rules():
    return ""


@pytest.fixture
def review_set(tmp_path, monkeypatch, rules):
    folder = write_set(tmp_path / "set")
    with (folder / "reviewset.yaml").open("a", encoding="utf-8") as file:
        file.write(rules)
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.fixture
def reviews(review_set):
    return review_sets.reviews(review_set)


@pytest.fixture
def client():
    return TestClient(Starlette(routes=saving_route.routes()))


def taken(review_set):
    """The scores of the answers as they are; those of unfinished cases count nowhere yet."""
    found = review_sets.with_reviews(review_set)
    return pl.concat([found.scores, found.unfinished])


def ticket_of(review_set, person=READER):
    return ticket_for(review_set, person)


def slot_of(review_set, model, case="c1", person=READER):
    slots = load_reader_study(review_set, person).slots(case)
    return next(slot for slot, behind in slots.items() if behind == model)


def shown_of(review_set, model, case="c1", person=READER):
    """The name of what stands under a model's letter, empty where there is nothing."""
    study = load_reader_study(review_set, person)
    shown = study.shown(case) if study.has(case) else {}
    return next((shown[slot] for slot in shown if study.slots(case)[slot] == model), "")


@pytest.fixture
def post(client, review_set):
    def send(*entries, ticket=None, case=None, status=200):
        ticket = ticket_of(review_set) if ticket is None else ticket
        told = client.post(ADDRESS, json={"ticket": ticket, "case": case, "entries": entries})
        assert told.status_code == status, told.text
        for name in NAMES:
            assert name not in told.text
        return told.json()

    return send


@pytest.fixture
def score(review_set):
    """Return a function that makes an entry as the pad does, a score of model m by default."""

    def make(value=4, *, model="m", case="c1", slot=None, person=READER, **more):
        study = load_reader_study(review_set, person)
        slot = slot or slot_of(review_set, model, case, person)
        return {
            "token": str(uuid4()),
            "case": case,
            "kind": "score",
            "slot": slot,
            "shown": study.shown(case).get(slot, "") if study.has(case) else "",
            "subject": "process",
            "picture": None,
            "field": "score",
            "value": value,
            "was": None,
            "seen": 1_000_000,
            **more,
        }

    return make


def test_a_score_is_written_for_the_model_behind_the_letter(post, score, reviews):
    entry = score(4)
    told = post(entry, case="c1")
    assert told["saved"] == [entry["token"]]
    assert told["own"]["c1"]["scores"][f"{entry['slot']}/process/"] == {"score": 4, "comment": ""}
    assert told["progress"] == {"done": 0, "skipped": 0, "total": 2}
    assert told["states"] == {"c1": "begun"}
    (row,) = reviews.history()
    assert (row.person, row.person_name, row.person_role) == ("anna", "Anna", "reader")
    assert (row.case, row.model, row.subject, row.token) == ("c1", "m", "process", entry["token"])
    assert row.value == {"score": 4, "comment": None}
    assert row.via == "score page"


@pytest.mark.parametrize("case", [["c1"], {"c1": 1}, 5, "c99"])
def test_what_is_no_case_of_the_list_is_answered_all_the_same(post, score, case):
    entry = score(4)
    told = post(entry, case=case)
    assert (told["saved"], list(told["own"])) == ([entry["token"]], ["c1"])


def test_an_entry_that_arrives_twice_is_one(post, score, reviews):
    entry = score(4)
    for _ in range(3):
        assert post(entry)["saved"] == [entry["token"]]
    assert post(entry, entry)["saved"] == [entry["token"]] * 2
    assert len(reviews.history()) == 1


def test_score_and_comment_are_changed_apart(post, score, reviews):
    post(score(4), score("Looks everywhere ", field="comment", was=""))
    told = post(score(5, was=4))
    (own,) = [*told["own"].values()] or [None]
    (row,) = reviews.current("score")
    assert row.value == {"score": 5, "comment": "Looks everywhere "}
    assert list(own["scores"].values()) == [{"score": 5, "comment": "Looks everywhere "}]
    post(score(None, was=5))
    assert reviews.current("score")[0].value["comment"] == "Looks everywhere "


def test_a_chain_of_changes_ends_with_the_last(post, score, reviews):
    post(score(1), score(2, was=1), score(1, was=2))
    assert [row.value["score"] for row in reviews.history()] == [1, 2, 1]


def test_an_old_entry_does_not_undo_what_its_window_had_not_seen(post, score, reviews):
    before = post()["revision"]
    revision = post(score(3, seen=before))["revision"]
    late = score(5, seen=before)  # given in a window that had no connection
    told = post(late)
    assert told["saved"] == []
    assert told["replaced"] == {late["token"]: {"score": 3, "comment": ""}}
    assert reviews.current("score")[0].value["score"] == 3
    words = post(score("A thought", field="comment", was="", seen=before))
    assert words["replaced"] == {}  # nobody else changed the comment
    newer = post(score(5, was=3, seen=revision))
    assert newer["replaced"] == {}
    assert reviews.current("score")[0].value == {"score": 5, "comment": "A thought"}


def test_flags_and_skips(post, score, reviews, review_set):
    slot = slot_of(review_set, "n")
    flag = score(True, kind="verdict", model="n", subject="token_limit", field="verdict")
    skip = score("Image cannot be judged", kind="skip", slot=None, subject=None, field="reason")
    skip["slot"] = None
    told = post(flag, skip, case="c1")
    assert told["own"]["c1"]["flags"] == {f"{slot}/token_limit": True}
    assert told["own"]["c1"]["skip"] == "Image cannot be judged"
    assert told["states"]["c1"] == "skipped"
    assert reviews.current("verdict")[0].model == "n"
    back = {**flag, "token": str(uuid4()), "value": False}
    undo = {**skip, "token": str(uuid4()), "value": None}
    told = post(back, undo)
    assert told["own"]["c1"]["flags"] == {}
    assert told["own"]["c1"]["skip"] is None


@each_row(
    "wrong",
    [
        {"value": 0},
        {"value": 6},
        {"value": 4.5},
        {"value": True},
        {"value": "4"},
        {"value": [4]},
        {"slot": "C"},
        {"slot": "m"},
        {"subject": "content"},
        {"subject": "image_content", "picture": 0},
        {"subject": None},
        {"picture": 0},
        {"case": "c3"},
        {"case": "nope"},
        {"kind": "adjudicate"},
        {"kind": "assign"},
        {"kind": "reveal", "field": None, "subject": "everything"},
        {"kind": "reveal", "field": None, "subject": "unblinded"},
        {"kind": ["score"]},
        {"field": "model"},
        {"field": "comment", "value": "x" * 4001},
        {"field": "comment", "value": 3},
        {"kind": "verdict", "field": "verdict", "subject": "nonsense", "value": True},
        {"kind": "verdict", "field": "verdict", "subject": "terse", "value": "confirmed"},
        {"kind": "skip", "field": "reason", "value": 3},
    ],
)
def test_what_does_not_fit_is_refused_and_the_rest_is_saved(post, score, reviews, wrong):
    bad, good = {**score(), **wrong}, score(2)
    before = len(reviews.history())
    told = post(bad, good)
    assert list(told["refused"]) == [bad["token"]]
    assert told["refused"][bad["token"]].endswith(".")
    assert told["saved"] == [good["token"]]
    assert len(reviews.history()) == before + 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"entries": 3}',
        b"\xff",
        b'{"entries": [3]}',
        b'{"entries": [{"case": "c1", "token": "x"}]}',
        b'{"entries": [{"case": ["c1"], "token": "7c0d7a3e-7b4e-4c52-8d39-0d6f0f5d9f11"}]}',
        b"[" * 100_000,
    ],
)
def test_nonsense_is_answered_and_writes_nothing(client, review_set, reviews, body):
    if body.startswith(b'{"entries": ['):
        body = body[:-1] + b', "ticket": "%s"}' % ticket_of(review_set).encode()
    told = client.post(ADDRESS, content=body)
    assert told.status_code == 422
    assert "error" in told.json()
    assert reviews.history() == ()


def test_too_much_at_once_is_refused(client, review_set, score):
    body = {"ticket": ticket_of(review_set), "entries": [score()] * 201}
    assert client.post(ADDRESS, json=body).status_code == 413
    assert client.post(ADDRESS, content=b" " * 1_000_001).status_code == 413


@pytest.mark.parametrize("kind", ["no", "changed", "ended", "pixels"])
def test_without_a_good_ticket_nothing_is_written(post, score, review_set, reviews, kind):
    name = review_sets.set_id(review_set.folder)
    tickets = {
        "no": "",
        "changed": ticket_of(review_set)[:-2] + "AA",
        "ended": server_state.signer().sign(
            Grant("write", name, "", detail=["a", "A", "lead"]), now=0
        ),
        "pixels": server_state.signer().sign(Grant("pixels", name, "one.png")),
    }
    told = post(score(), ticket=tickets[kind], status=403)
    assert told["renew"] is True
    assert reviews.history() == ()


@pytest.mark.parametrize(
    ("role", "page", "kind"),
    [
        ("reader", "case page", "verdict"),
        ("reader", "case page", "comment"),
        ("reader", "adjudicate page", "adjudicate"),
        ("adjudicator", "score page", "score"),
        ("viewer", "adjudicate page", "adjudicate"),
    ],
)
def test_nobody_sends_from_a_page_that_their_role_does_not_see(
    post, score, review_set, reviews, role, page, kind
):
    person = Person("anna", "Anna", role)
    closed = score(page=page, kind=kind)
    told = post(closed, ticket=ticket_of(review_set, person), status=403)
    assert told["error"].startswith("Your role may not")
    if role == "reader":  # beside what may be sent, it is refused and holds up nothing
        allowed = score(3)
        told = post(closed, allowed, ticket=ticket_of(review_set, person))
        assert (told["saved"], list(told["refused"])) == ([allowed["token"]], [closed["token"]])
    assert {row.kind for row in reviews.history()} <= {"score"}


@pytest.mark.parametrize("role", ["viewer", "adjudicator"])
def test_the_role_is_checked_on_every_write(post, score, review_set, reviews, role):
    ticket = ticket_of(review_set, Person("vera", "Vera", role))
    told = post(score(), ticket=ticket, status=403)
    assert told["renew"] is False
    assert reviews.history() == ()


def test_in_a_team_the_sign_in_counts_and_not_the_ticket(
    post, score, review_set, reviews, monkeypatch
):
    grant = Grant("write", review_sets.set_id(review_set.folder), "", person="reader anna")
    ticket = server_state.signer().sign(
        Grant(**{**vars(grant), "detail": ["anna", "Anna", "lead"]})
    )
    monkeypatch.setattr(server_state, "requires_sign_in", lambda: True)
    monkeypatch.setattr(sign_in, "signed_in_for_request", lambda request: None)
    assert "sign" in post(score(), ticket=ticket, status=401)["error"].lower()
    someone = Person("bert", "Bert", "reader")
    monkeypatch.setattr(sign_in, "signed_in_for_request", lambda request: someone)
    post(score(), ticket=ticket, status=403)
    demoted = Person("anna", "Anna", "viewer")
    monkeypatch.setattr(sign_in, "signed_in_for_request", lambda request: demoted)
    post(score(), ticket=ticket, status=403)
    assert reviews.history() == ()
    monkeypatch.setattr(sign_in, "signed_in_for_request", lambda request: READER)
    assert post(score(), ticket=ticket)["saved"]
    assert reviews.history()[0].person_role == "reader"


@pytest.mark.parametrize("trouble", [StoreBusy, StoreFull])
def test_trouble_of_the_database_is_told_and_the_entry_can_be_sent_again(
    post, score, reviews, monkeypatch, trouble
):
    entry = score()

    def fail(self, entries, person):
        raise trouble("There is no room.", "Make some.")

    with monkeypatch.context() as patch:
        patch.setattr(Reviews, "record", fail)
        told = post(entry, status=503)
    assert told["error"] == "There is no room. Make some."
    assert reviews.history() == ()
    assert post(entry)["saved"] == [entry["token"]]


def test_what_the_database_refuses_is_told_without_its_words(post, score, reviews, monkeypatch):
    bad, good = score(1), score(2)
    record = Reviews.record

    def some(self, entries, person):
        if any(entry.token == bad["token"] for entry in entries):
            raise StoreRefused(["There is no answer of “Model M”."], "x")
        return record(self, entries, person)

    monkeypatch.setattr(Reviews, "record", some)
    told = post(bad, good)
    assert list(told["refused"]) == [bad["token"]]
    assert told["saved"] == [good["token"]]


def test_only_cases_that_are_assigned_can_be_written(post, score, review_set, reviews):
    from rexview.store import Entry

    lead = Person("lea", "Lea", "lead")
    value = {"as": "first", "active": True}
    reviews.record([Entry("assign", "c2", subject="anna", value=value)], lead)
    told = post(score(), score(case="c2", slot="A"))
    assert list(told["refused"].values()) == ["This case is not on your list."]
    assert told["progress"]["total"] == 1


def test_nobody_is_told_what_others_gave(post, score, review_set, reviews):
    other = Person("bert", "Bert", "reader")
    there = score(2, person=other)
    assert post(there, ticket=ticket_of(review_set, other))["saved"]
    told = post(case="c1")
    assert told["own"]["c1"]["scores"] == {}
    assert told["progress"]["done"] == 0
    assert told["saved"] == []


def test_the_report_is_shown_on_request_and_that_is_logged(post, score, reviews):
    told = post(score(kind="reveal", field=None, subject="report", value=True), case="c1")
    assert told["own"]["c1"]["report"] is True
    (row,) = reviews.history(kind="reveal")
    assert (row.case, row.value, row.person) == ("c1", {"what": "report"}, "anna")
    assert post(score(3))["saved"]  # it does not end the scoring


def every_score(score, review_set):
    from rexview.ui.web.saving.reader_study import items_to_score

    return [
        score(3, model=model, case=case, subject=item.dimension, picture=item.picture)
        for case, model in (("c1", "m"), ("c2", "m"))
        for item in items_to_score(review_set, case)[model]
    ]


def test_models_are_named_when_all_is_scored_and_nothing_can_be_changed_then(
    post, score, review_set, reviews
):
    def reveal():
        return score(kind="reveal", field=None, subject="all models", value=True)

    entries = every_score(score, review_set)
    assert len(entries) == 10
    early = reveal()
    told = post(*entries[:-1], early)
    assert list(told["refused"]) == [early["token"]]
    per_case = score(kind="reveal", field=None, subject="models", value=True)
    assert list(post(per_case)["refused"]) == [per_case["token"]]
    told = post(entries[-1], reveal(), case="c1")
    assert told["refused"] == {}
    assert told["own"]["c1"]["revealed"] is True
    assert told["progress"]["done"] == 2
    assert {row.case for row in reviews.history(kind="reveal")} == {"c1", "c2"}
    told = post(score(1), score("x", field="comment"))
    assert len(told["refused"]) == 2
    assert {row.value["score"] for row in reviews.current("score")} == {3}


@pytest.mark.parametrize("rules", ["protocol: {report: never, reveal: per_case}\n"])
def test_the_rules_of_the_study_are_kept(post, score, review_set, reviews):
    told = post(score(kind="reveal", field=None, subject="report", value=True))
    assert "not shown" in next(iter(told["refused"].values()))
    named = score(kind="reveal", field=None, subject="models", value=True)
    assert list(post(named)["refused"]) == [named["token"]]
    post(*(entry for entry in every_score(score, review_set) if entry["case"] == "c1"))
    told = post(named)
    assert told["own"]["c1"]["revealed"] is True
    assert post(score(1))["refused"]
    assert post(score(1, case="c2", slot="A"))["saved"]


def test_entries_of_many_windows_at_once_are_all_there(client, review_set, reviews, score):
    ticket = ticket_of(review_set)
    comments = [f"Thought {number}" for number in range(6)]
    items = ("process", "execution", "synthesis", "language", "image_content", "image_style")
    failures = []

    def window(number):
        for value in (1, 2, 3):
            body = {
                "ticket": ticket,
                "entries": [
                    score(value, subject=items[number]),
                    score(comments[number], subject=items[number], field="comment", was=""),
                ],
            }
            told = client.post(ADDRESS, json=body)
            if told.status_code != 200 or len(told.json()["saved"]) != 2:
                failures.append(told.text)

    threads = [threading.Thread(target=window, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(reviews.history()) == 36
    for row in reviews.current("score"):
        assert row.value == {"score": 3, "comment": comments[items.index(row.subject)]}


def test_an_answer_says_when_it_was_read(post, score, reviews):
    before = post(case="c1")["own"]["c1"]["revision"]
    after = post(score(), case="c1")["own"]["c1"]["revision"]
    assert after == reviews.revision() > before
    assert reviews.history()[0].at <= datetime.now(UTC)


def rewrite(folder, table, change):
    """Change the rows of a table of the set on the disk."""
    file = folder / f"{table}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    text = "\n".join(json.dumps(row) for row in change(rows))
    file.write_text(text, encoding="utf-8")


def another_model(rows):
    names = ("a", "b", "c", "k", "z")  # one of them takes the place of a letter
    return [*rows, *({**rows[0], "model": name, "text": f"As {name} sees it."} for name in names)]


def a_model_less(rows):
    return [row for row in rows if row["model"] != "m"]


def renamed(rows):
    return [{**row, "model": {"m": "n", "n": "m"}[row["model"]]} for row in rows]


def other_words(rows):
    return [{**row, "text": row["text"] + " Or not."} for row in rows]


def other_boxes(rows):
    return [{**row, "boxes": [{"image": "i", "label": "x", "box": [1, 2, 3, 4]}]} for row in rows]


def swapped(rows):
    texts = {"m": "The heart is", "n": "**Left** effusion <script>alert(1)</script>"}
    return [{**row, "text": texts[row["model"]]} for row in rows]


@pytest.mark.parametrize(
    "change", [another_model, a_model_less, renamed, other_words, other_boxes, swapped]
)
def test_no_score_goes_to_another_answer_than_the_one_shown(
    client, review_set, score, reviews, change
):
    """The set is changed between showing and posting: saved is what fits, the rest is told."""
    entries = [
        score(value, model=model, case=case, subject=dimension)
        for case, model in (("c1", "m"), ("c1", "n"), ("c2", "m"))
        for value, dimension in enumerate(("process", "execution", "synthesis", "language"), 1)
    ]
    verdicts = [
        score(True, model=model, kind="verdict", field="verdict", subject="omission")
        for model in "mn"
    ]
    read = {one["token"]: one for one in (*entries, *verdicts)}
    models = {one["token"]: model_of(review_set, one) for one in read.values()}
    before = texts_of(review_set)
    rewrite(review_set.folder, "answers", change)
    body = {"ticket": ticket_of(review_set), "entries": list(read.values())}
    told = client.post(ADDRESS, json=body).json()
    assert {*told["saved"], *told["refused"]} == set(read), "each is saved or told"
    after = texts_of(review_sets.open_set(review_set.folder))
    for row in reviews.history():
        thing = (row.case, models[row.token])
        assert (row.case, row.model) == thing, "a score under a wrong model"
        assert before[thing] == after[thing]
    if change is not another_model:
        assert not [row for row in reviews.history() if row.case == "c1" and row.model == "m"]
    changed = {told["refused"][token] for token in told["refused"]}
    assert all("changed" in reason or "not on your list" in reason for reason in changed)


def model_of(review_set, entry):
    return load_reader_study(review_set, READER).slots(entry["case"])[entry["slot"]]


def texts_of(review_set):
    rows = review_set.answers.filter("_newest").select("case", "model", "text", "boxes").rows()
    return {(case, model): (text, boxes) for case, model, text, boxes in rows}


def test_another_seed_changes_the_order_of_cases_and_no_letter(post, score, review_set, reviews):
    entry = score(4)
    with (review_set.folder / "reviewset.yaml").open("a", encoding="utf-8") as file:
        file.write("protocol: {seed: 77}\n")
    assert post(entry)["saved"] == [entry["token"]]
    assert [row.model for row in reviews.history()] == ["m"]


@pytest.fixture
def pictured(review_set):
    """The set with a picture returned by model m."""
    picture = review_set.folder / "images" / "returned.png"
    picture.write_bytes((review_set.folder / "images" / "one.png").read_bytes())
    rewrite(
        review_set.folder,
        "answers",
        lambda rows: [{**row, "images": ["returned.png"]} for row in rows if row["model"] == "m"],
    )
    return review_sets.open_set(review_set.folder)


def test_a_picture_that_was_replaced_is_another_answer(post, pictured, reviews):
    def entry(value):
        return {
            "token": str(uuid4()),
            "case": "c1",
            "kind": "score",
            "slot": slot_of(pictured, "m"),
            "shown": shown_of(pictured, "m"),
            "subject": "image_style",
            "picture": 0,
            "field": "score",
            "value": value,
            "was": None,
            "seen": 0,
        }

    late, early = entry(2), entry(4)
    assert post(early)["saved"]
    file = pictured.folder / "images" / "returned.png"
    file.write_bytes(file.read_bytes() + b"\0")
    told = post(late, case="c1")
    assert list(told["refused"]) == [late["token"]]
    (own,) = told["own"]["c1"]["scores"].values()
    assert own == {"score": None, "comment": "", "earlier": 4}
    assert taken(pictured).filter(reader="anna").is_empty()
    again = entry(5)
    assert post(again)["saved"] == [again["token"]]
    assert taken(pictured).filter(reader="anna")["score"].to_list() == [5]


def test_a_score_of_an_earlier_answer_counts_again_when_its_reader_confirms_it(
    post, score, review_set, reviews
):
    post(score(4), score("Looks everywhere", field="comment", was=""))
    flag = score(True, kind="verdict", field="verdict", subject="omission")
    post(flag)
    assert taken(review_set).filter(reader="anna").height == 1
    rewrite(review_set.folder, "answers", other_words)
    now = review_sets.open_set(review_set.folder)

    def counted():
        both = review_sets.with_reviews(now)
        return taken(now).filter(reader="anna").height, both.flags.height

    assert counted() == (0, 0)
    assert review_sets.with_reviews(now).stale_scores["score"].to_list() == [4]
    told = post(case="c1")
    own, key = told["own"]["c1"], f"{slot_of(now, 'm')}/process/"
    assert own["scores"][key] == {"score": None, "comment": "Looks everywhere", "earlier": 4}
    assert (own["flags"], own["earlierFlags"]) == ({}, [f"{slot_of(now, 'm')}/omission"])
    assert told["states"]["c1"] == "open"

    fresh = {"shown": shown_of(now, "m"), "seen": told["revision"]}
    told = post(score("Hm", field="comment", was="Looks everywhere", **fresh), case="c1")
    assert told["own"]["c1"]["scores"][key]["earlier"] == 4, "words alone confirm nothing"
    assert counted() == (0, 0)
    told = post(score(4, **fresh), {**flag, "token": str(uuid4()), **fresh}, case="c1")
    assert told["refused"] == told["replaced"] == {}
    assert told["own"]["c1"]["scores"][key] == {"score": 4, "comment": "Hm"}
    assert counted() == (1, 1)
    assert review_sets.with_reviews(now).stale_scores.is_empty()


def test_rows_from_before_there_were_digests_count(post, score, review_set, reviews):
    from rexview.store.database import tables

    post(score(4))
    reviews.database.write(
        lambda connection: connection.execute(
            tables.HISTORY.insert().values(
                {
                    **connection.execute(tables.HISTORY.select()).mappings().one(),
                    "id": 9,
                    "checksum": None,
                    "token": str(uuid4()),
                    "subject": "language",
                    "answer_digest": None,
                }
            )
        ),
        lock="test",
    )
    rewrite(review_set.folder, "answers", other_words)
    now = review_sets.open_set(review_set.folder)
    kept = taken(now).filter(reader="anna")
    assert kept["dimension"].to_list() == ["language"]


def test_no_letter_can_be_worked_out_from_seed_and_ids(post, score, review_set, reviews):
    """Neither what comes back nor what stands in exports holds the secret."""
    from rexview.reviewset import write_csv

    key = reviews.letter_key()
    told = post(score(4), case="c1")
    out = review_set.folder.parent / "out"
    write_csv(review_sets.with_reviews(review_set), ("scores", "flags"), out)
    texts = [json.dumps(told), repr(load_reader_study(review_set, READER))]
    texts += [file.read_text(encoding="utf-8") for file in out.iterdir()]
    assert not [text for text in texts if key.hex() in text or str(key) in text]


def test_a_damaged_database_is_answered_in_words(client, review_set, score):
    """Bytes are changed anywhere in the file, again and again: no traceback, no HTTP 500."""
    for _ in range(20):
        client.post(ADDRESS, json={"ticket": ticket_of(review_set), "entries": [score(3)]})
    entry, database = score(4), review_sets.reviews(review_set).database
    ticket = ticket_of(review_set)
    database.close()
    file = review_set.folder / "reviews.sqlite"
    content, random = file.read_bytes(), Random(5)
    answers = []
    for _ in range(40):
        damaged = bytearray(content)
        for _ in range(10):
            damaged[random.randrange(len(content))] ^= random.randrange(1, 256)
        file.write_bytes(damaged)
        (review_set.folder / "reviews.newest").unlink(missing_ok=True)
        entries = [{**entry, "token": str(uuid4())}]
        told = client.post(ADDRESS, json={"ticket": ticket, "entries": entries})
        answers.append(told.status_code)
        if told.status_code == 503:
            assert "damaged" in told.json()["error"]
        else:
            assert told.json()["saved"] == [entries[0]["token"]]
        database.close()
    assert set(answers) == {200, 503}
    assert answers.count(503) >= 5
