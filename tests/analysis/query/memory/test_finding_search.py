"""A search for a finding shows where it is said to be there, or to be absent, as one chooses."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from rexview.analysis import CaseFilter, describe_filter, list_chips, parse_search, search_caption
from rexview.analysis.query.filter.case_filter import MENTIONS
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.detect import detector
from rexview.detect.scan import finding_index
from rexview.detect.scan.scan import scan
from rexview.errors import FilterError

TEXTS = {  # case: report, answer of g, answer of m
    "there": ("Right apical pneumothorax.", "PTX on the right.", "The lungs are clear."),
    "denied": ("No pneumothorax. No effusion.", "No pneumothorax.", None),
    "invented": ("No pneumothorax.", "Small left pneumothorax.", "No pneumothorax."),
    "possible": ("Possible small left effusion.", "Lungs clear.", None),
    "earlier": ("The previously seen pneumothorax has resolved.", "Stable.", None),
    "empyema": ("Loculated right empyema.", "Left pleural effusion.", None),
    "bones": ("Fracture of the left clavicle.", "No rib fracture.", None),
    "silent": ("Normal.", "Normal heart.", None),
}


@pytest.fixture(name="engine")
def engine_fixture(make_set: Any) -> MemoryEngine:
    cases = [
        {"id": name, "question": "Is there a pneumothorax?", "report": {"findings": texts[0]}}
        for name, texts in TEXTS.items()
    ]
    answers = [
        {"case": name, "model": model, "text": text}
        for name, texts in TEXTS.items()
        for model, text in zip("gm", texts[1:], strict=True)
        if text is not None
    ]
    return build_memory_engine(make_set(cases=cases, answers=answers))


def shown(engine: MemoryEngine, search: str, mention: str, **more: Any) -> set[str]:
    return set(engine.selection(CaseFilter(search=search, mention=mention, **more)).case_ids)


@pytest.mark.parametrize(
    ("search", "present", "absent"),
    [
        ("pneumothorax", {"there", "invented"}, {"denied", "invented", "earlier"}),
        ("ptx", {"there", "invented"}, {"denied", "invented", "earlier"}),
        ("left pneumothorax", {"invented"}, {"denied", "invented", "earlier"}),
        ("effusion", {"possible", "empyema"}, {"denied"}),
        ("right effusion", {"empyema"}, {"denied"}),
        ("empyema", {"empyema"}, set()),
        ("fracture", {"bones"}, {"bones"}),
        ("rib fracture", set(), {"bones"}),
        ("clavicle fracture", {"bones"}, set()),
        ("apical pneumothorax", {"there"}, set()),
        ("pneumothorax effusion", set(), {"denied"}),
    ],
)
def test_a_finding_is_searched_for_as_it_is_spoken_of(
    engine: MemoryEngine, search: str, present: set[str], absent: set[str]
) -> None:
    assert shown(engine, search, "present") == present
    assert shown(engine, search, "absent") == absent
    assert shown(engine, search, "any") >= present | absent


def test_any_mention_has_what_is_only_of_an_earlier_study(make_set: Any) -> None:
    case = {"id": "c", "question": "q", "report": {"findings": "Prior: moderate right effusion."}}
    engine = build_memory_engine(make_set(cases=[case], answers=[]))
    found = [word for word in MENTIONS if shown(engine, "effusion", word)]
    assert found == ["any", "text"]


def test_the_answer_that_says_so_meets_the_other_conditions(engine: MemoryEngine) -> None:
    assert shown(engine, "left pneumothorax", "present", models=("g",)) == {"invented"}
    assert shown(engine, "left pneumothorax", "present", models=("m",)) == set()


@pytest.mark.parametrize("search", ["lungs", "normal heart", "Normal.", "(", "no"])
@pytest.mark.parametrize("mention", MENTIONS)
def test_words_that_are_no_finding_are_searched_as_text(
    engine: MemoryEngine, search: str, mention: str
) -> None:
    assert shown(engine, search, mention) == shown(engine, search, "text")


def test_plain_text_finds_the_words_as_typed(engine: MemoryEngine) -> None:
    assert shown(engine, "pneumothorax", "text") == set(TEXTS)  # every question has it
    assert shown(engine, "ptx", "text") == {"there"}


def test_the_counts_are_those_of_the_other_ways_to_search(engine: MemoryEngine) -> None:
    case_filter = CaseFilter(search="pneumothorax", mention="present", models=("g",))
    counts = engine.facets(case_filter)
    assert {value.value: value.count for value in counts.mentions} == {
        word: len(shown(engine, "pneumothorax", word, models=("g",))) for word in MENTIONS
    }
    assert [value.value for value in counts.mentions if value.chosen] == ["present"]
    assert engine.facets(CaseFilter(search="carina")).mentions == ()


def test_words_say_what_is_shown(engine: MemoryEngine) -> None:
    case_filter = CaseFilter(search="ptx", mention="present")
    assert search_caption(engine.facets(case_filter), "ptx") == (
        "Shown: pneumothorax present or possible in an answer or the report."
    )
    assert describe_filter(engine.facts, case_filter) == "Pneumothorax: present"
    assert [chip.label for chip in list_chips(engine.facts, case_filter)] == [
        "Pneumothorax: present"
    ]
    apical = CaseFilter(search="no apical ptx", mention="absent")
    assert describe_filter(engine.facts, apical) == "Pneumothorax: absent, “apical”"
    assert describe_filter(engine.facts, CaseFilter(search="ptx")) == "“ptx”"
    assert search_caption(engine.facets(CaseFilter(search="carina")), "carina") == ""


@pytest.mark.parametrize(
    ("search", "usual"),
    [
        ("pneumothorax", "present"),
        ("no pneumothorax", "absent"),
        ("without effusion", "absent"),
        ("carina", "text"),
        ("", "text"),
    ],
)
def test_a_new_search_is_for_what_is_there_unless_it_says_no(search: str, usual: str) -> None:
    assert parse_search(search).usual == usual


def test_the_choice_is_in_the_link_and_old_links_keep_their_meaning() -> None:
    assert CaseFilter.from_query({"q": "effusion"}).mention == "text"
    chosen = CaseFilter(search="effusion", mention="absent")
    assert chosen.to_query() == {"q": ["effusion"], "mention": ["absent"]}
    assert CaseFilter.from_query(chosen.to_query()) == chosen
    assert chosen.without("search") == CaseFilter()
    assert CaseFilter.from_query({"mention": "absent"}) == CaseFilter()
    found, problems = CaseFilter.read({"q": "effusion", "mention": "perhaps"})
    assert found == CaseFilter(search="effusion")
    assert len(problems) == 1
    with pytest.raises(FilterError):
        CaseFilter(search="effusion", mention="perhaps")


def test_no_text_is_read_for_a_search(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding_index, "report_mentions", None)
    monkeypatch.setattr(detector, "asserted_mentions", None)
    assert shown(engine, "effusion", "absent") == {"denied"}


def test_new_scores_do_not_have_the_texts_read_again(make_set: Any) -> None:
    review_set = make_set(
        cases=[{"id": "c", "question": "q", "report": {"findings": "Effusion."}}],
        answers=[{"case": "c", "model": "g", "text": "No effusion."}],
    )
    first = scan(review_set, ())
    again = scan(review_set, (), first)
    assert again.index is first.index
    assert {phrase.presence for phrase in first.index.phrases} == {"present", "absent"}


def test_a_table_without_any_text_finds_nothing(make_set: Any) -> None:
    engine = build_memory_engine(make_set(cases=[{"id": "c", "question": "q"}], answers=[]))
    assert shown(engine, "effusion", "any") == set()
    assert pl.Series(engine.selection(CaseFilter(search="q")).case_ids).to_list() == ["c"]
