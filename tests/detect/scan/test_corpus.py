"""The labelled corpus is well-formed, and the detectors reach their targets on it."""

import json
from collections import Counter

import pytest

from bench import detectors
from bench.corpus import (
    FOLDER,
    LATERALITY_FORMS,
    box_sides,
    laterality_pairs,
    token_limit_texts,
)
from bench.detectors import Tally, Target, wrong

PAIRS, BOXES, TEXTS = laterality_pairs(), box_sides(), token_limit_texts()
SPLITS = {"dev", "held_out"}
EASY_FORMS = {"easy", "negation", "abbreviations", "bilateral", "silent_reference"}
WITHOUT_ERRORS = {"bilateral", "silent_reference"}
"""Forms that are about what is no error."""


def rows(name):
    for path in sorted(FOLDER.glob(f"{name}*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.strip():
                yield f"{path.name}:{number}", json.loads(line)


@pytest.mark.parametrize("corpus", [PAIRS, BOXES, TEXTS], ids=["pairs", "boxes", "texts"])
def test_ids_are_unique_and_splits_known(corpus):
    ids = Counter(row.id for row in corpus)
    assert [row_id for row_id, count in ids.items() if count > 1] == []
    assert {row.split for row in corpus} <= SPLITS


def test_the_corpus_is_large_enough():
    for corpus, least in ((PAIRS, 450), (BOXES, 80), (TEXTS, 120)):
        assert sum(row.split == "dev" for row in corpus) >= least


def test_pairs_have_known_words_and_say_what_is_wrong():
    for place, row in rows("laterality_pairs"):
        assert row["form"] in LATERALITY_FORMS, place
        assert row["expected"] in {"error", "none", "bilateral"}, place
        assert row["answer"].strip(), place
        assert row["report"].strip() or row["expected"] == "none" or row["form"] == "within_answer"
        assert row["expected"] != "error" or row["finding"], place
        if row["split"] == "dev":
            assert row["hard"] == (row["form"] not in EASY_FORMS), place


def test_every_form_of_the_dev_pairs_goes_both_ways():
    labels = Counter((row.form, row.expected) for row in PAIRS if row.split == "dev")
    for form in LATERALITY_FORMS:
        assert labels[form, "none"] >= 5, form
        wanted = {"bilateral"} if form == "bilateral" else {"error"}
        if form != "silent_reference":
            assert all(labels[form, label] >= 5 for label in wanted), form
    assert not any(labels[form, "error"] for form in WITHOUT_ERRORS)


def test_no_pair_is_there_twice_and_no_answer_has_both_labels_for_one_report():
    texts = Counter((row.case.report.findings, row.answer.text) for row in PAIRS)
    assert [text for text, count in texts.items() if count > 1] == []


def test_boxes_have_known_words():
    for place, row in rows("box_sides"):
        assert row["expected"] in {"error", "none"}, place
        kind = {"boxes", "reference_boxes"} if row["expected"] == "error" else {None}
        assert row["kind"] in kind, place
        assert row["box"] or row["reference_boxes"], place


def test_texts_have_known_words():
    expected = {"complete", "truncated_suspected", "repetition", "empty", "blocked"}
    assert {row.expected for row in TEXTS} == expected
    assert sum(row.expected == "complete" for row in TEXTS if row.split == "dev") >= 100


def test_a_rate_without_anything_to_measure_reaches_no_target():
    nothing = Tally.of([])
    assert (nothing.precision, nothing.recall, nothing.specificity) == (None, None, None)
    assert not nothing.reaches(detectors.EASY)
    good = Tally(hits=97, misses=3, false_alarms=1, passes=199)
    assert good.reaches(detectors.EASY)
    assert not good.reaches(Target(recall=0.98))
    assert good.precision == 97 / 98


def splits(outcomes):
    for split in sorted({outcome.row.split for outcome in outcomes}):
        yield split, [outcome for outcome in outcomes if outcome.row.split == split]


@pytest.mark.parametrize(
    ("measured", "chosen", "target"),
    [
        ("laterality", lambda row: not row.hard, detectors.EASY),
        ("laterality", lambda row: row.hard, detectors.HARD),
        ("boxes", lambda row: True, detectors.BOXES),
        ("token limit", lambda row: row.expected != "blocked", detectors.COMPLETE),
        ("token limit, answers of the pairs", lambda row: True, detectors.COMPLETE),
    ],
    ids=["easy", "hard", "boxes", "complete texts", "answers of the pairs"],
)
def test_every_split_reaches_the_targets(measured, chosen, target):
    outcomes = [one for one in detectors.OUTCOMES[measured]() if chosen(one.row)]
    assert outcomes
    for split, own in splits(outcomes):
        tally = Tally.of(own)
        told = "\n".join([f"{split}: {tally}", f"wanted: {target}", *wrong(own)])
        assert tally.reaches(target), told


def test_cut_texts_loops_and_empty_ones_are_found():
    cut = [one for one in detectors.ending_outcomes() if one.wanted]
    for split, own in splits(cut):
        told = "\n".join([split, *wrong(own)])
        assert (Tally.of(own).recall or 0) >= 0.85, told


def test_one_side_of_a_bilateral_finding_is_told_apart():
    sides = [one for one in detectors.laterality_outcomes() if one.row.expected == "bilateral"]
    assert not [one.row.id for one in sides if one.flagged], "reported as laterality errors"
    own = [one for one in detectors.incomplete_outcomes(laterality_pairs) if one.wanted]
    missed = [one.row.id for one in own if not one.flagged]
    assert len(missed) <= len(own) // 10, missed
