"""A blinded reader's whole traffic, in a team and alone, and what they get when they ask for more.

The review set has a word of its own for everything that is hidden, so that finding a word says what
leaked; the same recorder finds every one of them in the traffic of somebody who may see them.
"""

import json
import re
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from pydicom import uid
from pydicom.dataset import Dataset, FileMetaDataset
from support.browser.names import name_browsers_of
from support.browser.score_pad import known_reader, wait_for_case, wait_saved
from support.browser.team_sign_in import PEOPLE, provider, sign_in, visit, write_secrets
from support.browser.traffic import Traffic, assert_hidden, record
from support.browser.waiting import PATIENCE_MS, pass_time
from support.review_folder import named, score_rows, write_review_set

from bench.reliability.reader import slots_to_give
from bench.reliability.server import ScoreServer
from rexview.analysis.query.memory.study_engine import list_required_scores
from rexview.people import Person
from rexview.store import Entry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.sealed_tokens import Grant, LinkSigner

pytestmark = pytest.mark.browser
ANNA, BOB = "anna@clinic.example", "bob@clinic.example"
LEA, VERA, ADAM = "lea@clinic.example", "vera@clinic.example", "adam@clinic.example"
SECRET = "of this test only"
MODELS = {"zephyr-7b": "Zephyrion Large", "quokka": "Quokkanet"}
REPORT = ["Pamplonaword", "Ultramarinaword"]
DICOM_WORDS = "ZEPHYRION SUITE"
SPLIT = "Made by Zephyr&shy;ion Large, Quo**kka**net and G**PT**-4 (o3)."
SPLIT_PARTS = ["ion Large", "kka</strong>", "PT</strong>", "(o3)"]
NAMES = [*MODELS, *MODELS.values(), "zephyr-7b-c1.dcm", DICOM_WORDS, *SPLIT_PARTS]
JUDGE, WORDING = "marabou-judge", "wording-rho"
JUDGED = ["Judgewords of the reason", "Quotewords of the judge"]
SHOWN = f"judge={WORDING}:{JUDGE}"
"""What lets a page show the judge, where it may be seen."""
ASKED = f"{SHOWN}&judge_says=laterality_error:yes:{WORDING}:{JUDGE}"
PEERS = [
    *("peer-rho", "Rhododendra Peer", "Peerwords of the file", "Flagwords of the file"),
    *("Peerwords of the app", "Verdictwords of the app", "Talkwords of the app"),
    *(JUDGE, WORDING, *JUDGED),
    "Harm 3: laterality error",  # the headline of a case
]
TAGS = ["tagword-marmalade"]
CASES = ("c1", "c2", "c3")


def write_returned(path, picture):
    """A picture that a model returned as DICOM, with its name wherever DICOM has words."""
    dataset = Dataset()
    dataset.SOPClassUID, dataset.SOPInstanceUID = uid.SecondaryCaptureImageStorage, "1.2.3"
    for keyword in ("Manufacturer", "SoftwareVersions", "SeriesDescription", "ViewPosition"):
        setattr(dataset, keyword, DICOM_WORDS)
    dataset.WindowCenter, dataset.WindowWidth = 128, 256
    dataset.WindowCenterWidthExplanation = DICOM_WORDS
    dataset.PixelSpacing, dataset.ImagerPixelSpacing = [0.1, 0.1], [0.2, 0.2]
    dataset.PixelSpacingCalibrationType = "GEOMETRY"
    dataset.PixelSpacingCalibrationDescription = DICOM_WORDS
    dataset.Rows, dataset.Columns = picture.shape
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 1, "MONOCHROME2"
    dataset.BitsAllocated = dataset.BitsStored = 8
    dataset.HighBit, dataset.PixelRepresentation = 7, 0
    dataset.PixelData = picture.tobytes()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    dataset.save_as(path, enforce_file_format=True)


def write_words(folder):
    """A review set in which everything hidden has a word of its own."""
    picture = np.tile(np.linspace(0, 255, 200, dtype=np.uint8), (240, 1))
    cases = [
        {
            "id": case,
            "question": f"Question {case}: is there an effusion?",
            "question_type": "open",
            "tags": {"kind": TAGS},
            "images": [
                {"id": view, "path": name, "view": view, "width": 200, "height": 240}
                for name, view in (("one.png", "PA"), ("two.png", "lateral"))
            ],
            "report": {"findings": f"{REPORT[0]}-{case}.", "impression": REPORT[1]},
        }
        for case in CASES
    ]
    answers = [
        {
            "case": case,
            "model": model,
            "text": f"As {MODELS[model]} I see an effusion on the left. ({model})\n\n{SPLIT}",
            "finish_reason": "stop",
            "boxes": [{"image": "PA", "label": f"effusion by {model}", "box": [20, 80, 60, 60]}],
            "images": ["returned/zephyr-7b-c1.dcm"] if (case, model) == ("c1", "zephyr-7b") else [],
        }
        for case in CASES
        for model in MODELS
    ]
    write_review_set(
        folder,
        info={
            "name": "A study",
            "id": "study",
            "notice": "Invented.",
            "models": named(**MODELS),
            "readers": named(**{"peer-rho": "Rhododendra Peer"}),
        },
        cases=cases,
        answers=answers,
        scores=score_rows(("c1", "quokka", "peer-rho", "process", 2, "Peerwords of the file")),
        flags="case,model,reader,failure,verdict,comment\n"
        "c1,quokka,peer-rho,laterality_error,confirmed,Flagwords of the file\n",
        opinions=[
            {
                "case": case,
                "model": model,
                "judge": JUDGE,
                "prompt_id": WORDING,
                "failure": "laterality_error",
                "present": True,
                "reason": JUDGED[0],
                "quote": JUDGED[1],
            }
            for case in CASES
            for model in MODELS
        ],
        pictures={"one.png": picture, "two.png": picture},
    )
    (folder / "images" / "returned").mkdir()
    write_returned(folder / "images" / "returned" / "zephyr-7b-c1.dcm", picture)
    return folder


def write_peers(server):
    """Let the lead give a score, a verdict and a comment."""
    person = Person(LEA, "Lea Lead", "lead")
    about = {"case": "c1", "model": "quokka"}
    open_reviews(server.review_set, server.settings).record(
        [
            Entry(
                "score",
                subject="process",
                value={"score": 1, "comment": "Peerwords of the app"},
                **about,
            ),
            Entry(
                "verdict",
                subject="omission",
                value={"verdict": "confirmed", "comment": "Verdictwords of the app"},
                **about,
            ),
            Entry(
                "comment",
                subject=str(uuid4()),
                value={"text": "Talkwords of the app", "on": {"what": "answer"}},
                **about,
            ),
        ],
        person,
    )
    close_databases()


@contextmanager
def study_server(folder, options=None, **environment):
    server = ScoreServer(
        folder,
        review_set=write_words(folder / "set"),
        environment={"REXVIEW_SECRET": SECRET, **environment},
        options=options,
    )
    with server:
        write_peers(server)
        yield server


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blinded")
    with provider() as address:
        secrets = write_secrets(folder / "secrets.toml", address)
        options = {"secrets.files": str(secrets)}
        with study_server(folder, options, REXVIEW_PEOPLE=json.dumps(PEOPLE)) as server:
            yield server


def score_all(page, traffic):
    """Do on every case all that the Score page offers, but look at no report and no model."""
    seen, errors = [], []
    page.on("pageerror", lambda error: errors.append(str(error.stack or error)))
    for place in range(len(CASES)):
        page.wait_for_selector(".rx-pad .row.current")
        case = page.locator(".rx-pad .place").get_attribute("title")
        wait_for_case(page, case)
        seen.append(case)
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("u")
        page.keyboard.press("e")
        page.keyboard.type("My own words")
        page.keyboard.press("Escape")
        answer = page.locator('.answer[data-slot="A"]')
        answer.locator("summary").click()
        answer.locator("[data-failure]").first.click()
        page.get_by_role("button", name="Cases").click()
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        page.keyboard.press("Escape")
        box = page.locator(".pane").first.bounding_box()
        page.mouse.move(box["x"] + 80, box["y"] + 80)
        page.mouse.wheel(0, -300)
        page.mouse.down()
        page.mouse.move(box["x"] + 120, box["y"] + 120)
        page.mouse.up()
        for key in ("i", "i", "Shift+Digit1", "Shift+Digit2", "0", "0", "f"):
            page.keyboard.press(key)
        for key in ("a", "b", "b", "Escape", "g", "Escape"):  # the report stays hidden
            page.keyboard.press(key)
        for slot in ("B", "A"):
            page.locator(f'.tab[data-slot="{slot}"]').click()
            page.keyboard.press("0")
            returned = page.locator(".chip.view", has_text="picture 1")
            if returned.count():
                returned.click()
                page.locator(".pane .title", has_text="picture 1").wait_for()
        wait_saved(page)
        traffic.look(page)
        page.reload()
        wait_for_case(page, case)
        traffic.look(page)
        if place == 1:
            page.keyboard.press("s")
            page.locator(".sheet").get_by_role("button", name="Skip this case").click()
        elif place < len(CASES) - 1:
            page.keyboard.press("n")
        if place < len(CASES) - 1:
            page.wait_for_function(
                "(last) => document.querySelector('.rx-pad .place').title !== last", arg=case
            )
    assert sorted(seen) == sorted(CASES)
    assert not errors, errors


def test_a_readers_traffic_holds_nothing_hidden(team, visitor):
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, f"{team.url}/", ANNA)
        page.goto(f"{team.url}/score")
        score_all(page, traffic)
        page.goto(f"{team.url}/account")
        page.get_by_text("Anna Reader").first.wait_for()
        traffic.look(page)
    assert traffic.find(["on the left"]), "the answers were read"
    assert traffic.find(["My own words"])
    assert any("/rexview/pixels/" in piece.where for piece in traffic.pieces)
    assert_hidden(traffic, [*NAMES, *REPORT, *PEERS, *TAGS])


def test_what_is_shown_on_request_brings_nothing_else(team, visitor):
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, f"{team.url}/", BOB)
        page.goto(f"{team.url}/score?case=c1")
        wait_for_case(page, "c1")
        page.keyboard.press("g")
        page.get_by_role("button", name="Show the report").click()
        page.get_by_text(REPORT[1]).first.wait_for()
        traffic.look(page)
    found = {leak.word for leak in traffic.find([*REPORT, f"{REPORT[0]}-c1"])}
    assert found == {*REPORT, f"{REPORT[0]}-c1"}
    assert_hidden(traffic, [*NAMES, *PEERS, *TAGS, f"{REPORT[0]}-c2", f"{REPORT[0]}-c3"])


def test_alone_the_score_page_holds_nothing_hidden_either(browser, tmp_path):
    known_reader(tmp_path / "data", "Anna")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    with study_server(tmp_path) as server, record(context) as traffic:
        name_browsers_of(server.url, tmp_path / "data")
        page = context.new_page()
        page.goto(f"{server.url}/score")
        score_all(page, traffic)
        context.close()
    assert_hidden(traffic, [*NAMES, *REPORT, *PEERS, *TAGS])


def test_the_recorder_finds_every_word_where_it_may_be_seen(team, visitor):
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, f"{team.url}/", LEA)
        for path in ("case?case=c1", f"case?case=c1&{SHOWN}", "browse", "browse?as=table", ""):
            visit(page, f"{team.url}/", path)
            traffic.look(page)
        visit(page, f"{team.url}/", "case?case=c1")
        page.get_by_text("Peerwords of the app").first.wait_for(state="attached")
        traffic.look(page)
    nowhere = {"peer-rho", "Verdictwords of the app"}  # no page shows them to anybody
    wanted = {*MODELS, *MODELS.values(), *REPORT, *PEERS} - nowhere
    assert wanted - {leak.word for leak in traffic.find(wanted)} == set()


# --- asking for more --------------------------------------------------------------------------


def entry(**more):
    return {
        "token": str(uuid4()),
        "case": "c1",
        "kind": "score",
        "slot": "A",
        "subject": "language",
        "picture": None,
        "field": "score",
        "value": 1,
        "was": None,
        "seen": 0,
        **more,
    }


def ticket(server, person=ANNA, *, kind="write", secret=SECRET, folder=None, role="reader", **more):
    name = review_sets.set_id(folder or server.review_set.folder)
    grant = Grant(kind, name, "", detail=[person, person, role], person=f"reader {person}")
    return LinkSigner(secret).sign(grant, **more)


def post(context, server, with_ticket, *entries):
    return context.request.post(
        f"{server.url}/rexview/reviews",
        data=json.dumps({"ticket": with_ticket, "case": "c1", "entries": entries}),
        headers={"Content-Type": "application/json"},
    )


def test_what_a_reader_asks_for_beyond_the_page_is_refused(team, visitor):
    anna, vera, stranger = visitor(), visitor(), visitor()
    sign_in(anna, f"{team.url}/", ANNA)
    sign_in(vera, f"{team.url}/", VERA)
    good = ticket(team, "r-anna")
    before = [row.token for row in team.scores()]
    hours_ago = time.time() - 3 * 3600
    refused = [
        (anna, "not a ticket", 403),
        (anna, good[:-3] + ("AAA" if good[-3:] != "AAA" else "BBB"), 403),
        (anna, ticket(team, "r-anna", secret="another"), 403),
        (anna, ticket(team, "r-anna", now=hours_ago), 403),
        (anna, ticket(team, "r-anna", kind="pixels"), 403),
        (anna, ticket(team, LEA, role="lead"), 403),
        (anna, ticket(team, ""), 403),
        (anna, ticket(team, "r-anna", folder=Path("/elsewhere")), 503),
        (stranger, good, 401),
        (vera, good, 403),
        (vera, ticket(team, VERA, role="reader"), 403),
    ]
    for context, token, status in refused:
        answer = post(context, team, token, entry())
        assert answer.status == status, (token, answer.status, answer.text())
        for word in [*NAMES, *REPORT, *PEERS]:
            assert word not in answer.text()
    assert [row.token for row in team.scores()] == before

    wrong = [
        entry(slot="Z"),
        entry(slot="quokka"),
        entry(case="c99"),
        entry(kind="adjudicate"),
        entry(kind="assign"),
        entry(kind="comment", field="text", value="x"),
        entry(kind="reveal", field=None, subject="models", value=True),
        entry(kind="reveal", field=None, subject="all models", value=True),
        entry(kind="reveal", field=None, subject="scores", value=True),
        entry(value=6),
        entry(subject="image_style", picture=7),
    ]
    told = post(anna, team, good, *wrong).json()
    assert told["saved"] == []
    assert set(told["refused"]) == {one["token"] for one in wrong}
    assert [row.token for row in team.scores()] == before

    reader = Person("r-anna", "Anna Reader", "reader")
    slots = slots_to_give(team, reader)["score"]
    (shown,) = {one.shown for one in slots if (one.cell.case, one.key) == ("c1", "A")}
    mine = entry(shown=shown, model="quokka", person=LEA, via="elsewhere")
    answer = post(anna, team, ticket(team, "r-anna", role="lead"), mine)
    assert answer.json()["saved"] == [mine["token"]]
    (row,) = [row for row in team.scores() if row.token == mine["token"]]
    assert (row.person, row.person_role, row.via) == ("r-anna", "reader", "score page")
    for word in [*NAMES, *REPORT, *PEERS]:
        assert word not in answer.text()
    for method in ("get", "put", "delete"):
        answer = getattr(anna.request, method)(f"{team.url}/rexview/reviews")
        for word in [*NAMES, *REPORT, *PEERS]:
            assert word not in answer.text()
    assert len(team.scores()) == len(before) + 1


def test_other_pages_and_links_of_others_give_a_reader_nothing(team, visitor):
    lead = visitor()
    with record(lead) as seen:
        page = sign_in(lead, f"{team.url}/", LEA)
        visit(page, f"{team.url}/", "case?case=c1")
        page.locator("[data-painted-case]").wait_for()
    links = {
        piece.where.split()[2]
        for piece in seen.pieces
        if re.match(r"request GET \S+/rexview/pixels/\S+$", piece.where)
    }
    assert links
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, f"{team.url}/", ANNA)
        for path in (
            "case?case=c1",
            "browse",
            "browse?model=m",
            "study",
            "adjudicate",
            "data",
        ):
            text = visit(page, f"{team.url}/", path)
            assert "Traceback" not in text
            traffic.look(page)
        for link in links:
            assert context.request.get(link).status == 403
    assert_hidden(traffic, [*NAMES, *REPORT, *PEERS, *TAGS])


def test_asking_for_a_judge_gives_a_reader_nothing(team, visitor):
    """The link names it, as anybody can; the route's links of one who sees it are theirs alone."""
    lead = visitor()
    with record(lead) as seen:
        page = sign_in(lead, f"{team.url}/", LEA)
        visit(page, f"{team.url}/", f"case?case=c1&{SHOWN}")
        page.locator("[data-painted-case]").wait_for()
        page.locator(".rx-judge").first.wait_for()
        page.keyboard.press("j")
        page.locator('[data-painted-case="c2"]').wait_for()
        assert page.locator(".rx-judge").count() == len(MODELS)
    links = {
        piece.where.split()[2]
        for piece in seen.pieces
        if re.match(r"request GET \S+/rexview/cases/\S+$", piece.where)
    }
    assert links
    ahead = Traffic([piece for piece in seen.pieces if "/rexview/cases/" in piece.where])
    assert {leak.word for leak in ahead.find(JUDGED)} == set(JUDGED)
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, f"{team.url}/", ANNA)
        for path in (f"score?case=c1&{ASKED}", f"score?{ASKED}", f"case?case=c1&{ASKED}"):
            text = visit(page, f"{team.url}/", path)
            assert "Traceback" not in text
            traffic.look(page)
        for path in (f"failures?{ASKED}", f"browse?{ASKED}", f"readers?{ASKED}"):
            visit(page, f"{team.url}/", path)
            traffic.look(page)
        for link in links:
            assert context.request.get(link).status == 403
    typed = {JUDGE, WORDING}
    assert_hidden(traffic, [word for word in [*NAMES, *REPORT, *PEERS, *TAGS] if word not in typed])


def test_a_judge_in_the_link_changes_nothing_on_the_score_page(team, visitor):
    context = visitor()
    page = sign_in(context, f"{team.url}/", ANNA)
    orders = []
    for path in ("score", f"score?{ASKED}", f"score?judge_says=omission:yes:{WORDING}:{JUDGE}"):
        page.goto(f"{team.url}/{path}")
        page.wait_for_selector(".rx-pad .row.current")
        page.get_by_role("button", name="Cases").click()
        orders.append(page.locator(".sheet").inner_text())
        page.keyboard.press("Escape")
    assert orders[0] == orders[1] == orders[2] != ""


def test_an_adjudicators_traffic_names_no_model(team, visitor):
    """Words of readers and of another's consensus name models; the score of it is changed."""
    words = f"Right is {MODELS['quokka']} (quokka), says zephyr-7b. {SPLIT}"
    required = list_required_scores(team.review_set).filter(case="c1").iter_rows(named=True)
    items = [(one["model"], one["dimension"]) for one in required]
    assert ("quokka", "process") in items
    reviews = open_reviews(team.review_set, team.settings)
    for person, score in (("r-bob", 1), ("r-cleo", 5)):
        given = [
            Entry("score", "c1", *item, value={"score": score, "comment": words}) for item in items
        ]
        reviews.record(given, Person(person, person, "reader"))
    agreed = [
        Entry("adjudicate", "c1", *item, value={"score": 5, "comment": words}) for item in items
    ]
    reviews.record(agreed, Person(LEA, "Lea Lead", "lead"))
    context = visitor()
    sign_in(context, f"{team.url}/", ADAM).close()  # on the first page, which names models
    with record(context) as traffic:
        page = context.new_page()
        page.goto(f"{team.url}/adjudicate?case=c1")
        page.get_by_role("radio", name="2").first.click()
        page.locator(".rx-consensus p", has_text=re.compile("^Saved .*Adam")).wait_for()
        page.get_by_role("textbox", name="Why").first.fill("[model] is right.")
        page.get_by_role("textbox", name="Why").first.blur()
        page.locator("[data-painted-case]").wait_for()
        pass_time(page, 1500)
        traffic.look(page)
    assert_hidden(traffic, [*NAMES, *TAGS, JUDGE, WORDING, *JUDGED])
    given = reviews.history(kind="adjudicate", person=ADAM)[::-1]
    assert [row.value["comment"] for row in given] == [words, "[model] is right."]
    assert {row.value["score"] for row in given} == {2}
    close_databases()
