import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.analysis.case.finding_links import (
    find_finding_spans,
    find_label_keys,
    find_shared_keys,
)
from rexview.schema import Answer, AnswerBox, Case, Report


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        ("Right pleural effusion", ("pleural_fluid",)),
        ("consolidation, right middle lobe", ("airspace_opacity",)),
        ("left gizmos", ("words-gizmo",)),
        ("Left lower zone", ()),
        ("", ()),
        ("1234 %", ()),
    ],
)
def test_keys_of_labels(label, keys):
    assert find_label_keys(label) == keys


def test_a_label_may_name_two_findings():
    assert set(find_label_keys("effusion and pneumothorax")) == {"pleural_fluid", "pneumothorax"}


def found(text, *labels):
    keys = [key for label in labels for key in find_label_keys(label)]
    return [
        (text[link.start : link.end].lower(), link.key)
        for link in find_finding_spans(text, keys)
        if not link.is_side
    ]


def test_other_words_for_a_finding_are_linked_whatever_is_said_of_it():
    text = "Right pleural effusion. No PTX. Pneumonia is not excluded."
    keys = [key for _, key in found(text)]
    assert keys == ["pleural_fluid", "pneumothorax", "airspace_opacity"]


def test_a_link_tells_side_and_status():
    abouts = {
        link.about for link in find_finding_spans("No left pneumothorax.") if not link.is_side
    }
    assert abouts == {"pneumothorax, left, reported as absent"}


def test_the_words_of_the_side_are_linked_too():
    text = "Opacity. It lies in the left base."
    sides = [text[link.start : link.end] for link in find_finding_spans(text) if link.is_side]
    assert sides == ["left"]


def test_a_label_that_the_lexicon_does_not_know_is_met_by_its_words():
    assert found("Two Gizmos.", "left gizmo") == [("gizmos", "words-gizmo")]
    assert found("Two Gizmos.") == []


def test_what_only_one_place_speaks_of_is_not_shared():
    case = Case("c", "q", report=Report("Right effusion. Rib fracture.", "Effusion."))
    answers = [
        Answer("c", "m", "Left pleural effusion.", boxes=(AnswerBox("i", "gizmo", (1, 1, 2, 2)),)),
        Answer("c", "n", "A gizmo."),
    ]
    assert find_shared_keys(case, answers) == {"pleural_fluid", "words-gizmo"}


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_text_and_labels(text, labels):
    keys = [key for label in labels for key in find_label_keys(label)]
    assert not any(character.isspace() for key in keys for character in key)
    for link in find_finding_spans(text, keys):
        assert 0 <= link.start < link.end <= len(text)
