"""Tables of answers, as scripts, spreadsheets and data frames write them."""

import json
from datetime import datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from support.shapes.shape import (
    QUESTION,
    answer,
    picture_bytes,
    put,
    put_csv,
    put_json,
    put_lines,
    put_picture,
    shape,
)

TWO = ("GPT-4o", "MAIRA-2")
LONG = [(f"c{n}", QUESTION, model, answer(n, model)) for n in (1, 2, 3) for model in TWO]
RECORDS = [dict(zip(("case_id", "question", "model", "answer"), row, strict=True)) for row in LONG]
EACH = {"cases": 3, "models": {"GPT-4o": 3, "MAIRA-2": 3}}
QUOTED = 'Findings:\n- "effusion", left\n\nImpression: effusion, small.'


@shape(
    "long-csv",
    *("table", "images"),
    **EACH,
    rows_in=6,
    images_found=3,
    kept={"latency of request", "prompt_version"},
    texts=[QUOTED, "The true report of c1."],
)
def _(folder: Path) -> None:
    rows = [
        [
            *(case, f"{case}.png", question, model, QUOTED if case == "c2" else text),
            *(f"The true report of {case}.", 1.5, "v2"),
        ]
        for case, question, model, text in LONG
    ]
    columns = "case_id|image_file|question|model|answer|reference_report|latency of request"
    put_csv(folder / "results.csv", f"{columns}|prompt_version", *rows)
    for case in ("c1", "c2", "c3"):
        put_picture(folder / f"images/{case}.png")


@shape(
    "wide-csv",
    "table",
    cases=3,
    models={"gpt-4o-2024-08-06": 3, "LLaVA-Rad": 2},
    rows_in=3,
    not_run={"LLaVA-Rad": 1},
)
def _(folder: Path) -> None:
    put_csv(
        folder / "wide.csv",
        "study_id|question|ground_truth|gpt-4o-2024-08-06|LLaVA-Rad|difficulty",
        *(
            [n, QUESTION, "Effusion.", answer(n, "g"), "" if n == 2 else answer(n, "l"), "easy"]
            for n in (1, 2, 3)
        ),
    )


@shape("semicolon-cp1252", "table", **EACH, rows_in=6, texts=["Größe “normal” – 1,5 cm"])
def _(folder: Path) -> None:
    rows = [
        [case, "Auffälligkeit?", model, f"Größe “normal” – 1,5 cm ({model}, {case})."]
        for case, _, model, _ in LONG
    ]
    columns = ["Fall_ID", "question", "model", "answer"]
    text = "\r\n".join(";".join(f'"{cell}"' for cell in row) for row in [columns, *rows])
    put(folder / "Ergebnisse.csv", text.encode("cp1252"))


@shape("utf16-text", "table", **EACH, rows_in=6, texts=["≤ 5 mm"])
def _(folder: Path) -> None:
    rows = [["case", "question", "model", "response"], *([*r[:3], r[3] + " ≤ 5 mm"] for r in LONG)]
    text = "".join("\t".join(row) + "\r\n" for row in rows)
    put(folder / "export.txt", b"\xff\xfe" + text.encode("utf-16-le"))


@shape("bom-and-line-ends", "table", cases=6, models={"GPT-4o": 6}, rows_in=6)
def _(folder: Path) -> None:
    lines = [f"c{n},{QUESTION},GPT-4o,Effusion of {n}." for n in range(6)]
    header = "case_id,question,model,answer"
    put(folder / "bom.csv", "\ufeff" + "\r\n".join([header, *lines[:2]]) + "\r\n")
    put(folder / "old_mac.csv", "\r".join([header, *lines[2:4]]) + "\r")
    put(folder / "mixed.csv", f"{header}\n{lines[4]}\r\n{lines[5]}\n\r\n\r\n")


@shape(
    "excel-second-sheet",
    "table",
    **EACH,
    rows_in=6,
    unread={"study.xlsx: READ ME", "study.xlsx: Lookup"},
)
def _(folder: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "READ ME"
    book.active["A1"] = "The answers are on the second sheet."
    sheet = book.create_sheet("Responses")
    sheet["A1"] = "Reader study, answers of the models"
    sheet.merge_cells("A1:E1")
    sheet.append([])
    sheet.append(["Case No", "Question", "Model", "Response", "Comment"])
    for place, (case, question, model, text) in enumerate(LONG):
        first = place % 2 == 0
        sheet.append([case if first else None, question if first else None, model, text, "side?"])
    for row in (4, 6, 8):
        sheet.merge_cells(f"A{row}:A{row + 1}")
        sheet.merge_cells(f"B{row}:B{row + 1}")
    book.create_sheet("Lookup").append(["code", "meaning"])
    book.save(folder / "study.xlsx")


@shape("excel-sheet-per-model", "table", **EACH, rows_in=9)
def _(folder: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Cases"
    book.active.append(["ID", "Question", "Reference"])
    for n in (1, 2, 3):
        book.active.append([f"c{n}", QUESTION, "Small effusion."])
    for model in TWO:
        sheet = book.create_sheet(model)
        sheet.append(["ID", "Output"])
        for n in (1, 2, 3):
            sheet.append([f"c{n}", answer(n, model)])
    book.save(folder / "all_models.xlsx")


@shape("json-records", "table", **EACH, rows_in=6, kept={"temperature", "meta.seed"})
def _(folder: Path) -> None:
    put_json(
        folder / "results.json", [{**r, "temperature": 0.5, "meta": {"seed": 42}} for r in RECORDS]
    )


@shape("json-columns", "table", **EACH, rows_in=6)
def _(folder: Path) -> None:
    columns = {name: {str(n): r[name] for n, r in enumerate(RECORDS)} for name in RECORDS[0]}
    put_json(folder / "df.json", columns)


@shape("json-split", "table", **EACH, rows_in=6)
def _(folder: Path) -> None:
    put_json(
        folder / "split.json",
        {"columns": [*RECORDS[0]], "index": [*range(6)][::-1], "data": [[*row] for row in LONG]},
    )


@shape(
    "json-by-id",
    "table",
    cases=3,
    models={"GPT-4o": 3, "MAIRA-2": 2},
    rows_in=3,
    not_run={"MAIRA-2": 1},
)
def _(folder: Path) -> None:
    put_json(
        folder / "eval.json",
        {
            f"study_{n}": {
                "question": QUESTION,
                "reference": "Small effusion.",
                "predictions": {
                    "GPT-4o": answer(n, "GPT-4o"),
                    "MAIRA-2": None if n == 2 else answer(n, "MAIRA-2"),
                },
            }
            for n in (1, 2, 3)
        },
    )


@shape(
    "json-lines-null-and-empty",
    "table",
    cases=3,
    models={"GPT-4o": 3, "MAIRA-2": 2},
    rows_in=6,
    not_run={"MAIRA-2": 1},
)
def _(folder: Path) -> None:
    rows = [{**r, "finish_reason": "stop", "usage": {"completion_tokens": 40}} for r in RECORDS]
    rows[0] |= {"answer": "", "finish_reason": "length"}
    rows[1] |= {"answer": None, "finish_reason": None, "usage": None}
    put_lines(folder / "generations.jsonl", rows)


@shape("parquet", "table", **EACH, rows_in=6, kept={"batch"})
def _(folder: Path) -> None:
    table = pa.Table.from_pylist(
        [{**r, "created": datetime(2025, 5, 2), "batch": 7} for r in RECORDS]
    )
    place = table.schema.get_field_index("model")
    table = table.set_column(place, "model", table["model"].dictionary_encode())
    pq.write_table(table, folder / "answers.parquet")


@shape(
    "hugging-face-parquet",
    "table",
    cases=3,
    models={"my-vlm": 3},
    rows_in=3,
    images_found=3,
    options={"model": ["my-vlm"]},
)
def _(folder: Path) -> None:
    rows = [
        {
            "id": f"c{n}",
            "image": {"bytes": picture_bytes(50 + n), "path": f"{n}.png"},
            "question": "Which finding is present?",
            "options": ["effusion", "nodule", "none"],
            "answer": "effusion",
            "prediction": "nodule" if n == 2 else "effusion",
        }
        for n in (1, 2, 3)
    ]
    table = pa.Table.from_pylist(rows)
    about = {"info": {"features": {"image": {"_type": "Image"}}}}
    table = table.replace_schema_metadata({"huggingface": json.dumps(about)})
    pq.write_table(table, folder / "test-00000-of-00001.parquet")


MISSING = ("", "N/A", "NA", "nan", "None", "null", "-", "#N/A")


@shape(
    "missing-markers",
    "table",
    cases=16,
    models={"ModelA": 16, "ModelB": 8},
    rows_in=16,
    not_run={"ModelB": 8},
)
def _(folder: Path) -> None:
    rows = [[n, QUESTION, answer(n, "A"), mark] for n, mark in enumerate(MISSING)]
    rows += [[n, QUESTION, answer(n, "A"), answer(n, "B")] for n in range(8, 16)]
    put_csv(folder / "wide.csv", "case|question|ModelA|ModelB", *rows)


@shape("odd-column-names", "table", **EACH, rows_in=6, kept={"#", "Rad notes"})
def _(folder: Path) -> None:
    rows = [
        [place, case, model, text, "The side is not clear." if place else "", question]
        for place, (case, question, model, text) in enumerate(LONG)
    ]
    columns = "#|Case|AI|What it said|Rad notes|Prompt used"
    put_csv(folder / "tabelle1.csv", columns, *rows, delimiter="\t")


@shape(
    "identity-columns",
    "table",
    **EACH,
    rows_in=6,
    identity={"Patient Name", "MRN", "Date of Birth", "Accession Number"},
)
def _(folder: Path) -> None:
    columns = "Patient Name|MRN|Date of Birth|Accession Number|Age|case_id|question|model|answer"
    rows = [["Invented, Ida", "MRN770", "1950-01-01", "ACC88", 61, *row] for row in LONG]
    put_csv(folder / "pacs_export.csv", columns, *rows)


@shape(
    "several-pictures",
    "table",
    "images",
    cases=2,
    models={"CheXagent": 2},
    rows_in=2,
    images_found=4,
)
def _(folder: Path) -> None:
    rows = []
    for n in (1, 2):
        paths = [f"fr/{n}.png", f"lat/{n}.png" if n == 2 else "", f"old/{n}.png" if n == 1 else ""]
        for path in filter(None, paths):
            put_picture(folder / path)
        rows.append([n, *paths, QUESTION, "CheXagent", answer(n, "CheXagent")])
    columns = "id|frontal_image|lateral_image|prior_image|question|model|answer"
    put_csv(folder / "cases.csv", columns, *rows)


@shape("two-questions", "table", cases=4, models={"GPT-4o": 4}, rows_in=4)
def _(folder: Path) -> None:
    rows = [
        [f"c{n}", question, "GPT-4o", f"{question} Not in case {n}."]
        for n in (1, 2)
        for question in (QUESTION, "Is the heart enlarged?")
    ]
    put_csv(folder / "qa.csv", "case_id|question|model|answer", *rows)


@shape(
    "two-reports",
    "table",
    cases=2,
    models={"MAIRA-2": 2},
    rows_in=5,
    texts=["Effusion, by the resident."],
    kept={"report_by"},
)
def _(folder: Path) -> None:
    put_csv(
        folder / "reports.csv",
        "study_id|report_by|findings|impression",
        ["s1", "attending", "Effusion.", "Effusion."],
        ["s1", "resident", "Effusion, by the resident.", "Effusion."],
        ["s2", "attending", "Normal.", "Normal."],
    )
    rows = [[f"s{n}", "MAIRA-2", answer(n, "MAIRA-2")] for n in (1, 2)]
    put_csv(folder / "generated.csv", "study_id|model|generated_report", *rows)


@shape(
    "repeated-rows",
    "table",
    cases=3,
    models={"GPT-4o": 4, "MAIRA-2": 3},
    rows_in=8,
    texts=["Another text of the model."],
)
def _(folder: Path) -> None:
    other = (*LONG[0][:3], "Another text of the model.")
    put_csv(folder / "answers.csv", "case_id|question|model|answer", *LONG, LONG[1], other)


@shape(
    "runs-in-columns",
    "table",
    cases=2,
    models={"gpt-4o": 4, "medgemma": 3},
    rows_in=2,
    not_run={"medgemma": 1},
)
def _(folder: Path) -> None:
    rows = [
        [n, QUESTION, *(answer(n, f"run {run}") for run in range(3)), answer(n, "m") if n else ""]
        for n in (0, 1)
    ]
    columns = "id|question|gpt-4o_run1|gpt-4o_run2|medgemma_run1|medgemma_run2"
    put_csv(folder / "repeats.csv", columns, *rows)


@shape(
    "wandb-table",
    *("table", "images"),
    **EACH,
    rows_in=6,
    images_found=3,
    kept={"image._type", "image.format", "image.height", "image.width"},
    unread={"run/wandb-summary.json"},
)
def _(folder: Path) -> None:
    rows = []
    for case, question, model, text in LONG:
        path = f"media/images/{case}.png"
        put_picture(folder / "run" / path)
        image = {"_type": "image-file", "path": path, "width": 60, "height": 80, "format": "png"}
        rows.append([case, image, question, model, text])
    columns = ["id", "image", "question", "model", "prediction"]
    table = {"columns": columns, "data": rows, "ncols": 5, "nrows": len(rows)}
    put_json(folder / "run/media/table/eval_120.table.json", table)
    put_json(folder / "run/wandb-summary.json", {"_step": 120, "_runtime": 881.2, "eval/loss": 0.4})
