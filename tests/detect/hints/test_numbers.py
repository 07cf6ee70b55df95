"""How many nodules or pacing leads texts count, and where an answer has another number."""

from support.rows import each_row

from rexview.detect import find_flags_for_answers
from rexview.schema import Answer, Case, Report
from rexview.text.findings import find_mentions
from rexview.text.findings.mention import count_findings, count_leads


@each_row(
    ("text", "number"),
    [
        ("Four round nodules of different sizes.", 4),
        ("A solitary pulmonary nodule.", 1),
        ("3 nodules.", 3),
        ("Two nodules on the right. Three nodules on the left.", 5),
        ("Three round nodules, of 28 mm on the right and of 17 mm on the left.", 3),
        ("A 3 mm nodule.", None),
        ("Nodules in zone 3.", None),
        ("One of the nodules has grown.", None),
        ("Nodule at the level of rib 4.", None),
    ],
)
def test_numbers_of_nodules(text, number):
    found = count_findings(text, [one for one in find_mentions(text) if one.finding == "nodule"])
    assert (found and found[0]) == number


@each_row(
    ("text", "number"),
    [
        ("Dual-chamber pacemaker.", 2),
        ("Single lead pacemaker.", 1),
        ("Biventricular pacemaker.", 3),
        ("Pacemaker with two leads.", 2),
        ("Pacemaker; its lead ends in the ventricle.", 1),
        ("One lead in the atrium, the other in the ventricle.", None),
        ("Pacemaker in place.", None),
    ],
)
def test_numbers_of_leads(text, number):
    found = count_leads(text)
    assert (found and found[0]) == number


def messages(report, text):
    case = Case("c", "", question_type="report", report=Report(report, None))
    flags = find_flags_for_answers(case, [Answer("c", "g", text=text, finish_reason="stop")])
    return [(one.message, [item.text for item in one.evidence]) for one in flags if one.is_hint]


def test_an_answer_that_counts_fewer_nodules():
    report = "Three nodules: 10 mm and 14 mm on the right, 22 mm on the left."
    text = "Two nodules, 10 mm on the right and 2.2 cm on the left."
    ((message, words),) = messages(report, text)
    assert message == "Possible missed finding: the report counts 3 nodules, the answer 2."
    assert words == ["14 mm", "nodules"]
    assert not messages(report, report)
    assert not messages(text, report)  # more of them may be there
    assert not messages("Multiple nodules.", text)


def test_an_answer_with_another_lead():
    one, two = "Single-chamber pacemaker on the left.", "Dual-chamber pacemaker on the left."
    ((message, words),) = messages(one, two)
    assert message == ("Possible invented finding: the answer counts 2 pacing leads, the report 1.")
    assert words == ["Dual-chamber", "Single-chamber"]
    assert not messages(one, one)
    assert not messages("Lungs clear.", "The heart is normal.")
