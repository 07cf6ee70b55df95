"""Random sources of each kind: every row is used or named."""

import csv
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.importers.receipt import UNACCOUNTED
from rexview.reviewset import check_review_set

IDS = st.sampled_from(["c1", "c2", "c3", "c4", "C1 ", "7", ""])
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["", "N/A", "nan", "The lungs are clear.", "Effusion, left.\nSmall."]),
    st.text(alphabet="ab é\"';,\n\t", max_size=12).map(lambda text: f"It shows {text} there."),
)
ODD = st.one_of(TEXTS, st.integers(), st.lists(st.integers(), max_size=2), st.just({"a": 1}))
FEW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def imported(folder, name, content, format_id="auto", **options):
    """Import a file; all rows are used or named, and the set can be opened."""
    number = len(list(folder.iterdir()))
    source = folder / f"in{number}" / name
    source.parent.mkdir()
    source.write_text(content, encoding="utf-8", newline="")
    out = folder / f"out{number}"
    try:
        receipt = import_source(format_id, [source], out, options=options).receipt
    except ImportSourceError:
        assert not out.exists()
        return None, ""
    assert [one for one in check_review_set(out) if one.severity == "error"] == []
    assert receipt.rows_in == receipt.rows_used + sum(one.count for one in receipt.rows_unused)
    assert UNACCOUNTED not in {one.why for one in receipt.rows_unused}
    written = "".join(path.read_text() for path in out.glob("*.jsonl"))
    return receipt, written + json.dumps(receipt.as_json(), default=str, ensure_ascii=False)


def is_kept(text, kept):
    return json.dumps(text, ensure_ascii=False)[1:-1] in kept


@FEW
@given(st.dictionaries(IDS, TEXTS, max_size=5))
def test_predictions(tmp_path, texts):
    receipt, kept = imported(tmp_path, "m.json", json.dumps(texts), "predictions")
    if receipt:
        assert receipt.rows_in == len(texts)
        assert all(is_kept(text, kept) for key, text in texts.items() if text and key.strip())


@FEW
@given(st.dictionaries(st.sampled_from(["gpt-4o", "maira-2"]), st.dictionaries(IDS, TEXTS)))
def test_predictions_of_several_models(tmp_path, models):
    receipt, _ = imported(tmp_path, "all.json", json.dumps(models), "predictions")
    if receipt:
        assert receipt.rows_in == sum(map(len, models.values()))


STUDY = st.dictionaries(
    st.sampled_from(["report", "section_findings", "model_prediction", "image_path", "age", "x"]),
    ODD,
)


@FEW
@given(st.one_of(st.dictionaries(IDS, STUDY), st.lists(st.one_of(STUDY, TEXTS), max_size=4)))
def test_rexrank(tmp_path, studies):
    receipt, _ = imported(tmp_path, "data.json", json.dumps(studies), "rexrank")
    if receipt:
        assert receipt.rows_in == len(studies)


ROWS = st.lists(st.tuples(IDS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=6)


@FEW
@given(ROWS)
def test_wide_tables(tmp_path, rows):
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "question", "GPT-4o answer", "MedGemma answer", "remark"])
        for case, question, one, two in rows:
            writer.writerow([case or "c9", question or "What is seen?", one, two, "As it was."])
    content = path.read_bytes().decode()
    path.unlink()
    receipt, _ = imported(tmp_path, "t.csv", content, "table", mapping="proposed")
    if receipt:
        assert receipt.rows_in == len(rows)


@FEW
@given(st.lists(st.tuples(IDS, TEXTS), min_size=1, max_size=6), st.booleans())
def test_records(tmp_path, rows, lines):
    entries = [
        {"case_id": case or "c9", "question": "What is seen?", "model": "m", "answer": text}
        for case, text in rows
    ]
    content = "\n".join(map(json.dumps, entries)) if lines else json.dumps(entries)
    receipt, _ = imported(tmp_path, "answers.dat", content)
    if receipt:
        assert receipt.rows_in == len(rows)


BOX = st.fixed_dictionaries(
    {"image_id": st.sampled_from([1, 2, 9]), "category_id": st.integers(0, 1)},
    optional={"bbox": st.one_of(st.lists(st.integers(-5, 90), min_size=3, max_size=5), TEXTS)},
)


@FEW
@given(
    st.lists(BOX, max_size=5), st.lists(st.sampled_from(["a.png", "b.png", "../../c"]), max_size=3)
)
def test_coco(tmp_path, boxes, names):
    content = {
        "images": [{"id": n, "file_name": name} for n, name in enumerate(names, start=1)],
        "annotations": boxes,
        "categories": [{"id": 1, "name": "nodule"}],
    }
    receipt, _ = imported(tmp_path, "coco.json", json.dumps(content), "coco")
    if receipt:
        assert receipt.rows_in == len(boxes)
