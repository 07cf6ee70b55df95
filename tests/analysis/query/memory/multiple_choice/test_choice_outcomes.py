"""What became of choice questions: the filter and its counts, held against loops over the files."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rexview.analysis import CaseFilter, describe_filter, describe_unknown_values
from rexview.analysis.multiple_choice import list_read_question_cells
from rexview.analysis.query.engine import Facet
from rexview.analysis.query.filter.linked_count import refine_filter
from rexview.analysis.query.memory.memory_engine import MemoryEngine, build_memory_engine
from rexview.reviewset import load_review_set
from rexview.stats.multiple_choice import measure_choice_accuracies

MODELS, READERS, PERSON = ("g", "m", "x:1"), ("dr a", "dr b"), "dr c"
OPTIONS = (
    ("Left pleural effusion", "Right pleural effusion", "No effusion", "Pneumothorax"),
    ("Yes", "No"),
)
OF_MODELS, OF_CASES = (
    ("right", "wrong", "failed"),
    ("all_wrong", "against_readers", "wrong_side", "read", "answered"),
)
N = 120


def write_files(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write a set of questions with and without a right option, and reports.

    Some readers are models of that kind, one is a person who answered in the app.
    """
    rng = random.Random(7)
    kinds = {"kind": "reader"}
    models = [{"id": name, "name": f"Model {name}"} for name in MODELS]
    models += [{"id": name, "name": name.title(), **kinds} for name in READERS]
    info = {"format": 1, "name": "Choices", "models": models}
    (folder / "reviewset.yaml").write_text(json.dumps(info), encoding="utf-8")
    cases, answers, choices = [], [], []
    for number in range(N):
        case: dict[str, Any] = {"id": f"q{number}", "question": "What is seen?"}
        case["question_type"] = rng.choice(("choice",) * 6 + ("report",))
        case["difficulty"] = rng.choice(("easy", "hard"))
        case["patient_id"] = f"p{rng.randint(1, 40)}"
        if case["question_type"] == "choice":
            case["options"] = list(rng.choice(OPTIONS))
            if rng.random() < 0.9:
                case["correct"] = rng.randrange(len(case["options"]))
        cases.append(case)
        if "options" in case and rng.random() < 0.5:
            choice = rng.randrange(len(case["options"]))
            choices.append({"case": case["id"], "reader": PERSON, "choice": choice})
        for model in rng.sample((*MODELS, *READERS), rng.randint(0, 5)):
            answer: dict[str, Any] = {"case": case["id"], "model": model, "text": "See there."}
            if "options" in case and rng.random() < 0.85:
                answer["choice"] = rng.randrange(len(case["options"]))
                if "correct" in case and rng.random() < 0.4:
                    answer["choice"] = case["correct"]
            answers.append(answer)
    for name, rows in (("cases", cases), ("answers", answers), ("choices", choices)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return cases, [*answers, *({**one, "model": one["reader"]} for one in choices)]


class Reading:
    """The words that are true of each case, by loops over the rows of the files."""

    def __init__(self, cases: list[Any], answers: list[Any], engine: MemoryEngine) -> None:
        self.cases = cases
        self.of_case: dict[str, list[Any]] = {case["id"]: [] for case in cases}
        for answer in answers:
            self.of_case[answer["case"]].append(answer)
        self.words = {case["id"]: self._words(case, engine) for case in cases}

    def _words(self, case: dict[str, Any], engine: MemoryEngine) -> set[str]:
        if "correct" not in case:
            return set()
        became = {}
        for answer in self.of_case[case["id"]]:
            right = answer.get("choice") == case["correct"]
            became[answer["model"]] = (
                "failed" if "choice" not in answer else "right" if right else "wrong"
            )
        words = {f"{outcome}:{model}" for model, outcome in became.items()}
        of_models = {model: outcome for model, outcome in became.items() if model in MODELS}
        counts = Counter(of_models.values())
        if counts["wrong"] >= 2 and not counts["right"]:
            words.add("all_wrong")
        missed = [model for model, outcome in of_models.items() if outcome != "right"]
        if len(missed) == 1 and counts["right"]:
            words.add(f"only_wrong:{missed[0]}")
        most_of_models, most_of_readers = (
            self._most_chosen(case["id"], raters) for raters in (MODELS, (*READERS, PERSON))
        )
        if became:
            words.add("answered")
        if any(rater in became for rater in (*READERS, PERSON)):
            words.add("read")
        if None not in (most_of_models, most_of_readers) and most_of_models != most_of_readers:
            words.add("against_readers")
        given = engine.table.review_set.answers_of(case["id"])
        if any(flag.kind == "choice" for flag in engine.flags(case["id"], given, ())):
            words.add("wrong_side")
        return words

    def _most_chosen(self, case: str, raters: tuple[str, ...]) -> int | None:
        votes = Counter(
            one["choice"]
            for one in self.of_case[case]
            if one["model"] in raters and "choice" in one
        ).most_common()
        level = len(votes) > 1 and votes[0][1] == votes[1][1]
        return None if not votes or level else int(votes[0][0])

    def left(self, case_filter: CaseFilter) -> set[str]:
        """Cases for which of each group one word is true, and that meet the other conditions."""
        groups: dict[Any, set[str]] = {}
        for word in case_filter.outcomes:
            groups.setdefault(group_of(word), set()).add(word)
        return {
            case["id"]
            for case in self.cases
            if all(self.words[case["id"]] & words for words in groups.values())
            and case_filter.difficulties in ((), (case["difficulty"],))
            and (
                not case_filter.models
                or any(one["model"] in case_filter.models for one in self.of_case[case["id"]])
            )
        }


def group_of(word: str) -> str:
    if word in OF_CASES[1:]:
        return word
    return "who" if word == "all_wrong" or word.startswith("only_wrong:") else word.split(":", 1)[1]


@pytest.fixture(scope="module", name="both")
def both_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[MemoryEngine, Reading]:
    folder = tmp_path_factory.mktemp("choices")
    rows = write_files(folder)
    engine = build_memory_engine(load_review_set(folder))
    return engine, Reading(*rows, engine)


def words_of_set() -> list[str]:
    raters = (*MODELS, *READERS, PERSON)
    words = [f"{kind}:{model}" for kind in OF_MODELS for model in raters]
    return [*words, *(f"only_wrong:{model}" for model in MODELS), *OF_CASES]


def facet_of(engine: MemoryEngine, case_filter: CaseFilter) -> Facet:
    return next(one for one in engine.facets(case_filter).facets if one.field == "outcomes")


def filters() -> list[CaseFilter]:
    rng = random.Random(3)
    found = [CaseFilter(), *(CaseFilter(outcomes=(word,)) for word in words_of_set())]
    for _ in range(60):
        chosen: dict[str, Any] = {"outcomes": rng.sample(words_of_set(), rng.randint(0, 3))}
        if rng.random() < 0.4:
            chosen["difficulties"] = ("hard",)
        if rng.random() < 0.4:
            chosen["models"] = (rng.choice(MODELS),)
        found.append(CaseFilter(**{name: tuple(words) for name, words in chosen.items()}))
    return found


def test_a_filter_leaves_what_a_loop_leaves(both: tuple[MemoryEngine, Reading]) -> None:
    engine, reading = both
    sizes = []
    for case_filter in filters():
        left = reading.left(case_filter)
        assert set(engine.page(case_filter, 0, N)) == left, case_filter
        assert engine.tally(case_filter).cases == len(left)
        sizes.append(len(left))
    assert sum(0 < size < N for size in sizes) > len(sizes) / 2
    every_word = set().union(*reading.words.values())
    assert every_word == {*words_of_set()} - {f"failed:{PERSON}"}  # the set shows all there is


def test_counts_are_those_of_choosing_a_value_instead(both: tuple[MemoryEngine, Reading]) -> None:
    engine, reading = both
    for case_filter in filters():
        facet = facet_of(engine, case_filter)
        assert {value.value for value in facet.values} == set(words_of_set())
        for value in facet.values:
            group = group_of(value.value)
            others = [word for word in case_filter.outcomes if group_of(word) != group]
            only: Any = {**vars(case_filter), "outcomes": (*others, value.value)}
            assert value.count == len(reading.left(CaseFilter(**only))), (case_filter, value)
            assert value.chosen == (value.value in case_filter.outcomes)


def test_the_counts_of_a_model_add_up_to_its_answers(both: tuple[MemoryEngine, Reading]) -> None:
    engine, _ = both
    counts = {value.value: value.count for value in facet_of(engine, CaseFilter()).values}
    for row in measure_choice_accuracies(
        engine.table.review_set, (*MODELS, *READERS), resamples=10
    ):
        if row.task is None and row.category is None:
            parts = {outcome: counts[f"{outcome}:{row.model}"] for outcome in OF_MODELS}
            assert sum(parts.values()) == row.n > 30
            assert (parts["right"], parts["failed"]) == (row.correct, row.failed)


@pytest.mark.parametrize("models", [("g",), ("g", "dr a"), ("dr b",)])
def test_what_readers_answered_does_not_change_with_the_models_shown(
    both: tuple[MemoryEngine, Reading], models: tuple[str, ...]
) -> None:
    engine, only = both[0], CaseFilter(models=models)
    for cell in list_read_question_cells(engine, only, resamples=0):
        assert engine.tally(cell.asked.opens).cases == cell.asked.value


def test_other_conditions_count_within_an_outcome(both: tuple[MemoryEngine, Reading]) -> None:
    engine, reading = both
    chosen = CaseFilter(outcomes=("right:g", "wrong:m", "failed:m"))
    counts = {
        (facet.field, value.value): value.count
        for facet in engine.facets(chosen).facets
        for value in facet.values
    }
    for level in ("easy", "hard"):
        only = CaseFilter(outcomes=chosen.outcomes, difficulties=(level,))
        assert counts["difficulties", level] == len(reading.left(only)) > 0


def test_the_wrong_side_rests_on_flags_and_is_asked_of_all(
    both: tuple[MemoryEngine, Reading],
) -> None:
    engine, _ = both
    on_side = engine.scanned(CaseFilter(outcomes=("wrong_side",)))
    assert on_side == engine.scanned(CaseFilter())  # any answer may still turn out to be one
    assert engine.scanned(CaseFilter(outcomes=("right:g",))).answers < on_side.answers


def test_a_set_without_choice_questions_has_no_such_values(make_set: Any) -> None:
    engine = build_memory_engine(
        make_set(cases=[{"id": "c"}], answers=[{"case": "c", "model": "g"}])
    )
    assert facet_of(engine, CaseFilter()).values == ()
    for word in ("right:g", *OF_CASES):
        assert engine.page(CaseFilter(outcomes=(word,)), 0, 9) == ()


def test_words_on_screen(both: tuple[MemoryEngine, Reading]) -> None:
    engine, _ = both
    asked = CaseFilter(outcomes=("right:g", "wrong:x:1", "failed:x:1", "only_wrong:m"))
    assert describe_filter(engine.facts, asked) == (
        "Model g: right, Model x:1: wrong or Model x:1: no usable choice, Only Model m wrong"
    )
    unknown = CaseFilter(outcomes=("wrong:nobody", "all_wrong"))
    counts = engine.facets(unknown)
    assert counts.total == 0
    assert describe_unknown_values(counts, engine.facts, unknown) == [
        "This set has no model “nobody”."
    ]


class TestLink:
    def test_goes_there_and_back(self) -> None:
        asked = CaseFilter(outcomes=("right:a:b", "all_wrong", "wrong_side"))
        assert asked.to_query() == {"outcome": ["right:a:b", "all_wrong", "wrong_side"]}
        assert CaseFilter.from_query(asked.to_query()) == asked

    @pytest.mark.parametrize("word", ["right", "right:", "all_wrong:g", "odd", "odd:g", ":g"])
    def test_says_what_it_does_not_understand(self, word: str) -> None:
        asked, problems = CaseFilter.read({"outcome": [word, "all_wrong"]})
        assert asked.outcomes == ("all_wrong",)
        assert len(problems) == 1

    def test_a_link_from_a_count_narrows(self) -> None:
        base = CaseFilter(outcomes=("right:g", "wrong:g"))
        inside = refine_filter(base, outcomes=("wrong:g", "right:m"))
        assert inside == CaseFilter(outcomes=("wrong:g", "right:m"))
        assert refine_filter(base, outcomes="failed:g") is None
        assert refine_filter(base, outcomes="all_wrong") == CaseFilter(
            outcomes=("right:g", "wrong:g", "all_wrong")
        )
