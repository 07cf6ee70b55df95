"""Most severe first: by the worst harm, then by who says so, then by Content, then by the file."""

from dataclasses import replace

import pytest

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_cards import describe_harm
from rexview.analysis.query.memory.memory_engine import build_memory_engine
from rexview.reviewset import load_review_set
from rexview.reviewset.write import save_review_set
from rexview.schema import ReviewSet

WRONG = "There is a right pneumothorax."
STYLE = ("verbose", "terse", "boxes_missing", "box_unrelated", "disagreement")


def a_case(name, finding="pneumothorax", side="left"):
    return {"id": name, "report": {"findings": f"There is a {side} {finding}.", "impression": None}}


def answer(case, text="There is a left pneumothorax."):
    return {"case": case, "model": "g", "text": text}


def flag(case, failure, verdict="confirmed"):
    return {
        "case": case, "model": "g", "reader": "r", "failure": failure, "verdict": verdict
    }  # fmt: skip


def scored(case, score, dimensions=("process", "execution", "synthesis")):
    return [
        {"case": case, "model": "g", "reader": "r", "dimension": name, "score": score}
        for name in dimensions
    ]


def order(review_set, **conditions):
    return build_memory_engine(review_set).selection(CaseFilter(**conditions)).case_ids


def words(review_set, case):
    engine = build_memory_engine(review_set)
    row = next(one for one in engine.table.rows.iter_rows(named=True) if one["case"] == case)
    return describe_harm(row, engine.table.harm)


def test_a_pneumothorax_on_the_wrong_side_stands_above_any_number_of_faults_of_style(make_set):
    review_set = make_set(
        cases=[a_case("style"), a_case("side")],
        answers=[answer("style"), answer("side", WRONG)],
        flags=[flag("style", failure) for failure in STYLE],
        scores=scored("style", 1),
    )
    assert order(review_set) == ["side", "style"]
    assert words(review_set, "side") == ("Harm 4: pneumothorax on the wrong side (flagged by rule)")
    assert words(review_set, "style").startswith("Harm 1: ")


def test_what_is_on_the_wrong_side_decides(make_set):
    review_set = make_set(
        cases=[a_case("granuloma", "granuloma"), a_case("effusion", "pleural effusion")],
        answers=[
            answer("granuloma", "There is a right granuloma."),
            answer("effusion", "There is a right pleural effusion."),
        ],
    )
    assert order(review_set) == ["effusion", "granuloma"]
    assert words(review_set, "granuloma").startswith("Harm 1: granuloma on the wrong side")


def test_a_confirmed_laterality_error_of_an_unscored_answer_does_not_sink(make_set):
    review_set = make_set(
        cases=[{"id": "low"}, {"id": "side"}],
        answers=[answer("low", "Normal."), answer("side", "Normal.")],
        scores=scored("low", 1),
        flags=[flag("low", "verbose"), flag("side", "laterality_error")],
    )
    assert order(review_set) == ["side", "low"]
    assert words(review_set, "side") == "Harm 3: laterality error"


def test_of_the_same_harm_what_a_reader_confirmed_comes_first_then_low_content(make_set):
    names = ("by rule", "by rule, scored low", "confirmed", "confirmed, scored low")
    low = [row for name in names if "low" in name for row in scored(name, 2)]
    review_set = make_set(
        cases=[a_case(name) for name in names],
        answers=[answer(name, WRONG) for name in names],
        scores=low,
        flags=[flag(name, "laterality_error") for name in names if "confirmed" in name],
    )
    assert order(review_set) == [
        "confirmed, scored low", "confirmed", "by rule, scored low", "by rule"
    ]  # fmt: skip


def test_a_rejected_flag_does_no_harm(make_set):
    review_set = make_set(
        cases=[a_case("rejected"), {"id": "style"}],
        answers=[answer("rejected", WRONG), answer("style", "Normal.")],
        flags=[flag("rejected", "laterality_error", "rejected"), flag("style", "terse")],
    )
    assert order(review_set) == ["style", "rejected"]
    assert words(review_set, "rejected") == ""


def test_a_hint_puts_in_order_only_what_is_alike_otherwise(make_set):
    review_set = make_set(
        cases=[a_case("plain"), a_case("hint"), {"id": "style"}],
        answers=[answer("plain"), answer("hint", "Normal."), answer("style", "Normal.")],
        flags=[flag("style", "terse")],
    )
    assert order(review_set) == ["style", "hint", "plain"]
    assert words(review_set, "hint") == ("Suggested by rule, harm 4: pneumothorax missed")


def test_suggestions_stand_below_confirmed_ones_by_the_harm_that_they_suggest(make_set):
    findings = {"granuloma": "granuloma", "pneumothorax": "pneumothorax"}
    review_set = make_set(
        cases=[*(a_case(name, found) for name, found in findings.items()), {"id": "terse"}],
        answers=[answer(name, "Normal.") for name in (*findings, "terse")],
        flags=[flag("terse", "terse")],
        scores=scored("granuloma", 1),
    )
    assert order(review_set) == ["terse", "pneumothorax", "granuloma"]
    cards = build_memory_engine(review_set).cards(
        CaseFilter(sort="severity"), ["pneumothorax", "terse"]
    )
    assert cards[0].harm.startswith("Suggested by rule, harm 4: ")
    assert cards[0].harm_meaning.startswith("Grave.")
    assert cards[1].harm.startswith("Harm 1: ")


def test_what_denies_the_report_is_found_and_stands_by_its_harm(make_set):
    review_set = make_set(
        cases=[a_case("hint"), a_case("denied", "pleural effusion")],
        answers=[answer("hint", "Normal."), answer("denied", "No effusion.")],
    )
    assert order(review_set) == ["denied", "hint"]
    assert words(review_set, "denied") == "Harm 3: pleural effusion missed (flagged by rule)"


def test_a_hint_that_a_reader_confirmed_does_the_harm_of_its_finding(make_set):
    review_set = make_set(
        cases=[a_case("c")], answers=[answer("c", "Normal.")], flags=[flag("c", "omission")]
    )
    assert words(review_set, "c") == "Harm 4: pneumothorax missed"


def test_an_answer_that_never_came_does_some_harm(make_set):
    lost = {"case": "lost", "model": "g", "text": None, "finish_reason": "error"}
    review_set = make_set(
        cases=[{"id": "fine"}, {"id": "lost"}],
        answers=[answer("fine", "Normal."), lost],
        scores=scored("fine", 4),
    )
    assert order(review_set) == ["lost", "fine"]
    assert words(review_set, "lost") == "Harm 2: no answer returned"
    assert words(review_set, "fine") == "No failure found; Content 4"


def test_a_box_on_the_other_side_than_its_label_is_about_what_the_label_names(make_set):
    image = {"id": "pa", "path": "a.png", "view": "PA", "width": 1000, "height": 1000}
    box = {"image": "pa", "label": "left pneumothorax", "box": [100.0, 100.0, 200.0, 200.0]}
    review_set = make_set(
        cases=[{"id": "c", "images": [image]}],
        answers=[{"case": "c", "model": "g", "text": "See the box.", "boxes": [box]}],
    )
    assert words(review_set, "c").startswith("Harm 4: pneumothorax on the wrong side")


@pytest.fixture
def with_own_table(tmp_path, make_set):
    def make(text):
        given = make_set(
            cases=[a_case("nodule", "nodule"), a_case("pneumothorax")],
            answers=[answer("nodule", "There is a right nodule."), answer("pneumothorax", WRONG)],
        )
        folder = tmp_path / "given"
        save_review_set(given, folder)
        (folder / "own.yaml").write_text(text, encoding="utf-8")
        info = (folder / "reviewset.yaml").read_text(encoding="utf-8")
        (folder / "reviewset.yaml").write_text(f"{info}harm: own.yaml\n", encoding="utf-8")
        return folder

    return make


def test_a_set_brings_its_own_table_and_takes_it_along(with_own_table, tmp_path):
    folder = with_own_table("findings: {pneumothorax: 1, nodule: 2}\n")
    review_set: ReviewSet = load_review_set(folder)
    assert order(review_set) == ["nodule", "pneumothorax"]
    assert order(replace(review_set, info=replace(review_set.info, harm=""))) == [
        "pneumothorax", "nodule"
    ]  # fmt: skip
    save_review_set(review_set, tmp_path / "copy")
    assert order(load_review_set(tmp_path / "copy")) == ["nodule", "pneumothorax"]
