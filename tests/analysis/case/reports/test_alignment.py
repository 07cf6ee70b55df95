"""Which sentence of a report stands beside which of the reference."""

from __future__ import annotations

import random

from support.rows import each_row

from rexview.analysis.case.report_comparison import (
    MAX_COMPARED_SENTENCES,
    align_sentences,
    split_reference,
)
from rexview.schema import Answer, Report

REFERENCE = Report(
    findings="The heart is normal in size. There is a small right pleural effusion. "
    "No pneumothorax. Old healed rib fractures on the left.",
    impression="Small right effusion.",
)


def aligned(text: str, report: Report = REFERENCE) -> list[tuple[str, list[str]]]:
    """Return reference sentences with those beside them; "~" is before one that stands above."""
    answer = Answer(case="c", model="m", text=text, finish_reason="stop")
    return [
        (
            row.reference.line.text if row.reference else "",
            [
                "~" * beside.again + beside.sentence.line.text
                for beside in row.by_model.get("m", ())
            ],
        )
        for row in align_sentences(split_reference(report), [answer])
    ]


def beside(text: str, words: str, report: Report = REFERENCE) -> list[str]:
    """Return what stands beside the sentence of the reference that has some words."""
    return next(found for given, found in aligned(text, report) if words in given)


def test_order_plays_no_part() -> None:
    text = "No pneumothorax is seen. Small effusion on the right side. Heart size is normal."
    found = aligned(text)
    assert found[0] == ("The heart is normal in size.", ["Heart size is normal."])
    assert found[1][1] == ["Small effusion on the right side."]
    assert found[2] == ("No pneumothorax.", ["No pneumothorax is seen."])
    assert found[3] == ("Old healed rib fractures on the left.", [])


def test_the_same_finding_belongs_together_on_the_other_side_or_denied() -> None:
    assert beside("Large left effusion.", "pleural effusion") == ["Large left effusion."]
    assert beside("No pleural effusion.", "pleural effusion") == ["No pleural effusion."]
    assert beside("There is a left pneumothorax.", "No pneumothorax") == [
        "There is a left pneumothorax."
    ]


def test_what_agrees_is_taken_before_what_contradicts() -> None:
    text = "No left pleural effusion. There is a right pleural effusion."
    report = Report(findings="Right pleural effusion. No left pleural effusion.")
    found = dict(aligned(text, report))
    assert found["Right pleural effusion."] == ["There is a right pleural effusion."]
    assert found["No left pleural effusion."] == ["No left pleural effusion."]


def test_without_findings_words_and_then_the_part_of_the_chest_decide() -> None:
    assert beside("Cardiac silhouette is unremarkable.", "heart") == [
        "Cardiac silhouette is unremarkable."
    ]
    report = Report(findings="The lungs are clear. The bones are intact.")
    text = "Osseous structures unremarkable. Lungs clear bilaterally."
    assert beside(text, "bones", report) == ["Osseous structures unremarkable."]
    assert beside(text, "lungs", report) == ["Lungs clear bilaterally."]


def test_two_findings_never_stand_beside_each_other_for_their_words_or_place() -> None:
    report = Report(findings="Mild cardiomegaly. No pneumothorax. The lungs are clear.")
    found = aligned("Mild pulmonary oedema. Small left pleural effusion.", report)
    assert found[0] == ("Mild cardiomegaly.", [])
    assert found[1] == ("No pneumothorax.", [])
    assert found[2] == ("The lungs are clear.", ["Mild pulmonary oedema."])
    assert found[3] == ("", ["Small left pleural effusion."])


def test_what_no_sentence_says_stands_alone_and_last() -> None:
    found = aligned("The patient is rotated. No pneumothorax. Nasogastric tube in the stomach.")
    assert found[-1] == ("", ["The patient is rotated.", "Nasogastric tube in the stomach."])


def test_one_sentence_for_several_stands_in_each_row() -> None:
    text = "Small right pleural effusion without pneumothorax."
    assert beside(text, "pleural effusion") == [text]
    assert beside(text, "No pneumothorax") == [f"~{text}"]


def test_several_sentences_for_one_stand_in_its_row() -> None:
    report = Report(findings="No pleural effusion or pneumothorax.")
    text = "There is no pneumothorax. There is no pleural effusion."
    assert aligned(text, report) == [
        ("No pleural effusion or pneumothorax.", text.replace("x. ", "x.|").split("|"))
    ]


def test_a_finding_said_again_goes_with_its_section() -> None:
    text = "Findings: Small right effusion. Impression: Small right effusion."
    found = [beside for _, beside in aligned(text)]
    assert found[1] == ["Small right effusion."]
    assert found[4] == ["Small right effusion."]


def test_models_stand_side_by_side_each_on_its_own() -> None:
    answers = [
        Answer(case="c", model="a", text="No pneumothorax.", finish_reason="stop"),
        Answer(case="c", model="b", text=None, finish_reason="error"),
        Answer(case="c", model="c", text="The patient is rotated.", finish_reason="stop"),
    ]
    rows = align_sentences(split_reference(REFERENCE), answers)
    assert list(rows[2].by_model) == ["a"]
    assert list(rows[-1].by_model) == ["c"]


def test_without_reference_all_stands_alone() -> None:
    assert aligned("Clear lungs. No effusion.", Report()) == [
        ("", ["Clear lungs.", "No effusion."])
    ]
    assert aligned("", Report()) == []


@each_row("seed", range(20))
def test_each_sentence_stands_in_one_row_and_no_more(seed: int) -> None:
    rng = random.Random(seed)
    said = [
        *("No pneumothorax.", "Right effusion.", "The heart is large.", "Clear lungs.", "Rotated."),
        *("Left lower lobe consolidation.", "No effusion or consolidation.", "Ask again."),
    ]
    report = Report(findings=" ".join(rng.choices(said, k=rng.randint(0, 6))))
    text = " ".join(rng.choices(said, k=rng.randint(0, 8)))
    answer = Answer(case="c", model="m", text=text, finish_reason="stop")
    rows = align_sentences(split_reference(report), [answer])
    numbers = [
        beside.sentence.line.number
        for row in rows
        for beside in row.by_model.get("m", ())
        if not beside.again
    ]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    again = {one.sentence.line.number for row in rows for one in row.by_model.get("m", ())}
    assert again == set(numbers)


def test_very_many_sentences_are_all_there() -> None:
    text = " ".join(f"Nodule number {n} is seen." for n in range(3 * MAX_COMPARED_SENTENCES))
    found = aligned(text, Report(findings=text))
    assert len(found) == 3 * MAX_COMPARED_SENTENCES + 1
    assert len(found[-1][1]) == 2 * MAX_COMPARED_SENTENCES
