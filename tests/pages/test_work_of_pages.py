"""A page reads the texts of its own cases and no others; the rest is done beside its thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from support.opened_app import run_page, server_for

from bench.made_set import MadeSet, make_set
from rexview.detect.scan import batch
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.schema import review_set as opened
from rexview.text.findings import mention_finder
from rexview.ui.web.server import failure_scans, open_sets, review_sets

CASES = 70
PAGES = ("overview", "browse", "case", "failures", "scores", "readers", "multiple_choice", "score")
ON_A_PAGE = {"case": 3, "browse": 24, "score": 3}
"""Cases that a page may make records of: a case with its neighbours, or a page of cards."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "set"
    make_set(MadeSet(CASES, 4, pictures=2), folder)
    return folder


class Work:
    """What the threads of pages did."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.records: set[str] = set()
        self.whole: list[str] = []

    def note(self, into: Any, entry: str) -> None:
        if get_script_run_ctx(suppress_warning=True) is not None:
            into.add(entry) if isinstance(into, set) else into.append(entry)


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """The app on a set of which nothing was looked at yet, and nothing is meanwhile."""
    seen = Work()
    begin = BackgroundScan.start

    def stopped(background: BackgroundScan) -> None:
        background.stop()
        begin(background)

    def noted(module: Any, name: str, into: Any, entry: Any) -> None:
        original = getattr(module, name)

        def instead(*given: Any, **named: Any) -> Any:
            seen.note(into, entry(*given))
            return original(*given, **named)

        monkeypatch.setattr(module, name, instead)

    monkeypatch.setattr(BackgroundScan, "start", stopped)
    noted(mention_finder, "_read", seen.texts, lambda text: text)
    for module in (opened, batch):
        noted(module, "case_from_row", seen.records, lambda row: row["id"])
        noted(module, "answer_from_row", seen.records, lambda row: row["case"])
    for module, name in (
        (open_sets.reviewset, "load_review_set"),
        (review_sets, "build_memory_engine"),
        (review_sets, "merge_reviews"),
        (review_sets, "find_plain_words"),
    ):
        noted(module, name, seen.whole, lambda *_, name=name: name)
    mention_finder.clear_caches()
    with server_for(made, tmp_path, monkeypatch):
        monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 0)
        yield seen
    mention_finder.clear_caches()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_only_the_cases_on_it(work: Work, page: str) -> None:
    app = run_page(page)
    assert not app.exception
    assert not work.whole, "done in the page's thread"
    assert len(work.records) <= ON_A_PAGE.get(page, 0)
    review_set = review_sets.open_set(review_sets.folder_of(None))
    own = {_plain(text) for case_id in work.records for text in _texts_of(review_set, case_id)}
    strangers = [text for text in work.texts if not any(_plain(text) in one for one in own)]
    assert not strangers


def _texts_of(review_set: Any, case_id: str) -> Iterator[str]:
    case = review_set.case(case_id)
    yield from (case.question, case.explanation or "", *case.options)
    yield from (case.report.findings or "", case.report.impression or "")
    yield f"{case.report.findings} {case.report.impression}"
    for answer in review_set.answers_of(case_id):
        yield from (answer.text or "", answer.explanation or "")


def _plain(text: str) -> str:
    return " ".join(text.split())


def test_the_work_is_counted_where_it_is_done(work: Work) -> None:
    """The counters count: in this thread nothing does, in that of a page everything."""
    review_sets.open_set(review_sets.folder_of(None)).case("vqa-0000000")
    assert threading.current_thread() is threading.main_thread()
    assert not work.records
    run_page("case")
    assert work.records
