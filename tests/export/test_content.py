"""What exports are made from: whole, without paths, and what counts nowhere left out."""

import dataclasses
import json
from pathlib import Path

import pytest
from support.entries.stored import ANN
from support.exports.exported_set import TOLD, exported, write_exported_set
from support.small_set import CASES, write_set

from rexview.analysis import CaseFilter
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.errors import ExportRefused
from rexview.export.export_job import ExportProgress
from rexview.export.export_request import ExportRequest, parse_link_query
from rexview.export.html.case_articles import case_html
from rexview.export.sheets.case_details import case_details
from rexview.export.sheets.text_flow import SheetFrame
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews


@pytest.fixture
def folder(tmp_path):
    return write_exported_set(tmp_path / "set")


def words(value):
    """Yield every text in a record, however deep."""
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from words(getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from words(one)
    elif isinstance(value, dict):
        yield from words([*value.keys(), *value.values()])


def test_every_case_with_all_that_counts(folder):
    content, hidden = exported(folder)
    assert hidden is None
    cases = list(content.cases())
    assert [case.id for case in cases] == list(content.case_ids) == ["c1", "c2", "c3"]
    first = cases[0]
    assert [answer.status for answer in first.answers] == ["answered", "token_limit"]
    assert first.answers[0].final["content"] == 2
    assert [(box.model, box.side) for box in first.boxes_on("i")] == [
        (None, "left"),
        ("m", "right"),
    ]
    assert {(one.reader, one.dimension): one.score for one in first.scores} == {
        ("ra", "process"): 5,
        ("ra", "execution"): 2,
        ("ra", "synthesis"): 3,
        ("ra", "language"): 4,
    }  # Ann has begun the case and not finished it
    assert [one.text for one in first.comments] == ["-3 is what I would give."]
    assert [one.decision_name for one in first.decisions] == ["Retrain"]
    assert content.notice == "Made for a test."
    assert first.images[0].read().width == 100


def test_a_meeting_in_its_order_with_its_votes(folder):
    content, _ = exported(folder, ExportRequest(meeting="chest of C1"))
    cases = list(content.cases())
    assert content.title == "Chest of c1"
    assert [(case.id, case.section, case.seconds) for case in cases] == [
        ("c2", "Side", None),
        ("c1", "", 61),
    ]
    assert cases[1].vote.right == {"m": 2, "none": 1}
    assert [one.decision for one in content.minutes.decisions] == ["retrain"]
    kept, _ = exported(
        folder, ExportRequest(meeting="m1", query=parse_link_query("?answer=token_limit&set=x"))
    )
    assert kept.case_ids == ("c1",)
    assert [item.case for item in kept.meeting.agenda] == ["c1"]


def test_nothing_that_may_not_leave_is_in_it(folder):
    content, _ = exported(folder, ExportRequest(meeting="m1"))
    everything = " ".join(words([content, list(content.cases())]))
    assert "My secret note" not in everything
    assert "q=12" not in everything
    assert str(folder) not in everything
    assert "images/" not in everything


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (ExportRequest(cases=("c1", "zz", "yy")), ["2 cases are not in the review set: zz, yy."]),
        (ExportRequest(cases=()), ["No case is named."]),
        (ExportRequest(query=parse_link_query("failure=nonsense")), ["“nonsense” as failure"]),
        (ExportRequest(query=parse_link_query("set=1&as=x")), ["names no condition, only as, set"]),
        (ExportRequest(query=parse_link_query("q=nowhere")), ["No case matches the filter."]),
        (
            ExportRequest(meeting="m9", cases=("zz",)),
            ["zz", "There is no meeting m9", "Chest of c1"],
        ),
        (ExportRequest(meeting="m1", cases=("c3",)), ["No case of Chest of c1: c3."]),
    ],
)
def test_what_cannot_be_exported_is_told_at_once(folder, wanted, said):
    with pytest.raises(ExportRefused) as refused:
        exported(folder, wanted)
    for words_ in said:
        assert words_ in str(refused.value)


def test_pseudonyms_stand_everywhere_and_the_same(folder):
    content, hidden = exported(folder, ExportRequest(meeting="m1"), pseudonyms=True)
    cases = list(content.cases())
    first = cases[1]
    assert (first.id, first.study, first.patient, first.site) == (
        "case-002",
        "study-001",
        "patient-001",
        "site-001",
    )
    assert content.case_ids == ("case-001", "case-002")
    assert first.report.findings == (
        "Compare with c2. Patient patient-001 of site-001 has 12 ribs; see study-001."
    )
    assert first.report.findings != TOLD
    everything = " ".join(words([content, cases])).casefold()
    for real in ("ACC-77001", "Northfield", "one.png"):
        assert real.casefold() not in everything
    assert {box.image for box in first.boxes_on("image-1")} == {"image-1"}
    assert first.images[0].source is None
    assert [item.case for item in content.minutes.items] == ["case-001", "case-002"]
    assert list(content.meeting.votes) == ["case-002"]
    key = hidden.key_file().splitlines()
    assert key[0] == "kind,id,pseudonym"
    assert "patient,12,patient-001" in key
    assert "case,c3,case-003" not in key  # it is nowhere in the export


def test_files_say_what_is_burned_into_them(tmp_path):
    demo = Path(__file__).parents[2] / "assets" / "demo"
    content, _ = exported(demo, ExportRequest(cases=("c01",)))
    assert "burned in" in content.notes[0]
    without, _ = exported(demo, ExportRequest(cases=("c01",)), has_pictures=False)
    assert without.notes == ()


def test_a_model_that_left_and_was_decided_about_has_a_name_and_no_path(folder):
    reviews = open_reviews(load_review_set(folder), Settings())
    about = Entry("decide", "c1", "/models/left-7b", "m1", value={"decision": "retrain"})
    reviews.record([about], ANN)
    content, _ = exported(folder)
    assert content.model("left-7b").name == "left-7b"
    decided = next(content.cases()).decisions
    assert [content.model(one.model).id for one in decided] == ["left-7b", "m"]
    assert not any("/models" in text for case in content.cases() for text in words(case))


def test_minutes_are_in_the_order_of_the_export(folder):
    content, _ = exported(folder, ExportRequest(cases=("c1", "c2"), meeting="m1"))
    assert [(item.number, item.case) for item in content.minutes.items] == [(1, "c1"), (2, "c2")]


GERMAN = "Herz normal groß. Kleiner Erguss links, kein Pneumothorax."


def test_what_the_rules_did_not_read_is_said_in_every_export_that_shows_failures(tmp_path):
    case = {**CASES[0], "report": {"findings": GERMAN}}
    folder = write_set(tmp_path / "set", cases=[case, *CASES[1:]])
    answer = {"case": case["id"], "model": "m", "text": GERMAN}
    (folder / "answers.jsonl").write_text(json.dumps(answer), encoding="utf-8")
    content, _ = exported(folder)
    shown = next(iter(content.cases()))
    told = "Not read by the rules: it looks German."
    assert (shown.answers[0].not_read, shown.report_not_read) == (told, told)
    assert case_html(shown, content).count(f'<p class="quiet">{told}</p>') == 2
    sheets = case_details(content, SheetFrame(content), shown, ExportProgress())
    assert " ".join(text for sheet in sheets for text in words(sheet)).count(told) == 2


def test_the_harm_of_a_failure_is_the_one_of_the_pages(tmp_path):
    """Of the finding that the failure is about, also where a reader's flag names none."""
    report = {"findings": "There is a right pneumothorax.", "impression": None}
    folder = write_set(tmp_path / "set", cases=[{**one, "report": report} for one in CASES])
    (folder / "flags.csv").write_text(
        "case,model,reader,failure,verdict\nc2,m,ra,omission,confirmed\nc2,m,ra,terse,rejected\n"
    )
    content, _ = exported(folder)
    case = next(one for one in content.cases() if one.id == "c2")
    harms = {(one.failure, one.source): one.severity for one in case.flags}
    assert harms == {("omission", "detector"): 4, ("omission", "reader"): 4, ("terse", "reader"): 1}
    (card,) = build_memory_engine(load_review_set(folder)).cards(CaseFilter(), ["c2"])
    assert card.harm == "Harm 4: pneumothorax missed"


def test_every_case_of_the_demo_has_the_same_harm_in_exports_and_on_pages():
    folder = Path(__file__).parents[2] / "assets" / "demo"
    content, _ = exported(folder, has_pictures=False)
    cards = {
        card.case.id: {one.model: one.harm for one in card.answers}
        for card in build_memory_engine(load_review_set(folder)).cards(
            CaseFilter(), content.case_ids
        )
    }
    shown = {
        (case, model): int(words[len("Harm ")])
        for case, of_case in cards.items()
        for model, words in of_case.items()
        if words.startswith("Harm ")
    }
    worst: dict[tuple[str, str], int] = {}
    for case in content.cases():
        for flag in case.flags:
            if flag.verdict == "rejected" or (flag.hint and flag.verdict is None):
                continue
            of = case.id, flag.model
            worst[of] = max(worst.get(of, 0), flag.severity)
    assert worst == shown
    assert shown["c22", "medical-4b"] == 4
