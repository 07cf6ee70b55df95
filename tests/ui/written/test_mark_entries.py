"""What the Case page may send of failures in words, what comes back, and how it is shown."""

import pytest
from support.entries.sent import sender
from support.entries.stored import ANN, BOB, EVE
from support.opened_app import opened_set
from support.small_set import write_set

from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import WRITTEN_MARK_KIND, current_failures
from rexview.answer_digest import digests_of
from rexview.store import Entry
from rexview.ui.answers.answer_card import scores_html
from rexview.ui.answers.flags import ANY_CASE, Visitor, marks_html, written_failure_names
from rexview.ui.web.server import review_sets

PAGE = "case page"
ANN_LOOKS = Visitor("ann")
EVIL = "<img src=x onerror=\"alert(1)\"> 'q' {{7*7}}"
OLD = {"name": EVIL, "counts": f"Counts {EVIL}"}


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


def write(review_set, value=OLD, person=ANN):
    review_sets.reviews(review_set).record([Entry(WORDS, subject="f", value=value)], person)
    standing = current_failures(review_sets.with_current_reviews(review_set))
    return standing["f"].prompt.hash if "f" in standing else None


def entry(review_set, version, comment=None, **more):
    value = {"version": version, "comment": comment} if version else None
    shown = digests_of(review_set).of("c1", "m")
    about = {"case": "c1", "slot": "m", "shown": shown, "kind": WRITTEN_MARK_KIND, "subject": "f"}
    return {**about, "value": value, "was": None, "seen": 1_000_000, **more}


def rows(review_set):
    return [
        (row.person, row.value)
        for row in review_sets.reviews(review_set).current(WRITTEN_MARK_KIND)
    ]


def test_it_is_kept_and_taken_back(review_set):
    version, send = write(review_set), sender(review_set, PAGE, ANN)
    told = send(entry(review_set, version, EVIL))
    assert (len(told["saved"]), told["refused"], told["replaced"]) == (1, {}, {})
    assert rows(review_set) == [("ann", {"version": version, "comment": EVIL})]
    send(entry(review_set, None))
    assert rows(review_set) == [("ann", None)]


def test_what_another_window_saved_is_not_undone(review_set):
    version, send = write(review_set), sender(review_set, PAGE, ANN)
    send(entry(review_set, version, "First."))
    told = send(entry(review_set, version, "Late.", seen=1))
    assert len(told["replaced"]) == 1
    assert rows(review_set) == [("ann", {"version": version, "comment": "First."})]
    known = {"version": version, "comment": "First."}
    assert len(send(entry(review_set, None, was=known, seen=1))["saved"]) == 1


@pytest.mark.parametrize("more", [{"subject": "gone"}, {"subject": EVIL}, {"subject": None}])
def test_a_failure_that_nobody_wrote_is_refused(review_set, more):
    told = sender(review_set, PAGE, ANN)(entry(review_set, write(review_set), **more))
    assert told["saved"] == []
    assert "Reload the page" in str(told["refused"])


def test_words_that_it_never_had_are_refused_and_earlier_ones_are_not(review_set):
    old, send = write(review_set), sender(review_set, PAGE, ANN)
    write(review_set, {**OLD, "counts": "Other words."})
    assert send(entry(review_set, "0" * 64))["saved"] == []
    assert len(send(entry(review_set, old))["saved"]) == 1


def test_of_a_removed_failure_a_mark_can_only_be_taken_back(review_set):
    version, send = write(review_set), sender(review_set, PAGE, ANN)
    send(entry(review_set, version))
    write(review_set, None)
    assert send(entry(review_set, version, "More."))["saved"] == []
    assert len(send(entry(review_set, None))["saved"]) == 1
    assert rows(review_set) == [("ann", None)]


def test_a_blinded_reader_sends_and_is_told_nothing(review_set):
    version = write(review_set)
    sender(review_set, PAGE, ANN)(entry(review_set, version, "Secretwords"))
    send = sender(review_set, PAGE, BOB)
    told = send(entry(review_set, version), status=403)
    for page in ("score page", "adjudicate page"):
        scored = {"kind": "score", "case": "c1", "page": "score page"}
        mixed = send(scored, entry(review_set, version, page=page), entry(review_set, version))
        assert mixed["saved"] == []
        assert "Secretwords" not in f"{told}{mixed}"
    assert [person for person, _ in rows(review_set)] == ["ann"]


def shown(review_set, visitor=ANN_LOOKS, case_filter=ANY_CASE):
    written = review_sets.with_current_reviews(review_set)
    page = build_case_page(written, "c1", review_sets.engine(written))
    people = written.reader_names
    return marks_html(page, page.answers[0], people, visitor, case_filter), page


def test_who_says_so_and_what_can_be_done_about_it(review_set):
    old = write(review_set)
    sender(review_set, PAGE, EVE)(entry(review_set, old, EVIL))
    html, _ = shown(review_set)
    assert "1 person marked" in html
    assert "Eve E." in html
    assert 'data-rx-mine="" data-rx-reason=""' in html
    new = write(review_set, {**OLD, "counts": "Other words."})
    html, _ = shown(review_set)
    assert html.count("about earlier words") == 3  # in the line, in its title, at the name
    assert f'data-rx-version="{new}"' in html
    sender(review_set, PAGE, ANN)(entry(review_set, old, "Mine."))
    html, _ = shown(review_set)
    assert "you and 1 other marked" in html
    assert f'data-rx-mine="confirmed" data-rx-reason="Mine." data-rx-version="{old}"' in html
    assert "<button" not in shown(review_set, Visitor("vic", may_judge=False))[0]
    assert "<img" not in html


def test_it_is_unfolded_where_the_filter_that_led_here_is_about_it(review_set):
    sender(review_set, PAGE, EVE)(entry(review_set, write(review_set)))
    assert " open>" not in shown(review_set)[0]
    html, _ = shown(review_set, case_filter=CaseFilter(marked=("f",)))
    assert html.count(" open>") == html.count("data-rx-asked") == 1
    assert "data-rx-asked" not in shown(review_set, case_filter=CaseFilter(marked=("g",)))[0]


def test_hostile_words_are_text_wherever_they_are_shown(review_set):
    sender(review_set, PAGE, ANN)(entry(review_set, write(review_set), EVIL))
    html, page = shown(review_set)
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in html
    stale = [
        type(one)(type(one.mark)(**{**vars(one.mark), "stale": True}), one.words)
        for one in page.marks
    ]
    listed = scores_html((), names={"m": "M"}, readers={}, stale_scores=(), stale_marks=stale)
    assert "On an earlier answer:" in listed
    assert "&lt;img" in listed
    assert "<img" not in html + listed
    assert written_failure_names(
        current_failures(review_sets.with_current_reviews(review_set))
    ) == {"written:f": (EVIL, f"Counts {EVIL}")}
