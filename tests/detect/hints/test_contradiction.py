"""What denies the report outright is a failure that was found; all else stays a suggestion."""

from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.schema import Answer, Case, Report

EFFUSION = "Large left pleural effusion."
ASKED = "Is there a pleural effusion?"


def kinds(report, text, question="", impression=None):
    asks = "open" if question else "report"
    case = Case("c", question, question_type=asks, report=Report(report, impression))
    flags = find_flags_for_answers(case, [Answer("c", "g", text=text, finish_reason="stop")])
    return [flag.kind for flag in flags if flag.failure == "omission"]


@each_row(
    ("report", "text", "question"),
    [
        (EFFUSION, "No effusion.", ""),
        (EFFUSION, "The heart is normal. There is no evidence of pleural effusion.", ""),
        (EFFUSION, "Lungs clear without consolidation, effusion or pneumothorax.", ""),
        # what an answer need not speak of it may still deny wrongly
        (EFFUSION, "No effusion.", "Which side is the effusion on?"),
        (EFFUSION, "It is 4 cm above the carina. No effusion.", "Is the tube in place?"),
        (EFFUSION, "No.", ASKED),
        (EFFUSION, "No", "Small heart. Is there an effusion?"),
        (EFFUSION, "No left pleural effusion.", ""),
        ("The heart is enlarged.", "The heart is not enlarged.", ""),
        ("Right apical pneumothorax.", "No pneumothorax is seen.", ""),
    ],
)
def test_a_denial_of_what_the_report_affirms(report, text, question):
    assert kinds(report, text, question) == ["contradiction"]


@each_row(
    ("report", "text", "question"),
    [
        # the report is not sure, or calls it hardly there
        ("Possible left pleural effusion.", "No effusion.", ""),
        ("Trace left pleural effusion.", "No effusion.", ""),
        ("Blunting of the left costophrenic angle.", "No effusion.", ""),
        ("Left effusion has nearly resolved.", "No effusion.", ""),
        ("Left basal atelectasis versus pneumonia.", "No pneumonia.", ""),
        # another size, age or side is denied
        (EFFUSION, "No right pleural effusion.", ""),
        (EFFUSION, "On the right no effusion.", ""),
        ("Small left pleural effusion.", "No large effusion.", ""),
        ("Small left pleural effusion.", "No sizable effusion.", ""),
        ("Left rib fracture.", "No acute rib fracture.", ""),
        ("Mild cardiomegaly.", "The heart is not significantly enlarged.", ""),
        ("Pulmonary vascular congestion.", "No pulmonary oedema.", ""),
        # not a denial of the finding
        (EFFUSION, "No change in the effusion on the left.", ""),
        (EFFUSION, "Not only a left effusion, but also a pneumothorax.", ""),
        (EFFUSION, "No pneumothorax. Left effusion.", ""),
        ("Aorta is tortuous.", "No, it is unfolded, with calcific atheroma.", "Is it dilated?"),
        ("Right paracardiac mass.", "It is a hernia, not a mass.", ""),
        # it does not say so outright, or says nothing
        (EFFUSION, "Normal chest.", ""),
        (EFFUSION, "The heart is normal.", ""),
        (EFFUSION, "No.", "Is there a pneumothorax?"),
        (EFFUSION, "No, but the left hemithorax is white.", ASKED),
        (EFFUSION, "No.", "Is there no effusion or pneumothorax?"),
        # the report denies it, too
        (f"{EFFUSION} No effusion.", "No effusion.", ""),
        ("No effusion.", "No effusion.", ""),
        ("Endotracheal tube in place.", "No endotracheal tube.", ""),
    ],
)
def test_no_denial_of_what_the_report_affirms(report, text, question):
    assert "contradiction" not in kinds(report, text, question)
