"""What a case is, in the line that names it."""

from rexview.schema import Case
from rexview.ui.case.case_page import question_kind


def test_a_tag_without_a_value_is_not_named():
    tags = {"a": ("None",), "b": ("Lung", "none "), "c": ("Apex", "Hilum", "Pleura")}
    case = Case("c", "Report this.", "report", tags=tags)
    assert question_kind(case) == "Report · Lung · Apex · Hilum"
