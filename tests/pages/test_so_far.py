"""Pages while detectors look at the answers: what is known stands, and says that it is so far."""

import sys
import time

import pytest
from support.opened_app import run_page, server_for
from support.page_text import drawn, shown, title

from rexview import reviewset
from rexview.analysis import CaseFilter
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.detect.token_limit import TokenLimit
from rexview.people import Person
from rexview.store import Entry
from rexview.ui.web.server import failure_scans, review_sets, server_state

SO_FAR = "so far"


@pytest.fixture
def found(review_folder, tmp_path, monkeypatch):
    """The search in the small set, which has stopped before it began."""
    monkeypatch.setattr(failure_scans, "FEW_ANSWERS", 0)
    monkeypatch.setattr(failure_scans, "_YOUNG_S", 0)
    monkeypatch.setattr(failure_scans, "_SHARE", 0)
    with server_for(review_folder, tmp_path, monkeypatch):
        monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 0)
        found = review_sets.get_failure_scan(opened())
        found.stop()
        yield found
        found.close()


def opened():
    return review_sets.open_set(server_state.settings().review_set)


def page_of(name=None, **query):
    app = run_page(name, **query)
    assert not app.exception
    return app


def said(app):
    return shown(app) + drawn(app)


def go_on_to_the_end(found):
    found.resume()
    assert found.background.wait(60)
    assert found.progress.state == "finished"


def test_a_page_stands_before_any_answer_was_looked_at(found):
    text = said(page_of())
    assert "Looking for failures stopped at 0 of 3 answers." in text
    assert "Laterality errors so far" in text
    assert "none of 2 answers can be judged so far" in text
    assert "Most severe first, so far" in text
    assert "none found</small>" not in text


def test_numbers_change_when_their_visitor_asks_and_not_before(found):
    app = page_of("browse")
    assert "<b>0 <small>cases</small></b><span>Laterality errors so far</span>" in said(app)
    assert "Not checked for failures yet" in said(app)
    found.background.look_at(0)
    app.run()
    text = said(app)
    assert "<b>0 <small>cases</small></b><span>Laterality errors so far</span>" in text
    assert "stopped at 2 of 3 answers. This page counts none of them yet." in text
    app.button(key="rx_scan_update").click().run()
    text = said(app)
    assert "<b>1 <small>case</small></b><span>Laterality errors so far</span>" in text
    assert "This page counts" not in text
    assert not [one for one in app.button if one.key == "rx_scan_update"]


def test_another_filter_shows_what_is_known_by_then(found):
    app = page_of("browse")
    found.background.look_at(0)
    app.query_params["failure"] = "laterality_error"
    app.run()
    text = said(app)
    assert title(app) == "Laterality errors so far"
    assert "<b>1</b> case so far" in text


def test_a_list_keeps_its_order_when_one_goes_to_a_case_and_back(found):
    app = page_of("browse")
    found.background.look_at(0)
    app.switch_page("pages/case.py").run()
    app.switch_page("pages/browse.py").run()
    assert "<b>0 <small>cases</small></b><span>Laterality errors so far</span>" in said(app)
    app.switch_page("pages/overview.py").run()
    assert "<b>1</b>" in said(app)


def test_nothing_found_so_far_is_not_nothing_found(found):
    text = said(page_of("browse", failure="laterality_error"))
    assert "No case matches all of these conditions so far." in text
    assert "0 of 3 answers checked" in text


def test_the_case_that_is_open_has_its_flags_before_its_turn(found):
    app = page_of("case", case="c1")
    first = said(app)
    assert ("Not checked for failures yet" in first) != ("Laterality error" in first)
    end = time.monotonic() + 60
    while "Not checked for failures yet" in (text := said(app)) and time.monotonic() < end:
        time.sleep(0.1)
        app.run()
    assert "Laterality error" in text
    assert "by rule" in text
    assert found.progress.looked == 0


def test_the_table_says_in_its_headings_what_is_so_far(found):
    found.background.look_at(0)
    app = page_of("browse", **{"as": "table"})
    assert {"Failures so far", "Harm so far"} & set(app.dataframe[0].value.columns)


def test_the_failures_page_says_so_in_titles_captions_and_files(found):
    found.background.look_at(0)
    app = page_of("failures")
    text = said(app)
    assert "Table 4. Failures by model so far" in text
    assert "So far: 2 of 3 answers checked for failures." in text
    assert app.session_state["rexview_so_far"].startswith("So far: 2 of 3")


def test_scores_of_a_filter_on_failures_say_so_and_others_do_not(found):
    app = page_of("scores")
    assert app.session_state["rexview_so_far"] == ""
    assert "Looking for failures" not in said(app)
    app = page_of("scores", failure="laterality_error")
    assert app.session_state["rexview_so_far"].startswith("So far: 0 of 3")
    assert "Looking for failures" in said(app)


def test_all_numbers_are_those_of_a_scan_at_once_in_the_end(found, review_folder):
    found.background.look_at(1)
    app = page_of("browse")
    go_on_to_the_end(found)
    app.run()
    text = said(app)
    assert "All 3 answers have been checked for failures." in text
    app.button(key="rx_scan_update").click().run()
    text = said(app)
    assert SO_FAR not in text
    assert "looked at" not in text
    at_once = build_memory_engine(reviewset.load_review_set(review_folder))
    shown_engine = review_sets.engine(opened())
    for case_filter in (CaseFilter(), CaseFilter(search="effusion", mention="present")):
        assert shown_engine.facets(case_filter) == at_once.facets(case_filter)
        assert shown_engine.page(case_filter, 0, 9) == at_once.page(case_filter, 0, 9)
    assert SO_FAR not in said(page_of())


def test_what_is_written_meanwhile_counts_and_looks_at_no_text_again(found, review_folder):
    page_of("browse")
    go_on_to_the_end(found)
    given = opened()
    number = found.take_snapshot()
    before = review_sets._engines(found)
    first = before.of(given, number)
    reviews = review_sets.reviews(given)
    gap = [
        Entry("score", "c1", "m", dimension, value={"score": score, "comment": None})
        for dimension, score in (("process", 5), ("execution", 1), ("synthesis", 3))
    ]
    reviews.record(gap, Person("bob", "Dr Bob", "lead"))
    written = review_sets.with_current_reviews(given)
    assert written.fingerprint != given.fingerprint
    after = before.of(written, number)
    assert after is not first
    assert after.table.survey.scan.found is first.table.survey.scan.found
    assert found.progress.looked == 3


def test_stop_and_go_on_are_for_everybody_alone(found):
    app = page_of("browse")
    app.button(key="rx_scan_resume").click().run()
    assert found.background.wait(60)


def test_a_search_that_broke_can_be_begun_again(found, monkeypatch):
    python = sys.executable
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    found.resume()
    assert found.background.wait(60)
    assert found.progress.state == "broken"
    app = page_of("browse")
    assert "ended at 0 of 3 answers. No process can be started" in said(app)
    monkeypatch.setattr(sys, "executable", python)
    app.button(key="rx_scan_again").click().run()
    assert found.background.wait(60)
    assert found.progress.state == "finished"


def test_an_answer_that_a_rule_fails_on_is_named_and_is_not_without_failure(found, monkeypatch):
    real = TokenLimit.find

    def find(self, one):
        if one.answer.model == "n":
            raise ZeroDivisionError
        return real(self, one)

    monkeypatch.setattr(TokenLimit, "find", find)
    found.background.look_at(0)
    app = page_of("browse")
    text = said(app)
    assert "1 answer could not be judged by every rule" in text
    assert "c1 (Model N)</a>" in text
    assert text.count("Could not be judged by every rule</span>") == 1
    text = said(page_of("case", case="c1"))
    assert text.count("Could not be judged by every rule: there may be more") == 1


def test_who_scores_is_told_nothing_and_begins_nothing(review_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(failure_scans, "FEW_ANSWERS", 0)
    begun = set(failure_scans._SCANS)
    with server_for(review_folder, tmp_path, monkeypatch):
        app = page_of("score")
        text = said(app)
    assert SO_FAR not in text
    assert "failures" not in text
    assert set(failure_scans._SCANS) <= begun
