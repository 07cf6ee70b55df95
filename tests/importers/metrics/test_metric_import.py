"""Metric values of files: their names, their identity, and what is said of those left out."""

import json

import pytest
from support.rows import each_row

from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.importers.metrics.importer import (
    KNOWN_METRICS,
    UP_TO_1,
    metric_columns,
    metric_id,
)
from rexview.metrics.identity import METRICS_BY_ID, RECIPROCALS
from rexview.reviewset import load_review_set

CASES = "".join(
    json.dumps(
        {
            "id": f"c{n}",
            "study_id": f"s{n}",
            "question": "Report",
            "question_type": "report",
            "report": {"findings": "Clear.", "impression": "None"},
        }
    )
    + "\n"
    for n in (1, 2, 3)
)
ANSWERS = "case,model,text\n" + "".join(
    f"c{n},{model},Findings: Clear.\n" for n in (1, 2, 3) for model in ("MedVersa", "RGRG")
)


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "reviewset.yaml").write_text("format: 1\nname: Reports\n")
    (folder / "cases.jsonl").write_text(CASES)
    (folder / "answers.csv").write_text(ANSWERS)
    return folder


def added(folder, name, content, format="metrics", **options):
    """Add a file of values to the set; return the values, and what was said."""
    source = folder.parent / name
    text = content if isinstance(content, str) else json.dumps(content)
    source.write_text(text, encoding="utf-8")
    report = import_source(format, [source], folder, options=options, into=True)
    columns = ("case", "model", "metric", "value", "implementation", "version", "scope")
    said = [f"{p.file} {p.row} {p.field}: {p.message} {p.remedy}" for p in report.problems]
    return (
        sorted(load_review_set(folder).metrics.select(columns).rows(), key=str),
        said,
        report.receipt,
    )


@each_row(
    ("written", "program", "metric"),
    [
        ("BLEU", None, "bleu"),
        ("bleu_score", "CXR-Report-Metric", "bleu_2"),
        ("BLEU", "RadEval", "bleu_4"),
        ("BLEU-2", None, "bleu_2"),
        ("BertScore", None, "bertscore"),
        ("bertscore", None, "bertscore"),
        ("SembScore", None, "sembscore"),
        ("semb_score", None, "sembscore"),
        ("RadGraph", None, "radgraph_f1"),
        ("radgraph_combined", None, "radgraph_f1"),
        ("radgraph_simple", None, "radgraph_simple"),
        ("RadCliQ-v1", None, "radcliq_v1"),
        ("RadCliQ-v0", None, "radcliq_v0"),
        ("RaTEScore", None, "ratescore"),
        ("GREEN", None, "green"),
        ("FineRadScore", None, "fineradscore"),
        ("rougeL", None, "rouge_l"),
        ("Our own score", None, "Our own score"),
    ],
)
def test_names_are_folded(written, program, metric):
    assert metric_id(written, program) == metric


def test_names_are_those_that_are_known_here():
    assert UP_TO_1 <= KNOWN_METRICS
    assert set(METRICS_BY_ID) <= KNOWN_METRICS
    assert not set(RECIPROCALS) & KNOWN_METRICS
    for metric in UP_TO_1 & METRICS_BY_ID.keys():
        assert METRICS_BY_ID[metric].high == 1


def test_identity_of_the_file_then_of_the_options(folder):
    content = (
        "study,model,metric,value,implementation\ns1,RGRG,GREEN,0.5,\nc2,RGRG,GREEN,0.25,radeval\n"
    )
    values, said, _ = added(
        folder,
        "v.csv",
        content,
        implementation="GREEN",
        implementation_version="1.0",
        scope="findings",
    )
    assert values == [
        ("c1", "RGRG", "green", 0.5, "GREEN", "1.0", "findings"),
        ("c2", "RGRG", "green", 0.25, "radeval", "1.0", "findings"),
    ]
    assert said == []


@pytest.mark.parametrize("format", ["metrics", "auto"])
def test_what_is_not_said_is_not_said(folder, format):
    values, _, _ = added(folder, "v.csv", "study,model,metric,value\ns1,RGRG,GREEN,0.5\n", format)
    assert values == [("c1", "RGRG", "green", 0.5, None, None, None)]


def test_two_implementations_stand_beside_each_other(folder):
    content = (
        "study,model,metric,value,implementation\n"
        "s1,RGRG,bertscore,0.5,radeval\n"
        "s1,RGRG,bertscore,0.4,CXR-Report-Metric\n"
    )
    values, said, _ = added(folder, "v.csv", content)
    assert [value for *_, value, _, _, _ in values] == [0.4, 0.5]
    assert said == []


def test_a_value_says_which_answer_it_is_of(folder):
    earlier = "0" * 64
    content = f"study,model,metric,value,answer_digest\ns1,RGRG,GREEN,0.5,{earlier}\n"
    values, _, _ = added(folder, "v.csv", content)
    assert values == []  # of an earlier answer: kept, and counted nowhere
    assert load_review_set(folder).stale_metrics["answer_digest"].to_list() == [earlier]


def test_values_are_read_as_what_metrics_are(folder):
    rows = 's1,RGRG,RadCliQ-v1,"1,234"\ns2,RGRG,RadCliQ-v1,4/5\n'
    values, said, _ = added(folder, "v.csv", f"study,model,metric,value\n{rows}")
    assert values == [("c1", "RGRG", "radcliq_v1", 1.234, None, None, None)]
    assert ["“4/5” is no number" in line for line in said] == [True]


def test_a_value_without_an_id_is_of_no_report(folder):
    content = {"model": "RGRG", "study_ids": ["s1", None], "green": [0.5, 0.25]}
    values, said, _ = added(folder, "v.json", content)
    assert [value for _, _, _, value, *_ in values] == [0.5]
    assert not any("no such case" in line for line in said)


def test_the_same_value_of_another_file_is_said(folder):
    added(folder, "v.csv", "study,model,metric,value\ns1,RGRG,GREEN,0.5\n")
    _, said, _ = added(folder, "w.csv", "study,model,metric,value\ns1,RGRG,GREEN,0.75\n")
    assert ["w.csv 1 value" in line for line in said] == [True]


@pytest.mark.parametrize("name", ["scores_medversa.csv", "MedVersa.csv"])
def test_a_model_named_by_the_file_is_the_one_of_the_set(folder, name):
    values, _, _ = added(folder, name, "study_id,BLEU-2,GREEN\ns1,0.5,0.25\ns2,0.125,\n")
    assert values == [
        ("c1", "MedVersa", "bleu_2", 0.5, None, None, None),
        ("c1", "MedVersa", "green", 0.25, None, None, None),
        ("c2", "MedVersa", "bleu_2", 0.125, None, None, None),
    ]


def test_the_model_option(folder):
    values, _, _ = added(folder, "x.csv", "study_id,BLEU-2,GREEN\ns1,0.5,0.25\n", model=["RGRG"])
    assert {row[1] for row in values} == {"RGRG"}


def test_other_columns_of_numbers_are_metrics_too(folder):
    content = "study_id,GREEN,ratescore,our_score,comment,age\ns1,0.5,0.5,12.5,good,64\n"
    values, _, receipt = added(folder, "rgrg.csv", content)
    assert ("c1", "RGRG", "our_score", 12.5, None, None, None) in values
    assert len(values) == 3
    assert [column.column for column in receipt.columns_unused] == ["comment", "age"]


def test_rexranks_words_are_its_own(folder):
    content = "study,BLEU,BertScore,SembScore,RadGraph,RadCliQ-v0,RadCliQ-v1\n"
    values, _, _ = added(folder, "rgrg.csv", content + "s1,.1,.2,.3,.4,3.5,1.5\n")
    assert {row[2]: (row[3], row[4]) for row in values} == {
        "bleu_2": (0.1, "ReXrank"),
        "bertscore": (0.2, "ReXrank"),
        "sembscore": (0.3, "ReXrank"),
        "radgraph_f1": (0.4, "ReXrank"),
        "radcliq_v0": (3.5, "ReXrank"),
        "radcliq_v1": (1.5, "ReXrank"),
    }


def test_every_problem_is_said_with_its_place(folder):
    content = (
        "study,model,metric,value\n"
        "s1,RGRG,GREEN,good\n"
        "s2,RGRG,BLEU-2,34.5\n"
        "s9,RGRG,GREEN,0.5\n"
        ",RGRG,GREEN,0.5\n"
        "s1,RGRG,1/RadCliQ-v1,0.9\n"
        "s1,Nobody,GREEN,0.5\n"
    )
    values, said, receipt = added(folder, "v.csv", content)
    assert [row[:4] for row in values] == [
        ("c1", "Nobody", "green", 0.5),
        ("c2", "RGRG", "bleu_2", 34.5),
    ]
    for place, words in (
        ("v.csv 1 value", "no number"),
        ("v.csv 2 value", "above 1"),
        ("v.csv 3 case", "no such case"),
        ("v.csv 5 value", "reciprocal"),
        ("v.csv 6", "no answer of “Nobody”"),
    ):
        assert any(line.startswith(place) and words in line for line in said), (place, said)
    assert {one.why: one.rows for one in receipt.rows_unused} == {
        "The row has no metric value that can be used.": (1, 5),
        "There is no such case.": (3,),
        "The row names no study.": (4,),
    }


def test_a_column_of_reciprocals_is_refused_once(folder):
    content = "study_id,GREEN,1/RadCliQ-v1\ns1,0.5,0.9\ns2,0.5,0.9\n"
    values, said, _ = added(folder, "rgrg.csv", content)
    assert {row[2] for row in values} == {"green"}
    assert [line for line in said if "reciprocal" in line] == [
        "rgrg.csv None 1/RadCliQ-v1: It is the reciprocal of a mean, and no value of a report. "
        "Give the raw values of the reports (RadCliQ-v1, FineRadScore); the page takes 1/mean."
    ]


class TestLists:
    def test_by_model_and_by_id(self, folder):
        content = {
            "MedVersa": {"ids": ["s1", "c2"], "green": {"per_sample": [0.5, None], "mean": 0.5}},
            "RGRG": {"bertscore": {"s1": 0.25, "s2": float("nan")}, "green": 0.5},
        }
        values, said, receipt = added(folder, "v.json", content)
        assert [row[:4] for row in values] == [
            ("c1", "MedVersa", "green", 0.5),
            ("c1", "RGRG", "bertscore", 0.25),
        ]
        assert any("RGRG.green" in line and "one number" in line for line in said)
        assert receipt.rows_in == receipt.rows_used + sum(o.count for o in receipt.rows_unused)

    def test_of_another_length_is_left_out(self, folder):
        content = {"ids": ["s1", "s2"], "green": [0.5, 0.5, 0.5], "bleu_2": [0.25, 0.5]}
        values, said, _ = added(folder, "rgrg.json", content)
        assert {row[2] for row in values} == {"bleu_2"}
        assert any("green" in line and "3 values" in line and "2 ids" in line for line in said)

    def test_radeval_is_known_by_its_names(self, folder):
        names = ("bleu", "radgraph_simple", "radgraph_partial", "radgraph_complete")
        content = {"study_ids": ["s1"]} | {name: [0.5] for name in names}
        values, _, _ = added(folder, "rgrg.json", content)
        assert {row[2] for row in values} == {"bleu_4", *names[1:]}
        assert {row[4] for row in values} == {"radeval"}

    @pytest.mark.parametrize(
        ("content", "field"),
        [
            ({"green": [[0.5]], "ids": ["s1"]}, "green"),
            ({"green": ["x"], "ids": ["s1"]}, "green"),
            ({"green": {"s1": {"a": 1}}, "bleu": [None]}, "bleu"),
            ({"green": True, "bleu_2": {"aggregate": 0.5}}, "bleu_2"),
            ({"green": [0.5]}, "green"),
            ({"inv_radcliq_v1": [0.5], "ids": ["s1"]}, "inv_radcliq_v1"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, folder, content, field):
        source = folder.parent / "bad.json"
        source.write_text(json.dumps(content))
        with pytest.raises(ImportSourceError) as caught:
            import_source("metrics", [source], folder, into=True)
        assert field in {problem.field for problem in caught.value.problems}
        assert load_review_set(folder).metrics.height == 0


def test_the_text_beside_values_is_the_answer_where_there_is_none(folder):
    (folder / "answers.csv").write_text("case,model,text\nc1,RGRG,Findings: Mine.\n")
    content = "study_id,report,bleu_score,semb_score\ns1,Theirs.,.5,.5\ns2,Another.,.5,.5\n"
    added(folder, "rgrg.csv", content)
    answers = load_review_set(folder).answers.select("case", "model", "text").rows()
    assert sorted(answers) == [("c1", "RGRG", "Findings: Mine."), ("c2", "RGRG", "Another.")]


def test_a_table_of_answers_with_a_metric_stays_one(tmp_path):
    source = tmp_path / "answers.csv"
    source.write_text("case,question,model,answer,GREEN,BLEU-2\n1,What?,M,An effusion.,0.5,0.25\n")
    report = import_source("auto", [source], tmp_path / "out")
    assert report.receipt.answers == 1
    assert {column.column for column in report.receipt.columns_kept} == {"GREEN", "BLEU-2"}


@pytest.mark.parametrize(
    ("columns", "is_one"),
    [
        ("study_id,GREEN", True),
        (",study_id,model,GREEN", True),
        ("study,model,metric,value", True),
        ("study_id,GREEN,age,view", False),
        ("image,rate,age", False),
        ("case,reader,dimension,score", False),
        ("case,question,GREEN,BLEU", False),
        ("Model Name,BLEU,GREEN", True),
        ("BLEU,GREEN", False),
    ],
)
def test_which_tables_are_taken_for_metrics(columns, is_one):
    assert (metric_columns(columns.split(",")) is not None) == is_one
