"""The deck of a meeting: what failed in each case on one sheet, all else in an appendix."""

import shutil

import pytest
from support import ROOT
from support.entries.stored import ANN
from support.exports.exported_set import exported

from rexview.export.export_job import ExportProgress
from rexview.export.export_request import ExportRequest
from rexview.export.sheets.deck import make_sheets
from rexview.export.sheets.sheet import SheetFilm, SheetTable, TextBlock
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, open_reviews

CASES = tuple(f"c{number}" for number in range(23, 35))
"""The twelve cases of the demo that have most to say."""
TRUTH_FIRST = ["report", "answers", "flags"]


def texts(sheet):
    """Every text on a sheet, by its name."""
    return {
        one.name: "\n".join(line.text for line in one.paragraphs)
        for one in sheet.elements
        if isinstance(one, TextBlock)
    }


def deck_of(folder, meeting):
    content, _ = exported(folder, ExportRequest(meeting=meeting))
    return content, list(make_sheets(content, ExportProgress()))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The demo with a meeting of twelve cases, and one that shows the report first."""
    folder = tmp_path_factory.mktemp("deck") / "set"
    shutil.copytree(ROOT / "assets" / "demo", folder)
    entries = [
        Entry("meeting", subject="long", value={"name": "Twelve cases"}),
        *(
            Entry("agenda", case, subject="long", value={"place": place})
            for place, case in enumerate(CASES)
        ),
        Entry("meeting", subject="turned", value={"name": "Truth first", "steps": TRUTH_FIRST}),
        Entry("agenda", "c01", subject="turned", value={"place": 1}),
        Entry("agenda", "c22", subject="turned", value={"place": 2}),
    ]
    open_reviews(load_review_set(folder), Settings()).record(entries, ANN)
    return folder


@pytest.fixture(scope="module")
def twelve(planned):
    return deck_of(planned, "long")


def test_twelve_cases_make_at_most_thirty_sheets(twelve):
    _, made = twelve
    assert len(made) <= 30


def test_each_case_has_one_sheet_with_its_headline_and_film_in_the_agenda_order(twelve):
    content, made = twelve
    titles = [one.title for one in made]
    own = [title for title in titles if title.partition(" · ")[0] in CASES]
    assert own == [f"{one.id} · {one.headline or 'No failure found'}" for one in content.cases()]
    first = titles.index("Minutes")
    assert all(title.startswith("Appendix · ") for title in titles[first:] if title != "Minutes")
    for sheet in made[:first]:
        if sheet.title in own:
            assert len([one for one in sheet.elements if isinstance(one, SheetFilm)]) == 1


def test_words_of_a_sheet_lie_over_no_film_and_on_no_other_words(twelve):
    _, made = twelve
    for sheet in made:
        places = [one.place for one in sheet.elements]
        for at, place in enumerate(places):
            assert not any(place.meets(other) for other in places[:at]), sheet.title


def test_the_question_comes_first_then_answers_then_the_truth(planned):
    _, made = deck_of(planned, "turned")
    by_title = {one.title.partition(" · ")[0]: one for one in made if " · " in one.title}
    said = texts(by_title["c01"])["Case"]
    asked, report = said.index("Describe all pleural"), said.index("moderate right pleural")
    answer = said.index("“Left pleural effusion, moderate.”")
    assert asked < report < answer  # the meeting shows the report first
    assert answer < said.index("Laterality error (harm 3")
    content, _ = exported(planned, ExportRequest(cases=("c01",)))
    alone, details, _ = make_sheets(content, ExportProgress())
    said = texts(alone)["Case"]
    order = ["Describe all", "“Left pleural effusion, moderate.”", "moderate right pleural"]
    assert [said.index(one) for one in order] == sorted(said.index(one) for one in order)
    parts = [one.name for one in details.elements if isinstance(one, TextBlock | SheetTable)]
    order = ["Question", "Answer: Generalist (simulated)", "Report", "Failures"]
    assert [one for one in dict.fromkeys(parts) if one in order] == order


def test_a_failure_is_named_once_with_all_that_is_said_of_it(planned):
    content, _ = exported(planned, ExportRequest(cases=("c01",)))
    slide, details, _ = make_sheets(content, ExportProgress())
    assert texts(slide)["Case"].count("Laterality error") == 1
    said = texts(details)["Failures"]
    assert said.count("Laterality error") == 1
    (case,) = content.cases()
    for flag in case.flags:
        assert " ".join(said.split()).count(flag.message) == 1
