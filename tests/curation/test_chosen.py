"""The curated set: what is in it, what is not, and where it comes from."""

import io
import json
import zipfile

import pytest
from support.curation.candidate_set import (
    CANDIDATES,
    COMPARING,
    QUESTION,
    SELECTIONS,
    candidate,
    write_candidate_set,
)

from rexview.curation.choice.validation import CHECKS
from rexview.curation.curated_set import INSTRUCTION, build_curated_set, zip_curated_set
from rexview.errors import ReviewSetError
from rexview.people import Person
from rexview.reviewset import check_review_set, load_review_set, save_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

ANNA = Person("anna", "Anna", "lead")


def chosen(case, name, **more):
    return {"case": case, "candidate": name, "reader": "anna", "decision": "chosen", **more}


def curated(folder, **more):
    tables = {
        name: more.pop(name) for name in ("selections", "candidates", "validations") if name in more
    }
    return build_curated_set(load_review_set(write_candidate_set(folder, **tables)), **more)


def test_a_chosen_question_becomes_a_case_with_all_of_its_study(tmp_path):
    made = curated(tmp_path / "set")
    save_review_set(made.review_set, tmp_path / "out")
    assert [one for one in check_review_set(tmp_path / "out") if one.severity == "error"] == []
    opened = load_review_set(tmp_path / "out")
    assert opened.cases["id"].to_list() == ["c1-q-high"]
    case, study = opened.case("c1-q-high"), load_review_set(tmp_path / "set").case("c1")
    assert (case.question, case.question_boxes) == (QUESTION, f"{QUESTION} {INSTRUCTION}")
    assert case.category == "broad_abnormality"
    assert case.tags == {"laterality": ("Right", "Left"), "subtype": ("None",)}
    for name in ("study_id", "patient_id", "context", "report", "images", "reference_boxes"):
        assert getattr(case, name) == getattr(study, name)
    assert opened.info.name == "Candidates: curated"
    assert opened.info.notice == "Made for a test."
    assert (made.studies, made.without, made.left_out) == (1, 3, ())


def test_where_a_question_comes_from_is_kept(tmp_path):
    save_review_set(curated(tmp_path / "set").review_set, tmp_path / "out")
    found = load_review_set(tmp_path / "out").case("c1-q-high").extra["curation"]
    assert found["case"] == "c1"
    assert found["candidate"] == "q-high"
    assert (found["source"], found["by"], found["prompt_id"], found["run_id"]) == (
        "model",
        "writer",
        "propose-1",
        "r1",
    )
    assert (found["chosen_by"], found["chosen"]) == ("anna", "2026-01-02T10:00:00Z")
    assert found["edited"] is False
    assert {one["by"]: one["total"] for one in found["ratings"]} == {"scorer": 18, "anna": 16}


@pytest.mark.parametrize(
    ("boxes", "question", "with_boxes"),
    [
        ("both", QUESTION, f"{QUESTION} Draw a bounding box around it."),
        ("with", f"{QUESTION} Draw a bounding box around it.", None),
        ("without", QUESTION, None),
    ],
)
def test_with_or_without_boxes(tmp_path, boxes, question, with_boxes):
    made = curated(tmp_path / "set", selections=[chosen("c2", "q-same")], boxes=boxes)
    assert made.review_set.cases.select("question", "question_boxes").row(0) == (
        question,
        with_boxes,
    )
    assert made.woven_in == ()


def test_a_question_that_a_person_wrote_for_boxes_stands(tmp_path):
    wanted = chosen("c1", "q-high", question="Which side?", boxes_question="Box the side.")
    made = curated(tmp_path / "set", selections=[wanted])
    assert made.review_set.cases.select("question", "question_boxes").row(0) == (
        "Which side?",
        "Box the side.",
    )
    extra = json.loads(made.review_set.cases["extra"][0])["curation"]
    assert (extra["edited"], extra["proposed"]) == (True, QUESTION)


def test_boxes_within_a_sentence_are_said(tmp_path):
    woven = "Where is the effusion, and can you draw a bounding box around it?"
    wanted = chosen("c1", "q-high", question=woven)
    assert curated(tmp_path / "a", selections=[wanted]).woven_in == ("c1-q-high",)
    assert curated(tmp_path / "b", selections=[wanted], boxes="with").woven_in == ()


def test_a_comparison_without_anything_to_compare_with_is_left_out_and_said(tmp_path):
    wanted = [*SELECTIONS, *(chosen(f"c{n}", "q-compare") for n in (1, 2, 3))]
    made = curated(tmp_path / "set", selections=wanted)
    assert made.review_set.cases["id"].to_list() == ["c1-q-high", "c2-q-compare"]
    assert [(one.case, one.candidate) for one in made.left_out] == [
        ("c1", "q-compare"),
        ("c3", "q-compare"),
    ]
    assert all("last radiograph" in one.why for one in made.left_out)
    assert (made.studies, made.without) == (2, 2)


def test_without_a_chosen_question_nothing_is_written(tmp_path):
    with pytest.raises(ReviewSetError, match="choose some on the page Curate"):
        curated(tmp_path / "set", selections=[])
    with pytest.raises(ReviewSetError, match="last radiograph"):
        curated(tmp_path / "other", selections=[chosen("c1", "q-compare")])


def test_ids_that_run_into_each_other_or_are_long_stay_apart(tmp_path):
    long = "x" * 199
    rows = [candidate("c1", name, COMPARING.replace("increased", name)) for name in (long, "o-1")]
    edited = "Where is the tube?"
    made = curated(
        tmp_path / "set",
        candidates=[*CANDIDATES, *rows],
        selections=[chosen("c1", name, question=edited) for name in (long, "o-1")],
    )
    ids = made.review_set.cases["id"].to_list()
    assert ids[1] == "c1-o-1"
    assert len(ids[0]) == 200
    assert ids[0].startswith("c1-xxx")
    save_review_set(made.review_set, tmp_path / "out")
    assert load_review_set(tmp_path / "out").cases["id"].to_list() == ids


def test_multiple_choice_questions_that_passed_keep_options_and_the_right_one(tmp_path):
    rows = [
        candidate(
            "c2",
            name,
            "Which side?",
            question_type="choice",
            category="location_and_distribution",
            options=["Left", "Right"],
            correct=1,
            explanation="It is blunted.",
            difficulty="easy",
        )
        for name in ("m-1", "m-2", "m-3", "m-4")
    ]
    checks = [
        {
            "case": "c2",
            "candidate": name,
            "check": check,
            "source": "rule",
            "by": "rules",
            "passed": not (name == "m-2" and check == "invented"),
        }
        for name in ("m-1", "m-2", "m-4")
        for check in CHECKS
    ]
    rejected = {**SELECTIONS[0], "case": "c2", "candidate": "m-4", "decision": "rejected"}
    made = curated(
        tmp_path / "set",
        candidates=[*CANDIDATES, *rows],
        validations=checks,
        selections=[*SELECTIONS, rejected],
        choice=True,
    )
    save_review_set(made.review_set, tmp_path / "out")
    opened = load_review_set(tmp_path / "out")
    assert opened.cases["id"].to_list() == ["c2-m-1"]
    assert made.states == {"passed": 2, "failed": 1, "untold": 1}
    case = opened.case("c2-m-1")
    assert (case.question_type, case.options, case.correct) == ("choice", ("Left", "Right"), 1)
    assert (case.question, case.question_boxes, case.difficulty) == ("Which side?", None, "easy")
    assert case.explanation == "It is blunted."
    found = case.extra["curation"]
    assert (found["case"], found["by"], found["checked_by"]) == ("c2", "writer", ["rules"])


def test_what_was_written_in_the_app_counts_with_its_history(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    reviews = open_reviews(
        load_review_set(write_candidate_set(tmp_path / "set", selections=[])), Settings()
    )
    own = {"question": "Which rib is broken?", "category": "broad_abnormality"}
    edited = {"decision": "chosen", "question": "Which rib is broken, and where?"}
    nothing = dict.fromkeys(("decision", "question", "boxes_question", "category", "comment"))
    for entry in (
        Entry("propose", "c3", None, "o-0123456789ab", value=own),
        Entry("select", "c3", None, "o-0123456789ab", value={**nothing, "decision": "chosen"}),
        Entry("select", "c3", None, "o-0123456789ab", value={**nothing, **edited}),
    ):
        reviews.record([entry], ANNA)
    made = build_curated_set(merge_reviews(reviews.review_set, reviews), history=reviews.history())
    save_review_set(made.review_set, tmp_path / "out")
    case = load_review_set(tmp_path / "out").case("c3-o-0123456789ab")
    assert case.question == "Which rib is broken, and where?"
    found = case.extra["curation"]
    assert (found["source"], found["by"], found["chosen_by"]) == ("reader", "anna", "anna")
    assert [(one["by"], one["what"]) for one in found["history"]] == [
        ("anna", "propose"),
        ("anna", "select"),
        ("anna", "select"),
    ]
    assert found["history"][2]["to"]["question"] == "Which rib is broken, and where?"
    assert found["history"][2]["from"]["question"] is None


def test_an_own_question_that_was_taken_back_is_gone_with_its_decision(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    reviews = open_reviews(load_review_set(write_candidate_set(tmp_path / "set")), Settings())
    own = {"question": "Which rib is broken?", "category": None}
    nothing = dict.fromkeys(("decision", "question", "boxes_question", "category", "comment"))
    decided = {**nothing, "decision": "chosen"}
    reviews.record([Entry("propose", "c3", None, "o-0123456789ab", value=own)], ANNA)
    reviews.record([Entry("select", "c3", None, "o-0123456789ab", value=decided)], ANNA)
    assert build_curated_set(merge_reviews(reviews.review_set, reviews)).cases == 2
    reviews.record([Entry("propose", "c3", None, "o-0123456789ab", value=None)], ANNA)
    made = build_curated_set(merge_reviews(reviews.review_set, reviews))
    assert made.review_set.cases["id"].to_list() == ["c1-q-high"]


def test_the_download_has_the_tables_and_no_folder_of_this_machine(tmp_path):
    folder = write_candidate_set(tmp_path / "set")
    text = (folder / "reviewset.yaml").read_text()
    (folder / "reviewset.yaml").write_text(f"{text}images: {folder}/images\n")
    archive = zipfile.ZipFile(
        io.BytesIO(zip_curated_set(build_curated_set(load_review_set(folder))))
    )
    assert sorted(archive.namelist()) == ["cases.jsonl", "reviewset.yaml"]
    info = archive.read("reviewset.yaml").decode()
    assert str(tmp_path) not in info
    assert "images: images/" in info
    archive.extractall(tmp_path / "out")
    assert load_review_set(tmp_path / "out").case("c1-q-high").question == QUESTION


def test_an_edit_of_spaces_is_none_and_a_choice_without_options_is_left_out(tmp_path):
    made = curated(
        tmp_path / "set",
        candidates=[*CANDIDATES, candidate("c3", "m-1", "Which?", question_type="choice")],
        selections=[chosen("c1", "q-high", question="  ", boxes_question=" "), chosen("c3", "m-1")],
    )
    assert made.review_set.cases["question"].to_list() == [QUESTION]
    assert made.review_set.cases["question_boxes"].to_list() == [f"{QUESTION} {INSTRUCTION}"]
    assert [(one.candidate, "without options" in one.why) for one in made.left_out] == [
        ("m-1", True)
    ]


def test_images_can_be_copied(tmp_path):
    made = curated(tmp_path / "set")
    save_review_set(made.review_set, tmp_path / "copied", images="copy")
    assert [one.name for one in (tmp_path / "copied" / "images").iterdir()] == ["one.png"]
    assert not [
        one for one in check_review_set(tmp_path / "copied", pixels=True) if one.severity == "error"
    ]
