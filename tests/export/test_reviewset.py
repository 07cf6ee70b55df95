"""A set is exported with what was written in it, opened again, and everything is there."""

import json
import shutil

import polars as pl
import pydicom
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from polars.testing import assert_frame_equal
from support import ROOT
from support.entries.stored import comment, score, verdict
from support.small_set import ANSWERS, CASES, SCORES, write_set

from rexview import frames
from rexview.cli.main import main
from rexview.imaging.image_files import read_image
from rexview.people import Person
from rexview.reviewset import find_image_file, load_review_set
from rexview.settings import load_settings
from rexview.store import Entry, merge_reviews, open_reviews

DEMO = ROOT / "assets" / "demo"
LEAD = Person("lead", "The Lead", "lead")
LOADED = {"_row", "_origin"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A copy of the demo in which somebody has written, and what its export said."""
    folder = tmp_path_factory.mktemp("given") / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("runs"))
    given = load_review_set(folder)
    reviews = open_reviews(given, load_settings())
    case, model = "c01", given.answers.filter(case="c01")["model"][0]
    about = {"case": case, "model": model}
    reviews.record(
        [
            score(2, comment="Too short.", **about),
            verdict("rejected", failure="omission", comment="It is there.", **about),
            comment("6f1c", "Which recess?", model=model, case=case),
            comment("7a2d", "The posterior one.", model=model, case=case, reply_to="6f1c"),
            Entry("resolve", subject="6f1c", value={"resolved": True}),
            Entry("meeting", subject="m1", value={"name": "Pleura", "held": "2026-12-01"}),
            Entry("agenda", case, None, "m1", value={"place": 1}),
            Entry(
                "decide",
                case,
                model,
                "m1",
                value={"failure": "omission", "severity": 2, "decision": "retrain", "owner": "Bo"},
            ),
            Entry("adjudicate", case, model, "process", value={"score": 3}),
        ],
        LEAD,
    )
    return folder


def export(folder, out, *more):
    assert main(["export", str(folder), "--format", "reviewset", "--out", str(out), *more]) == 0
    return load_review_set(out)


def told(review_set):
    return {
        name: getattr(review_set, name).drop(LOADED, strict=False)
        for name in frames.TABLES
        if name not in ("cases", "answers", "metrics")
    }


def test_everything_that_was_given_and_written_is_there(written, tmp_path, capsys):
    cases = [f"c{number:02}" for number in range(1, 9)]
    again = export(written, tmp_path / "out", "--cases", ",".join(cases))
    said = capsys.readouterr().err
    for words in ("1 scores agreed on", "1 meetings", "1 cases on agendas", "not finished"):
        assert words in said
    given = load_review_set(written)
    whole = merge_reviews(given, open_reviews(given, load_settings()))
    now = told(again)
    for name, every in told(whole).items():
        rows = every.filter(pl.col("case").is_in(cases))
        undated = [name for name in ("answer_digest", "resolved") if name in rows.columns]
        assert_frame_equal(rows.drop(undated), now[name].drop(undated), check_row_order=False)
    assert now["scores"]["answer_digest"].is_not_null().any()
    assert again.comments.filter(comment="6f1c")["resolved"].to_list() == [True]
    assert again.decisions.select("meeting_name", "decision", "owner").row(0) == (
        "Pleura",
        "retrain",
        "Bo",
    )
    assert [again.stale_scores.height, again.stale_flags.height] == [0, 0]
    texts = given.answers.filter(pl.col("case").is_in(cases))["text"]
    assert again.answers["text"].to_list() == texts.to_list()
    assert not [one for one in again.warnings if one.severity == "error"]


def test_pictures_have_the_same_pixels_and_nothing_of_a_header(written, tmp_path):
    again = export(written, tmp_path / "out", "--cases", "c01,c06")
    given = load_review_set(written)
    for case_id in ("c01", "c06"):
        for before, after in zip(
            given.case(case_id).images, again.case(case_id).images, strict=True
        ):
            old = read_image(find_image_file(given, before.path))
            file = find_image_file(again, after.path)
            new = read_image(file)
            assert (old.pixels == new.pixels).all()
            same = ("spacing", "invert", "patient_orientation", "view", "bits", "aspect")
            assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
            values = ("kind", "centre", "width", "table")  # a window's name is free text
            assert [[getattr(one, name) for name in values] for one in new.windows] == [
                [getattr(one, name) for name in values] for one in old.windows
            ]
            if new.kind == "dicom":
                tags = pydicom.dcmread(file)
                assert (tags.PatientName, tags.PatientID) == ("", "")
                assert "InstitutionName" not in tags
                assert tags.SOPInstanceUID != pydicom.dcmread(
                    find_image_file(given, before.path)
                ).get("SOPInstanceUID")


def test_texts_in_files_of_pictures_stay_behind(written, tmp_path):
    folder = tmp_path / "set"
    shutil.copytree(written, folder)
    given = load_review_set(folder)
    path = next(
        find_image_file(given, image.path)
        for image in given.case("c02").images
        if image.path.endswith(".png")
    )
    words = PngInfo()
    words.add_text("Patient", "Jane Roe")
    Image.open(path).save(path, pnginfo=words)
    assert b"Jane Roe" in path.read_bytes()
    out = tmp_path / "out"
    export(folder, out, "--cases", "c02")
    assert not [file for file in out.rglob("*.*") if b"Jane Roe" in file.read_bytes()]


def test_pseudonyms_leave_no_id_and_no_score_behind(written, tmp_path):
    """Texts change with their ids, so digests do; scores of the answers as they are stay theirs."""
    folder = tmp_path / "set"
    shutil.copytree(written, folder)
    file = folder / "answers.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    patients = {
        row["id"]: row.get("patient_id") for row in load_review_set(folder).cases.to_dicts()
    }
    named = next(row for row in rows if row["case"] == "c01")
    named["text"] += f" Compare with patient {patients['c01']}."
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    scores = load_review_set(folder).scores.filter(case="c01").height
    out, key = tmp_path / "out", tmp_path / "key.csv"
    again = export(folder, out, "--pseudonyms", "--key", str(key), "--cases", "c01,c06")
    assert again.cases["id"].to_list() == ["case-001", "case-002"]
    everything = "".join(path.read_text("utf-8") for path in out.glob("*.*"))
    assert patients["c01"] not in everything
    assert '"c01"' not in everything
    assert patients["c01"] in key.read_text("utf-8")
    mine = merge_reviews(
        load_review_set(folder), open_reviews(load_review_set(folder), load_settings())
    ).scores
    assert mine.filter(case="c01").height >= scores > 0
    assert again.scores.filter(case="case-001").height == scores
    assert again.stale_scores["reader"].to_list() == ["lead"], "given before the text was changed"


def test_a_score_of_an_earlier_answer_is_still_of_an_earlier_one(written, tmp_path):
    folder = tmp_path / "set"
    shutil.copytree(written, folder)
    file = folder / "scores.csv"
    rows = pl.read_csv(file).with_row_index()
    first = pl.when(pl.col("index") == 0).then(pl.lit("0" * 64))
    rows.with_columns(answer_digest=first).drop("index").write_csv(file)
    about = rows["case"][0]
    again = export(folder, tmp_path / "out", "--cases", about)
    assert again.stale_scores.filter(answer_digest="0" * 64)["case"].to_list() == [about]


def test_a_model_that_is_a_path_and_a_broken_picture(tmp_path):
    folder = write_set(tmp_path / "set")
    answers = [json.dumps({**one, "model": f"/data/x{one['model']}"}) for one in ANSWERS]
    (folder / "answers.jsonl").write_text("\n".join(answers), encoding="utf-8")
    scores = SCORES.replace(",m,", ",/data/xm,")
    (folder / "scores.csv").write_text(scores, encoding="utf-8")
    size = (9_999).to_bytes(4)
    (folder / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + size + b"IDATMRN-1")
    again = export(folder, tmp_path / "out")
    assert set(again.scores["model"]) == {"xm"}
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file():
            assert b"/data/" not in file.read_bytes()
            assert b"MRN-1" not in file.read_bytes()


def test_with_pseudonyms_our_words_stay_and_unknown_fields_go(tmp_path):
    case = {**CASES[0], "patient_id": "process", "site": "Open", "mrn": "MRN-1"}
    folder = write_set(tmp_path / "set", cases=[case, *CASES[1:]])
    again = export(folder, tmp_path / "out", "--pseudonyms")
    assert again.cases["patient_id"][0] == "patient-001"
    assert "process" in again.scores["dimension"].to_list()
    assert "MRN-1" not in (tmp_path / "out" / "cases.jsonl").read_text(encoding="utf-8")
