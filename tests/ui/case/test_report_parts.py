"""Reports on the Case page as HTML: marks, corrections, metrics; nothing from a file is markup."""

import re
from dataclasses import replace

import pytest
from support.page_text import StrictReader
from support.reports.report_set import HOSTILE, write_reports

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.case.report_comparison import build_report_case
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.harm import load_harm
from rexview.reviewset import load_review_set
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.case import reports as report_parts
from rexview.ui.case.reports import aligned_html
from rexview.ui.safe_text import MarkedSpan, markdown_html, plain_html

COLOURS = {"m": "#123456", "n": "#654321"}


class Parts(StrictReader):
    """Fails on what could run or load something."""

    def check(self, tag, attributes):
        assert tag not in {"script", "img", "iframe", "a"}
        for name, _ in attributes:
            assert not name.startswith("on"), name


@pytest.fixture(scope="module")
def review_set(tmp_path_factory):
    return load_review_set(write_reports(tmp_path_factory.mktemp("set") / "reports"))


@pytest.fixture(scope="module")
def engine(review_set):
    return build_memory_engine(review_set)


@pytest.fixture
def drawn(review_set, engine):
    """Return report, answers and rows of a case as HTML."""

    def draw(case, *, change=lambda reports: reports, **more):
        page = build_case_page(review_set, case, engine)
        reports = change(build_report_case(review_set, page, load_harm(), **more))
        in_reference = report_parts.marks_in_reference(reports, review_set.model_names)
        corrected = report_parts.corrected_html(page.case.report, reports.corrected, review_set)
        report = answers_html.report_html(page, in_reference, corrected)
        answers = answers_html.answers_html(
            page,
            review_set,
            colours=COLOURS,
            gap_threshold=2,
            added=report_parts.report_additions(reports, case),
        )
        rows = aligned_html(
            page,
            review_set,
            reports,
            colours=COLOURS,
            in_reference=in_reference,
            in_answers=report_parts.marks_in_answers(reports),
        )
        return report, answers, rows

    return draw


def words(made):
    return " ".join(" ".join(Parts.read(made).text).split())


def marked(made, css):
    """Return the words of each mark with a class."""
    found = re.findall(rf'<mark class="[^"]*\b{css}\b[^>]*>(.*?)</mark>', made)
    return [re.sub("<.*?>", "", one) for one in found]


@pytest.mark.parametrize("case", ["r1", "r2", "r3"])
def test_nothing_from_a_file_is_markup(drawn, case):
    for made in drawn(case):
        Parts.read(made)
        assert "<script" not in made
        assert "<img" not in made


def test_hostile_words_of_every_table_are_there_as_text(drawn):
    report, answers, rows = (words(made) for made in drawn("r2"))
    assert report.count(HOSTILE) >= 3  # reference, correction, comment
    assert f"Corrected by Reader B {HOSTILE}" in report
    assert "<b>own</b>" in answers
    assert f"<i>{HOSTILE}</i>" in answers
    assert "an <odd> kind, odd <word>" in rows
    assert "Clear lungs. 1 The lungs are clear." in rows


def test_texts_are_marked_by_words_too(drawn):
    report, answers, rows = drawn("r1")
    assert "consolidation" in marked(report, "rx-missed")
    assert 'data-rx-label="missed by 1 of 2 models"' in report
    assert 'title="Missed by Model M' in report
    assert marked(report, "rx-swapped")[0].endswith("pleural effusion")
    assert marked(answers, "rx-invented") == ["Rib fracture"]
    assert "pleural effusion" in marked(answers, "rx-swapped")
    for made in (answers, rows):
        assert 'data-rx-label="side swapped"' in made
        assert 'data-rx-label="invented"' in made


def test_words_that_all_reports_miss_are_marked_once(make_set):
    """A report without an impression misses what is said there; words may say two findings."""
    report = {"findings": "Enlarged hila and heart.", "impression": "Enlarged heart."}
    texts = {"a": "Clear lungs.", "b": "FINDINGS: Clear lungs. IMPRESSION: Clear lungs."}
    one = make_set(
        cases=[{"id": "c", "question_type": "report", "report": report}],
        answers=[{"case": "c", "model": model, "text": text} for model, text in texts.items()],
    )
    page = build_case_page(one, "c", build_memory_engine(one))
    marks = report_parts.marks_in_reference(
        build_report_case(one, page, load_harm()), one.model_names
    )
    assert [mark.label for mark in marks["findings"]] == ["missed"]
    assert [mark.label for mark in marks["impression"]] == ["missed"]


def test_the_agreement_stands_there_with_its_parts(drawn):
    _, answers, _ = drawn("r1")
    said = words(answers)
    assert "Finding-level agreement 1.00" in said
    assert "1 missed 1 invented 1 side swapped" in said
    assert "side swapped: right pleural effusion harm 2 report: left pleural effusion" in said


def test_one_invented_finding_that_is_marked_twice_is_said_to_be(make_set):
    one = make_set(
        cases=[{"id": "c", "question_type": "report", "report": {"findings": "Clear lungs."}}],
        answers=[{"case": "c", "model": "m", "text": "Right effusion. Small right effusion."}],
    )
    page = build_case_page(one, "c", build_memory_engine(one))
    reports = build_report_case(one, page, load_harm())
    said = words(report_parts.report_additions(reports, "c")["m"].above)
    assert "1 invented (marked 2 times)" in said


def test_metric_values_have_their_identity(drawn):
    _, answers, _ = drawn("r1")
    said = words(answers)
    assert "BLEU-2 0.210 radeval 2.0 findings · computed over n = 3" in said
    assert "RadCliQ-v1 1.720 implementation not given not given" in said
    assert "−1.000" in words(drawn("r2")[1])


def test_corrections_say_who_how_severe_and_what(drawn):
    rows = drawn("r1")[2]
    said = words(rows)
    assert "Reader A: 3 corrections, worst 4 Emergent" in said
    assert "judge:x: 1 correction, worst 2 Actionable, not urgent" in said
    assert "Model N Reader A: nothing to correct" in said
    assert "3 Urgent Replace Location, significant Reader A Small left right pleural" in said
    assert "4 Emergent Insert Missing finding, significant Reader A Left lower lobe" in said
    assert "✓ Reader A" in said
    assert "<del>left </del><ins>right </ins>" in rows
    assert '<div class="rx-edit" data-severity="4">' in rows


def test_only_the_chosen_corrections_are_shown(drawn):
    said = words(drawn("r1", editors=("judge:x",))[2])
    assert "judge:x" in said
    assert "Reader A" not in said


def test_a_correction_of_a_line_that_is_not_there_is_not_lost(drawn):
    said = words(drawn("r2")[2])
    assert "On lines that are not in this text: severity not given Replace" in said


def test_corrections_of_an_earlier_report_are_told(drawn):
    def changed(reports):
        return replace(reports, stale_edits={"n": reports.edits["m"]})

    said = words(drawn("r1", change=changed)[2])
    assert "Reader A: of an earlier report, not counted" in said
    assert "judge:x: of an earlier report, not counted" in said


def test_without_agreement_nothing_is_marked(drawn):
    def without(reports):
        return replace(reports, agreement={}, marks={}, metrics={"m": (), "n": ()})

    for made in drawn("r1", change=without):
        assert "rx-wrong" not in made
        assert "rx-agreement" not in made


def test_the_words_of_an_answer_stay_as_they_are(drawn, review_set):
    """Comments find their words by counting those of the text: labels are none of them."""
    _, answers, _ = drawn("r1")
    text = re.search(r'<div class="rx-text">(.*?)</div>', answers, re.S)[1]
    assert " ".join(re.findall(r"\w+", words(text))) == (
        "Findings Cardiac silhouette unremarkable Small left pleural effusion No pneumothorax "
        "Impression Left effusion Rib fracture on the right"
    )


def test_a_label_stands_once_at_the_end_of_its_words():
    spans = [
        MarkedSpan(0, 14, "a", label="missed"),
        MarkedSpan(6, 14, "b"),
        MarkedSpan(6, 10, "c", label="two"),
    ]
    made = plain_html("right effusion.", spans)
    assert re.findall(r'class="([a-c ]+)"( data-rx-label="[^"]*")?', made) == [
        ("a", ""),
        ("a b c", ' data-rx-label="two"'),
        ("a b", ' data-rx-label="missed"'),
    ]
    across = markdown_html("One **two** three.", [MarkedSpan(0, 17, "a", label='"<b>')])
    assert across.count("data-rx-label") == 1
    assert 'data-rx-label="&quot;&lt;b&gt;"' in across
