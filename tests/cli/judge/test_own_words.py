"""A failure written on a page: the command line sees the same words, the filter what was found."""

import csv
import json
import shutil
from dataclasses import replace

import pytest
from support.entries.stored import ANN, EVE
from support.judge.own_words import write_looked_through
from support.judge.set_to_judge import ANSWERS, write_judged

from rexview.analysis import CaseFilter, written_failures, written_results
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.analysis.written_results import (
    RESULT_ORDER,
    count_judge_results,
    list_judged_wordings,
    load_judge_results,
    result_condition,
)
from rexview.cli import main
from rexview.errors import SettingsError
from rexview.reviewset import load_review_set
from rexview.settings import load_settings
from rexview.store import Entry, open_reviews

pytestmark = pytest.mark.usefixtures("asks_models")

JUDGE = "gpt:5 mini"
NAME = "left-effusion"
WORDS = {"name": "Left <b>effusion</b>", "counts": "It sees --- an effusion: on the left."}
YES = {"json": {"has_it": "yes", "reason": "It says so.", "quote": "left pleural effusion"}}
RULES = [
    {"match": "I see a LEFT", "turns": [YES]},
    {"match": "The heart is\n-----", "turns": [{"text": "I cannot say."}]},
    {"turns": [{"json": {"has_it": "no", "reason": "Nothing of it.", "quote": ""}}]},
]


@pytest.fixture
def folder(tmp_path):
    return write_judged(tmp_path / "set")


def reviews_of(folder):
    return open_reviews(load_review_set(folder), load_settings())


def write(folder, value, person=ANN, name=NAME):
    entry = Entry(written_failures.WRITTEN_FAILURE_KIND, subject=name, value=value)
    return reviews_of(folder).record([entry], person)


def words_now(folder, name=NAME):
    return written_failures.find_failure_wording(load_review_set(folder), load_settings(), name)


def judge(folder, server, *more, name=NAME):
    arguments = ["judge", str(folder), "--judge", JUDGE, "--base-url", server.base_url]
    return main([*arguments, "--written", name, *more])


@pytest.fixture
def judged(folder, server):
    write(folder, WORDS)
    judge(folder, server)
    return folder


def test_words_of_a_page_come_before_a_file_and_have_versions(folder):
    path = folder / "prompts" / "failures" / f"{NAME}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: In a file\ncounts: A\n", encoding="utf-8")
    of_file = words_now(folder)
    write(folder, WORDS)
    first = words_now(folder)
    write(folder, {**WORDS, "examples": ["One.", "- Two."]}, EVE)
    now = words_now(folder)
    assert len({of_file.hash, first.hash, now.hash}) == 3
    assert written_failures.make_form_value(now)["examples"] == ["One.", "- Two."]
    history = reviews_of(folder).history(kind=written_failures.WRITTEN_FAILURE_KIND)
    versions = written_failures.list_wordings(folder, history, NAME)
    assert [one.prompt.hash for one in versions] == [now.hash, first.hash, of_file.hash]
    assert [one.by for one in versions] == [EVE.name, ANN.name, None]
    for one in versions:
        assert words_now(folder, f"{NAME}@{one.version}") == one.prompt
    write(folder, None)
    assert words_now(folder) == of_file
    assert words_now(folder, f"{NAME}@{now.hash[:12]}") == now


@pytest.mark.parametrize("name", ["none", f"{NAME}@", f"{NAME}@00000000", "../x", f"{NAME}@../x"])
def test_what_is_not_there_is_refused(folder, name):
    write(folder, WORDS)
    with pytest.raises(SettingsError):
        words_now(folder, name)


def test_names_are_made_of_titles_and_none_twice(folder):
    write(folder, WORDS, name="../../etc")
    every, problems = written_failures.list_written_failures(
        folder, reviews_of(folder).current(written_failures.WRITTEN_FAILURE_KIND)
    )
    assert (every, problems) == ([], [])


def test_the_filter_leaves_exactly_what_is_counted(judged):
    review_set = load_review_set(judged)
    found = load_judge_results(review_set, words_now(judged), JUDGE)
    rows = count_judge_results(found, review_set.model_names)
    engine = build_memory_engine(review_set)
    assert {row.model: [row.counts[said].value for said in RESULT_ORDER] for row in rows} == {
        "zebu-7b": [1, 0, 0, 1],
        "okapi": [0, 2, 0, 0],
    }
    for row in rows:
        for said in RESULT_ORDER:
            count = row.counts[said]
            link = CaseFilter.from_query(count.opens.to_query())
            assert link == count.opens
            assert engine.facets(link).total == count.value
    spoken = CaseFilter(written=(result_condition(found, ""),))
    assert engine.facets(spoken).total == 2  # what cannot be read was not told
    other = CaseFilter(written=(result_condition(found, "yes").replace(NAME, "other"),))
    assert engine.facets(other).total == 0


def test_no_number_of_rules_or_readers_changes(folder, server):
    before = build_memory_engine(load_review_set(folder)).facets(CaseFilter())
    write(folder, WORDS)
    judge(folder, server)
    assert build_memory_engine(load_review_set(folder)).facets(CaseFilter()) == before


def test_a_changed_answer_or_other_words_have_no_result(judged):
    prompt = words_now(judged)
    changed = [{**row, "text": f"{row['text']} And more."} for row in ANSWERS]
    put_answers(judged, changed)
    found = load_judge_results(load_review_set(judged), prompt, JUDGE)
    assert [one.about.case for one in found.results.said] == []
    put_answers(judged, ANSWERS)
    write(judged, {**WORDS, "counts": "Something else."})
    assert load_judge_results(load_review_set(judged), words_now(judged), JUDGE).results.said == ()
    assert load_judge_results(load_review_set(judged), prompt, JUDGE).results.count("yes") == 1


def put_answers(folder, rows):
    """Put other answers in place of those of the set."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")


def say(folder, found, word, person, group="found", place=0):
    [_, candidate] = written_results.draw_sample(found, 25)[group][place]
    value = {"said": word, "failure": NAME, "version": found.prompt.hash, "judge": found.judge}
    entry = Entry(
        *(written_results.VALIDATION_KIND, candidate.about.case, candidate.about.model),
        written_results.sample_id(found),
        value=value if word else None,
        answer_digest=candidate.about.answer_digest,
    )
    reviews_of(folder).record([entry], person)


def shares(folder, found):
    rows = written_results.count_verdicts(
        found, reviews_of(folder).current(written_results.VALIDATION_KIND)
    )
    return [
        (one.who, (one.found.yes, one.found.no, one.found.unsure), one.not_found.yes, one.differ)
        for one in rows
    ]


def test_each_clinician_has_a_row_and_all_have_one_together(judged):
    found = load_judge_results(load_review_set(judged), words_now(judged), JUDGE)
    assert shares(judged, found) == []
    say(judged, found, "yes", ANN)
    say(judged, found, "yes", ANN, "not found")
    assert shares(judged, found) == [(ANN.name, (1, 0, 0), 1, 0)]
    say(judged, found, "unsure", EVE)
    assert shares(judged, found)[0] == (None, (1, 0, 0), 1, 0)  # who is sure says it
    say(judged, found, "no", EVE)
    assert shares(judged, found) == [
        (None, (0, 0, 1), 1, 1),
        (ANN.name, (1, 0, 0), 1, 0),
        (EVE.name, (0, 1, 0), 0, 0),
    ]
    say(judged, found, None, EVE)
    assert shares(judged, found) == [(ANN.name, (1, 0, 0), 1, 0)]
    assert shares(judged, replace(found, judge="another")) == []


def test_a_word_on_an_earlier_text_counts_no_more(judged, server):
    found = load_judge_results(load_review_set(judged), words_now(judged), JUDGE)
    say(judged, found, "yes", ANN)
    changed = [
        {**row, "text": f"{row['text']} I see a LEFT one."} for row in ANSWERS if row["text"]
    ]
    put_answers(judged, changed)
    judge(judged, server)
    now = load_judge_results(load_review_set(judged), words_now(judged), JUDGE)
    assert now.results.count("yes") == 4
    assert shares(judged, now) == []


def test_the_order_tells_nothing_of_the_group(judged):
    """Each item stands where it would stand, had the judge said the contrary."""
    found = load_judge_results(load_review_set(judged), words_now(judged), JUDGE)

    def turned(one):
        said = "no" if one.found.said == "yes" else "yes"
        return replace(one, found=replace(one.found, said=said, quote=None))

    results = replace(found.results, said=tuple(map(turned, found.results.said)))
    contrary = replace(found, results=results)
    items = [item for item, _ in written_results.order_sample(found, 25)]
    assert [item for item, _ in written_results.order_sample(contrary, 25)] == items
    assert len(items) == 3


def test_the_command_line_tells_what_was_read_and_exports_have_it(judged, capsys, tmp_path):
    found = load_judge_results(load_review_set(judged), words_now(judged), JUDGE)
    say(judged, found, "yes", ANN)
    capsys.readouterr()
    assert main(["written", str(judged), NAME, "--judge", JUDGE]) == 0
    told = capsys.readouterr().out
    assert f"On the page Failures, {ANN.name}, over all answers judged:" in told
    assert "precision: 100% (95% CI 21 to 100), 1 of 1 read of 1" in told
    out = tmp_path / "out"
    assert main(["export-reviews", str(judged), "--out", str(out)]) == 0
    assert "1 version of failures in words, 1 answer read for them" in capsys.readouterr().out
    with (out / "written_validations.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["case"], row["said"], row["by"], row["judge"]) == ("case-1", "yes", ANN.id, JUDGE)
    with (out / "written_failures.csv").open(encoding="utf-8", newline="") as file:
        [words] = csv.DictReader(file)
    assert (words["name"], words["version"]) == (WORDS["name"], found.prompt.hash)


def test_a_search_for_another_failure_leaves_what_was_read_of_this_one(tmp_path, monkeypatch):
    folder = write_looked_through(tmp_path / "set", monkeypatch)
    ((prompt, judge),) = list_judged_wordings(review_set := load_review_set(folder))
    found = load_judge_results(review_set, prompt, judge)
    (run,) = (folder / "judging").iterdir()
    other = shutil.copytree(run, run.with_name(f"{run.name}-2"))
    spec = (run / "run.json").read_text(encoding="utf-8")
    spec = spec.replace(run.name, other.name).replace(prompt.hash, prompt.hash[::-1])
    (other / "run.json").write_text(spec, encoding="utf-8")
    assert len(list_judged_wordings(review_set)) == 2
    assert load_judge_results(review_set, prompt, judge) is found
    with (run / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write("{}\n")
    again = load_judge_results(review_set, prompt, judge)
    assert again is not found
    assert again.subjects[0] is found.subjects[0]  # what was judged is made once for a set
