"""Studies with their candidates, as the page Curate is to show them."""

import pytest
from support.curation.candidate_set import CANDIDATES, SELECTIONS, candidate, write_candidate_set

from rexview.analysis import curation as studies
from rexview.analysis.curation import build_curation
from rexview.reviewset import load_review_set


def opened(folder, **tables):
    return build_curation(load_review_set(write_candidate_set(folder, **tables)))


@pytest.fixture
def curation(tmp_path):
    return opened(tmp_path / "set")


def test_candidates_stand_by_our_sum_of_the_models_scores_unscored_ones_last(curation):
    views = curation.study("c1").candidates
    sums = [
        (view.candidate.id, getattr(view.candidate.model_rating, "total", None)) for view in views
    ]
    assert sums == [("q-high", 18), ("q-compare", 12), ("q-low", 11), ("q-unscored", None)]


def test_a_sum_that_the_model_got_wrong_stands_beside_ours(curation):
    rating = curation.view("c1", "q-low").candidate.model_rating
    assert (rating.total, rating.stated_total, rating.misstated, rating.risk) == (
        11,
        13,
        True,
        True,
    )
    assert not curation.view("c1", "q-high").candidate.model_rating.misstated
    assert not curation.view("c1", "q-compare").candidate.model_rating.misstated


def test_what_people_gave_stands_beside_the_model_and_their_tags_win(curation):
    high = curation.view("c1", "q-high").candidate
    assert high.people["anna"].total == 16
    assert high.tags == {"laterality": ("Right", "Left"), "subtype": ("None",)}
    assert high.tagged_by == "anna"
    assert (high.decision, high.category, high.proposed_category) == (
        "chosen",
        "broad_abnormality",
        "diagnostic_reasoning",
    )


def test_a_comparison_is_blocked_where_there_is_nothing_to_compare_with(curation):
    blocked = {study.case: study.blocked for study in curation.studies}
    assert blocked == {"c1": 1, "c2": 0, "c3": 1, "c4": 1}
    assert "last radiograph" in curation.view("c1", "q-compare").blocked


def test_near_duplicates_are_found_across_studies_whether_they_ask_for_boxes_or_not(curation):
    (other,) = curation.view("c1", "q-high").alike
    assert (other.case, other.candidate, round(other.similarity, 6)) == ("c2", "q-same", 1.0)
    assert {one.case for one in curation.view("c3", "q-compare").alike} == {"c1", "c2", "c4"}


def test_a_study_is_done_once_one_is_chosen_or_all_are_rejected(tmp_path):
    rejected = [
        {"case": "c2", "candidate": name, "reader": "anna", "decision": "rejected"}
        for name in ("q-same", "q-compare")
    ]
    edited = {"case": "c3", "candidate": "q-compare", "reader": "anna", "question": "Where is it?"}
    curation = opened(tmp_path / "set", selections=[*SELECTIONS, *rejected, edited])
    states = {study.case: study.state for study in curation.studies}
    assert states == {"c1": "done", "c2": "done", "c3": "open", "c4": "open"}
    view = curation.view("c3", "q-compare")
    assert view.candidate.edited
    assert view.candidate.question == "Where is it?"
    assert view.blocked is None


def test_studies_stand_in_the_order_of_the_set_with_or_without_candidates(tmp_path):
    curation = opened(
        tmp_path / "set",
        candidates=[one for one in CANDIDATES if one["case"] == "c4"],
        **{name: [] for name in ("candidate_ratings", "candidate_tags", "selections")},
    )
    assert [study.case for study in curation.studies] == ["c1", "c2", "c3", "c4"]
    assert [study.title for study in curation.studies] == ["s1 · Cough.", "s2", "s3", "s4"]
    assert [len(study.candidates) for study in curation.studies] == [0, 0, 0, 1]
    assert {study.state for study in curation.studies} == {"open"}


def test_multiple_choice_candidates_are_asked_for_by_themselves(tmp_path):
    choice = candidate(
        "c1", "m-1", "Which side?", question_type="choice", options=["Left", "Right"], correct=1
    )
    review_set = load_review_set(
        write_candidate_set(tmp_path / "set", candidates=[*CANDIDATES, choice])
    )
    assert build_curation(review_set).view("c1", "m-1") is None
    found = build_curation(review_set, question_type="choice")
    assert found.view("c1", "m-1").candidate.options == ("Left", "Right")
    assert sum(len(study.candidates) for study in found.studies) == 1


def test_one_question_for_each_of_a_thousand_studies_is_compared_once(tmp_path, monkeypatch):
    compared = []
    monkeypatch.setattr(
        studies, "find_similar_pairs", lambda texts, _: compared.extend(texts) or ()
    )
    folder = write_candidate_set(
        tmp_path / "set",
        candidates=[candidate(f"c{n}", "q-1", "What is in the apex?") for n in (1, 2, 3)],
    )
    views = [study.candidates[0] for study in build_curation(load_review_set(folder)).studies[:3]]
    assert compared == ["What is in the apex?"]
    assert [[one.case for one in view.alike] for view in views] == [
        ["c2", "c3"],
        ["c1", "c3"],
        ["c1", "c2"],
    ]
