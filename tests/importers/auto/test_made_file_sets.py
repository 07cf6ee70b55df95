"""Sets of files made at random, of which the truth is known, arrive whole or are told.

Roles, names, orders of files and columns, formats and styles of ids are drawn. 100 sets are made in
a normal run, and as many as ``REXVIEW_MADE_SETS`` says in a nightly one.
"""

import csv
import json
import os
import random
from dataclasses import dataclass, field

import polars as pl
import pytest
from openpyxl import Workbook
from PIL import Image

from rexview.errors import ImportSourceError
from rexview.importers import import_source
from rexview.reviewset import load_review_set

SETS = int(os.environ.get("REXVIEW_MADE_SETS", "100"))
PARTS = 4
FORMATS = ("csv", "tsv", "semicolons", "json", "jsonl", "xlsx", "parquet")
IDS = ("id", "case_id", "Case ID", "study_id", "StudyID", "uid", "qid", "question_id")
QUESTIONS = ("question", "prompt", "Query", "question_text")
REPORTS = (
    "report",
    "gt_report",
    "reference_report",
    "ground_truth",
    "Radiology Report",
    "reference",
)
FINDINGS = (("findings", "impression"), ("section_findings", "section_impression"))
ANSWERS = ("answer", "prediction", "response", "output", "model_answer", "generated_report", "pred")
MODELS = ("GPT-5", "MedGemma-4B", "LLaVA-Med", "maira2", "grok-4", "QwenVL")
IMAGES = ("image", "image_path", "filename", "ImageID", "img")
REFERENCE_FILES = ("gt", "reference_reports", "ground_truth", "radiologist", "original")
MODEL_FILES = ("pred", "generated_reports", "predictions_run", "hyp", "model_outputs")
STYLES = ("plain", "letters", "mimic", "hex")
OTHERWISE = ("same", "float", "zeros", "prefix", "case")
NOISE = {"age": "61", "sex": "F", "site": "A", "split": "test", "view": "PA"} | {
    "tokens_of_prompt": "12"
}
SIDES = ("left", "right")
PLACES = ("upper zone", "lower zone", "hilum", "base", "apex")
FINDINGS_OF = ("effusion", "opacity", "nodule", "consolidation", "pneumothorax")


@dataclass
class Case:
    """The truth about one case; each text is told from every other by its number."""

    id: str
    question: str | None = None
    findings: str | None = None
    impression: str | None = None
    image: str | None = None
    answers: dict[str, str] = field(default_factory=dict)


def sentence(draw, number):
    one = f"{draw.choice(SIDES)} {draw.choice(FINDINGS_OF)} in the {draw.choice(PLACES)}"
    size = draw.choice(("small", "large", "moderate"))
    return f"There is a {size} {one}, seen as number {number}. The heart is of normal size."


def made_ids(draw, style, count):
    first = draw.randrange(100, 900)
    match style:
        case "letters":
            return [f"C{first + n}" for n in range(count)]
        case "mimic":
            return [f"{50_000_000 + first + 7 * n}" for n in range(count)]
        case "hex":
            return [f"{draw.getrandbits(40):010x}a" for _ in range(count)]
        case _:
            return [str(first + n) for n in range(count)]


def written_otherwise(one, how):
    number = one.isdigit()
    match how:
        case "float":
            return f"{one}.0" if number else one
        case "zeros":
            return f"00{one}" if number else one
        case "prefix":
            return f"s{one}" if number else one
        case "case":
            return one.upper() if one[0].isdigit() else one.lower()
        case _:
            return one


def write(draw, folder, stem, rows):
    """Write rows (dicts of the same keys) in a format that is drawn; return its name."""
    names = list(rows[0])
    draw.shuffle(names)
    rows = [{name: row[name] for name in names} for row in rows]
    form = draw.choice(FORMATS)
    path = folder / f"{stem}.{ {'semicolons': 'csv'}.get(form, form) }"
    match form:
        case "json":
            path.write_text(json.dumps(rows))
        case "jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        case "xlsx":
            book = Workbook()
            for row in (names, *([row[name] for name in names] for row in rows)):
                book.active.append(row)
            book.save(path)
        case "parquet":
            pl.DataFrame(rows).write_parquet(path)
        case _:
            delimiter = {"csv": ",", "tsv": "\t", "semicolons": ";"}[form]
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(stream, names, delimiter=delimiter)
                writer.writeheader()
                writer.writerows(rows)
    return path.name


@dataclass
class MadeSet:
    """A set of files with its truth, and how it was drawn.

    ``strays`` are answers whose ids no case has, ``missing`` those that never came, ``boxes`` the
    reference boxes by picture.
    """

    cases: list[Case]
    drawn: dict[str, object]
    strays: int = 0
    missing: int = 0
    boxes: dict[str, list[float]] = field(default_factory=dict)


def make_set(seed, folder):
    draw = random.Random(seed)
    folder.mkdir()
    layout = draw.choice(("long", "wide", "apart", "beside", "by_id", "same_name"))
    count = draw.randrange(3, 9)
    style = draw.choice(STYLES)
    how = draw.choice(OTHERWISE) if layout in ("apart", "beside", "by_id") else "same"
    models = draw.sample(MODELS, draw.randrange(1, 4) if layout != "same_name" else 1)
    has_question = draw.random() < 0.6 or layout == "by_id"
    has_report = draw.random() < 0.7 or layout == "same_name" or not has_question
    in_sections = has_report and draw.random() < 0.4 and layout != "same_name"
    pictures = draw.choice(("none", "named", "there"))
    cases = [Case(one) for one in made_ids(draw, style, count)]
    for number, case in enumerate(cases):
        if has_question:
            case.question = f"Where is finding number {seed}-{number} on this film?"
        if has_report:
            case.findings = sentence(draw, f"R{number}")
            case.impression = f"Finding number I{number}." if in_sections else None
        if pictures != "none":
            case.image = f"film_{seed}_{number:03}.png"
        case.answers = {model: sentence(draw, f"{model}/{number}") for model in models}
    if pictures == "there":
        (folder / "images").mkdir()
        for case in cases:
            Image.new("L", (40, 30), 9).save(folder / "images" / case.image)
    drawn = {"layout": layout, "style": style, "how": how, "models": models}
    drawn["pictures"] = pictures
    made = MadeSet(cases, drawn)
    if layout in ("apart", "beside") and draw.random() < 0.3:
        case = draw.choice(cases)
        case.answers[draw.choice(models)] = None
        made.missing = 1
    if pictures == "there" and draw.random() < 0.5:
        rows = []
        for number, case in enumerate(draw.sample(cases, len(cases))):
            made.boxes[case.image] = [number + 1.0, 2.0, 9.0, 11.0]
            four = dict(zip(("x", "y", "width", "height"), made.boxes[case.image], strict=True))
            name = case.image if draw.random() < 0.5 else case.image.removesuffix(".png")
            rows.append({draw.choice(("image", "image_id")): name, "label": "mass"} | four)
        rows = [dict(zip(rows[0], row.values(), strict=True)) for row in rows]
        drawn["boxes"] = write(draw, folder, "boxes", rows)
    _write_files(draw, folder, layout, how, made, models, in_sections)
    return made


def _write_files(draw, folder, layout, how, made, models, in_sections):
    cases, drawn = made.cases, made.drawn
    id_name, question = draw.choice(IDS), draw.choice(QUESTIONS)
    report, image, answer = draw.choice(REPORTS), draw.choice(IMAGES), draw.choice(ANSWERS)
    sections = draw.choice(FINDINGS)
    if layout == "same_name":
        report = answer = draw.choice(("report", "findings", "text_of_report", "Report"))
        report = answer = "report" if report == "text_of_report" else report

    noise = draw.sample(("age", "sex", "site", "split", "view", "tokens_of_prompt"), 2)

    def about(case):
        row = {id_name: case.id}
        if layout != "same_name":
            row |= {name: NOISE[name] for name in noise}
        if case.question:
            row[question] = case.question
        if case.findings and not in_sections:
            row[report] = case.findings
        if in_sections:
            row |= {sections[0]: case.findings, sections[1]: case.impression}
        if case.image:
            row[image] = case.image
        return row

    shuffled = draw.sample(cases, len(cases))
    match layout:
        case "long":
            rows = [
                about(case) | {"model": model, answer: text}
                for case in cases
                for model, text in case.answers.items()
            ]
            drawn["files"] = [write(draw, folder, "all_of_it", rows)]
        case "wide":
            rows = [
                about(case) | {f"{model} answer": text for model, text in case.answers.items()}
                for case in cases
            ]
            drawn["files"] = [write(draw, folder, "all_of_it", rows)]
        case "same_name":
            [model] = models
            drawn["files"] = [
                write(draw, folder, draw.choice(REFERENCE_FILES), [about(one) for one in cases]),
                write(
                    draw,
                    folder,
                    draw.choice(MODEL_FILES),
                    [{id_name: one.id, answer: one.answers[model]} for one in shuffled],
                ),
            ]
        case _:
            files = [write(draw, folder, draw.choice("amz") + "_cases", [about(c) for c in cases])]
            own = {case.id: written_otherwise(case.id, how) for case in cases}
            if layout == "apart":
                rows = [
                    {id_name: own[case.id], "model": model, answer: text}
                    for case in shuffled
                    for model, text in case.answers.items()
                ]
                if draw.random() < 0.3 and len(cases) > 3:
                    stray = {id_name: "zz-nobody", "model": models[0], answer: "Of nobody at all."}
                    rows.append(stray)
                    made.strays = 1
                files.append(write(draw, folder, "all_answers", rows))
            for model in models if layout != "apart" else ():
                texts = {own[case.id]: case.answers[model] for case in shuffled}
                if layout == "by_id":
                    (folder / f"{model}.json").write_text(json.dumps(texts))
                else:
                    rows = [{id_name: one, answer: text} for one, text in texts.items()]
                    files.append(write(draw, folder, model, rows))
            drawn["files"] = files
    drawn["columns"] = [id_name, question, report, image, answer]


def differences(made, review_set, report):
    """Return what did not arrive as it was made, each with the words that should tell it."""
    rows = list(review_set.cases.iter_rows(named=True))
    texts = {id: json.dumps(row, default=str) for id, row in ((row["id"], row) for row in rows)}
    answered = list(review_set.answers.iter_rows(named=True))
    if made.strays and sum(one.unmatched for one in report.receipt.joins) != made.strays:
        yield "a stray answer that nobody names"
    if made.missing and sum(report.receipt.not_run.values()) != made.missing:
        yield "an answer that never came, and that nobody names"
    drawn = {
        image["path"].rpartition("/")[2]: box["box"]
        for row in rows
        for box in row["reference_boxes"] or []
        for image in row["images"]
        if image["id"] == box["image"]
    }
    if drawn != made.boxes:
        yield f"the boxes are {drawn}"
    if len(rows) != len(made.cases) + made.strays:
        yield f"{len(rows)} cases for {len(made.cases)}"
    for case in made.cases:
        marks = [one for one in (case.question, case.findings, case.image) if one]
        mark = marks[0] if marks else case.id
        mine = [row for row in rows if mark in texts[row["id"]] or case.id == row["id"]]
        if len(mine) != 1:
            yield f"{len(mine)} cases have {mark!r}"
            continue
        [row] = mine
        found = row["report"] or {}
        if (found.get("findings"), found.get("impression")) != (case.findings, case.impression):
            yield f"the report of {case.id} is {found}"
        if case.question and row["question"] != case.question:
            yield f"the question of {case.id} is {row['question']!r}"
        images = {image["path"].rpartition("/")[2] for image in row["images"] or []}
        if images != ({case.image} if case.image else set()):
            yield f"the images of {case.id} are {images}"
        texts_of = [text for text in case.answers.values() if text is not None]
        given = sorted(one["text"] for one in answered if one["case"] == row["id"])
        if [one.removeprefix("FINDINGS: ") for one in given] != sorted(texts_of):
            yield f"the answers to {case.id} are {given}"
        named = {one["model"] for one in answered if one["case"] == row["id"]}
        if made.drawn["layout"] != "same_name" and named != {
            model for model, text in case.answers.items() if text is not None
        }:
            yield f"the models of {case.id} are {named}"


@pytest.mark.parametrize("part", range(PARTS))
def test_made_sets_arrive_whole_or_are_told(part, tmp_path):
    silent = {}
    refused = 0
    for seed in range(part, SETS, PARTS):
        folder, out = tmp_path / f"in{seed}", tmp_path / f"out{seed}"
        made = make_set(seed, folder)
        sources = sorted(folder.iterdir())
        random.Random(seed).shuffle(sources)
        try:
            report = import_source("auto", sources, out)
        except ImportSourceError as error:
            refused += 1
            told = [one for one in error.problems if one.severity == "error"]
            if not told or not all(one.file and one.remedy for one in told):
                silent[seed] = (made.drawn, "refused without a file or a remedy")
            continue
        different = list(differences(made, load_review_set(out), report))
        if different:
            silent[seed] = (made.drawn, different[:3])
    assert not silent, "\n".join(f"{seed}: {what}" for seed, what in list(silent.items())[:12])
    assert refused <= 0.05 * SETS
