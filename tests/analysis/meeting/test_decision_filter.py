"""Cases are found by what meetings decided about them; the counts say how many."""

import pytest
from support.small_set import write_set

from rexview.analysis import CaseFilter
from rexview.analysis.query.filter.filter_text import describe_filter
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.errors import FilterError
from rexview.people import Person
from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import Entry, merge_reviews, open_reviews

LEAD = Person("ann", "Ann A.", "lead")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    review_set = load_review_set(write_set(tmp_path_factory.mktemp("filter") / "set"))
    reviews = open_reviews(review_set, Settings())
    decided = [
        ("c1", "n", "m1", {"decision": "retrain"}),
        ("c1", None, "m1", {"decision": "accept"}),
        ("c2", None, "m1", {"decision": "retrain", "done": True}),
        ("c2", None, "m2", {"decision": "Ask: the vendor"}),
        ("c3", None, "m1", {"failure": "none"}),
    ]
    entries = [Entry("meeting", subject="m1", value={"name": "Chest"})]
    entries += [
        Entry("decide", case, model, meeting, value=value)
        for case, model, meeting, value in decided
    ]
    reviews.record(entries, LEAD)
    return build_memory_engine(merge_reviews(review_set, reviews))


@pytest.mark.parametrize(
    ("words", "cases"),
    [
        (["open"], ["c1", "c2"]),
        (["decision:retrain"], ["c1", "c2"]),
        (["decision:accept"], ["c1"]),
        (["decision:Ask: the vendor"], ["c2"]),
        (["meeting:m1"], ["c1", "c2", "c3"]),
        (["meeting:m2", "decision:accept"], ["c1", "c2"]),
        (["meeting:gone"], []),
        (["failure:none"], ["c3"]),
        (["failure:laterality_error"], []),
    ],
)
def test_a_word_leaves_the_cases_that_were_decided_so(engine, words, cases):
    wanted = CaseFilter.from_query({"decided": words, "sort": "order"})
    assert list(engine.page(wanted, 0, 10)) == cases
    assert CaseFilter.from_query(wanted.to_query()) == wanted


def test_the_counts_are_those_of_the_cases(engine):
    (facet,) = [one for one in engine.facets(CaseFilter()).facets if one.field == "decisions"]
    assert facet.name == "Meetings"
    counted = {value.value: (value.name, value.count) for value in facet.values}
    assert counted == {
        "open": ("Open decision", 2),
        "decision:retrain": ("Decision: Retrain", 2),
        "decision:accept": ("Decision: Accept", 1),
        "decision:Ask: the vendor": ("Decision: Ask: the vendor", 1),
        "failure:none": ("Agreed on: No failure", 1),
        "meeting:m1": ("Decided in “Chest”", 3),
        "meeting:m2": ("Decided in “m2”", 1),
    }
    for word, (_, count) in counted.items():
        assert engine.facets(CaseFilter(decisions=(word,))).total == count


def test_a_heading_says_it_in_words(engine):
    wanted = CaseFilter(decisions=("open", "meeting:m1"))
    assert describe_filter(engine.facts, wanted) == "Open decision or Decided in “Chest”"


@pytest.mark.parametrize("word", ["closed", "decision:", "meeting", "open:x"])
def test_other_words_are_not_understood(word):
    with pytest.raises(FilterError, match="decided"):
        CaseFilter.from_query({"decided": [word]})
