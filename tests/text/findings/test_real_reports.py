"""Real reports, where they are at hand: the parts of one report hardly ever contradict."""

from __future__ import annotations

import json
import re

import pytest
from support import SHARED_DATA

from rexview.detect import find_flags_for_answers
from rexview.detect.laterality.detector import Laterality
from rexview.schema import Answer, Case, Report

FILE = SHARED_DATA / "rexrank/ReXRank_IUXray_valid.json"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FILE.exists(), reason="the real reports are not here"),
]


@pytest.fixture(name="studies", scope="module")
def studies_fixture() -> list[dict[str, str]]:
    return list(json.loads(FILE.read_text(encoding="utf-8")).values())


def errors(answer: str, report: str) -> int:
    case = Case(id="c", question="", report=Report(findings=report))
    given = Answer(case="c", model="m", text=answer)
    flags = find_flags_for_answers(case, [given], detectors=[Laterality()])
    return sum(not flag.is_hint for flag in flags)


def mirrored(text: str) -> str:
    other = {"left": "right", "right": "left"}
    return re.sub(r"\b(?:left|right)\b", lambda match: other[match[0].lower()], text, flags=re.I)


def test_findings_and_impression_of_one_report_agree(studies: list[dict[str, str]]) -> None:
    pairs = [
        (study["section_impression"], study["section_findings"])
        for study in studies
        if study.get("section_impression") and study.get("section_findings")
    ]
    assert len(pairs) > 200
    assert sum(errors(*pair) > 0 for pair in pairs) <= len(pairs) * 0.01


def test_a_report_agrees_with_itself_and_not_with_its_mirror_image(
    studies: list[dict[str, str]],
) -> None:
    reports = [study["report"] for study in studies]
    assert sum(errors(report, report) > 0 for report in reports) <= len(reports) * 0.01
    sided = [report for report in reports if re.search(r"\b(?:left|right)\b", report, re.I)]
    found = sum(errors(mirrored(report), report) > 0 for report in sided)
    assert found >= 0.7 * len(sided)  # the others name a side of what is no finding, or both
