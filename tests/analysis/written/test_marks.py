"""Answers that people mark with a failure in words: counted, found, kept apart, and not lost."""

import csv
import json
import shutil
from dataclasses import replace

import pytest
from support.entries.stored import ANN, BOB, EVE, VIC
from support.small_set import ANSWERS, write_set

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_page import build_case_page
from rexview.analysis.query.filter.filter_text import describe_filter, list_chips
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.written_failures import WRITTEN_FAILURE_KIND as WORDS
from rexview.analysis.written_failures import (
    WRITTEN_MARK_KIND,
    count_marks,
    current_failures,
    list_counted_marks,
    list_marks,
)
from rexview.cli import main
from rexview.errors import FilterError, StoreRefused
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, may_write_kind, merge_reviews, open_reviews

TITLE = "Invented <img src=x onerror=alert(1)> prior"
OLD = {"name": TITLE, "counts": "It compares with a study that is not there."}
NEW = {**OLD, "does_not_count": "The question asks for it."}


@pytest.fixture
def folder(tmp_path):
    return write_set(tmp_path / "set")


def write(folder, *entries, person=ANN):
    return open_reviews(load_review_set(folder), Settings()).record(entries, person)


def words(folder, value, name="prior"):
    """Write words, and return their version."""
    write(folder, Entry(WORDS, subject=name, value=value))
    return current_failures(seen(folder))[name].prompt.hash if value else None


def mark(version, case="c1", model="m", name="prior", comment=None):
    value = {"version": version, "comment": comment} if version else None
    return Entry(WRITTEN_MARK_KIND, case, model, name, value=value)


def seen(folder):
    review_set = load_review_set(folder)
    return merge_reviews(review_set, open_reviews(review_set, Settings()))


def found(folder, *words):
    wanted = CaseFilter.from_query({"marked": words, "sort": "order"})
    return list(build_memory_engine(seen(folder)).page(wanted, 0, 10))


def of_models(one):
    return {row.model: (row.answers.value, row.people) for row in one.rows}


def test_each_person_says_it_once_and_answers_are_counted_once(folder):
    version = words(folder, OLD)
    write(folder, mark(version), mark(version, comment="Again."), mark(version, "c2"))
    write(folder, mark(version), mark(version, model="n"), person=EVE)
    review_set = seen(folder)
    told = count_marks(list_counted_marks(review_set), review_set.model_names, "prior")
    assert of_models(told) == {"m": (2, 2), "n": (1, 1)}
    assert (told.all.answers.value, told.all.people, told.elsewhere) == (3, 2, 0)
    on_case = [(one.mark.model, one.mark.reader) for one in list_marks(review_set, "c1")]
    assert sorted(on_case) == [("m", "ann"), ("m", "eve"), ("n", "eve")]
    engine = build_memory_engine(review_set)
    for row in (*told.rows, told.all):
        cases = {"m": ["c1", "c2"], "n": ["c1"], None: ["c1", "c2"]}[row.model]
        assert sorted(engine.page(row.answers.opens, 0, 10)) == cases


def test_no_flag_of_rules_and_readers_is_mixed_with_it(folder):
    before = build_memory_engine(seen(folder))
    version = words(folder, OLD)
    write(folder, mark(version))
    after = build_memory_engine(seen(folder))
    assert after.facets(CaseFilter()).headlines == before.facets(CaseFilter()).headlines
    page = build_case_page(seen(folder), "c1", after)
    assert {flag.failure for flag in page.flags}.isdisjoint({"prior", TITLE})
    assert [one.mark.model for one in page.marks] == ["m"]
    assert page.of_models(("n",)).marks == ()


def test_taken_back_it_is_gone_and_stays_in_the_history(folder):
    version = words(folder, OLD)
    write(folder, mark(version))
    assert found(folder, "prior") == ["c1"]
    write(folder, mark(None))
    assert found(folder, "prior") == []
    assert list_counted_marks(seen(folder)) == ()
    assert (
        len(open_reviews(load_review_set(folder), Settings()).history(kind=WRITTEN_MARK_KIND)) == 2
    )


def test_a_mark_is_of_the_words_that_were_read(folder):
    old = words(folder, OLD)
    write(folder, mark(old))
    new = words(folder, NEW)
    write(folder, mark(new, "c2"))
    review_set = seen(folder)
    told = count_marks(list_counted_marks(review_set), review_set.model_names, "prior", new[:12])
    assert (of_models(told), told.elsewhere) == ({"m": (1, 1)}, 1)
    assert found(folder, f"prior:{new[:12]}") == ["c2"]
    assert found(folder, f"prior:{old[:12]}") == ["c1"]
    assert found(folder, "prior") == ["c1", "c2"]
    assert [one.is_earlier for one in list_marks(review_set, "c1")] == [True]
    assert [one.is_earlier for one in list_marks(review_set, "c2")] == [False]


def test_a_mark_of_a_changed_answer_counts_nowhere_and_is_named(folder):
    write(folder, mark(words(folder, OLD)))
    changed = [{**ANSWERS[0], "text": "Another text."}, *ANSWERS[1:]]
    lines = "".join(f"{json.dumps(one)}\n" for one in changed)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    assert found(folder, "prior") == []
    assert [one.mark.stale for one in list_marks(seen(folder), "c1")] == [True]
    (folder / "answers.jsonl").write_text(lines.replace('"m"', '"k"'), encoding="utf-8")
    assert found(folder, "prior") == []


def test_marks_of_a_removed_failure_are_kept_and_not_shown(folder):
    version = words(folder, OLD)
    write(folder, mark(version))
    words(folder, None)
    review_set = seen(folder)
    assert (list_counted_marks(review_set), list_marks(review_set, "c1")) == ((), ())
    assert found(folder, "prior") == []
    facets = build_memory_engine(review_set).facets(CaseFilter()).facets
    assert [one.values for one in facets if one.field == "marked"] == [()]
    words(folder, OLD)
    assert found(folder, "prior") == ["c1"]


def test_a_failure_of_a_file_of_the_set_can_be_marked(folder):
    file = folder / "prompts" / "failures" / "of-file.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("name: Of a file\ncounts: It says so.\n", encoding="utf-8")
    version = current_failures(seen(folder))["of-file"].prompt.hash
    write(folder, mark(version, name="of-file"))
    assert found(folder, "of-file") == ["c1"]


def test_browse_names_it_apart(folder):
    write(folder, mark(words(folder, OLD)))
    engine = build_memory_engine(seen(folder))
    (facet,) = [one for one in engine.facets(CaseFilter()).facets if one.field == "marked"]
    assert facet.name == "In your own words"
    assert [(one.value, one.name, one.count) for one in facet.values] == [
        ("prior", f"Marked by people: {TITLE}", 1)
    ]
    (card,) = engine.cards(CaseFilter(), ["c1"])
    assert {one.model: one.marked for one in card.answers} == {"m": (TITLE,), "n": ()}
    wanted = CaseFilter(marked=("prior", "other:3fa9c1d2e4b5"), models=("n",))
    assert list(engine.page(wanted, 0, 10)) == []
    assert "Marked by people: other (one version of its words)" in describe_filter(
        engine.facts, wanted
    )
    labels = [chip.label for chip in list_chips(engine.facts, wanted)]
    assert f"Marked by people: {TITLE}" in labels


@pytest.mark.parametrize("word", ["<b>", "a b", "prior:", "prior:xyz", "a:3fa9c1d2:m", "-x"])
def test_other_words_are_not_understood(word):
    with pytest.raises(FilterError, match="which is unknown here"):
        CaseFilter.from_query({"marked": word})


def test_only_who_sees_the_models_may(folder):
    assert [may_write_kind(one, WRITTEN_MARK_KIND) for one in (ANN, EVE, BOB, VIC)] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(StoreRefused):
        write(folder, mark("0" * 64), person=BOB)


@pytest.mark.parametrize(
    "entry",
    [
        mark("v", model="gone"),
        mark("v", case="gone"),
        mark("v", name="<img src=x>"),
        mark("v", name=None),
        mark("v", name="a:b"),
        replace(mark("v"), value={"comment": "No version."}),
        replace(mark("v"), value={"version": "v", "said": "yes"}),
        replace(mark("v"), picture=0),
    ],
)
def test_what_is_no_mark_is_refused(folder, entry):
    with pytest.raises(StoreRefused):
        write(folder, entry)


def test_nothing_is_lost_on_the_way(folder, tmp_path):
    version = words(folder, OLD)
    write(folder, mark(version, comment="=1+1 <b>"), mark(version, "c2"))
    write(folder, mark(version), person=EVE)
    out, kept = tmp_path / "out", tmp_path / "reviews.backup"
    assert main(["export-reviews", str(folder), "--out", str(out)]) == 0
    with (out / "written_marks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["case"], row["by"], row["comment"]) for row in rows] == [
        ("c1", "ann", "=1+1 <b>"),
        ("c2", "ann", ""),
        ("c1", "eve", ""),
    ]
    assert {(row["model"], row["failure"], row["version"]) for row in rows} == {
        ("m", "prior", version)
    }
    before = seen(folder).marks
    assert main(["backup", str(folder), "--out", str(kept)]) == 0
    for file in folder.glob("reviews.*"):
        file.unlink()
    assert seen(folder).marks == ()
    assert main(["restore", str(kept), str(folder)]) == 0
    assert seen(folder).marks == before
    other = tmp_path / "other.sqlite"
    shutil.copy(folder / "reviews.sqlite", other)
    for file in folder.glob("reviews.*"):
        file.unlink()
    write(folder, Entry("skip", "c3", value={"reason": "Blurred"}))
    assert main(["merge-reviews", str(folder), "--from", str(other)]) == 0
    assert seen(folder).marks == before
