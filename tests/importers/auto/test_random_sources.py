"""Random sources of every kind through ``auto``: nothing is dropped without a word."""

import json
import random

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.shapes.shape import csv_text, put, put_json, put_lines, put_picture

from rexview.importers import import_source
from rexview.importers.receipt import UNACCOUNTED
from rexview.reviewset import check_review_set

MODELS = ("GPT-4o", "MAIRA-2", "Odd, “name”; <b>x</b>")
MISSING = ("", None, "N/A", "nan")
HOSTILE = (
    "</script><script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    'a "quoted", comma;\ttab\nline',
    "../../etc/passwd é ü 心",
    "{{7*7}} ${x} %s \\u0000",
)
ODD = ("ward", "#", "Was noch?", "größe", "a.b", "__proto__", "notes, more")
SECRET = "Quistorp-7741"
EXAMPLES = 3


class Draw(random.Random):
    """Draws rows; ``texts`` are the answers in them, which must not get lost."""

    def __init__(self, seed):
        super().__init__(seed)
        self.texts = []

    def text(self, about):
        if self.random() < 0.2:
            return self.choice(MISSING)
        said = f"There is {self.choice(HOSTILE)} and no effusion ({about}, {self.random()})."
        self.texts.append(said)
        return said

    def box(self):
        return [self.randrange(0, 40), self.randrange(0, 90), self.randrange(5, 70), 60]

    def rows(self):
        """Draw rows of a long table, with repeats and columns of any name."""
        odd = self.sample(ODD, self.randrange(3))
        rows = [
            {
                "case_id": f"c{number % 5}",
                "question": f"What is seen in c{number % 5}?",
                "model": self.choice(MODELS),
                "answer": self.text(number),
                **{name: self.choice((f"odd {number}", "7", "")) for name in odd},
                "Patient Name": SECRET,
            }
            for number in range(self.randrange(3, 9))
        ]
        rows += self.sample(rows, 1)
        order = self.sample([*rows[0]], len(rows[0]))
        return [{name: row[name] for name in order} for row in rows]


def as_cells(rows):
    return [["" if cell is None else cell for cell in row.values()] for row in rows]


def long_csv(draw, folder):
    rows = draw.rows()
    cells = as_cells(rows)
    blank = [[""] * len(rows[0])] * draw.randrange(3)
    style = {"delimiter": draw.choice(",;\t"), "lineterminator": draw.choice(("\n", "\r\n"))}
    put(folder / "answers.csv", csv_text([*rows[0]], [*cells, *blank], **style))
    return len(rows), [*rows[0]]


def excel(draw, folder):
    rows = draw.rows()
    book = openpyxl.Workbook()
    book.active.append([*rows[0]])
    for row in as_cells(rows):
        book.active.append([f"'{cell}" if str(cell).startswith("=") else cell for cell in row])
    book.save(folder / "answers.xlsx")
    return len(rows), [*rows[0]]


def parquet(draw, folder):
    rows = draw.rows()
    pq.write_table(pa.Table.from_pylist(rows), folder / "answers.parquet")
    return len(rows), [*rows[0]]


def records(draw, folder):
    rows = draw.rows()
    put_json(folder / "answers.json", rows if draw.random() < 0.5 else {"data": rows})
    return len(rows), [*rows[0]]


def json_lines(draw, folder):
    rows = draw.rows()
    put_lines(folder / "answers.jsonl", rows)
    return len(rows), [*rows[0]]


def columns(draw, folder):
    rows = draw.rows()
    by_column = {name: {str(n): row[name] for n, row in enumerate(rows)} for name in rows[0]}
    put_json(folder / "df.json", by_column)
    return len(rows), [*rows[0]]


def by_id(draw, folder):
    rows = draw.rows()
    put_json(folder / "eval.json", {f"r{number}": row for number, row in enumerate(rows)})
    return len(rows), [*rows[0]]


def wide(draw, folder):
    names = ["case", "MRN", "question", "GPT-4o", "MAIRA-2", *draw.sample(ODD, 2)]
    rows = [
        [f"c{n}", SECRET, f"What is seen in c{n}?", draw.text(n), draw.text(n), "odd", n]
        for n in range(draw.randrange(4, 9))
    ]
    put(folder / "wide.csv", csv_text(names, rows))
    return len(rows), names


def predictions(draw, folder):
    texts = {
        model: {f"s{n}": draw.text(n) for n in range(draw.randrange(3, 7))}
        for model in draw.sample(MODELS[:2], draw.randrange(1, 3))
    }
    put_json(folder / "all.json", texts)
    return sum(map(len, texts.values())), []


def _films(draw, folder):
    names = [f"film_{number}" for number in range(draw.randrange(2, 5))]
    for name in names:
        put_picture(folder / f"images/{name}.png", 120, 180)
    return [*names, "not_there"]


def box_table(draw, folder):
    films = _films(draw, folder)
    names = ["image", "model", "label", "x", "y", "width", "height", "score", "Patient Name"]
    rows = []
    for _ in range(draw.randrange(3, 9)):
        box = draw.box() if draw.random() < 0.8 else ["", "x", 3, 4]
        rows.append([draw.choice(films), draw.choice(MODELS), "Mass", *box, 0.5, SECRET])
    put(folder / "boxes.csv", csv_text(names, rows))
    return len(rows), []


def coco(draw, folder):
    films = _films(draw, folder)
    images = [
        {"id": n, "file_name": f"{name}.png", "width": 120, "height": 180}
        for n, name in enumerate(films)
    ]
    drawn = [
        {"id": n, "image_id": draw.randrange(9), "category_id": draw.randrange(2)}
        | ({"bbox": draw.box()} if draw.random() < 0.8 else {"bbox": [1, "x"]})
        for n in range(draw.randrange(1, 6))
    ]
    named = [{"id": 1, "name": "Mass"}]
    data = {"images": images, "annotations": drawn, "categories": named}
    put_json(folder / "instances.json", data)
    return len(drawn), []


def yolo(draw, folder):
    films = _films(draw, folder)
    count = 0
    for name in draw.sample(films, len(films) - 1):
        lines = [
            "1 0.5 0.5 0.2 0.2" + draw.choice(("", " 0.7")) for _ in range(draw.randrange(1, 3))
        ]
        put(folder / f"labels/{name}.txt", "\n".join(lines) + "\n")
        count += len(lines)
    put(folder / "classes.txt", "Mass\nNodule\n")
    return count, []


def voc(draw, folder):
    count = 0
    for name in _films(draw, folder):
        objects = ""
        for _ in range(draw.randrange(3)):
            x, y, width, height = draw.box()
            right = x + width if draw.random() < 0.8 else "far"
            objects += (
                f"<object><name>Mass</name><bndbox><xmin>{x}</xmin><ymin>{y}</ymin>"
                f"<xmax>{right}</xmax><ymax>{y + height}</ymax></bndbox></object>"
            )
            count += 1
        text = f"<annotation><filename>{name}.png</filename>{objects}</annotation>"
        put(folder / f"{name}.xml", text)
    return count, []


def label_studio(draw, folder):
    tasks = []
    for number, name in enumerate(_films(draw, folder)):
        x, y, width, height = draw.box()
        value = {"x": x / 2, "y": y / 2, "width": width / 2, "height": height / 2}
        drawn = {
            "original_width": 120,
            "original_height": 180,
            "value": {**value, "rectanglelabels": ["Mass"]},
            "from_name": "label",
            "type": draw.choice(("rectanglelabels", "brushlabels")),
        }
        said = draw.text(number) or "Nothing."
        area = {"value": {"text": [said]}, "from_name": "remark", "type": "textarea"}
        predicted = {"model_version": "det", "result": [drawn] * draw.randrange(2)}
        about = {"image": f"/data/upload/1/{name}.png", "Patient Name": SECRET}
        annotated = {"completed_by": 1, "result": [drawn, area]}
        tasks.append({"id": number, "data": about, "annotations": [annotated]})
        tasks[-1]["predictions"] = [predicted]
    put_json(folder / "export.json", tasks)
    return len(tasks), []


def fiftyone(draw, folder):
    samples = []
    for name in _films(draw, folder):
        box = {"label": "Mass", "bounding_box": [0.1, 0.2, 0.3, 0.4], "_cls": "Detection"}
        found = {"_cls": "Detections", "detections": [{**box, "confidence": 0.5}]}
        samples.append(
            {
                "filepath": f"images/{name}.png",
                "ground_truth": {"_cls": "Detections", "detections": [box] * draw.randrange(3)},
                "dino": draw.choice((None, found)),
                "remark": draw.text(name) or "None.",
            }
        )
    put_json(folder / "samples.json", {"samples": samples})
    return len(samples), []


def line_edits(draw, folder):
    names = ["study_id", "source", "reader", "original_line", "edited_line", "severity", "MRN"]
    rows = []
    for number in range(draw.randrange(2, 8)):
        study = draw.choice(("s1", "s2", ""))
        severity = draw.choice((1, 4, "", "bad"))
        line = draw.text(number) if study else "Left out, and named by its row."
        rows.append([study, "X-REM", "r1", line, draw.choice(("No mass.", "")), severity, SECRET])
    put(folder / "edits.csv", csv_text(names, rows))
    return len(rows), []


KINDS = (
    *(long_csv, excel, parquet, records, json_lines, columns, by_id, wide, predictions),
    *(box_table, coco, yolo, voc, label_studio, fiftyone, line_edits),
)
COUNTED = ("cases", "answers", "models", "scores", "model_boxes", "reference_boxes", "edits")


def prove(kind, seed, folder):
    """Import one random source of a kind, then the set that was made of it."""
    draw = Draw(f"{kind.__name__} {seed}")
    source, out, again = (folder / f"{name}{seed}" for name in ("in", "out", "again"))
    source.mkdir()
    rows, names = kind(draw, source)
    receipt = import_source("auto", sorted(source.iterdir()), out).receipt.as_json()
    assert [one for one in check_review_set(out) if one.severity == "error"] == []
    unused = receipt["rows_unused"]
    assert receipt["rows_in"] == receipt["rows_used"] + sum(one["count"] for one in unused) == rows
    assert UNACCOUNTED not in {one["why"] for one in unused}
    named = json.dumps(receipt, ensure_ascii=False, default=str)
    for name in names:
        assert json.dumps(name, ensure_ascii=False)[1:-1] in named, name
    written = "".join(path.read_text() for path in out.iterdir() if path.is_file())
    assert SECRET not in written + named
    for text in draw.texts:
        kept = json.dumps(text, ensure_ascii=False)[1:-1]
        assert kept in written or kept in named, text
    answers = out / "answers.jsonl"
    given = list(map(json.loads, answers.read_text().splitlines())) if answers.exists() else []
    texts = {one.get("text", "") for one in given}
    # reference boxes, edits and answers that came empty are not read back as what they are
    if not texts & {*MISSING} and not receipt["reference_boxes"] + receipt["edits"]:
        second = import_source("auto", sorted(out.glob("*.jsonl")), again).receipt.as_json()
        assert {key: second[key] for key in COUNTED} == {key: receipt[key] for key in COUNTED}


@pytest.mark.parametrize("seed", range(EXAMPLES))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_is_dropped_without_a_word(kind, seed, tmp_path):
    prove(kind, seed, tmp_path)
