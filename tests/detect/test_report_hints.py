"""Hints of invented, missed and wrongly named findings: both ways for each rule."""

from __future__ import annotations

import pytest

from rexview.detect import flags_for
from rexview.detect.findings.lexicon import lexicon
from rexview.detect.report_hints import MAJOR, InventedFinding, MissedFinding, WrongAbnormality
from rexview.schema import Answer, Case, Report
from rexview.vocab import HINT_KINDS

DETECTORS = {
    "invented": InventedFinding(),
    "missed": MissedFinding(),
    "wrong": WrongAbnormality(),
}


def hints(
    report: str,
    text: str,
    *,
    question: str = "What is abnormal?",
    kind: str = "open",
    impression: str | None = None,
    finish: str = "stop",
) -> dict[str, list[str]]:
    """What each detector says, with everything that a hint has to have checked."""
    case = Case("c", question, question_type=kind, report=Report(report, impression))
    answer = Answer("c", "g", text=text, finish_reason=finish)
    found: dict[str, list[str]] = {}
    for name, detector in DETECTORS.items():
        flags = flags_for(case, [answer], detectors=[detector])
        for flag in flags:
            assert flag.kind in HINT_KINDS
            assert flag.is_hint
            assert flag.message.startswith("Possibl")
            assert flag.evidence
            for item in flag.evidence:
                source = text if item.where == "answer" else getattr(case.report, item.field or "")
                assert item.start is not None
                assert item.text
                assert item.text.rstrip(" .") in source[item.start : item.end]
        if flags:
            found[name] = [flag.message for flag in flags]
    return found


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("No pleural effusion.", "There is a small left pleural effusion."),
        ("No pneumothorax on either side.", "Right apical pneumothorax."),
        ("Heart size normal. The lungs are clear.", "There is a nodule in the left upper lobe."),
        ("Left effusion. The right lung is clear.", "Left effusion and right consolidation."),
        ("There is no pneumonia.", "Right lower lobe pneumonia."),
    ],
)
def test_invented(report: str, text: str) -> None:
    assert "invented" in hints(report, text)


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("Small left effusion.", "There is a small left pleural effusion."),
        ("No large effusion.", "There is a small left pleural effusion."),
        ("No left effusion.", "Right effusion."),
        ("No acute fracture.", "Old rib fracture."),
        ("Heart normal.", "There is a small left pleural effusion."),
        ("No pneumothorax.", "No pneumothorax."),
        ("No pneumothorax.", "A pneumothorax cannot be excluded."),
        ("No pneumothorax.", "If there were a pneumothorax, a lung edge would be seen."),
        ("The left lung is clear.", "Consolidation at the right base."),
        ("Right nodule. Otherwise, the lungs are clear.", "Consolidation at the right base."),
        ("Small effusion. No effusion on the right.", "Small effusion."),
        ("The lungs are clear. Calcified granuloma.", "Calcified granuloma."),
    ],
)
def test_not_invented(report: str, text: str) -> None:
    assert "invented" not in hints(report, text)


@pytest.mark.parametrize(
    ("report", "text", "how"),
    [
        ("There is a left pneumothorax.", "The heart is normal.", "does not mention"),
        ("There is a left pneumothorax.", "There is no pneumothorax.", "denies"),
        ("Large mass in the left mid zone.", "No acute abnormality.", "does not mention"),
        ("Cardiomegaly.", "The heart is not enlarged.", "denies"),
    ],
)
def test_missed(report: str, text: str, how: str) -> None:
    (message,) = hints(report, text)["missed"]
    assert how in message


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("There is a left pneumothorax.", "There is a left pneumothorax."),
        ("There is a left pneumothorax.", "A pneumothorax is possible."),
        ("There is a left pneumothorax.", "There is a right pneumothorax."),
        ("Possible pneumonia at the left base.", "The heart is normal."),
        ("No pneumothorax.", "The heart is normal."),
        ("Scoliosis. Calcified granuloma. Sternotomy wires.", "The heart is normal."),
        ("An endotracheal tube is in place.", "The heart is normal."),
        ("Old healed rib fractures.", "The heart is normal."),
        ("Mild cardiomegaly.", "Lungs clear."),
        ("Consolidation at the left base.", "Opacity at the left base."),
        ("Left basal opacity.", "Left basal atelectasis."),
        ("", "The heart is normal."),
    ],
)
def test_not_missed(report: str, text: str) -> None:
    assert "missed" not in hints(report, text)


def test_what_is_mild_counts_when_the_impression_names_it() -> None:
    assert "missed" in hints("Mild oedema.", "Lungs clear.", impression="Mild pulmonary oedema.")


class TestWhatIsAsked:
    REPORT = "Large heart: cardiomegaly. Large left pleural effusion."

    @pytest.mark.parametrize(
        ("question", "missed"),
        [
            ("Describe all pleural abnormalities.", 1),
            ("Measure the cardiothoracic ratio.", 1),
            ("Are there signs of heart failure?", 2),
            ("Which cardiac device is in place?", 0),
            ("Is there a fracture?", 0),
            ("Compare with the earlier film. What is new?", 2),
        ],
    )
    def test_only_regions_of_the_question(self, question: str, missed: int) -> None:
        found = hints(self.REPORT, "The film is well exposed.", question=question)
        assert len(found.get("missed", [])) == missed

    def test_a_report_is_about_everything(self) -> None:
        found = hints(self.REPORT, "The film is fine.", question="Report the heart.", kind="report")
        assert len(found["missed"]) == 2


def test_a_letter_misses_nothing() -> None:
    assert hints("There is a left pneumothorax.", "B", kind="choice") == {}


@pytest.mark.parametrize("finish", ["length", "error", "content_filter"])
def test_an_answer_that_never_came_gives_no_hints(finish: str) -> None:
    assert hints("There is a left pneumothorax.", "The heart is", finish=finish) == {}


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("Consolidation in the right middle lobe.", "Right pleural effusion, lower hemithorax."),
        ("Left lower lobe pneumonia.", "Collapse of the left lower lobe: atelectasis."),
    ],
)
def test_wrong_type(report: str, text: str) -> None:
    found = hints(report, text)
    assert "wrong" in found
    assert "missed" not in found  # said once, not twice


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("Consolidation in the right middle lobe.", "Left pleural effusion."),
        ("Consolidation in the right upper lobe.", "Pleural effusion at the right base."),
        ("Right pneumonia.", "Right consolidation."),
        ("Right pneumonia and right effusion.", "Right effusion."),
        ("Right basal opacity.", "Right basal atelectasis."),
        ("Right mid zone nodule.", "Right pleural effusion."),
        ("Right pneumonia.", "Right nodule."),
        ("Right rib fracture.", "Right pleural effusion."),
        ("Right pneumonia.", "Right PICC."),
    ],
)
def test_not_wrong_type(report: str, text: str) -> None:
    assert "wrong" not in hints(report, text)


def test_the_findings_that_matter_are_in_the_lexicon() -> None:
    families = {finding.family for finding in lexicon().findings.values()}
    assert families >= MAJOR
