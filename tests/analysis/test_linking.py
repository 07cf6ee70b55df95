import pytest
from hypothesis import given
from hypothesis import strategies as st

from rexview.analysis.linking import find_mentions, link_key


@pytest.mark.parametrize(
    ("label", "finding"),
    [
        ("Right pleural effusion", "pleural effusion"),
        ("consolidation, right middle lobe", "consolidation"),
        ("Effusions (L)", "effusion"),
        ("tip of the endotracheal tube", "endotracheal tube"),
        ("Cardiomegaly", "cardiomegaly"),
        ("pneumothorax", "pneumothorax"),
        ("Left lower zone", None),
        ("", None),
        ("1234 %", None),
    ],
)
def test_findings_of_labels(label, finding):
    assert link_key(label) == finding


def found(text, *labels):
    findings = [finding for label in labels if (finding := link_key(label))]
    return [
        (text[mention.start : mention.end], mention.finding)
        for mention in find_mentions(text, findings)
    ]


def test_a_finding_is_met_in_full_by_its_last_word_and_in_the_plural():
    text = (
        "Bilateral pleural effusions. The EFFUSION is small; effusive is not it. Pleural\neffusion."
    )
    assert found(text, "right pleural effusion") == [
        ("pleural effusions", "pleural effusion"),
        ("EFFUSION", "pleural effusion"),
        ("Pleural\neffusion", "pleural effusion"),
    ]


def test_a_last_word_that_two_findings_share_is_nobodys():
    text = "The tube is high. The gastric tube and the endotracheal tube are in place."
    assert found(text, "gastric tube", "endotracheal tube") == [
        ("gastric tube", "gastric tube"),
        ("endotracheal tube", "endotracheal tube"),
    ]


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_text_and_labels(text, labels):
    findings = [finding for label in labels if (finding := link_key(label))]
    position = 0
    for mention in find_mentions(text, findings):
        assert position <= mention.start < mention.end <= len(text)
        assert mention.finding in findings
        position = mention.end
