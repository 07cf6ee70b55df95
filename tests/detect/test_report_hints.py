"""Hints of invented, missed and wrongly named findings: both ways for each rule."""

from __future__ import annotations

import pytest
from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.detect.claimed_findings import MAJOR_FAMILIES
from rexview.detect.denials import _SAID
from rexview.detect.report_comparison import _LASTING, _LOOSE, _RELATED, URGENT_FAMILIES
from rexview.detect.report_hints import (
    InventedFinding,
    MissedFinding,
    WrongAbnormality,
)
from rexview.schema import Answer, Case, Report
from rexview.text.findings.lexicon import lexicon
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
        flags = find_flags_for_answers(case, [answer], detectors=[detector])
        for flag in flags:
            outright = flag.kind == "contradiction" and name == "missed"
            assert outright or flag.kind in HINT_KINDS
            assert flag.is_hint is not outright
            assert flag.message.startswith("The report has" if outright else "Possibl")
            assert flag.evidence
            for item in flag.evidence:
                source = text if item.where == "answer" else getattr(case.report, item.field or "")
                assert item.start is not None
                assert item.text
                assert item.text.rstrip(" .") in source[item.start : item.end]
        if flags:
            found[name] = [flag.message for flag in flags]
    return found


@each_row(
    ("report", "text"),
    [
        ("No pleural effusion.", "There is a small left pleural effusion."),
        ("No pneumothorax on either side.", "Right apical pneumothorax."),
        ("Heart size normal. The lungs are clear.", "There is a nodule in the left upper lobe."),
        ("Left effusion. The right lung is clear.", "Left effusion and right consolidation."),
        ("There is no pneumonia.", "Right lower lobe pneumonia."),
        ("Clear lungs.", "Right lower lobe pneumonia."),
        ("Heart size is within normal limits.", "Moderate cardiomegaly."),
        ("Lungs clear.", "Left chest port with its tip in the SVC."),
        ("No pneumothorax or fracture.", "Left third rib fracture."),
        ("Lungs clear.", "Sternotomy wires."),
        ("Lungs clear.", "| Other | Prior sternotomy |"),
        ("The left lung is clear.", "Consolidation at the right base."),
        ("Lungs clear.", "Healed fracture of the right sixth rib."),
        ("Lungs clear.", "| Bones | Compression deformity at T8 |"),
        ("NG tube removed. Lungs clear.", "Nasogastric tube with its tip in the stomach."),
        ("Heart normal.", "There is a small left pleural effusion."),
    ],
)
def test_invented(report: str, text: str) -> None:
    assert "invented" in hints(report, text)


@each_row(
    ("report", "text"),
    [
        ("Small left effusion.", "There is a small left pleural effusion."),
        ("No large effusion.", "There is a small left pleural effusion."),
        ("Blunted left costophrenic angle.", "Left pleural thickening."),
        ("Lines and tubes are unchanged. Clear lungs. Old TB.", "Endotracheal tube in place."),
        ("No significant interval change.", "Right PICC. Moderate cardiomegaly."),
        ("Sternal closure, wires intact.", "Sternotomy wires."),
        ("NG tube in the stomach, tip not seen.", "Enteric tube below the diaphragm."),
        ("Heart of normal size.", "| Pneumothorax | None |\n| Effusion | 0.06 |"),
        ("Right pneumothorax.", "- [x] Pneumothorax\n- [ ] Cardiomegaly\n- [ ] Rib fracture"),
        ("Right hilar lymphadenopathy. Lungs clear.", "Right hilar mass."),
        ("Hyperinflation.", "Emphysema."),
        ("Left chest port.", "Left central line."),
        ("Right tension pneumothorax.", "Right pneumothorax, heart displaced to the left."),
        ("Right basal opacity.", "The mitral valve is not seen to move."),
        ("No left effusion.", "Right effusion."),
        ("No acute fracture.", "Old rib fracture."),
        ("No pneumothorax.", "No pneumothorax."),
        ("No pneumothorax.", "A pneumothorax cannot be excluded."),
        ("No pneumothorax.", "If there were a pneumothorax, a lung edge would be seen."),
        ("Right nodule. Otherwise, the lungs are clear.", "Consolidation at the right base."),
        ("Small effusion. No effusion on the right.", "Small effusion."),
        ("The lungs are clear. Calcified granuloma.", "Calcified granuloma."),
    ],
)
def test_not_invented(report: str, text: str) -> None:
    assert "invented" not in hints(report, text)


def test_an_impression_alone_is_not_silent_about_the_rest() -> None:
    assert hints("", "Left port. Cardiomegaly.", impression="No acute disease.") == {}
    found = hints("", "Left effusion.", impression="No pleural effusion.")
    assert "invented" in found


THOUGHT = (
    "Let me go through this. I see a left chest port, or is it a rib fracture? A granuloma, no, "
    "I take that for a vessel."
)


@pytest.mark.parametrize(
    ("end", "invented"), [("Impression: clear lungs.", 0), ("Answer: left chest port.", 1)]
)
def test_what_is_weighed_aloud_is_no_claim_until_it_is_concluded(end: str, invented: int) -> None:
    found = hints("Lungs clear. Heart normal.", f"{THOUGHT}\n\n{end}")
    assert len(found.get("invented", [])) == invented


@each_row(
    ("report", "text", "how"),
    [
        ("There is a left pneumothorax.", "The heart is normal.", "does not mention"),
        ("There is a left pneumothorax.", "There is no pneumothorax.", "says “no pneumothorax”"),
        ("Large mass in the left mid zone.", "No acute abnormality.", "does not mention"),
        ("Cardiomegaly.", "The heart is not enlarged.", "says “not enlarged”"),
        ("Cardiomegaly.", "Normal cardiac silhouette.", "denies"),
        ("Left rib fractures.", "The ribs and clavicles appear intact.", "denies"),
        ("Left rib fracture.", "No acute bony abnormality.", "denies"),
        ("Old healed rib fractures.", "No acute bony abnormality.", "does not mention"),
        ("Widened mediastinum.", "The mediastinal contours are normal.", "denies"),
        ("Left basal consolidation.", "Clear lungs.", "denies"),
        ("Old healed rib fractures.", "The heart is normal.", "does not mention"),
        ("Mild cardiomegaly.", "Lungs clear.", "does not mention"),
        ("Prior sternotomy.", "Lungs clear.", "does not mention"),
        ("Hx of previous left rib fractures.", "Lungs clear.", "does not mention"),
        ("Dextrocardia.", "Left effusion.", "does not mention"),
        ("Dextroscoliosis.", "Left effusion.", "does not mention"),
        ("Cervical rib, left.", "Left effusion.", "does not mention"),
        ("Left lower lobe resection.", "Large hiatus hernia.", "does not mention"),
        ("Cardiomegaly.", "A large left effusion.", "does not mention"),
    ],
)
def test_missed(report: str, text: str, how: str) -> None:
    (message,) = hints(report, text)["missed"]
    assert how in message


@each_row(
    ("report", "text"),
    [
        ("There is a left pneumothorax.", "There is a left pneumothorax."),
        ("There is a left pneumothorax.", "A pneumothorax is possible."),
        ("There is a left pneumothorax.", "There is a right pneumothorax."),
        ("Possible pneumonia at the left base.", "The heart is normal."),
        ("No pneumothorax.", "The heart is normal."),
        ("Prior left effusion has resolved.", "The heart is normal."),
        ("Consolidation at the left base.", "Opacity at the left base."),
        ("Left basal opacity.", "Left basal atelectasis."),
        ("Median sternotomy wires.", "Previous bypass surgery."),
        ("Right PICC.", "Central line from the right."),
        ("Left port.", '{"devices": {"port": {"chest_wall": "left"}}}'),
        ("Small right effusion.", "A little fluid remains on the right."),
        ("ETT and NG tube.", "Lines/tubes as before."),
        ("Chest tube, side port outside the pleural space.", "Chest tube on the right."),
        ("", "The heart is normal."),
        # what a patient or a clerk would call it
        ("Small right effusion.", "A little water at the bottom on the right."),
        ("Left pneumothorax.", "The collapsed left lung has opened up."),
        ("Left lower lobe resection.", "After operation of the left lower lobe."),
        ("Dextrocardia.", "Heart on the right."),
        ("Dextroscoliosis.", "The backbone bows toward the right."),
        ("9 mm nodule, right.", "A little spot on the right."),
        ("Cervical rib, left.", "Accessory rib at C7."),
        ("Cardiomegaly.", "Heart: much too big."),
    ],
)
def test_not_missed(report: str, text: str) -> None:
    assert "missed" not in hints(report, text)


@each_row(
    ("report", "other_words"),
    [
        ("Endotracheal tube.", "ETT"),
        ("Enteric tube.", "OGT"),
        ("Gastrostomy tube.", "PEG"),
        ("Tracheostomy tube.", "trach"),
        ("Umbilical venous catheter.", "UVC"),
        ("Swan-Ganz catheter.", "pulmonary artery catheter"),
        ("Left dialysis catheter.", "left HD line"),
        ("Mediastinal drain.", "mediastinal drains"),
        ("Epidural catheter.", "epidural"),
        ("Oesophageal temperature probe.", "esophageal temp probe"),
        ("VP shunt catheter.", "ventriculoperitoneal shunt"),
        ("Vagus nerve stimulator.", "VNS"),
        ("Loop recorder.", "implantable loop recorder"),
        ("IABP.", "intra-aortic balloon pump"),
        ("IVC filter.", "inferior vena cava filter"),
        ("Aortic valve replacement.", "AVR"),
        ("Coronary stents.", "stent graft"),
        ("Breast implants.", "tissue expander"),
        ("Shoulder hemiarthroplasty.", "shoulder replacement"),
        ("Harrington rods.", "spinal hardware"),
        ("Lobectomy.", "lung resection"),
        ("Oesophagectomy.", "gastric pull-up"),
        ("Osteopenia.", "demineralization"),
        ("Cervical rib.", "cervical ribs"),
        ("Gastric distention.", "distended stomach"),
        ("Mitral annular calcification.", "calcified mitral annulus"),
        ("Thyroid goitre.", "goiter"),
        ("Enlarged pulmonary arteries.", "pulmonary hypertension"),
        ("Subcutaneous emphysema.", "subq air"),
        ("Right rib fracture.", "rib fx"),
    ],
)
def test_each_family_is_missed_under_one_name_and_found_under_another(
    report: str, other_words: str
) -> None:
    assert "missed" in hints(report, "The film is well exposed.")
    assert hints(report, f"There is {other_words}.") == {}
    assert "invented" in hints("The film is well exposed.", f"There is {other_words}.")


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

    def test_what_is_urgent_is_missed_whatever_was_asked(self) -> None:
        report = "Left lung mass. Scoliosis. Right PICC."
        found = hints(report, "No.", question="Is there cardiomegaly?")
        assert len(found["missed"]) == 1
        assert "mass" in found["missed"][0]

    def test_devices_are_asked_for_by_devices(self) -> None:
        report = "Right PICC. Scoliosis. Small left effusion."
        (message,) = hints(report, "None.", question="Describe all lines and tubes.")["missed"]
        assert "PICC" in message

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
    assert families >= MAJOR_FAMILIES | URGENT_FAMILIES | _LASTING
    assert families >= set(_RELATED) | set(_LOOSE)
    assert families >= {family for _, named in _SAID.values() for family in named}


@each_row(
    ("report", "text", "invented"),
    [
        # words left over in the report may mean it
        ("Heart normal. Tube in place on the left.", "Left chest tube.", False),
        ("Heart normal. ETT in place.", "Left chest tube. ETT.", True),
        ("Old deformity of the shoulder girdle.", "Old fracture of the right fourth rib.", False),
        ("Heart normal. Degenerative spine.", "Old fracture of the right fourth rib.", True),
        # a name that may stand for something else, and a word that needs a part of the body
        ("Left pneumothorax.", "Left pneumothorax, ICD in place.", False),
        ("Left pneumothorax.", "Left pneumothorax, pacemaker in place.", True),
        # what is only thought of, to be looked for, or gone
        ("Right mass.", "Right mass. DDx: metastasis, infarct.", False),
        ("Right mass.", "Right mass; a pneumothorax should be looked for.", False),
        ("Right mass.", "Right mass; not to be taken for an effusion.", False),
        ("Previous right pneumothorax has resolved.", "R PTX gone.", False),
        ("Right mass.", "Right mass and pneumothorax.", True),
        # an opacity may be what the report calls by its name
        ("Loculated effusion in the fissure.", "Lenticular opacity in the fissure.", False),
        ("Normal heart. Sternotomy wires.", "Lenticular opacity at the left base.", True),
    ],
)
def test_a_claim_is_new_only_beside_a_report_that_was_understood(report, text, invented):
    assert bool(hints(report, text).get("invented")) is invented


@pytest.mark.parametrize(
    ("question", "missed"),
    [
        ("Describe this radiograph.", ["scoliosis"]),
        ("What are the findings?", ["scoliosis"]),
        ("Where does the tip of the catheter end?", []),
        ("Which side is it on?", []),
        ("Has the scoliosis progressed?", []),
    ],
)
def test_what_was_not_asked_for_is_not_missed(question, missed):
    found = hints("Scoliosis. Right PICC.", "Tip in the right atrium, PICC.", question=question)
    said = found.get("missed", [])
    assert len(said) == len(missed)
    assert all(name in message for name, message in zip(missed, said, strict=True))


@pytest.mark.parametrize("text", ["NAD.", "Normal chest.", "No abnormality detected."])
def test_an_answer_that_calls_all_normal_denies_what_there_is(text):
    (message,) = hints("Moderate hiatus hernia.", text)["missed"]
    assert "denies it" in message


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("Bones: left cervical rib.", "| Lungs? | Clear |\n|---|---|\n| Bones? | Normal |"),
        ("Soft tissue: left mastectomy.", "Lungs: clear. Soft tissue: unremarkable."),
        ("Abdomen: distended bowel.", "Lungs: clear. Abdomen: nothing of note."),
    ],
)
def test_a_part_that_is_called_normal_denies_what_lies_there(report, text):
    (message,) = hints(report, text)["missed"]
    assert "denies it" in message
    (message,) = hints(report, text.partition("Clear")[0].partition("clear")[0])["missed"]
    assert "does not mention it" in message


@each_row(
    ("report", "answer", "question", "missed"),
    [
        # a question about one device, or a side, asks for no other device
        (
            "Left chest drain. Sternotomy wires.",
            "One, on the left.",
            "Is there a chest drain?",
            False,
        ),
        ("Left chest drain. Sternotomy wires.", "A left drain.", "Describe all devices.", True),
        ("Left shoulder prosthesis. Scoliosis.", "On the left.", "Which side is it on?", False),
        ("Left pneumothorax. Left mass.", "Left.", "Left or right?", False),
        # what is known to be without injury has none
        ("Right rib fractures.", "No traumatic abnormality detected.", "Describe.", False),
        ("Right rib fractures.", "Heart not enlarged.", "Describe.", True),
        # the lung beside a pneumothorax is collapsed, it goes without saying
        ("Left pneumothorax, collapse of the left lung.", "Left pneumothorax.", "Describe.", False),
        ("Atelectasis of the left base.", "Heart of normal size.", "Describe.", True),
        # what is meant for one finding is not meant for another one elsewhere
        ("Right nodule. Calcified granuloma, left.", "Nodule on the right.", "Describe.", True),
        ("Calcified granuloma, left.", "Nodule on the left.", "Describe.", False),
        ("ETT and NGT in place.", "ETT well placed. Lungs clear.", "Describe.", True),
        # a disease named for what is seen is no finding beside it; alone it is one
        ("Hilar adenopathy, consider sarcoid.", "Hilar adenopathy.", "Describe.", False),
        ("Known sarcoid. Scoliosis.", "Scoliosis.", "Describe.", True),
        # a name that may stand for something else: an intercostal drain
        ("ICD on the left.", "Heart of normal size.", "Describe.", False),
        ("Pacemaker on the left.", "Heart of normal size.", "Describe.", True),
    ],
)
def test_what_goes_without_saying_is_not_missed(report, answer, question, missed):
    found = hints(report, answer, question=question).get("missed", [])
    assert any("does not mention" in one for one in found) is missed


SCOPED = (
    "Left lower lobe consolidation. Calcified granuloma in the right upper lobe. "
    "Old right rib fractures. Scoliosis."
)


@each_row(
    "question",
    [
        "Any pneumonia?",
        "yes/no: infection",
        "Is there evidence of infection?",
        "Rule out CHF",
        "Please check for oedema",
        "Does he have cancer?",
        "COPD?",
        "Anything acute?",
        "Any emergent finding?",
        "Is there an urgent abnormality?",
        "Comment on the left base.",
        "Is the left lung clear?",
        "Describe the consolidation in the left lower lobe.",
        "List the devices.",
        "What side is the consolidation on?",
    ],
)
def test_what_a_question_does_not_ask_about_is_not_missed(question):
    text = "Consolidation in the left lower lobe."
    assert "missed" not in hints(SCOPED, text, question=question)


@pytest.mark.parametrize(
    ("question", "missed"),
    [
        ("Describe all findings.", ["granuloma", "rib fracture", "scoliosis"]),
        ("Report please.", ["granuloma", "rib fracture", "scoliosis"]),
        ("Any acute finding? Write a report.", ["granuloma", "rib fracture", "scoliosis"]),
        ("Analyse this film systematically.", ["granuloma", "rib fracture", "scoliosis"]),
        ("How is the right upper lobe?", ["granuloma"]),
        ("Look at the right apex.", ["granuloma"]),
        ("Describe the lungs.", ["granuloma"]),
        ("Assess the bones.", ["rib fracture", "scoliosis"]),
        ("TL;DR", ["granuloma", "rib fracture", "scoliosis"]),
        ("Return each finding with its side, one per line.", ["granuloma", "rib", "scoliosis"]),
    ],
)
def test_what_a_question_asks_about_is_missed(question, missed):
    found = hints(SCOPED, "Consolidation in the left lower lobe.", question=question)
    assert len(found["missed"]) == len(missed)
    assert all(name in one for name, one in zip(missed, found["missed"], strict=True))


@each_row("question", ["Line placement check", "Describe the devices.", "Is the heart enlarged?"])
@each_row(
    ("report", "missed"),
    [
        ("Right apical pneumothorax.", True),
        ("Nodule in the left upper lobe.", True),
        ("Trace right pneumothorax, smaller.", False),
        ("Old healed rib fracture on the left.", False),
    ],
)
def test_what_is_urgent_is_never_left_unsaid(question, report, missed):
    found = hints(report, "The tube lies in the trachea.", question=question)
    assert ("missed" in found) is missed


@pytest.mark.parametrize(
    "slight",
    [
        "Degenerative changes of the spine.",
        "Thoracic spondylosis.",
        "Osteopenia.",
        "Demineralised bones.",
        "Tortuous aorta.",
        "Aortic calcification.",
        "Unfolded aorta.",
        "Azygos lobe.",
        "Nipple ring.",
        "Earring artefact.",
    ],
)
def test_a_slight_finding_beside_a_graver_one_is_not_missed(slight):
    assert "missed" not in hints(f"Right basal consolidation. {slight}", "Right consolidation.")


@pytest.mark.parametrize(
    ("report", "question"),
    [
        ("Lungs clear. Tortuous aorta.", "Describe."),
        ("Lungs clear. Osteopenia.", "Describe."),
        ("Right consolidation. Severe degenerative changes of the spine.", "Describe."),
        ("Right consolidation. Aneurysm of the aorta, dilated, tortuous.", "Describe."),
        ("Right consolidation. Osteopenia.", "How are the bones?"),
    ],
)
def test_a_slight_finding_alone_or_asked_about_is_missed(report, question):
    assert "missed" in hints(report, "Right consolidation.", question=question)


@each_row(
    ("report", "text", "invented"),
    [
        # a name for what the report has
        (
            "Right consolidation. Hiatus hernia.",
            "Retrocardiac lucency in keeping with a hernia.",
            False,
        ),
        ("Right consolidation. Nipple shadows.", "Nodule, likely a nipple shadow.", False),
        ("Left effusion.", "Scoliosis with a left effusion.", True),
        # the lung beside a pneumothorax is collapsed
        ("Left hydropneumothorax.", "Left pneumothorax, partial collapse of the lung.", False),
        ("Left effusion.", "Left effusion. Atelectasis of the right lower lobe.", True),
        # a sign of several diseases
        ("Pulmonary oedema.", "Peribronchial cuffing.", False),
        ("Pulmonary oedema.", "Bronchiectasis.", True),
        # a table of how likely findings are
        ("Heart size normal.", "Probability\n| Cardiomegaly | 15% |", False),
        ("Heart size normal.", "Probability\n| Cardiomegaly | <5 % |", False),
        ("Heart size normal.", "Probability\n| Cardiomegaly | very low |", False),
        ("Heart size normal.", "Probability\n| Cardiomegaly | 85% |", True),
        ("No pneumothorax.", "| Pneumothorax | 15% |", True),
        # what a tube's removal leaves
        ("Pneumothorax after tube removal.", "Pneumothorax.", False),
        ("No pneumothorax after tube removal.", "Pneumothorax.", True),
        # short for what the answer writes out
        ("CM, effusions.", "Cardiomegaly, effusions.", False),
        ("Nodule of 2 cm, effusions.", "Cardiomegaly, effusions, nodule.", True),
        ("Effusion. Trachea dev to R.", "Effusion, tracheal deviation.", False),
    ],
)
def test_what_is_known_by_another_name_is_not_invented(report, text, invented):
    assert ("invented" in hints(report, text)) is invented


TWO_TUBES = (
    "ETT 3 cm above the carina. Feeding tube below the diaphragm, tip not seen. Lungs clear."
)


@each_row(
    ("report", "text", "missed"),
    [
        # named for another finding of the report, in another part of the chest
        ("Left mastectomy. Clips in the left axilla.", "Clips in the left axilla.", "mastectomy"),
        ("Pleural plaques. Reticular change.", "Reticular opacities at both bases.", "pleural"),
        ("Right effusion and right pneumothorax.", "Right pneumothorax.", "effusion"),
        # on the other side only
        ("Granuloma in the right apex.", "Nodule in the left apex.", "granuloma"),
        # words that head a field, or mean a device that was named, are no other device
        (TWO_TUBES, '{"devices": ["nasogastric tube"], "lungs": "clear"}', "endotracheal tube"),
        (TWO_TUBES, "| Device | Place |\n|---|---|\n| NG tube | stomach |", "endotracheal tube"),
        (TWO_TUBES, "LINES/TUBES: NG tube\nLUNGS: clear", "endotracheal tube"),
        (TWO_TUBES, "An NG tube is seen. The tube ends in the stomach.", "endotracheal tube"),
        (TWO_TUBES, "LINES/TUBES: unchanged\nLUNGS: clear", None),
        ("Right IJ line. Left effusion.", "A white line of fluid: left effusion.", None),
        ("Right PICC.", "There is another line, hard to see.", None),
        # one thing under two names
        ("Consolidation, probably pneumonia, at the left base.", "Opacity at the left base.", None),
        ("Granuloma in the right apex.", "Nodule in the right apex.", None),
        ("Right IJ central line.", "Right PICC.", None),
        # a sign in one sentence with what it comes with
        ("Cavity at the right base with surrounding consolidation.", "Right basal cavity.", None),
        ("Left goitre with tracheal deviation. Clear lungs.", "Goitre on the left.", None),
        ("Left goitre. Consolidation at the right base.", "Goitre on the left.", "consolidation"),
        # a place is spoken of in words that were not read
        ("Right rib destruction.", "A mass that is eating into the right second rib.", None),
        ("Right rib destruction.", "A mass in the right apex.", "bone lesion"),
        ("Right rib destruction.", "A mass in the right apex. The ribs are normal.", "denies"),
        (
            "Free air. Left basal atelectasis.",
            "Atelectasis, left base. No pneumothorax.",
            "free air",
        ),
    ],
)
def test_what_is_named_for_another_finding_is_missed(report, text, missed):
    found = hints(report, text).get("missed", [])
    assert [missed in one for one in found] == [True] * (missed is not None)


@pytest.mark.parametrize(
    ("question", "missed"),
    [
        ("What lines and tubes are present?", 0),
        ("Describe any devices.", 1),
        ("Describe the abnormalities and where they are.", 1),
        ("Where is the effusion?", 0),
    ],
)
def test_wires_and_clips_are_no_lines_or_tubes(question, missed):
    report = "Left effusion. Left PICC. Sternotomy wires."
    found = hints(report, "Left effusion. Left PICC.", question=question)
    assert len(found.get("missed", [])) == missed


@pytest.mark.parametrize(
    ("report", "text", "invented"),
    [
        ("Left effusion. Heart normal.", "Left effusion with adjacent atelectasis.", False),
        ("Left nodule. Heart normal.", "Left nodule. Atelectasis at the right base.", True),
        ("Sarcoidosis. Heart normal.", "Masses and small nodules in both upper zones.", False),
        ("Prosthetic aortic valve. Clear lungs.", "A stent-mounted aortic valve.", False),
        ("Left chest tube has backed out.", "Left chest tube.", False),
        ("Left chest tube is out.", "Left chest tube.", True),
        ("No pneumothorax. Heart normal.", "1. Pneumothorax? No.\n\nTip: right atrium.", False),
        ("No left atelectasis.", "At the right base only a strand of atelectasis is left.", False),
    ],
)
def test_what_comes_with_another_finding_is_not_invented(report, text, invented):
    assert ("invented" in hints(report, text)) is invented


@pytest.mark.parametrize(
    ("report", "text", "how"),
    [
        ("Left pacemaker.", "Lungs: clear\ndevices = none", "denies"),
        ("Aortic valve replacement.", "| Heart | normal |\n| Devices | none |", "denies"),
        ("Right shoulder prosthesis.", "Lines and tubes: none.", None),
    ],
)
def test_no_devices_denies_each(report, text, how):
    found = hints(report, text).get("missed", [])
    assert [one.endswith(f"the answer {how} it.") for one in found] == [True] * (how is not None)


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ("No pneumothorax, right basal atelectasis.", "Right basal atelectasis."),
        ("Left mastectomy. Lungs clear.", "Left mastectomy with node dissection."),
        ("Calcified granuloma, left base. No nodule.", "A calcified dot at the left base."),
    ],
)
def test_what_the_report_has_in_its_own_words_is_not_invented(report, text):
    assert "invented" not in hints(report, text)
