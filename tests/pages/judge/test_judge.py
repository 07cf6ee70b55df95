"""What pages show of a judge: nothing unless the link names one, and agreement beside all of it."""

import html
import re

import pytest
from support.judge.judged_set import (
    JUDGE,
    OLDER,
    PROMPT,
    QUOTE,
    REASON,
    judged_parts,
    write_judged_set,
)
from support.page_text import drawn, shown

from rexview.ui.web.link import keys as link_keys

ON = {link_keys.QUERY_JUDGE: f"{PROMPT}:{JUDGE}"}
PAGES = ("case", "failures", "scores", "readers")


@pytest.fixture
def review_folder(tmp_path):
    return write_judged_set(tmp_path / "set")


def words(app):
    page = drawn(app) + shown(app)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def choice(app):
    return [box for box in app.selectbox if box.label == "Judge"]


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_shown_unless_the_link_asks(open_app, page):
    app = open_app(page, case="c00")
    assert [box.options for box in choice(app)] == [
        ["Not shown", f"{JUDGE} ({PROMPT})", f"{JUDGE} ({OLDER})"]
    ]
    text = words(app)
    assert "Reasonwords" not in text
    assert JUDGE not in text
    assert "a language model’s opinion" not in text


@pytest.mark.parametrize("page", PAGES)
def test_a_judge_stands_apart_with_its_agreement(open_app, page):
    text = words(open_app(page, case="c00", **ON))
    assert f"{JUDGE} ({PROMPT})" in text
    assert "a language model’s opinion" in text
    assert re.search(r"kappa", text)


def test_a_set_without_opinions_has_no_switch(open_app, review_folder):
    (review_folder / "opinions.jsonl").unlink()
    for page in PAGES:
        assert not choice(open_app(page, case="c00", **ON))


def test_choosing_a_judge_writes_the_link_and_nothing_else_remembers_it(open_app):
    app = open_app("failures")
    (box,) = choice(app)
    box.select(f"{PROMPT}:{JUDGE}").run()
    assert app.query_params[link_keys.QUERY_JUDGE] in (ON["judge"], [ON["judge"]])
    assert f"judge={PROMPT}%3A{JUDGE}" in drawn(app), "numbers lead on with the judge shown"
    assert JUDGE not in words(open_app("failures"))


def test_the_case_page_has_reasons_and_marks_what_is_quoted(open_app):
    app = open_app("case", case="c00", **ON)
    text, page = words(app), shown(app)
    seen = [row for row in judged_parts()["opinions"] if row["case"] == "c00" and row.get("quote")]
    assert seen
    assert text.count(REASON) == text.count(f"“{QUOTE}”") == len(seen)
    assert (
        "Laterality error: yes agreement with readers: kappa 0.59 (0.26 to 0.81), 48 answers"
        in text
    )
    assert "rx-judged" in page
    flags = set(re.findall(r'data-rx-flag="(j\w+)"', page))
    assert flags
    assert flags <= set(" ".join(re.findall(r'data-rx-evidence="([^"]*)"', page)).split())


def test_each_number_of_the_judge_opens_its_cases(open_app):
    page = drawn(open_app("failures", **ON))
    assert f"judge_says=laterality_error%3Ayes%3A{PROMPT}%3A{JUDGE}" in page
    page = drawn(open_app("scores", **ON))
    assert f"judge_says=process%3A%3A{PROMPT}%3A{JUDGE}" in page


@pytest.mark.parametrize("page", ["browse", "case"])
def test_cases_that_a_judge_chose_say_how_far_it_agrees(open_app, page):
    said = f"laterality_error:yes:{PROMPT}:{JUDGE}"
    text = words(open_app(page, judge_says=said))
    line = f"Laterality error, judge {JUDGE} ({PROMPT}): a language model’s opinion; agreement with"
    assert f"{line} readers: kappa 0.59 (0.26 to 0.81), 48 answers; precision " in text
    assert "agreement with" not in words(open_app(page))


def test_opinions_on_an_earlier_text_are_not_shown_but_said(open_app, review_folder):
    rows = [dict(row, answer_digest="0" * 64) for row in judged_parts()["opinions"]]
    write_judged_set(review_folder.parent / "stale", opinions=rows)
    stale = (review_folder.parent / "stale" / "opinions.jsonl").read_text(encoding="utf-8")
    (review_folder / "opinions.jsonl").write_text(stale, encoding="utf-8")
    text = words(open_app("case", case="c00", **ON))
    assert "8 opinions on an earlier text of this answer: not shown, and not counted." in text
    assert REASON not in text
