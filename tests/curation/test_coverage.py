"""What the chosen questions cover, and what is missing."""

from support.curation.candidate_set import SELECTIONS, write_candidate_set

from rexview.curation.candidates import summarize_candidates
from rexview.curation.coverage import CATEGORY, count_coverage
from rexview.reviewset import load_review_set


def covered(folder, targets=None, **tables):
    by_case = summarize_candidates(load_review_set(write_candidate_set(folder, **tables)))
    return count_coverage([one for some in by_case.values() for one in some], targets)


def numbers(rows):
    return {row.value: (row.chosen, row.offered, row.missing) for row in rows}


def test_categories_and_tags_count_chosen_and_offered_questions(tmp_path):
    found = covered(tmp_path / "set")
    assert (found.chosen, found.offered, found.studies) == (1, 8, 1)
    assert numbers(found.parts[CATEGORY]) == {
        "broad_abnormality": (1, 2, 0),  # one of them was put there by who chose it
        "diagnostic_reasoning": (0, 0, 1),
        "measurement_temporal": (0, 1, 1),
        None: (0, 5, 0),
    }
    assert [row.value for row in found.parts[CATEGORY]][::3] == ["broad_abnormality", None]
    assert numbers(found.parts["laterality"]) == {
        "Right": (1, 1, 0),
        "Left": (1, 1, 0),
        None: (0, 7, 0),
    }
    assert numbers(found.parts["subtype"]) == {"None": (1, 1, 0), None: (0, 7, 0)}
    assert numbers(found.parts["pathology_type"]) == {None: (1, 8, 0)}


def test_targets_say_how_many_are_missing(tmp_path):
    targets = {CATEGORY: {"broad_abnormality": 3}, "laterality": {"Bilateral": 2, "Left": 1}}
    found = covered(tmp_path / "set", targets)
    assert numbers(found.parts[CATEGORY])["broad_abnormality"] == (1, 2, 2)
    assert numbers(found.parts["laterality"])["Bilateral"] == (0, 0, 2)
    assert numbers(found.parts["laterality"])["Left"] == (1, 1, 0)


def test_two_questions_of_a_study_are_of_one_study(tmp_path):
    more = {"case": "c1", "candidate": "q-low", "reader": "anna", "decision": "chosen"}
    found = covered(tmp_path / "set", selections=[SELECTIONS[0], more])
    assert (found.chosen, found.studies) == (2, 1)
