"""What readers give besides scores, as their browser sends it: what comes back, what is refused."""

import json
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import opened_set
from support.page_text import unlabelled
from support.reader_tasks import CHOICE, OPTIONS, REPORTS, write_tasks

from rexview.analysis.query.study_tasks import WorklistProgress
from rexview.people import Person
from rexview.store import Entry
from rexview.ui.score_cases.reader_pads import item_json, options_json, result_table
from rexview.ui.study_page import tasks_html
from rexview.ui.web.saving import route as saving_route
from rexview.ui.web.saving.outbox import ADDRESS
from rexview.ui.web.saving.reader_study import load_reader_study
from rexview.ui.web.saving.reader_tasks import TASK_LISTS, tasks_progress
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.sealed_tokens import Grant

READER = Person("anna", "Anna", "reader")
LEAD = Person("lea", "Lea", "lead")
PAGES = {"answer": "answer questions", "compare": "compare reports", "correct": "correct reports"}
SECOND = {**CHOICE, "id": "q2", "question": "Which lobe?", "options": ["Upper", "Lower"]}
MORE = [
    {"case": "q1", "model": "m", "text": "B", "choice": 1},
    {"case": "q1", "model": "n", "text": "Left", "choice": 0},
    {"case": "q2", "model": "m", "text": "?"},
]
THIRD = {"case": "r1", "model": "o", "text": "FINDINGS: Model N saw it. IMPRESSION: None."}
HIDDEN = ("Model M", "Model N", "Blunted on the right", "Right pleural effusion", "Reader A")


@pytest.fixture
def rules():
    return ""


@pytest.fixture
def review_set(tmp_path, monkeypatch, rules):
    folder = write_tasks(
        tmp_path / "set",
        choices=[CHOICE, SECOND],
        reports=[*REPORTS, THIRD],
        more=MORE,
        rules=rules,
    )
    with opened_set(folder, tmp_path, monkeypatch) as opened:
        yield opened


def tasks_of(review_set, task, person=READER):
    return TASK_LISTS[task](load_reader_study(review_set, person))


def items(review_set, task, person=READER):
    worklist = tasks_of(review_set, task, person).worklist
    return worklist.page(0, len(worklist))


def send(review_set, task, item, kind, value, *, person=READER, **more):
    """Send one entry of what is shown now; return what the server says of it, and its answer."""
    grant = Grant(
        "write", review_sets.set_id(review_set.folder), "", detail=list(vars(person).values())
    )
    entry = {
        "token": str(uuid4()),
        "page": PAGES[task],
        "case": item,
        "kind": kind,
        "shown": tasks_of(review_set, task, person).shown(item),
        "value": value,
        "was": None,
        "seen": 1_000_000,
        **more,
    }
    client = TestClient(Starlette(routes=saving_route.routes()))
    ticket = server_state.signer().sign(grant)
    body = {"ticket": ticket, "entries": [entry], "page": PAGES[task], "case": item}
    reply = client.post(f"/{ADDRESS}", json=body).json()
    for word in (*HIDDEN, '"m"', '"n"', '"o"'):
        assert word not in json.dumps(reply), word
    if entry["token"] in reply["saved"]:
        return "saved", reply
    return reply["refused"].get(entry["token"], "overtaken"), reply


def given(value, seconds=3.25, **more):
    return {"value": value, "seconds": seconds, **more}


def rows(review_set, kind):
    return review_sets.reviews(review_set).current(kind)


class TestQuestions:
    def test_a_choice_is_kept_with_its_words_and_time(self, review_set):
        said, reply = send(review_set, "answer", "q1", "choose", given(1))
        assert said == "saved"
        (row,) = rows(review_set, "choose")
        assert row.value == {"choice": 1, "option": OPTIONS[1], "seconds": 3.2}
        assert (row.case, row.model, row.person, row.via) == ("q1", None, "anna", PAGES["answer"])
        assert reply["own"]["q1"]["value"] == 1
        assert reply["progress"] == {"done": 1, "skipped": 0, "total": 2}
        assert reply["states"] == {"q1": "done"}

    def test_it_can_be_changed_until_another_question_is_answered(self, review_set):
        send(review_set, "answer", "q1", "choose", given(1))
        assert send(review_set, "answer", "q1", "choose", given(2))[0] == "saved"
        assert send(review_set, "answer", "q2", "choose", given("out"))[0] == "saved"
        assert (
            "answered another question" in send(review_set, "answer", "q1", "choose", given(0))[0]
        )
        assert send(review_set, "answer", "q2", "choose", given(0))[0] == "saved"
        history = review_sets.reviews(review_set).history(kind="choose", case="q1")
        assert [row.value["choice"] for row in history] == [2, 1]
        chosen = review_sets.with_reviews(review_set).choices
        assert sorted(chosen.select("case", "choice").rows()) == [("q1", 2), ("q2", 0)]

    @pytest.mark.parametrize("value", [3, -1, True, "A", None, [1], 1.5, {}])
    def test_what_is_no_option_is_refused(self, review_set, value):
        assert send(review_set, "answer", "q1", "choose", given(value))[0] != "saved"
        assert rows(review_set, "choose") == ()

    @pytest.mark.parametrize("seconds", [-1, "1", None, True, 1e12, 10**400])
    def test_a_time_that_cannot_be_is_left_out(self, review_set, seconds):
        assert send(review_set, "answer", "q1", "choose", given(1, seconds))[0] == "saved"
        assert rows(review_set, "choose")[0].value["seconds"] is None

    def test_another_question_than_was_read_is_refused(self, review_set):
        before = tasks_of(review_set, "answer").shown("q1")
        write_tasks(review_set.folder, choices=[{**CHOICE, "options": [*OPTIONS[:2], "None"]}])
        changed = review_sets.open_set(review_set.folder)
        said, _ = send(changed, "answer", "q1", "choose", given(1), shown=before)
        assert "were changed" in said

    def test_another_windows_answer_is_not_overtaken_unseen(self, review_set):
        send(review_set, "answer", "q1", "choose", given(1))
        said, _ = send(review_set, "answer", "q1", "choose", given(2), was=None, seen=0)
        assert said == "overtaken"

    def test_right_options_are_shown_when_all_is_answered_and_then_nothing_changes(
        self, review_set
    ):
        send(review_set, "answer", "q1", "choose", given(1))
        ask = {"subject": "all solution"}
        assert "when the questions" in send(review_set, "answer", "q1", "reveal", True, **ask)[0]
        assert tasks_of(review_set, "answer").own("q1")["solved"] is False
        assert result_table(tasks_of(review_set, "answer")).is_empty()
        send(review_set, "answer", "q2", "choose", given(0))
        assert send(review_set, "answer", "q1", "reveal", True, **ask)[0] == "saved"
        assert "can no longer" in send(review_set, "answer", "q2", "choose", given(1))[0]
        tasks = tasks_of(review_set, "answer")
        assert item_json(tasks, "q1")["content"]["correct"] == 1
        assert result_table(tasks).rows() == [
            ("You", 1, 2, 0.5, None, None),
            ("Model M", 1, 2, 0.5, 1, None),
            ("Model N", 0, 1, 0.0, 0, None),
        ]

    @pytest.mark.parametrize("rules", ["protocol: {reveal: per_case}\n"])
    def test_where_the_rules_say_so_each_is_shown_by_itself(self, review_set):
        ask = {"subject": "solution"}
        assert send(review_set, "answer", "q1", "reveal", True, **ask)[0] != "saved"
        send(review_set, "answer", "q1", "choose", given("out"))
        assert send(review_set, "answer", "q1", "reveal", True, **ask)[0] == "saved"
        tasks = tasks_of(review_set, "answer")
        assert (tasks.is_solved("q1"), tasks.is_solved("q2")) == (True, False)

    @pytest.mark.parametrize("rules", ["protocol: {reveal: per_case}\n"])
    def test_a_changed_question_that_was_solved_is_not_asked_again(self, review_set):
        send(review_set, "answer", "q1", "choose", given(1))
        send(review_set, "answer", "q1", "reveal", True, subject="solution")
        changed = {**CHOICE, "options": [OPTIONS[0], "B. At the apex", OPTIONS[2]]}
        write_tasks(review_set.folder, choices=[changed, SECOND], more=MORE)
        tasks = tasks_of(review_sets.open_set(review_set.folder), "answer")
        assert (tasks.chosen("q1"), tasks.state("q1"), tasks.resume()) == (None, "skipped", "q2")

    @pytest.mark.parametrize(
        ("rules", "shown"),
        [("", ["You", "Model M"]), ("protocol: {reveal_peers: true}\n", ["You", "Model M", "Rad"])],
    )
    def test_other_readers_answers_are_shown_only_where_the_rules_say_so(self, review_set, shown):
        info = review_set.folder / "reviewset.yaml"
        rad = "models:\n- {id: rad, name: Rad, kind: reader}\n"
        info.write_text(info.read_text("utf-8").replace("models:\n", rad), "utf-8")
        more = [MORE[0], {"case": "q1", "model": "rad", "text": "B", "choice": 1}]
        write_tasks(review_set.folder, more=more)
        changed = review_sets.open_set(review_set.folder)
        send(changed, "answer", "q1", "choose", given(1))
        send(changed, "answer", "q1", "reveal", True, subject="all solution")
        assert sorted(result_table(tasks_of(changed, "answer"))["Who"]) == sorted(shown)

    def test_the_report_is_never_shown(self, review_set):
        said, _ = send(review_set, "answer", "q1", "reveal", True, subject="report")
        assert said == "There is nothing of that kind to show."


class TestComparisons:
    def test_every_pair_is_dealt_in_an_order_of_the_readers_own(self, review_set):
        orders = set()
        for number in range(20):
            person = Person(f"reader {number}", "R", "reader")
            tasks = tasks_of(review_set, "compare", person)
            pairs = tuple(tasks.pair(item) for item in items(review_set, "compare", person))
            assert {frozenset(pair) for pair in pairs} == {
                frozenset(pair) for pair in (("m", "n"), ("m", "o"), ("n", "o"))
            }
            orders.add(pairs)
        assert len(orders) > 10
        assert {pairs[0][0] for pairs in orders} == {"m", "n", "o"}

    @pytest.mark.parametrize("side", ["left", "right", "tie"])
    def test_a_side_becomes_a_model(self, review_set, side):
        item = items(review_set, "compare")[1]
        said, reply = send(review_set, "compare", item, "prefer", given(side, comment="Hm"))
        assert said == "saved"
        left, right = tasks_of(review_set, "compare").pair(item)
        table = review_sets.with_reviews(review_set).preferences
        names = {"left": "first", "right": "second", "tie": "tie"}
        columns = ("case", "first", "second", "preferred", "comment", "seconds")
        assert table.select(columns).row(0) == ("r1", left, right, names[side], "Hm", 3.2)
        assert reply["own"][item]["value"] == side
        assert reply["states"] == {item: "done"}

    def test_a_pair_can_be_left_out(self, review_set):
        item = items(review_set, "compare")[0]
        assert send(review_set, "compare", item, "prefer", given("out"))[0] == "saved"
        assert review_sets.with_reviews(review_set).preferences.is_empty()
        assert tasks_of(review_set, "compare").progress.skipped == 1

    def test_another_windows_comment_is_not_lost(self, review_set):
        item = items(review_set, "compare")[0]
        send(review_set, "compare", item, "prefer", given("left", comment="Hm"))
        was = {"value": None, "comment": ""}
        unseen = {"was": was, "seen": 0}
        assert send(review_set, "compare", item, "prefer", given("left"), **unseen)[0] == (
            "overtaken"
        )
        was = {"value": "left", "comment": "Hm"}
        again = given("left", comment="Hm, hm")
        assert send(review_set, "compare", item, "prefer", again, was=was, seen=0)[0] == "saved"

    def test_an_item_has_one_name(self, review_set):
        item = items(review_set, "compare")[0]
        assert not tasks_of(review_set, "compare").has(f"0{item}")

    @pytest.mark.parametrize("value", ["m", "first", None, 1, ["left"]])
    def test_what_is_no_side_is_refused(self, review_set, value):
        item = items(review_set, "compare")[0]
        assert send(review_set, "compare", item, "prefer", given(value))[0] != "saved"

    def test_a_changed_report_opens_its_pairs_again(self, review_set):
        for item in items(review_set, "compare"):
            send(review_set, "compare", item, "prefer", given("left"))
        changed = [{**REPORTS[0], "text": "Other words."}, REPORTS[1], THIRD]
        write_tasks(review_set.folder, choices=[CHOICE, SECOND], reports=changed, more=MORE)
        tasks = tasks_of(review_sets.open_set(review_set.folder), "compare")
        assert tasks.progress.done == 1
        assert sum(tasks.own(item)["earlier"] for item in items(review_set, "compare")) == 2


class TestCorrections:
    def item(self, review_set, model="m", person=READER):
        tasks = tasks_of(review_set, "correct", person)
        every = items(review_set, "correct", person)
        return next(item for item in every if tasks.model(item) == model)

    def edit(self, review_set, place, value, *, model="m", **more):
        item = self.item(review_set, model)
        return send(review_set, "correct", item, "edit", value, subject=place, **more)

    def test_lines_are_corrected_and_count_once_finished(self, review_set):
        value = {"action": "delete", "severity": 3, "kind": "false_finding"}
        assert self.edit(review_set, "1", value)[0] == "saved"
        more = {"action": "insert", "edited": " Right effusion. ", "severity": 4}
        assert self.edit(review_set, "2+1", more)[0] == "saved"
        assert review_sets.with_reviews(review_set).edits.is_empty()
        item = self.item(review_set)
        assert tasks_of(review_set, "correct").state(item) == "begun"
        said, reply = send(review_set, "correct", item, "corrected", True)
        assert (said, reply["states"]) == ("saved", {item: "done"})
        edits = review_sets.with_reviews(review_set).edits
        assert edits.select("model", "line", "action", "original", "edited", "severity").rows() == [
            ("m", 1, "delete", "Clear lungs.", None, 3),
            ("m", 2, "insert", None, "Right effusion.", 4),
        ]

    def test_an_edit_is_taken_back(self, review_set):
        self.edit(review_set, "1", {"action": "delete"})
        was = {"action": "delete", "severity": None}
        assert self.edit(review_set, "1", None, was=was)[0] == "saved"
        assert tasks_of(review_set, "correct").own(self.item(review_set))["lines"] == {}

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            ("3", {"action": "delete"}),
            ("0", {"action": "delete"}),
            ("3+1", {"action": "insert", "edited": "x"}),
            ("1", {"action": "insert", "edited": "x"}),
            ("1", {"action": "substitute", "edited": " "}),
            ("1", {"action": "burn"}),
            ("1", {"action": "delete", "severity": 7}),
            ("1", {"action": "delete", "kind": ["location"]}),
            ("+", {"action": "insert", "edited": "x"}),
            ("1", "delete"),
            ("1", {"action": "substitute", "edited": "x" * 4001}),
        ],
    )
    def test_what_is_no_correction_is_refused(self, review_set, place, value):
        assert self.edit(review_set, place, value)[0] != "saved"
        assert rows(review_set, "edit") == ()

    def test_names_of_models_in_lines_stay_on_the_server(self, review_set):
        item = self.item(review_set, "o")
        assert self.edit(review_set, "1", {"action": "keep"}, model="o")[0] == "saved"
        assert "Model N" in rows(review_set, "edit")[0].value["original"]
        told = json.dumps(item_json(tasks_of(review_set, "correct"), item))
        assert "[model] saw it." in told
        assert "Model N" not in told

    def test_a_name_that_goes_over_two_lines_is_covered_in_both(self, review_set):
        reports = [{**REPORTS[0], "text": "Seen by Model\nN again. Clear."}, REPORTS[1], THIRD]
        write_tasks(review_set.folder, choices=[CHOICE, SECOND], reports=reports, more=MORE)
        changed = review_sets.open_set(review_set.folder)
        lines = item_json(tasks_of(changed, "correct"), self.item(changed))["content"]["lines"]
        assert [line["text"] for line in lines] == ["Seen by [model]", "[model] again.", "Clear."]

    @pytest.mark.parametrize("rules", ["protocol: {reader_references: true}\n"])
    def test_another_readers_reference_is_not_replaced_unseen(self, review_set):
        item, theirs = self.item(review_set), self.item(review_set, person=LEAD)
        send(review_set, "correct", item, "corrected", True)
        send(review_set, "correct", theirs, "corrected", True, person=LEAD)
        assert send(review_set, "correct", theirs, "reference", True, person=LEAD)[0] == "saved"
        assert send(review_set, "correct", item, "reference", True, seen=0)[0] == "overtaken"
        assert send(review_set, "correct", item, "reference", True)[0] == "saved"

    def test_a_reader_keeps_no_reference(self, review_set):
        item = self.item(review_set)
        send(review_set, "correct", item, "corrected", True)
        assert send(review_set, "correct", item, "reference", True)[0] != "saved"

    @pytest.mark.parametrize("rules", ["protocol: {reader_references: true}\n"])
    def test_unless_the_rules_say_so(self, review_set):
        value = {"action": "substitute", "edited": "Both lungs are clear.", "severity": 1}
        self.edit(review_set, "1", value, model="o")
        self.edit(review_set, "2+1", {"action": "insert", "edited": "Effusion."}, model="o")
        item = self.item(review_set, "o")
        assert "not finished" in send(review_set, "correct", item, "reference", True)[0]
        send(review_set, "correct", item, "corrected", True)
        assert send(review_set, "correct", item, "reference", True)[0] == "saved"
        (row,) = rows(review_set, "reference")
        assert row.value == {
            "findings": "Both lungs are clear.",
            "impression": "None.\nEffusion.",
            "comment": None,
        }

    @pytest.mark.parametrize("rules", ["protocol: {reader_references: true}\n"])
    def test_a_reference_has_no_indication(self, review_set):
        text = "INDICATION: Cough. FINDINGS: Clear. IMPRESSION: None. TECHNIQUE: PA."
        reports = [{**REPORTS[0], "text": text}, REPORTS[1], THIRD]
        write_tasks(review_set.folder, choices=[CHOICE, SECOND], reports=reports, more=MORE)
        changed = review_sets.open_set(review_set.folder)
        self.edit(changed, "1+1", {"action": "insert", "edited": "Effusion.", "severity": 1})
        item = self.item(changed)
        send(changed, "correct", item, "corrected", True)
        assert send(changed, "correct", item, "reference", True)[0] == "saved"
        (row,) = rows(changed, "reference")
        kept = {"findings": "Effusion.\nClear.", "impression": "None.", "comment": None}
        assert row.value == kept

    @pytest.mark.parametrize("rules", ["protocol: {reader_references: true}\n"])
    def test_a_line_as_long_as_a_report_is_corrected(self, review_set):
        reports = [{**REPORTS[0], "text": "no " * 9000 + "end"}, REPORTS[1], THIRD]
        write_tasks(review_set.folder, choices=[CHOICE, SECOND], reports=reports, more=MORE)
        changed = review_sets.open_set(review_set.folder)
        assert self.edit(changed, "1", {"action": "keep"})[0] == "saved"
        item = self.item(changed)
        send(changed, "correct", item, "corrected", True)
        assert "too long" in send(changed, "correct", item, "reference", True)[0]

    def test_corrections_of_an_earlier_report_are_kept_and_told(self, review_set):
        self.edit(review_set, "1", {"action": "delete"})
        item = self.item(review_set)
        send(review_set, "correct", item, "corrected", True)
        changed = [{**REPORTS[0], "text": "Other words."}, REPORTS[1], THIRD]
        write_tasks(review_set.folder, choices=[CHOICE, SECOND], reports=changed, more=MORE)
        tasks = tasks_of(review_sets.open_set(review_set.folder), "correct")
        own = tasks.own(item)
        assert (own["done"], own["lines"], own["earlier"]) == (False, {}, 1)
        assert tasks.state(item) == "open"


def test_the_study_page_counts_what_is_done(review_set):
    reviews, engine = review_sets.reviews(review_set), review_sets.study_engine(review_set)
    assert tasks_progress(review_set, reviews, engine) == {}
    send(review_set, "answer", "q1", "choose", given("out"))
    for person in (READER, LEAD):
        item = items(review_set, "compare", person)[0]
        send(review_set, "compare", item, "prefer", given("tie"), person=person)
    found = tasks_progress(review_set, reviews, engine)
    assert found == {
        "anna": {"answer": WorklistProgress(0, 1, 2), "compare": WorklistProgress(1, 0, 3)},
        "lea": {"compare": WorklistProgress(1, 0, 3)},
    }
    drawn = unlabelled(tasks_html(found, {"anna": "<Anna>"}))
    assert "&lt;Anna&gt;" in drawn
    assert "<td>0 of 2, 1 left out</td><td>1 of 3</td>" in drawn
    assert "Correct" not in drawn, "nobody has begun it"


def test_nothing_that_is_hidden_is_in_what_a_pad_gets(review_set):
    for task in PAGES:
        tasks = tasks_of(review_set, task)
        for item in items(review_set, task):
            told = json.dumps(item_json(tasks, item))
            for word in (*HIDDEN, '"m"', '"n"', '"o"', "broad_abnormality"):
                assert word not in told, (task, word)


def test_hostile_words_are_escaped_where_html_is_made(review_set):
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    question = {**CHOICE, "question": hostile, "explanation": hostile, "options": [hostile, "B"]}
    reports = [{**one, "text": hostile} for one in REPORTS]
    write_tasks(review_set.folder, choices=[question, SECOND], reports=reports)
    opened = review_sets.open_set(review_set.folder)
    for item in ("q1", "q2"):
        send(opened, "answer", item, "choose", given(0))
    send(opened, "answer", "q1", "reveal", True, subject="all solution")
    asked = item_json(tasks_of(opened, "answer"), "q1")["content"]
    pair = item_json(tasks_of(opened, "compare"), items(opened, "compare")[0])["content"]
    for made in (asked["question"], asked["solution"], *pair["reports"]):
        assert "alert(1)" in made
        assert "<script" not in made
        assert "<img" not in made
    assert asked["options"][0]["text"] == hostile, "a text, which the pad shows as one"


@pytest.mark.parametrize("task", ["compare", "correct"])
def test_the_report_is_shown_by_the_studys_rules(review_set, task):
    item = items(review_set, task)[0]
    assert item_json(tasks_of(review_set, task), item)["report"]["state"] == "hidden"
    assert send(review_set, task, item, "reveal", True, subject="report")[0] == "saved"
    report = item_json(tasks_of(review_set, task), item)["report"]
    assert "Right pleural effusion" in report["html"]
    (row,) = rows(review_set, "reveal")
    assert (row.case, row.value) == ("r1", {"what": "report"})


@pytest.mark.parametrize("rules", ["protocol: {report: never}\n"])
def test_or_never(review_set):
    item = items(review_set, "compare")[0]
    assert "not shown" in send(review_set, "compare", item, "reveal", True, subject="report")[0]


@pytest.mark.parametrize("role", ["viewer", "adjudicator"])
def test_others_give_nothing(review_set, role):
    other = Person("vic", "Vic", role)
    grant = Grant("write", review_sets.set_id(review_set.folder), "", detail=["vic", "Vic", role])
    entry = {"token": str(uuid4()), "page": PAGES["answer"], "case": "q1", "kind": "choose"}
    client = TestClient(Starlette(routes=saving_route.routes()))
    body = {"ticket": server_state.signer().sign(grant), "entries": [entry]}
    assert client.post(f"/{ADDRESS}", json=body).status_code == 403
    assert other.role == role


def test_assignments_hold_for_the_tasks_that_they_name(review_set):
    reviews = review_sets.reviews(review_set)
    value = {"as": "first", "active": True}
    reviews.record([Entry("assign", "c1", subject="bob", value=value)], LEAD)
    assert set(items(review_set, "answer")) == {"q1", "q2"}
    reviews.record([Entry("assign", "q1", subject="anna", value=value)], LEAD)
    assert items(review_set, "answer") == ("q1",)
    assert items(review_set, "answer", Person("bob", "Bob", "reader")) == ()


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["A. Left", "B) Right"], [("A", "Left"), ("B", "Right")]),
        (["(A) Left", "B"], [("A", "Left"), ("B", "B")]),
        (["B. Left", "A fracture"], [("A", "B. Left"), ("B", "A fracture")]),
    ],
)
def test_a_letter_stands_once(options, shown):
    assert [(one["letter"], one["text"]) for one in options_json(tuple(options))] == shown


@pytest.mark.parametrize("task", TASK_LISTS)
def test_each_task_begins_with_a_case_that_was_not_seen_with_the_models_named(review_set, task):
    every = items(review_set, task)
    first = tasks_of(review_set, task)
    seen = Entry("reveal", first.case_of(every[0]), value={"what": "unblinded"})
    review_sets.reviews(review_set).record([seen], READER)
    others = [item for item in every if first.case_of(item) != seen.case]
    assert tasks_of(review_set, task).resume() == (others or every)[0]
